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
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::disk::{Disk, Found, Meta, find};
use super::journal::{FileRecord, FolderRecord, Journal, Phase, Record, TransactionId, Way};
use super::lock::{self, LockError, LockPlace, Locks, Patience};
use super::publish::{Failure, KEEP_BYTES, Slot};
use super::recover::{self, Recovery};
use super::root::{Access, Root};
use super::stage::{self, Carried, side_by_side};
use crate::path::{Place, RelPath};
use crate::store::{Blobs, StoreError, WorkspaceStore};
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
        source: Box<CommitError>,
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
            let locks = Locks::take(context.disk, store, &places, context.patience)
                .map_err(|error| self.lock_error(error))?;
            match recover::clear_way(context, &locks, &self.changes)? {
                recover::Way::Clear(recovered) => return Ok((locks, recovered)),
                recover::Way::Needs(more) => places.extend(more),
            }
        }
    }

    fn lock_error(&self, error: LockError) -> CommitError {
        match error {
            LockError::Cancelled => CommitError::Cancelled,
            LockError::Store(error) => CommitError::Store(error),
            LockError::Io { folder, source } => {
                let root = self.changes.first().map(|change| change.root.name().clone());
                let root = root.unwrap_or_else(crate::path::RootName::workspace);
                CommitError::Io { verb: "lock", place: Place { root, path: folder }, source }
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
        let mut problems = Vec::new();
        let mut targets = Vec::new();
        let mut folders = Folders::default();
        for (index, change) in self.changes.into_iter().enumerate() {
            let place = change.place();
            let temp = format!(".killick-{id}-{index}");
            let mode = self.modes.get(&place).copied();
            match check(context.disk, change, &mut folders, temp, mode)? {
                Ok(target) => targets.push(target),
                Err(kind) => problems.push(Problem { place, kind }),
            }
        }
        if !problems.is_empty() {
            return Err(CommitError::Refused(problems));
        }
        let record = Record {
            version: Record::version(),
            id,
            time_unix_ms: context.now_unix_ms,
            session: self.origin.session,
            label: self.origin.label,
            undoes: self.undoes,
            workspace: context.store.key().to_owned(),
            phase: Phase::Staging,
            locks: locks
                .iter()
                .map(|lock| folder_record(&lock.root, lock.folder.clone()))
                .collect(),
            files: targets.iter().map(|target| target.record.clone()).collect(),
            made: folders
                .missing
                .iter()
                .map(|(root, path)| folder_record(root, path.clone()))
                .collect(),
            pruned: self
                .pruned
                .iter()
                .map(|(root, path)| folder_record(root, path.clone()))
                .collect(),
        };
        Ok(Verified { record, targets, folders })
    }
}

impl Change {
    /// Returns the file.
    pub fn place(&self) -> Place {
        Place { root: self.root.name().clone(), path: self.path.clone() }
    }

    fn io(&self, verb: &'static str, source: io::Error) -> CommitError {
        CommitError::Io { verb, place: self.place(), source }
    }
}

pub(super) fn folder_record(root: &Root, path: RelPath) -> FolderRecord {
    FolderRecord {
        root: root.name().as_str().to_owned(),
        root_path: root.path().to_owned(),
        path,
    }
}

/// Folders that are open, and those that are still missing, outermost first.
#[derive(Debug, Default)]
struct Folders {
    open: HashMap<(crate::path::RootName, RelPath), Arc<OwnedFd>>,
    missing: Vec<(Arc<Root>, RelPath)>,
}

impl Folders {
    fn open(
        &mut self,
        disk: &dyn Disk,
        root: &Root,
        path: &RelPath,
    ) -> io::Result<Arc<OwnedFd>> {
        let key = (root.name().clone(), path.clone());
        if let Some(dir) = self.open.get(&key) {
            return Ok(dir.clone());
        }
        let dir = Arc::new(disk.open_dir(root.dir(), path)?);
        self.open.insert(key, dir.clone());
        Ok(dir)
    }

    /// Notes that `path` must be made, with every folder above it that is missing too.
    fn plan(&mut self, disk: &dyn Disk, root: &Arc<Root>, path: &RelPath) -> io::Result<()> {
        let known = |(r, p): &(Arc<Root>, RelPath)| r.name() == root.name() && p == path;
        if self.missing.iter().any(known) {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            match self.open(disk, root, &parent) {
                Ok(_) => {}
                Err(error) if is_missing(&error) => self.plan(disk, root, &parent)?,
                Err(error) => return Err(error),
            }
        }
        self.missing.push((root.clone(), path.clone()));
        Ok(())
    }
}

fn is_missing(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOENT)
}

