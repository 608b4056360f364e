//! Paths above the workspace: [`RelPath`], which cannot climb, and [`Place`], which says beneath which root.
//!
//! Everything here is lexical: no file system is asked, so a symlink is an ordinary name. Finding where a
//! path really leads is `workspace::resolve`'s work.
//!
//! Invariant: the text of a `RelPath` has no empty, `.` or `..` segment, no NUL and no leading or trailing `/`.

use std::fmt;
use std::sync::Arc;

/// A path beneath some root, `/`-separated and free of `.` and `..`; the empty path is the root itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelPath(Arc<str>);

/// Why a text is no [`RelPath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// A `..` climbs above the root.
    #[error("the path climbs above its root")]
    Climbs,
    /// The text holds a NUL byte.
    #[error("the path holds a NUL byte")]
    Nul,
    /// The text begins with `/`.
    #[error("the path is absolute")]
    Absolute,
}

impl RelPath {
    /// Returns the path of the root itself.
    pub fn root() -> Self {
        Self(Arc::from(""))
    }

    /// Reads a relative path, resolving `.` and `..` by the text alone.
    pub fn parse(text: &str) -> Result<Self, BadPath> {
        if text.starts_with('/') {
            return Err(BadPath::Absolute);
        }
        Self::root().join(text)
    }

    /// Returns this path followed by `text`, which may climb as far as the root but not above it.
    pub fn join(&self, text: &str) -> Result<Self, BadPath> {
        if text.contains('\0') {
            return Err(BadPath::Nul);
        }
        let mut segments: Vec<&str> = self.segments().collect();
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    segments.pop().ok_or(BadPath::Climbs)?;
                }
                name => segments.push(name),
            }
        }
        Ok(Self(Arc::from(segments.join("/"))))
    }

    /// Returns this path with one more segment, or nothing if `name` is not a single plain segment.
    pub fn child(&self, name: &str) -> Option<Self> {
        if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) {
            return None;
        }
        if self.is_root() {
            return Some(Self(Arc::from(name)));
        }
        Some(Self(Arc::from(format!("{}/{name}", self.0))))
    }

    /// Returns the folder that holds this path, or nothing for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(
            self.0
                .rsplit_once('/')
                .map_or_else(Self::root, |(folder, _)| Self(Arc::from(folder))),
        )
    }

    /// Returns the last segment, or nothing for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.segments().next_back()
    }

    /// Returns what follows the last dot of the file name; a leading dot opens no extension.
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name()?.rsplit_once('.')?;
        (!stem.is_empty()).then_some(extension)
    }

    /// Returns the segments, outermost first.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// Returns whether this is the root itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `self` is `folder` or lies below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        folder.is_root()
            || self
                .0
                .strip_prefix(&*folder.0)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the text, empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

/// Names a root: the workspace, or another folder by its absolute path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RootName(Arc<str>);

impl RootName {
    /// Returns the name of the workspace itself.
    pub fn workspace() -> Self {
        Self(Arc::from(""))
    }

    /// Returns the name of another root; `absolute` is its absolute path without a trailing `/`.
    pub fn absolute(absolute: &str) -> Self {
        Self(Arc::from(absolute))
    }

    /// Returns whether this is the workspace.
    pub fn is_workspace(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text: empty for the workspace, else the absolute path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A file or folder beneath a root of the session.
///
/// It shows as results show it: relative for the workspace, absolute for every other root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The root that holds it.
    pub root: RootName,
    /// The path below that root.
    pub path: RelPath,
}

impl Place {
    /// Returns a place beneath the workspace.
    pub fn in_workspace(path: RelPath) -> Self {
        Self { root: RootName::workspace(), path }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.root.is_workspace() {
            return self.path.fmt(f);
        }
        f.write_str(self.root.as_str())?;
        if self.path.is_root() {
            return Ok(());
        }
        let separator = if self.root.as_str().ends_with('/') { "" } else { "/" };
        write!(f, "{separator}{}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rel(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    #[test]
    fn dots_are_resolved_by_the_text() {
        assert_eq!(rel("src/../doc/./a.txt").as_str(), "doc/a.txt");
        assert_eq!(rel("..hidden.txt").as_str(), "..hidden.txt");
        assert_eq!(rel("a//b/").as_str(), "a/b");
        assert_eq!(rel("").to_string(), ".");
        assert_eq!(RelPath::parse("a/../../b"), Err(BadPath::Climbs));
        assert_eq!(RelPath::parse("/etc"), Err(BadPath::Absolute));
        assert_eq!(RelPath::parse("a\0b"), Err(BadPath::Nul));
    }

    #[test]
    fn a_neighbour_whose_name_begins_alike_is_not_within() {
        assert!(rel("src/a").is_within(&rel("src")));
        assert!(rel("src").is_within(&rel("src")));
        assert!(!rel("src-old/a").is_within(&rel("src")));
        assert!(rel("x").is_within(&RelPath::root()));
    }

    #[test]
    fn a_leading_dot_opens_no_extension() {
        assert_eq!(rel(".bashrc").extension(), None);
        assert_eq!(rel("a/b.tar.gz").extension(), Some("gz"));
    }

    #[test]
    fn places_show_as_results_show_them() {
        let extra = Place { root: RootName::absolute("/docs"), path: rel("a.md") };
        assert_eq!(extra.to_string(), "/docs/a.md");
        assert_eq!(Place { root: RootName::absolute("/"), path: rel("a") }.to_string(), "/a");
        assert_eq!(Place::in_workspace(rel("a/b")).to_string(), "a/b");
    }

    proptest! {
        #[test]
        fn a_parsed_path_reads_back_as_itself(text in "[a-z./]{0,40}") {
            if let Ok(path) = RelPath::parse(&text) {
                prop_assert!(path.segments().all(|segment| segment != ".." && segment != "."));
                prop_assert_eq!(RelPath::parse(path.as_str()), Ok(path));
            }
        }
    }
}
