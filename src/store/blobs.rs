//! Contents by digest: written once, verified on every read, bounded in all.
//!
//! A blob says nothing of the file that it came from. Putting one that is there makes it the newest again.

use std::collections::HashSet;
use std::os::fd::BorrowedFd;

use crate::text::Digest;

use super::{Folder, Store, StoreError};

/// The most bytes of one blob.
const BLOB_LIMIT_BYTES: u64 = 1 << 30;

/// The contents of a state folder.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Store,
}

impl Blobs {
    /// Returns the contents kept in `store`.
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone() }
    }

    /// Keeps `bytes`, whose digest is `digest`; they outlast a loss of power when this returns.
    pub fn put(&self, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        let (shard, rest) = names(digest);
        let shards = self.store.make_folder(&["blobs"])?;
        let folder = shards.make_child(&shard)?;
        // The shard may have been made for a content that was adopted, and not be on the device yet.
        shards.sync()?;
        if is_whole(&folder, &rest, digest)? {
            // So may the content.
            folder.sync_file(&rest)?;
            return folder.touch(&rest);
        }
        folder.write(&rest, bytes)
    }

    /// Takes the file `name` in `dir`, whose content has the digest `digest`, as that content.
    ///
    /// The file is renamed into the store where both are on one device, else copied; it is gone from `dir`.
    /// Nothing waits for the device: a loss of power may lose what is kept, never what stands elsewhere.
    pub fn adopt(
        &self,
        digest: Digest,
        dir: BorrowedFd<'_>,
        name: &str,
    ) -> Result<(), StoreError> {
        let (shard, rest) = names(digest);
        let folder = self.store.make_folder(&["blobs"])?.make_child_unsynced(&shard)?;
        if is_whole(&folder, &rest, digest)? {
            folder.touch(&rest)?;
            return folder.discard(dir, name);
        }
        folder.take(dir, name, &rest, BLOB_LIMIT_BYTES)
    }

    /// Returns a content; nothing where it is not kept (any more).
    ///
    /// Errors: `Damaged` where the bytes do not have the digest.
    pub fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let (shard, rest) = names(digest);
        let Some(folder) = self.store.folder(&["blobs", &shard])? else { return Ok(None) };
        match folder.read(&rest, BLOB_LIMIT_BYTES)? {
            Some(bytes) if Digest::of(&bytes) == digest => Ok(Some(bytes)),
            Some(_) => Err(StoreError::Damaged(folder.path().join(rest))),
            None => Ok(None),
        }
    }

    /// Returns whether a content is kept, without reading it.
    pub fn has(&self, digest: Digest) -> Result<bool, StoreError> {
        let (shard, rest) = names(digest);
        match self.store.folder(&["blobs", &shard])? {
            Some(folder) => Ok(folder.info(&rest)?.is_some()),
            None => Ok(false),
        }
    }

    /// Removes the oldest contents that are not in `referenced` until at most `cap_bytes` are left.
    ///
    /// Returns how many bytes were removed. Cost: one stat a blob.
    pub fn evict(
        &self,
        cap_bytes: u64,
        referenced: &HashSet<Digest>,
    ) -> Result<u64, StoreError> {
        let mut held = entries(&self.store, "blobs")?;
        let total: u64 = held.iter().map(|entry| entry.bytes).sum();
        let mut excess = total.saturating_sub(cap_bytes);
        held.retain(|entry| !referenced.contains(&entry.digest));
        held.sort_unstable_by_key(|entry| entry.modified_unix_ms);
        let before = excess;
        for entry in held {
            if excess == 0 {
                break;
            }
            remove(&self.store, "blobs", entry.digest)?;
            excess = excess.saturating_sub(entry.bytes);
        }
        Ok(before - excess)
    }
}

