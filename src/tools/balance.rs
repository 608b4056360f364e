//! The balance of Lisp drafts: which are written as they are, which repaired, which held back.
//!
//! The rules of repair are `syntax`'s; here they meet the caller's policy. A patch is held back whole: if
//! one file's repair is in doubt, no file is written.

use std::fmt::Write as _;
use std::sync::Arc;

use super::drafts::{DIFF_CHARS, DIFF_ROWS};
use super::kit::Kit;
use crate::code::Code;
use crate::hashline::report::Verb;
use crate::hashline::{Draft, rewrite};
use crate::path::Place;
use crate::protocol::{Effect, HeldFile, HeldPatch};
use crate::syntax::{
    self, Candidate, Diagnostic, Dialect, Hunk, LineRange, Repair, Verdict, check, repair,
};
use crate::text::{Digest, Snapshot, unified};
use crate::tool::{Failure, Outcome, Problem};

/// What is done about a draft that is not balanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// It is refused.
    Reject,
    /// The repair is shown.
    Preview,
    /// The repair is written if it is sure, else shown.
    Safe,
}

impl Policy {
    /// The words for the policies.
    pub(super) const WORDS: &[&str] = &["safe", "preview", "reject"];

    /// What the argument is for.
    pub(super) const DOC: &str = "What to do if Lisp source would be unbalanced. Default safe: a sure repair \
        of the edited lines is written, any other is shown.";

    /// Returns the policy of a word; without one, the default.
    pub(super) fn named(word: Option<&str>) -> Self {
        match word {
            Some("reject") => Self::Reject,
            Some("preview") => Self::Preview,
            Some(_) | None => Self::Safe,
        }
    }
}

/// A draft that may be written, and what is to be said of it.
pub(super) struct Judged {
    pub(super) draft: Draft,
    pub(super) verb: Verb,
    pub(super) note: Option<String>,
}

/// What becomes of a whole patch.
pub(super) enum Balanced {
    /// It is written.
    Write(Vec<Judged>),
    /// It is held back, and the outcome shows it.
    Held(Outcome),
}

/// One file that is to be repaired: candidates, best first, each with its text.
struct Doubtful {
    at: usize,
    candidates: Vec<Candidate>,
    fault: String,
}

/// Judges the drafts of a patch.
///
/// Errors: `unbalanced`, for every file for which no repair is proposed.
pub(super) fn judge(
    kit: &Kit,
    drafts: Vec<Draft>,
    policy: Policy,
) -> Result<Balanced, Failure> {
    let mut judged = Vec::with_capacity(drafts.len());
    let mut doubtful = Vec::new();
    let mut problems = Vec::new();
    for (at, draft) in drafts.into_iter().enumerate() {
        match judge_one(kit, at, &draft, policy) {
            Ok(Decision::Write(note)) => {
                judged.push(Judged { draft, verb: Verb::Edited, note });
            }
            Ok(Decision::Repaired(best, fault)) => judged.push(repaired(draft, &best, &fault)?),
            Ok(Decision::Doubtful(found)) => {
                doubtful.push(found);
                judged.push(Judged { draft, verb: Verb::Edited, note: None });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(Failure { problems });
    }
    if doubtful.is_empty() {
        return Ok(Balanced::Write(judged));
    }
    Ok(Balanced::Held(held(&judged, &doubtful)))
}

enum Decision {
    Write(Option<String>),
    Repaired(Candidate, String),
    Doubtful(Doubtful),
}

fn judge_one(kit: &Kit, at: usize, draft: &Draft, policy: Policy) -> Result<Decision, Problem> {
    let Some(dialect) = kit.dialect(&draft.place) else { return Ok(Decision::Write(None)) };
    let Ok(new) = std::str::from_utf8(&draft.bytes) else { return Ok(Decision::Write(None)) };
    let old = draft.base.text();
    let checked = check(Some(old), new, dialect);
    let fault = checked.after.first().map_or_else(String::new, Diagnostic::to_string);
    match checked.verdict {
        Verdict::Whole => Ok(Decision::Write(None)),
        Verdict::StillBroken => {
            Ok(Decision::Write(Some(format!("(the file is still unbalanced: {fault})"))))
        }
        Verdict::Broken if policy == Policy::Reject => Err(Problem::new(
            Code::Unbalanced,
            format!("{} would be unbalanced: {fault}; mend the payload.", draft.place),
        )),
        Verdict::Broken => match repair(&checked, Some(old), new, dialect, &hunks(draft)) {
            Repair::Refused(why, at_fault) => {
                let fault = at_fault.map_or(fault, |diagnostic| diagnostic.to_string());
                let reason = why.reason();
                Err(Problem::new(
                    Code::Unbalanced,
                    format!(
                        "{} would be unbalanced: {fault}; not repaired: {reason}. Mend the payload.",
                        draft.place
                    ),
                ))
            }
            Repair::Proposed(candidates) => Ok(decided(at, candidates, fault, policy)),
        },
    }
}

fn decided(at: usize, candidates: Vec<Candidate>, fault: String, policy: Policy) -> Decision {
    match candidates.first() {
        Some(best) if policy == Policy::Safe && best.is_safe() => {
            Decision::Repaired(best.clone(), fault)
        }
        _ => Decision::Doubtful(Doubtful { at, candidates, fault }),
    }
}

/// Returns the places that a draft changed, as the repair looks at them.
fn hunks(draft: &Draft) -> Vec<Hunk> {
    let range =
        |lines: &std::ops::Range<usize>| LineRange::from_indices(lines.start, lines.end);
    draft
        .changes
        .iter()
        .map(|change| Hunk { old: range(&change.old), new: range(&change.new) })
        .collect()
}

fn repaired(draft: Draft, best: &Candidate, fault: &str) -> Result<Judged, Failure> {
    let note =
        format!("(as sent it was unbalanced: {fault})\n{}", diff(&draft.place, &draft, best));
    let after = Snapshot::new(best.text.as_bytes()).map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("a repair of {} is no text: {error}.", draft.place),
        )
    })?;
    let draft = rewrite(draft.place, draft.base, &after);
    Ok(Judged { draft, verb: Verb::Repaired, note: Some(note) })
}

