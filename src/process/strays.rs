//! Processes that come to killick itself: what a supervisor stood above when a command killed it.
//!
//! killick takes them over as a subreaper does. They are of other sessions than killick, because supervisors
//! lead their own; the supervisors that live are known here. Any other child of another session is a stray
//! and is ended. The list belongs to the process, as its children do.

use std::collections::HashSet;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, waitid};

use super::family::{self, Process};

static KNOWN: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// How long is waited for strays that were killed.
const PATIENCE: Duration = Duration::from_secs(5);

fn known() -> MutexGuard<'static, Option<HashSet<u32>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a child that is no stray.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut known = known();
    let known = match &mut *known {
        Some(known) => known,
        first => {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
            first.insert(HashSet::new())
        }
    };
    let child = command.spawn()?;
    known.insert(child.id());
    Ok(child)
}

/// Waits for a child to end, and forgets it. For once: its number may be another's afterwards.
pub(super) fn bury(child: &mut Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // Its number stays its own until it is taken below, where no other child can get it.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
    }
    let mut known = known();
    let _waited = child.wait();
    if let Some(known) = &mut *known {
        known.remove(&child.id());
    }
}

/// Ends every child that is not known, with all that descends from it.
pub(super) fn end() {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        let strays = strays();
        if strays.is_empty() {
            return;
        }
        for process in &strays {
            family::signal(process, Signal::KILL);
        }
        for process in strays {
            // Those of others are waited for by them, or come here with the next look.
            let _waited = rustix::process::waitpid(Some(process.pid), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn strays() -> Vec<Process> {
    // Held during the look, so that no child is started and not yet known.
    let known = known();
    let own = rustix::process::getpid();
    let session = rustix::process::getsid(None).map_or(0, |id| id.as_raw_nonzero().get());
    let is_none = |process: &Process| {
        let number = u32::try_from(process.pid.as_raw_nonzero().get()).unwrap_or_default();
        process.session == session
            || known.as_ref().is_some_and(|known| known.contains(&number))
    };
    family::below_but(own, &is_none)
}
