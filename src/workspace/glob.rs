//! Glob patterns over paths, matched segment by segment so that a walk enters only folders that can match.
//!
//! `*`, `?`, `[classes]` and `{braces}` stay in a segment; a segment `**` stands for any number of
//! segments, none included, and at the end for at least one. `\` takes a character's meaning away. Braces
//! that hold a `/` are written out before. Matching is case-sensitive; a leading dot is nothing special.
//! Pure: whether something exists is `select`'s question.

use globset::{GlobBuilder, GlobMatcher};

/// A parsed pattern: where a walk for it begins and what it must meet below.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The leading segments without wildcards, as written but for `.` and `\`; may be absolute or climb.
    pub prefix: String,
    /// What follows; nothing when the pattern has no wildcard at all.
    pub rest: Option<Matcher>,
}

/// Why a text is no pattern. Columns are 1-based and count characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// A `[` has no `]`.
    #[error("the `[` in column {0} is never closed")]
    UnclosedClass(usize),
    /// A class holds a `/`, which no segment does.
    #[error("the class in column {0} holds a `/`")]
    SlashInClass(usize),
    /// A `{` has no `}`.
    #[error("the `{{` in column {0} is never closed")]
    UnclosedBrace(usize),
    /// A `}` has no `{`.
    #[error("the `}}` in column {0} was never opened")]
    UnopenedBrace(usize),
    /// A `\` stands at the end.
    #[error("the `\\` at the end takes no character's meaning away")]
    DanglingEscape,
    /// The pattern holds a NUL byte.
    #[error("the pattern holds a NUL byte")]
    Nul,
    /// A `..` follows a `**`.
    #[error("`..` after `**` has no meaning")]
    ClimbsFromAnyDepth,
    /// The pattern has more segments or alternatives than are matched.
    #[error("the pattern has too many segments or alternatives")]
    TooLong,
    /// Some alternatives begin at `/` and some do not, and a walk begins at one place.
    #[error("some of the alternatives begin with `/` and others do not; make a call for each")]
    MixedRoots,
    /// The glob engine refused a segment.
    #[error("the segment `{segment}` is no glob: {why}")]
    Segment {
        /// The segment as written.
        segment: String,
        /// The engine's words.
        why: String,
    },
}

/// Which steps of a pattern a folder's path may stand at, a bit each.
pub(super) type State = u128;

/// How many bits a [`State`] has.
const MAX_STEPS: usize = 128;

/// How many patterns one pattern with braces may stand for.
const MAX_ALTERNATIVES: usize = 64;

/// Matches paths a segment at a time.
#[derive(Clone, Debug)]
pub struct Matcher {
    steps: Vec<Step>,
    starts: State,
    ends: State,
}

/// What one segment must be.
#[derive(Clone, Debug)]
enum Step {
    /// `**`
    Deep,
    /// `*`
    Any,
    Literal(String),
    /// `*` and a literal end.
    Suffix(String),
    Glob(Box<GlobMatcher>),
    /// The pattern ends here.
    End,
}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.contains('\0') {
            return Err(PatternError::Nul);
        }
        check(text)?;
        let mut alternatives = Vec::new();
        for text in write_out(text)? {
            alternatives.push(normal(segments(&text))?);
        }
        let absolute = alternatives.iter().all(|a| a.absolute);
        if !absolute && alternatives.iter().any(|a| a.absolute) {
            return Err(PatternError::MixedRoots);
        }
        let n_common = n_common(&alternatives);
        let common = alternatives.first().map(|a| &a.segments[..n_common]).unwrap_or_default();
        let names: Vec<String> = common.iter().map(|segment| unescape(segment)).collect();
        let prefix = format!("{}{}", if absolute { "/" } else { "" }, names.join("/"));
        if alternatives.len() == 1 && alternatives.iter().all(|a| a.segments.len() == n_common)
        {
            return Ok(Self { prefix, rest: None });
        }
        let below = alternatives.iter().map(|a| &a.segments[n_common..]);
        Ok(Self { prefix, rest: Some(Matcher::new(below)?) })
    }
}

