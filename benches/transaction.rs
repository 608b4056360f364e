//! What a commit costs, synced, on the disk under the current folder: one file and twenty.
//!
//! `floor` is the same bytes with the fewest calls that are safe: each file written, synced and renamed, and
//! their folder synced once.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a bench lays out real files, and a failure of it may stop it"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use killick::path::{RelPath, RootName};
use killick::store::Store;
use killick::text::Digest;
use killick::workspace::{
    Access, Change, Context, Expected, Forever, Origin, Parents, RealDisk, Root, Transaction,
};

fn main() {
    divan::main();
}

fn content(index: usize, round: u64, n_bytes: usize) -> Vec<u8> {
    format!("round {round} of file {index}, which is about fifty bytes wide\n")
        .into_bytes()
        .into_iter()
        .cycle()
        .take(n_bytes)
        .collect()
}

fn commit(bencher: divan::Bencher<'_, '_>, n_files: usize, n_bytes: usize) {
    let home = tempfile::tempdir_in(".").unwrap();
    let files = home.path().join("files");
    fs::create_dir(&files).unwrap();
    let root = Arc::new(Root::open(RootName::workspace(), &files, Access::Write).unwrap());
    let store = Store::open(home.path().join("state")).unwrap().workspace(root.path());
    for index in 0..n_files {
        fs::write(files.join(index.to_string()), content(index, 0, n_bytes)).unwrap();
    }
    let round = std::cell::Cell::new(0);
    let changes = || {
        let last = round.replace(round.get() + 1);
        let before = |index| Digest::of(&content(index, last, n_bytes));
        let change = |index: usize| Change {
            root: root.clone(),
            path: RelPath::parse(&index.to_string()).unwrap(),
            expected: Expected::Content(before(index)),
            after: Some(content(index, round.get(), n_bytes)),
            parents: Parents::MustExist,
        };
        let origin = Origin { session: "bench".to_owned(), label: "edit".to_owned() };
        Transaction::new(origin, (0..n_files).map(change).collect())
    };
    bencher.with_inputs(changes).bench_local_values(|transaction| {
        let context =
            Context { store: &store, disk: &RealDisk, patience: &Forever, now_unix_ms: 1 };
        transaction.commit(&context).unwrap()
    });
}

#[divan::bench(args = [1, 20], sample_size = 1)]
fn commit_2_mib(bencher: divan::Bencher<'_, '_>, n_files: usize) {
    commit(bencher, n_files, 2 << 20);
}

#[divan::bench(args = [1, 20], sample_size = 1)]
fn commit_20_kib(bencher: divan::Bencher<'_, '_>, n_files: usize) {
    commit(bencher, n_files, 20 << 10);
}

#[divan::bench(args = [1, 4, 16], sample_size = 1)]
fn commit_one_file_of_mib(bencher: divan::Bencher<'_, '_>, mib: usize) {
    commit(bencher, 1, mib << 20);
}

#[divan::bench(args = [1, 20], sample_size = 1)]
fn floor_2_mib(bencher: divan::Bencher<'_, '_>, n_files: usize) {
    floor(bencher, n_files, 2 << 20);
}

#[divan::bench(args = [1, 20], sample_size = 1)]
fn floor_20_kib(bencher: divan::Bencher<'_, '_>, n_files: usize) {
    floor(bencher, n_files, 20 << 10);
}

/// Writes, syncs and renames the same bytes with plain calls, files side by side, then syncs the folder.
fn floor(bencher: divan::Bencher<'_, '_>, n_files: usize, n_bytes: usize) {
    let home = tempfile::tempdir_in(".").unwrap();
    let bytes = content(0, 1, n_bytes);
    bencher.bench_local(|| {
        std::thread::scope(|scope| {
            for index in 0..n_files {
                let (home, bytes) = (home.path(), &bytes);
                scope.spawn(move || write_and_rename(home, index, bytes));
            }
        });
        fs::File::open(home.path()).unwrap().sync_all().unwrap();
    });
}

fn write_and_rename(folder: &Path, index: usize, bytes: &[u8]) {
    let (temp, name) = (folder.join(format!("temp{index}")), folder.join(index.to_string()));
    let mut file = fs::File::create(&temp).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    fs::rename(temp, name).unwrap();
}
