//! How many files killick may hold open: six for each command that runs, and two hundred may.
//!
//! The limit belongs to the process. It is raised once; what killick starts for the user keeps the one that
//! killick was started with, because some programs take a high one for slow or wrong.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What killick wants, where the system lets it.
const WANTED: u64 = 16_384;

/// The limit before it was raised; nothing where it was not.
static BEFORE: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the limit, the first time.
pub(super) fn raise() {
    let _before = BEFORE.get_or_init(raised);
}

/// Returns the limit of programs, where it is another than killick's.
pub(super) fn of_programs() -> Option<u64> {
    BEFORE.get().copied().flatten()
}

fn raised() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(WANTED, |maximum| maximum.min(WANTED));
    let before = limit.current.filter(|&current| current < wanted)?;
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).is_ok().then_some(before)
}