impl Matcher {
    /// Matches everything below the start.
    pub(super) fn everything() -> Self {
        Self { steps: vec![Step::Deep, Step::Any, Step::End], starts: 0b011, ends: 0b100 }
    }

    fn new<'a>(patterns: impl Iterator<Item = &'a [String]>) -> Result<Self, PatternError> {
        let mut matcher = Self { steps: Vec::new(), starts: 0, ends: 0 };
        for segments in patterns {
            let first = matcher.steps.len();
            for segment in segments {
                match (step(segment)?, matcher.steps.last()) {
                    (Step::Deep, Some(Step::Deep)) => {}
                    (step, _) => matcher.steps.push(step),
                }
            }
            if matches!(matcher.steps.get(first..), Some([.., Step::Deep])) {
                matcher.steps.push(Step::Any);
            }
            matcher.steps.push(Step::End);
            if matcher.steps.len() > MAX_STEPS {
                return Err(PatternError::TooLong);
            }
            matcher.starts |= matcher.enter(first);
            matcher.ends |= 1 << (matcher.steps.len() - 1);
        }
        Ok(matcher)
    }

    /// Returns the state of the folder where the walk begins.
    pub(super) fn start(&self) -> State {
        self.starts
    }

    /// Returns the state one segment further down.
    pub(super) fn advance(&self, state: State, name: &str) -> State {
        let mut next = 0;
        let mut left = state;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            match self.steps.get(at) {
                Some(Step::Deep) => next |= self.enter(at),
                Some(step) if step.is_match(name) => next |= self.enter(at + 1),
                _ => {}
            }
        }
        next
    }

    /// Returns whether a path with this state is matched whole.
    pub(super) fn accepts(&self, state: State) -> bool {
        state & self.ends != 0
    }

    /// Returns whether something below a path with this state may match.
    pub(super) fn goes_on(&self, state: State) -> bool {
        state & !self.ends != 0
    }

    /// Returns whether a relative path matches.
    #[cfg(test)]
    fn is_match(&self, path: &str) -> bool {
        let state = path.split('/').fold(self.start(), |state, name| self.advance(state, name));
        self.accepts(state)
    }

    /// Returns the state of standing before step `at`; before a `**` that is also to stand behind it.
    fn enter(&self, at: usize) -> State {
        match self.steps.get(at) {
            Some(Step::Deep) => (0b11) << at,
            Some(_) => 1 << at,
            None => 0,
        }
    }
}

impl Step {
    fn is_match(&self, name: &str) -> bool {
        match self {
            Self::Deep | Self::Any => true,
            Self::Literal(literal) => name == literal,
            Self::Suffix(suffix) => name.ends_with(&**suffix),
            Self::Glob(glob) => glob.is_match(name),
            Self::End => false,
        }
    }
}

fn step(segment: &str) -> Result<Step, PatternError> {
    if segment == "**" {
        return Ok(Step::Deep);
    }
    let mut glob = segment.to_owned();
    while glob.contains("**") {
        glob = glob.replace("**", "*");
    }
    if glob == "*" {
        return Ok(Step::Any);
    }
    if !is_wild(&glob) {
        return Ok(Step::Literal(unescape(&glob)));
    }
    if let Some(suffix) = glob.strip_prefix('*').filter(|rest| !rest.contains(SPECIAL)) {
        return Ok(Step::Suffix(suffix.to_owned()));
    }
    let built = GlobBuilder::new(&glob)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build();
    match built {
        Ok(glob) => Ok(Step::Glob(Box::new(glob.compile_matcher()))),
        Err(error) => Err(PatternError::Segment {
            segment: segment.to_owned(),
            why: error.kind().to_string(),
        }),
    }
}

const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// Returns whether a text has a wildcard that is not escaped.
pub(super) fn is_wild(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '*' | '?' | '[' | '{' => return true,
            _ => {}
        }
    }
    false
}

fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

