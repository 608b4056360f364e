//! One file of a transaction: made visible, taken back, cleaned up.
//!
//! What has happened is told by digests alone: of what stands at the target and of what stands at the staged
//! name. So every step here can be repeated after a stop at any point. Bytes that are neither the old nor
//! the new content belong to somebody else: they stay, or go back to where they were.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::disk::{self, Content, Disk, Found, find};
use super::in_place;
use super::journal::{FileRecord, Way};
use crate::path::Place;
use crate::store::{Blobs, StoreError};
use crate::text::Digest;

/// The most bytes of a content that is kept for undo.
pub(super) const KEEP_BYTES: u64 = 64 << 20;

/// A file of a transaction, its folder held open.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) place: Place,
    pub(super) dir: Arc<OwnedFd>,
    pub(super) name: String,
    pub(super) record: FileRecord,
}

/// Why a file was not published.
#[derive(Debug)]
pub(super) enum Failure {
    /// What stood there was not what was expected; it stands there again.
    Conflict,
    /// The system refused.
    Io { verb: &'static str, source: io::Error },
}

/// What a file is after it was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// As it was before the transaction.
    Old,
    /// Somebody else's bytes stand there, or the old ones are lost.
    Foreign,
}

impl Slot {
    pub(super) fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// Returns the name that exchanging by steps needs beside the staged one.
    fn aside(&self) -> String {
        format!("{}-old", self.record.temp)
    }

    fn target(&self, disk: &dyn Disk) -> io::Result<Found> {
        find(disk, self.dir(), &self.name, KEEP_BYTES)
    }

    fn staged(&self, disk: &dyn Disk) -> io::Result<Found> {
        find(disk, self.dir(), &self.record.temp, 0)
    }

    /// Publishes the file; what came out is still to be compared.
    pub(super) fn publish(&self, disk: &dyn Disk, after: &[u8]) -> Result<(), Failure> {
        let (dir, name, temp) = (self.dir(), &*self.name, &*self.record.temp);
        match self.record.way {
            Way::Exchange => self.exchange(disk).map_err(|error| vanished(error, "replace")),
            Way::Create => {
                rename_new(disk, dir, temp, name).map_err(|error| vanished(error, "create"))
            }
            Way::Delete => {
                rename_new(disk, dir, name, temp).map_err(|error| vanished(error, "delete"))
            }
            Way::InPlace => self.write_over(disk, after),
        }
    }

    /// Compares what came out with what was expected; in place that was done before the write.
    pub(super) fn compare(&self, disk: &dyn Disk) -> Result<(), Failure> {
        if matches!(self.record.way, Way::Create | Way::InPlace) {
            return Ok(());
        }
        let fail = |source| Failure::Io { verb: "read what was replaced at", source };
        if self.staged(disk).map_err(fail)?.is(self.record.before) {
            return Ok(());
        }
        Err(Failure::Conflict)
    }

    fn write_over(&self, disk: &dyn Disk, after: &[u8]) -> Result<(), Failure> {
        let fail = |source| Failure::Io { verb: "write", source };
        let file = disk
            .open_write(self.dir(), &self.name)
            .map_err(|error| vanished(error, "write"))?;
        let meta = disk.stat_open(file.as_fd()).map_err(fail)?;
        let content = disk::read(disk, &file, meta, 0).map_err(fail)?;
        if Some(content.digest) != self.record.before {
            return Err(Failure::Conflict);
        }
        self.overwrite(disk, &file, after).map_err(fail)
    }

    fn overwrite(&self, disk: &dyn Disk, file: &File, bytes: &[u8]) -> io::Result<()> {
        disk::write_all(disk, file, bytes)?;
        disk.set_len(file, bytes.len() as u64)?;
        if disk.stat_open(file.as_fd())?.mode != self.record.mode {
            // Writing clears set-id bits; whoever may not set them again has lost no content.
            let _set = disk.chmod(file, self.record.mode);
        }
        disk.sync(file.as_fd())
    }

    /// Exchanges target and staged file, by three steps where the file system cannot do it in one.
    fn exchange(&self, disk: &dyn Disk) -> io::Result<()> {
        let (dir, name, temp) = (self.dir(), &*self.name, &*self.record.temp);
        match disk.exchange(dir, temp, name) {
            Err(error) if is_unknown(&error) => {
                let aside = self.aside();
                disk.link(dir, name, &aside)?;
                disk.rename_over(dir, temp, dir, name)?;
                disk.rename_over(dir, &aside, dir, temp)
            }
            exchanged => exchanged,
        }
    }

    /// Ends what an exchange by steps began, so that target and staged name tell the whole state.
    fn finish_steps(&self, disk: &dyn Disk) -> io::Result<()> {
        let (dir, aside) = (self.dir(), self.aside());
        if disk.stat(dir, &aside)?.is_none() {
            return Ok(());
        }
        if disk.stat(dir, &self.record.temp)?.is_none() {
            return disk.rename_over(dir, &aside, dir, &self.record.temp);
        }
        // The link is a second name of what still stands at the target.
        disk.unlink(dir, &aside)
    }

