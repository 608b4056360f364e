//! What the environment says: where state and settings lie, and what commands inherit. Read once, here and
//! nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The folders that killick keeps its own files in.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    /// `$XDG_STATE_HOME/killick`.
    pub(super) state: PathBuf,
    /// `$XDG_CONFIG_HOME/killick`.
    pub(super) config: PathBuf,
    /// The home folder.
    pub(super) home: PathBuf,
    /// The folder for temporary files.
    pub(super) temp: PathBuf,
    /// Every variable.
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// The home folder is not known.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the home folder is not known; set HOME")]
pub(super) struct NoHome;

impl Environment {
    /// Reads the environment, by the XDG base directory rules on every platform.
    pub(super) fn read() -> Result<Self, NoHome> {
        let Ok(base) = etcetera::base_strategy::Xdg::new() else { return Err(NoHome) };
        let state = base.state_dir().ok_or(NoHome)?;
        Ok(Self {
            state: state.join("killick"),
            config: base.config_dir().join("killick"),
            home: base.home_dir().to_owned(),
            temp: std::env::temp_dir(),
            variables: std::env::vars_os().collect(),
        })
    }
}

/// The current folder cannot be known, as when it was removed.
#[derive(Debug, thiserror::Error)]
#[error("the current folder cannot be used; go to one that exists")]
pub(super) struct NoCurrentFolder(#[source] std::io::Error);

/// Returns the current folder.
pub(super) fn current_dir() -> Result<PathBuf, NoCurrentFolder> {
    std::env::current_dir().map_err(NoCurrentFolder)
}

/// killick's own file cannot be known.
#[derive(Debug, thiserror::Error)]
#[error("the file of this program cannot be found")]
pub(super) struct NoProgram(#[source] std::io::Error);

/// Returns the file of this program.
pub(super) fn program() -> Result<PathBuf, NoProgram> {
    std::env::current_exe().map_err(NoProgram)
}

/// Returns where programs are looked for.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
pub(super) fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}
