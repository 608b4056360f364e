//! Keeping what a person answered with «always»: a line in the project's settings of this machine.
//!
//! The file stays trusted, or becomes it, only where nothing in it was inert before: a person who approves one
//! call has not said anything about what else somebody wrote there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::trust::spelled;
use crate::dispatch::{Keeper, NotKept};
use crate::settings::{self, Layer, NotAdded, TrustedLayers};
use crate::store::{Store, StoreError, Trust, TrustRecord, settings_folder};
use crate::text::Digest;

/// The most bytes of a settings file.
const LIMIT_BYTES: u64 = 1024 * 1024;

/// The key that the entries are written under.
const KEY: &str = "approved";

/// The project's settings of this machine.
#[derive(Clone, Debug)]
pub(super) struct LocalSettings {
    pub(super) store: Store,
    pub(super) path: PathBuf,
}

/// Why an answer was not kept.
#[derive(Debug, thiserror::Error)]
enum LocalError {
    /// The path has no folder or no name.
    #[error("{0} is no settings file")]
    NoFile(PathBuf),
    /// The file is not UTF-8.
    #[error("{0} is not UTF-8")]
    NotUtf8(PathBuf),
    /// The file sets what needs trust and was not given it.
    #[error("{0} is not trusted; see `killick trust`")]
    Untrusted(PathBuf),
    /// The file cannot be added to.
    #[error("{path}: {cause}")]
    Add {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: NotAdded,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Keeper for LocalSettings {
    fn keep(&self, entries: &[String]) -> Result<(), NotKept> {
        let mut kept = Ok(());
        // Under the lock of the record of trust, so that two processes add one after the other.
        Trust::update(&self.store, |trust| kept = self.add(entries, trust))?;
        Ok(kept?)
    }
}

impl LocalSettings {
    fn add(&self, entries: &[String], trust: &mut Trust) -> Result<(), LocalError> {
        let name = self.path.file_name().and_then(|name| name.to_str());
        let (Some(folder), Some(name)) = (self.path.parent(), name) else {
            return Err(LocalError::NoFile(self.path.clone()));
        };
        let folder = settings_folder(folder)?;
        let bytes = folder.read(name, LIMIT_BYTES)?;
        let text = String::from_utf8(bytes.clone().unwrap_or_default())
            .ok()
            .ok_or_else(|| LocalError::NotUtf8(self.path.clone()))?;
        let known = spelled(&self.path);
        let record = trust.get(&known).filter(|record| {
            bytes.as_ref().is_some_and(|bytes| record.settings == Digest::of(bytes))
        });
        if bytes.is_some() && record.is_none() && !is_harmless(&text) {
            return Err(LocalError::Untrusted(self.path.clone()));
        }
        let programs = record.map_or_else(BTreeMap::new, |record| record.programs.clone());
        let added = settings::add(&text, KEY, entries)
            .map_err(|cause| LocalError::Add { path: self.path.clone(), cause })?;
        folder.write(name, added.as_bytes())?;
        let settings = Digest::of(added.as_bytes());
        trust.set(&spelled(&self.path), TrustRecord { settings, programs });
        Ok(())
    }
}

/// Returns whether a file sets nothing that needs trust.
fn is_harmless(text: &str) -> bool {
    let trust = settings::Trust::Untrusted;
    settings::read("", Layer::Local, text).is_ok_and(|raw| {
        settings::merge(vec![raw], TrustedLayers { project: trust, local: trust })
            .inert
            .is_empty()
    })
}

impl LocalSettings {
    /// Returns the file at `path`.
    pub(super) fn new(store: Store, path: &Path) -> Self {
        Self { store, path: path.to_owned() }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out real files")]
mod tests {
    use super::*;

    struct Scratch {
        home: tempfile::TempDir,
        local: LocalSettings,
    }

    impl Scratch {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("ws/.killick/settings.local.json");
            std::fs::create_dir(home.path().join("ws")).unwrap();
            let store = Store::open(home.path().join("state")).unwrap();
            Self { local: LocalSettings::new(store, &path), home }
        }

        fn lay(&self, text: &str) {
            std::fs::create_dir_all(self.local.path.parent().unwrap()).unwrap();
            std::fs::write(&self.local.path, text).unwrap();
        }

        fn keep(&self) -> Result<(), String> {
            let entries = ["file/write(a)".to_owned()];
            self.local.keep(&entries).map_err(|error| error.to_string())
        }

        fn is_trusted(&self) -> bool {
            let trust = Trust::load(&self.local.store).unwrap();
            let bytes = std::fs::read(&self.local.path).unwrap();
            trust
                .get(&spelled(&self.local.path))
                .is_some_and(|record| record.settings == Digest::of(&bytes))
        }
    }

    #[test]
    fn a_new_file_and_one_without_inert_keys_become_trusted() {
        let scratch = Scratch::new();
        scratch.keep().unwrap();
        assert!(scratch.is_trusted());
        let scratch = Scratch::new();
        scratch.lay("{\"tools\": \"all\"} // mine\n");
        scratch.keep().unwrap();
        assert!(scratch.is_trusted());
        let text = std::fs::read_to_string(&scratch.local.path).unwrap();
        assert!(text.contains("file/write(a)") && text.ends_with("// mine\n"), "{text}");
        scratch.keep().unwrap();
        assert_eq!(std::fs::read_to_string(&scratch.local.path).unwrap(), text);
    }

    #[test]
    fn a_file_whose_keys_are_inert_is_not_touched() {
        for text in ["{\"approved\": [\"process/exec\"]}", "{\"workspace\": {\"extra\": []}}"] {
            let scratch = Scratch::new();
            scratch.lay(text);
            assert!(scratch.keep().unwrap_err().contains("killick trust"));
            assert_eq!(std::fs::read_to_string(&scratch.local.path).unwrap(), text);
            assert!(!scratch.is_trusted());
        }
    }

    #[test]
    fn a_file_that_was_changed_since_it_was_trusted_is_not_touched() {
        let scratch = Scratch::new();
        scratch.keep().unwrap();
        scratch.lay("{\"approved\": [\"process/exec\"]}");
        assert!(scratch.keep().unwrap_err().contains("killick trust"));
        assert!(!scratch.is_trusted());
    }

    #[test]
    fn no_symlink_is_followed_and_no_broken_file_is_mended() {
        let scratch = Scratch::new();
        let outside = scratch.home.path().join("outside");
        std::fs::write(&outside, "{}").unwrap();
        scratch.lay("");
        std::fs::remove_file(&scratch.local.path).unwrap();
        std::os::unix::fs::symlink(&outside, &scratch.local.path).unwrap();
        assert!(scratch.keep().is_err());
        std::fs::remove_dir_all(scratch.local.path.parent().unwrap()).unwrap();
        std::fs::create_dir(scratch.home.path().join("elsewhere")).unwrap();
        let folder = scratch.local.path.parent().unwrap();
        std::os::unix::fs::symlink(scratch.home.path().join("elsewhere"), folder).unwrap();
        assert!(scratch.keep().is_err());
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "{}");
        let scratch = Scratch::new();
        scratch.lay("{");
        assert!(scratch.keep().is_err());
        assert_eq!(std::fs::read_to_string(&scratch.local.path).unwrap(), "{");
    }
}
