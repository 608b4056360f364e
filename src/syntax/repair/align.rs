//! Which datum of the new region is which datum of the old one, and what that says about delimiters.
//!
//! Only data are aligned, because the delimiters are what is in doubt. A datum that was renamed is aligned
//! with the one whose place it took.

use super::region::{Item, ItemKind};

/// Above so many pairs of unaligned data no table is made and they stay unaligned.
const MOST_CELLS: usize = 250_000;

/// A longer run of replaced data is a rewrite, not a renaming.
const MOST_RENAMED: usize = 2;

/// How many closers, then openers, stand between two data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) closers: usize,
    pub(super) openers: usize,
}

/// What the old region says about the new one.
#[derive(Debug)]
pub(super) struct Alignment {
    /// For each gap of the new region, what stood in that gap before; gap `g` lies before datum `g`.
    ///
    /// Only gaps between two data that stood side by side before are known.
    pub(super) wanted: Vec<Option<Gap>>,
    /// For each gap of the old region, the gap of the new one that it is, if that is known.
    pub(super) new_gap_of: Vec<Option<usize>>,
    /// What stands in each gap now.
    pub(super) present: Vec<Gap>,
    /// For each item of the new region, the item of the old one that it is.
    pub(super) old_of: Vec<Option<usize>>,
    /// For each item of the old region, the item of the new one that it became.
    pub(super) new_of: Vec<Option<usize>>,
    /// For each datum of the new region, whether it was there before with the same text.
    pub(super) same: Vec<bool>,
    /// Whether the data are the same, one by one.
    pub(super) same_data: bool,
}

/// Aligns two regions.
pub(super) fn align(old: &[Item], new: &[Item]) -> Alignment {
    let (old_data, new_data) = (data(old), data(new));
    let old_ids: Vec<u64> = old_data.iter().map(|&at| old[at].id).collect();
    let new_ids: Vec<u64> = new_data.iter().map(|&at| new[at].id).collect();
    let map = align_ids(&old_ids, &new_ids);
    let (old_gaps, present) = (gaps(old), gaps(new));
    let equal = |datum: usize| map[datum].is_some_and(|old| old_ids[old] == new_ids[datum]);
    let same: Vec<bool> = (0..map.len()).map(equal).collect();
    let old_gap_of = known_gaps(&map, old_data.len(), &same);
    let wanted =
        old_gap_of.iter().map(|old| old.and_then(|old| old_gaps.get(old).copied())).collect();
    let mut new_gap_of = vec![None; old_gaps.len()];
    for (new, old) in old_gap_of.iter().enumerate() {
        if let Some(slot) = old.and_then(|old| new_gap_of.get_mut(old)) {
            *slot = Some(new);
        }
    }
    let mut old_of = vec![None; new.len()];
    let mut new_of = vec![None; old.len()];
    for (datum, mapped) in map.iter().enumerate() {
        let Some(mapped) = *mapped else { continue };
        let (mut new_at, mut old_at) = (new_data[datum], old_data[mapped]);
        loop {
            old_of[new_at] = Some(old_at);
            new_of[old_at] = Some(new_at);
            let (Some(n), Some(o)) = (new_at.checked_sub(1), old_at.checked_sub(1)) else {
                break;
            };
            let openers = |item: &Item| matches!(item.kind, ItemKind::Open(_));
            if !openers(&new[n]) || !openers(&old[o]) {
                break;
            }
            (new_at, old_at) = (n, o);
        }
    }
    Alignment {
        wanted,
        new_gap_of,
        present,
        old_of,
        new_of,
        same,
        same_data: old_ids == new_ids,
    }
}

/// For each gap of the new region, the old gap between the same two data, one of which is unchanged.
fn known_gaps(map: &[Option<usize>], n_old: usize, same: &[bool]) -> Vec<Option<usize>> {
    (0..=map.len())
        .map(|gap| {
            let before = match gap.checked_sub(1) {
                None => Some(0),
                Some(datum) => map[datum].map(|old| old + 1),
            };
            let after = map.get(gap).map_or(Some(n_old), |old| *old);
            let is_same = |datum: usize| same.get(datum) == Some(&true);
            let held = gap.checked_sub(1).is_some_and(is_same) || is_same(gap);
            before.filter(|_| before == after && held)
        })
        .collect()
}

