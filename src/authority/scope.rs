//! Path scopes: which places a pattern covers.
//!
//! A path scope is a glob over the resolved path, whole and case-sensitive. `*`, `?` and classes stay in
//! one segment, `**` crosses any number, braces offer alternatives. A relative pattern is about the
//! workspace and an absolute one about every other root, by its absolute path; neither reaches into the
//! other. `src/**` is everything below `src` and not `src` itself. A pattern without wildcards, or with
//! a `/` at its end, is a file or folder: itself and everything below it.
//!
//! Invariant: a pattern never covers a path that needs `..` to be written.

use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::path::Place;

/// The greatest length of a pattern in bytes; the compiler of globs recurses once a nested brace.
pub(super) const MAX_PATTERN: usize = 1024;

/// A pattern of paths, compiled.
#[derive(Clone)]
pub struct PathScope {
    source: Arc<str>,
    reach: Reach,
    set: Arc<GlobSet>,
    /// Folders that something covered may lie below.
    above: Arc<GlobSet>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Workspace,
    OtherRoots,
}

/// Why a text is no path scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadScope {
    /// Nothing stands between the parentheses.
    #[error("the scope is empty; leave the parentheses away to mean all of it")]
    Empty,
    /// The pattern is over the length that is compiled.
    #[error("the scope is longer than {MAX_PATTERN} bytes")]
    TooLong,
    /// A `..` segment, which no resolved path has.
    #[error("the scope {0:?} has a `..` segment; paths are matched after they are resolved")]
    Climbs(String),
    /// The glob does not compile.
    #[error("the scope {pattern:?} is no pattern: {kind}")]
    Glob {
        /// The pattern as written.
        pattern: String,
        /// What the compiler of globs says.
        kind: globset::ErrorKind,
    },
}

impl PathScope {
    /// Compiles a pattern.
    pub fn parse(text: &str) -> Result<Self, BadScope> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BadScope::Empty);
        }
        if text.len() > MAX_PATTERN {
            return Err(BadScope::TooLong);
        }
        if text.split('/').any(|segment| segment == "..") {
            return Err(BadScope::Climbs(text.to_owned()));
        }
        let reach = if text.starts_with('/') { Reach::OtherRoots } else { Reach::Workspace };
        let patterns = patterns(text, reach);
        let compiled = |patterns: &[String]| {
            compile(patterns).map_err(|error| BadScope::Glob {
                pattern: text.to_owned(),
                kind: error.kind().clone(),
            })
        };
        let set = Arc::new(compiled(&patterns)?);
        let above =
            Arc::new(compiled(&patterns.iter().flat_map(|p| above(p)).collect::<Vec<_>>())?);
        Ok(Self { source: Arc::from(text), reach, set, above })
    }

    /// Returns the pattern of one place: a file, or a folder and everything below it.
    ///
    /// Nothing where the path cannot be written as one. What has signs of a pattern in it, escaped, is the
    /// file alone.
    pub fn of_place(place: &Place) -> Option<Self> {
        let mut text = String::new();
        for c in place.to_string().chars() {
            if "*?[]{}\\".contains(c) {
                text.push('\\');
            }
            text.push(c);
        }
        Self::parse(&text).ok().filter(|scope| scope.covers(place))
    }

    /// Returns whether the pattern covers one place.
    pub fn covers(&self, place: &Place) -> bool {
        match (self.reach, place.root.is_workspace()) {
            (Reach::Workspace, true) => self.set.is_match(place.path.as_str()),
            (Reach::OtherRoots, false) => self.set.is_match(place.to_string()),
            (Reach::Workspace, false) | (Reach::OtherRoots, true) => false,
        }
    }

    /// Returns whether something at or below a folder may be covered.
    ///
    /// True where that is not known: a pattern whose braces or classes hold a `/` may reach anywhere.
    pub fn reaches(&self, folder: &Place) -> bool {
        let (text, is_ours) = match self.reach {
            Reach::Workspace => (folder.path.as_str().to_owned(), folder.root.is_workspace()),
            Reach::OtherRoots => (folder.to_string(), !folder.root.is_workspace()),
        };
        is_ours && (self.set.is_match(&text) || self.above.is_match(&text))
    }

    /// Returns the pattern as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

/// Returns the globs that stand for one written pattern, its empty and `.` segments dropped.
fn patterns(text: &str, reach: Reach) -> Vec<String> {
    let segments = text.split('/').filter(|segment| !matches!(*segment, "" | "."));
    let bare = segments.collect::<Vec<_>>().join("/");
    let is_folder = text.ends_with('/') || !text.contains(['*', '?', '[', '{', '\\']);
    let lead = match reach {
        Reach::Workspace => "",
        Reach::OtherRoots => "/",
    };
    match (bare.is_empty(), is_folder) {
        (true, _) => vec![format!("{lead}**")],
        (false, true) => vec![format!("{lead}{bare}"), format!("{lead}{bare}/**")],
        (false, false) => vec![format!("{lead}{bare}")],
    }
}

