//! A set of lines, kept as ranges: what was shown of a content.
//!
//! Invariant: the ranges are 0-based, half-open, not empty, in order, and neither overlap nor touch.

use std::ops::Range;

use crate::text::LineNo;

/// Lines by 0-based index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineSet {
    ranges: Vec<Range<usize>>,
}

impl LineSet {
    /// Adds the lines of `range`.
    pub(super) fn insert(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let from = self.ranges.partition_point(|kept| kept.end < range.start);
        let to = self.ranges.partition_point(|kept| kept.start <= range.end);
        let mut merged = range;
        for kept in &self.ranges[from..to] {
            merged = merged.start.min(kept.start)..merged.end.max(kept.end);
        }
        self.ranges.splice(from..to, [merged]);
    }

    /// Adds every line of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        for range in &other.ranges {
            self.insert(range.clone());
        }
    }

    /// Returns whether the set has line `index`.
    pub(super) fn contains(&self, index: usize) -> bool {
        self.stretch(index).is_some()
    }

    /// Returns the end of the unbroken stretch that holds line `index`, if the set has it.
    pub(super) fn stretch(&self, index: usize) -> Option<usize> {
        let at = self.ranges.partition_point(|kept| kept.end <= index);
        self.ranges.get(at).filter(|kept| kept.start <= index).map(|kept| kept.end)
    }

    /// Returns the lines, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges.iter().cloned().flatten()
    }

    /// Returns the stretches as inclusive line numbers, in order.
    pub(super) fn spans(&self) -> Vec<(LineNo, LineNo)> {
        let span = |range: &Range<usize>| {
            (LineNo::from_index(range.start), LineNo::from_index(range.end - 1))
        };
        self.ranges.iter().map(span).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_was_put_in(ranges in prop::collection::vec((0usize..30, 0usize..6), 0..12)) {
            let mut set = LineSet::default();
            let mut plain = BTreeSet::new();
            for (start, len) in ranges {
                set.insert(start..start + len);
                plain.extend(start..start + len);
            }
            prop_assert!(set.iter().eq(plain.iter().copied()));
            prop_assert!((0..40).all(|line| set.contains(line) == plain.contains(&line)));
            prop_assert!(set.ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
