//! What an accepted patch will do: for each file, the lines that go and the rows that come.
//!
//! Nothing is written by a plan. It holds the content that it was made for, so that nothing is read twice.

use std::ops::Range;

use crate::path::Place;
use crate::text::{Ending, LineNo, Snapshot};

/// An accepted patch.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The files, in patch order.
    pub files: Vec<FilePlan>,
}

/// What happens to one file.
///
/// Invariant: the edits are in order and disjoint, none replaces lines by themselves, and inserts at one
/// point are one edit.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The file, through its symlinks.
    pub place: Place,
    /// The content that the plan was made for.
    pub base: Snapshot,
    /// The edits.
    pub edits: Vec<Edit>,
    /// What followed its lines to another place, in patch order.
    pub moved: Vec<Moved>,
    /// How many rows the ops put in.
    pub added: usize,
    /// How many lines the ops take out.
    pub removed: usize,
}

/// Lines that go and the rows that come in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The 0-based lines that go; empty for an insert.
    pub old: Range<usize>,
    /// The rows that come.
    pub rows: Vec<Row>,
}

/// A new line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its content.
    pub content: String,
    /// How it ends.
    pub ending: Ending,
}

/// An op that followed its lines, because it was told to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The first and last line as the op named them.
    pub from: (LineNo, LineNo),
    /// Where they stand now.
    pub to: (LineNo, LineNo),
}

/// Returns the ending of a line as a new line beside it takes it: its own; where the file stops without
/// one, that of the line above; else a line feed.
pub(super) fn ending_like(base: &Snapshot, index: usize) -> Ending {
    let spans = base.spans();
    match spans.get(index).map(|span| span.ending) {
        Some(ending @ (Ending::Lf | Ending::CrLf)) => ending,
        Some(Ending::None) | None => match index.checked_sub(1).and_then(|at| spans.get(at)) {
            Some(above) if above.ending == Ending::CrLf => Ending::CrLf,
            Some(_) | None => Ending::Lf,
        },
    }
}

/// Returns the ending of a row that is inserted at a gap: of the line above it, of the line below at the
/// top.
pub(super) fn ending_at_gap(base: &Snapshot, gap: usize) -> Ending {
    ending_like(base, gap.saturating_sub(1))
}
