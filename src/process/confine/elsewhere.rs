//! Systems for which there is no sandbox: nothing can be confined, so nothing restricted can be run.

use super::{ConfineError, Confinement, Enforced};

/// Fails: the system has nothing that would hold a process.
pub const fn apply(_confinement: &Confinement) -> Result<Enforced, ConfineError> {
    Err(ConfineError::OtherSystem)
}

/// Fails: it serves confined processes only.
pub const fn close_inherited() -> Result<(), ConfineError> {
    Err(ConfineError::OtherSystem)
}
