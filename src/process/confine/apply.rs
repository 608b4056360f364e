//! The bounds, in the order in which they can be put on.

use super::{ConfineError, Confinement, Enforced};

/// Confines the calling process and all that it will start, for good.
///
/// The process must have a single thread. Errors: the bounds are not all in force and nothing may be run.
pub fn apply(confinement: &Confinement) -> Result<Enforced, ConfineError> {
    let _ = confinement;
    Err(ConfineError::NoLandlock)
}
