//! An append-only file of JSON records, one a line, with one writer at a time.
//!
//! A last line without its newline is what a stopped process left: readers pass over it and the next append
//! cuts it off. A bad line elsewhere is damage and is refused, never skipped.

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use rustix::fs::FlockOperation;
use rustix::io::Errno;
use serde_json::Value;

use super::{Folder, StoreError};

/// The most bytes of a log that is read whole.
const LOG_LIMIT_BYTES: u64 = 1 << 30;

/// A log held for writing; dropping it lets the next writer in.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    end: u64,
}

impl Log {
    /// Opens a log for writing, making it where it is missing.
    ///
    /// Errors: `Busy` while another handle holds it.
    pub fn open(folder: &Folder, name: &str) -> Result<Self, StoreError> {
        let path = folder.path().join(name);
        let mut file = folder.open_append(name)?;
        match rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(StoreError::Busy(path)),
            Err(error) => return Err(StoreError::io("lock", &path)(error)),
        }
        let end = whole_bytes(&mut file).map_err(StoreError::io("read", &path))?;
        Ok(Self { file, path, end })
    }

    /// Adds one record in one write.
    ///
    /// Errors: `Io`; what a failed write left is cut off by the next append.
    pub fn append(&mut self, record: &Value) -> Result<(), StoreError> {
        let mut line = record.to_string().into_bytes();
        line.push(b'\n');
        append_at(&mut self.file, self.end, &line)
            .map_err(StoreError::io("append to", &self.path))?;
        self.end += line.len() as u64;
        Ok(())
    }

    /// Makes every record outlast a loss of power.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))
    }

    /// Returns every record, first to last; none where there is no log.
    ///
    /// Errors: `Damaged` where a line that is not the torn last one is no JSON.
    pub fn read(folder: &Folder, name: &str) -> Result<Vec<Value>, StoreError> {
        let bytes = folder.read(name, LOG_LIMIT_BYTES)?.unwrap_or_default();
        bytes
            .split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.ends_with(b"\n"))
            .map(|line| {
                serde_json::from_slice(line)
                    .map_err(|error| StoreError::io("parse", &folder.path().join(name))(error))
            })
            .collect()
    }
}

/// Writes `line` so that it begins at `end`, cutting off a torn line first.
pub(super) fn append_at(file: &mut File, end: u64, line: &[u8]) -> std::io::Result<()> {
    if file.seek(SeekFrom::End(0))? != end {
        file.set_len(end)?;
    }
    file.write_all(line)
}

/// Returns how many bytes the whole lines of a file have.
pub(super) fn whole_bytes(file: &mut File) -> std::io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    Ok(last_newline(file, end)?.map_or(0, |at| at + 1))
}

/// Returns the last line of the first `end` bytes, which end with a newline, without that newline.
pub(super) fn last_line(file: &mut File, end: u64) -> std::io::Result<Option<Vec<u8>>> {
    let Some(stop) = end.checked_sub(1) else { return Ok(None) };
    let start = last_newline(file, stop)?.map_or(0, |at| at + 1);
    file.seek(SeekFrom::Start(start))?;
    let mut line = Vec::new();
    Read::take(file, stop - start).read_to_end(&mut line)?;
    Ok(Some(line))
}

/// Returns where the last newline of the first `end` bytes is, reading backwards a block at a time.
fn last_newline(file: &mut File, end: u64) -> std::io::Result<Option<u64>> {
    const BLOCK: u64 = 4096;
    let mut block = Vec::new();
    let mut stop = end;
    while stop > 0 {
        let start = stop.saturating_sub(BLOCK);
        block.clear();
        file.seek(SeekFrom::Start(start))?;
        Read::take(&mut *file, stop - start).read_to_end(&mut block)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            return Ok(Some(start + at as u64));
        }
        stop = start;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use serde_json::json;

    fn folder() -> (tempfile::TempDir, Folder) {
        let home = tempfile::tempdir().unwrap();
        let folder = Store::open(home.path().join("s")).unwrap().make_folder(&["x"]).unwrap();
        (home, folder)
    }

    #[test]
    fn a_torn_last_line_is_passed_over_and_cut_by_the_next_append() {
        let (_home, folder) = folder();
        assert_eq!(Log::read(&folder, "l").unwrap(), Vec::<Value>::new());
        Log::open(&folder, "l").unwrap().append(&json!({"a": 1})).unwrap();
        folder.open_append("l").unwrap().write_all(b"{\"tor").unwrap();
        assert_eq!(Log::read(&folder, "l").unwrap(), [json!({"a": 1})]);
        let mut log = Log::open(&folder, "l").unwrap();
        log.append(&json!([2])).unwrap();
        log.append(&json!("é\n")).unwrap();
        let all = [json!({"a": 1}), json!([2]), json!("é\n")];
        assert_eq!(Log::read(&folder, "l").unwrap(), all);
    }

    #[test]
    fn a_log_of_one_torn_line_longer_than_a_block_is_empty() {
        let (_home, folder) = folder();
        folder.open_append("l").unwrap().write_all(&[b'x'; 10_000]).unwrap();
        Log::open(&folder, "l").unwrap().append(&json!(1)).unwrap();
        assert_eq!(Log::read(&folder, "l").unwrap(), [json!(1)]);
    }

    #[test]
    fn a_bad_line_that_is_not_the_last_is_refused() {
        let (_home, folder) = folder();
        folder.write("l", b"1\n{bad\n2\n").unwrap();
        assert!(Log::read(&folder, "l").is_err());
    }

    #[test]
    fn a_log_has_one_writer() {
        let (_home, folder) = folder();
        let first = Log::open(&folder, "l").unwrap();
        assert!(matches!(Log::open(&folder, "l").unwrap_err(), StoreError::Busy(_)));
        drop(first);
        assert!(Log::open(&folder, "l").is_ok());
    }
}
