//! The laws of an edit, over random files and patches.

#![expect(clippy::unwrap_used, reason = "functions that tests call")]

use killick::hashline::anchor::{Anchor, anchor};
use killick::hashline::seen::{Scope, Seen, Sight};
use killick::hashline::{
    Cause, Draft, Echoes, FilePatch, Op, Options, Relocation, Subject, Target, apply, resolve,
};
use killick::path::{Place, RelPath};
use killick::text::{Ending, LineNo, Snapshot};
use proptest::prelude::*;

#[path = "../../examples/soak/world.rs"]
mod world;

const OPTIONS: Options = Options { relocation: Relocation::Refuse, echoes: Echoes::Refuse };

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(text.as_bytes()).unwrap()
}

fn seen(now: &Snapshot) -> Seen {
    let mut seen = Seen::default();
    let last = now.last_line();
    seen.saw(&Sight {
        digest: now.digest(),
        lines: now.line_digests().clone(),
        scope: Scope::Whole,
        whole: last.map(|last| (LineNo::FIRST, last)).into_iter().collect(),
        clipped: Vec::new(),
    });
    seen
}

fn edit(now: &Snapshot, ops: Vec<Op>) -> Option<Draft> {
    let place = Place::in_workspace(RelPath::parse("a.txt").unwrap());
    let patch = FilePatch { place, ops };
    let seen = seen(now);
    let subject = Subject { patch: &patch, now, seen: &seen, since: &[] };
    apply(resolve(&[subject], OPTIONS).ok()?).into_iter().next()
}

fn at(now: &Snapshot, index: usize) -> Anchor {
    anchor(now, LineNo::from_index(index)).unwrap()
}

/// What an op is made of before its anchors are known: kind, start, length, payload.
type Raw = (u8, usize, usize, Vec<String>);

fn op(now: &Snapshot, (kind, start, len, payload): &Raw) -> Op {
    let n_lines = now.n_lines();
    let (start, end) = (start % n_lines.max(1), (start % n_lines.max(1) + len).min(n_lines));
    let row = || if payload.is_empty() { vec![String::new()] } else { payload.clone() };
    let (target, payload) = match kind % 6 {
        _ if n_lines == 0 => (Target::End, row()),
        0 => (Target::After(at(now, start)), row()),
        1 => (Target::Before(at(now, start)), row()),
        2 => (Target::End, row()),
        3 => (Target::Top, row()),
        4 => (Target::Delete(at(now, start), at(now, end - 1)), Vec::new()),
        _ => (Target::Replace(at(now, start), at(now, end - 1)), payload.clone()),
    };
    Op { target, payload, patch_line: 1 }
}

fn raw() -> impl Strategy<Value = Raw> {
    (any::<u8>(), 0usize..20, 1usize..5, prop::collection::vec("[ab]{0,3}", 0..3))
}

fn text() -> impl Strategy<Value = String> {
    "(\u{FEFF})?([abc]{0,2}\r?\n){0,15}[ab]{0,2}\r?"
}

/// Returns the lines of a content with their endings; the last one has an ending, as an edit gives it.
fn lines(now: &Snapshot) -> Vec<(String, Ending)> {
    now.iter().zip(now.spans()).map(|(text, span)| (text.to_owned(), span.ending)).collect()
}

/// Whether ops take away every line between two gaps in which others put rows.
///
/// To a later call that is one gap, whose rows come in the order of the calls.
fn joins_gaps(ops: &[Op]) -> bool {
    let gone = |line: u32| {
        ops.iter().any(|op| match &op.target {
            Target::Delete(first, last) => (first.line.get()..=last.line.get()).contains(&line),
            Target::Replace(first, last) => {
                op.payload.is_empty() && (first.line.get()..=last.line.get()).contains(&line)
            }
            Target::After(_) | Target::Before(_) | Target::Top | Target::End => false,
        })
    };
    let mut gaps: Vec<u32> = ops
        .iter()
        .filter_map(|op| match &op.target {
            Target::After(anchor) => Some(anchor.line.get()),
            Target::Before(anchor) => Some(anchor.line.get() - 1),
            Target::Delete(..) | Target::Replace(..) | Target::Top | Target::End => None,
        })
        .collect();
    gaps.sort_unstable();
    gaps.windows(2).any(|pair| pair[0] < pair[1] && (pair[0] + 1..=pair[1]).all(gone))
}

