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

#[test]
fn a_refusal_names_every_file_that_is_in_the_way_and_changes_nothing() {
    let bench = Bench::new();
    for file in ["changed", "locked", "fine", "file"] {
        bench.put(file, "old");
    }
    fs::create_dir(bench.files.join("folder")).unwrap();
    symlink("folder", bench.files.join("link")).unwrap();
    symlink("file", bench.files.join("filelink")).unwrap();
    let closed = fs::Permissions::from_mode(0o555);
    fs::set_permissions(bench.files.join("locked"), closed).unwrap();
    let mut orphan = bench.change("no/where/new", None, Some("x"));
    orphan.parents = Parents::MustExist;
    let refused = bench.commit(vec![
        bench.change("fine", Some("old"), Some("new")),
        bench.change("changed", Some("older"), Some("new")),
        bench.change("gone", Some("old"), Some("new")),
        bench.change("gone/too", Some("old"), None),
        bench.change("file", None, Some("new")),
        bench.change("locked", Some("old"), Some("new")),
        bench.change("folder", None, Some("new")),
        bench.change("", None, Some("new")),
        bench.change("link/new", None, Some("new")),
        bench.change("file/new", None, Some("new")),
        bench.change("filelink", Some("old"), Some("new")),
        orphan,
    ]);
    let expected = [
        ("changed", ProblemKind::Conflict),
        ("gone", ProblemKind::Conflict),
        ("gone/too", ProblemKind::Conflict),
        ("file", ProblemKind::Conflict),
        ("locked", ProblemKind::ReadOnly),
        ("folder", ProblemKind::IsDirectory),
        (".", ProblemKind::IsDirectory),
        ("link/new", ProblemKind::ParentNotFolder),
        ("file/new", ProblemKind::ParentNotFolder),
        ("filelink", ProblemKind::NotRegular),
        ("no/where/new", ProblemKind::ParentMissing),
    ];
    let expected: Vec<_> = expected.map(|(p, kind)| (p.to_owned(), kind)).into();
    assert_eq!(kinds(refused.unwrap_err()), expected);
    assert_eq!(bench.text("fine").as_deref(), Some("old"));
    assert_eq!(bench.names().len(), 7);
    assert_eq!(history(&bench.store, Whose::Everyone, 9).unwrap(), []);
}

#[test]
fn two_changes_of_one_file_and_a_root_that_is_only_read_are_refused() {
    let mut bench = Bench::new();
    let twice = vec![bench.change("a", None, Some("1")), bench.change("a", None, Some("2"))];
    let refused = kinds(bench.commit(twice).unwrap_err());
    assert_eq!(refused, [("a".to_owned(), ProblemKind::Twice)]);
    bench.root =
        Arc::new(Root::open(RootName::workspace(), &bench.files, Access::Read).unwrap());
    let refused = kinds(bench.commit(vec![bench.change("a", None, Some("1"))]).unwrap_err());
    assert_eq!(refused, [("a".to_owned(), ProblemKind::ReadOnly)]);
    assert_eq!(bench.names(), [""; 0]);
}

#[test]
fn mode_owner_attributes_and_hard_links_stay() {
    let bench = Bench::new();
    for file in ["plain", "linked"] {
        bench.put(file, "old");
    }
    let plain = bench.files.join("plain");
    fs::hard_link(bench.files.join("linked"), bench.files.join("twin")).unwrap();
    let is_root = fs::metadata(&plain).unwrap().uid() == 0;
    if is_root {
        std::os::unix::fs::chown(&plain, Some(1234), Some(5678)).unwrap();
    }
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o4751)).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    let has_attributes = rustix::fs::setxattr(&plain, "user.note", b"kept", flags).is_ok();
    bench
        .commit(vec![
            bench.change("plain", Some("old"), Some("new")),
            bench.change("linked", Some("old"), Some("newer")),
        ])
        .unwrap();
    let meta = fs::metadata(&plain).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o4751);
    assert!(!is_root || (meta.uid(), meta.gid()) == (1234, 5678));
    let mut value = [0; 9];
    let note = rustix::fs::getxattr(&plain, "user.note", &mut value[..]);
    assert_eq!(note.map(|n| &value[..n]).ok(), has_attributes.then_some(&b"kept"[..]));
    assert_eq!(bench.text("twin").as_deref(), Some("newer"));
    assert_eq!(fs::metadata(bench.files.join("linked")).unwrap().nlink(), 2);
    bench.undo(1).unwrap();
    assert_eq!(bench.text("twin").as_deref(), Some("old"));
}

/// Gives up as soon as it has to wait, and counts.
#[derive(Default)]
struct Hasty(std::sync::atomic::AtomicUsize);