/// One change that holds.
#[derive(Debug)]
struct Target {
    root: Arc<Root>,
    parent: RelPath,
    name: String,
    place: Place,
    record: FileRecord,
    after: Option<Vec<u8>>,
    before: Option<Vec<u8>>,
    like: Option<Meta>,
    new_mode: Option<u32>,
}

/// Verifies one change under the lock; the inner error is the caller's to mend.
fn check(
    disk: &dyn Disk,
    change: Change,
    folders: &mut Folders,
    temp: String,
    new_mode: Option<u32>,
) -> Result<Result<Target, ProblemKind>, CommitError> {
    if change.root.access() == Access::Read {
        return Ok(Err(ProblemKind::ReadOnly));
    }
    let (Some(parent), Some(name)) = (change.path.parent(), change.path.file_name()) else {
        return Ok(Err(ProblemKind::IsDirectory));
    };
    let name = name.to_owned();
    let found = match folders.open(disk, &change.root, &parent) {
        Ok(dir) => find(disk, dir.as_fd(), &name, KEEP_BYTES)
            .map_err(|source| change.io("read", source))?,
        Err(error) => match missing_parent(disk, &change, &parent, folders, error)? {
            Ok(()) => Found::Nothing,
            Err(kind) => return Ok(Err(kind)),
        },
    };
    let content = match (change.expected, found) {
        (_, Found::Folder) => return Ok(Err(ProblemKind::IsDirectory)),
        (_, Found::Other) => return Ok(Err(ProblemKind::NotRegular)),
        (Expected::Absent, Found::Nothing) => None,
        (Expected::Content(digest), Found::File(content)) if content.digest == digest => {
            Some(content)
        }
        (Expected::Absent, Found::File(_))
        | (Expected::Content(_), Found::Nothing | Found::File(_)) => {
            return Ok(Err(ProblemKind::Conflict));
        }
    };
    let way = match &content {
        None => Ok(Way::Create),
        Some(content) => way(disk, &change, folders, &parent, &name, &content.meta)?,
    };
    let way = match way {
        Ok(way) => way,
        Err(kind) => return Ok(Err(kind)),
    };
    let kept = content.as_ref().is_some_and(|content| content.bytes.is_some());
    if way == Way::InPlace && !kept {
        return Ok(Err(ProblemKind::TooLarge));
    }
    let record = FileRecord {
        at: folder_record(&change.root, change.path.clone()),
        before: content.as_ref().map(|content| content.digest),
        after: change.after.as_deref().map(Digest::of),
        mode: content.as_ref().map(|content| content.meta.mode).or(new_mode).unwrap_or(0),
        way,
        temp,
        kept,
    };
    let place = change.place();
    let (like, before) =
        content.map_or((None, None), |content| (Some(content.meta), content.bytes));
    let (root, after) = (change.root, change.after);
    Ok(Ok(Target { root, parent, name, place, record, after, before, like, new_mode }))
}

