//! Anchors, `LINE:HH`, and the rows that serve them, `LINE:HH|content`.
//!
//! `HH` is the first byte of BLAKE3 of the line's content, in two lower-case hex digits. It is a check
//! against typing errors and proves nothing by itself; what proves is the session's digest of the line.

use std::fmt::{self, Write as _};

use crate::text::{Clipped, LineNo, Snapshot, clip_line, clip_window};

/// How many characters of a line a row shows.
pub const ROW_CHARS: usize = 500;

/// A line's number and the check of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The line.
    pub line: LineNo,
    /// The first byte of the line's digest.
    pub check: u8,
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:02x}", self.line, self.check)
    }
}

/// How much of a line its row showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every character.
    Whole,
    /// Some characters were left out.
    Clipped,
}

/// Returns the anchor of a line, or nothing past the end.
pub fn anchor(snapshot: &Snapshot, line: LineNo) -> Option<Anchor> {
    snapshot.line_digest(line).map(|digest| Anchor { line, check: digest.check() })
}

/// Appends the row `LINE:HH|content` of a line that exists, at most `max_chars` characters of it.
pub fn push_row(
    out: &mut String,
    snapshot: &Snapshot,
    line: LineNo,
    max_chars: usize,
) -> Extent {
    let content = snapshot.line(line).unwrap_or_default();
    push(out, snapshot, line, &clip_line(content, max_chars))
}

/// Appends the row of a line as a window around the bytes `focus` of its content.
pub fn push_window(
    out: &mut String,
    snapshot: &Snapshot,
    line: LineNo,
    focus: std::ops::Range<usize>,
) -> Extent {
    let content = snapshot.line(line).unwrap_or_default();
    push(out, snapshot, line, &clip_window(content, focus, ROW_CHARS))
}

fn push(out: &mut String, snapshot: &Snapshot, line: LineNo, row: &Clipped<'_>) -> Extent {
    if let Some(anchor) = anchor(snapshot, line) {
        let _ = write!(out, "{anchor}|{}", row.shown);
    }
    if row.hidden == 0 { Extent::Whole } else { Extent::Clipped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_hashes_the_whole_line_and_shows_its_head() {
        let long = Snapshot::new("é".repeat(600).as_bytes()).unwrap();
        let mut row = String::new();
        assert_eq!(push_row(&mut row, &long, LineNo::FIRST, ROW_CHARS), Extent::Clipped);
        let anchor = anchor(&long, LineNo::FIRST).unwrap();
        assert_eq!(row, format!("{anchor}|{}[+100 chars]", "é".repeat(500)));
    }

    #[test]
    fn golden_rows() {
        let text = Snapshot::new(b"alpha\r\n\nbeta").unwrap();
        let mut rows = String::new();
        for line in [1, 2, 3] {
            push_row(&mut rows, &text, LineNo::new(line).unwrap(), ROW_CHARS);
            rows.push('\n');
        }
        assert_eq!(rows, "1:64|alpha\n2:af|\n3:c6|beta\n");
    }
}