    /// Returns whether the new state of the file stands.
    pub(super) fn is_new(&self, disk: &dyn Disk) -> io::Result<bool> {
        let record = &self.record;
        match record.way {
            Way::Exchange => {
                self.finish_steps(disk)?;
                let staged = self.staged(disk)?;
                let came_out = staged.is_nothing() || staged.is(record.before);
                Ok(came_out && self.target(disk)?.is(record.after))
            }
            Way::Create | Way::InPlace => Ok(self.target(disk)?.is(record.after)),
            Way::Delete => {
                let staged = self.staged(disk)?;
                let came_out = staged.is_nothing() || staged.is(record.before);
                Ok(came_out && self.target(disk)?.is_nothing())
            }
        }
    }

    /// Takes the file back to what it was before the transaction.
    pub(super) fn take_back(
        &self,
        disk: &dyn Disk,
        blobs: &Blobs,
    ) -> Result<Settled, StoreError> {
        match self.record.way {
            Way::Exchange => self.take_back_exchange(disk, blobs),
            Way::Create => self.take_back_create(disk, blobs),
            Way::Delete => self.take_back_delete(disk, blobs),
            Way::InPlace => self.take_back_in_place(disk, blobs),
        }
    }

    fn take_back_exchange(
        &self,
        disk: &dyn Disk,
        blobs: &Blobs,
    ) -> Result<Settled, StoreError> {
        let fail = |error| self.error(error);
        self.finish_steps(disk).map_err(fail)?;
        let target = self.target(disk).map_err(fail)?;
        if !target.is(self.record.after) {
            return self.keep_target(disk, blobs, &target);
        }
        if self.staged(disk).map_err(fail)?.is_nothing() && !self.stage_before(disk, blobs)? {
            return Ok(Settled::Foreign);
        }
        self.exchange(disk).map_err(fail)?;
        if !self.staged(disk).map_err(fail)?.is(self.record.after) {
            // Somebody wrote between the look and the exchange: their bytes go back.
            self.exchange(disk).map_err(fail)?;
        }
        let target = self.target(disk).map_err(fail)?;
        self.keep_target(disk, blobs, &target)
    }

    /// Leaves the target as it stands and clears the staged name if its bytes are known.
    fn keep_target(
        &self,
        disk: &dyn Disk,
        blobs: &Blobs,
        target: &Found,
    ) -> Result<Settled, StoreError> {
        let is_old = match self.record.before {
            Some(before) => target.is(Some(before)),
            None => target.is_nothing(),
        };
        let is_clear = self.clear_staged(disk, blobs)?;
        Ok(if is_old && is_clear { Settled::Old } else { Settled::Foreign })
    }

    /// Clears the staged name of the old content, which the store keeps, or of the new one.
    ///
    /// Returns false where it holds somebody else's bytes, which stay.
    pub(super) fn clear_staged(
        &self,
        disk: &dyn Disk,
        blobs: &Blobs,
    ) -> Result<bool, StoreError> {
        let staged = self.staged(disk).map_err(|error| self.error(error))?;
        if staged.is(self.record.before) {
            self.put_away(disk, blobs)?;
        } else if staged.is(self.record.after) {
            disk.unlink(self.dir(), &self.record.temp).map_err(|error| self.error(error))?;
        } else {
            return Ok(staged.is_nothing());
        }
        Ok(true)
    }

    /// Moves the old content from the staged name into the store, if it is not too large to keep.
    pub(super) fn put_away(&self, disk: &dyn Disk, blobs: &Blobs) -> Result<(), StoreError> {
        match self.record.before {
            Some(digest) if self.record.kept => {
                disk.adopt_blob(blobs, digest, self.dir(), &self.record.temp)
            }
            Some(_) | None => {
                disk.unlink(self.dir(), &self.record.temp).map_err(|error| self.error(error))
            }
        }
    }

    /// Ends an exchange by steps and clears what came out of a transaction that stands.
    pub(super) fn clear_out(&self, disk: &dyn Disk, blobs: &Blobs) -> Result<bool, StoreError> {
        self.finish_steps(disk).map_err(|error| self.error(error))?;
        self.clear_staged(disk, blobs)
    }

    /// Stages the old content again, which somebody has removed; false where the store has it not either.
    fn stage_before(&self, disk: &dyn Disk, blobs: &Blobs) -> Result<bool, StoreError> {
        let fail = |error| self.error(error);
        let Some(bytes) = kept(blobs, self.record.before)? else { return Ok(false) };
        let again = format!("{}-again", self.record.temp);
        unlink_if_there(disk, self.dir(), &again).map_err(fail)?;
        let file = disk.create(self.dir(), &again, 0o600).map_err(fail)?;
        let staged = disk::write_all(disk, &file, &bytes)
            .and_then(|()| disk.chmod(&file, self.record.mode))
            .and_then(|()| disk.sync(file.as_fd()))
            .and_then(|()| disk.rename_new(self.dir(), &again, &self.record.temp));
        staged.map(|()| true).map_err(|error| {
            let _removed = disk.unlink(self.dir(), &again);
            fail(error)
        })
    }