fn missing_parent(
    disk: &dyn Disk,
    change: &Change,
    parent: &RelPath,
    folders: &mut Folders,
    error: io::Error,
) -> Result<Result<(), ProblemKind>, CommitError> {
    match (Errno::from_io_error(&error), change.expected, change.parents) {
        (Some(Errno::NOENT), Expected::Content(_), _) => Ok(Err(ProblemKind::Conflict)),
        (Some(Errno::NOENT), Expected::Absent, Parents::MustExist) => {
            Ok(Err(ProblemKind::ParentMissing))
        }
        (Some(Errno::NOENT), Expected::Absent, Parents::Make) => {
            match folders.plan(disk, &change.root, parent) {
                Ok(()) => Ok(Ok(())),
                Err(error) => Ok(Err(no_folder(change, error)?)),
            }
        }
        _ => Ok(Err(no_folder(change, error)?)),
    }
}

fn no_folder(change: &Change, error: io::Error) -> Result<ProblemKind, CommitError> {
    match Errno::from_io_error(&error) {
        Some(Errno::NOTDIR | Errno::LOOP) => Ok(ProblemKind::ParentNotFolder),
        Some(_) | None => Err(change.io("open the folder of", error)),
    }
}

/// Decides how a file that is there is published.
fn way(
    disk: &dyn Disk,
    change: &Change,
    folders: &mut Folders,
    parent: &RelPath,
    name: &str,
    meta: &Meta,
) -> Result<Result<Way, ProblemKind>, CommitError> {
    if meta.mode & 0o222 == 0 {
        return Ok(Err(ProblemKind::ReadOnly));
    }
    let dir = folders
        .open(disk, &change.root, parent)
        .map_err(|source| change.io("open the folder of", source))?;
    match disk.may_write(dir.as_fd(), name) {
        Ok(true) => {}
        Ok(false) => return Ok(Err(ProblemKind::NotPermitted)),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::ROFS) => {
            return Ok(Err(ProblemKind::ReadOnly));
        }
        // A program that runs cannot be opened for writing, but it can be replaced.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::TXTBSY) => {}
        Err(source) => return Err(change.io("look at", source)),
    }
    if change.after.is_none() {
        return Ok(Ok(Way::Delete));
    }
    let may_stage = disk
        .may_write(dir.as_fd(), ".")
        .map_err(|source| change.io("look at the folder of", source))?;
    Ok(Ok(if meta.n_links > 1 || !may_stage { Way::InPlace } else { Way::Exchange }))
}

/// Changes that hold, under the lock, with nothing written yet.
#[derive(Debug)]
struct Verified {
    record: Record,
    targets: Vec<Target>,
    folders: Folders,
}

/// Work of the staging stage that can be done side by side.
enum Job {
    /// Syncs the journal's record.
    Settle,
    /// Keeps the old content of a file.
    Keep(usize),
    /// Stages the new content of a file.
    Stage(usize),
}

impl Verified {
    /// Makes folders, stages and syncs every file, then replaces the record: publishing may begin.
    fn stage(mut self, context: &Context<'_>) -> Result<Staged, CommitError> {
        let journal = Journal { disk: context.disk, workspace: context.store };
        journal.announce(&self.record)?;
        let mut slots = Vec::new();
        let staged = self.stage_all(context, &journal, &mut slots);
        match staged {
            Ok(()) => {
                let after = self.targets.into_iter().map(|target| target.after).collect();
                Ok(Staged { record: self.record, slots, after })
            }
            Err(error) => {
                let places = self.targets.iter().map(|target| target.place.clone()).collect();
                match recover::abandon(&journal, &self.record) {
                    Ok(()) => Err(error),
                    Err(_) => Err(CommitError::Unfinished { places, source: Box::new(error) }),
                }
            }
        }
    }

    fn stage_all(
        &mut self,
        context: &Context<'_>,
        journal: &Journal<'_>,
        slots: &mut Vec<Slot>,
    ) -> Result<(), CommitError> {
        if !self.folders.missing.is_empty() {
            // A folder that is made must be in a record that outlasts a loss of power.
            journal.settle(&self.record)?;
        }
        self.make_folders(context.disk)?;
        for target in &self.targets {
            let dir = self
                .folders
                .open(context.disk, &target.root, &target.parent)
                .map_err(|source| target.io("open the folder of", source))?;
            slots.push(Slot {
                place: target.place.clone(),
                dir,
                name: target.name.clone(),
                record: target.record.clone(),
            });
        }
        self.run_jobs(context, journal, slots)?;
        for (file, slot) in self.record.files.iter_mut().zip(slots.iter()) {
            file.way = slot.record.way;
        }
        self.record.phase = Phase::Staged;
        Ok(journal.replace(&self.record)?)
    }

