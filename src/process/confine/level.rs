//! What really holds a process, as data for details, `killick authority` and `killick doctor`.

use serde::{Deserialize, Serialize};

/// The bounds that the kernel has put on a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// The version of Landlock's interface.
    pub landlock_abi: u32,
    /// How what is sealed and hidden is kept.
    pub mounts: Mounts,
    /// What is not held, of what a better kernel would hold.
    pub gaps: Vec<Gap>,
}

/// How what is sealed and hidden is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mounts {
    /// By a mount namespace in which all else is read-only.
    Laid,
    /// By Landlock alone: in a folder that holds something sealed, new names at its top fail.
    Without {
        /// Why there is no mount namespace.
        why: String,
    },
}

/// Something that is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Mode, owner, times and attributes of files outside can be changed as far as the user may.
    Attributes,
    /// Other processes of the user can be sent signals.
    Signals,
    /// The user's devices that may be opened take every ioctl.
    Ioctls,
}
