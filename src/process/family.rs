//! The processes that descend from one: found in `/proc`, stopped, ended.
//!
//! A process that left its group or session, or whose parent has ended, is still a descendant of the
//! nearest subreaper above it. Each is signalled through a handle that cannot come to mean another process.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::os::fd::AsFd as _;

use rustix::fs::{CWD, Dir, Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process as `/proc` shows it; the time of its start tells it from a later one of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    started: u64,
    is_dead: bool,
}

/// How often all are stopped anew while there are new ones.
const MAX_SWEEPS: usize = 500;

/// Returns the processes below `top` that have not ended, nearest first.
pub(super) fn below(top: Pid) -> Vec<Process> {
    let mut found = below_but(top, &|_| false);
    found.retain(|process| !process.is_dead);
    found
}

/// Returns the processes below `top`, without those that `is_left_out` and what is below them.
///
/// Those that have ended and were not waited for are among them.
pub(super) fn below_but(top: Pid, is_left_out: &dyn Fn(&Process) -> bool) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut next = vec![top.as_raw_nonzero().get()];
    while let Some(parent) = next.pop() {
        for process in children.remove(&parent).unwrap_or_default() {
            if !is_left_out(&process) {
                next.push(process.pid.as_raw_nonzero().get());
                found.push(process);
            }
        }
    }
    found
}

/// Stops every process below `top`, until none is new: what is stopped starts no others.
pub(super) fn freeze(top: Pid) -> Vec<Process> {
    let mut stopped = HashSet::new();
    for _ in 0..MAX_SWEEPS {
        let new: Vec<Process> =
            below(top).into_iter().filter(|process| stopped.insert(key(process))).collect();
        if new.is_empty() {
            return below(top);
        }
        for process in &new {
            signal(process, Signal::STOP);
        }
    }
    below(top)
}

fn key(process: &Process) -> (Pid, u64) {
    (process.pid, process.started)
}

/// Sends a signal to exactly this process; one that has ended or belongs to somebody else gets none.
pub(super) fn signal(process: &Process, signal: Signal) {
    let Ok(handle) = pidfd_open(process.pid, PidfdFlags::empty()) else { return };
    if read(process.pid).is_some_and(|now| now.started == process.started) {
        // It may have ended, or have become another user's.
        let _ignored = pidfd_send_signal(handle.as_fd(), signal);
    }
}

fn all() -> Vec<Process> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(proc) = rustix::fs::openat(CWD, "/proc", flags, Mode::empty()) else {
        return Vec::new();
    };
    let Ok(entries) = Dir::new(proc) else { return Vec::new() };
    let numbers = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok());
    numbers.filter_map(|number| read(Pid::from_raw(number)?)).collect()
}

/// Reads what is known of one process; nothing if it has gone.
fn read(pid: Pid) -> Option<Process> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, path, flags, Mode::empty()).ok()?;
    let mut text = Vec::new();
    std::fs::File::from(file).read_to_end(&mut text).ok()?;
    parse(pid, &String::from_utf8_lossy(&text))
}

/// Reads a line of `/proc/PID/stat`, whose second field is a name with anything in it.
fn parse(pid: Pid, stat: &str) -> Option<Process> {
    const STATE: usize = 0;
    const PARENT: usize = 1;
    const GROUP: usize = 2;
    const SESSION: usize = 3;
    const STARTED: usize = 19;
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(PARENT)?.parse().ok()?,
        group: fields.get(GROUP)?.parse().ok()?,
        session: fields.get(SESSION)?.parse().ok()?,
        started: fields.get(STARTED)?.parse().ok()?,
        is_dead: matches!(*fields.get(STATE)?, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let pid = Pid::from_raw(7).unwrap();
        let rest = "S 3 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 1234 1 1";
        for name in ["sh", "a b", ") S 9 (", "x) Z 1"] {
            let process = parse(pid, &format!("7 ({name}) {rest}\n")).unwrap();
            assert_eq!((process.parent, process.started, process.is_dead), (3, 1234, false));
        }
        assert!(parse(pid, "7 (sh").is_none());
        assert!(parse(pid, "7 (sh) Z").is_none());
    }

    #[test]
    fn this_process_is_in_the_list_with_its_start() {
        let own = rustix::process::getpid();
        assert!(all().iter().any(|process| process.pid == own && !process.is_dead));
    }
}
