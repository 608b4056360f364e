//! The record of a transaction: what it changes, and how far it has come.
//!
//! A record lies in the store's `pending` folder while its transaction runs and in the workspace's `journal`
//! afterwards, where it serves undo. Its place and name are its state:
//!
//! ```text
//! pending/ID.json, phase "staging"   files may be staged, none is published
//! pending/ID.json, phase "staged"    all are staged and synced, any may be published
//! pending/ID.done                    all are published and synced; what came out may still lie beside them
//! journal/ID.json                    nothing is left to do
//! ```
//!
//! A record appears under its name whole or not at all, but for a loss of power in phase "staging": one
//! that cannot be read was never published. It is read defensively, as it may come from another version.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::disk::{self, Disk};
use crate::path::RelPath;
use crate::store::{Folder, StoreError, WorkspaceStore};
use crate::text::Digest;

/// The version of the records that this killick writes and reads.
const VERSION: u32 = 1;
const RECORD_LIMIT_BYTES: u64 = 64 << 20;
/// How many finished transactions a workspace keeps.
pub(super) const KEPT_RECORDS: usize = 1000;

/// Names a transaction: a sortable text of digits, lower-case letters and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransactionId(Arc<str>);

impl TransactionId {
    /// Reads an id; nothing where the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'-');
        ((1..=64).contains(&text.len()) && text.bytes().all(plain))
            .then(|| Self(Arc::from(text)))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for one transaction in about 256, whichever process makes it.
    pub(super) fn is_turn(&self) -> bool {
        self.0.ends_with("00")
    }

    /// Returns the id of a transaction at `now_unix_ms` that comes after `newest`, whatever the clock says.
    fn after(newest: Option<&Self>, now_unix_ms: u64, noise: u32) -> Self {
        let (last_ms, last_count) = newest.map_or((0, 0), Self::time_and_count);
        let (ms, count) = if now_unix_ms > last_ms {
            (now_unix_ms, 0)
        } else {
            (last_ms, last_count.saturating_add(1))
        };
        Self(Arc::from(format!("{ms:013}-{count:05}-{noise:08x}")))
    }

    fn time_and_count(&self) -> (u64, u32) {
        let mut parts = self.0.split('-');
        let ms = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        let count = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        (ms, count)
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a file is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Way {
    /// The staged file and the old one change places.
    Exchange,
    /// The staged file is renamed to a new name.
    Create,
    /// The old file is renamed to the staged name.
    Delete,
    /// The old file is written over; its content and the new one are kept in the store.
    InPlace,
}

/// How far a transaction has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// Files may be staged; none is published.
    Staging,
    /// All files are staged and synced; any may be published.
    Staged,
}

/// A folder below a root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FolderRecord {
    /// The root's name: empty for the workspace.
    pub(super) root: String,
    #[serde(with = "path_bytes")]
    pub(super) root_path: PathBuf,
    #[serde(with = "rel_path")]
    pub(super) path: RelPath,
}

/// One file of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    #[serde(flatten)]
    pub(super) at: FolderRecord,
    #[serde(with = "digest")]
    pub(super) before: Option<Digest>,
    #[serde(with = "digest")]
    pub(super) after: Option<Digest>,
    /// The permission bits before, or after where there was no file.
    pub(super) mode: u32,
    pub(super) way: Way,
    /// The name beside the target at which the new file is staged and the old one comes out.
    pub(super) temp: String,
    /// Whether the store keeps the content before.
    pub(super) kept: bool,
}

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) version: u32,
    pub(super) id: TransactionId,
    pub(super) time_unix_ms: u64,
    pub(super) session: String,
    pub(super) label: String,
    pub(super) undoes: Vec<TransactionId>,
    pub(super) workspace: String,
    pub(super) phase: Phase,
    pub(super) locks: Vec<FolderRecord>,
    pub(super) files: Vec<FileRecord>,
    /// Folders that were made for the files, outermost first.
    pub(super) made: Vec<FolderRecord>,
    /// Folders that are removed at the end if they are empty then, innermost first.
    pub(super) pruned: Vec<FolderRecord>,
}

/// What a name in the pending folder stands for.
#[derive(Debug)]
pub(super) enum Pending {
    /// A transaction that was not finished.
    Open(Record),
    /// A transaction of which only the cleaning up is left.
    Done(Record),
    /// A record that was torn before anything was published.
    Torn,
    /// A record of a version that this killick does not know.
    Unknown,
}

/// The journal of a workspace, through a disk.
#[derive(Clone, Copy)]
pub(super) struct Journal<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) workspace: &'a WorkspaceStore,
}

