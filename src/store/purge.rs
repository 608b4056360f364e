//! Removing what is older than the user wants to keep.
//!
//! Trust is never purged, and neither is a transaction that is not finished, nor a content that it needs:
//! a content is touched whenever it is put, so it is never older than a record that names it.

use super::{Folder, Store, StoreError};

const DAY_MS: u64 = 86_400_000;

/// How much a purge removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Sessions, with their logs.
    pub n_sessions: usize,
    /// Finished transactions that can no longer be undone.
    pub n_transactions: usize,
    /// Days of audit logs.
    pub n_audit_days: usize,
    /// Sessions' spill folders.
    pub n_spills: usize,
    /// Contents and line digests.
    pub n_contents: usize,
}

/// Removes everything that was last changed more than `keep_days` before `now_unix_ms`.
pub fn purge(store: &Store, now_unix_ms: u64, keep_days: u32) -> Result<Purged, StoreError> {
    let limit = now_unix_ms.saturating_sub(u64::from(keep_days) * DAY_MS);
    let mut purged = Purged::default();
    if let Some(workspaces) = store.folder(&["workspaces"])? {
        for key in workspaces.names()? {
            let Some(workspace) = workspaces.child(&key)? else { continue };
            purged.n_sessions += purge_in(&workspace, "sessions", limit)?;
            purged.n_transactions += purge_in(&workspace, "journal", limit)?;
            purged.n_audit_days += purge_in(&workspace, "audit", limit)?;
        }
    }
    if let Some(top) = store.folder(&[])? {
        purged.n_spills = purge_in(&top, "spill", limit)?;
    }
    // A pending transaction's contents stay whatever their age.
    let pending =
        store.folder(&["pending"])?.map_or(Ok(Vec::new()), |folder| folder.names())?;
    if pending.is_empty() {
        purged.n_contents = purge_contents(store, limit)?;
    }
    Ok(purged)
}

fn purge_in(parent: &Folder, part: &str, limit_unix_ms: u64) -> Result<usize, StoreError> {
    let Some(folder) = parent.child(part)? else { return Ok(0) };
    let mut n_removed = 0;
    for name in folder.names()? {
        if newest(&folder, &name)? < limit_unix_ms {
            folder.remove_all(&name)?;
            n_removed += 1;
        }
    }
    Ok(n_removed)
}

/// Returns when a file, or anything below a folder, last changed.
fn newest(folder: &Folder, name: &str) -> Result<u64, StoreError> {
    let Some(info) = folder.info(name)? else { return Ok(u64::MAX) };
    if !info.is_folder {
        return Ok(info.modified_unix_ms);
    }
    let Some(child) = folder.child(name)? else { return Ok(u64::MAX) };
    let mut time = info.modified_unix_ms;
    for below in child.names()? {
        time = time.max(newest(&child, &below)?);
    }
    Ok(time)
}

fn purge_contents(store: &Store, limit_unix_ms: u64) -> Result<usize, StoreError> {
    let mut n_removed = 0;
    for part in ["blobs", "lines"] {
        let Some(top) = store.folder(&[part])? else { continue };
        for shard in top.names()? {
            // By name, not by digest: what a stopped write left goes too.
            n_removed += purge_in(&top, &shard, limit_unix_ms)?;
        }
    }
    Ok(n_removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Blobs, Spill};
    use crate::text::Digest;
    use std::path::Path;

    #[test]
    fn what_is_old_goes_and_what_is_new_stays() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("s")).unwrap();
        let workspace = store.workspace(Path::new("/w"));
        let session = workspace.make_session("a").unwrap();
        session.write("log", b"1\n").unwrap();
        workspace.make_folder(&["journal"]).unwrap().write("1.json", b"{}").unwrap();
        Spill::new(&store, "a").write("text").unwrap();
        Blobs::new(&store).put(Digest::of(b"x"), b"x").unwrap();
        let written = session.info("log").unwrap().unwrap().modified_unix_ms;
        assert_eq!(purge(&store, written + DAY_MS, 2).unwrap(), Purged::default());
        let purged = purge(&store, written + 3 * DAY_MS, 2).unwrap();
        let all = Purged {
            n_sessions: 1,
            n_transactions: 1,
            n_audit_days: 0,
            n_spills: 1,
            n_contents: 1,
        };
        assert_eq!(purged, all);
        assert!(workspace.sessions().unwrap().is_empty());
    }
}
