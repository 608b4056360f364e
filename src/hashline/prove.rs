//! Proof that lines of a content still stand, at their own numbers, in another one.
//!
//! Equal digests at one number prove nothing: in real source every fortieth line has a twin that a shift
//! brings to its number. A line is proved by what is *unique*: a line that occurs once in each content,
//! did not change places with another such line, and stands at one number in both is fixed. An unbroken run of equal lines between two fixed lines (or
//! the file's ends) is fixed too. Where a run goes on past its last fixed line, up to a change, each line
//! must be mapped to its own number by *every* shortest difference of the gap; a repeated line that could
//! have come from either side is not. A run without any fixed line is not trusted at all.
//!
//! It never says where a line went; that is [`super::find`].

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use crate::text::LineDigest;

/// The largest gap that is compared in full, in cells of its table.
const MAX_CELLS: usize = 1 << 18;

/// Hashes a digest by its own first bytes: they are a hash already.
#[derive(Default)]
pub(super) struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(head) = bytes.first_chunk::<8>() {
            self.0 ^= u64::from_le_bytes(*head);
        }
    }

    fn write_usize(&mut self, _: usize) {}
}

type ByDigest<V> = HashMap<LineDigest, V, BuildHasherDefault<DigestHasher>>;
type DigestSet = HashSet<LineDigest, BuildHasherDefault<DigestHasher>>;

/// What was proved in each gap, by its starts.
type Gaps = HashMap<(usize, usize), Rc<[bool]>>;

/// Compares two contents; made once for many questions.
pub(super) struct Prover<'a> {
    old: &'a [LineDigest],
    new: &'a [LineDigest],
    /// Numbers below both ends at which the two differ, in order.
    breaks: Vec<usize>,
    /// Old and new numbers of the unique lines that changed places with no other one.
    chain: Vec<(usize, usize)>,
    /// Numbers of fixed lines, in order: of the chain, those that kept their number too.
    fixed: Vec<usize>,
    gaps: RefCell<Gaps>,
}

/// A stretch of old and of new lines between two points that belong together.
struct Gap {
    old: Range<usize>,
    new: Range<usize>,
}

impl<'a> Prover<'a> {
    /// Compares `old` with `new`. Cost: linear.
    pub(super) fn new(old: &'a [LineDigest], new: &'a [LineDigest]) -> Self {
        let breaks = old
            .iter()
            .zip(new)
            .enumerate()
            .filter(|(_, (a, b))| a != b)
            .map(|(i, _)| i)
            .collect();
        let chain = uncrossed(&unique_pairs(old, new));
        let fixed = chain.iter().filter(|(a, b)| a == b).map(|&(a, _)| a).collect();
        Self { old, new, breaks, chain, fixed, gaps: RefCell::default() }
    }

    /// Returns the first of these lines that is not proved to stand at its own number, if any.
    pub(super) fn first_unproved(&self, lines: RangeInclusive<usize>) -> Option<usize> {
        let (first, last) = (*lines.start(), *lines.end());
        let common = self.old.len().min(self.new.len());
        let broken = self.breaks.partition_point(|&at| at < first);
        let end = self.breaks.get(broken).copied().unwrap_or(common);
        if end <= last {
            return Some(end.max(first));
        }
        let start = broken.checked_sub(1).map_or(0, |at| self.breaks[at] + 1);
        let solid = self.solid(start..end);
        lines.into_iter().find(|&line| !self.holds(line, start..end, solid.as_ref()))
    }

    /// Returns the part of a run that is fixed: from its first fixed line to its last, the file's ends
    /// counting as such; nothing if it has neither.
    fn solid(&self, run: Range<usize>) -> Option<Range<usize>> {
        let from = self.fixed.partition_point(|&at| at < run.start);
        let to = self.fixed.partition_point(|&at| at < run.end);
        let at_end = run.end == self.old.len() && run.end == self.new.len();
        let start =
            if run.start == 0 { Some(0) } else { self.fixed[from..to].first().copied() };
        let end = if at_end {
            Some(run.end)
        } else {
            self.fixed[from..to].last().map(|&last| last + 1)
        };
        match (start, end) {
            (None, None) => None,
            (Some(start), None) => Some(start..start),
            (None, Some(end)) => Some(end..end),
            (Some(start), Some(end)) => Some(start..end),
        }
    }

