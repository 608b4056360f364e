//! Changes to files, all or none: what is asked for, and the order in which it becomes true.
//!
//! A transaction is built, then committed by value. Commit takes the locks, lets recovery finish what a
//! stopped process left there, verifies every digest, stages and syncs every new file, writes the journal,
//! publishes, syncs the folders and marks the journal. It reads no clock; time comes with the call.
//!
//! Invariant: a commit that returns an error has left every byte as it was, unless the error is
//! [`CommitError::Unfinished`], which recovery finishes.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use super::commit::Verified;
use super::disk::Disk;
use super::journal::{FileRecord, Journal, Phase, Record, TransactionId};
use super::lock::{self, LockError, LockPlace, Locks, Patience};
use super::recover::{self, Recovery};
use super::root::Root;
use super::verify::{folder_record, verify};
use crate::path::{Place, RelPath};
use crate::store::{StoreError, WorkspaceStore};
use crate::text::Digest;

/// What a file must be for a change to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There is no file.
    Absent,
    /// The file has this content.
    Content(Digest),
}

/// What is done about folders that a new file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// They are made.
    Make,
    /// They must be there.
    MustExist,
}

/// One file's change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The root that holds the file.
    pub root: Arc<Root>,
    /// The file's path below the root, free of symlinks.
    pub path: RelPath,
    /// What the file must be.
    pub expected: Expected,
    /// The new content, or nothing to delete the file.
    pub after: Option<Vec<u8>>,
    /// What is done about missing folders.
    pub parents: Parents,
}

/// Who makes a transaction and what it is, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The session.
    pub session: String,
    /// What the transaction is: `write`, `edit`, `undo` …
    pub label: String,
}

/// Changes that take effect together.
#[derive(Debug)]
pub struct Transaction {
    origin: Origin,
    changes: Vec<Change>,
    pub(super) undoes: Vec<TransactionId>,
    /// Permission bits of files that are made again.
    pub(super) modes: HashMap<Place, u32>,
    /// Folders that are removed if the transaction leaves them empty, innermost first.
    pub(super) pruned: Vec<(Arc<Root>, RelPath)>,
}

/// What a commit needs besides the transaction.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The state of the workspace, which keeps the journal.
    pub store: &'a WorkspaceStore,
    /// The disk.
    pub disk: &'a dyn Disk,
    /// How long a lock is waited for.
    pub patience: &'a dyn Patience,
    /// The time.
    pub now_unix_ms: u64,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("store", self.store).finish_non_exhaustive()
    }
}

/// One file of a committed transaction; no digest where there was or is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFile {
    /// The file.
    pub place: Place,
    /// The content before.
    pub before: Option<Digest>,
    /// The content now.
    pub after: Option<Digest>,
    /// What became of the content before.
    pub fate: Fate,
}

/// What became of a content that was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The store has it, or there was none.
    Kept,
    /// It was too large to keep.
    Gone,
}

impl Fate {
    pub(super) fn of(record: &FileRecord) -> Self {
        if record.before.is_some() && !record.kept { Self::Gone } else { Self::Kept }
    }
}

/// A transaction that took effect.
#[derive(Debug)]
pub struct Committed {
    /// Its name in the journal.
    pub id: TransactionId,
    /// Its files, in the order of the changes.
    pub files: Vec<CommittedFile>,
    /// Folders that were made for them, outermost first.
    pub made: Vec<Place>,
    /// What was recovered before it.
    pub recovered: Vec<Recovery>,
}

/// Why one file cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file is not what was expected.
    Conflict,
    /// The file has no write bit, or its root or file system is read-only.
    ReadOnly,
    /// This process may not write the file.
    NotPermitted,
    /// The folder that would hold the file is missing.
    ParentMissing,
    /// What would hold the file is no folder.
    ParentNotFolder,
    /// A folder stands there.
    IsDirectory,
    /// What stands there is neither a file nor a folder.
    NotRegular,
    /// The file can only be written in place and is too large to keep its old content.
    TooLarge,
    /// Two changes are about this file.
    Twice,
}

/// A file that cannot be changed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub place: Place,
    /// Why.
    pub kind: ProblemKind,
}

/// Why a transaction did not take effect.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Files cannot be changed. All of them are named; nothing was changed.
    #[error("{} of the files cannot be changed as asked", .0.len())]
    Refused(Vec<Problem>),
    /// The caller gave up waiting for a lock; nothing was changed.
    #[error("the wait for another writer was given up")]
    Cancelled,
    /// The system refused; nothing was changed.
    #[error("failed to {verb} `{place}`")]
    Io {
        /// What was attempted, as it follows "failed to".
        verb: &'static str,
        /// The file or folder.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
    /// killick's own files could not be written or read; nothing was changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The transaction failed and so did taking it back; recovery will try again.
    #[error("failed to take a transaction back after an error")]
    Unfinished {
        /// The files that may be new while others are old.
        places: Vec<Place>,
        /// Why the transaction failed.
        source: Box<Self>,
    },
}

