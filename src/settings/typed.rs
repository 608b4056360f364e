//! Readers of one value each: they return the value, or keep what is wrong with it.
//!
//! A reader goes on after a problem, so that one run shows all of them, up to a cap.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged as _;

use crate::settings::keys::Whole;
use crate::settings::problem::{Problem, ProblemKind};
use crate::settings::site::{Locator, Site, Spanned};

/// How many problems of one file are kept; the rest are counted.
const MAX_PROBLEMS: usize = 100;

/// How many characters of a value a problem shows.
const MAX_SHOWN: usize = 40;

/// Which tools a session is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tools {
    /// All of them.
    All,
    /// Those named.
    Named(Vec<Spanned<String>>),
}

/// Whether the shell of a restricted session is held by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// It is, or it does not run.
    Auto,
    /// It runs with all that the user may do.
    Off,
}

/// What file tools may do in an extra folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// A folder beside the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Its path as written: absolute, or relative to the workspace.
    pub path: Spanned<String>,
    /// What may be done there.
    pub access: Access,
}

/// An object of lists: each name with its strings.
pub type Lists = Vec<(Spanned<String>, Vec<Spanned<String>>)>;

/// Reads the values of one file and keeps its problems.
#[derive(Debug)]
pub struct Reader<'a> {
    locator: Locator<'a>,
    problems: Vec<Problem>,
    n_more: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(label: &str, text: &'a str) -> Self {
        Self { locator: Locator::new(label, text), problems: Vec::new(), n_more: 0 }
    }

    pub(super) fn site(&mut self, offset: usize) -> Site {
        self.locator.site(offset)
    }

    pub(super) fn complain(&mut self, offset: usize, kind: ProblemKind) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.n_more += 1;
            return;
        }
        let site = self.locator.site(offset);
        self.problems.push(Problem { site, kind });
    }

    /// Returns every problem kept, in the order of the text; the last one counts those that were not.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| (problem.site.line, problem.site.column));
        if let Some(last) = self.problems.last().filter(|_| self.n_more > 0) {
            let kind = ProblemKind::More { n_more: self.n_more };
            self.problems.push(Problem { site: last.site.clone(), kind });
        }
        self.problems
    }

    pub(super) fn wrong_type(&mut self, key: &str, expected: &'static str, value: &Value<'_>) {
        let seen = describe(value);
        let kind = ProblemKind::WrongType { key: key.to_owned(), expected, seen };
        self.complain(value.start(), kind);
    }

    /// Reads an array of strings.
    pub fn strings(&mut self, key: &str, value: &Value<'_>) -> Option<Vec<Spanned<String>>> {
        let Value::Array(array) = value else {
            self.wrong_type(key, "an array of strings", value);
            return None;
        };
        self.all_strings(key, array)
    }

    fn all_strings(&mut self, key: &str, array: &Array<'_>) -> Option<Vec<Spanned<String>>> {
        let mut strings = Some(Vec::with_capacity(array.elements.len()));
        for (index, element) in array.elements.iter().enumerate() {
            let Value::StringLit(literal) = element else {
                self.wrong_type(&format!("{key}[{index}]"), "a string", element);
                strings = None;
                continue;
            };
            if let Some(strings) = &mut strings {
                let site = self.locator.site(literal.start());
                strings.push(Spanned { value: literal.value.clone().into_owned(), site });
            }
        }
        strings
    }

    /// Reads the word `all`, or an array of strings.
    pub fn tools(&mut self, key: &str, value: &Value<'_>) -> Option<Tools> {
        match value {
            Value::Array(array) => self.all_strings(key, array).map(Tools::Named),
            Value::StringLit(word) if word.value == "all" => Some(Tools::All),
            other => {
                self.wrong_type(key, "\"all\" or an array of strings", other);
                None
            }
        }
    }

    /// Reads whether there is a sandbox.
    pub fn sandbox(&mut self, key: &str, value: &Value<'_>) -> Option<Sandbox> {
        match value {
            Value::StringLit(word) if word.value == "auto" => Some(Sandbox::Auto),
            Value::StringLit(word) if word.value == "off" => Some(Sandbox::Off),
            other => {
                self.wrong_type(key, "\"auto\" or \"off\"", other);
                None
            }
        }
    }

    /// Reads an array of paths.
    pub fn paths(&mut self, key: &str, value: &Value<'_>) -> Option<Vec<Spanned<String>>> {
        let Value::Array(array) = value else {
            self.wrong_type(key, "an array of paths", value);
            return None;
        };
        let mut paths = Some(Vec::with_capacity(array.elements.len()));
        for (index, element) in array.elements.iter().enumerate() {
            match (self.spanned_path(&format!("{key}[{index}]"), element), &mut paths) {
                (Some(path), Some(paths)) => paths.push(path),
                (Some(_) | None, _) => paths = None,
            }
        }
        paths
    }

    /// Reads the name or the path of a program.
    pub fn program(&mut self, key: &str, value: &Value<'_>) -> Option<String> {
        self.path(key, "the name or the path of a program", value)
    }

    /// Reads an array of names of environment variables.
    pub fn variables(&mut self, key: &str, value: &Value<'_>) -> Option<Vec<Spanned<String>>> {
        let names = self.strings(key, value)?;
        let Value::Array(array) = value else { return None };
        let mut is_sound = true;
        for (index, (name, element)) in names.iter().zip(&array.elements).enumerate() {
            if !is_variable(&name.value) {
                let expected = "the name of an environment variable";
                self.wrong_type(&format!("{key}[{index}]"), expected, element);
                is_sound = false;
            }
        }
        is_sound.then_some(names)
    }

    /// Reads an object of strings, by names of environment variables.
    pub fn assignments(
        &mut self,
        key: &str,
        value: &Value<'_>,
    ) -> Option<Vec<(String, String)>> {
        let Value::Object(object) = value else {
            self.wrong_type(key, "an object of strings", value);
            return None;
        };
        let mut is_sound = self.unique(key, object);
        let mut assignments = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            let name = property.name.as_str();
            if !is_variable(name) {
                let seen = format!("the name {:?}", shown(name));
                let (key, expected) = (key.to_owned(), "names of environment variables");
                self.complain(property.start(), ProblemKind::WrongType { key, expected, seen });
                is_sound = false;
                continue;
            }
            match &property.value {
                Value::StringLit(text) if !text.value.contains('\0') => {
                    assignments.push((name.to_owned(), text.value.clone().into_owned()));
                }
                other => {
                    self.wrong_type(&join(key, name), "a string without NUL", other);
                    is_sound = false;
                }
            }
        }
        is_sound.then_some(assignments)
    }

    /// Reads a whole number within bounds; a fraction or an exponent makes no whole number.
    pub fn whole(&mut self, key: &str, value: &Value<'_>, range: Whole) -> Option<u32> {
        let number = match value {
            Value::NumberLit(literal) => digits(literal.value),
            Value::StringLit(_)
            | Value::BooleanLit(_)
            | Value::NullKeyword(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        };
        let within = number.filter(|number| (range.min..=range.max).contains(number));
        if within.is_none() {
            let kind =
                ProblemKind::NotInRange { key: key.to_owned(), range, seen: describe(value) };
            self.complain(value.start(), kind);
        }
        within
    }

    /// Reads an object of arrays of strings.
    pub fn lists(&mut self, key: &str, value: &Value<'_>) -> Option<Lists> {
        let Value::Object(object) = value else {
            self.wrong_type(key, "an object of arrays of strings", value);
            return None;
        };
        let mut is_sound = self.unique(key, object);
        let mut lists = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            let name = property.name.as_str();
            let site = self.locator.site(property.start());
            match self.strings(&join(key, name), &property.value) {
                Some(list) => lists.push((Spanned { value: name.to_owned(), site }, list)),
                None => is_sound = false,
            }
        }
        is_sound.then_some(lists)
    }

    /// Reads an object of whole numbers within bounds.
    pub fn numbers(
        &mut self,
        key: &str,
        value: &Value<'_>,
        range: Whole,
    ) -> Option<Vec<(String, u32)>> {
        let Value::Object(object) = value else {
            self.wrong_type(key, "an object of whole numbers", value);
            return None;
        };
        let mut is_sound = self.unique(key, object);
        let mut numbers = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            let name = property.name.as_str();
            match self.whole(&join(key, name), &property.value, range) {
                Some(number) => numbers.push((name.to_owned(), number)),
                None => is_sound = false,
            }
        }
        is_sound.then_some(numbers)
    }

    /// Reads a path, or null.
    pub fn path_or_null(&mut self, key: &str, value: &Value<'_>) -> Option<Option<String>> {
        match value {
            Value::NullKeyword(_) => Some(None),
            other => self.path(key, "a path or null", other).map(Some),
        }
    }

    fn path(&mut self, key: &str, expected: &'static str, value: &Value<'_>) -> Option<String> {
        match value {
            Value::StringLit(path) if is_path(&path.value) => {
                Some(path.value.clone().into_owned())
            }
            other => {
                self.wrong_type(key, expected, other);
                None
            }
        }
    }

    /// Reads an array of objects with `path` and `access`, both needed.
    pub fn extras(&mut self, key: &str, value: &Value<'_>) -> Option<Vec<Extra>> {
        let Value::Array(array) = value else {
            self.wrong_type(key, "an array of objects with \"path\" and \"access\"", value);
            return None;
        };
        let mut extras = Some(Vec::with_capacity(array.elements.len()));
        for (index, element) in array.elements.iter().enumerate() {
            match (self.extra(&format!("{key}[{index}]"), element), &mut extras) {
                (Some(extra), Some(extras)) => extras.push(extra),
                (Some(_) | None, _) => extras = None,
            }
        }
        extras
    }

    fn extra(&mut self, key: &str, value: &Value<'_>) -> Option<Extra> {
        let Value::Object(object) = value else {
            self.wrong_type(key, "an object with \"path\" and \"access\"", value);
            return None;
        };
        let mut path = Field::Absent;
        let mut access = Field::Absent;
        let mut is_sound = self.unique(key, object);
        for property in &object.properties {
            let name = property.name.as_str();
            let full = format!("{key}.{name}");
            match name {
                "path" => path = self.spanned_path(&full, &property.value).into(),
                "access" => access = self.access(&full, &property.value).into(),
                _ => {
                    let known = ["path", "access"].map(|known| format!("{key}.{known}"));
                    self.unknown_key(property.start(), full, &known);
                    is_sound = false;
                }
            }
        }
        let path = self.need(object, &format!("{key}.path"), path);
        let access = self.need(object, &format!("{key}.access"), access);
        is_sound.then_some(Extra { path: path?, access: access? })
    }

    fn spanned_path(&mut self, key: &str, value: &Value<'_>) -> Option<Spanned<String>> {
        let path = self.path(key, "a path", value)?;
        Some(Spanned { value: path, site: self.locator.site(value.start()) })
    }

    fn access(&mut self, key: &str, value: &Value<'_>) -> Option<Access> {
        match value {
            Value::StringLit(word) if word.value == "read" => Some(Access::Read),
            Value::StringLit(word) if word.value == "write" => Some(Access::Write),
            other => {
                self.wrong_type(key, "\"read\" or \"write\"", other);
                None
            }
        }
    }

    fn need<T>(&mut self, object: &Object<'_>, key: &str, field: Field<T>) -> Option<T> {
        match field {
            Field::Sound(value) => Some(value),
            Field::Bad => None,
            Field::Absent => {
                let kind = ProblemKind::MissingKey { key: key.to_owned() };
                self.complain(object.start(), kind);
                None
            }
        }
    }

    /// Complains about each key that stands twice in an object, and returns whether none does.
    pub(super) fn unique(&mut self, key: &str, object: &Object<'_>) -> bool {
        let mut first_starts = std::collections::HashMap::new();
        let mut is_unique = true;
        for property in &object.properties {
            let name = property.name.as_str();
            let Some(&first) = first_starts.get(name) else {
                first_starts.insert(name, property.start());
                continue;
            };
            is_unique = false;
            let first_line = self.first_line(first);
            let kind = ProblemKind::DuplicateKey { key: join(key, name), first_line };
            self.complain(property.start(), kind);
        }
        is_unique
    }

    /// Returns the line of an offset, or of the file's begin once no problem is kept any more.
    fn first_line(&mut self, offset: usize) -> usize {
        if self.problems.len() < MAX_PROBLEMS { self.locator.site(offset).line } else { 1 }
    }

    pub(super) fn unknown_key(&mut self, offset: usize, key: String, known: &[String]) {
        let kind = if self.problems.len() < MAX_PROBLEMS {
            let nearest = nearest(&key, known);
            ProblemKind::UnknownKey { key: shown(&key), nearest }
        } else {
            ProblemKind::UnknownKey { key, nearest: None }
        };
        self.complain(offset, kind);
    }
}

