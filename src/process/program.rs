//! From the description of a program to the command that starts it, or becomes it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, FileType, access, stat};

use super::wire::{Cause, Program, Refused};

/// Where programs are looked for without a `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Program {
    /// Returns the program with the path at which it is found.
    pub(super) fn found(self) -> Result<Self, Refused> {
        if self.name.contains('/') {
            return Ok(self);
        }
        let variable = |name: &str| {
            let mut all = self.environment.iter();
            all.find(|(other, _)| OsString::from(other) == name).map(|(_, value)| value.into())
        };
        let path: OsString = variable("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        let directory = self.folder();
        let mut folders = std::env::split_paths(&path).map(|folder| directory.join(folder));
        let found = folders.find_map(|folder| {
            let candidate = folder.join(&self.name);
            let path = candidate.to_str()?.to_owned();
            is_program(&candidate).then_some(path)
        });
        match found {
            found @ Some(_) => Ok(Self { found, ..self }),
            None => Err(Refused {
                cause: Cause::Missing,
                words: "no folder of `PATH` holds it".to_owned(),
            }),
        }
    }

    /// Returns the folder that it begins in.
    pub(super) fn folder(&self) -> PathBuf {
        PathBuf::from(OsString::from(&self.directory))
    }

    /// Returns the command of it, with all of its environment and nothing else.
    pub(super) fn command(&self) -> Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is where child processes are described"
        )]
        let mut command = Command::new(self.found.as_ref().unwrap_or(&self.name));
        command.arg0(&self.name).args(&self.arguments).env_clear();
        command
            .envs(self.environment.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))));
        command
    }
}

fn is_program(path: &Path) -> bool {
    access(path, Access::EXEC_OK).is_ok()
        && stat(path)
            .is_ok_and(|meta| FileType::from_raw_mode(meta.st_mode) == FileType::RegularFile)
}