proptest! {
    #[test]
    fn an_edit_touches_only_its_lines(text in text(), raws in prop::collection::vec(raw(), 1..5)) {
        let now = snapshot(&text);
        let ops: Vec<Op> = raws.iter().map(|raw| op(&now, raw)).collect();
        let Some(draft) = edit(&now, ops.clone()) else { return Ok(()) };
        let new = Snapshot::new(&draft.bytes).unwrap();
        prop_assert_eq!(new.line_digests(), &draft.lines);
        let (old_lines, new_lines) = (lines(&now), lines(&new));
        let mut old_at = 0;
        let mut new_at = 0;
        for change in &draft.changes {
            for (old, new) in (old_at..change.old.start).zip(new_at..change.new.start) {
                prop_assert_eq!(&old_lines[old].0, &new_lines[new].0);
                if old_lines[old].1 != Ending::None {
                    prop_assert_eq!(old_lines[old].1, new_lines[new].1);
                }
            }
            for touched in change.old.clone() {
                let named = |op: &Op| op.target.is_range()
                    && op.target.lines().is_some_and(|lines| lines.contains(&touched));
                prop_assert!(ops.iter().any(named), "line {} was named by no op", touched + 1);
            }
            (old_at, new_at) = (change.old.end, change.new.end);
        }
        prop_assert_eq!(old_lines.len() - old_at, new_lines.len() - new_at);
        if !draft.is_unchanged() {
            prop_assert!(draft.bytes.is_empty() || draft.bytes.ends_with(b"\n"));
            prop_assert!(draft.bytes.is_empty() || new.has_bom() == now.has_bom());
        } else {
            prop_assert_eq!(&draft.bytes, now.bytes());
        }
        let (added, removed) = (draft.added, draft.removed);
        prop_assert_eq!(now.n_lines() + added, new.n_lines() + removed);
    }

    #[test]
    fn the_inverse_restores_every_byte(
        text in "(\u{FEFF})?([abc]{0,2}\n){2,15}", raws in prop::collection::vec(raw(), 1..4), ending in "\n|\r\n"
    ) {
        let now = snapshot(&text.replace('\n', &ending));
        let ops: Vec<Op> = raws.iter().map(|raw| op(&now, raw)).collect();
        let Some(draft) = edit(&now, ops) else { return Ok(()) };
        if draft.bytes.is_empty() {
            return Ok(());
        }
        let new = Snapshot::new(&draft.bytes).unwrap();
        let mut inverse = Vec::new();
        for change in &draft.changes {
            let payload: Vec<String> = now.iter().map(str::to_owned).collect();
            let payload = payload[change.old.clone()].to_vec();
            let (start, end) = (change.new.start, change.new.end);
            let target = if !change.new.is_empty() {
                Target::Replace(at(&new, start), at(&new, end - 1))
            } else if start > 0 {
                Target::After(at(&new, start - 1))
            } else {
                Target::Top
            };
            inverse.push(Op { target, payload, patch_line: 1 });
        }
        let touching = draft.changes.windows(2).any(|pair| pair[0].new.end == pair[1].new.start);
        if inverse.is_empty() || touching {
            return Ok(());
        }
        let back = edit(&new, inverse).expect("the inverse is accepted");
        prop_assert_eq!(back.bytes, now.bytes());
    }

    #[test]
    fn the_order_of_disjoint_ops_does_not_matter(
        text in text(), raws in prop::collection::vec(raw(), 2..5), turn in any::<usize>()
    ) {
        let now = snapshot(&text);
        let mut ops: Vec<Op> = raws.iter().map(|raw| op(&now, raw)).collect();
        let gap = |op: &Op| match op.target {
            Target::Top => 0,
            Target::End => now.n_lines(),
            Target::Before(anchor) => anchor.line.index(),
            Target::After(anchor) => anchor.line.index() + 1,
            Target::Delete(..) | Target::Replace(..) => usize::MAX,
        };
        let mut gaps: Vec<usize> = ops.iter().map(gap).filter(|&gap| gap != usize::MAX).collect();
        gaps.sort_unstable();
        prop_assume!(gaps.windows(2).all(|pair| pair[0] != pair[1]));
        let first = edit(&now, ops.clone()).map(|draft| draft.bytes);
        let by = turn % ops.len();
        ops.rotate_left(by);
        prop_assert_eq!(edit(&now, ops).map(|draft| draft.bytes), first);
    }

    #[test]
    fn in_one_reply_several_calls_do_what_one_patch_does(
        text in "([abc]{0,2}\n){3,15}", raws in prop::collection::vec(raw(), 2..5)
    ) {
        let first = snapshot(&text);
        let ops: Vec<Op> = raws.iter().map(|raw| op(&first, raw)).collect();
        let Some(whole) = edit(&first, ops.clone()) else { return Ok(()) };
        prop_assume!(!ops.iter().any(|op| matches!(op.target, Target::Top | Target::End)));
        prop_assume!(!joins_gaps(&ops));
        let (seen, mut now, mut since) = (seen(&first), first.clone(), Vec::new());
        for op in ops {
            let place = Place::in_workspace(RelPath::parse("a.txt").unwrap());
            let patch = FilePatch { place, ops: vec![op] };
            let subject = Subject { patch: &patch, now: &now, seen: &seen, since: &since };
            let plan = resolve(&[subject], OPTIONS).expect("each call is accepted");
            let draft = apply(plan).remove(0);
            if !draft.is_unchanged() {
                now = Snapshot::new(&draft.bytes).unwrap();
                since.push(draft.shift());
            }
        }
        prop_assert_eq!(now.bytes(), &whole.bytes);
    }
}

