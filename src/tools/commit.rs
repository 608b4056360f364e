//! Committing a tool's changes: the one way from a tool to the disk, and what its refusals say.

use crate::code::Code;
use crate::path::Place;
use crate::protocol::{Effect, FileChange, TransactionId};
use crate::tool::{Failure, Problem, Running};
use crate::workspace::{
    Change, CommitError, Committed, Context, Origin, Patience, ProblemKind, RealDisk, Recovery,
    Transaction,
};

use super::kit::Kit;
use super::refuse;

/// Lets a call wait for a lock without spending its time, and holds it to its point of no return.
struct Waiting<'a>(&'a Running);

impl Patience for Waiting<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_stopped()
    }

    fn wait_begins(&self) {
        self.0.pause();
    }

    fn wait_ends(&self) {
        self.0.resume();
    }

    fn may_begin(&self) -> bool {
        self.0.commit().is_ok()
    }
}

/// Commits changes under a label, which the journal keeps.
pub(super) fn commit(
    kit: &Kit,
    running: &Running,
    label: &str,
    changes: Vec<Change>,
) -> Result<Committed, Failure> {
    commit_transaction(kit, running, Transaction::new(origin(kit, label), changes))
}

/// Returns who makes a transaction, and what it is.
pub(super) fn origin(kit: &Kit, label: &str) -> Origin {
    Origin { session: kit.session.id().as_str().to_owned(), label: label.to_owned() }
}

/// Commits a transaction that is built already.
pub(super) fn commit_transaction(
    kit: &Kit,
    running: &Running,
    transaction: Transaction,
) -> Result<Committed, Failure> {
    let context = Context {
        store: &kit.store,
        disk: &RealDisk,
        patience: &Waiting(running),
        now_unix_ms: u64::try_from(running.now().as_millisecond()).unwrap_or(0),
    };
    transaction.commit(&context).map_err(refused)
}

/// Returns the effect of a committed transaction.
pub(super) fn effect(committed: &Committed) -> Effect {
    let files = committed.files.iter().map(|file| FileChange {
        place: file.place.clone(),
        before: file.before,
        after: file.after,
    });
    Effect::Committed {
        id: TransactionId(committed.id.as_str().into()),
        files: files.collect(),
    }
}

/// Says what a commit found of earlier, interrupted ones; empty where there was nothing.
pub(super) fn recovered(recoveries: &[Recovery]) -> Vec<String> {
    let foreign = recoveries.iter().flat_map(|recovery| &recovery.foreign);
    let foreign: Vec<String> = foreign.map(ToString::to_string).collect();
    let mut said = Vec::new();
    if !recoveries.is_empty() {
        said.push(
            "(an earlier write that had been interrupted was recovered first)".to_owned(),
        );
    }
    if !foreign.is_empty() {
        said.push(format!("(left as somebody else has changed them: {})", foreign.join(", ")));
    }
    said
}

fn refused(error: CommitError) -> Failure {
    match error {
        CommitError::Refused(problems) => Failure {
            problems: problems.into_iter().map(|p| problem(&p.place, p.kind)).collect(),
        },
        CommitError::Cancelled => Failure::new(
            Code::Cancelled,
            "the call was withdrawn while another writer held the repository; make it again.",
        ),
        CommitError::Io { verb, place, source } => {
            refuse::io(verb, &place.to_string(), &source)
        }
        CommitError::Store(error) => {
            let cause = std::error::Error::source(&error)
                .map_or_else(String::new, |e| format!(": {e}"));
            Failure::new(
                Code::Io,
                format!("killick's own journal cannot be kept: {error}{cause}."),
            )
        }
        CommitError::Unfinished { places, source } => {
            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
            Failure::new(
                Code::Io,
                format!(
                    "the write failed ({source}) and could not be taken back at once; killick finishes it \
                     before its next write. Until then these may be old or new: {}.",
                    places.join(", ")
                ),
            )
        }
    }
}

fn problem(place: &Place, kind: ProblemKind) -> Problem {
    let (code, what) = match kind {
        ProblemKind::Conflict => {
            (Code::Conflict, "was changed by somebody else while the call ran; read it again.")
        }
        ProblemKind::ReadOnly => {
            (Code::ReadOnly, "is read-only: no write bit, or a read-only root or file system.")
        }
        ProblemKind::NotPermitted => (
            Code::Io,
            "may not be written by this user; ask for its mode or owner to be changed.",
        ),
        ProblemKind::ParentMissing => (Code::NotFound, "has no folder to be in."),
        ProblemKind::ParentNotFolder => (
            Code::NotFound,
            "would lie below something that is no folder; choose another path.",
        ),
        ProblemKind::IsDirectory => (Code::IsDirectory, "is a folder; choose another path."),
        ProblemKind::NotRegular => {
            (Code::NotText, "is a pipe, a device or a socket, which is not written to.")
        }
        ProblemKind::TooLarge => (
            Code::TooLarge,
            "can only be written in place and is too large to keep its old content for a crash.",
        ),
        ProblemKind::Twice => (Code::BadArg, "is named twice."),
    };
    Problem::new(code, format!("{place} {what}"))
}
