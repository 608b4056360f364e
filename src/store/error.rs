//! Why the store could not do what was asked.

use std::io;
use std::path::{Path, PathBuf};

/// Why one of killick's own files could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("failed to {verb} `{}`", path.display())]
    Io {
        /// What was attempted, as it follows "failed to".
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The state folder, or a part of it, is a symlink.
    #[error("`{}` is a symlink, and killick keeps its state in a folder of its own", .0.display())]
    Symlink(PathBuf),
    /// The state folder belongs to another user.
    #[error("`{}` belongs to another user", .0.display())]
    Foreign(PathBuf),
    /// A file does not hold what its name or its checksum says.
    #[error("`{}` is damaged", .0.display())]
    Damaged(PathBuf),
    /// A folder, a pipe or a device stands where a file belongs.
    #[error("`{}` is no regular file", .0.display())]
    NotRegular(PathBuf),
    /// A file is over the limit for its kind.
    #[error("`{}` is over {limit_bytes} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        limit_bytes: u64,
    },
    /// Another process writes the file.
    #[error("`{}` is in use by another process", .0.display())]
    Busy(PathBuf),
    /// A text cannot name a file of the store.
    #[error("`{0}` is no name for a file")]
    BadName(String),
}

impl StoreError {
    /// Returns a function that turns a system error into a `StoreError` about `path`.
    pub(super) fn io<E: Into<io::Error>>(
        verb: &'static str,
        path: &Path,
    ) -> impl Fn(E) -> Self + use<E> {
        let path = path.to_owned();
        move |source| Self::Io { verb, path: path.clone(), source: source.into() }
    }
}