/// A key of an object while the object is read.
enum Field<T> {
    Absent,
    Bad,
    Sound(T),
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Bad, Self::Sound)
    }
}

/// Returns a key below a group; the empty group is the root.
pub(super) fn join(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{group}.{name}") }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}

/// Returns whether a text can name an environment variable.
fn is_variable(text: &str) -> bool {
    !text.is_empty() && !text.contains(['=', '\0'])
}

fn digits(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = text.len() > 1 && text.starts_with('0');
    (is_plain && !is_padded).then(|| text.parse().ok()).flatten()
}

fn shown(text: &str) -> String {
    let mut clipped: String = text.chars().take(MAX_SHOWN).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped
}

fn describe(value: &Value<'_>) -> String {
    match value {
        Value::StringLit(literal) => format!("the string {:?}", shown(&literal.value)),
        Value::NumberLit(literal) => format!("the number {}", shown(literal.value)),
        Value::BooleanLit(literal) => literal.value.to_string(),
        Value::NullKeyword(_) => "null".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Returns the known key that is nearest, by its whole path or by its last name alone.
fn nearest(key: &str, known: &[String]) -> Option<String> {
    let wanted = key.to_lowercase();
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |known: &String| {
        let whole = near(&wanted, known);
        let by_name = near(&last(&wanted), &last(known)).map(|distance| distance + 1);
        whole.into_iter().chain(by_name).min()
    };
    let near = known.iter().filter_map(|known| distance(known).map(|d| (d, known)));
    near.min_by_key(|&(distance, _)| distance).map(|(_, known)| known.clone())
}

/// Returns the distance of two names, if it is at most a third of the known one's length.
fn near(wanted: &str, known: &str) -> Option<usize> {
    let limit = known.chars().count() / 3;
    if wanted.len() > known.len() * 2 {
        return None;
    }
    Some(strsim::damerau_levenshtein(wanted, known)).filter(|&distance| distance <= limit)
}
