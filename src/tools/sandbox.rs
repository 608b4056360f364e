//! From what a session may do to what the kernel holds its shell to.
//!
//! The kernel knows folders and no patterns, so scopes are rounded down to folders whose whole subtree they
//! cover. What may be written is what `file/write` covers: who may replace a file whole may change it in
//! part. Names that do not exist yet cannot be kept: a first `.git` or `.killick` can be made.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::authority::{Capability, Grant, Subtree};
use crate::code::Code;
use crate::process::confine::{ConfineError, Confinement, PrivateTemp, Sockets, outermost};
use crate::tool::Failure;
use crate::workspace::{Access, Guarded, GuardedWalk, Unwalked, Workspace};

/// What every program needs: itself, its libraries, its settings, and what the kernel tells.
pub const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/run/current-system",
    "/run/systemd/resolve",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// What root alone could read of those.
const SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
];

/// How long stores and settings are looked for, at most.
const WALK_LIMIT: Duration = Duration::from_secs(10);

/// What holds the shell of a session.
#[derive(Debug)]
pub enum Sandbox {
    /// Nothing: the session may do everything that a shell needs.
    Unrestricted,
    /// Nothing, though the session is restricted: the user has switched it off.
    Off,
    /// The kernel.
    On(Box<Bounds>),
}

/// From what the bounds of each command are worked out.
#[derive(Debug)]
pub struct Bounds {
    grant: Grant,
    workspace: Workspace,
    extent: Extent,
    walk: Mutex<GuardedWalk>,
    temp: OnceLock<PrivateTemp>,
}

/// What bounds a shell beside the grant.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// What the user's settings let it write, absolute.
    pub writable: Vec<PathBuf>,
    /// What they let it read.
    pub readable: Vec<PathBuf>,
    /// Programs and settings that stay as they are.
    pub sealed: Vec<PathBuf>,
    /// Folders of killick's own state.
    pub state: Vec<PathBuf>,
    /// The folder in which a private temporary one is made.
    pub temp: PathBuf,
}

