//! The line digests of contents that sessions have read, once a content.
//!
//! A file is 16 bytes a line and then the BLAKE3 of those bytes; anything else is damage.

use crate::text::{Digest, LineDigest};

use super::{Store, StoreError, blobs};

const LINE_BYTES: usize = 16;
const SUM_BYTES: usize = 32;
const LINES_LIMIT_BYTES: u64 = 256 << 20;

/// The line digests of a state folder.
#[derive(Clone, Debug)]
pub struct Lines {
    store: Store,
}

impl Lines {
    /// Returns the line digests kept in `store`.
    pub fn new(store: &Store) -> Self {
        Self { store: store.clone() }
    }

    /// Keeps the line digests of the content whose digest is `content`.
    pub fn put(&self, content: Digest, lines: &[LineDigest]) -> Result<(), StoreError> {
        let mut bytes = Vec::with_capacity(lines.len() * LINE_BYTES + SUM_BYTES);
        bytes.extend(lines.iter().flat_map(|line| line.to_bytes()));
        let sum = Digest::of(&bytes);
        bytes.extend_from_slice(sum.as_bytes());
        blobs::put(&self.store, "lines", content, &bytes)
    }

    /// Returns the line digests of a content; nothing where they are not kept (any more).
    ///
    /// Errors: `Damaged` where length or sum is wrong.
    pub fn get(&self, content: Digest) -> Result<Option<Vec<LineDigest>>, StoreError> {
        let Some((folder, name)) = blobs::shard(&self.store, "lines", content)? else {
            return Ok(None);
        };
        let Some(bytes) = folder.read(&name, LINES_LIMIT_BYTES)? else { return Ok(None) };
        parse(&bytes).map(Some).ok_or_else(|| StoreError::Damaged(folder.path().join(name)))
    }
}

fn parse(bytes: &[u8]) -> Option<Vec<LineDigest>> {
    let (entries, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM_BYTES)?)?;
    let (rows, rest) = entries.as_chunks::<LINE_BYTES>();
    (rest.is_empty() && Digest::of(entries).as_bytes() == sum)
        .then(|| rows.iter().copied().map(LineDigest::from_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_digests_read_back_and_damage_is_seen() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("state")).unwrap();
        let lines = Lines::new(&store);
        let content = Digest::of(b"a\nb\n");
        let digests = [LineDigest::of(b"a"), LineDigest::of(b"b")];
        assert_eq!(lines.get(content).unwrap(), None);
        lines.put(content, &digests).unwrap();
        assert_eq!(lines.get(content).unwrap().as_deref(), Some(&digests[..]));
        lines.put(Digest::of(b""), &[]).unwrap();
        assert_eq!(lines.get(Digest::of(b"")).unwrap(), Some(Vec::new()));
        let (folder, name) = blobs::shard(&store, "lines", content).unwrap().unwrap();
        let bytes = folder.read(&name, 1000).unwrap().unwrap();
        folder.write(&name, &bytes[..bytes.len() - LINE_BYTES]).unwrap();
        assert!(matches!(lines.get(content).unwrap_err(), StoreError::Damaged(_)));
    }
}
