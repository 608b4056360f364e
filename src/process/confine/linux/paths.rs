//! Opening a path to lay a bound on it: never over a symlink, so that nobody can lead a bound elsewhere.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// A place that was opened as such, not to be read.
#[derive(Debug)]
pub(super) struct At {
    pub(super) fd: OwnedFd,
    pub(super) kind: Kind,
}

/// What a place is, as far as a bound is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    Link,
}

impl At {
    /// Opens a place, the link itself if it is one; nothing where there is none, or where a link is on the way.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat2(
            CWD,
            path,
            flags,
            Mode::empty(),
            ResolveFlags::NO_SYMLINKS,
        ) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&fd)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::File,
        };
        Ok(Some(Self { fd, kind }))
    }

    /// Returns a path that leads to this very place.
    pub(super) fn link(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.fd.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out real files")]
    fn a_symlink_is_never_followed() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("real/sub")).unwrap();
        std::os::unix::fs::symlink("real", top.join("link")).unwrap();
        let kind = |path: &str| At::open(&top.join(path)).unwrap().map(|at| at.kind);
        assert_eq!(kind("real/sub"), Some(Kind::Folder));
        assert_eq!(kind("link"), Some(Kind::Link));
        assert_eq!(kind("link/sub"), None);
        assert_eq!(kind("none"), None);
    }
}
