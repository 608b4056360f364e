//! What tools are made from: handles to the workspace, the session and killick's store, and the grant.

use std::ffi::OsString;
use std::sync::Arc;

use super::refuse;
use super::sandbox::Sandbox;
use crate::authority::{Capability, Demand, Grant, Resource};
use crate::code::Code;
use crate::path::Place;
use crate::process::{Interactive, Jobs};
use crate::session::Session;
use crate::store::WorkspaceStore;
use crate::syntax::{Dialect, Dialects, IndentRules};
use crate::text::Snapshot;
use crate::tool::Failure;
use crate::workspace::{
    Forbidden, Forbids, Kind, Meta, PathError, Scan, SelectError, Selection, Target, Workspace,
};

/// The handles that the tools of one session share.
#[derive(Debug)]
pub struct Kit {
    /// The user's files.
    pub workspace: Workspace,
    /// Places that the file tools keep away from.
    pub forbids: Forbids,
    /// The session's memory.
    pub session: Arc<Session>,
    /// killick's own files about this workspace.
    pub store: WorkspaceStore,
    /// What the session holds; tools ask it point by point where a call has no single place.
    pub grant: Arc<Grant>,
    /// What holds the session's shell.
    pub sandbox: Sandbox,
    /// The most characters of one result.
    pub output_chars: usize,
    /// How Lisp source is told and indented.
    pub lisp: Lisp,
    /// How commands are run.
    pub shell: ShellKit,
    /// The commands that run beside the session's calls.
    pub jobs: Jobs,
}

/// How the commands of a session are run.
#[derive(Debug)]
pub struct ShellKit {
    /// The shell that is used where a call names none.
    pub program: String,
    /// The time-out where a call names none, in seconds.
    pub timeout_s: u32,
    /// The programs that wait for a person.
    pub interactive: Interactive,
    /// The whole environment of every command.
    pub environment: Vec<(OsString, OsString)>,
}

/// What the settings say of Lisp source.
#[derive(Clone, Debug, Default)]
pub struct Lisp {
    /// Which files are which Lisp.
    pub dialects: Dialects,
    /// Heads of the user's own, and how many special arguments each has before its body.
    pub indent: Vec<(String, u8)>,
}

impl Lisp {
    /// Returns the conventions of a dialect, the user's own among them.
    pub(super) fn rules(&self, dialect: &'static Dialect) -> IndentRules {
        let mut rules = IndentRules::new(dialect);
        for (head, n_special) in &self.indent {
            rules.add(head, *n_special);
        }
        rules
    }
}

/// The most bytes of a file that is read whole.
pub(super) const FILE_LIMIT_BYTES: u64 = 2 * 1024 * 1024;

impl Kit {
    /// Returns where a path leads, for a tool that reads.
    pub(super) fn readable(&self, path: &str) -> Result<Target, Failure> {
        let target = self.resolve(&Capability::FileRead, path)?;
        match self.forbids.for_read(&target.place) {
            None => Ok(target),
            Some(why) => Err(refuse::forbidden(&target.place, why)),
        }
    }

    fn resolve(&self, capability: &Capability, path: &str) -> Result<Target, Failure> {
        self.workspace.resolve(path).map_err(|error| self.untold(capability, path, error))
    }

    /// Refuses a path that does not resolve; what is in its way is told only to who holds that place.
    fn untold(&self, capability: &Capability, path: &str, error: PathError) -> Failure {
        let meant = self.workspace.meant(path);
        let told = [meant.as_ref(), error.tells_of()].into_iter().flatten();
        let hidden = told.into_iter().find(|place| !self.grant.admits(capability, place));
        if let Some(place) = hidden {
            return refuse::denied(capability, place, &self.grant);
        }
        refuse::path(error)
    }

    /// Returns the names near one that is missing, as far as they may be read.
    pub(super) fn near(&self, target: &Target) -> Vec<String> {
        let near = self.workspace.nearest_names(target);
        near.iter().filter(|place| self.may_read(place)).map(ToString::to_string).collect()
    }

