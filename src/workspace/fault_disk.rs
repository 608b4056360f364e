//! A disk that fails or stops at the k-th call: the machine that the crash law is tried on.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;

use super::disk::{Attribute, Disk, Meta, RealDisk};
use crate::path::RelPath;
use crate::store::{Blobs, StoreError};
use crate::text::Digest;

/// What happens at the k-th call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// That call fails with this error and does nothing.
    Fail(Errno),
    /// That call and all later ones do nothing: the process was killed.
    Stop,
    /// As `Stop`, and files that were made and not synced are empty: the power was cut.
    PowerCut,
}

/// What the file system can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renames {
    /// Exchange, and rename to a new name only.
    All,
    /// Neither.
    Plain,
}

type Hook<'a> = Box<dyn Fn(usize) + Sync + 'a>;

pub(super) struct FaultDisk<'a> {
    fault: Fault,
    at: usize,
    renames: Renames,
    count: AtomicUsize,
    unsynced: Mutex<Vec<((u64, u64), File)>>,
    hook: Hook<'a>,
}

/// A stopped write may have come this far: a whole number of blocks.
const BLOCK_BYTES: usize = 4096;

fn store_error(source: io::Error) -> StoreError {
    StoreError::Io { verb: "write", path: "blob".into(), source }
}

impl<'a> FaultDisk<'a> {
    pub(super) fn new(fault: Fault, at: usize, renames: Renames) -> Self {
        Self {
            fault,
            at,
            renames,
            count: AtomicUsize::new(0),
            unsynced: Mutex::new(Vec::new()),
            hook: Box::new(|_| {}),
        }
    }

    /// Returns a disk that never fails and calls `hook` before each call with its number.
    pub(super) fn watched(renames: Renames, hook: Hook<'a>) -> Self {
        Self { hook, ..Self::new(Fault::None, 0, renames) }
    }

    /// Returns whether the fault happened.
    pub(super) fn struck(&self) -> bool {
        self.count.load(Ordering::SeqCst) >= self.at
    }

    fn step(&self, _call: &str) -> io::Result<()> {
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        (self.hook)(count);
        match self.fault {
            Fault::Fail(error) if count == self.at => Err(error.into()),
            Fault::Stop | Fault::PowerCut if count >= self.at => {
                if count == self.at && self.fault == Fault::PowerCut {
                    let unsynced = self.unsynced.lock().unwrap();
                    unsynced.iter().for_each(|(_, file)| file.set_len(0).unwrap());
                }
                Err(io::Error::other("stopped"))
            }
            Fault::None | Fault::Fail(_) | Fault::Stop | Fault::PowerCut => Ok(()),
        }
    }

    fn one_step(&self) -> io::Result<()> {
        match self.renames {
            Renames::All => Ok(()),
            Renames::Plain => Err(Errno::INVAL.into()),
        }
    }

    fn created(&self, file: &File) {
        let identity = RealDisk.stat_open(file.as_fd()).unwrap().identity;
        self.unsynced.lock().unwrap().push((identity, file.try_clone().unwrap()));
    }

    fn synced(&self, file: BorrowedFd<'_>) {
        let identity = RealDisk.stat_open(file).unwrap().identity;
        self.unsynced.lock().unwrap().retain(|(known, _)| *known != identity);
    }

    /// Writes what a stopped write has written already: one block, if there are more.
    fn write_torn(&self, file: &File, bytes: &[u8], offset: u64) {
        let strikes = self.count.load(Ordering::SeqCst) == self.at;
        if strikes && let Some(block) = bytes.get(..BLOCK_BYTES) {
            RealDisk.write_at(file, block, offset).unwrap();
        }
    }
}

