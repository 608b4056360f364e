//! The audit log: one file a day and workspace, each record bound to the one before it.
//!
//! A record's `prev` is the BLAKE3 of the line before it, in the same file or in the newest earlier one, and
//! empty for the first of all; so a line that was changed or taken out breaks the chain. Several processes
//! share one chain: each append holds the folder's lock. What a record says is the caller's business.

use std::fs::File;

use serde_json::{Map, Value};

use crate::text::Digest;

use super::log::{append_at, last_line, whole_bytes};
use super::{Folder, StoreError, WorkspaceStore};

const DAY_LIMIT_BYTES: u64 = 4 << 30;

/// The audit log of one workspace.
#[derive(Clone, Debug)]
pub struct Audit {
    workspace: WorkspaceStore,
}

/// What a check of the chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chain {
    /// Every record follows from the one before it.
    Whole {
        /// How many records there are.
        n_records: usize,
    },
    /// A record does not follow from the one before it.
    Broken {
        /// The file.
        day: String,
        /// The line in it, from 1.
        line: usize,
    },
}

impl Audit {
    /// Returns the audit log of a workspace.
    pub fn new(workspace: &WorkspaceStore) -> Self {
        Self { workspace: workspace.clone() }
    }

    /// Adds a record to the file of the day (UTC) that `now_unix_ms` is in.
    pub fn append(
        &self,
        now_unix_ms: u64,
        record: &Map<String, Value>,
    ) -> Result<(), StoreError> {
        let folder = self.workspace.make_folder(&["audit"])?;
        let name = format!("{}.jsonl", day_of(now_unix_ms));
        let held = folder.hold()?;
        let fail = StoreError::io("append to", &folder.path().join(&name));
        let mut file = folder.open_append(&name)?;
        let end = whole_bytes(&mut file).map_err(&fail)?;
        let prev = match last_line(&mut file, end).map_err(&fail)? {
            Some(line) => Digest::of(&line).to_hex(),
            None => last_before(&folder, &name)?,
        };
        append_at(&mut file, end, &render(prev, record)).map_err(&fail)?;
        drop(held);
        Ok(())
    }

    /// Checks the chain over all days; a purge of the oldest days leaves what follows whole.
    pub fn check(&self) -> Result<Chain, StoreError> {
        let Some(folder) = self.workspace.folder(&["audit"])? else {
            return Ok(Chain::Whole { n_records: 0 });
        };
        let mut n_records = 0;
        let mut before: Option<String> = None;
        for name in days(&folder)? {
            let bytes = folder.read(&name, DAY_LIMIT_BYTES)?.unwrap_or_default();
            let lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate();
            for (index, line) in lines {
                let Some(line) = line.strip_suffix(b"\n") else { continue };
                let prev = prev_of(line);
                if prev.is_none() || before.is_some() && prev != before {
                    return Ok(Chain::Broken { day: name, line: index + 1 });
                }
                before = Some(Digest::of(line).to_hex());
                n_records += 1;
            }
        }
        Ok(Chain::Whole { n_records })
    }
}

fn render(prev: String, record: &Map<String, Value>) -> Vec<u8> {
    let mut chained = Map::with_capacity(record.len() + 1);
    chained.insert("prev".to_owned(), Value::String(prev));
    chained.extend(record.iter().map(|(key, value)| (key.clone(), value.clone())));
    let mut line = Value::Object(chained).to_string().into_bytes();
    line.push(b'\n');
    line
}

fn prev_of(line: &[u8]) -> Option<String> {
    let record: Value = serde_json::from_slice(line).ok()?;
    record.get("prev")?.as_str().map(str::to_owned)
}

/// Returns the digest of the last line before the file `name`, or the empty text.
fn last_before(folder: &Folder, name: &str) -> Result<String, StoreError> {
    for day in days(folder)?.iter().rev().filter(|day| day.as_str() < name) {
        let fail = StoreError::io("read", &folder.path().join(day));
        let mut file: File = folder.open_append(day)?;
        let end = whole_bytes(&mut file).map_err(&fail)?;
        if let Some(line) = last_line(&mut file, end).map_err(&fail)? {
            return Ok(Digest::of(&line).to_hex());
        }
    }
    Ok(String::new())
}

fn days(folder: &Folder) -> Result<Vec<String>, StoreError> {
    let mut names = folder.names()?;
    names.retain(|name| name.strip_suffix(".jsonl").is_some());
    Ok(names)
}

/// Returns the day of a time, as `2026-11-30`.
fn day_of(unix_ms: u64) -> String {
    i64::try_from(unix_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(
            || "9999-12-31".to_owned(),
            |time| jiff::tz::TimeZone::UTC.to_datetime(time).date().to_string(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use std::path::Path;

    const DAY_MS: u64 = 86_400_000;

    fn audit() -> (tempfile::TempDir, Audit) {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("s")).unwrap();
        (home, Audit::new(&store.workspace(Path::new("/w"))))
    }

    fn record(n: u64) -> Map<String, Value> {
        Map::from_iter([("n".to_owned(), Value::from(n))])
    }

    #[test]
    fn several_writers_share_one_chain() {
        let (_home, audit) = audit();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let audit = audit.clone();
                scope.spawn(move || {
                    for n in 0..25 {
                        audit.append(n % 3 * DAY_MS, &record(thread * 100 + n)).unwrap();
                    }
                });
            }
        });
        let folder = audit.workspace.folder(&["audit"]).unwrap().unwrap();
        let count: usize = days(&folder)
            .unwrap()
            .iter()
            .map(|day| folder.read(day, 1 << 20).unwrap().unwrap())
            .map(|bytes| bytes.split(|&byte| byte == b'\n').count() - 1)
            .sum();
        assert_eq!(count, 100);
    }

    #[test]
    fn the_chain_runs_over_days_and_over_a_torn_line_and_shows_a_change() {
        use std::io::Write as _;
        let (_home, audit) = audit();
        audit.append(0, &record(1)).unwrap();
        audit.append(1, &record(2)).unwrap();
        let folder = audit.workspace.folder(&["audit"]).unwrap().unwrap();
        folder.open_append("1970-01-01.jsonl").unwrap().write_all(b"{\"prev").unwrap();
        audit.append(DAY_MS, &record(3)).unwrap();
        audit.append(DAY_MS, &record(4)).unwrap();
        assert_eq!(audit.check().unwrap(), Chain::Whole { n_records: 4 });
        let bytes = folder.read("1970-01-01.jsonl", 1 << 20).unwrap().unwrap();
        let text = String::from_utf8(bytes).unwrap().replace("\"n\":2", "\"n\":7");
        folder.write("1970-01-01.jsonl", text.as_bytes()).unwrap();
        let broken = Chain::Broken { day: "1970-01-02.jsonl".to_owned(), line: 1 };
        assert_eq!(audit.check().unwrap(), broken);
    }
}
