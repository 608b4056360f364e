//! Opening beneath a folder handle without following any symlink: the one door to user files.
//!
//! Resolving links is `resolve`'s work and done before; here a link that has been swapped in since is an
//! error (`ELOOP`), so no race leads out of a root or out of a scope. Linux does it in one call
//! (`openat2`); elsewhere, and where a filter forbids that call, the path is walked handle by handle.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};

use crate::path::RelPath;

/// Opens `path` beneath `dir`; every segment must be what it is named, never a symlink.
///
/// Errors: `ELOOP` (or `ENOTDIR`, where a folder was expected) for a symlink anywhere on the way.
pub fn open_beneath(
    dir: BorrowedFd<'_>,
    path: &RelPath,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match open_at_once(dir, path, flags, mode) {
        Some(opened) => opened,
        None => open_by_steps(dir, path, flags, mode),
    }
}

/// Opens the folder `path` beneath `dir`.
pub fn open_dir(dir: BorrowedFd<'_>, path: &RelPath) -> io::Result<OwnedFd> {
    open_beneath(dir, path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
}

fn text(path: &RelPath) -> &str {
    if path.is_root() { "." } else { path.as_str() }
}

#[cfg(target_os = "linux")]
fn open_at_once(
    dir: BorrowedFd<'_>,
    path: &RelPath,
    flags: OFlags,
    mode: Mode,
) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::ResolveFlags;
    use rustix::io::Errno;

    static MISSING: AtomicBool = AtomicBool::new(false);
    if MISSING.load(Ordering::Relaxed) {
        return None;
    }
    let resolve =
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(dir, text(path), flags, mode, resolve) {
        Err(Errno::NOSYS) => {
            MISSING.store(true, Ordering::Relaxed);
            None
        }
        // A filter that knows no openat2 may answer EPERM; the walk then says what the truth is.
        Err(Errno::PERM) => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(
    _: BorrowedFd<'_>,
    _: &RelPath,
    _: OFlags,
    _: Mode,
) -> Option<io::Result<OwnedFd>> {
    None
}

fn open_by_steps(
    dir: BorrowedFd<'_>,
    path: &RelPath,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    let mut segments = path.segments().peekable();
    while let Some(segment) = segments.next() {
        let at = held.as_ref().map_or(dir, AsFd::as_fd);
        if segments.peek().is_none() {
            return Ok(rustix::fs::openat(at, segment, flags, mode)?);
        }
        held = Some(rustix::fs::openat(at, segment, step, Mode::empty())?);
    }
    Ok(rustix::fs::openat(dir, ".", flags, mode)?)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test lays out real files")]
mod tests {
    use super::*;
    use crate::path::RootName;
    use crate::workspace::{Access, Root};

    #[test]
    fn no_symlink_is_followed_by_either_way() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(RootName::workspace(), folder.path(), Access::Read).unwrap();
        std::fs::create_dir(folder.path().join("d")).unwrap();
        std::fs::write(folder.path().join("d/f"), "x").unwrap();
        std::os::unix::fs::symlink("d", folder.path().join("l")).unwrap();
        std::os::unix::fs::symlink("d/f", folder.path().join("lf")).unwrap();
        let open = |path: &str| {
            let path = RelPath::parse(path).unwrap();
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let ways = [
                open_beneath(root.dir(), &path, OFlags::RDONLY, Mode::empty()).is_ok(),
                open_by_steps(root.dir(), &path, flags, Mode::empty()).is_ok(),
            ];
            assert_eq!(ways[0], ways[1], "{path}");
            ways[0]
        };
        assert!(open("d/f"));
        assert!(open(""));
        assert!(!open("l/f"));
        assert!(!open("lf"));
        assert!(!open("d/f/x"));
        assert!(!open("nothing"));
    }
}
