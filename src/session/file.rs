//! A named session's memory on disk: the effects of every call, a record a line, one writer at a time.
//!
//! The memory is rebuilt by folding the records again. Line digests lie once per content in the store; a
//! content whose digests were purged is forgotten, which only means that the file must be read again.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory::SessionId;
use super::read_state::ReadState;
use crate::hashline::seen::KEPT_CONTENTS;
use crate::path::{Place, RelPath, RootName};
use crate::protocol::{
    Effect, FileChange, HeldFile, HeldPatch, MovedLines, SeenFile, SeenReach, TransactionId,
};
use crate::store::{Blobs, Lines, Log, StoreError, WorkspaceStore};
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
    blobs: Blobs,
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
        let blobs = Blobs::new(workspace.store());
        let state = rebuilt(&records, &lines, &blobs).map_err(fail)?;
        Ok((Self { id: id.clone(), log, lines, blobs }, state))
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
            match effect {
                Effect::Seen(seen) => self.lines.put(seen.digest, &seen.lines)?,
                Effect::Moved(moved) => {
                    self.lines.put(moved.before.0, &moved.before.1)?;
                    self.lines.put(moved.after.0, &moved.after.1)?;
                }
                Effect::Held(patch) => {
                    for file in &patch.files {
                        self.blobs.put(Digest::of(&file.after), &file.after)?;
                    }
                }
                Effect::Released { .. } | Effect::Committed { .. } => {}
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
    Seen {
        root: String,
        path: String,
        digest: String,
        rows_only: bool,
        whole: Vec<(u32, u32)>,
        clipped: Vec<u32>,
    },
    Moved {
        root: String,
        path: String,
        before: String,
        after: String,
        changes: Vec<(Range<usize>, Range<usize>)>,
    },
    Held {
        id: String,
        files: Vec<HeldRecord>,
    },
    Released {
        id: String,
    },
    Committed {
        id: String,
        files: Vec<ChangeRecord>,
    },
}

/// A file of a patch that was held back; its content lies in the store.
#[derive(Debug, Serialize, Deserialize)]
struct HeldRecord {
    root: String,
    path: String,
    base: String,
    after: String,
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
            Effect::Seen(seen) => Self::Seen {
                root: seen.place.root.as_str().to_owned(),
                path: seen.place.path.as_str().to_owned(),
                digest: seen.digest.to_hex(),
                rows_only: seen.reach == SeenReach::Rows,
                whole: seen.whole.iter().map(|(a, b)| (a.get(), b.get())).collect(),
                clipped: seen.clipped.iter().map(|line| line.get()).collect(),
            },
            Effect::Moved(moved) => Self::Moved {
                root: moved.place.root.as_str().to_owned(),
                path: moved.place.path.as_str().to_owned(),
                before: moved.before.0.to_hex(),
                after: moved.after.0.to_hex(),
                changes: moved.changes.clone(),
            },
            Effect::Held(patch) => Self::Held {
                id: patch.id.clone(),
                files: patch.files.iter().map(HeldRecord::of).collect(),
            },
            Effect::Released { id } => Self::Released { id: id.clone() },
            Effect::Committed { id, files } => Self::Committed {
                id: id.to_string(),
                files: files.iter().map(ChangeRecord::of).collect(),
            },
        }
    }

    /// Returns the file and the contents that the record is about.
    fn contents(&self) -> Option<(FileKey, Vec<&str>)> {
        match self {
            Self::Seen { root, path, digest, .. } => {
                Some(((root.clone(), path.clone()), vec![digest]))
            }
            Self::Moved { root, path, before, after, .. } => {
                Some(((root.clone(), path.clone()), vec![before, after]))
            }
            Self::Held { .. } | Self::Released { .. } | Self::Committed { .. } => None,
        }
    }

    /// Returns the effect; nothing for a record that was damaged or whose digests were purged.
    fn effect(self, lines: &mut LineCache<'_>) -> Result<Option<Effect>, StoreError> {
        match self {
            Self::Seen { root, path, digest, rows_only, whole, clipped } => {
                let (Some(place), Some((digest, lines))) =
                    (place(&root, &path), lines.content(&digest)?)
                else {
                    return Ok(None);
                };
                let line = |n: u32| LineNo::new(u64::from(n));
                Ok(Some(Effect::Seen(SeenFile {
                    place,
                    digest,
                    lines,
                    reach: if rows_only { SeenReach::Rows } else { SeenReach::File },
                    whole: whole
                        .into_iter()
                        .filter_map(|(a, b)| line(a).zip(line(b)))
                        .collect(),
                    clipped: clipped.into_iter().filter_map(line).collect(),
                })))
            }
            Self::Moved { root, path, before, after, changes } => {
                let (Some(place), Some(before), Some(after)) =
                    (place(&root, &path), lines.content(&before)?, lines.content(&after)?)
                else {
                    return Ok(None);
                };
                Ok(Some(Effect::Moved(MovedLines { place, before, after, changes })))
            }
            Self::Held { id, files } => {
                let held: Option<Vec<HeldFile>> = files
                    .into_iter()
                    .map(|file| file.held(lines.blobs))
                    .collect::<Result<_, StoreError>>()?;
                Ok(held.map(|files| Effect::Held(HeldPatch { id, files })))
            }
            Self::Released { id } => Ok(Some(Effect::Released { id })),
            Self::Committed { id, files } => Ok(Some(Effect::Committed {
                id: TransactionId(Arc::from(id)),
                files: files.into_iter().filter_map(ChangeRecord::change).collect(),
            })),
        }
    }
}