    fn make_folders(&mut self, disk: &dyn Disk) -> Result<(), CommitError> {
        for (root, path) in std::mem::take(&mut self.folders.missing) {
            let place = Place { root: root.name().clone(), path: path.clone() };
            let fail = |source| CommitError::Io {
                verb: "make the folder",
                place: place.clone(),
                source,
            };
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            let dir = self.folders.open(disk, &root, &parent).map_err(fail)?;
            match disk.mkdir(dir.as_fd(), name) {
                Ok(()) => disk.sync(dir.as_fd()).map_err(fail)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let made = folder_record(&root, path.clone());
                    self.record.made.retain(|folder| *folder != made);
                }
                Err(error) => return Err(fail(error)),
            }
        }
        Ok(())
    }

    fn run_jobs(
        &self,
        context: &Context<'_>,
        journal: &Journal<'_>,
        slots: &mut [Slot],
    ) -> Result<(), CommitError> {
        let keeps = (0..slots.len())
            .filter(|&index| self.targets.get(index).is_some_and(|t| t.record.kept));
        let jobs: Vec<Job> = std::iter::once(Job::Settle)
            .chain((0..slots.len()).map(Job::Stage))
            .chain(keeps.map(Job::Keep))
            .collect();
        let shared: &[Slot] = slots;
        let done = side_by_side(context.disk.lanes(), &jobs, |job| match *job {
            Job::Settle => {
                journal.settle(&self.record).map(|()| None).map_err(CommitError::from)
            }
            Job::Keep(index) => self.keep(context, index).map(|()| None),
            Job::Stage(index) => {
                self.stage_one(context, shared, index).map(|way| Some((index, way)))
            }
        });
        for result in done {
            if let Some((index, way)) = result?
                && let Some(slot) = slots.get_mut(index)
            {
                slot.record.way = way;
            }
        }
        Ok(())
    }

    fn keep(&self, context: &Context<'_>, index: usize) -> Result<(), CommitError> {
        let Some(target) = self.targets.get(index) else { return Ok(()) };
        if let (Some(digest), Some(bytes)) = (target.record.before, &target.before) {
            let blobs = Blobs::new(context.store.store());
            context.disk.put_blob(&blobs, digest, bytes)?;
        }
        Ok(())
    }

    fn stage_one(
        &self,
        context: &Context<'_>,
        slots: &[Slot],
        index: usize,
    ) -> Result<Way, CommitError> {
        let (Some(target), Some(slot)) = (self.targets.get(index), slots.get(index)) else {
            return Ok(Way::Delete);
        };
        let fail = |source| target.io("write beside", source);
        let Some(after) = &target.after else { return Ok(Way::Delete) };
        let carried = match (target.record.way, &target.like) {
            (Way::Create, _) => {
                stage::stage_new(context.disk, slot, after, target.new_mode).map_err(fail)?;
                Carried::Whole
            }
            (Way::Exchange, Some(like)) => {
                stage::stage_like(context.disk, slot, after, like).map_err(fail)?
            }
            (Way::InPlace, _) | (Way::Exchange, None) => Carried::Less,
            (Way::Delete, _) => Carried::Whole,
        };
        match carried {
            Carried::Whole => Ok(target.record.way),
            Carried::Less => self.keep_after(context, target, after),
        }
    }

    /// Keeps the new content of a file that is written in place, so that a torn write is known again.
    fn keep_after(
        &self,
        context: &Context<'_>,
        target: &Target,
        after: &[u8],
    ) -> Result<Way, CommitError> {
        if !target.record.kept {
            let problem = Problem { place: target.place.clone(), kind: ProblemKind::TooLarge };
            return Err(CommitError::Refused(vec![problem]));
        }
        if let Some(digest) = target.record.after {
            let blobs = Blobs::new(context.store.store());
            context.disk.put_blob(&blobs, digest, after)?;
        }
        Ok(Way::InPlace)
    }
}