    fn holds(&self, line: usize, run: Range<usize>, solid: Option<&Range<usize>>) -> bool {
        let Some(solid) = solid else {
            return false;
        };
        if solid.contains(&line) {
            return true;
        }
        debug_assert!(run.contains(&line), "the line lies in its run");
        let gap =
            if line >= solid.end { self.below(solid.end) } else { self.above(solid.start) };
        self.in_gap(line, &gap)
    }

    /// Returns the gap from a fixed point down to the next pair of unique lines.
    fn below(&self, start: usize) -> Gap {
        let chain = &self.chain;
        let from = chain.partition_point(|&(old, _)| old < start);
        let next = chain[from..].iter().find(|&&(_, new)| new >= start);
        let (old_end, new_end) = next.copied().unwrap_or((self.old.len(), self.new.len()));
        Gap { old: start..old_end, new: start..new_end }
    }

    /// Returns the gap from the pair of unique lines above down to a fixed point.
    fn above(&self, end: usize) -> Gap {
        let chain = &self.chain;
        let to = chain.partition_point(|&(old, _)| old < end);
        let previous = chain[..to].iter().rev().find(|&&(_, new)| new < end);
        let (old_start, new_start) = previous.map_or((0, 0), |&(old, new)| (old + 1, new + 1));
        Gap { old: old_start..end, new: new_start..end }
    }

    fn in_gap(&self, line: usize, gap: &Gap) -> bool {
        let key = (gap.old.start, gap.new.start);
        let known = self.gaps.borrow().get(&key).cloned();
        let proved = known.unwrap_or_else(|| {
            let proved: Rc<[bool]> = self.compare(gap).into();
            self.gaps.borrow_mut().insert(key, Rc::clone(&proved));
            proved
        });
        line.checked_sub(gap.old.start).and_then(|at| proved.get(at).copied()).unwrap_or(false)
    }

    /// Returns for each old line of a gap whether every shortest difference maps it to its own number.
    fn compare(&self, gap: &Gap) -> Vec<bool> {
        let old_set: DigestSet = self.old[gap.old.clone()].iter().copied().collect();
        let new_set: DigestSet = self.new[gap.new.clone()].iter().copied().collect();
        let old: Vec<usize> =
            gap.old.clone().filter(|&at| new_set.contains(&self.old[at])).collect();
        let new: Vec<usize> =
            gap.new.clone().filter(|&at| old_set.contains(&self.new[at])).collect();
        let mut proved = vec![false; gap.old.len()];
        let equal = old.len() == new.len()
            && old.iter().zip(&new).all(|(&a, &b)| self.old[a] == self.new[b]);
        let pairs = if equal {
            old.into_iter().zip(new).collect()
        } else {
            self.forced_pairs(&old, &new)
        };
        for (old, new) in pairs {
            proved[old - gap.old.start] = old == new;
        }
        proved
    }

    /// Returns the pairs of lines that every longest common subsequence has.
    ///
    /// Cost: the product of the lengths, in time and space; too large a product proves nothing.
    fn forced_pairs(&self, old: &[usize], new: &[usize]) -> Vec<(usize, usize)> {
        let width = new.len() + 1;
        if (old.len() + 1).saturating_mul(width) > MAX_CELLS {
            return Vec::new();
        }
        let same = |i: usize, j: usize| self.old[old[i]] == self.new[new[j]];
        let mut before = vec![0u32; (old.len() + 1) * width];
        let mut after = before.clone();
        for i in 0..old.len() {
            for j in 0..new.len() {
                let skip = before[i * width + j + 1].max(before[(i + 1) * width + j]);
                let take = before[i * width + j] + u32::from(same(i, j));
                before[(i + 1) * width + j + 1] = skip.max(take);
            }
        }
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                let skip = after[i * width + j + 1].max(after[(i + 1) * width + j]);
                let take = after[(i + 1) * width + j + 1] + u32::from(same(i, j));
                after[i * width + j] = skip.max(take);
            }
        }
        let longest = after[0];
        let forced = |i: usize| {
            let skippable = (0..width)
                .any(|j| before[i * width + j] + after[(i + 1) * width + j] == longest);
            let mut takes = (0..new.len()).filter(|&j| {
                same(i, j)
                    && before[i * width + j] + 1 + after[(i + 1) * width + j + 1] == longest
            });
            let first = takes.next().filter(|_| !skippable)?;
            takes.next().is_none().then_some((old[i], new[first]))
        };
        (0..old.len()).filter_map(forced).collect()
    }
}

