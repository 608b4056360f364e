//! Finishing what a stopped process left: all of its files old, or all of them new.
//!
//! A transaction whose files are all new is completed; any other is taken back. Bytes that are neither stay
//! where they are, are named, and the rest is taken back around them. Digests decide, never names alone: the
//! only name that is trusted is one that a record announced before any file had it. Every step may be
//! stopped and repeated.

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use super::disk::Disk;
use super::journal::{FolderRecord, Journal, Pending, Phase, Record, TransactionId};
use super::lock::{LockError, LockPlace, Locks, NoWait};
use super::publish::{Settled, Slot};
use super::root::{Access, Root};
use super::transaction::{Change, CommitError, Context};
use crate::path::{Place, RootName};
use crate::store::{Blobs, StoreError, WorkspaceStore};

/// How a transaction that was found unfinished ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All its files were new: it stands.
    Completed,
    /// Its files are as they were before it.
    TakenBack,
    /// Its files cannot be reached, or its record is of another version: it was left alone.
    LeftAlone,
}

/// A transaction that was found unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Its name, where its record could be read.
    pub id: Option<TransactionId>,
    /// How it ended.
    pub ending: Ending,
    /// Files that hold somebody else's bytes, which stay.
    pub foreign: Vec<Place>,
}

/// Whether a transaction may begin.
#[derive(Debug)]
pub(super) enum Way {
    /// It may; these were recovered first.
    Clear(Vec<Recovery>),
    /// It needs these locks too, to recover what is in its way.
    Needs(Vec<LockPlace>),
}

/// Recovers every unfinished transaction of the workspace whose process is gone.
///
/// For a session that may write, when it starts. One that is under way in another process is not touched.
/// Cost: one look at an empty folder where there is nothing to do.
pub fn recover(disk: &dyn Disk, store: &WorkspaceStore) -> Result<Vec<Recovery>, CommitError> {
    let journal = Journal { disk, workspace: store };
    let mut recovered = Vec::new();
    for name in journal.pending()? {
        let Some(pending) = journal.read_pending(&name)? else { continue };
        let places = match &pending {
            Pending::Open(record) | Pending::Done(record)
                if record.workspace == store.key() =>
            {
                lock_places(disk, record)
            }
            Pending::Open(_) | Pending::Done(_) => continue,
            Pending::Torn | Pending::Unknown => Vec::new(),
        };
        match Locks::take(disk, store.store(), &places, &NoWait) {
            Ok(locks) => {
                recovered.extend(recover_one(&journal, &name)?);
                drop(locks);
            }
            Err(LockError::Cancelled | LockError::Io { .. }) => {}
            Err(LockError::Store(error)) => return Err(error.into()),
        }
    }
    journal.trim()?;
    Ok(recovered)
}

/// Recovers what is in the way of changes whose locks are held.
pub(super) fn clear_way(
    context: &Context<'_>,
    locks: &Locks,
    changes: &[Change],
) -> Result<Way, CommitError> {
    let journal = Journal { disk: context.disk, workspace: context.store };
    let mut recovered = Vec::new();
    for name in journal.pending()? {
        let record = match journal.read_pending(&name)? {
            Some(Pending::Open(record) | Pending::Done(record)) => record,
            Some(Pending::Torn | Pending::Unknown) | None => continue,
        };
        let places = lock_places(context.disk, &record);
        let (held, missing): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|place| locks.holds(context.disk, place));
        if held.is_empty() && !touches(&record, changes) {
            continue;
        }
        if !missing.is_empty() {
            return Ok(Way::Needs(missing));
        }
        recovered.extend(recover_one(&journal, &name)?);
    }
    Ok(Way::Clear(recovered))
}

fn touches(record: &Record, changes: &[Change]) -> bool {
    record.files.iter().any(|file| {
        changes.iter().any(|change| {
            change.root.path() == file.at.root_path && change.path == file.at.path
        })
    })
}

/// Returns the folders whose locks guard a record's files; those that cannot be opened guard nothing now.
fn lock_places(disk: &dyn Disk, record: &Record) -> Vec<LockPlace> {
    let open = |lock: &FolderRecord| {
        let root = open_root(lock)?;
        disk.open_dir(root.dir(), &lock.path).ok()?;
        Some(LockPlace { root, folder: lock.path.clone() })
    };
    record.locks.iter().filter_map(open).collect()
}

