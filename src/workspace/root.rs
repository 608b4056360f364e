//! A root: a folder that the session works beneath, held open so that a rename of it changes nothing.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::path::RootName;

/// What a session may do beneath a root, whatever its grant says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Files may be read.
    Read,
    /// Files may be read and written.
    Write,
}

/// A folder that the session works beneath.
#[derive(Debug)]
pub struct Root {
    name: RootName,
    path: PathBuf,
    dir: OwnedFd,
    access: Access,
}

/// Why a folder cannot be a root.
#[derive(Debug, thiserror::Error)]
#[error("failed to open the root `{}`", path.display())]
pub struct RootError {
    /// The folder as it was named.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

impl Root {
    /// Opens `folder` as a root. `folder` may be a symlink; what it leads to now is what stays open.
    pub fn open(name: RootName, folder: &Path, access: Access) -> Result<Self, RootError> {
        let fail = |source| RootError { path: folder.to_owned(), source };
        let path = folder.canonicalize().map_err(fail)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(&path, flags, Mode::empty())
            .map_err(|error| fail(error.into()))?;
        Ok(Self { name, path, dir, access })
    }

    /// Returns the root's name, as places carry it.
    pub fn name(&self) -> &RootName {
        &self.name
    }

    /// Returns the absolute path without symlinks that the root had when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what may be done beneath the root.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Returns the open folder.
    pub fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}