/// Returns the numbers of the lines that occur once in each content, in old order.
fn unique_pairs(old: &[LineDigest], new: &[LineDigest]) -> Vec<(usize, usize)> {
    /// How often a line occurs in the new content, and in the old.
    struct Count {
        new_at: usize,
        n_new: u32,
        n_old: u32,
    }
    let mut counts: ByDigest<Count> =
        HashMap::with_capacity_and_hasher(new.len(), BuildHasherDefault::default());
    for (new_at, digest) in new.iter().enumerate() {
        counts.entry(*digest).or_insert(Count { new_at, n_new: 0, n_old: 0 }).n_new += 1;
    }
    for digest in old {
        if let Some(count) = counts.get_mut(digest) {
            count.n_old += 1;
        }
    }
    let unique = |(old_at, digest): (usize, &LineDigest)| {
        let count = counts.get(digest).filter(|c| c.n_new == 1 && c.n_old == 1)?;
        Some((old_at, count.new_at))
    };
    old.iter().enumerate().filter_map(unique).collect()
}

/// Returns the pairs that changed places with no other pair: what stands before each in the one content
/// stands before it in the other, and so behind. The first members rise already.
fn uncrossed(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut least_behind = vec![usize::MAX; pairs.len() + 1];
    for (index, &(_, new)) in pairs.iter().enumerate().rev() {
        least_behind[index] = least_behind[index + 1].min(new);
    }
    let mut reached = None;
    let mut kept = Vec::new();
    for (&(old, new), &least) in pairs.iter().zip(&least_behind[1..]) {
        if reached < Some(new) && new < least {
            kept.push((old, new));
        }
        reached = reached.max(Some(new));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digests(lines: &[u8]) -> Vec<LineDigest> {
        lines.iter().map(|line| LineDigest::of(&[*line])).collect()
    }

    fn proved(old: &[u8], new: &[u8], line: usize) -> bool {
        let (old, new) = (digests(old), digests(new));
        Prover::new(&old, &new).first_unproved(line..=line).is_none()
    }

    #[test]
    fn a_copy_that_came_to_stand_at_the_number_is_not_the_line() {
        let old: Vec<u8> = (0..33).collect();
        let new: Vec<u8> = (0..7).chain(17..30).chain(20..29).collect();
        assert!(!proved(&old, &new, 27));
        assert!(!proved(&old, &new, 28));
        assert!(proved(&old, &new, 6));
    }

    #[test]
    fn a_twin_is_told_by_the_unique_lines_around_it() {
        assert!(proved(b"a}b}c", b"a}b}d", 1));
        assert!(proved(b"a}b}c", b"x}b}c", 3));
        assert!(!proved(b"a}b}c", b"b}c", 1));
        assert!(!proved(b"a}b", b"a}}b", 1));
        assert!(!proved(b"x}z}w", b"q}w", 1));
    }

    #[test]
    fn lines_of_one_kind_stand_if_the_line_among_them_was_rewritten_in_place() {
        let (mut old, mut new) = (vec![b'}'; 2000], vec![b'}'; 2000]);
        (old[1500], new[1500]) = (b'x', b'y');
        assert!(proved(&old, &new, 700) && proved(&old, &new, 1700));
        new.remove(1600);
        assert!(
            !proved(&old, &new, 700),
            "any of the many equal lines may be the one that is gone"
        );
    }

    proptest! {
        #[test]
        fn what_is_proved_reads_the_same(
            old in prop::collection::vec(0u8..6, 0..14), new in prop::collection::vec(0u8..6, 0..14)
        ) {
            for line in 0..old.len() {
                if proved(&old, &new, line) {
                    prop_assert_eq!(new.get(line), Some(&old[line]));
                }
            }
        }
    }
}
