//! A mount namespace in which everything is read-only but the writable folders, and in those what is sealed.
//!
//! Sealed and hidden places are mount points, so they can be neither removed nor renamed from inside; and
//! so is every folder on the way to them, so that none can be moved away while another process looks for
//! them. A rename across such a folder's edge is one between file systems: `mv` copies.
//!
//! Where no namespace can be had nothing was changed, and the caller does without.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};

use super::mount_table::{self, Mount};
use super::paths::{At, Kind};
use crate::process::confine::{ConfineError, Confinement, Mounts, outermost};

/// What was laid.
#[derive(Debug)]
pub(super) struct Laid {
    pub(super) mounts: Mounts,
    /// How many file systems are not read-only beside those that shall be written.
    pub(super) n_untouched: usize,
}

/// Shared memory by name; a fresh one for the confined processes.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// Lays the mounts, or says why there is no namespace to lay them in.
pub(super) fn lay(confinement: &Confinement) -> Result<Laid, ConfineError> {
    let here = rustix::process::getcwd(Vec::new()).ok();
    if let Err(error) = enter() {
        let why = error.to_string();
        return Ok(Laid { mounts: Mounts::Without { why }, n_untouched: usize::MAX });
    }
    let table = table()?;
    let n_untouched = close(&table);
    let holes =
        outermost(confinement.writable.iter().chain([&confinement.temp]).map(PathBuf::as_path));
    for hole in &holes {
        open(hole, &confinement.sealed, &table)?;
    }
    seal(confinement, &holes, &table)?;
    confinement.hidden.iter().try_for_each(|path| hide(path))?;
    share_memory()?;
    // The old working folder is one of the mount below.
    let back = here.map_or_else(|| rustix::process::chdir("/"), rustix::process::chdir);
    back.or_else(|_gone| rustix::process::chdir("/"))
        .map_err(ConfineError::process("enter the working folder"))?;
    Ok(Laid { mounts: Mounts::Laid, n_untouched })
}

/// Enters name spaces of its own, whose mounts and queues nobody else sees; in a user namespace if need be.
fn enter() -> io::Result<()> {
    // The user's other programs share memory and queues by numbers, which no path leads to.
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    if unshare(own).is_err() {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        unshare(CloneFlags::CLONE_NEWUSER | own)?;
        put("/proc/self/setgroups", "deny")?;
        put("/proc/self/uid_map", &format!("{0} {0} 1", user.as_raw()))?;
        put("/proc/self/gid_map", &format!("{0} {0} 1", group.as_raw()))?;
    }
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    Ok(())
}

fn put(path: &str, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}

fn table() -> Result<Vec<Mount>, ConfineError> {
    let path = Path::new("/proc/self/mountinfo");
    let file = rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(ConfineError::path("open", path))?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut std::fs::File::from(file), &mut bytes)
        .map_err(ConfineError::path("read", path))?;
    Ok(mount_table::parse(&bytes))
}

/// Lays every mount read-only, and returns how many could not be and can be reached.
fn close(table: &[Mount]) -> usize {
    let open = table.iter().filter(|mount| !mount.flags.contains(MountFlags::RDONLY));
    open.filter(|mount| mount.is_remote || !is_closed(mount)).count()
}

fn is_closed(mount: &Mount) -> bool {
    match remount(&mount.point, mount, Flip::Close) {
        // Nobody gets there, or another mount lies over it.
        Ok(()) | Err(Errno::ACCESS | Errno::NOENT | Errno::INVAL) => true,
        Err(_) => false,
    }
}

#[derive(Clone, Copy)]
enum Flip {
    Close,
    Open,
}

/// Turns one mount, keeping the flags that must not be lost.
fn remount(target: &Path, mount: &Mount, flip: Flip) -> rustix::io::Result<()> {
    let kept = mount.flags.difference(MountFlags::RDONLY) | MountFlags::BIND;
    let flags = match flip {
        Flip::Close => kept | MountFlags::RDONLY,
        Flip::Open => kept,
    };
    mount_remount(target, flags, "")
}

