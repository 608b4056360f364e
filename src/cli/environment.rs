//! What the environment says: where state and settings lie. Read once, here and nowhere else.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The folders that killick keeps its own files in.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    /// `$XDG_STATE_HOME/killick`.
    pub(super) state: PathBuf,
    /// `$XDG_CONFIG_HOME/killick`.
    pub(super) config: PathBuf,
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
        Ok(Self { state: state.join("killick"), config: base.config_dir().join("killick") })
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