impl Record {
    /// Returns the version that this killick writes.
    pub(super) fn version() -> u32 {
        VERSION
    }
}

fn open_name(id: &TransactionId) -> String {
    format!("{id}.json")
}

fn done_name(id: &TransactionId) -> String {
    format!("{id}.done")
}

fn is_open(name: &str) -> bool {
    name.strip_suffix(".json").is_some()
}

fn is_done(name: &str) -> bool {
    name.strip_suffix(".done").is_some()
}

impl Journal<'_> {
    /// Returns an id that sorts after every finished transaction of the workspace.
    pub(super) fn next_id(&self, now_unix_ms: u64) -> Result<TransactionId, StoreError> {
        let newest = self.finished()?.pop();
        let mut noise = [0; 4];
        // The id stays unique enough without noise: the store refuses a name that exists.
        let _filled =
            rustix::rand::getrandom(&mut noise, rustix::rand::GetRandomFlags::empty());
        Ok(TransactionId::after(newest.as_ref(), now_unix_ms, u32::from_le_bytes(noise)))
    }

    /// Returns the ids of the finished transactions, oldest first.
    pub(super) fn finished(&self) -> Result<Vec<TransactionId>, StoreError> {
        let Some(folder) = self.workspace.folder(&["journal"])? else { return Ok(Vec::new()) };
        let names = folder.names()?;
        Ok(names
            .iter()
            .filter_map(|name| TransactionId::parse(name.strip_suffix(".json")?))
            .collect())
    }

    /// Reads a finished transaction; nothing where it is gone or of another version.
    pub(super) fn read_finished(
        &self,
        id: &TransactionId,
    ) -> Result<Option<Record>, StoreError> {
        let Some(folder) = self.workspace.folder(&["journal"])? else { return Ok(None) };
        let bytes = folder.read(&open_name(id), RECORD_LIMIT_BYTES)?;
        Ok(bytes.and_then(|bytes| match parse(&bytes) {
            Parsed::Record(record) => Some(*record),
            Parsed::Torn | Parsed::Unknown => None,
        }))
    }

    /// Returns the names in the pending folder that are records, sorted.
    pub(super) fn pending(&self) -> Result<Vec<String>, StoreError> {
        let Some(folder) = self.workspace.store().folder(&["pending"])? else {
            return Ok(Vec::new());
        };
        let mut names = folder.names()?;
        names.retain(|name| is_open(name) || is_done(name));
        Ok(names)
    }

    /// Reads a pending record; nothing where it is gone.
    pub(super) fn read_pending(&self, name: &str) -> Result<Option<Pending>, StoreError> {
        let Some(folder) = self.workspace.store().folder(&["pending"])? else {
            return Ok(None);
        };
        let Some(bytes) = folder.read(name, RECORD_LIMIT_BYTES)? else { return Ok(None) };
        Ok(Some(match parse(&bytes) {
            Parsed::Record(record) if is_done(name) => Pending::Done(*record),
            Parsed::Record(record) => Pending::Open(*record),
            Parsed::Torn => Pending::Torn,
            Parsed::Unknown => Pending::Unknown,
        }))
    }

    /// Removes a torn record.
    pub(super) fn remove_torn(&self, name: &str) -> Result<(), StoreError> {
        self.workspace.store().make_folder(&["pending"])?.remove(name)
    }

    /// Writes a record under its name, whole, without waiting for the device.
    pub(super) fn announce(&self, record: &Record) -> Result<(), StoreError> {
        let folder = self.workspace.store().make_folder(&["pending"])?;
        self.put(&folder, record, |_| Ok(()))
    }

    /// Makes an announced record outlast a loss of power.
    pub(super) fn settle(&self, record: &Record) -> Result<(), StoreError> {
        let folder = self.workspace.store().make_folder(&["pending"])?;
        let name = open_name(&record.id);
        let fail = io_error("sync", &folder, &name);
        let file = self.disk.open_read(folder.fd(), &name).map_err(&fail)?;
        self.disk.sync(file.as_fd()).map_err(&fail)?;
        self.disk.sync(folder.fd()).map_err(&fail)
    }

    /// Replaces an announced record, synced: from here on recovery knows of it, whatever happens.
    pub(super) fn replace(&self, record: &Record) -> Result<(), StoreError> {
        let folder = self.workspace.store().make_folder(&["pending"])?;
        self.put(&folder, record, |file| self.disk.sync(file))?;
        self.disk.sync(folder.fd()).map_err(io_error("sync", &folder, "."))
    }

    fn put(
        &self,
        folder: &Folder,
        record: &Record,
        sync: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        let name = open_name(&record.id);
        let temp = format!("{}.tmp", record.id);
        let fail = io_error("write", folder, &name);
        let bytes = serde_json::to_vec(record).map_err(|error| fail(error.into()))?;
        let written = (|| {
            let file = self.disk.create(folder.fd(), &temp, 0o600)?;
            disk::write_all(self.disk, &file, &bytes)?;
            sync(file.as_fd())?;
            self.disk.rename_over(folder.fd(), &temp, folder.fd(), &name)
        })();
        written.map_err(|error| {
            // The name was this record's alone.
            let _removed = self.disk.unlink(folder.fd(), &temp);
            fail(error)
        })
    }

    /// Marks a transaction as done: it stands from here on.
    pub(super) fn mark_done(&self, id: &TransactionId) -> Result<(), StoreError> {
        let folder = self.workspace.store().make_folder(&["pending"])?;
        let fd = folder.fd();
        let fail = io_error("mark as done", &folder, &open_name(id));
        self.disk.rename_over(fd, &open_name(id), fd, &done_name(id)).map_err(&fail)
    }

    /// Makes the pending folder's names outlast a loss of power.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        let folder = self.workspace.store().make_folder(&["pending"])?;
        self.disk.sync(folder.fd()).map_err(io_error("sync", &folder, "."))
    }

    /// Moves a transaction that is done and cleaned up to the finished ones.
    pub(super) fn finish(&self, record: &Record) -> Result<(), StoreError> {
        let pending = self.workspace.store().make_folder(&["pending"])?;
        let own = WorkspaceStore::with_key(self.workspace.store(), &record.workspace);
        let journal = own.as_ref().unwrap_or(self.workspace).make_folder(&["journal"])?;
        let id = &record.id;
        self.disk
            .rename_over(pending.fd(), &done_name(id), journal.fd(), &open_name(id))
            .map_err(io_error("finish", &pending, &done_name(id)))
    }

    /// Forgets a transaction that was taken back.
    pub(super) fn forget(&self, id: &TransactionId) -> Result<(), StoreError> {
        let folder = self.workspace.store().make_folder(&["pending"])?;
        match self.disk.unlink(folder.fd(), &open_name(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io_error("remove", &folder, &open_name(id))(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Removes the oldest finished transactions beyond those that are kept.
    pub(super) fn trim(&self) -> Result<(), StoreError> {
        let finished = self.finished()?;
        let Some(folder) = self.workspace.folder(&["journal"])? else { return Ok(()) };
        let excess = finished.len().saturating_sub(KEPT_RECORDS);
        finished.iter().take(excess).try_for_each(|id| folder.remove(&open_name(id)))
    }
}

fn io_error(
    verb: &'static str,
    folder: &Folder,
    name: &str,
) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = folder.path().join(name);
    move |source| StoreError::Io { verb, path: path.clone(), source }
}

enum Parsed {
    Record(Box<Record>),
    Torn,
    Unknown,
}

fn parse(bytes: &[u8]) -> Parsed {
    match serde_json::from_slice::<Record>(bytes) {
        Ok(record) if record.version == VERSION => Parsed::Record(Box::new(record)),
        // Torn JSON is no JSON: a record is one object, whose last brace is its last byte.
        Ok(_) | Err(_) => match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
            Ok(_) => Parsed::Unknown,
            Err(_) => Parsed::Torn,
        },
    }
}

mod digest {
    use super::{Deserialize as _, Deserializer, Digest, Serialize as _, Serializer, de};

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(
        digest: &Option<Digest>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        digest.map(Digest::to_hex).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Digest>, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        text.map(|hex| Digest::from_hex(&hex).ok_or_else(|| de::Error::custom("no digest")))
            .transpose()
    }
}

mod rel_path {
    use super::{Deserialize as _, Deserializer, RelPath, Serialize as _, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        path: &RelPath,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_str().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<RelPath, D::Error> {
        let text = String::deserialize(deserializer)?;
        RelPath::parse(&text)
            .ok()
            .filter(|path| path.as_str() == text)
            .ok_or_else(|| de::Error::custom("no plain path"))
    }
}

/// A path as text where it is UTF-8, else as its bytes.
mod path_bytes {
    use std::os::unix::ffi::OsStrExt as _;

    use super::{Deserialize, Deserializer, OsStr, Path, PathBuf, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Wire {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(
        path: &Path,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => Wire::Text(text.to_owned()),
            None => Wire::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Text(text) => PathBuf::from(text),
            Wire::Bytes(bytes) => PathBuf::from(OsStr::from_bytes(&bytes)),
        })
    }
}
