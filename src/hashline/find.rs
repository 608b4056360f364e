//! Where a run of seen lines stands in another content, if it stands at exactly one place.

use std::ops::Range;

use crate::text::LineDigest;

/// Whether the lines around a run must stand around it still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbours {
    /// The line above and the line below, or the file's end where there is none.
    Both,
    /// The run alone.
    None,
}

/// Returns where lines `run` of `old` begin in `new`, if they stand at exactly one place, and if no other
/// lines of `old` read like them: those might be the ones that stand there. Cost: linear.
pub(super) fn unique_place(
    old: &[LineDigest],
    run: Range<usize>,
    new: &[LineDigest],
    neighbours: Neighbours,
) -> Option<usize> {
    if run.is_empty() || run.end > old.len() {
        return None;
    }
    let wide = match neighbours {
        Neighbours::None => run.clone(),
        Neighbours::Both => run.start.saturating_sub(1)..(run.end + 1).min(old.len()),
    };
    let fits = |at: usize| {
        neighbours == Neighbours::None
            || ((run.start > 0 || at == 0)
                && (run.end < old.len() || at + wide.len() == new.len()))
    };
    let needle = &old[wide.clone()];
    let mut places = occurrences(needle, new).into_iter().filter(|&at| fits(at));
    let place = places.next().filter(|_| places.next().is_none())?;
    (occurrences(needle, old).len() == 1).then_some(place + (run.start - wide.start))
}

/// Returns every place where `needle` begins in `hay`, overlapping ones too (Knuth, Morris and Pratt).
fn occurrences(needle: &[LineDigest], hay: &[LineDigest]) -> Vec<usize> {
    let mut border = vec![0; needle.len()];
    for at in 1..needle.len() {
        let mut len: usize = border[at - 1];
        while len > 0 && needle[len] != needle[at] {
            len = border[len - 1];
        }
        border[at] = len + usize::from(needle[len] == needle[at]);
    }
    let mut found = Vec::new();
    let mut len = 0;
    for (at, digest) in hay.iter().enumerate() {
        while len > 0 && (len == needle.len() || needle[len] != *digest) {
            len = border[len - 1];
        }
        if needle.get(len) == Some(digest) {
            len += 1;
        }
        if len == needle.len() {
            found.push(at + 1 - len);
        }
    }
    found
}
