//! Landlock: the grants as rules, the network, signals and abstract sockets.
//!
//! What the kernel does not know is left out of the ruleset; below the least version nothing counts as
//! enforced, and the process must not go on.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope, make_bitflags,
};

use super::carve::Grants;
use super::paths::{At, Kind};
use crate::process::confine::{ConfineError, LEAST_ABI, Sockets};

/// The newest version whose rights this file has thought about.
const KNOWN: ABI = ABI::V10;

/// Devices that may be opened, and no more than read and written.
const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir | Execute});
const DEVICE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});
const LIST: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadDir});

/// Everything that changes files, but for making devices and speaking to them.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSym | MakeFifo
        | MakeSock | Refer
});

/// Restricts the process, and returns the version of the interface that holds it.
pub(super) fn restrict(grants: &Grants, sockets: Sockets) -> Result<u32, ConfineError> {
    let mut ruleset = ruleset(sockets).map_err(refused)?;
    for path in &grants.read {
        ruleset = allow(ruleset, path, READ)?;
    }
    for path in &grants.write {
        ruleset = allow(ruleset, path, WRITE)?;
    }
    for path in &grants.list {
        ruleset = allow(ruleset, path, LIST)?;
    }
    for device in DEVICES {
        ruleset = allow(ruleset, Path::new(device), DEVICE)?;
    }
    version(ruleset.restrict_self().map_err(refused)?.landlock)
}

fn ruleset(sockets: Sockets) -> Result<RulesetCreated, landlock::RulesetError> {
    let all = Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?;
    match sockets {
        Sockets::Pairs => all.handle_access(AccessNet::from_all(KNOWN))?.create(),
        Sockets::Internet => all.create(),
    }
}

fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, ConfineError> {
    let Some(at) = At::open(path).map_err(ConfineError::path("find", path))? else {
        return Ok(ruleset);
    };
    let rights = match at.kind {
        Kind::Folder => rights,
        Kind::File => rights & AccessFs::from_file(KNOWN),
        Kind::Link => return Ok(ruleset),
    };
    if rights.is_empty() {
        return Ok(ruleset);
    }
    ruleset.add_rule(PathBeneath::new(at.fd, rights)).map_err(refused)
}

fn refused(error: landlock::RulesetError) -> ConfineError {
    ConfineError::Landlock(Box::new(error))
}

fn version(status: LandlockStatus) -> Result<u32, ConfineError> {
    match status {
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => {
            Err(ConfineError::NoLandlock)
        }
        LandlockStatus::Available { effective_abi, .. } => {
            let abi = number(effective_abi);
            if abi < LEAST_ABI { Err(ConfineError::OldLandlock { abi }) } else { Ok(abi) }
        }
    }
}

fn number(abi: ABI) -> u32 {
    // The crate keeps the order of the versions and hides their numbers.
    let known = [
        ABI::V1,
        ABI::V2,
        ABI::V3,
        ABI::V4,
        ABI::V5,
        ABI::V6,
        ABI::V7,
        ABI::V8,
        ABI::V9,
        ABI::V10,
    ];
    let reached = known.into_iter().filter(|version| *version <= abi);
    u32::try_from(reached.count()).unwrap_or(u32::MAX)
}
