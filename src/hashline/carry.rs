//! Carrying lines from a content that the session saw to the content that stands there now.
//!
//! Lines stay at their numbers through changes of others, which must be proved, and move only with the
//! session's own edits of the same reply, which are known exactly. Through the session's earlier edits
//! they may pass but not move: an anchor means the numbering of today.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::prove::Prover;
use super::seen::{Known, Seen, Shift};
use crate::text::{Change, Digest, LineDigest, Snapshot};

/// The lines that an op relies on, and where it acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// 0-based lines; never empty.
    pub(super) lines: Range<usize>,
    /// The point of an insert, as the 0-based line that it stands before; a range's start.
    pub(super) gap: usize,
}

/// Why a line cannot be relied on; the line is 0-based, as the op numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It is not proved to stand at its number.
    Unproved(usize),
    /// An earlier edit of the session moved or changed it.
    Shifted(usize),
    /// An earlier edit of this reply changed it.
    Ours(usize),
}

/// One leg of the way from a content to the present one.
enum Leg<'a> {
    /// Others may have changed the file: each line must be proved.
    Proof(Rc<Prover<'a>>),
    /// An edit of the session before this reply.
    Earlier(&'a Shift),
    /// An edit of this reply.
    Reply(&'a Shift),
}

/// The ways from each known content to the present one; each is built when first asked for.
pub(super) struct Carrier<'a> {
    seen: &'a Seen,
    since: &'a [Shift],
    now: &'a Snapshot,
    ways: Vec<OnceCell<Vec<Leg<'a>>>>,
    provers: RefCell<HashMap<(Digest, Digest), Rc<Prover<'a>>>>,
}

impl<'a> Carrier<'a> {
    /// Prepares for one file; `since` are the session's edits of this reply.
    pub(super) fn new(seen: &'a Seen, since: &'a [Shift], now: &'a Snapshot) -> Self {
        let ways = seen.contents().iter().map(|_| OnceCell::new()).collect();
        Self { seen, since, now, ways, provers: RefCell::default() }
    }

    /// Carries a spot of known content `content` to the present one.
    pub(super) fn carry(&self, content: usize, spot: &Spot) -> Result<Spot, Lost> {
        let Some(way) = self.ways.get(content) else {
            return Err(Lost::Unproved(spot.lines.start));
        };
        let way = way.get_or_init(|| self.way(&self.seen.contents()[content]));
        let mut at = spot.clone();
        for leg in way {
            let named = |line: usize| {
                (spot.lines.start + line.saturating_sub(at.lines.start)).min(spot.lines.end - 1)
            };
            match leg {
                Leg::Proof(prover) => {
                    let lines = at.lines.start..=at.lines.end - 1;
                    if let Some(line) = prover.first_unproved(lines) {
                        return Err(Lost::Unproved(named(line)));
                    }
                }
                Leg::Earlier(shift) => {
                    let (first, moved) = moved(&shift.changes, &at.lines);
                    if moved.as_ref() != Some(&at.lines) {
                        return Err(Lost::Shifted(named(first)));
                    }
                }
                Leg::Reply(shift) => {
                    let (first, moved) = moved(&shift.changes, &at.lines);
                    let lines = moved.ok_or(Lost::Ours(named(first)))?;
                    let gap = moved_gap(&shift.changes, at.gap);
                    at = Spot { lines: lines.start..lines.end.max(gap), gap };
                }
            }
        }
        Ok(at)
    }

    fn way(&self, from: &'a Known) -> Vec<Leg<'a>> {
        let mut legs = Vec::new();
        if from.digest == self.now.digest() && self.since.is_empty() {
            return legs;
        }
        let mut at: (Digest, &'a [LineDigest]) = (from.digest, &from.lines);
        for shift in self.seen.edits_since(from) {
            self.prove(&mut legs, at, (shift.before, &shift.before_lines));
            legs.push(Leg::Earlier(shift));
            at = (shift.after, &shift.after_lines);
        }
        for shift in self.since {
            self.prove(&mut legs, at, (shift.before, &shift.before_lines));
            legs.push(Leg::Reply(shift));
            at = (shift.after, &shift.after_lines);
        }
        self.prove(&mut legs, at, (self.now.digest(), self.now.line_digests()));
        legs
    }

    fn prove(
        &self,
        legs: &mut Vec<Leg<'a>>,
        from: (Digest, &'a [LineDigest]),
        to: (Digest, &'a [LineDigest]),
    ) {
        if from.0 == to.0 {
            return;
        }
        let mut provers = self.provers.borrow_mut();
        let prover =
            provers.entry((from.0, to.0)).or_insert_with(|| Rc::new(Prover::new(from.1, to.1)));
        legs.push(Leg::Proof(Rc::clone(prover)));
    }
}

/// Returns where lines stand after an edit, or nothing if it changed or parted them; and the first line
/// that it touched.
fn moved(changes: &[Change], lines: &Range<usize>) -> (usize, Option<Range<usize>>) {
    let next = changes.partition_point(|change| change.old.end <= lines.start);
    if let Some(change) = changes.get(next).filter(|change| change.old.start < lines.end) {
        return (change.old.start.max(lines.start), None);
    }
    let shifted = |line: usize| shifted(changes, next, line);
    (lines.start, Some(shifted(lines.start)..shifted(lines.end)))
}

/// Returns where a point stands after an edit: behind what the edit put in at that point.
fn moved_gap(changes: &[Change], gap: usize) -> usize {
    shifted(changes, changes.partition_point(|change| change.old.end <= gap), gap)
}

/// Moves a number by what the first `n` changes added and took away.
fn shifted(changes: &[Change], n: usize, number: usize) -> usize {
    match n.checked_sub(1).and_then(|last| changes.get(last)) {
        Some(change) => (number + change.new.end).saturating_sub(change.old.end),
        None => number,
    }
}
