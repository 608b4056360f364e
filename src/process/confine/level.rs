//! What really holds a process, as data for details, `killick authority` and `killick doctor`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The bounds that the kernel has put on a process, beside its seccomp filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// The version of Landlock's interface that is used.
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
}

impl Gap {
    /// Returns what is not held, in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attributes => {
                "mode, owner, times and attributes of files outside can be changed as far as the user may"
            }
            Self::Signals => "other processes of the user can be sent signals",
        }
    }
}

impl fmt::Display for Enforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Landlock version {}, seccomp, ", self.landlock_abi)?;
        match &self.mounts {
            Mounts::Laid => f.write_str("a mount namespace"),
            Mounts::Without { why } => write!(f, "no mount namespace ({why})"),
        }
    }
}