impl Transaction {
    /// Returns a transaction of these changes.
    pub fn new(origin: Origin, changes: Vec<Change>) -> Self {
        Self { origin, changes, undoes: Vec::new(), modes: HashMap::new(), pruned: Vec::new() }
    }

    /// Returns the changes.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Makes all changes true, synced to the device, or none.
    ///
    /// Blocks: on other writers of the same repository, as `patience` allows, and on the device.
    /// Cost: two writes of each new content (file and store), about seven syncs, those of one stage side by side.
    pub fn commit(self, context: &Context<'_>) -> Result<Committed, CommitError> {
        self.refuse_twice()?;
        let places = self.lock_places(context.disk)?;
        let (locks, recovered) = self.locked(context, places.clone())?;
        if !context.patience.may_begin() {
            return Err(CommitError::Cancelled);
        }
        let verified = self.verify(context, &places)?;
        let committed = verified.stage(context)?.publish(context, recovered);
        drop(locks);
        committed
    }

    fn refuse_twice(&self) -> Result<(), CommitError> {
        let mut seen = HashSet::new();
        let twice: Vec<Problem> = self
            .changes
            .iter()
            .map(Change::place)
            .filter(|place| !seen.insert(place.clone()))
            .map(|place| Problem { place, kind: ProblemKind::Twice })
            .collect();
        if twice.is_empty() { Ok(()) } else { Err(CommitError::Refused(twice)) }
    }

    fn lock_places(&self, disk: &dyn Disk) -> Result<Vec<LockPlace>, CommitError> {
        let mut places: Vec<LockPlace> = Vec::new();
        for change in &self.changes {
            let place = lock::place_of(disk, &change.root, &change.path)
                .map_err(|source| change.io("find the repository of", source))?;
            let known = places.iter().any(|known| {
                known.folder == place.folder && known.root.path() == place.root.path()
            });
            if !known {
                places.push(place);
            }
        }
        Ok(places)
    }

    /// Takes the locks and clears the way: what a stopped process left is finished before anything is read.
    fn locked(
        &self,
        context: &Context<'_>,
        mut places: Vec<LockPlace>,
    ) -> Result<(Locks, Vec<Recovery>), CommitError> {
        loop {
            let store = context.store.store();
            let locks = Locks::take(context.disk, store, &places, context.patience)?;
            match recover::clear_way(context, &locks, &self.changes)? {
                recover::Way::Clear(recovered) => return Ok((locks, recovered)),
                recover::Way::Needs(more) => places.extend(more),
            }
        }
    }

    fn verify(
        self,
        context: &Context<'_>,
        locks: &[LockPlace],
    ) -> Result<Verified, CommitError> {
        let journal = Journal { disk: context.disk, workspace: context.store };
        let id = journal.next_id(context.now_unix_ms)?;
        let temp = |index| format!(".killick-{id}-{index}");
        let (targets, folders) = verify(context.disk, self.changes, &self.modes, temp)?;
        let missing = folders.missing.iter();
        let record = Record {
            version: Record::version(),
            id,
            time_unix_ms: context.now_unix_ms,
            session: self.origin.session,
            label: self.origin.label,
            undoes: self.undoes,
            workspace: context.store.key().to_owned(),
            phase: Phase::Staging,
            locks: locks.iter().map(|lock| folder_record(&lock.root, &lock.folder)).collect(),
            files: targets.iter().map(|target| target.record.clone()).collect(),
            made: missing.map(|(root, path)| folder_record(root, path)).collect(),
            pruned: self.pruned.iter().map(|(root, path)| folder_record(root, path)).collect(),
        };
        Ok(Verified { record, targets, folders })
    }
}

impl Change {
    /// Returns the file.
    pub fn place(&self) -> Place {
        Place { root: self.root.name().clone(), path: self.path.clone() }
    }

    pub(super) fn io(&self, verb: &'static str, source: io::Error) -> CommitError {
        CommitError::io(verb, self.place(), source)
    }
}

impl CommitError {
    /// Returns the error that a system call on `place` ended with; a read-only file system is a problem.
    pub(super) fn io(verb: &'static str, place: Place, source: io::Error) -> Self {
        if Errno::from_io_error(&source) == Some(Errno::ROFS) {
            return Self::Refused(vec![Problem { place, kind: ProblemKind::ReadOnly }]);
        }
        Self::Io { verb, place, source }
    }
}

impl From<LockError> for CommitError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Cancelled => Self::Cancelled,
            LockError::Store(error) => Self::Store(error),
            LockError::Io { place, source } => Self::io("lock", place, source),
        }
    }
}