/// Why the bounds of a command cannot be worked out.
#[derive(Debug, thiserror::Error)]
pub enum Unbounded {
    /// The private temporary folder cannot be made.
    #[error("no private temporary folder can be made")]
    Temp(#[source] ConfineError),
    /// Not everything that must be kept was found.
    #[error("what must not be written cannot be found")]
    Walk(#[source] Unwalked),
}

impl Sandbox {
    /// Returns the bounds of the next command; nothing where it has none.
    ///
    /// Cost: a walk of the folders that the shell may write or that the grant lets it read.
    pub fn confinement(&self) -> Result<Option<Confinement>, Unbounded> {
        match self {
            Self::Unrestricted | Self::Off => Ok(None),
            Self::On(bounds) => bounds.confinement().map(Some),
        }
    }
}

impl Bounds {
    /// Returns what bounds a session's shell.
    pub fn new(grant: Grant, workspace: Workspace, extent: Extent) -> Self {
        let (walk, temp) = (Mutex::default(), OnceLock::new());
        Self { grant, workspace, extent, walk, temp }
    }

    /// Returns the folders and files that the shell may write, beside its temporary folder.
    pub fn writable(&self) -> Vec<PathBuf> {
        let granted = self.granted(&Capability::FileWrite, &[Access::Write]);
        granted.into_iter().chain(self.extent.writable.iter().cloned()).collect()
    }

    /// Returns the folders and files that the shell may read, beside the system's.
    pub fn readable(&self) -> Vec<PathBuf> {
        let granted = self.granted(&Capability::FileRead, &[Access::Read, Access::Write]);
        let ours = self.extent.readable.iter().chain(&self.extent.writable).cloned();
        granted.into_iter().chain(ours).collect()
    }

    /// Returns which sockets the shell may make.
    pub fn sockets(&self) -> Sockets {
        if self.grant.is_whole(&Capability::ProcessNetwork) {
            Sockets::Internet
        } else {
            Sockets::Pairs
        }
    }

    fn confinement(&self) -> Result<Confinement, Unbounded> {
        let (writable, readable) = (self.writable(), self.readable());
        let found = self.found(&writable)?;
        let stores =
            if self.grant.is_held(&Capability::GitStore) { Vec::new() } else { found.stores };
        let is_writable = |path: &PathBuf| writable.iter().any(|top| path.starts_with(top));
        let mut sealed: Vec<PathBuf> = [stores, found.settings, found.unreadable.clone()]
            .into_iter()
            .flatten()
            .chain(self.extent.sealed.iter().cloned())
            .filter(is_writable)
            .collect();
        sealed.sort_unstable();
        sealed.dedup();
        let secret = found.secret.into_iter().chain(found.unreadable.iter().cloned());
        let hidden = self.hidden(secret.collect());
        let system = SYSTEM.iter().map(PathBuf::from);
        Ok(Confinement {
            readable: system.chain(readable).collect(),
            writable,
            sealed,
            hidden,
            temp: self.temp()?.to_owned(),
            sockets: self.sockets(),
        })
    }

    /// Returns what a capability covers whole, of the roots whose access is one of these.
    fn granted(&self, capability: &Capability, access: &[Access]) -> Vec<PathBuf> {
        let roots =
            self.workspace.roots().iter().filter(|root| access.contains(&root.access()));
        let roots: Vec<(bool, &Path)> =
            roots.map(|root| (root.name().is_workspace(), root.path())).collect();
        let subtrees = self.grant.subtrees(capability);
        subtrees.iter().flat_map(|subtree| within(subtree, &roots)).collect()
    }

    /// Finds what must be kept in the folders that the shell may write or the grant lets it read.
    fn found(&self, writable: &[PathBuf]) -> Result<Guarded, Unbounded> {
        let read = self.granted(&Capability::FileRead, &[Access::Read, Access::Write]);
        let tops = outermost(writable.iter().chain(&read).map(PathBuf::as_path));
        let mut walk = self.walk.lock().unwrap_or_else(PoisonError::into_inner);
        walk.find(&tops, WALK_LIMIT).map_err(Unbounded::Walk)
    }

    fn hidden(&self, secret: Vec<PathBuf>) -> Vec<PathBuf> {
        let of_root = if rustix::process::geteuid().is_root() { SECRETS } else { &[] };
        let state = self.extent.state.iter().cloned();
        secret.into_iter().chain(state).chain(of_root.iter().map(PathBuf::from)).collect()
    }

    fn temp(&self) -> Result<&Path, Unbounded> {
        if self.temp.get().is_none() {
            let made = PrivateTemp::make(&self.extent.temp).map_err(Unbounded::Temp)?;
            // Another call may have been first; then this one goes away again.
            let _mine = self.temp.set(made);
        }
        Ok(self.temp.get().map_or(&self.extent.temp, PrivateTemp::path))
    }
}

/// Returns the paths of a subtree; of an absolute one only where no workspace lies below it.
fn within(subtree: &Subtree, roots: &[(bool, &Path)]) -> Vec<PathBuf> {
    let of =
        |is_ours: bool| roots.iter().filter(move |root| root.0 == is_ours).map(|root| root.1);
    match subtree {
        Subtree::Everything => roots.iter().map(|root| root.1.to_owned()).collect(),
        Subtree::Workspace(path) => of(true).map(|root| root.join(path.as_str())).collect(),
        Subtree::Other(path) => {
            let absolute = Path::new("/").join(path.as_str());
            let places = of(false).filter_map(|root| {
                let narrower = if absolute.starts_with(root) { &*absolute } else { root };
                (narrower.starts_with(&absolute)).then(|| narrower.to_owned())
            });
            places.filter(|place| !of(true).any(|ours| ours.starts_with(place))).collect()
        }
    }
}

/// Refuses a command that the kernel cannot hold, for the reason given.
pub fn unavailable(why: &str) -> Failure {
    Failure::new(
        Code::SandboxUnavailable,
        format!(
            "the shell of this restricted session cannot be held to what the session may do: {why}. \
             `killick doctor` says what is missing"
        ),
    )
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out real files")]
mod tests {
    use super::*;
    use crate::authority::Entry;
    use crate::path::RootName;
    use crate::workspace::Root;

    /// A workspace, a folder beside it and killick's state, which go away.
    struct Laid(tempfile::TempDir);

    impl Laid {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            for folder in
                ["ws/src/.git", "ws/.git", "ws/.killick", "docs/.git", "state", "cache"]
            {
                std::fs::create_dir_all(home.path().join(folder)).unwrap();
            }
            std::fs::write(home.path().join("ws/.killick/settings.local.json"), "{}").unwrap();
            Self(home)
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        fn confinement(&self, capabilities: &[&str], docs: Access) -> Confinement {
            let entries: Vec<_> =
                capabilities.iter().map(|text| Entry::parse(text).unwrap()).collect();
            let open = |name: RootName, path: &str, access| {
                Root::open(name, &self.path(path), access).unwrap()
            };
            let docs_name = RootName::absolute(self.path("docs").to_str().unwrap());
            let workspace = Workspace::open(
                open(RootName::workspace(), "ws", Access::Write),
                vec![open(docs_name, "docs", docs)],
            );
            let extent = Extent {
                writable: vec![self.path("cache")],
                state: vec![self.path("state")],
                sealed: vec![self.path("ws/check.sh"), self.path("elsewhere.sh")],
                temp: self.path(""),
                ..Extent::default()
            };
            let bounds = Bounds::new(Grant::from_entries(&entries), workspace, extent);
            Sandbox::On(Box::new(bounds)).confinement().unwrap().unwrap()
        }
    }

    #[test]
    fn a_capability_in_full_covers_every_root_as_far_as_the_root_may_be_written() {
        let laid = Laid::new();
        let of =
            |access| laid.confinement(&["file/read", "file/write", "process/exec"], access);
        let write = of(Access::Write);
        assert_eq!(write.writable, ["ws", "docs", "cache"].map(|path| laid.path(path)));
        let sealed = ["docs/.git", "ws/.git", "ws/.killick", "ws/check.sh", "ws/src/.git"];
        assert_eq!(write.sealed, sealed.map(|path| laid.path(path)));
        let read = of(Access::Read);
        assert_eq!(read.writable, ["ws", "cache"].map(|path| laid.path(path)));
        assert!(read.readable.contains(&laid.path("docs")));
        assert_eq!(read.sockets, Sockets::Pairs);
    }

    #[test]
    fn scopes_are_rounded_down_and_reach_the_roots_that_they_are_about() {
        let laid = Laid::new();
        let absolute = format!("file/write({}/**)", laid.path("docs").display());
        let whole = ["file/write(**/*.rs)", "file/write(src/**)", &absolute, "git/store"];
        let confinement = laid.confinement(&whole, Access::Write);
        assert_eq!(
            confinement.writable,
            ["ws/src", "docs", "cache"].map(|path| laid.path(path))
        );
        assert!(confinement.sealed.is_empty(), "{:?}", confinement.sealed);
        assert!(!confinement.readable.contains(&laid.path("ws")));
        let around = format!("file/write({})", laid.path("").display());
        let around = laid.confinement(&[&around], Access::Write);
        assert_eq!(around.writable, ["docs", "cache"].map(|path| laid.path(path)));
    }

    #[test]
    fn what_no_tool_reads_is_hidden_whatever_is_granted() {
        let laid = Laid::new();
        let hidden = laid.confinement(&["file/read"], Access::Read).hidden;
        assert!(hidden.contains(&laid.path("ws/.killick/settings.local.json")));
        assert!(hidden.contains(&laid.path("state")));
    }
}
