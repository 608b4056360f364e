//! One writer at a time in each repository: the locks that a transaction holds.
//!
//! The lock is the one of the repository's own folder, so that it works between processes whose state
//! folders differ and leaves no file behind; where the file system refuses that, a file of the store stands
//! in. Locks are taken in the order of their identity, so no two processes wait for each other.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use super::disk::{Disk, Meta};
use super::root::Root;
use crate::path::{Place, RelPath};
use crate::store::{Store, StoreError};

/// How a caller waits for a lock.
pub trait Patience: Sync {
    /// Returns whether the caller no longer wants the lock.
    fn is_cancelled(&self) -> bool;
    /// Is told that a wait begins: time from here on is not the call's own.
    fn wait_begins(&self) {}
    /// Is told that the wait is over.
    fn wait_ends(&self) {}
    /// Is asked once the locks are held, before anything is changed: whether the commit may go on.
    ///
    /// From then on it cannot be given up.
    fn may_begin(&self) -> bool {
        true
    }
}

/// Waits as long as it takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forever;

impl Patience for Forever {
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Takes a lock that is free and waits for none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NoWait;

impl Patience for NoWait {
    fn is_cancelled(&self) -> bool {
        true
    }
}

/// The folder whose lock guards a file.
#[derive(Clone, Debug)]
pub(super) struct LockPlace {
    pub(super) root: Arc<Root>,
    pub(super) folder: RelPath,
}

impl LockPlace {
    fn error(&self, source: io::Error) -> LockError {
        let place = Place { root: self.root.name().clone(), path: self.folder.clone() };
        LockError::Io { place, source }
    }
}

/// Why the locks were not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    #[error("the wait for a lock was given up")]
    Cancelled,
    #[error("failed to lock `{place}`")]
    Io { place: Place, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Locks that are held until this is dropped.
#[derive(Debug, Default)]
pub(super) struct Locks {
    handles: Vec<OwnedFd>,
    identities: Vec<(u64, u64)>,
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Returns the folder whose lock guards `path`: the nearest one above it that holds a `.git`, else the root.
pub(super) fn place_of(
    disk: &dyn Disk,
    root: &Arc<Root>,
    path: &RelPath,
) -> io::Result<LockPlace> {
    let mut folder = path.parent();
    while let Some(above) = folder.filter(|above| !above.is_root()) {
        if holds_repository(disk, root, &above)? {
            return Ok(LockPlace { root: root.clone(), folder: above });
        }
        folder = above.parent();
    }
    Ok(LockPlace { root: root.clone(), folder: RelPath::root() })
}

fn holds_repository(disk: &dyn Disk, root: &Root, folder: &RelPath) -> io::Result<bool> {
    match disk.open_dir(root.dir(), folder) {
        Ok(dir) => Ok(disk.stat(dir.as_fd(), ".git")?.is_some()),
        Err(error) if is_no_folder(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_no_folder(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS)
    )
}

impl Locks {
    /// Takes the locks of all `places`, waiting as `patience` allows.
    pub(super) fn take(
        disk: &dyn Disk,
        store: &Store,
        places: &[LockPlace],
        patience: &dyn Patience,
    ) -> Result<Self, LockError> {
        let mut opened = Vec::new();
        for place in places {
            let fail = |source| place.error(source);
            let dir = disk.open_dir(place.root.dir(), &place.folder).map_err(fail)?;
            let meta: Meta = disk.stat_open(dir.as_fd()).map_err(fail)?;
            opened.push((meta.identity, dir, place));
        }
        opened.sort_by_key(|(identity, ..)| *identity);
        opened.dedup_by_key(|(identity, ..)| *identity);
        let mut locks = Self::default();
        for (identity, dir, place) in opened {
            let handle = hold(disk, store, identity, dir, place, patience)?;
            locks.handles.push(handle);
            locks.identities.push(identity);
        }
        Ok(locks)
    }

    /// Returns whether the lock of a folder is among these.
    pub(super) fn holds(&self, disk: &dyn Disk, place: &LockPlace) -> bool {
        disk.open_dir(place.root.dir(), &place.folder)
            .and_then(|dir| disk.stat_open(dir.as_fd()))
            .is_ok_and(|meta| self.identities.contains(&meta.identity))
    }
}

fn hold(
    disk: &dyn Disk,
    store: &Store,
    identity: (u64, u64),
    dir: OwnedFd,
    place: &LockPlace,
    patience: &dyn Patience,
) -> Result<OwnedFd, LockError> {
    let fail = |source| place.error(source);
    let handle = match disk.try_lock(dir.as_fd()) {
        Ok(true) => return Ok(dir),
        Ok(false) => dir,
        Err(error) if is_unlockable(&error) => {
            let name = format!("{:x}-{:x}", identity.0, identity.1);
            let file: OwnedFd = store.make_folder(&["locks"])?.open_append(&name)?.into();
            if disk.try_lock(file.as_fd()).map_err(fail)? {
                return Ok(file);
            }
            file
        }
        Err(error) => return Err(fail(error)),
    };
    wait(disk, handle, patience).map_err(|error| error.map_or(LockError::Cancelled, fail))
}

/// Returns whether the file system has no lock for this handle (NFS wants one that may write).
fn is_unlockable(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::BADF | Errno::NOTSUP | Errno::NOSYS | Errno::INVAL | Errno::NOLCK)
    )
}

/// Tries again with growing pauses; `None` as an error is a wait that was given up.
fn wait(
    disk: &dyn Disk,
    handle: OwnedFd,
    patience: &dyn Patience,
) -> Result<OwnedFd, Option<io::Error>> {
    patience.wait_begins();
    let mut pause = FIRST_PAUSE;
    let ended = loop {
        if patience.is_cancelled() {
            break Err(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
        match disk.try_lock(handle.as_fd()) {
            Ok(true) => break Ok(()),
            Ok(false) => {}
            Err(error) => break Err(Some(error)),
        }
    };
    patience.wait_ends();
    ended.map(|()| handle)
}
