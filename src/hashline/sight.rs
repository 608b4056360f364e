//! The rows that a refusal shows of a file, each once, and what the session has seen by that.

use std::ops::Range;

use super::anchor::{Extent, ROW_CHARS, push_row};
use super::line_set::LineSet;
use super::seen::{Scope, Sight};
use crate::text::{LineNo, Snapshot, clip_line};

/// How many rows are shown above and below a line.
const CONTEXT: usize = 2;

/// How many rows a refusal shows of one file.
const MAX_ROWS: usize = 80;

/// How many rows of a stretch that stands elsewhere are shown at each of its ends.
const MAX_ENDS: usize = 3;

/// Collects what was shown.
#[derive(Debug)]
pub(super) struct Shower<'a> {
    now: &'a Snapshot,
    shown: LineSet,
    told: LineSet,
    clipped: Vec<LineNo>,
    n_rows: usize,
}

impl<'a> Shower<'a> {
    /// Begins with nothing shown.
    pub(super) fn new(now: &'a Snapshot) -> Self {
        let (shown, told) = (LineSet::default(), LineSet::default());
        Self { now, shown, told, clipped: Vec::new(), n_rows: 0 }
    }

    /// Appends the rows around line `index` that were not shown yet.
    pub(super) fn around(&mut self, rows: &mut String, index: usize) {
        self.rows(rows, index.saturating_sub(CONTEXT)..index + CONTEXT + 1);
    }

    /// Appends the ends of a stretch whose lines were seen elsewhere; all of it counts as shown, since
    /// the refusal says that it stands there as it was seen.
    pub(super) fn told(&mut self, rows: &mut String, stretch: Range<usize>) {
        self.rows(rows, stretch.start..stretch.end.min(stretch.start + MAX_ENDS));
        self.rows(rows, stretch.start.max(stretch.end.saturating_sub(MAX_ENDS))..stretch.end);
        self.told.insert(stretch);
    }

    fn rows(&mut self, rows: &mut String, range: Range<usize>) {
        for index in range.start..range.end.min(self.now.n_lines()) {
            if self.n_rows >= MAX_ROWS || self.shown.contains(index) {
                continue;
            }
            let line = LineNo::from_index(index);
            if push_row(rows, self.now, line, ROW_CHARS) == Extent::Clipped {
                self.clipped.push(line);
            }
            rows.push('\n');
            self.shown.insert(index..index + 1);
            self.n_rows += 1;
        }
    }

    /// Returns what was seen by it, if anything was shown.
    pub(super) fn finish(mut self) -> Option<Sight> {
        let mut whole = LineSet::default();
        for index in self.shown.iter() {
            if !self.clipped.contains(&LineNo::from_index(index)) {
                whole.insert(index..index + 1);
            }
        }
        for index in self.told.iter().filter(|&index| !self.shown.contains(index)) {
            let line = LineNo::from_index(index);
            if clip_line(self.now.line(line).unwrap_or_default(), ROW_CHARS).hidden > 0 {
                self.clipped.push(line);
            } else {
                whole.insert(index..index + 1);
            }
        }
        let whole = whole.spans();
        (!whole.is_empty() || !self.clipped.is_empty()).then(|| Sight {
            digest: self.now.digest(),
            lines: self.now.line_digests().clone(),
            scope: Scope::Rows,
            whole,
            clipped: self.clipped,
        })
    }
}
