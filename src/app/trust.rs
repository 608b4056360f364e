//! Trust in a project's settings: which of its files are as they were when the user trusted them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::options::read_project_file;
use crate::settings::{Layer, Trust};
use crate::store::{self, Store, StoreError, TrustRecord};
use crate::text::Digest;

/// A project's settings file, as it is and as it was judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Which layer it is.
    pub layer: Layer,
    /// Where it lies.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Whether it is as it was when it was trusted.
    pub trust: Trust,
}

/// Looks at a project's settings files; those that do not exist are left out.
pub(super) fn judge(
    store: &Store,
    files: &[(Layer, PathBuf)],
) -> Result<Vec<Judged>, StoreError> {
    let mut judged = Vec::new();
    for (layer, path) in files {
        let Some(bytes) = read_project_file(path)? else { continue };
        let known = store::Trust::load(store)?;
        let as_trusted = known
            .get(&spelled(path))
            .is_some_and(|record| record.settings == Digest::of(&bytes));
        let trust = if as_trusted { Trust::Trusted } else { Trust::Untrusted };
        judged.push(Judged { layer: *layer, path: path.clone(), bytes, trust });
    }
    Ok(judged)
}

/// Returns the path without symlinks, by which a file is known however it is reached.
pub(super) fn spelled(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Gives and takes trust.
#[derive(Debug)]
pub struct Trustee {
    store: Store,
    files: Vec<(Layer, PathBuf)>,
}

impl Trustee {
    /// Returns what gives trust to these files.
    pub fn new(store: Store, files: Vec<(Layer, PathBuf)>) -> Self {
        Self { store, files }
    }

    /// Trusts the files as they are now, and returns them.
    pub fn trust(&self) -> Result<Vec<Judged>, StoreError> {
        let judged = judge(&self.store, &self.files)?;
        store::Trust::update(&self.store, |known| {
            for file in &judged {
                let record = TrustRecord {
                    settings: Digest::of(&file.bytes),
                    programs: BTreeMap::new(),
                };
                known.set(&spelled(&file.path), record);
            }
        })?;
        Ok(judged)
    }

    /// Takes the trust in the files away.
    pub fn revoke(&self) -> Result<(), StoreError> {
        store::Trust::update(&self.store, |known| {
            self.files.iter().for_each(|(_, path)| known.remove(&spelled(path)));
        })
    }
}