    /// Returns what a pattern means, for a tool that reads.
    pub(super) fn select(&self, pattern: &str) -> Result<Selection, Failure> {
        let selection = self.workspace.select(pattern).map_err(|error| match error {
            SelectError::Path(error) => self.untold(&Capability::FileRead, pattern, error),
            SelectError::Pattern(error) => refuse::pattern(&error),
        })?;
        let target = match &selection {
            Selection::File(target) | Selection::Other(target) | Selection::Missing(target) => {
                target
            }
            Selection::Below(Scan { start: folder, .. }) | Selection::Nothing(folder) => {
                return if self.grant.reaches(&Capability::FileRead, folder) {
                    Ok(selection)
                } else {
                    Err(refuse::denied(&Capability::FileRead, folder, &self.grant))
                };
            }
        };
        match self.forbids.for_read(&target.place) {
            None => Ok(selection),
            Some(why) => Err(refuse::forbidden(&target.place, why)),
        }
    }

    /// Returns where a path leads, for a tool that writes.
    pub(super) fn writable(&self, path: &str) -> Result<Target, Failure> {
        let target = self.resolve(&Capability::FileWrite, path)?;
        match self.forbids.for_write(&target.place) {
            None if self.workspace.is_in_bare_store(&target.place) => {
                Err(refuse::forbidden(&target.place, Forbidden::Repository))
            }
            None => Ok(target),
            Some(why) => Err(refuse::forbidden(&target.place, why)),
        }
    }

    /// Returns what reading a place demands; a spill file belongs to whoever may run the tool that made it.
    pub(super) fn read_demand(&self, place: &Place) -> Demand {
        let is_spill = self
            .forbids
            .readable
            .iter()
            .any(|folder| folder.root == place.root && place.path.is_within(&folder.path));
        if is_spill {
            return Demand { capability: Capability::FileRead, resource: Resource::Some };
        }
        demand(Capability::FileRead, place)
    }

    /// Refuses a file with several names where the capability is held in part: one may lie outside.
    pub(super) fn check_links(
        &self,
        capability: &Capability,
        place: &Place,
        meta: &Meta,
    ) -> Result<(), Failure> {
        if meta.n_links < 2 || !self.grant.is_scoped(capability) {
            return Ok(());
        }
        Err(Failure::new(
            Code::CapabilityDenied,
            format!(
                "{place} has {} names (hard links), and {capability} is held in part only: another name \
                 may lie outside it. Ask for the whole capability or copy the file.",
                meta.n_links
            ),
        ))
    }

    /// Returns whether a place may be read, its other names included.
    pub(super) fn may_read(&self, place: &Place) -> bool {
        if !self.grant.admits(&Capability::FileRead, place)
            || self.forbids.for_read(place).is_some()
        {
            return false;
        }
        if !self.grant.is_scoped(&Capability::FileRead) {
            return true;
        }
        let target = self.workspace.resolve_place(place);
        target
            .is_ok_and(|target| self.check_target_links(&Capability::FileRead, &target).is_ok())
    }

    /// Loads the text file that a tool reads or edits, under the capability that it needs for that.
    pub(super) fn load(
        &self,
        capability: &Capability,
        target: &Target,
    ) -> Result<Snapshot, Failure> {
        self.check_target_links(capability, target)?;
        match target.kind {
            Kind::Folder => return Err(refuse::is_directory(&target.place)),
            Kind::Other => return Err(refuse::not_regular(&target.place)),
            Kind::Missing { .. } => {
                let next = match capability {
                    Capability::FileEdit => "write makes a new file.",
                    _ => "find lists the paths that there are.",
                };
                return Err(refuse::missing(&target.place, &self.near(target), next));
            }
            Kind::File(_) => {}
        }
        let loaded = self.workspace.load(&target.place, FILE_LIMIT_BYTES);
        let loaded = loaded.map_err(|error| refuse::load(error, &[]))?;
        self.check_links(capability, &target.place, &loaded.meta)?;
        Ok(loaded.snapshot)
    }

    /// Refuses a target that is a file with several names where the capability is held in part.
    pub(super) fn check_target_links(
        &self,
        capability: &Capability,
        target: &Target,
    ) -> Result<(), Failure> {
        match &target.kind {
            Kind::File(meta) => self.check_links(capability, &target.place, meta),
            Kind::Folder | Kind::Other | Kind::Missing { .. } => Ok(()),
        }
    }
}

/// Returns what touching one place demands.
pub(super) fn demand(capability: Capability, place: &Place) -> Demand {
    Demand { capability, resource: Resource::Path(place.clone()) }
}
