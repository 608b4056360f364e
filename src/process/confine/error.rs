//! Why a process cannot be confined.

use std::io;
use std::path::{Path, PathBuf};

/// The least version of Landlock's interface: before it files could be truncated wherever the user may write.
pub const LEAST_ABI: u32 = 3;

/// Why a process cannot be confined. It must not go on: some of the bounds may be in force, not all.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The system has no Landlock.
    #[error("the kernel has no Landlock, or it is switched off")]
    NoLandlock,
    /// Landlock is too old to keep files from being truncated.
    #[error(
        "the kernel's Landlock has version {abi}; {LEAST_ABI} is the first that keeps files from being truncated"
    )]
    OldLandlock {
        /// The version that is there.
        abi: u32,
    },
    /// A step failed on a path.
    #[error("failed to {verb} {}", .path.display())]
    Path {
        /// What was tried.
        verb: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A step failed that is about the process itself.
    #[error("failed to {verb}")]
    Process {
        /// What was tried.
        verb: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Landlock refused a rule or the whole.
    #[error("Landlock refused")]
    Landlock(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The filter of system calls cannot be made or put on.
    #[error("the filter of system calls was refused")]
    Seccomp(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is no sandbox for this operating system or processor.
    #[error("there is no sandbox for this system")]
    OtherSystem,
}

impl ConfineError {
    /// Returns what turns a failed step on a path into an error.
    pub(super) fn path<E: Into<io::Error>>(
        verb: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |error| Self::Path { verb, path, source: error.into() }
    }

    /// Returns what turns a failed step about the process into an error.
    pub(super) fn process<E: Into<io::Error>>(verb: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Process { verb, source: error.into() }
    }
}