/// Returns whether a content is kept and is what its name says: whoever had an adopted file open may still
/// have written to it, and what is relied on instead of the bytes at hand must be those bytes.
fn is_whole(folder: &Folder, name: &str, digest: Digest) -> Result<bool, StoreError> {
    match folder.read(name, BLOB_LIMIT_BYTES) {
        Ok(kept) => Ok(kept.is_some_and(|bytes| Digest::of(&bytes) == digest)),
        Err(StoreError::TooLarge { .. } | StoreError::NotRegular(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// One kept content.
pub(super) struct Entry {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) modified_unix_ms: u64,
}

/// Returns the shard and the name within it.
fn names(digest: Digest) -> (String, String) {
    let mut shard = digest.to_hex();
    let rest = shard.split_off(2);
    (shard, rest)
}

/// Keeps a file under a digest in the part `part`.
pub(super) fn put(
    store: &Store,
    part: &str,
    digest: Digest,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let (shard, rest) = names(digest);
    let folder = store.make_folder(&[part, &shard])?;
    match folder.info(&rest)? {
        Some(info) if info.bytes == bytes.len() as u64 => folder.touch(&rest),
        Some(_) | None => folder.write(&rest, bytes),
    }
}

/// Removes what is kept under a digest in the part `part`.
pub(super) fn remove(store: &Store, part: &str, digest: Digest) -> Result<(), StoreError> {
    let (shard, rest) = names(digest);
    store.folder(&[part, &shard])?.map_or(Ok(()), |folder| folder.remove(&rest))
}

/// Opens what is kept under a digest in the part `part`.
pub(super) fn shard(
    store: &Store,
    part: &str,
    digest: Digest,
) -> Result<Option<(Folder, String)>, StoreError> {
    let (shard, rest) = names(digest);
    Ok(store.folder(&[part, &shard])?.map(|folder| (folder, rest)))
}

/// Lists everything in the part `part`; what is no digest's file is left out.
pub(super) fn entries(store: &Store, part: &str) -> Result<Vec<Entry>, StoreError> {
    let Some(top) = store.folder(&[part])? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for shard in top.names()? {
        let Some(folder) = top.child(&shard)? else { continue };
        for name in folder.names()? {
            let Some(digest) = Digest::from_hex(&format!("{shard}{name}")) else { continue };
            if let Some(info) = folder.info(&name)? {
                found.push(Entry {
                    digest,
                    bytes: info.bytes,
                    modified_unix_ms: info.modified_unix_ms,
                });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test damages a real file")]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;

    fn blobs() -> (tempfile::TempDir, Blobs) {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("state")).unwrap();
        (home, Blobs::new(&store))
    }

    #[test]
    fn a_blob_reads_back_and_a_damaged_one_is_refused() {
        let (home, blobs) = blobs();
        let digest = Digest::of(b"abc");
        assert_eq!(blobs.get(digest).unwrap(), None);
        blobs.put(digest, b"abc").unwrap();
        blobs.put(digest, b"abc").unwrap();
        assert_eq!(blobs.get(digest).unwrap().as_deref(), Some(&b"abc"[..]));
        let (shard, rest) = names(digest);
        std::fs::write(home.path().join("state/blobs").join(shard).join(rest), "abd").unwrap();
        assert!(matches!(blobs.get(digest).unwrap_err(), StoreError::Damaged(_)));
    }

    #[test]
    fn a_file_is_adopted_from_its_own_device_and_from_another_one() {
        let (home, blobs) = blobs();
        let elsewhere = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        for (folder, text) in [(&home, "one"), (&elsewhere.unwrap(), "two")] {
            let digest = Digest::of(text.as_bytes());
            let dir = std::fs::File::open(folder.path()).unwrap();
            for _ in 0..2 {
                std::fs::write(folder.path().join("f"), text).unwrap();
                blobs.adopt(digest, dir.as_fd(), "f").unwrap();
                assert!(!folder.path().join("f").exists());
                let kept = blobs.get(digest).unwrap();
                assert_eq!(kept.as_deref(), Some(text.as_bytes()));
            }
        }
    }

    #[test]
    fn a_damaged_blob_is_replaced_by_the_content_that_comes_again() {
        let (home, blobs) = blobs();
        let digest = Digest::of(b"abc");
        let (shard, rest) = names(digest);
        let damage = || {
            let kept = home.path().join("state/blobs").join(&shard).join(&rest);
            std::fs::write(kept, "abd").unwrap();
        };
        blobs.put(digest, b"abc").unwrap();
        damage();
        blobs.put(digest, b"abc").unwrap();
        assert_eq!(blobs.get(digest).unwrap().as_deref(), Some(&b"abc"[..]));
        damage();
        std::fs::write(home.path().join("f"), "abc").unwrap();
        let dir = std::fs::File::open(home.path()).unwrap();
        blobs.adopt(digest, dir.as_fd(), "f").unwrap();
        assert_eq!(blobs.get(digest).unwrap().as_deref(), Some(&b"abc"[..]));
    }

    #[test]
    fn eviction_takes_the_oldest_and_spares_what_is_referenced() {
        let (_home, blobs) = blobs();
        let put = |text: &str, modified: i64| {
            let digest = Digest::of(text.as_bytes());
            blobs.put(digest, text.as_bytes()).unwrap();
            let (folder, name) = shard(&blobs.store, "blobs", digest).unwrap().unwrap();
            let time = rustix::fs::Timespec { tv_sec: modified, tv_nsec: 0 };
            let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
            rustix::fs::utimensat(folder.fd(), &*name, &times, rustix::fs::AtFlags::empty())
                .unwrap();
            digest
        };
        let kept = put("referenced", 1);
        let oldest = put("0123456789", 2);
        let newest = put("abcdefghij", 3);
        assert_eq!(blobs.evict(20, &HashSet::from([kept])).unwrap(), 10);
        let has = [kept, oldest, newest].map(|digest| blobs.has(digest).unwrap());
        assert_eq!(has, [true, false, true]);
    }
}
