//! Did an edit break what was whole?
//!
//! A check looks at delimiters before and after and at nothing else: indentation never matters to it, and
//! a text that was broken already only has to be no worse. It proposes nothing; that is `repair`.

use std::cmp::min;

use crate::text::LineNo;

use super::balance::{Balance, balance};
use super::dialect::Dialect;

/// Lines side by side, half open: from the first one up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// The first line.
    pub start: LineNo,
    /// The line just past the last one; `start` where the range is empty.
    pub end: LineNo,
}

impl LineRange {
    /// Returns the range of 0-based line indices `start..end`.
    pub fn from_indices(start: usize, end: usize) -> Self {
        Self { start: LineNo::from_index(start), end: LineNo::from_index(end) }
    }

    /// Returns whether the range holds the line at 0-based `index`.
    pub fn holds(self, index: usize) -> bool {
        self.start.index() <= index && index < self.end.index()
    }

    /// Returns how many lines it holds.
    pub fn n_lines(self) -> usize {
        self.end.index().saturating_sub(self.start.index())
    }
}

/// One place that an edit changed: lines of the old text, and the lines of the new one in their stead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hunk {
    /// Lines of the old text; empty for an insertion.
    pub old: LineRange,
    /// Lines of the new text; empty for a deletion.
    pub new: LineRange,
}

impl Hunk {
    /// Returns the one hunk that holds every difference: what is left without the common head and tail.
    pub fn between(old: &str, new: &str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let most = min(old.len(), new.len()) - head;
        let tail = old.iter().rev().zip(new.iter().rev()).take(most);
        let tail = tail.take_while(|(a, b)| a == b).count();
        Self {
            old: LineRange::from_indices(head, old.len() - tail),
            new: LineRange::from_indices(head, new.len() - tail),
        }
    }
}

/// What an edit did to the balance of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The new text is balanced: it is written as it is.
    Whole,
    /// The new text is not balanced, the old one was not either, and no fault was added.
    StillBroken,
    /// The edit added a fault.
    Broken,
}

/// The balance before and after an edit, and what it amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it amounts to.
    pub verdict: Verdict,
    /// The balance of the old text; nothing where there was none.
    pub before: Option<Balance>,
    /// The balance of the new text.
    pub after: Balance,
}

/// Says whether the text that an edit makes is worse than the one before, if there was one.
///
/// Cost: one pass over the new text, and one over the old text where the new one is not balanced.
pub fn check(old: Option<&str>, new: &str, dialect: &'static Dialect) -> Check {
    let after = balance(new, dialect);
    if after.is_whole() {
        return Check { verdict: Verdict::Whole, before: None, after };
    }
    let before = old.map(|old| balance(old, dialect));
    let no_worse = before.as_ref().is_some_and(|before| after.counts.within(before.counts));
    let verdict = if no_worse { Verdict::StillBroken } else { Verdict::Broken };
    Check { verdict, before, after }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(old: Option<&str>, new: &str) -> Verdict {
        check(old, new, Dialect::COMMON_LISP).verdict
    }

    #[test]
    fn balanced_text_is_whole_whatever_stood_there() {
        assert_eq!(verdict(None, "(a)\n"), Verdict::Whole);
        assert_eq!(verdict(Some("(a\n"), "(a)\n"), Verdict::Whole);
    }

    #[test]
    fn a_broken_text_has_only_to_be_no_worse() {
        assert_eq!(verdict(Some("(a\n(b)\n"), "(a\n(c)\n"), Verdict::StillBroken);
        assert_eq!(verdict(Some("(a\n(b)\n"), "(a\n(c\n"), Verdict::Broken);
        assert_eq!(verdict(Some("(a\n"), "a)\n"), Verdict::Broken);
        assert_eq!(verdict(None, "(a\n"), Verdict::Broken);
    }

    #[test]
    fn a_hunk_is_what_the_common_head_and_tail_leave() {
        let hunk = |old, new| {
            let hunk = Hunk::between(old, new);
            [hunk.old, hunk.new].map(|range| (range.start.index(), range.end.index()))
        };
        assert_eq!(hunk("a\nb\nc\n", "a\nx\ny\nc\n"), [(1, 2), (1, 3)]);
        assert_eq!(hunk("a\na\n", "a\na\na\n"), [(2, 2), (2, 3)]);
        assert_eq!(hunk("a\n", "a\n"), [(1, 1), (1, 1)]);
        assert_eq!(hunk("", "a"), [(0, 0), (0, 1)]);
    }
}