    fn take_back_create(&self, disk: &dyn Disk, blobs: &Blobs) -> Result<Settled, StoreError> {
        let fail = |error| self.error(error);
        let (dir, name, temp) = (self.dir(), &*self.name, &*self.record.temp);
        let target = self.target(disk).map_err(fail)?;
        if !target.is(self.record.after) {
            return self.keep_target(disk, blobs, &target);
        }
        if self.staged(disk).map_err(fail)?.is(self.record.after) {
            disk.unlink(dir, temp).map_err(fail)?;
        }
        rename_new(disk, dir, name, temp).map_err(fail)?;
        if !self.staged(disk).map_err(fail)?.is(self.record.after) {
            rename_new(disk, dir, temp, name).map_err(fail)?;
            return Ok(Settled::Foreign);
        }
        disk.unlink(dir, temp).map_err(fail)?;
        Ok(Settled::Old)
    }

    fn take_back_delete(&self, disk: &dyn Disk, blobs: &Blobs) -> Result<Settled, StoreError> {
        let fail = |error| self.error(error);
        let target = self.target(disk).map_err(fail)?;
        if !target.is_nothing() {
            return self.keep_target(disk, blobs, &target);
        }
        if self.staged(disk).map_err(fail)?.is_nothing() && !self.stage_before(disk, blobs)? {
            return Ok(Settled::Foreign);
        }
        let is_old = self.staged(disk).map_err(fail)?.is(self.record.before);
        rename_new(disk, self.dir(), &self.record.temp, &self.name).map_err(fail)?;
        Ok(if is_old { Settled::Old } else { Settled::Foreign })
    }

    fn take_back_in_place(
        &self,
        disk: &dyn Disk,
        blobs: &Blobs,
    ) -> Result<Settled, StoreError> {
        let fail = |error| self.error(error);
        let target = self.target(disk).map_err(fail)?;
        if target.is(self.record.before) {
            return Ok(Settled::Old);
        }
        let Found::File(Content { bytes: Some(now), .. }) = &target else {
            return Ok(Settled::Foreign);
        };
        let Some(before) = kept(blobs, self.record.before)? else {
            return Ok(Settled::Foreign);
        };
        let after = kept(blobs, self.record.after)?;
        let ours = target.is(self.record.after)
            || after.is_some_and(|after| in_place::is_torn(now, &before, &after));
        if !ours {
            return Ok(Settled::Foreign);
        }
        let file = disk.open_write(self.dir(), &self.name).map_err(fail)?;
        self.overwrite(disk, &file, &before).map_err(fail)?;
        Ok(Settled::Old)
    }

    /// Removes what an unpublished transaction staged; the name was recorded before the file was made.
    pub(super) fn abandon(&self, disk: &dyn Disk) -> io::Result<()> {
        match self.record.way {
            Way::Exchange | Way::Create | Way::InPlace => {
                unlink_if_there(disk, self.dir(), &self.record.temp)
            }
            Way::Delete => Ok(()),
        }
    }

    /// Returns an error about this file.
    fn error(&self, source: io::Error) -> StoreError {
        StoreError::Io {
            verb: "take back",
            path: self.record.at.root_path.join(self.place.path.as_str()),
            source,
        }
    }
}

/// Returns a content of the store; one that is damaged is as good as lost.
fn kept(blobs: &Blobs, digest: Option<Digest>) -> Result<Option<Vec<u8>>, StoreError> {
    match digest.map(|digest| blobs.get(digest)).transpose() {
        Err(StoreError::Damaged(_)) => Ok(None),
        found => found.map(Option::flatten),
    }
}

/// Removes a name, unless nothing is there.
pub(super) fn unlink_if_there(
    disk: &dyn Disk,
    dir: BorrowedFd<'_>,
    name: &str,
) -> io::Result<()> {
    match disk.unlink(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        unlinked => unlinked,
    }
}

/// Renames to a name that must not exist, by a link where the file system cannot do it in one step.
fn rename_new(disk: &dyn Disk, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
    match disk.rename_new(dir, from, to) {
        Err(error) if is_unknown(&error) => {
            disk.link(dir, from, to)?;
            disk.unlink(dir, from)
        }
        renamed => renamed,
    }
}

fn is_unknown(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP))
}

/// Tells a name that came or went from a refusal of the system.
fn vanished(error: io::Error, verb: &'static str) -> Failure {
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::EXIST | Errno::ISDIR | Errno::NOTDIR | Errno::LOOP) => {
            Failure::Conflict
        }
        Some(_) | None => Failure::Io { verb, source: error },
    }
}
