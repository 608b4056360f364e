//! What holds the session's shell: from the settings and the grant to its bounds.

use std::path::{Path, PathBuf};

use super::options::Sources;
use super::start::{Ground, StartError, canonical};
use crate::process::confine::{self, Enforced, NoSandbox};
use crate::settings;
use crate::store::Store;
use crate::tools::{Bounds, Extent, Sandbox};
use crate::workspace::{Forbids, Workspace};

/// Returns what holds the shell of a session.
pub(super) fn of(ground: &Ground, workspace: &Workspace, forbids: &Forbids) -> Sandbox {
    if !ground.grant.is_restricted() {
        return Sandbox::Unrestricted;
    }
    match ground.settings.sandbox.value {
        settings::Sandbox::Off => Sandbox::Off,
        settings::Sandbox::Auto => {
            let extent = extent(ground, workspace, forbids);
            Sandbox::On(Box::new(Bounds::new(ground.grant.clone(), workspace.clone(), extent)))
        }
    }
}

fn extent(ground: &Ground, workspace: &Workspace, forbids: &Forbids) -> Extent {
    let places = |written: &[settings::Spanned<String>]| -> Vec<PathBuf> {
        written.iter().map(|path| ground.spelled_out(&path.value)).collect()
    };
    let config = &ground.options.config;
    let file = match &ground.options.sources {
        Sources::Only(file) => vec![file.clone(), canonical(file)],
        Sources::Layers | Sources::None => Vec::new(),
    };
    let programs = forbids.programs.iter().filter_map(|place| {
        Some(workspace.root(&place.root)?.path().join(place.path.as_str()))
    });
    Extent {
        writable: places(&ground.settings.bash_writable.value),
        readable: places(&ground.settings.bash_readable.value),
        sealed: [config.clone(), canonical(config)]
            .into_iter()
            .chain(file)
            .chain(programs)
            .collect(),
        state: std::iter::once(ground.store.path().to_owned())
            .chain(ground.sessions().ok().flatten().map(|store| store.path().to_owned()))
            .map(|path| canonical(&path))
            .collect(),
        temp: ground.options.temp.clone(),
    }
}

impl Ground {
    /// Returns a path of the settings as an absolute one without symlinks.
    fn spelled_out(&self, path: &str) -> PathBuf {
        let path = match path.strip_prefix("~/") {
            Some(rest) => self.options.home.join(rest),
            None if path == "~" => self.options.home.clone(),
            None => self.options.workspace.join(path),
        };
        canonical(&path)
    }

    /// Makes the folder of the user's settings, where the shell could make it in killick's stead.
    pub(super) fn forestall(&self, sandbox: &Sandbox) -> Result<(), StartError> {
        let Sandbox::On(bounds) = sandbox else { return Ok(()) };
        let config = &self.options.config;
        let is_open = bounds.writable().iter().any(|top| config.starts_with(top));
        if is_open && !config.exists() {
            Store::open(config.clone())?.make_folder(&[])?;
        }
        Ok(())
    }
}

/// What holds the shell of a session here.
#[derive(Debug)]
pub struct Held {
    /// What it is to be held to.
    pub sandbox: Sandbox,
    /// What the kernel holds it by; asked only where that matters.
    pub level: Option<Result<Enforced, NoSandbox>>,
}

/// Finds out what holds the shell of a session here, by confining a process that `probe` starts.
pub fn held(ground: &Ground, program: &Path) -> Result<Held, StartError> {
    let workspace = ground.workspace()?;
    let sandbox = of(ground, &workspace, &Forbids::default());
    let level = match sandbox {
        Sandbox::Unrestricted | Sandbox::Off => None,
        Sandbox::On(_) => Some(confine::ask(program)),
    };
    Ok(Held { sandbox, level })
}