/// Holds a patch back: one candidate for each proposal of the doubtful file, or, of several doubtful
/// files, for the best of each.
fn held(judged: &[Judged], doubtful: &[Doubtful]) -> Outcome {
    let n_choices = match doubtful {
        [only] => only.candidates.len(),
        _ => 1,
    };
    let mut text = String::from("Not written: the edit leaves Lisp source unbalanced.");
    for file in doubtful {
        let place = judged.get(file.at).map(|j| j.draft.place.to_string()).unwrap_or_default();
        let _ = write!(text, "\n{place}: {}", file.fault);
    }
    for file in judged {
        if let (Verb::Repaired, Some(note)) = (file.verb, &file.note) {
            let _ = write!(text, "\n{}, repaired with it: {note}", file.draft.place);
        }
    }
    let mut outcome = Outcome::success("");
    for choice in 0..n_choices {
        let patch = held_patch(judged, doubtful, choice);
        describe(&mut text, judged, doubtful, choice, &patch);
        if choice == 0 {
            outcome = outcome.detail("candidate", patch.id.as_str());
        }
        outcome.effects.push(Effect::Held(patch));
    }
    // The best is the newest, so that it is forgotten last.
    outcome.effects.reverse();
    outcome.text = text;
    outcome.detail("written", false)
}

fn held_patch(judged: &[Judged], doubtful: &[Doubtful], choice: usize) -> HeldPatch {
    let files: Vec<HeldFile> = judged
        .iter()
        .enumerate()
        .filter(|(_, file)| !file.draft.is_unchanged())
        .map(|(at, file)| {
            let found = doubtful.iter().find(|doubtful| doubtful.at == at);
            let candidate = found.and_then(|found| found.candidates.get(choice));
            let bytes = candidate.map_or(&*file.draft.bytes, |found| found.text.as_bytes());
            HeldFile {
                place: file.draft.place.clone(),
                base: file.draft.base.digest(),
                after: Arc::from(bytes),
            }
        })
        .collect();
    HeldPatch { id: candidate_id(&files), files }
}

/// Names a held patch by what it would do, so that the same one has the same name.
fn candidate_id(files: &[HeldFile]) -> String {
    let mut all = String::new();
    for file in files {
        let _ = writeln!(all, "{} {} {}", file.place, file.base, Digest::of(&file.after));
    }
    Digest::of(all.as_bytes()).to_hex().chars().take(12).collect()
}

fn describe(
    text: &mut String,
    judged: &[Judged],
    doubtful: &[Doubtful],
    choice: usize,
    patch: &HeldPatch,
) {
    let id = &patch.id;
    let path =
        doubtful.first().and_then(|d| judged.get(d.at)).map(|j| j.draft.place.to_string());
    let path = path.unwrap_or_default();
    let _ = write!(text, "\ncandidate {id}");
    let doubts: Vec<&str> = doubtful
        .iter()
        .filter_map(|file| file.candidates.get(choice))
        .flat_map(|candidate| &candidate.doubts)
        .map(|doubt| doubt.reason())
        .collect();
    if !doubts.is_empty() {
        let _ = write!(text, " (shown and not written: {})", doubts.join("; "));
    }
    for file in doubtful {
        let (Some(judged), Some(candidate)) =
            (judged.get(file.at), file.candidates.get(choice))
        else {
            continue;
        };
        let _ = write!(text, "\n{}", diff(&judged.draft.place, &judged.draft, candidate));
    }
    let _ = write!(text, "\nTo write it: edit(accept_repair: {id:?}, path: {path:?})");
}

/// Renders what the repair changes in the text that the edit made.
fn diff(place: &Place, draft: &Draft, candidate: &Candidate) -> String {
    let snapshot = |bytes: &[u8]| Snapshot::new(bytes).ok();
    let sides = snapshot(&draft.bytes).zip(snapshot(candidate.text.as_bytes()));
    let body = sides.map_or_else(String::new, |(edited, repaired)| {
        unified(&edited, &repaired, DIFF_ROWS, DIFF_CHARS)
    });
    format!("--- {place}, as edited\n+++ {place}, repaired\n{body}")
}

impl Kit {
    /// Returns the Lisp dialect of a file, if it is one.
    pub(super) fn dialect(&self, place: &Place) -> Option<&'static Dialect> {
        self.lisp.dialects.for_extension(place.path.extension()?)
    }
}

/// Says when a text is not balanced.
pub(super) fn fault(text: &str, dialect: &'static Dialect) -> Option<String> {
    Some(syntax::balance(text, dialect).first()?.to_string())
}
