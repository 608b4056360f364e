//! The bounds, in the order in which they can be put on: mounts need privileges, Landlock forbids mounts,
//! the filter of system calls forbids what all of them needed.

use super::carve::Grants;
use super::filter::Queues;
use super::{filter, mounts, privileges, rules};
use crate::process::confine::{ConfineError, Confinement, Enforced, Gap, LEAST_ABI, Mounts};

/// The first version of Landlock's interface that keeps signals within the confined processes.
const SIGNALS_ABI: u32 = 6;

/// Confines the calling process and all that it will start, for good.
///
/// The process must have a single thread. Its working folder stays the same path. Errors: the bounds are
/// not all in force and nothing may be run.
pub fn apply(confinement: &Confinement) -> Result<Enforced, ConfineError> {
    let laid = mounts::lay(confinement)?;
    let grants = match &laid.mounts {
        Mounts::Laid => Grants::whole(confinement),
        Mounts::Without { .. } => Grants::carved(confinement)?,
    };
    privileges::drop(confinement.sockets)?;
    let abi = rules::restrict(&grants, confinement.sockets)?;
    let queues = match &laid.mounts {
        Mounts::Laid => Queues::Own,
        Mounts::Without { .. } => Queues::None,
    };
    filter::install(confinement.sockets, queues)?;
    Ok(Enforced { landlock_abi: abi, mounts: laid.mounts, gaps: gaps(abi, laid.n_untouched) })
}

fn gaps(abi: u32, n_untouched: usize) -> Vec<Gap> {
    debug_assert!(abi >= LEAST_ABI);
    let attributes = (n_untouched > 0).then_some(Gap::Attributes);
    let signals = (abi < SIGNALS_ABI).then_some(Gap::Signals);
    attributes.into_iter().chain(signals).collect()
}
