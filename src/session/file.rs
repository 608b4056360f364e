//! A named session's memory on disk: the effects of every call, a record a line, one writer at a time.
//!
//! The memory is rebuilt by folding the records again. Line digests lie once per content in the store; a
//! content whose digests were purged is forgotten, which only means that the file must be read again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory::SessionId;
use super::read_state::{ReadState, VERSIONS_A_FILE};
use crate::path::{Place, RelPath, RootName};
use crate::protocol::{Effect, FileChange, Shown, TransactionId};
use crate::store::{Lines, Log, StoreError, WorkspaceStore};
use crate::text::{Digest, LineDigest, LineNo};

/// The name of the log in the session's folder.
const LOG: &str = "log.jsonl";

/// How often another process is asked to let go, and how many times.
const PATIENCE: (Duration, u32) = (Duration::from_millis(20), 1500);

/// Why a named session cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum SessionFileError {
    /// Another process holds it, and did not let go within half a minute.
    #[error("the session `{0}` is in use by another process")]
    Busy(SessionId),
    /// Its files cannot be used.
    #[error("failed to use the files of the session `{id}`")]
    Store {
        /// The session.
        id: SessionId,
        /// What the store said.
        source: StoreError,
    },
}

/// The open log of a named session; no other process has it.
#[derive(Debug)]
pub struct SessionFile {
    id: SessionId,
    log: Log,
    lines: Lines,
}

impl SessionFile {
    /// Opens a session, making it where it is new, and rebuilds its memory.
    pub fn open(
        workspace: &WorkspaceStore,
        id: &SessionId,
    ) -> Result<(Self, ReadState), SessionFileError> {
        let fail = |source| SessionFileError::Store { id: id.clone(), source };
        let folder = workspace.make_session(id.as_str()).map_err(fail)?;
        let log = hold(id, || Log::open(&folder, LOG))?;
        let records = Log::read(&folder, LOG).map_err(fail)?;
        let lines = Lines::new(workspace.store());
        let state = rebuilt(&records, &lines).map_err(fail)?;
        Ok((Self { id: id.clone(), log, lines }, state))
    }

    /// Adds what a call did.
    pub fn append(&mut self, effects: &[Effect]) -> Result<(), SessionFileError> {
        self.write(effects)
            .map_err(|source| SessionFileError::Store { id: self.id.clone(), source })
    }

    fn write(&mut self, effects: &[Effect]) -> Result<(), StoreError> {
        if effects.is_empty() {
            return Ok(());
        }
        for effect in effects {
            if let Effect::Seen { digest, lines, .. } = effect {
                self.lines.put(*digest, lines)?;
            }
        }
        let records: Vec<Record> = effects.iter().map(Record::of).collect();
        let record = serde_json::json!({"v": 1, "effects": records});
        self.log.append(&record)
    }
}

/// Waits until no other process holds the session.
fn hold(
    id: &SessionId,
    mut open: impl FnMut() -> Result<Log, StoreError>,
) -> Result<Log, SessionFileError> {
    let (pause, n_tries) = PATIENCE;
    for _ in 0..n_tries {
        match open() {
            Ok(log) => return Ok(log),
            Err(StoreError::Busy(_)) => thread::sleep(pause),
            Err(source) => return Err(SessionFileError::Store { id: id.clone(), source }),
        }
    }
    Err(SessionFileError::Busy(id.clone()))
}

/// An effect as the log keeps it: digests of lines lie elsewhere.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    Seen { root: String, path: String, digest: String, whole: Vec<u32>, clipped: Vec<u32> },
    Committed { id: String, files: Vec<ChangeRecord> },
}

#[derive(Debug, Serialize, Deserialize)]
struct ChangeRecord {
    root: String,
    path: String,
    before: Option<String>,
    after: Option<String>,
}

impl Record {
    fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Seen { place, digest, lines: _, shown } => Self::Seen {
                root: place.root.as_str().to_owned(),
                path: place.path.as_str().to_owned(),
                digest: digest.to_hex(),
                whole: shown.whole.iter().map(|line| line.get()).collect(),
                clipped: shown.clipped.iter().map(|line| line.get()).collect(),
            },
            Effect::Committed { id, files } => Self::Committed {
                id: id.to_string(),
                files: files.iter().map(ChangeRecord::of).collect(),
            },
        }
    }

    /// Returns the effect; nothing for a record that was damaged or whose digests were purged.
    fn effect(self, lines: &mut LineCache<'_>) -> Result<Option<Effect>, StoreError> {
        match self {
            Self::Seen { root, path, digest, whole, clipped } => {
                let (Some(place), Some(digest)) =
                    (place(&root, &path), Digest::from_hex(&digest))
                else {
                    return Ok(None);
                };
                let Some(lines) = lines.get(digest)? else { return Ok(None) };
                let numbers = |list: Vec<u32>| {
                    list.into_iter().filter_map(|n| LineNo::new(u64::from(n))).collect()
                };
                let shown = Shown { whole: numbers(whole), clipped: numbers(clipped) };
                Ok(Some(Effect::Seen { place, digest, lines, shown }))
            }
            Self::Committed { id, files } => Ok(Some(Effect::Committed {
                id: TransactionId(Arc::from(id)),
                files: files.into_iter().filter_map(ChangeRecord::change).collect(),
            })),
        }
    }
}