/// Finds what is never closed or never opened.
fn check(text: &str) -> Result<(), PatternError> {
    let chars: Vec<char> = text.chars().collect();
    let mut braces = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' if at + 1 == chars.len() => return Err(PatternError::DanglingEscape),
            '\\' => at += 1,
            '[' => at = class_end(&chars, at)?,
            '{' => braces.push(at),
            '}' if braces.pop().is_none() => return Err(PatternError::UnopenedBrace(at + 1)),
            _ => {}
        }
        at += 1;
    }
    braces.first().map_or(Ok(()), |at| Err(PatternError::UnclosedBrace(at + 1)))
}

/// Returns where the class that opens at `open` closes; a `]` that comes first is a member.
fn class_end(chars: &[char], open: usize) -> Result<usize, PatternError> {
    let mut at = open + 1;
    if matches!(chars.get(at), Some('!' | '^')) {
        at += 1;
    }
    if chars.get(at) == Some(&']') {
        at += 1;
    }
    loop {
        match chars.get(at) {
            None => return Err(PatternError::UnclosedClass(open + 1)),
            Some('/') => return Err(PatternError::SlashInClass(open + 1)),
            Some(']') => return Ok(at),
            Some(_) => at += 1,
        }
    }
}

/// Writes out every brace group that holds a `/`, so that no segment boundary lies in a group.
fn write_out(text: &str) -> Result<Vec<String>, PatternError> {
    let mut todo = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = todo.pop() {
        match group_with_slash(&text) {
            None => done.push(text),
            Some((head, choices, tail)) => {
                let written =
                    choices.iter().rev().map(|choice| format!("{head}{choice}{tail}"));
                todo.extend(written);
            }
        }
        if todo.len() + done.len() > MAX_ALTERNATIVES {
            return Err(PatternError::TooLong);
        }
    }
    Ok(done)
}

