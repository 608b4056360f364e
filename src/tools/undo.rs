//! `undo`: takes back the session's last transactions, all or none, if their files are as they were left.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::commit;
use super::kit::{FILE_LIMIT_BYTES, Kit, demand};
use crate::authority::{Capability, Demand};
use crate::code::Code;
use crate::path::Place;
use crate::protocol::{Effect, SeenFile, SeenReach};
use crate::text::count;
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Problem, Reach, Running, Spec, Tool};
use crate::workspace::{
    CommittedFile, Done, Transaction, UndoError, Whose, history, inverse_of,
};

/// The most transactions that one call takes back.
const MAX_COUNT: i64 = 100;

struct Undo {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .optional_integer("count", "How many of the last writes to take back. Default 1.")
        .build();
    let spec = Spec {
        name: "undo".to_owned(),
        description:
            "Take back this session's last writes, all or none. A second undo takes the first \
            one back (a redo); to go further back, send a count."
                .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Writes,
        paging: Paging::Clamp,
    };
    Arc::new(Undo { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    count: Option<i64>,
}

impl Tool for Undo {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let wanted = args.count.unwrap_or(1);
        let n_wanted =
            usize::try_from(wanted).ok().filter(|_| (1..=MAX_COUNT).contains(&wanted));
        let Some(n_wanted) = n_wanted else {
            let message = format!("`count` must be between 1 and {MAX_COUNT}, not {wanted}.");
            return Err(Failure::new(Code::BadArg, message));
        };
        let kit = Arc::clone(&self.kit);
        let last = last(&kit, n_wanted)?;
        let demands = last.iter().flat_map(demands).collect();
        Ok(Prepared::new(demands, move |running| undo(&kit, &last, running)))
    }
}

/// Returns the session's last transactions, newest first.
fn last(kit: &Kit, n_wanted: usize) -> Result<Vec<Done>, Failure> {
    let whose = Whose::Session(kit.session.id().as_str());
    let last = history(&kit.store, whose, n_wanted)
        .map_err(|error| refused(UndoError::Store(error)))?;
    if last.len() < n_wanted {
        return Err(refused(UndoError::TooFew(last.len())));
    }
    Ok(last)
}

/// Returns what taking a transaction back demands: what the call that made it demanded.
fn demands(done: &Done) -> Vec<Demand> {
    let kinds = kinds(&done.label);
    let capability = |kind: &&str| match *kind {
        "write" => Capability::FileWrite,
        _ => Capability::FileEdit,
    };
    let capabilities: Vec<Capability> = kinds.iter().map(capability).collect();
    done.files
        .iter()
        .flat_map(|file| capabilities.iter().map(|c| demand(c.clone(), &file.place)))
        .collect()
}

/// Returns which tools' work a label is about: its own, or what was undone.
fn kinds(label: &str) -> BTreeSet<&str> {
    label.strip_prefix("undo ").unwrap_or(label).split('+').collect()
}

fn undo(kit: &Kit, last: &[Done], running: &Running) -> Result<Outcome, Failure> {
    let kinds: BTreeSet<&str> = last.iter().flat_map(|done| kinds(&done.label)).collect();
    let label = format!("undo {}", kinds.into_iter().collect::<Vec<_>>().join("+"));
    let origin = commit::origin(kit, &label);
    let transaction: Transaction =
        inverse_of(&kit.store, last, kit.workspace.roots(), origin).map_err(refused)?;
    let committed = commit::commit_transaction(kit, running, transaction)?;
    let is_redo = last.iter().all(|done| !done.undoes.is_empty());
    let verb = if is_redo { "Redid" } else { "Undid" };
    let noun = if is_redo { "undone write" } else { "write" };
    let mut lines = vec![format!("{verb} {}:", count(last.len(), noun))];
    lines.extend(committed.files.iter().map(said));
    lines.extend(commit::recovered(&committed.recovered));
    let files: Vec<Value> = committed.files.iter().map(details).collect();
    let mut outcome = Outcome::success(lines.join("\n"))
        .detail("files", files)
        .effect(commit::effect(&committed));
    outcome.effects.extend(committed.files.iter().filter_map(|file| seen_again(kit, file)));
    Ok(outcome)
}

fn said(file: &CommittedFile) -> String {
    match (file.before, file.after) {
        (_, None) => format!("removed {}", file.place),
        (None, Some(_)) => format!("made {} again", file.place),
        (Some(_), Some(_)) => format!("restored {}", file.place),
    }
}

fn details(file: &CommittedFile) -> Value {
    let status = match (file.before, file.after) {
        (_, None) => "removed",
        (None, Some(_)) => "created",
        (Some(_), Some(_)) => "modified",
    };
    json!({"path": file.place.to_string(), "status": status})
}

/// A content that the session had seen before is once more the one it knows.
fn seen_again(kit: &Kit, file: &CommittedFile) -> Option<Effect> {
    let digest = file.after?;
    let is_known = kit
        .session
        .look(|state| state.seen(&file.place).is_some_and(|seen| seen.knows(digest)));
    if !is_known {
        return None;
    }
    let snapshot = kit.workspace.load(&file.place, FILE_LIMIT_BYTES).ok()?.snapshot;
    (snapshot.digest() == digest).then(|| {
        Effect::Seen(SeenFile {
            place: file.place.clone(),
            digest,
            lines: Arc::clone(snapshot.line_digests()),
            reach: SeenReach::File,
            whole: Vec::new(),
            clipped: Vec::new(),
        })
    })
}

fn refused(error: UndoError) -> Failure {
    match error {
        UndoError::TooFew(0) => Failure::new(
            Code::NotFound,
            "this session has written nothing that could be taken back.",
        ),
        UndoError::TooFew(n) => Failure::new(
            Code::NotFound,
            format!("this session has only {} to take back.", count(n, "write")),
        ),
        UndoError::Conflict(places) => conflict(&places),
        UndoError::NotKept(place) => Failure::new(
            Code::NotFound,
            format!(
                "the old content of {place} is not kept any more, so it cannot be restored."
            ),
        ),
        UndoError::Altered { place, kept } => Failure::new(
            Code::Conflict,
            format!(
                "the old content of {place} cannot be restored: a program that still had the file open \
                 wrote to it afterwards. What it became is in {}.",
                kept.display()
            ),
        ),
        UndoError::NoRoot(place) => Failure::new(
            Code::PathEscape,
            format!("{place} lies beneath a root that this session does not have."),
        ),
        UndoError::NoChange => {
            Failure::new(Code::NotFound, "taken back together, these writes change nothing.")
        }
        UndoError::Store(error) => {
            Failure::new(Code::Io, format!("killick's own journal cannot be read: {error}."))
        }
    }
}

fn conflict(places: &[Place]) -> Failure {
    let problem = |place: &Place| {
        let message =
            format!("{place} was changed by somebody else since; read it and edit instead.");
        Problem::new(Code::Conflict, message)
    };
    Failure { problems: places.iter().map(problem).collect() }
}