/// Returns globs for the folders that a glob's matches may lie below.
fn above(pattern: &str) -> Vec<String> {
    let (lead, bare) = pattern.strip_prefix('/').map_or(("", pattern), |bare| ("/", bare));
    let segments: Vec<&str> = bare.split('/').collect();
    let is_open =
        |s: &&str, open: char, close: char| s.matches(open).count() != s.matches(close).count();
    if segments.iter().any(|s| is_open(s, '{', '}') || is_open(s, '[', ']')) {
        return vec![format!("{lead}**")];
    }
    let mut folders = vec![lead.to_owned()];
    for n in 1..segments.len() {
        let (head, rest) = segments.split_at(n);
        if head.contains(&"**") {
            folders.push(format!("{lead}{}", head.join("/")));
            break;
        }
        folders.push(format!("{lead}{}", head.join("/")));
        if rest.first() == Some(&"**") {
            folders.push(format!("{lead}{}/**", head.join("/")));
            break;
        }
    }
    if segments.first() == Some(&"**") {
        folders.push(format!("{lead}**"));
    }
    folders
}

fn compile(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
    }
    set.build()
}

impl fmt::Display for PathScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for PathScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PathScope").field(&self.source).finish()
    }
}

impl PartialEq for PathScope {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for PathScope {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{RelPath, RootName};

    fn covers(pattern: &str, path: &str) -> bool {
        let path = RelPath::parse(path).unwrap();
        PathScope::parse(pattern).unwrap().covers(&Place::in_workspace(path))
    }

    #[test]
    fn wildcards_stay_in_their_segment() {
        assert!(covers("src/*.rs", "src/a.rs"));
        for pattern in
            ["src/*.rs", "src/a?b.rs", "src/a[!x]b.rs", "src/a[./]b.rs", "src/a[.-0]b.rs"]
        {
            assert!(!covers(pattern, "src/a/b.rs"), "{pattern}");
        }
    }

    #[test]
    fn a_plain_pattern_is_a_file_or_a_folder_with_what_is_below() {
        for pattern in ["src", "src/", "./src", "src/."] {
            assert!(covers(pattern, "src"), "{pattern}");
            assert!(covers(pattern, "src/a/b"), "{pattern}");
            assert!(!covers(pattern, "src-old/a"), "{pattern}");
        }
        assert!(covers("src/**", "src/.hidden"));
        assert!(!covers("src/**", "src"));
        assert!(covers(".", "a/b"));
        assert!(covers("*/", "a/b"));
    }

    #[test]
    fn a_pattern_reaches_the_folders_that_its_matches_may_lie_below() {
        let reaches = |pattern: &str, folder: &str| {
            let folder = Place::in_workspace(RelPath::parse(folder).unwrap());
            PathScope::parse(pattern).unwrap().reaches(&folder)
        };
        for (pattern, inside, outside) in [
            ("src/**", &["", "src", "src/a/b"][..], &["doc", "src-old"][..]),
            ("src/*/x.rs", &["", "src", "src/a"], &["doc", "src/a/b"]),
            ("a/**/x.rs", &["", "a", "a/b", "a/b/c"], &["b"]),
            ("**/*.rs", &["", "a", "a/b"], &[]),
            ("src", &["", "src", "src/a"], &["doc"]),
            ("{a,b}/x", &["", "a", "b"], &["c", "a/x/y"]),
            ("{a/b,c}/x", &["", "a", "c", "z"], &[]),
        ] {
            for folder in inside {
                assert!(reaches(pattern, folder), "{pattern} and {folder:?}");
            }
            for folder in outside {
                assert!(!reaches(pattern, folder), "{pattern} and {folder:?}");
            }
        }
    }

    #[test]
    fn nested_braces_overflow_no_stack() {
        let nested =
            |n_levels: usize| format!("{}a{}", "{".repeat(n_levels), "}".repeat(n_levels));
        assert!(PathScope::parse(&nested(50)).is_ok());
        assert!(matches!(PathScope::parse(&nested(500)), Err(BadScope::Glob { .. })));
        assert_eq!(PathScope::parse(&nested(100_000)), Err(BadScope::TooLong));
    }

    #[test]
    fn absolute_patterns_are_about_other_roots() {
        let place =
            Place { root: RootName::absolute("/docs"), path: RelPath::parse("a.md").unwrap() };
        for pattern in ["/docs/**", "/docs", "/", "/**/*.md"] {
            assert!(PathScope::parse(pattern).unwrap().covers(&place), "{pattern}");
            assert!(!covers(pattern, "docs/a.md"), "{pattern}");
        }
        assert!(!PathScope::parse("**").unwrap().covers(&place));
    }
}
