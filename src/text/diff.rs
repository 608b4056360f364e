//! Differences between two contents, by whole lines.
//!
//! [`LineDiff`] says which lines map to which; [`unified`] renders the difference for a person. Lines are
//! compared by their digests, so endings do not count; a caller that cares compares the bytes.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::clip::clip_line;
use super::snapshot::{LineDigest, Snapshot};
use super::span::LineNo;

/// One replaced stretch: lines `old` (0-based) of the one content became lines `new` of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// 0-based lines that were taken out.
    pub old: Range<usize>,
    /// 0-based lines that were put in.
    pub new: Range<usize>,
}

/// Which lines of one content stand where in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineDiff {
    changes: Vec<Change>,
}

impl LineDiff {
    /// Compares two lists of line digests.
    ///
    /// Cost: the common head and tail are linear; the middle is a Myers diff.
    pub fn between(old: &[LineDigest], new: &[LineDigest]) -> Self {
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        let tail = old_rest
            .iter()
            .rev()
            .zip(new_rest.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let old_middle = &old_rest[..old_rest.len() - tail];
        let new_middle = &new_rest[..new_rest.len() - tail];
        let mut changes: Vec<Change> = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, old_middle, new_middle) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let (old, new) = (shift(op.old_range(), head), shift(op.new_range(), head));
            match changes.last_mut() {
                Some(last) if last.old.end == old.start && last.new.end == new.start => {
                    last.old.end = old.end;
                    last.new.end = new.end;
                }
                _ => changes.push(Change { old, new }),
            }
        }
        Self { changes }
    }

    /// Returns the changed stretches, in order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns how many lines were put in and taken out.
    pub fn added_removed(&self) -> (usize, usize) {
        self.changes
            .iter()
            .fold((0, 0), |(added, removed), c| (added + c.new.len(), removed + c.old.len()))
    }

    /// Returns where 0-based line `old` of the first content stands in the second, if it stayed.
    pub fn map(&self, old: usize) -> Option<usize> {
        let mut shift = 0isize;
        for change in &self.changes {
            if old < change.old.start {
                break;
            }
            if old < change.old.end {
                return None;
            }
            shift = change.new.end.cast_signed() - change.old.end.cast_signed();
        }
        old.checked_add_signed(shift)
    }
}

fn shift(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// Renders the difference in unified form with three lines of context, at most `max_rows` rows of at most
/// `max_chars` characters; what is left out is counted in a last row.
pub fn unified(old: &Snapshot, new: &Snapshot, max_rows: usize, max_chars: usize) -> String {
    let diff = LineDiff::between(old.line_digests(), new.line_digests());
    let line = |of: &Snapshot, index| {
        of.line(LineNo::from_index(index)).unwrap_or_default().to_owned()
    };
    let sides = Sides {
        n_old: old.n_lines(),
        old: &|index| line(old, index),
        new: &|index| line(new, index),
    };
    unified_changes(diff.changes(), &sides, max_rows, max_chars)
}

/// Where the lines of a difference come from, by 0-based number.
#[expect(missing_debug_implementations, reason = "it holds closures")]
pub struct Sides<'a> {
    /// How many lines the old content has.
    pub n_old: usize,
    /// Gives a line of the old content.
    pub old: &'a dyn Fn(usize) -> String,
    /// Gives a line of the new content.
    pub new: &'a dyn Fn(usize) -> String,
}

/// Renders changes that are known, as [`unified`] does; cost: the rows that are rendered.
pub fn unified_changes(
    changes: &[Change],
    sides: &Sides<'_>,
    max_rows: usize,
    max_chars: usize,
) -> String {
    let mut rows = Rows { shown: Vec::new(), n_left_out: 0, max_rows, max_chars };
    let mut changes = changes.iter().peekable();
    while let Some(first) = changes.next() {
        let mut group = vec![first];
        let mut last = first;
        while let Some(next) =
            changes.next_if(|next| next.old.start - last.old.end <= 2 * CONTEXT)
        {
            group.push(next);
            last = next;
        }
        let start = first.old.start.saturating_sub(CONTEXT);
        let new_start = first.new.start - (first.old.start - start);
        let end = (last.old.end + CONTEXT).min(sides.n_old);
        let new_end = last.new.end + (end - last.old.end);
        rows.push(format!(
            "@@ -{} +{} @@",
            extent(&(start..end)),
            extent(&(new_start..new_end))
        ));
        let mut at = start;
        for change in group {
            rows.lines(' ', at..change.old.start, sides.old);
            rows.lines('-', change.old.clone(), sides.old);
            rows.lines('+', change.new.clone(), sides.new);
            at = change.old.end;
        }
        rows.lines(' ', at..end, sides.old);
    }
    rows.finish()
}

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;

/// Rows of a difference as far as they are shown.
struct Rows {
    shown: Vec<String>,
    n_left_out: usize,
    max_rows: usize,
    max_chars: usize,
}

impl Rows {
    fn push(&mut self, row: String) {
        if self.shown.len() < self.max_rows {
            self.shown.push(row);
        } else {
            self.n_left_out += 1;
        }
    }

    fn lines(&mut self, sign: char, lines: Range<usize>, line: &dyn Fn(usize) -> String) {
        let n_shown = lines.len().min(self.max_rows - self.shown.len());
        for index in lines.start..lines.start + n_shown {
            self.push(format!("{sign}{}", clip_line(&line(index), self.max_chars).shown));
        }
        self.n_left_out += lines.len() - n_shown;
    }

    fn finish(self) -> String {
        let mut text = self.shown.join("\n");
        if self.n_left_out > 0 {
            let _ = write!(text, "\n[+{} rows]", self.n_left_out);
        }
        text
    }
}

/// Writes a range as unified diffs do: 1-based start and length, the length left out when it is 1.
fn extent(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        n => format!("{},{n}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn snapshot(text: &str) -> Snapshot {
        Snapshot::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_unified_diff_reads_as_usual() {
        let old = snapshot("a\nb\nc\nd\ne\nf\ng\nh\n");
        let new = snapshot("a\nb\nc\nd\nE\nf\ng\nh\ni\n");
        assert_eq!(
            unified(&old, &new, 100, 100),
            "@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n+i"
        );
        assert_eq!(unified(&snapshot(""), &new, 2, 100), "@@ -0,0 +1,9 @@\n+a\n[+8 rows]");
    }

    proptest! {
        #[test]
        fn a_mapped_line_has_the_same_content(old in "([abc]\n){0,20}", new in "([abc]\n){0,20}") {
            let (old, new) = (snapshot(&old), snapshot(&new));
            let diff = LineDiff::between(old.line_digests(), new.line_digests());
            let mut mapped = Vec::new();
            for (index, digest) in old.line_digests().iter().enumerate() {
                if let Some(to) = diff.map(index) {
                    prop_assert_eq!(new.line_digests()[to], *digest);
                    mapped.push(to);
                }
            }
            prop_assert!(mapped.is_sorted());
            let (added, removed) = diff.added_removed();
            prop_assert_eq!(mapped.len() + removed, old.n_lines());
            prop_assert_eq!(mapped.len() + added, new.n_lines());
        }
    }
}