impl Disk for FaultDisk<'_> {
    fn lanes(&self) -> usize {
        1
    }

    fn open_dir(&self, root: BorrowedFd<'_>, path: &RelPath) -> io::Result<OwnedFd> {
        self.step("open_dir")?;
        RealDisk.open_dir(root, path)
    }

    fn stat(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<Option<Meta>> {
        self.step("stat")?;
        RealDisk.stat(dir, name)
    }

    fn stat_open(&self, file: BorrowedFd<'_>) -> io::Result<Meta> {
        self.step("stat_open")?;
        RealDisk.stat_open(file)
    }

    fn may_write(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
        self.step("may_write")?;
        RealDisk.may_write(dir, name)
    }

    fn open_read(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<File> {
        self.step("open_read")?;
        RealDisk.open_read(dir, name)
    }

    fn open_write(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<File> {
        self.step("open_write")?;
        RealDisk.open_write(dir, name)
    }

    fn create(&self, dir: BorrowedFd<'_>, name: &str, mode: u32) -> io::Result<File> {
        self.step("create")?;
        let file = RealDisk.create(dir, name, mode)?;
        self.created(&file);
        Ok(file)
    }

    fn read_at(&self, file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.step("read_at")?;
        RealDisk.read_at(file, bytes, offset)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        if let Err(error) = self.step("write_at") {
            self.write_torn(file, bytes, offset);
            return Err(error);
        }
        let whole = bytes.len().min(BLOCK_BYTES);
        RealDisk.write_at(file, bytes.get(..whole).unwrap_or_default(), offset)
    }

    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.step("set_len")?;
        RealDisk.set_len(file, bytes)
    }

    fn chmod(&self, file: &File, mode: u32) -> io::Result<()> {
        self.step("chmod")?;
        RealDisk.chmod(file, mode)
    }

    fn chown(&self, file: &File, uid: u32, gid: u32) -> io::Result<()> {
        self.step("chown")?;
        RealDisk.chown(file, uid, gid)
    }

    fn attributes(&self, file: &File) -> io::Result<Vec<Attribute>> {
        self.step("attributes")?;
        RealDisk.attributes(file)
    }

    fn set_attribute(&self, file: &File, attribute: &Attribute) -> io::Result<()> {
        self.step("set_attribute")?;
        RealDisk.set_attribute(file, attribute)
    }

    fn remove_attribute(&self, file: &File, attribute: &Attribute) -> io::Result<()> {
        self.step("remove_attribute")?;
        RealDisk.remove_attribute(file, attribute)
    }

    fn sync(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        self.step("sync")?;
        self.synced(file);
        Ok(())
    }

    fn exchange(&self, dir: BorrowedFd<'_>, one: &str, other: &str) -> io::Result<()> {
        self.step("exchange")?;
        self.one_step()?;
        RealDisk.exchange(dir, one, other)
    }

    fn rename_new(&self, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
        self.step("rename_new")?;
        self.one_step()?;
        RealDisk.rename_new(dir, from, to)
    }

    fn rename_over(
        &self,
        from_dir: BorrowedFd<'_>,
        from: &str,
        to_dir: BorrowedFd<'_>,
        to: &str,
    ) -> io::Result<()> {
        self.step("rename_over")?;
        RealDisk.rename_over(from_dir, from, to_dir, to)
    }

    fn link(&self, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
        self.step("link")?;
        RealDisk.link(dir, from, to)
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        self.step("unlink")?;
        RealDisk.unlink(dir, name)
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        self.step("mkdir")?;
        RealDisk.mkdir(dir, name)
    }

    fn rmdir(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        self.step("rmdir")?;
        RealDisk.rmdir(dir, name)
    }

    fn try_lock(&self, file: BorrowedFd<'_>) -> io::Result<bool> {
        self.step("try_lock")?;
        RealDisk.try_lock(file)
    }

    fn put_blob(&self, blobs: &Blobs, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        self.step("put_blob").map_err(store_error)?;
        RealDisk.put_blob(blobs, digest, bytes)
    }

    fn adopt_blob(
        &self,
        blobs: &Blobs,
        digest: Digest,
        dir: BorrowedFd<'_>,
        name: &str,
    ) -> Result<(), StoreError> {
        self.step("adopt_blob").map_err(store_error)?;
        RealDisk.adopt_blob(blobs, digest, dir, name)
    }
}