impl ChangeRecord {
    fn of(change: &FileChange) -> Self {
        Self {
            root: change.place.root.as_str().to_owned(),
            path: change.place.path.as_str().to_owned(),
            before: change.before.map(Digest::to_hex),
            after: change.after.map(Digest::to_hex),
        }
    }

    fn change(self) -> Option<FileChange> {
        let digest = |text: Option<String>| text.as_deref().and_then(Digest::from_hex);
        let place = place(&self.root, &self.path)?;
        Some(FileChange { place, before: digest(self.before), after: digest(self.after) })
    }
}

fn place(root: &str, path: &str) -> Option<Place> {
    let root = if root.is_empty() { RootName::workspace() } else { RootName::absolute(root) };
    Some(Place { root, path: RelPath::parse(path).ok()? })
}

/// Line digests that have been fetched from the store.
struct LineCache<'a> {
    store: &'a Lines,
    found: HashMap<Digest, Option<Arc<[LineDigest]>>>,
}

impl LineCache<'_> {
    fn get(&mut self, digest: Digest) -> Result<Option<Arc<[LineDigest]>>, StoreError> {
        if let Some(found) = self.found.get(&digest) {
            return Ok(found.clone());
        }
        let lines = self.store.get(digest)?.map(Arc::from);
        self.found.insert(digest, lines.clone());
        Ok(lines)
    }
}

fn rebuilt(records: &[Value], lines: &Lines) -> Result<ReadState, StoreError> {
    let effects: Vec<Record> = records
        .iter()
        .filter_map(|record| record.get("effects"))
        .filter_map(|effects| Vec::<Record>::deserialize(effects).ok())
        .flatten()
        .collect();
    let kept = still_remembered(&effects);
    let mut cache = LineCache { store: lines, found: HashMap::new() };
    let mut state = ReadState::default();
    for record in effects {
        if let Record::Seen { root, path, digest, .. } = &record
            && !kept.contains(&(root.clone(), path.clone(), digest.clone()))
        {
            continue;
        }
        if let Some(effect) = record.effect(&mut cache)? {
            state.fold(&effect);
        }
    }
    Ok(state)
}

/// Returns which contents of which files the memory will still hold at the end, so that the digests of
/// all others need not be fetched.
fn still_remembered(effects: &[Record]) -> HashSet<(String, String, String)> {
    let mut counts: HashMap<(&str, &str), HashSet<&str>> = HashMap::new();
    let mut kept = HashSet::new();
    for record in effects.iter().rev() {
        if let Record::Seen { root, path, digest, .. } = record {
            let of_file = counts.entry((root, path)).or_default();
            if of_file.len() < VERSIONS_A_FILE || of_file.contains(digest.as_str()) {
                of_file.insert(digest);
                kept.insert((root.clone(), path.clone(), digest.clone()));
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::text::Snapshot;
    use std::path::Path;

    fn seen(path: &str, text: &str) -> Effect {
        let snapshot = Snapshot::new(text.as_bytes()).unwrap();
        Effect::Seen {
            place: place("", path).unwrap(),
            digest: snapshot.digest(),
            lines: Arc::clone(snapshot.line_digests()),
            shown: Shown { whole: vec![LineNo::FIRST], clipped: vec![] },
        }
    }

    #[test]
    fn the_memory_is_rebuilt_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("s")).unwrap();
        let workspace = store.workspace(Path::new("/w"));
        let id = SessionId::new("one").unwrap();
        let mut told = ReadState::default();
        for round in 0..3 {
            let (mut file, state) = SessionFile::open(&workspace, &id).unwrap();
            assert_eq!(state, told);
            for n in 0..6 {
                let effects = [seen("a", &format!("{round} {n}\n")), seen("b", "same\n")];
                for effect in &effects {
                    told.fold(effect);
                }
                file.append(&effects).unwrap();
            }
        }
        let (_file, state) = SessionFile::open(&workspace, &id).unwrap();
        assert_eq!(state, told);
    }
}