#[test]
fn no_change_by_others_is_overwritten_and_no_edit_lands_on_a_twin() {
    let mut tally = world::Tally::default();
    for seed in 0..4_000 {
        world::trial(seed, &mut tally);
    }
    assert_eq!((tally.overwritten.len(), tally.wrong.len()), (0, 0), "{tally}");
    assert!(tally.source.needless * 50 <= tally.source.could_hold, "{tally}");
    assert!(tally.source.accepted > 500 && tally.source.twins > 5, "{tally}");
}

#[test]
fn the_description_is_short_and_the_docs_have_it_as_it_is() {
    let docs = include_str!("../../docs/hashline.md");
    let copy = docs.split("<!-- description -->\n```\n").nth(1).unwrap();
    let copy = copy.split("```\n<!-- /description -->").next().unwrap();
    assert_eq!(copy, killick::hashline::DESCRIPTION);
    assert!(copy.len() / 4 <= 350, "{} bytes", copy.len());
}

#[test]
fn a_row_shown_too_long_ago_is_refused_as_such_and_good_once_it_is_shown_again() {
    let content = |n: usize| snapshot(&format!("first\nversion {n}\n"));
    let mut seen = seen(&content(0));
    let sight = |now: &Snapshot, rows: &[LineNo]| Sight {
        digest: now.digest(),
        lines: now.line_digests().clone(),
        scope: Scope::Whole,
        whole: rows.iter().map(|&line| (line, line)).collect(),
        clipped: Vec::new(),
    };
    let last = killick::hashline::seen::KEPT_CONTENTS + 5;
    for n in 1..=last {
        seen.saw(&sight(&content(n), &[]));
    }
    let now = content(last);
    let place = Place::in_workspace(RelPath::parse("a.txt").unwrap());
    let target = Target::Delete(at(&now, 0), at(&now, 0));
    let ops = vec![Op { target, payload: Vec::new(), patch_line: 1 }];
    let patch = FilePatch { place, ops };
    let subject = Subject { patch: &patch, now: &now, seen: &seen, since: &[] };
    let refusal = resolve(&[subject], OPTIONS).unwrap_err();
    assert!(matches!(refusal.problems[0].cause, Cause::Forgotten(LineNo::FIRST)));
    seen.saw(&refusal.sights[0].1);
    let subject = Subject { patch: &patch, now: &now, seen: &seen, since: &[] };
    assert!(resolve(&[subject], OPTIONS).is_ok());
}
