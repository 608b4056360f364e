//! What a grant covers whole: folders with everything below them. Rounded down.
//!
//! A boundary that knows folders and no patterns can be told no more than this. A pattern whose coverage is
//! no such folder (`**/*.rs`), or whose folder is told by a wildcard (`*/src/**`), counts as nothing here.

use crate::authority::capability::Capability;
use crate::authority::grant::Grant;
use crate::authority::scope::PathScope;
use crate::path::RelPath;

/// How many alternatives of braces one pattern is spelled out into, at most.
const MAX_ALTERNATIVES: usize = 256;

/// A file or folder with everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subtree {
    /// Every root.
    Everything,
    /// A path in the workspace.
    Workspace(RelPath),
    /// An absolute path in another root.
    Other(RelPath),
}

impl Subtree {
    /// Returns what lies in both: one of them, if it lies in the other.
    fn meet<'a>(&'a self, other: &'a Self) -> Option<&'a Self> {
        match (self, other) {
            (Self::Everything, it) | (it, Self::Everything) => Some(it),
            (Self::Workspace(a), Self::Workspace(b)) | (Self::Other(a), Self::Other(b)) => {
                if is_within(a, b) {
                    Some(self)
                } else {
                    is_within(b, a).then_some(other)
                }
            }
            (Self::Workspace(_), Self::Other(_)) | (Self::Other(_), Self::Workspace(_)) => None,
        }
    }
}

fn is_within(path: &RelPath, folder: &RelPath) -> bool {
    let mut segments = path.segments();
    folder.segments().all(|name| segments.next() == Some(name))
}

impl Grant {
    /// Returns the files and folders that a capability covers with everything below them.
    pub fn subtrees(&self, capability: &Capability) -> Vec<Subtree> {
        let everything = vec![Subtree::Everything];
        self.path_scopes(capability).fold(everything, |covered, scopes| {
            let listed = match scopes {
                None => Vec::new(),
                Some(scopes) => scopes.into_iter().flat_map(subtrees).collect(),
            };
            let both = covered.iter().flat_map(|a| listed.iter().filter_map(|b| a.meet(b)));
            both.cloned().collect()
        })
    }
}

fn subtrees(scope: &PathScope) -> Vec<Subtree> {
    let text = scope.as_str();
    // As the scope reads its own text, before braces are looked at.
    let mut segments: Vec<&str> =
        text.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    let is_folder = text.ends_with('/') || !is_wild(text);
    let n_written = segments.len();
    while segments.last() == Some(&"**") {
        segments.pop();
    }
    if !is_folder && segments.len() == n_written {
        return Vec::new();
    }
    let make = if text.starts_with('/') { Subtree::Other } else { Subtree::Workspace };
    if segments.is_empty() {
        return vec![make(RelPath::root())];
    }
    let patterns = alternatives(&segments.join("/")).unwrap_or_default();
    patterns.iter().filter_map(|pattern| plain(pattern)).map(make).collect()
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '}', '\\'])
}

/// Reads a pattern that is a path; what braces left of `.` or nothing between slashes is no path's.
fn plain(pattern: &str) -> Option<RelPath> {
    let is_name = |name: &str| !matches!(name, "" | "." | "..");
    let is_path = !is_wild(pattern) && pattern.split('/').all(is_name);
    is_path.then(|| RelPath::parse(pattern).ok()).flatten()
}

/// Spells out the braces of a pattern; nothing where that is not plain to see.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    if !pattern.contains('{') {
        return Some(vec![pattern.to_owned()]);
    }
    if pattern.contains(['\\', '[']) {
        return None;
    }
    let mut open = vec![pattern.to_owned()];
    let mut plain = Vec::new();
    while let Some(next) = open.pop() {
        // The first closing brace closes the last opening one before it.
        let Some((before, after)) = next.split_once('}') else {
            if next.contains('{') {
                return None;
            }
            if !plain.contains(&next) {
                plain.push(next);
            }
            continue;
        };
        let (head, choices) = before.rsplit_once('{')?;
        open.extend(choices.split(',').map(|choice| format!("{head}{choice}{after}")));
        if open.len() + plain.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::Entry;
    use crate::path::Place;
    use proptest::prelude::*;

    fn grant(lists: &[&[&str]]) -> Grant {
        let grants = lists.iter().map(|list| {
            let entries: Vec<_> = list.iter().map(|text| Entry::parse(text).unwrap()).collect();
            Grant::from_entries(&entries)
        });
        grants.fold(Grant::everything(), |all, one| all.meet(&one))
    }

    fn covered(lists: &[&[&str]]) -> Vec<String> {
        let grant = grant(lists);
        let mut shown: Vec<_> = grant
            .subtrees(&Capability::FileWrite)
            .iter()
            .map(|subtree| match subtree {
                Subtree::Everything => "everything".to_owned(),
                Subtree::Workspace(path) => path.as_str().to_owned(),
                Subtree::Other(path) => format!("/{}", path.as_str()),
            })
            .collect();
        shown.sort();
        shown
    }

    #[test]
    fn folders_count_and_patterns_of_names_do_not() {
        for (scope, folders) in [
            ("src/**", &["src"][..]),
            ("src", &["src"]),
            ("src/", &["src"]),
            ("./src/**/**", &["src"]),
            (".", &[""]),
            ("**", &[""]),
            ("{src,docs/{a,b}}/**", &["docs/a", "docs/b", "src"]),
            ("/docs/**", &["/docs"]),
            ("**/*.rs", &[]),
            ("src/*", &[]),
            ("*/src/**", &[]),
            ("src/**/x", &[]),
            ("src/a[b]/**", &[]),
            ("*/", &[]),
            ("src/\\*", &[]),
        ] {
            assert_eq!(covered(&[&[&format!("file/write({scope})")]]), folders, "{scope}");
        }
    }

    #[test]
    fn what_two_lists_cover_is_what_both_do() {
        assert_eq!(covered(&[]), ["everything"]);
        assert_eq!(covered(&[&["file/write"]]), ["everything"]);
        assert_eq!(covered(&[&["file/edit"]]), [""; 0]);
        assert_eq!(covered(&[&["file/write"], &["file/write(src)"]]), ["src"]);
        let (wide, narrow) = (
            ["file/write(src)", "file/write(doc/a)"],
            ["file/write(src/x)", "file/write(doc)"],
        );
        assert_eq!(covered(&[&wide, &narrow]), ["doc/a", "src/x"]);
        assert_eq!(covered(&[&["file/write(src)"], &["file/write(src-old)"]]), [""; 0]);
        assert_eq!(covered(&[&["file/write(.)"], &["file/write(/)"]]), [""; 0]);
    }

    proptest! {
        /// What is told whole is admitted, at every point below.
        #[test]
        fn nothing_below_a_subtree_is_denied(
            scopes in proptest::collection::vec("(\\{?[ab,*?./]{1,6}\\}?(/|/\\*\\*)?)", 1..4),
            below in "[ab][ab.]?(/[ab][ab.]?){0,2}",
        ) {
            let entries: Vec<_> = scopes
                .iter()
                .filter_map(|scope| Entry::parse(&format!("file/write({scope})")).ok())
                .collect();
            let grant = Grant::from_entries(&entries);
            for subtree in grant.subtrees(&Capability::FileWrite) {
                if let Subtree::Workspace(path) = subtree {
                    let place = Place::in_workspace(path.join(&below).unwrap());
                    prop_assert!(grant.admits(&Capability::FileWrite, &place), "{}", place);
                }
            }
        }
    }
}
