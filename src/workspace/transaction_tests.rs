//! Transactions on real files: what they change, what they refuse, and how they are taken back.

use super::disk::RealDisk;
use super::*;
use crate::path::{Place, RelPath, RootName};
use crate::store::{Store, WorkspaceStore};
use crate::text::Digest;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Bench {
    pub(super) _home: tempfile::TempDir,
    pub(super) files: PathBuf,
    pub(super) root: Arc<Root>,
    pub(super) store: WorkspaceStore,
}

/// Returns a folder in memory where the machine has one: thousands of synced commits are made here.
pub(super) fn home() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Bench {
    pub(super) fn new() -> Self {
        let home = home();
        let files = home.path().join("files");
        fs::create_dir(&files).unwrap();
        let root = Arc::new(Root::open(RootName::workspace(), &files, Access::Write).unwrap());
        let store = Store::open(home.path().join("state")).unwrap().workspace(root.path());
        Self { _home: home, files, root, store }
    }

    pub(super) fn context<'a>(&'a self, disk: &'a dyn Disk) -> Context<'a> {
        Context { store: &self.store, disk, patience: &Forever, now_unix_ms: 1000 }
    }

    pub(super) fn change(
        &self,
        path: &str,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Change {
        Change {
            root: self.root.clone(),
            path: RelPath::parse(path).unwrap(),
            expected: before.map_or(Expected::Absent, |text| {
                Expected::Content(Digest::of(text.as_bytes()))
            }),
            after: after.map(|text| text.as_bytes().to_vec()),
            parents: Parents::Make,
        }
    }

    pub(super) fn commit(&self, changes: Vec<Change>) -> Result<Committed, CommitError> {
        Transaction::new(origin("write"), changes).commit(&self.context(&RealDisk))
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.files.join(path), text).unwrap();
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.files.join(path)).ok()
    }

    fn undo(&self, count: usize) -> Result<Committed, CommitError> {
        let roots = [self.root.clone()];
        inverse(&self.store, Whose::Session("s"), count, &roots, origin("undo"))
            .unwrap()
            .commit(&self.context(&RealDisk))
    }

    /// Returns every name below the files, sorted.
    fn names(&self) -> Vec<String> {
        names(&self.files)
    }
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

pub(super) fn origin(label: &str) -> Origin {
    Origin { session: "s".to_owned(), label: label.to_owned() }
}

fn kinds(error: CommitError) -> Vec<(String, ProblemKind)> {
    match error {
        CommitError::Refused(problems) => {
            problems.into_iter().map(|p| (p.place.to_string(), p.kind)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn new_replaced_and_deleted_files_take_effect_together() {
    let bench = Bench::new();
    bench.put("b", "old");
    bench.put("c", "gone");
    let committed = bench
        .commit(vec![
            bench.change("x/y/a", None, Some("new")),
            bench.change("b", Some("old"), Some("newer")),
            bench.change("c", Some("gone"), None),
        ])
        .unwrap();
    assert_eq!(bench.names(), ["b", "x", "x/y", "x/y/a"]);
    assert_eq!(bench.text("x/y/a").as_deref(), Some("new"));
    assert_eq!(bench.text("b").as_deref(), Some("newer"));
    let made: Vec<_> = committed.made.iter().map(Place::to_string).collect();
    assert_eq!(made, ["x", "x/y"]);
    assert_eq!(committed.files[2].before, Some(Digest::of(b"gone")));
    assert_eq!(committed.files[2].after, None);
}

#[test]
fn an_undo_gives_every_file_back_and_an_undo_of_it_is_a_redo() {
    let bench = Bench::new();
    bench.put("b", "old");
    bench.put("c", "gone");
    fs::set_permissions(bench.files.join("c"), fs::Permissions::from_mode(0o751)).unwrap();
    bench
        .commit(vec![
            bench.change("x/y/a", None, Some("new")),
            bench.change("b", Some("old"), Some("newer")),
            bench.change("c", Some("gone"), None),
        ])
        .unwrap();
    bench.undo(1).unwrap();
    assert_eq!(bench.names(), ["b", "c"]);
    assert_eq!(bench.text("b").as_deref(), Some("old"));
    let mode = fs::metadata(bench.files.join("c")).unwrap().mode() & 0o7777;
    assert_eq!(mode, 0o751);
    bench.undo(1).unwrap();
    assert_eq!(bench.names(), ["b", "x", "x/y", "x/y/a"]);
    let labels: Vec<_> = history(&bench.store, Whose::Everyone, 9)
        .unwrap()
        .into_iter()
        .map(|done| (done.label, done.undoes.len()))
        .collect();
    let expected = [("undo", 1), ("undo", 1), ("write", 0)];
    assert_eq!(labels, expected.map(|(label, n)| (label.to_owned(), n)));
}
