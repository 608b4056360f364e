//! Privileges that could undo a bound, given up for good, and files that a process did not ask for.

use std::os::fd::RawFd;

use rustix::fs::{CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

use crate::process::confine::{ConfineError, Sockets};

/// What root keeps: to do with files that it may write what their owner could.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Gives up every privilege but what root needs for its own files, now and for programs to come.
pub(super) fn drop(sockets: Sockets) -> Result<(), ConfineError> {
    let kept = kept(sockets);
    set_no_new_privs(true).map_err(ConfineError::process("forbid new privileges"))?;
    for capability in CapabilitySet::all().difference(kept).iter_names().map(|(_, one)| one) {
        if !capability_is_in_bounding_set(capability).unwrap_or(false) {
            continue;
        }
        match remove_capability_from_bounding_set(capability) {
            // Who may not do that has no new privileges to hope for: see above.
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(ConfineError::process("bound privileges")(error)),
        }
    }
    let held = rustix::thread::capabilities(None)
        .map_err(ConfineError::process("look at privileges"))?
        .permitted
        .intersection(kept);
    let sets = CapabilitySets {
        effective: held,
        permitted: held,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(ConfineError::process("give up privileges"))?;
    clear_ambient_capability_set().map_err(ConfineError::process("give up ambient privileges"))
}

fn kept(sockets: Sockets) -> CapabilitySet {
    if !rustix::process::geteuid().is_root() {
        return CapabilitySet::empty();
    }
    match sockets {
        Sockets::Pairs => OF_ROOT,
        Sockets::Internet => OF_ROOT.union(CapabilitySet::NET_BIND_SERVICE),
    }
}

/// Closes every file beside the three standard ones that whoever started the process left open.
///
/// For the very begin of a process: nothing that it opened itself may be open yet.
pub fn close_inherited() -> Result<(), ConfineError> {
    for number in open_files()? {
        // The listing's own file is among them and closed already.
        let _closed = nix::unistd::close(number);
    }
    Ok(())
}

fn open_files() -> Result<Vec<RawFd>, ConfineError> {
    let fail = |error: Errno| ConfineError::process("list open files")(error);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder =
        rustix::fs::openat(CWD, "/proc/self/fd", flags, Mode::empty()).map_err(fail)?;
    let mut numbers = Vec::new();
    for entry in Dir::new(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let number = entry.file_name().to_str().ok().and_then(|name| name.parse().ok());
        numbers.extend(number.filter(|&number: &RawFd| number > 2));
    }
    Ok(numbers)
}