impl Target {
    fn io(&self, verb: &'static str, source: io::Error) -> CommitError {
        CommitError::Io { verb, place: self.place.clone(), source }
    }
}

/// Everything staged, synced and in the journal; nothing visible yet.
#[derive(Debug)]
struct Staged {
    record: Record,
    slots: Vec<Slot>,
    after: Vec<Option<Vec<u8>>>,
}

impl Staged {
    fn publish(
        self,
        context: &Context<'_>,
        recovered: Vec<Recovery>,
    ) -> Result<Committed, CommitError> {
        let journal = Journal { disk: context.disk, workspace: context.store };
        if let Err((error, n_reached)) = self.publish_all(context, &journal) {
            return Err(self.take_back(&journal, n_reached, error));
        }
        // The transaction stands. What fails from here on is left to recovery.
        let _cleaned = journal
            .sync()
            .and_then(|()| recover::clean_up(&journal, &self.record, &self.slots))
            .and_then(|_| recover::tidy(context));
        Ok(self.committed(recovered))
    }

    /// Publishes every file; an error says how many files were reached.
    fn publish_all(
        &self,
        context: &Context<'_>,
        journal: &Journal<'_>,
    ) -> Result<(), (CommitError, usize)> {
        for (index, slot) in self.slots.iter().enumerate() {
            let after = self.after.get(index).and_then(Option::as_deref).unwrap_or_default();
            slot.publish(context.disk, after).map_err(|failure| match failure {
                Failure::Conflict if slot.record.way == Way::InPlace => (conflict(slot), index),
                Failure::Conflict => (conflict(slot), index + 1),
                Failure::Io { verb, source } => {
                    (CommitError::Io { verb, place: slot.place.clone(), source }, index + 1)
                }
            })?;
        }
        let all = self.slots.len();
        self.sync_folders(context.disk).map_err(|error| (error, all))?;
        journal.mark_done(&self.record.id).map_err(|error| (error.into(), all))
    }

    fn sync_folders(&self, disk: &dyn Disk) -> Result<(), CommitError> {
        let mut folders: Vec<&Slot> = Vec::new();
        for slot in self.slots.iter().filter(|slot| slot.record.way != Way::InPlace) {
            if !folders.iter().any(|known| Arc::ptr_eq(&known.dir, &slot.dir)) {
                folders.push(slot);
            }
        }
        side_by_side(disk.lanes(), &folders, |slot| {
            disk.sync(slot.dir()).map_err(|source| CommitError::Io {
                verb: "sync the folder of",
                place: slot.place.clone(),
                source,
            })
        })
        .into_iter()
        .collect()
    }

    fn take_back(
        &self,
        journal: &Journal<'_>,
        n_reached: usize,
        error: CommitError,
    ) -> CommitError {
        match recover::roll_back(journal, &self.record, &self.slots, n_reached) {
            Ok(_) => error,
            Err(_) => CommitError::Unfinished {
                places: self.slots.iter().map(|slot| slot.place.clone()).collect(),
                source: Box::new(error),
            },
        }
    }

    fn committed(self, recovered: Vec<Recovery>) -> Committed {
        Committed {
            id: self.record.id,
            files: self
                .slots
                .into_iter()
                .map(|slot| CommittedFile {
                    place: slot.place,
                    before: slot.record.before,
                    after: slot.record.after,
                })
                .collect(),
            made: self.record.made.iter().map(recover::place).collect(),
            recovered,
        }
    }
}

fn conflict(slot: &Slot) -> CommitError {
    CommitError::Refused(vec![Problem {
        place: slot.place.clone(),
        kind: ProblemKind::Conflict,
    }])
}