fn data(items: &[Item]) -> Vec<usize> {
    let datum = |at: &usize| items[*at].kind == ItemKind::Datum;
    (0..items.len()).filter(datum).collect()
}

fn gaps(items: &[Item]) -> Vec<Gap> {
    let mut gaps = vec![Gap::default()];
    for item in items {
        if let Some(gap) = gaps.last_mut() {
            match item.kind {
                ItemKind::Open(_) => gap.openers += 1,
                ItemKind::Close(_) => gap.closers += 1,
                ItemKind::Datum => gaps.push(Gap::default()),
            }
        }
    }
    gaps
}

/// For each new id, the old one that it is or replaces.
fn align_ids(old: &[u64], new: &[u64]) -> Vec<Option<usize>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b);
    let tail = tail.count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];
    let mut map: Vec<Option<usize>> = (0..head).map(Some).collect();
    map.extend(
        align_middle(old_middle, new_middle).into_iter().map(|at| at.map(|at| at + head)),
    );
    map.extend((old.len() - tail..old.len()).map(Some));
    distrust_rewrites(&mut map, old, new);
    map
}

/// Takes back what was aligned only because it took a place, where more than a few neighbours did.
fn distrust_rewrites(map: &mut [Option<usize>], old: &[u64], new: &[u64]) {
    let renamed =
        |map: &[Option<usize>], at: usize| map[at].is_some_and(|mapped| old[mapped] != new[at]);
    let mut at = 0;
    while at < map.len() {
        let start = at;
        while at < map.len() && renamed(map, at) {
            at += 1;
        }
        if at - start > MOST_RENAMED {
            map[start..at].fill(None);
        }
        at = at.max(start + 1);
    }
}

/// Edit distance with substitutions: equal 0, replaced 3, put in or taken out 2.
fn align_middle(old: &[u64], new: &[u64]) -> Vec<Option<usize>> {
    let mut map = vec![None; new.len()];
    let width = old.len() + 1;
    if old.is_empty() || new.is_empty() || width * (new.len() + 1) > MOST_CELLS {
        return map;
    }
    let mut cost = vec![0u32; width * (new.len() + 1)];
    for o in 1..width {
        cost[o] = cost[o - 1] + 2;
    }
    for n in 1..=new.len() {
        cost[n * width] = cost[(n - 1) * width] + 2;
        for o in 1..width {
            let change = if old[o - 1] == new[n - 1] { 0 } else { 3 };
            let diagonal = cost[(n - 1) * width + o - 1] + change;
            let insert = cost[(n - 1) * width + o] + 2;
            let delete = cost[n * width + o - 1] + 2;
            cost[n * width + o] = diagonal.min(insert).min(delete);
        }
    }
    let (mut n, mut o) = (new.len(), old.len());
    while n > 0 && o > 0 {
        let change = if old[o - 1] == new[n - 1] { 0 } else { 3 };
        let here = cost[n * width + o];
        if here == cost[(n - 1) * width + o - 1] + change {
            map[n - 1] = Some(o - 1);
            (n, o) = (n - 1, o - 1);
        } else if here == cost[(n - 1) * width + o] + 2 {
            n -= 1;
        } else {
            o -= 1;
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_datum_keeps_its_place() {
        assert_eq!(align_ids(&[1, 2, 3], &[1, 9, 3]), [Some(0), Some(1), Some(2)]);
        assert_eq!(align_ids(&[1, 2, 3], &[1, 2, 9, 3]), [Some(0), Some(1), None, Some(2)]);
        assert_eq!(align_ids(&[1, 2, 3], &[1, 3]), [Some(0), Some(2)]);
        assert_eq!(align_ids(&[], &[1]), [None]);
    }
}