impl HeldRecord {
    fn of(file: &HeldFile) -> Self {
        Self {
            root: file.place.root.as_str().to_owned(),
            path: file.place.path.as_str().to_owned(),
            base: file.base.to_hex(),
            after: Digest::of(&file.after).to_hex(),
        }
    }

    /// Returns the file; nothing where its content was purged.
    fn held(self, blobs: &Blobs) -> Result<Option<HeldFile>, StoreError> {
        let digests = Digest::from_hex(&self.base).zip(Digest::from_hex(&self.after));
        let (Some(place), Some((base, after))) = (place(&self.root, &self.path), digests)
        else {
            return Ok(None);
        };
        let bytes = blobs.get(after)?;
        Ok(bytes.map(|bytes| HeldFile { place, base, after: Arc::from(bytes) }))
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

/// Names a file in the log: its root's name and its path.
type FileKey = (String, String);

/// A content and the digests of its lines.
type Content = (Digest, Arc<[LineDigest]>);

/// Line digests that have been fetched from the store.
struct LineCache<'a> {
    store: &'a Lines,
    blobs: &'a Blobs,
    found: HashMap<Digest, Option<Arc<[LineDigest]>>>,
}

impl LineCache<'_> {
    fn content(&mut self, hex: &str) -> Result<Option<Content>, StoreError> {
        let Some(digest) = Digest::from_hex(hex) else { return Ok(None) };
        if let Some(found) = self.found.get(&digest) {
            return Ok(found.clone().map(|lines| (digest, lines)));
        }
        let lines: Option<Arc<[LineDigest]>> = self.store.get(digest)?.map(Arc::from);
        self.found.insert(digest, lines.clone());
        Ok(lines.map(|lines| (digest, lines)))
    }
}

fn rebuilt(records: &[Value], lines: &Lines, blobs: &Blobs) -> Result<ReadState, StoreError> {
    let effects: Vec<Record> = records
        .iter()
        .filter_map(|record| record.get("effects"))
        .filter_map(|effects| Vec::<Record>::deserialize(effects).ok())
        .flatten()
        .collect();
    let first_kept = first_kept(&effects);
    let mut cache = LineCache { store: lines, blobs, found: HashMap::new() };
    let mut state = ReadState::default();
    for (at, record) in effects.into_iter().enumerate() {
        let file = record.contents().map(|(file, _)| file);
        if file.and_then(|file| first_kept.get(&file).copied()).is_some_and(|first| at < first)
        {
            continue;
        }
        if let Some(effect) = record.effect(&mut cache)? {
            state.fold(&effect);
        }
    }
    Ok(state)
}

/// Returns for each file the first record from which on its memory is rebuilt; what lies before was
/// forgotten since, so its digests need not be fetched.
fn first_kept(effects: &[Record]) -> HashMap<FileKey, usize> {
    let mut counts: HashMap<FileKey, HashSet<&str>> = HashMap::new();
    let mut first = HashMap::new();
    for (at, record) in effects.iter().enumerate().rev() {
        let Some((file, contents)) = record.contents() else { continue };
        let of_file = counts.entry(file.clone()).or_default();
        if of_file.len() <= KEPT_CONTENTS {
            of_file.extend(contents);
            first.insert(file, at);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::text::Snapshot;
    use std::path::Path;

    fn seen(path: &str, text: &str) -> Effect {
        let snapshot = Snapshot::new(text.as_bytes()).unwrap();
        Effect::Seen(SeenFile {
            place: place("", path).unwrap(),
            digest: snapshot.digest(),
            lines: Arc::clone(snapshot.line_digests()),
            reach: SeenReach::File,
            whole: vec![(LineNo::FIRST, LineNo::FIRST)],
            clipped: vec![],
        })
    }

    fn moved(path: &str, before: &str, after: &str) -> Effect {
        let content = |text: &str| {
            let snapshot = Snapshot::new(text.as_bytes()).unwrap();
            (snapshot.digest(), Arc::clone(snapshot.line_digests()))
        };
        Effect::Moved(MovedLines {
            place: place("", path).unwrap(),
            before: content(before),
            after: content(after),
            changes: vec![(0..1, 0..2)],
        })
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
                let (old, new) = (format!("{round} {n}\n"), format!("{round}\n{n}\n"));
                let effects = [
                    seen("a", &old),
                    moved("a", &old, &new),
                    seen("a", &new),
                    seen("b", "same\n"),
                ];
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
