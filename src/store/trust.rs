//! What the user has said may run: digests of settings files and of the programs that they name.
//!
//! Whether a digest still fits is the caller's question; here is only the record of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::text::Digest;

use super::{Folder, Store, StoreError};

const NAME: &str = "trust.json";
const TRUST_LIMIT_BYTES: u64 = 16 << 20;

/// What was trusted of one settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustRecord {
    /// The settings file's content.
    pub settings: Digest,
    /// The content of each program that it names, by absolute path.
    pub programs: BTreeMap<String, Digest>,
}

/// Everything that is trusted, by the absolute path of the settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    records: BTreeMap<String, TrustRecord>,
}

impl Trust {
    /// Reads what is trusted; nothing where nothing was ever.
    ///
    /// Errors: `Damaged` where the file cannot be understood: then nothing may run.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        store.folder(&[])?.map_or_else(|| Ok(Self::default()), |folder| Self::read(&folder))
    }

    /// Reads, changes and writes what is trusted, while no other process does.
    pub fn update(store: &Store, change: impl FnOnce(&mut Self)) -> Result<(), StoreError> {
        let folder = store.make_folder(&[])?;
        let held = folder.hold()?;
        let mut trust = Self::read(&folder)?;
        change(&mut trust);
        folder.write(NAME, trust.render().as_bytes())?;
        drop(held);
        Ok(())
    }

    /// Returns what was trusted of a settings file.
    pub fn get(&self, settings_file: &Path) -> Option<&TrustRecord> {
        self.records.get(settings_file.to_str()?)
    }

    /// Trusts a settings file as it is in `record`; a path that is not UTF-8 is not recorded.
    pub fn set(&mut self, settings_file: &Path, record: TrustRecord) {
        if let Some(path) = settings_file.to_str() {
            self.records.insert(path.to_owned(), record);
        }
    }

    /// Takes the trust of a settings file away.
    pub fn remove(&mut self, settings_file: &Path) {
        if let Some(path) = settings_file.to_str() {
            self.records.remove(path);
        }
    }

    /// Returns every settings file that is trusted, with what was trusted of it.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &TrustRecord)> {
        self.records.iter().map(|(path, record)| (Path::new(path), record))
    }

    fn read(folder: &Folder) -> Result<Self, StoreError> {
        let Some(bytes) = folder.read(NAME, TRUST_LIMIT_BYTES)? else {
            return Ok(Self::default());
        };
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        value
            .as_ref()
            .and_then(parse)
            .ok_or_else(|| StoreError::Damaged(folder.path().join(NAME)))
    }

    fn render(&self) -> String {
        let files: Map<String, Value> = self
            .records
            .iter()
            .map(|(path, record)| {
                let programs: Map<String, Value> = record
                    .programs
                    .iter()
                    .map(|(path, digest)| (path.clone(), digest.to_hex().into()))
                    .collect();
                let settings = record.settings.to_hex();
                (path.clone(), json!({"settings": settings, "programs": programs}))
            })
            .collect();
        format!("{:#}\n", json!({"version": 1, "files": files}))
    }
}

fn parse(value: &Value) -> Option<Trust> {
    if value.get("version")? != 1 {
        return None;
    }
    let digest = |value: &Value| Digest::from_hex(value.as_str()?);
    let mut records = BTreeMap::new();
    for (path, file) in value.get("files")?.as_object()? {
        let mut programs = BTreeMap::new();
        for (program, content) in file.get("programs")?.as_object()? {
            programs.insert(program.clone(), digest(content)?);
        }
        let settings = digest(file.get("settings")?)?;
        records.insert(path.clone(), TrustRecord { settings, programs });
    }
    Some(Trust { records })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_kept_and_taken_away_and_damage_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("s")).unwrap();
        let file = Path::new("/w/.killick/settings.json");
        let record = TrustRecord {
            settings: Digest::of(b"{}"),
            programs: BTreeMap::from([("/w/check.sh".to_owned(), Digest::of(b"#!"))]),
        };
        assert_eq!(Trust::load(&store).unwrap(), Trust::default());
        Trust::update(&store, |trust| trust.set(file, record.clone())).unwrap();
        assert_eq!(Trust::load(&store).unwrap().get(file), Some(&record));
        Trust::update(&store, |trust| trust.remove(file)).unwrap();
        assert_eq!(Trust::load(&store).unwrap().iter().count(), 0);
        store.make_folder(&[]).unwrap().write(NAME, b"{\"version\":2}").unwrap();
        assert!(matches!(Trust::load(&store).unwrap_err(), StoreError::Damaged(_)));
    }
}
