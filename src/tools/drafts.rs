//! From drafts of hashline's to the disk and back to a result: what `edit` and `replace` share.
//!
//! All files of a call are committed in one transaction, or the refusal says why none was.

use std::sync::Arc;

use serde_json::{Value, json};

use super::balance::{self, Balanced, Judged, Policy};
use super::commit;
use super::kit::Kit;
use crate::hashline::report;
use crate::hashline::{Draft, Problem as LineProblem, Refusal, Scope, Seen, Sight};
use crate::path::Place;
use crate::protocol::{Effect, MovedLines, SeenFile, SeenReach};
use crate::text::{LineNo, Sides, unified_changes};
use crate::tool::{Failure, Outcome, Problem, Running, problems_detail};
use crate::workspace::{Change, Expected, Parents, Target};

/// How much of a diff rides in the details.
pub(super) const DIFF_ROWS: usize = 200;
pub(super) const DIFF_CHARS: usize = 1000;

/// Returns what the session knows of a file.
pub(super) fn seen(kit: &Kit, place: &Place) -> Seen {
    kit.session.look(|state| state.seen(place).cloned().unwrap_or_default())
}

/// Takes a failure's problems over into a refusal of lines, so that all are told at once.
pub(super) fn add(refusal: &mut Refusal, failure: Failure) {
    let said = |problem: Problem| LineProblem::said(problem.code, None, problem.message);
    refusal.problems.extend(failure.problems.into_iter().map(said));
}

/// Returns the outcome of a refusal, whose rows count as shown.
pub(super) fn refused(refusal: &Refusal) -> Outcome {
    let problems: Vec<Problem> = refusal
        .problems
        .iter()
        .map(|problem| Problem::new(problem.code, report::line(problem)))
        .collect();
    Outcome {
        ok: false,
        text: report::refusal(refusal),
        notes: Vec::new(),
        details: problems_detail(&problems),
        error: problems.into_iter().next(),
        effects: refusal
            .sights
            .iter()
            .map(|(place, sight)| seen_effect(place, sight))
            .collect(),
    }
}

/// What a call writes: its drafts, as they were judged, and the files as they were resolved.
pub(super) struct Written<'a> {
    /// What the journal calls it.
    pub(super) label: &'a str,
    /// The files; every draft is of one of them.
    pub(super) targets: &'a [Target],
    /// Effects that take hold if it is written.
    pub(super) effects: Vec<Effect>,
}

/// Judges drafts by the policy, and commits them or holds them back.
pub(super) fn write_balanced(
    kit: &Kit,
    running: &Running,
    written: Written<'_>,
    drafts: Vec<Draft>,
    policy: Policy,
) -> Result<Outcome, Failure> {
    match balance::judge(kit, drafts, policy)? {
        Balanced::Held(outcome) => Ok(outcome),
        Balanced::Write(judged) => write(kit, running, written, &judged),
    }
}

/// Commits drafts and says what became of each file.
pub(super) fn write(
    kit: &Kit,
    running: &Running,
    written: Written<'_>,
    judged: &[Judged],
) -> Result<Outcome, Failure> {
    let drafts = || judged.iter().map(|judged| &judged.draft);
    let changed: Vec<&Draft> = drafts().filter(|draft| !draft.is_unchanged()).collect();
    let changes = changed.iter().filter_map(|draft| change(written.targets, draft)).collect();
    let mut lines: Vec<String> = judged
        .iter()
        .flat_map(|judged| {
            let said = report::success(&judged.draft, judged.verb);
            std::iter::once(said).chain(judged.note.clone())
        })
        .collect();
    let mut effects = written.effects;
    if !changed.is_empty() {
        let committed = commit::commit(kit, running, written.label, changes)?;
        lines.extend(commit::recovered(&committed.recovered));
        effects.push(commit::effect(&committed));
    }
    for draft in drafts() {
        if !draft.is_unchanged() {
            effects.push(moved_effect(draft));
        }
        effects.push(seen_effect(&draft.place, &draft.sight()));
    }
    let files: Vec<Value> = drafts().map(file_details).collect();
    let mut outcome = Outcome::success(lines.join("\n")).detail("files", files);
    outcome.effects = effects;
    Ok(outcome)
}

fn change(targets: &[Target], draft: &Draft) -> Option<Change> {
    let target = targets.iter().find(|target| target.place == draft.place)?;
    Some(Change {
        root: Arc::clone(&target.root),
        path: target.place.path.clone(),
        expected: Expected::Content(draft.base.digest()),
        after: Some(draft.bytes.clone()),
        parents: Parents::MustExist,
    })
}

fn seen_effect(place: &Place, sight: &Sight) -> Effect {
    Effect::Seen(SeenFile {
        place: place.clone(),
        digest: sight.digest,
        lines: Arc::clone(&sight.lines),
        reach: match sight.scope {
            Scope::Whole => SeenReach::File,
            Scope::Rows => SeenReach::Rows,
        },
        whole: sight.whole.clone(),
        clipped: sight.clipped.clone(),
    })
}

fn moved_effect(draft: &Draft) -> Effect {
    let shift = draft.shift();
    Effect::Moved(MovedLines {
        place: draft.place.clone(),
        before: (shift.before, shift.before_lines),
        after: (shift.after, shift.after_lines),
        changes: shift.changes.into_iter().map(|change| (change.old, change.new)).collect(),
    })
}

fn file_details(draft: &Draft) -> Value {
    let status = if draft.is_unchanged() { "unchanged" } else { "modified" };
    let old = |index| draft.base.line(LineNo::from_index(index)).unwrap_or_default().to_owned();
    let new = |index| draft.line(LineNo::from_index(index)).unwrap_or_default().to_owned();
    let sides = Sides { n_old: draft.base.n_lines(), old: &old, new: &new };
    let diff = unified_changes(&draft.changes, &sides, DIFF_ROWS, DIFF_CHARS);
    json!({
        "path": draft.place.to_string(),
        "added": draft.added,
        "removed": draft.removed,
        "diff": diff,
        "status": status,
    })
}