/// Returns the first outermost brace group that holds a `/`: what precedes it, its choices, what follows.
fn group_with_slash(text: &str) -> Option<(String, Vec<String>, String)> {
    let chars: Vec<char> = text.chars().collect();
    let string = |chars: &[char]| chars.iter().collect::<String>();
    let (mut depth, mut open, mut slash) = (0usize, 0, false);
    let mut cuts = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '[' => at = class_end(&chars, at).ok()?,
            '{' => {
                depth += 1;
                if depth == 1 {
                    (open, slash) = (at, false);
                    cuts = vec![at];
                }
            }
            ',' if depth == 1 => cuts.push(at),
            '/' if depth > 0 => slash = true,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && slash {
                    cuts.push(at);
                    let choices =
                        cuts.windows(2).map(|cut| string(&chars[cut[0] + 1..cut[1]])).collect();
                    return Some((string(&chars[..open]), choices, string(&chars[at + 1..])));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// One pattern, its segments as written.
struct Alternative {
    absolute: bool,
    segments: Vec<String>,
}

fn segments(text: &str) -> Alternative {
    let absolute = text.starts_with('/');
    let mut segments: Vec<String> =
        text.split('/').filter(|s| !matches!(*s, "" | ".")).map(str::to_owned).collect();
    // A closing slash asks for a folder, and a folder means all that is below.
    if text.ends_with('/') && segments.last().is_some_and(|last| is_wild(last)) {
        segments.push("**".to_owned());
    }
    Alternative { absolute, segments }
}

/// Takes back each segment that a `..` follows; a `..` with nothing before it stays, to be judged with
/// the prefix.
fn normal(alternative: Alternative) -> Result<Alternative, PatternError> {
    let mut segments: Vec<String> = Vec::new();
    for segment in alternative.segments {
        if segment != ".." {
            segments.push(segment);
            continue;
        }
        match segments.last().map(String::as_str) {
            Some("**") => return Err(PatternError::ClimbsFromAnyDepth),
            Some("..") | None => segments.push(segment),
            Some(_) => drop(segments.pop()),
        }
    }
    Ok(Alternative { absolute: alternative.absolute, segments })
}

/// Returns how many leading segments all alternatives share and none of them is a wildcard.
fn n_common(alternatives: &[Alternative]) -> usize {
    let Some((first, others)) = alternatives.split_first() else {
        return 0;
    };
    let shared = |&(at, segment): &(usize, &String)| {
        !is_wild(segment) && others.iter().all(|other| other.segments.get(at) == Some(segment))
    };
    first.segments.iter().enumerate().take_while(shared).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    /// Returns which of the paths below the pattern's prefix match.
    fn matching<'a>(pattern: &str, paths: &[&'a str]) -> Vec<&'a str> {
        let pattern = parse(pattern);
        let matcher = pattern.rest.unwrap();
        let below = |path: &'a str| match pattern.prefix.as_str() {
            "" => Some(path),
            prefix => path.strip_prefix(prefix)?.strip_prefix('/'),
        };
        paths
            .iter()
            .copied()
            .filter(|path| below(path).is_some_and(|below| matcher.is_match(below)))
            .collect()
    }

    #[test]
    fn globs_match_as_people_expect() {
        let paths =
            ["x", "a/x", "a/b/x", "a/c/b", "x/a", "x/a/b", "a/b", ".h/x", "a.rs", "a.md"];
        for (pattern, matched) in [
            ("*", vec!["x", "a.rs", "a.md"]),
            ("**", paths.to_vec()),
            ("**/x", vec!["x", "a/x", "a/b/x", ".h/x"]),
            ("x/**", vec!["x/a", "x/a/b"]),
            ("a/**/b", vec!["a/c/b", "a/b"]),
            ("{a,x}/**", vec!["a/x", "a/b/x", "a/c/b", "x/a", "x/a/b", "a/b"]),
            ("{a/b,.h}/x", vec!["a/b/x", ".h/x"]),
            ("?/x", vec!["a/x"]),
            ("[!a]/*", vec!["x/a"]),
            ("*.{rs,md}", vec!["a.rs", "a.md"]),
            ("a**s", vec!["a.rs"]),
            ("**/**/x", vec!["x", "a/x", "a/b/x", ".h/x"]),
            ("./a/../x/*", vec!["x/a"]),
            ("a*/", vec!["a/x", "a/b/x", "a/c/b", "a/b"]),
            ("*/../x/*", vec!["x/a"]),
            ("{a,}.rs", vec!["a.rs"]),
            ("A*", vec![]),
        ] {
            assert_eq!(matching(pattern, &paths), matched, "{pattern}");
        }
    }

    #[test]
    fn a_backslash_takes_the_meaning_away() {
        assert_eq!(matching(r"\*[a]", &["*a", "ba"]), ["*a"]);
        let literal = parse(r"a\*b/\{c");
        assert_eq!((&*literal.prefix, literal.rest.is_none()), ("a*b/{c", true));
        assert_eq!(matching("[*]", &["*", "a"]), ["*"]);
        assert_eq!(matching("[]]x", &["]x", "ax"]), ["]x"]);
    }

    #[test]
    fn the_literal_prefix_is_where_a_walk_begins() {
        for (pattern, prefix) in [
            ("src/**/*.rs", "src"),
            ("./src//deep/./*.rs", "src/deep"),
            ("a/../b/*", "b"),
            ("../out/*", "../out"),
            ("/abs/x/*", "/abs/x"),
            ("{a,b}/c", ""),
            ("t/{a/x,a/y}/*", "t/a"),
            ("plain/file", "plain/file"),
        ] {
            assert_eq!(parse(pattern).prefix, prefix, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_pattern_says_where() {
        for (pattern, error) in [
            ("a[b", PatternError::UnclosedClass(2)),
            ("[]", PatternError::UnclosedClass(1)),
            ("[a/b]", PatternError::SlashInClass(1)),
            ("x{a,{b}", PatternError::UnclosedBrace(2)),
            ("λ}", PatternError::UnopenedBrace(2)),
            ("a\\", PatternError::DanglingEscape),
            ("**/..", PatternError::ClimbsFromAnyDepth),
            ("a\0*", PatternError::Nul),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap_err(), error, "{pattern}");
        }
        let range = Pattern::parse("[z-a]").unwrap_err();
        assert!(matches!(range, PatternError::Segment { .. }), "{range}");
        assert!(Pattern::parse(&"{a/b,c}".repeat(10)).is_err());
        assert!(Pattern::parse(&"*/".repeat(200)).is_err());
    }
}