impl Patience for Hasty {
    fn is_cancelled(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) > 0
    }

    fn wait_begins(&self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_commit_waits_for_the_lock_of_its_own_repository_only() {
    let bench = Bench::new();
    fs::create_dir_all(bench.files.join("nested/.git")).unwrap();
    let folder = fs::File::open(&bench.files).unwrap();
    folder.lock().unwrap();
    let hasty = Hasty::default();
    let context = Context { patience: &hasty, ..bench.context(&RealDisk) };
    let commit = |path| {
        let change = bench.change(path, None, Some("new"));
        Transaction::new(origin("write"), vec![change]).commit(&context)
    };
    commit("nested/deep/a").unwrap();
    assert!(matches!(commit("b").unwrap_err(), CommitError::Cancelled));
    assert_eq!(bench.text("b"), None);
    assert_eq!(hasty.0.load(std::sync::atomic::Ordering::Relaxed), 1);
    folder.unlock().unwrap();
    bench.commit(vec![bench.change("b", None, Some("new"))]).unwrap();
}

#[test]
fn of_many_writers_with_stores_of_their_own_no_accepted_line_is_lost() {
    let bench = Bench::new();
    bench.put("log", "");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let bench = &bench;
            scope.spawn(move || {
                let state = bench.files.with_file_name(format!("state{}", writer % 2));
                let store = Store::open(state).unwrap().workspace(bench.root.path());
                let context = Context { store: &store, ..bench.context(&RealDisk) };
                for n in 0..12 {
                    loop {
                        let before = bench.text("log").unwrap();
                        let after = format!("{before}{writer} {n}\n");
                        let change = bench.change("log", Some(&before), Some(&after));
                        let transaction = Transaction::new(origin("edit"), vec![change]);
                        match transaction.commit(&context) {
                            Ok(_) => break,
                            Err(error) => assert_eq!(kinds(error).len(), 1),
                        }
                    }
                }
            });
        }
    });
    let text = bench.text("log").unwrap();
    for writer in 0..4 {
        let own: Vec<_> =
            text.lines().filter(|line| line.starts_with(&writer.to_string())).collect();
        let expected: Vec<_> = (0..12).map(|n| format!("{writer} {n}")).collect();
        assert_eq!(own, expected);
    }
    assert_eq!(bench.names(), ["log"]);
}

#[test]
fn an_undo_of_several_goes_back_over_all_of_them_or_none() {
    let bench = Bench::new();
    bench.put("a", "0");
    bench.commit(vec![bench.change("a", Some("0"), Some("1"))]).unwrap();
    bench.commit(vec![bench.change("b", None, Some("b"))]).unwrap();
    bench.commit(vec![bench.change("a", Some("1"), Some("2"))]).unwrap();
    bench.put("b", "somebody else's");
    let refused = bench.undo(3).unwrap_err();
    assert_eq!(kinds(refused), [("b".to_owned(), ProblemKind::Conflict)]);
    assert_eq!(bench.text("a").as_deref(), Some("2"));
    bench.put("b", "b");
    bench.undo(3).unwrap();
    assert_eq!(bench.text("a").as_deref(), Some("0"));
    assert_eq!(bench.names(), ["a"]);
}

#[test]
fn an_undo_says_what_stands_in_its_way() {
    let bench = Bench::new();
    let roots = [bench.root.clone()];
    let inverse = |whose, count, roots: &[Arc<Root>]| {
        inverse(&bench.store, whose, count, roots, origin("undo"))
    };
    let none = inverse(Whose::Everyone, 1, &roots).unwrap_err();
    assert!(matches!(none, UndoError::TooFew(0)), "{none}");
    bench.commit(vec![bench.change("a", None, Some("1"))]).unwrap();
    let other = Origin { session: "other".to_owned(), label: "write".to_owned() };
    Transaction::new(other, vec![bench.change("a", Some("1"), Some("2"))])
        .commit(&bench.context(&RealDisk))
        .unwrap();
    bench.commit(vec![bench.change("a", Some("2"), Some("3"))]).unwrap();
    let between = inverse(Whose::Session("s"), 2, &roots).unwrap_err();
    assert!(matches!(between, UndoError::Conflict(places) if places.len() == 1));
    let rootless = inverse(Whose::Session("s"), 1, &[]).unwrap_err();
    assert!(matches!(rootless, UndoError::NoRoot(_)), "{rootless}");
    bench.store.store().make_folder(&[]).unwrap().remove_all("blobs").unwrap();
    let lost = inverse(Whose::Session("s"), 1, &roots).unwrap_err();
    assert!(matches!(lost, UndoError::NotKept(_)), "{lost}");
}

#[test]
fn records_that_cannot_be_read_stop_nobody() {
    let bench = Bench::new();
    let pending = bench.store.store().make_folder(&["pending"]).unwrap();
    pending.write("1-torn.json", b"{\"version\": 1, \"id\": \"1").unwrap();
    pending.write("2-empty.json", b"").unwrap();
    pending.write("3-later.json", b"{\"version\": 99}").unwrap();
    pending.write("4-wrong.json", b"{\"version\": 1, \"files\": [\"../etc\"]}").unwrap();
    bench.commit(vec![bench.change("a", None, Some("1"))]).unwrap();
    let left = Recovery { id: None, ending: Ending::LeftAlone, foreign: Vec::new() };
    assert_eq!(recover(&RealDisk, &bench.store).unwrap(), [left.clone(), left]);
    assert_eq!(pending.names().unwrap(), ["3-later.json", "4-wrong.json"]);
}

#[test]
fn ids_sort_in_the_order_of_the_commits_although_the_clock_goes_back() {
    let bench = Bench::new();
    let mut before = None;
    for (index, now_unix_ms) in [5000, 5000, 4000, 6000].into_iter().enumerate() {
        let text = index.to_string();
        let change = bench.change("a", before.as_deref(), Some(&text));
        Transaction::new(origin(&text), vec![change])
            .commit(&Context { now_unix_ms, ..bench.context(&RealDisk) })
            .unwrap();
        before = Some(text);
    }
    let labels: Vec<_> = history(&bench.store, Whose::Everyone, 9)
        .unwrap()
        .into_iter()
        .map(|done| done.label)
        .collect();
    assert_eq!(labels, ["3", "2", "1", "0"]);
}
