//! Why a process cannot be confined.

use std::io;
use std::path::PathBuf;

/// Why a process cannot be confined. It must not go on: some of the bounds may be in force, not all.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The system has no Landlock.
    #[error("the kernel has no Landlock, or it is switched off")]
    NoLandlock,
    /// Landlock is too old to keep files from being truncated.
    #[error("the kernel's Landlock has version {abi}; version {needed} is the first that keeps files from being truncated")]
    OldLandlock {
        /// The version that is there.
        abi: u32,
        /// The least version.
        needed: u32,
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
    /// The system is one that killick has no sandbox for.
    #[error("there is no sandbox for this operating system")]
    OtherSystem,
}
