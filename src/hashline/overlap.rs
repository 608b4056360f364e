//! Which ops of one file touch the same lines. An insert at either end of a range is inside it.

use std::ops::Range;

/// What an op occupies: the lines of a range, or the line that an insert anchors to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// 0-based lines; never empty.
    pub(super) lines: Range<usize>,
    /// Whether the lines are taken out; two inserts never touch.
    pub(super) is_range: bool,
}

/// Returns the pairs that touch, as indices of `extents`: the one that reaches furthest first. Each extent
/// is named once as the second. Cost: a sort.
pub(super) fn touching(extents: &[Extent]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    order.sort_by_key(|&at| (extents[at].lines.start, !extents[at].is_range));
    let mut furthest: Option<usize> = None;
    let mut pairs = Vec::new();
    for at in order {
        let extent = &extents[at];
        if let Some(before) = furthest
            && extent.lines.start < extents[before].lines.end
        {
            pairs.push((before, at));
        }
        let reaches = |before: usize| extent.lines.end > extents[before].lines.end;
        if extent.is_range && furthest.is_none_or(reaches) {
            furthest = Some(at);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_of_ops_touches_if_any_two_do(
            spans in prop::collection::vec((0usize..20, 1usize..4, any::<bool>()), 0..8)
        ) {
            let extents: Vec<Extent> = spans
                .into_iter()
                .map(|(start, len, is_range)| Extent {
                    lines: start..start + if is_range { len } else { 1 },
                    is_range,
                })
                .collect();
            let touch = |a: &Extent, b: &Extent| {
                (a.is_range || b.is_range)
                    && a.lines.start < b.lines.end
                    && b.lines.start < a.lines.end
            };
            let any = (0..extents.len())
                .any(|a| (a + 1..extents.len()).any(|b| touch(&extents[a], &extents[b])));
            let found = touching(&extents);
            prop_assert_eq!(!found.is_empty(), any);
            prop_assert!(found.iter().all(|&(a, b)| touch(&extents[a], &extents[b])));
        }
    }
}
