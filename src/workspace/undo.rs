//! What was done, newest first, and the transaction that takes it back.
//!
//! An undo is a transaction like any other, so an undo of an undo is a redo. It is built from the journal
//! alone; whether the files are still as they were left is verified by its commit.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::disk::RealDisk;
use super::journal::{Journal, Record, TransactionId};
use super::recover::place;
use super::root::Root;
use super::transaction::{Change, CommittedFile, Expected, Fate, Origin, Parents, Transaction};
use crate::path::{Place, RelPath};
use crate::store::{Blobs, StoreError, WorkspaceStore};
use crate::text::Digest;

/// Whose transactions are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose<'a> {
    /// Those of one session.
    Session(&'a str),
    /// All of the workspace.
    Everyone,
}

/// A transaction that took effect, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its name.
    pub id: TransactionId,
    /// When it was committed.
    pub time_unix_ms: u64,
    /// Who made it.
    pub session: String,
    /// What it was.
    pub label: String,
    /// What it took back, newest first.
    pub undoes: Vec<TransactionId>,
    /// Its files.
    pub files: Vec<CommittedFile>,
    /// Folders that were made for them, outermost first.
    pub made: Vec<Place>,
    modes: Vec<u32>,
}

/// Why transactions cannot be taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There are not that many.
    #[error("there are {0} transactions to take back")]
    TooFew(usize),
    /// Between two of them somebody else has changed these files.
    #[error("{} of the files were changed in between", .0.len())]
    Conflict(Vec<Place>),
    /// The old content of a file is not kept any more.
    #[error("the old content of `{0}` is not kept")]
    NotKept(Place),
    /// The old content was changed in the store, by somebody who still had the file open.
    #[error("the old content of `{place}` was changed in `{}`", kept.display())]
    Altered {
        /// The file.
        place: Place,
        /// Where the store has what the content became.
        kept: PathBuf,
    },
    /// A file lies beneath a root that the session does not have.
    #[error("`{0}` is beneath no root of the session")]
    NoRoot(Place),
    /// Together they change nothing.
    #[error("taken back together, they change nothing")]
    NoChange,
    /// The journal could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns finished transactions, newest first, at most `limit`.
pub fn history(
    store: &WorkspaceStore,
    whose: Whose<'_>,
    limit: usize,
) -> Result<Vec<Done>, StoreError> {
    let journal = Journal { disk: &RealDisk, workspace: store };
    let mut found = Vec::new();
    for id in journal.finished()?.iter().rev() {
        if found.len() == limit {
            break;
        }
        let Some(record) = journal.read_finished(id)? else { continue };
        match whose {
            Whose::Session(session) if record.session != session => {}
            Whose::Session(_) | Whose::Everyone => found.push(done(record)),
        }
    }
    Ok(found)
}

fn done(record: Record) -> Done {
    Done {
        made: record.made.iter().map(place).collect(),
        modes: record.files.iter().map(|file| file.mode).collect(),
        files: record
            .files
            .iter()
            .map(|file| CommittedFile {
                fate: Fate::of(file),
                place: place(&file.at),
                before: file.before,
                after: file.after,
            })
            .collect(),
        id: record.id,
        time_unix_ms: record.time_unix_ms,
        session: record.session,
        label: record.label,
        undoes: record.undoes,
    }
}

/// One file as several transactions, newest first, leave it when they are taken back.
struct Span {
    place: Place,
    now: Option<Digest>,
    then: Option<Digest>,
    mode: u32,
}

/// Returns the transaction that takes back the last `count` transactions, all or none.
///
/// Commit it to make it true; a file that is no longer as it was left is refused there as a conflict.
pub fn inverse(
    store: &WorkspaceStore,
    whose: Whose<'_>,
    count: usize,
    roots: &[Arc<Root>],
    origin: Origin,
) -> Result<Transaction, UndoError> {
    let last = history(store, whose, count)?;
    if last.is_empty() || last.len() < count {
        return Err(UndoError::TooFew(last.len()));
    }
    inverse_of(store, &last, roots, origin)
}

/// Returns the transaction that takes back `last`, which is newest first.
pub fn inverse_of(
    store: &WorkspaceStore,
    last: &[Done],
    roots: &[Arc<Root>],
    origin: Origin,
) -> Result<Transaction, UndoError> {
    let blobs = Blobs::new(store.store());
    let mut changes = Vec::new();
    let mut modes = HashMap::new();
    for span in spans(last)?.into_iter().filter(|span| span.now != span.then) {
        if span.now.is_none() {
            modes.insert(span.place.clone(), span.mode);
        }
        changes.push(change(&blobs, roots, span)?);
    }
    if changes.is_empty() {
        return Err(UndoError::NoChange);
    }
    let mut transaction = Transaction::new(origin, changes);
    transaction.undoes = last.iter().map(|done| done.id.clone()).collect();
    transaction.modes = modes;
    transaction.pruned = pruned(last, roots);
    Ok(transaction)
}

fn spans(last: &[Done]) -> Result<Vec<Span>, UndoError> {
    let mut spans: Vec<Span> = Vec::new();
    let mut changed = Vec::new();
    for done in last {
        for (file, &mode) in done.files.iter().zip(&done.modes) {
            match spans.iter_mut().find(|span| span.place == file.place) {
                None => spans.push(Span {
                    place: file.place.clone(),
                    now: file.after,
                    then: file.before,
                    mode,
                }),
                Some(span) if span.then == file.after => {
                    span.then = file.before;
                    span.mode = mode;
                }
                Some(_) => changed.push(file.place.clone()),
            }
        }
    }
    if changed.is_empty() { Ok(spans) } else { Err(UndoError::Conflict(changed)) }
}

fn change(blobs: &Blobs, roots: &[Arc<Root>], span: Span) -> Result<Change, UndoError> {
    let Some(root) = root_of(roots, &span.place) else {
        return Err(UndoError::NoRoot(span.place));
    };
    let after = match span.then {
        None => None,
        Some(digest) => match blobs.get(digest) {
            Ok(Some(bytes)) => Some(bytes),
            Ok(None) => return Err(UndoError::NotKept(span.place)),
            Err(StoreError::Damaged(kept)) => {
                return Err(UndoError::Altered { place: span.place, kept });
            }
            Err(error) => return Err(error.into()),
        },
    };
    Ok(Change {
        root,
        path: span.place.path,
        expected: span.now.map_or(Expected::Absent, Expected::Content),
        after,
        parents: Parents::Make,
    })
}

fn root_of(roots: &[Arc<Root>], place: &Place) -> Option<Arc<Root>> {
    roots.iter().find(|root| *root.name() == place.root).cloned()
}

/// Returns the folders that the transactions made, innermost first.
fn pruned(last: &[Done], roots: &[Arc<Root>]) -> Vec<(Arc<Root>, RelPath)> {
    last.iter()
        .flat_map(|done| done.made.iter().rev())
        .filter_map(|made| Some((root_of(roots, made)?, made.path.clone())))
        .collect()
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.label)
    }
}
