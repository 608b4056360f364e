//! One file of settings, read against the table of keys.
//!
//! Comments, trailing commas, a byte order mark and bare control characters in a string are let through;
//! everything else is JSON.
//! All problems of a file are reported at once, but a text that is no JSON has only its first. How large
//! a text may be is the caller's to limit; its nesting is limited by the parser, so no stack overflows.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::settings::keys::{KEYS, Key, Setter, Setting, groups};
use crate::settings::layer::{Layer, Origin};
use crate::settings::problem::{Problem, ProblemKind};
use crate::settings::typed::{Reader, join};

/// What one file sets.
#[derive(Clone, Debug)]
pub struct Raw {
    pub(super) layer: Layer,
    pub(super) assignments: Vec<Assignment>,
}

/// One key that a file sets.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) key: &'static Key,
    pub(super) setting: Setting,
    pub(super) origin: Origin,
}

pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the text of one layer; `label` is how problems and origins call it.
///
/// A text without any value is a problem: a file that was emptied by accident must not lift what it
/// narrowed.
pub fn read(label: &str, layer: Layer, text: &str) -> Result<Raw, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut walk = Walk { reader: Reader::new(label, text), layer, assignments: Vec::new() };
    match parse_to_ast(text, &CollectOptions::default(), &OPTIONS) {
        Err(error) => {
            let words = lower_first(&error.kind().to_string());
            walk.reader.complain(error.range().start, ProblemKind::Syntax(words));
        }
        Ok(parsed) => match parsed.value {
            None => walk.reader.complain(0, ProblemKind::Empty),
            Some(Value::Object(root)) => walk.group("", &root),
            Some(other) => walk.reader.wrong_type("", "an object", &other),
        },
    }
    let problems = walk.reader.into_problems();
    if problems.is_empty() {
        Ok(Raw { layer, assignments: walk.assignments })
    } else {
        Err(problems)
    }
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

struct Walk<'a> {
    reader: Reader<'a>,
    layer: Layer,
    assignments: Vec<Assignment>,
}

impl Walk<'_> {
    fn group(&mut self, group: &str, object: &Object<'_>) {
        self.reader.unique(group, object);
        for property in &object.properties {
            self.property(group, property);
        }
    }

    fn property(&mut self, group: &str, property: &ObjectProp<'_>) {
        let name = property.name.as_str();
        let path = join(group, name);
        if name.contains('.') && Key::find(&path).is_some() {
            return self.reader.complain(property.start(), ProblemKind::Dotted { key: path });
        }
        match (Key::find(&path), &property.value) {
            (Some(key), value) => self.key(key, property, value),
            (None, _) if !is_group(&path) || name.contains('.') => {
                let known = KEYS.iter().map(|key| key.path).chain(groups());
                let known: Vec<String> = known.map(str::to_owned).collect();
                self.reader.unknown_key(property.start(), path, &known);
            }
            (None, Value::Object(object)) => self.group(&path, object),
            (None, other) => self.reader.wrong_type(&path, "an object", other),
        }
    }

    fn key(&mut self, key: &'static Key, property: &ObjectProp<'_>, value: &Value<'_>) {
        if key.setter == Setter::UserOnly && self.layer.is_project() {
            let kind = ProblemKind::UserOnly { key: key.path };
            return self.reader.complain(property.start(), kind);
        }
        let site = self.reader.site(property.start());
        if let Some(setting) = (key.read)(&mut self.reader, key.path, value) {
            let origin = Origin::Written { layer: self.layer, site };
            self.assignments.push(Assignment { key, setting, origin });
        }
    }
}

fn is_group(path: &str) -> bool {
    groups().contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deep_nesting_is_a_problem_and_no_overflow() {
        for (open, n_levels) in [("[", 200_000), ("{\"a\":", 200_000), ("{\"limits\":", 50_000)]
        {
            let problems = read("s", Layer::User, &open.repeat(n_levels)).unwrap_err();
            assert_eq!(problems.len(), 1);
        }
    }

    #[test]
    fn problems_past_the_cap_are_counted() {
        let keys: Vec<_> = (0..1000).map(|index| format!("\"k{index}\": 1")).collect();
        let problems = read("s", Layer::User, &format!("{{{}}}", keys.join(","))).unwrap_err();
        assert_eq!(problems.len(), 101);
        assert_eq!(problems.last().unwrap().kind, ProblemKind::More { n_more: 900 });
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}") {
            drop(read("s", Layer::Project, &text));
        }

        #[test]
        fn no_almost_settings_panic(pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u12", "\"tools\"", "\"limits\"", "\"all\"",
            "\"output_chars\"", "\"capabilities\"", "\"workspace\"", "\"extra\"", "\"path\"",
            "\"access\"", "\"session\"", "\"dir\"", "null", "true", "1", "-", ".", "1e9", "é", "\u{feff}",
            "//", "/*", "*/", "\n", "\r\n", "\0", "\"x\"",
        ]), 0..40)) {
            drop(read("s", Layer::Project, &pieces.concat()));
        }
    }
}
