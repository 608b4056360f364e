//! Reading the settings that apply: which files, in which layers, and what the flags add.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::trust::{self, Judged};
use crate::settings::{self, Layer, Problem, Raw, Settings, TrustedLayers};
use crate::store::{Store, StoreError, read_settings};

/// The most bytes of a settings file.
const SETTINGS_LIMIT_BYTES: u64 = 1024 * 1024;

/// Which settings files apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// The user's, the project's and the project's local ones.
    Layers,
    /// This file instead of all others; it is the user's own word.
    Only(PathBuf),
    /// None.
    None,
}

/// What the command line and the environment say.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder to work in, absolute.
    pub workspace: PathBuf,
    /// Which settings files apply.
    pub sources: Sources,
    /// The capabilities that `--capabilities` narrows to, as written.
    pub capabilities: Option<String>,
    /// The tools that `--tools` offers, as written.
    pub tools: Option<String>,
    /// The folder of killick's own state.
    pub state: PathBuf,
    /// The folder of the user's configuration.
    pub config: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// Every variable of the environment, from which that of commands is made.
    pub environment: Vec<(OsString, OsString)>,
    /// Tells the user what is not wrong enough to stop.
    pub warn: fn(&str),
}

/// Why the settings cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Something in them is wrong.
    #[error("the settings are wrong; nothing was started\n{}", lines(.0))]
    Wrong(Vec<Problem>),
    /// A file is not UTF-8.
    #[error("the settings file {label} is not UTF-8")]
    NotUtf8 {
        /// The file.
        label: String,
        /// Where it stops to be.
        source: std::str::Utf8Error,
    },
    /// The file that `--settings` names is not there.
    #[error("the settings file {0} does not exist")]
    Missing(String),
    /// A file cannot be read.
    #[error("the settings cannot be read")]
    Store(#[from] StoreError),
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The settings in force, and how the project's files were judged.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) settings: Settings,
    pub(super) judged: Vec<Judged>,
}

impl Options {
    /// Returns the project's settings files, the shared one first.
    pub fn project_files(&self) -> [(Layer, PathBuf); 2] {
        let folder = self.workspace.join(".killick");
        [
            (Layer::Project, folder.join("settings.json")),
            (Layer::Local, folder.join("settings.local.json")),
        ]
    }

    /// Reads every file that applies, and lays them over one another.
    pub(super) fn read(&self, store: &Store) -> Result<Read, SettingsError> {
        let mut files = Files::default();
        let mut judged = Vec::new();
        match &self.sources {
            Sources::None => {}
            Sources::Only(file) => files.must(Layer::User, file)?,
            Sources::Layers => {
                files.may(Layer::User, &self.config.join("settings.json"))?;
                judged = trust::judge(store, &self.project_files())?;
                for file in &judged {
                    files.take(file.layer, &file.path, &file.bytes)?;
                }
            }
        }
        files.flag("--capabilities", "capabilities", self.capabilities.as_deref());
        files.flag("--tools", "tools", self.tools.as_deref());
        if !files.problems.is_empty() {
            return Err(SettingsError::Wrong(files.problems));
        }
        let settings = settings::merge(files.raws, trusted(&judged));
        Ok(Read { settings, judged })
    }
}

fn trusted(judged: &[Judged]) -> TrustedLayers {
    let of = |layer| {
        let file = judged.iter().find(|file| file.layer == layer);
        file.map_or(settings::Trust::Untrusted, |file| file.trust)
    };
    TrustedLayers { project: of(Layer::Project), local: of(Layer::Local) }
}

/// Files that have been read, and every problem in them.
#[derive(Default)]
struct Files {
    raws: Vec<Raw>,
    problems: Vec<Problem>,
}

impl Files {
    fn may(&mut self, layer: Layer, path: &Path) -> Result<(), SettingsError> {
        match read_settings(path, SETTINGS_LIMIT_BYTES)? {
            None => Ok(()),
            Some(bytes) => self.take(layer, path, &bytes),
        }
    }

    fn must(&mut self, layer: Layer, path: &Path) -> Result<(), SettingsError> {
        match read_settings(path, SETTINGS_LIMIT_BYTES)? {
            None => Err(SettingsError::Missing(path.display().to_string())),
            Some(bytes) => self.take(layer, path, &bytes),
        }
    }

    fn take(&mut self, layer: Layer, path: &Path, bytes: &[u8]) -> Result<(), SettingsError> {
        let label = path.display().to_string();
        let text = std::str::from_utf8(bytes)
            .map_err(|source| SettingsError::NotUtf8 { label: label.clone(), source })?;
        self.read(&label, layer, text);
        Ok(())
    }

    /// Takes a flag as a layer of its own: a file that sets one key to a list.
    fn flag(&mut self, label: &str, key: &str, list: Option<&str>) {
        if let Some(list) = list {
            let value = match (key, list) {
                ("tools", "all") => Value::from("all"),
                _ => Value::from(split(list)),
            };
            self.read(label, Layer::Flags, &json!({key: value}).to_string());
        }
    }

    fn read(&mut self, label: &str, layer: Layer, text: &str) {
        match settings::read(label, layer, text) {
            Ok(raw) => self.raws.push(raw),
            Err(problems) => self.problems.extend(problems),
        }
    }
}

pub(super) fn read_project_file(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    read_settings(path, SETTINGS_LIMIT_BYTES)
}

/// Splits a list at its commas, but not inside the parentheses of a scope.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let at_comma = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    list.split(at_comma).map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_split_outside_of_scopes() {
        assert_eq!(
            split("file/read, file/write({a,b}/**),,"),
            ["file/read", "file/write({a,b}/**)"]
        );
        assert!(split("").is_empty());
    }
}