fn open_root(folder: &FolderRecord) -> Option<Arc<Root>> {
    let name = root_name(folder);
    let root = Root::open(name, &folder.root_path, Access::Write).ok()?;
    // A root whose path leads elsewhere now is not the one that the transaction wrote to.
    (root.path() == folder.root_path).then(|| Arc::new(root))
}

fn root_name(folder: &FolderRecord) -> RootName {
    if folder.root.is_empty() {
        RootName::workspace()
    } else {
        RootName::absolute(&folder.root)
    }
}

/// Returns the place that a record names.
pub(super) fn place(folder: &FolderRecord) -> Place {
    Place { root: root_name(folder), path: folder.path.clone() }
}

/// Recovers one transaction, all of whose locks are held; nothing where it has been finished meanwhile.
fn recover_one(journal: &Journal<'_>, name: &str) -> Result<Option<Recovery>, CommitError> {
    let left_alone = |id| Recovery { id, ending: Ending::LeftAlone, foreign: Vec::new() };
    let (record, is_done) = match journal.read_pending(name)? {
        None => return Ok(None),
        Some(Pending::Unknown) => return Ok(Some(left_alone(None))),
        Some(Pending::Torn) => {
            // Only a record of phase "staging" can be torn, and only by a loss of power.
            journal.remove_torn(name)?;
            return Ok(None);
        }
        Some(Pending::Open(record)) => (record, false),
        Some(Pending::Done(record)) => (record, true),
    };
    if record.phase == Phase::Staging {
        abandon(journal, &record)?;
        return Ok(Some(ended(&record, Ending::TakenBack, Vec::new())));
    }
    let Some(Reached { slots, mut gone }) = slots(journal.disk, &record)? else {
        return Ok(Some(left_alone(Some(record.id))));
    };
    let is_new = is_done || gone.is_empty() && all_new(journal.disk, &slots)?;
    if !is_new {
        gone.extend(roll_back(journal, &record, &slots, slots.len())?);
        return Ok(Some(ended(&record, Ending::TakenBack, gone)));
    }
    if !is_done {
        sync_folders(journal.disk, &slots)?;
        journal.mark_done(&record.id)?;
        journal.sync()?;
    }
    let foreign = clean_up(journal, &record, &slots)?;
    Ok(Some(ended(&record, Ending::Completed, foreign)))
}

fn ended(record: &Record, ending: Ending, foreign: Vec<Place>) -> Recovery {
    Recovery { id: Some(record.id.clone()), ending, foreign }
}

/// The files of a record: those whose folder is there, and those whose folder is gone.
#[derive(Debug, Default)]
struct Reached {
    slots: Vec<Slot>,
    gone: Vec<Place>,
}

/// Opens the folders of a record's files; nothing where a root cannot be opened.
fn slots(disk: &dyn Disk, record: &Record) -> Result<Option<Reached>, CommitError> {
    let mut reached = Reached::default();
    for file in &record.files {
        let (Some(root), Some(parent), Some(name)) =
            (open_root(&file.at), file.at.path.parent(), file.at.path.file_name())
        else {
            return Ok(None);
        };
        match disk.open_dir(root.dir(), &parent) {
            Ok(dir) => reached.slots.push(Slot {
                place: place(&file.at),
                dir: Arc::new(dir),
                name: name.to_owned(),
                record: file.clone(),
            }),
            Err(error) if is_gone(&error) => reached.gone.push(place(&file.at)),
            Err(source) => {
                let place = place(&file.at);
                return Err(CommitError::io("open the folder of", place, source));
            }
        }
    }
    Ok(Some(reached))
}

