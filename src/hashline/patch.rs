//! A parsed patch: sections that name files, and the ops of each, as written.
//!
//! Nothing here knows what a file holds. Paths are text until the caller resolves them.
//!
//! Invariant: every patch has a section, every section an op, every range runs forwards, and an op that
//! inserts has at least one payload row; only [`super::grammar::parse`] makes one from text.

use std::ops::RangeInclusive;

use super::anchor::Anchor;
use crate::path::Place;
use crate::text::LineNo;

/// A whole patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The sections, in patch order; several may name one file.
    pub sections: Vec<Section>,
}

/// What one `@@ PATH` header opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The path as written, without the blanks around it.
    pub path: String,
    /// The header's line in the patch, 1-based.
    pub patch_line: usize,
    /// The ops, in patch order.
    pub ops: Vec<Op>,
}

/// One op and its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does, and where.
    pub target: Target,
    /// The rows to put in, without their `~` and line endings.
    pub payload: Vec<String>,
    /// The op's line in the patch, 1-based.
    pub patch_line: usize,
}

/// Where an op acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `+ LINE:HH`
    After(Anchor),
    /// `< LINE:HH`
    Before(Anchor),
    /// A bare `+`.
    End,
    /// A bare `<`.
    Top,
    /// `- A:HH..B:HH`
    Delete(Anchor, Anchor),
    /// `= A:HH..B:HH`
    Replace(Anchor, Anchor),
}

/// What an anchor is to its op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The line to insert after.
    InsertAfter,
    /// The line to insert before.
    InsertBefore,
    /// The first line of a delete.
    DeleteStart,
    /// The last line of a delete.
    DeleteEnd,
    /// The first line of a replace.
    ReplaceStart,
    /// The last line of a replace.
    ReplaceEnd,
    /// A line between the ends of a delete or replace.
    Interior,
}

impl Role {
    /// Returns the role in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InsertAfter => "insert after",
            Self::InsertBefore => "insert before",
            Self::DeleteStart => "delete start",
            Self::DeleteEnd => "delete end",
            Self::ReplaceStart => "replace start",
            Self::ReplaceEnd => "replace end",
            Self::Interior => "inside the range",
        }
    }
}

impl Target {
    /// Returns the anchors with their roles: none, one, or two; both ends of a range on one line are one.
    pub fn anchors(self) -> Vec<(Role, Anchor)> {
        let (start, end) = match self {
            Self::End | Self::Top => return Vec::new(),
            Self::After(anchor) => return vec![(Role::InsertAfter, anchor)],
            Self::Before(anchor) => return vec![(Role::InsertBefore, anchor)],
            Self::Delete(start, end) => ((Role::DeleteStart, start), (Role::DeleteEnd, end)),
            Self::Replace(start, end) => ((Role::ReplaceStart, start), (Role::ReplaceEnd, end)),
        };
        if start.1 == end.1 { vec![start] } else { vec![start, end] }
    }

    /// Returns the lines that the op relies on, 0-based; none for a bare insert.
    pub fn lines(self) -> Option<RangeInclusive<usize>> {
        match self {
            Self::End | Self::Top => None,
            Self::After(anchor) | Self::Before(anchor) => {
                Some(anchor.line.index()..=anchor.line.index())
            }
            Self::Delete(start, end) | Self::Replace(start, end) => {
                Some(start.line.index()..=end.line.index())
            }
        }
    }

    /// Returns whether the op takes lines out.
    pub fn is_range(self) -> bool {
        match self {
            Self::Delete(..) | Self::Replace(..) => true,
            Self::End | Self::Top | Self::After(_) | Self::Before(_) => false,
        }
    }

    /// Returns the op in words, as refusals name it: `replace 2..3`, `insert after 4`.
    pub fn describe(self) -> String {
        let span = |start: LineNo, end: LineNo| format!("{start}..{end}");
        match self {
            Self::End => "insert at the end".to_owned(),
            Self::Top => "insert at the top".to_owned(),
            Self::After(anchor) => format!("insert after {}", anchor.line),
            Self::Before(anchor) => format!("insert before {}", anchor.line),
            Self::Delete(start, end) => format!("delete {}", span(start.line, end.line)),
            Self::Replace(start, end) => format!("replace {}", span(start.line, end.line)),
        }
    }
}

/// Every op of a patch on one file, in patch order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The file, through its symlinks.
    pub place: Place,
    /// The ops of all sections that name it.
    pub ops: Vec<Op>,
}

impl Patch {
    /// Merges the sections that name one file, keeping patch order; `resolve` says which file a path is.
    ///
    /// Errors: every path that `resolve` refuses, with its section's place in the patch.
    pub fn into_files<E>(
        self,
        mut resolve: impl FnMut(&str) -> Result<Place, E>,
    ) -> Result<Vec<FilePatch>, Vec<(usize, E)>> {
        let mut files: Vec<FilePatch> = Vec::new();
        let mut refused = Vec::new();
        for section in self.sections {
            match resolve(&section.path) {
                Ok(place) => match files.iter_mut().find(|file| file.place == place) {
                    Some(file) => file.ops.extend(section.ops),
                    None => files.push(FilePatch { place, ops: section.ops }),
                },
                Err(error) => refused.push((section.patch_line, error)),
            }
        }
        if refused.is_empty() { Ok(files) } else { Err(refused) }
    }
}
