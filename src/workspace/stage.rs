//! Making a new file beside its target that carries everything of the target but its content.
//!
//! Nothing here is visible under a user's name. What a new file cannot carry (owner, attributes, access
//! lists) is told, and the caller writes in place then.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;

use super::disk::{self, Disk, Meta};
use super::publish::{Slot, unlink_if_there};

/// Whether a staged file is all that its target was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// It is.
    Whole,
    /// It cannot be; nothing is staged.
    Less,
}

/// The permissions of a new file, less the process's mask.
const NEW_MODE: u32 = 0o666;
/// Until it has its target's mode and owner, a staged file is nobody else's to read.
const CLOSED_MODE: u32 = 0o600;

/// Stages a file for a name at which there is none.
pub(super) fn stage_new(
    disk: &dyn Disk,
    slot: &Slot,
    bytes: &[u8],
    mode: Option<u32>,
) -> io::Result<()> {
    let file = disk.create(slot.dir(), &slot.record.temp, NEW_MODE)?;
    disk::write_all(disk, &file, bytes)?;
    if let Some(mode) = mode {
        disk.chmod(&file, mode)?;
    }
    disk.sync(file.as_fd())
}

/// Stages a file that takes the place of another one.
pub(super) fn stage_like(
    disk: &dyn Disk,
    slot: &Slot,
    bytes: &[u8],
    like: &Meta,
) -> io::Result<Carried> {
    let file = match disk.create(slot.dir(), &slot.record.temp, CLOSED_MODE) {
        Ok(file) => file,
        Err(error) if is_refused(&error) => return Ok(Carried::Less),
        Err(error) => return Err(error),
    };
    if !carry(disk, slot, &file, like)? {
        unlink_if_there(disk, slot.dir(), &slot.record.temp)?;
        return Ok(Carried::Less);
    }
    disk::write_all(disk, &file, bytes)?;
    // Last, as a change of owner and a write both clear set-id bits.
    disk.chmod(&file, like.mode)?;
    disk.sync(file.as_fd())?;
    Ok(Carried::Whole)
}

/// Gives the staged file its target's owner and attributes; false where that is refused.
fn carry(disk: &dyn Disk, slot: &Slot, file: &File, like: &Meta) -> io::Result<bool> {
    let own = disk.stat_open(file.as_fd())?;
    if (own.uid, own.gid) != (like.uid, like.gid)
        && !allowed(disk.chown(file, like.uid, like.gid))?
    {
        return Ok(false);
    }
    let target = disk.open_read(slot.dir(), &slot.name)?;
    let wanted = disk.attributes(&target)?;
    let had = disk.attributes(file)?;
    for attribute in had.iter().filter(|had| !wanted.iter().any(|(name, _)| *name == had.0)) {
        if !allowed(disk.remove_attribute(file, attribute))? {
            return Ok(false);
        }
    }
    for attribute in wanted.iter().filter(|wanted| !had.contains(wanted)) {
        if !allowed(disk.set_attribute(file, attribute))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn allowed(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if is_refused(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::PERM | Errno::ACCESS | Errno::NOTSUP | Errno::INVAL | Errno::NOSYS)
    )
}

/// Runs `work` on every item, on as many threads as there are lanes; results are in the items' order.
pub(super) fn side_by_side<T: Sync, R: Send>(
    lanes: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let lanes = lanes.min(items.len());
    if lanes < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item);
                    results
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