/// Makes a folder a mount of its own with what is mounted below it, as writable as it all was.
fn open(hole: &Path, sealed: &[PathBuf], table: &[Mount]) -> Result<(), ConfineError> {
    let at = At::open(hole).map_err(ConfineError::path("find", hole))?;
    // Where a link leads is not what was granted.
    if at.is_none_or(|at| at.kind == Kind::Link) || !bind(hole)? {
        return Ok(());
    }
    let below = table.iter().filter(|mount| {
        mount.point != hole
            && mount.point.starts_with(hole)
            && !sealed.iter().any(|path| mount.point.starts_with(path))
    });
    let here = mount_table::covering(table, hole);
    for (point, mount) in
        here.map(|mount| (hole, mount)).into_iter().chain(below.map(|m| (m.point.as_path(), m)))
    {
        if !mount.flags.contains(MountFlags::RDONLY) {
            turn(point, mount, Flip::Open)?;
        }
    }
    Ok(())
}

/// Lays a place over itself; says whether it is there.
fn bind(path: &Path) -> Result<bool, ConfineError> {
    let fail = ConfineError::path("find", path);
    let Some(at) = At::open(path).map_err(fail)? else { return Ok(false) };
    mount_bind_recursive(at.link(), at.link()).map_err(ConfineError::path("mount", path))?;
    Ok(true)
}

/// Turns the mount that is on top at a place now.
fn turn(path: &Path, mount: &Mount, flip: Flip) -> Result<(), ConfineError> {
    match At::open(path).map_err(ConfineError::path("find", path))? {
        None => Ok(()),
        Some(at) => remount(&at.link(), mount, flip)
            .map_err(ConfineError::path("change the mount of", path)),
    }
}

/// Lays what is sealed read-only, and pins the folders on the way there.
fn seal(
    confinement: &Confinement,
    holes: &[&Path],
    table: &[Mount],
) -> Result<(), ConfineError> {
    // Nothing below what is sealed needs a way of its own; that would be a mount that is not read-only.
    let kept =
        outermost(confinement.sealed.iter().chain(&confinement.hidden).map(PathBuf::as_path));
    let ways: BTreeSet<&Path> = kept.into_iter().flat_map(|path| way(path, holes)).collect();
    for folder in ways {
        bind(folder)?;
    }
    for path in outermost(confinement.sealed.iter().map(PathBuf::as_path)) {
        let on = mount_table::covering(table, path);
        if let Some(mount) = on
            && bind(path)?
        {
            turn(path, mount, Flip::Close)?;
        }
    }
    Ok(())
}

/// Returns the folders strictly between a place and the writable folder that holds it.
fn way<'p>(path: &'p Path, holes: &[&Path]) -> Vec<&'p Path> {
    let Some(hole) = holes.iter().find(|hole| path != **hole && path.starts_with(hole)) else {
        return Vec::new();
    };
    path.ancestors().skip(1).take_while(|folder| folder != hole).collect()
}

/// Lays something empty over a place.
fn hide(path: &Path) -> Result<(), ConfineError> {
    let Some(at) = At::open(path).map_err(ConfineError::path("find", path))? else {
        return Ok(());
    };
    let covered = match at.kind {
        Kind::Folder => {
            let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
            mount("tmpfs", at.link(), "tmpfs", flags, c"mode=0555,size=4k")
        }
        Kind::File | Kind::Link => mount_bind_recursive("/dev/null", at.link()),
    };
    covered.map_err(ConfineError::path("hide", path))
}

/// Mounts shared memory that no other process sees.
fn share_memory() -> Result<(), ConfineError> {
    let path = Path::new(SHARED_MEMORY);
    match At::open(path).map_err(ConfineError::path("find", path))? {
        None => Ok(()),
        Some(at) => {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("tmpfs", at.link(), "tmpfs", flags, c"mode=1777")
                .map_err(ConfineError::path("mount", path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_place_is_what_lies_between() {
        let holes = [Path::new("/w")];
        let way = |path: &'static str| way(Path::new(path), &holes);
        assert_eq!(way("/w/.git"), [] as [&Path; 0]);
        assert_eq!(way("/w/a/b/.git"), [Path::new("/w/a/b"), Path::new("/w/a")]);
        assert_eq!(way("/elsewhere/.git"), [] as [&Path; 0]);
        assert_eq!(way("/w"), [] as [&Path; 0]);
    }
}