/// Returns whether a folder on the way is gone, or is no folder any more: then nothing of ours is there.
fn is_gone(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

fn all_new(disk: &dyn Disk, slots: &[Slot]) -> Result<bool, CommitError> {
    for slot in slots {
        let fail = |source| CommitError::io("read", slot.place.clone(), source);
        if !slot.is_new(disk).map_err(fail)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sync_folders(disk: &dyn Disk, slots: &[Slot]) -> Result<(), CommitError> {
    slots.iter().try_for_each(|slot| {
        disk.sync(slot.dir())
            .map_err(|source| CommitError::io("sync the folder of", slot.place.clone(), source))
    })
}

/// Removes what an unpublished transaction staged, and its record.
pub(super) fn abandon(journal: &Journal<'_>, record: &Record) -> Result<(), CommitError> {
    let disk = journal.disk;
    for slot in slots(disk, record)?.unwrap_or_default().slots {
        slot.abandon(disk).map_err(|source| {
            CommitError::io("remove what was written beside", slot.place.clone(), source)
        })?;
    }
    remove_folders(disk, record.made.iter().rev())?;
    Ok(journal.forget(&record.id)?)
}

/// Takes back the first `n_reached` files, removes what the others staged, and forgets the record.
///
/// Returns the files that hold somebody else's bytes.
pub(super) fn roll_back(
    journal: &Journal<'_>,
    record: &Record,
    slots: &[Slot],
    n_reached: usize,
) -> Result<Vec<Place>, CommitError> {
    let disk = journal.disk;
    let blobs = Blobs::new(journal.workspace.store());
    let mut foreign = Vec::new();
    for (index, slot) in slots.iter().enumerate() {
        if index >= n_reached {
            slot.abandon(disk).map_err(|source| {
                CommitError::io("remove what was written beside", slot.place.clone(), source)
            })?;
            continue;
        }
        match slot.take_back(disk, &blobs)? {
            Settled::Old => {}
            Settled::Foreign => foreign.push(slot.place.clone()),
        }
    }
    sync_folders(disk, slots)?;
    remove_folders(disk, record.made.iter().rev())?;
    journal.forget(&record.id)?;
    Ok(foreign)
}

/// Puts away what came out of a transaction that stands, and finishes its record.
///
/// Returns the files beside which somebody else's bytes were left.
fn clean_up(
    journal: &Journal<'_>,
    record: &Record,
    slots: &[Slot],
) -> Result<Vec<Place>, StoreError> {
    let blobs = Blobs::new(journal.workspace.store());
    let mut foreign = Vec::new();
    for slot in slots {
        if !slot.clear_out(journal.disk, &blobs)? {
            foreign.push(slot.place.clone());
        }
    }
    finish(journal, record)?;
    Ok(foreign)
}

/// Removes the folders that a transaction left empty, and finishes its record.
pub(super) fn finish(journal: &Journal<'_>, record: &Record) -> Result<(), StoreError> {
    remove_folders(journal.disk, record.pruned.iter())?;
    journal.finish(record)
}

/// Removes folders that are empty; one that is not, that is gone, or that must stay is left.
fn remove_folders<'r>(
    disk: &dyn Disk,
    folders: impl Iterator<Item = &'r FolderRecord>,
) -> Result<(), StoreError> {
    for folder in folders {
        let (Some(root), Some(parent), Some(name)) =
            (open_root(folder), folder.path.parent(), folder.path.file_name())
        else {
            continue;
        };
        let removed =
            disk.open_dir(root.dir(), &parent).and_then(|dir| disk.rmdir(dir.as_fd(), name));
        match removed {
            Err(source) if !must_stay(&source) => {
                let path = folder.root_path.join(folder.path.as_str());
                return Err(StoreError::Io { verb: "remove the folder", path, source });
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn must_stay(error: &io::Error) -> bool {
    use rustix::io::Errno;
    is_gone(error)
        || matches!(
            Errno::from_io_error(error),
            Some(
                Errno::NOTEMPTY
                    | Errno::EXIST
                    | Errno::ACCESS
                    | Errno::PERM
                    | Errno::BUSY
                    | Errno::ROFS
            )
        )
}

/// The most bytes of contents that the store keeps.
const CONTENTS_CAP_BYTES: u64 = 1 << 30;

/// Keeps the journal and the contents within their bounds; most transactions leave that to another one.
pub(super) fn tidy(context: &Context<'_>, id: &TransactionId) -> Result<(), StoreError> {
    if !id.is_turn() {
        return Ok(());
    }
    let journal = Journal { disk: context.disk, workspace: context.store };
    journal.trim()?;
    let mut referenced = HashSet::new();
    for name in journal.pending()? {
        if let Some(Pending::Open(record) | Pending::Done(record)) =
            journal.read_pending(&name)?
        {
            referenced.extend(
                record.files.iter().flat_map(|file| [file.before, file.after]).flatten(),
            );
        }
    }
    Blobs::new(context.store.store()).evict(CONTENTS_CAP_BYTES, &referenced)?;
    Ok(())
}
