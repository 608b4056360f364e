//! An edit end to end, in process: arguments, grant, proof, transaction synced to the disk, result, audit.
//!
//! The peer is the floor of any safe write: the same bytes to a new file beside, synced, renamed, and the
//! folder synced. What an edit takes above it is killick's own work.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a bench lays out real files and fails by panicking"
)]

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use divan::Bencher;
use killick::app::{App, Options, SessionKind, Sources};
use killick::dispatch::Call;
use killick::text::LineDigest;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

fn main() {
    divan::main();
}

/// A session that has read files of 2 MiB, and where its folder is.
struct Bench {
    home: TempDir,
    app: App,
    runtime: Runtime,
    round: Cell<usize>,
}

fn line(n: usize, round: usize) -> String {
    format!("  let value_{n:06} = compute(input, {round:>9}, st);")
}

impl Bench {
    /// Lays out `n_files` files of 40,000 lines each and reads them.
    fn new(n_files: usize) -> Self {
        let home = tempfile::tempdir_in(".").unwrap();
        let text: String = (0..40_000).map(|n| line(n, 0) + "\n").collect();
        (0..n_files)
            .for_each(|n| fs::write(home.path().join(format!("f{n}.rs")), &text).unwrap());
        let options = Options {
            workspace: home.path().canonicalize().unwrap(),
            sources: Sources::None,
            capabilities: None,
            tools: None,
            state: home.path().join("state"),
            config: PathBuf::from("/nowhere"),
            home: PathBuf::from("/nowhere"),
            temp: std::env::temp_dir(),
            environment: Vec::new(),
            warn: |_| {},
        };
        let app = App::start(options, SessionKind::Process).unwrap();
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bench = Self { home, app, runtime, round: Cell::new(0) };
        for n in 0..n_files {
            bench.call("read", json!({"path": format!("f{n}.rs")}));
        }
        bench
    }

    fn call(&self, tool: &str, arguments: serde_json::Value) {
        let call = Call { tool: tool.to_owned(), arguments };
        let token = CancellationToken::new();
        let outcome = self.runtime.block_on(self.app.executor.call(call, &token));
        assert!(outcome.ok, "{}", outcome.text);
    }

    /// Replaces `n_ops` lines of each of `n_files` files in one patch.
    fn edit(&self, n_files: usize, n_ops: usize) {
        let round = self.round.replace(self.round.get() + 1);
        let mut patch = String::new();
        for file in 0..n_files {
            let _ = writeln!(patch, "@@ f{file}.rs");
            for n in (0..n_ops).map(|op| op * 37) {
                let check = LineDigest::of(line(n, round).as_bytes()).check();
                let (number, row) = (n + 1, line(n, round + 1));
                let _ = write!(patch, "= {number}:{check:02x}..{number}:{check:02x}\n~{row}\n");
            }
        }
        self.call("edit", json!({"input": patch}));
    }
}

/// The peer: the floor of a safe write of the same bytes.
#[divan::bench(sample_count = 30, sample_size = 1)]
fn floor_write_sync_rename_sync(bencher: Bencher<'_, '_>) {
    let bench = Bench::new(1);
    let target = bench.home.path().join("f0.rs");
    let staged = bench.home.path().join("staged");
    let bytes = fs::read(&target).unwrap();
    bencher.bench_local(|| {
        fs::write(&staged, &bytes).unwrap();
        fs::File::open(&staged).unwrap().sync_all().unwrap();
        fs::rename(&staged, &target).unwrap();
        fs::File::open(bench.home.path()).unwrap().sync_all().unwrap();
    });
}

#[divan::bench(args = [1, 100, 1000], sample_count = 30, sample_size = 1)]
fn ops_on_one_file_of_2_mib(bencher: Bencher<'_, '_>, n_ops: usize) {
    let bench = Bench::new(1);
    bencher.bench_local(|| bench.edit(1, n_ops));
}

#[divan::bench(args = [1, 4, 20], sample_count = 20, sample_size = 1)]
fn one_op_on_each_of_several_files_of_2_mib(bencher: Bencher<'_, '_>, n_files: usize) {
    let bench = Bench::new(n_files);
    bencher.bench_local(|| bench.edit(n_files, 1));
}
