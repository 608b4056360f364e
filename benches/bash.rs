//! What a command costs: `true` through the `bash` tool, free and confined, beside the same from `sh` alone.
//!
//! The peer spawns `sh -c true` from this process and reads its pipes. What a call takes above it is the
//! supervisor, the stage and the bounds, and the call itself with its two audit records.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a bench lays out real files and fails by panicking"
)]

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use divan::Bencher;
use killick::app::{App, Options, SessionKind, Sources};
use killick::dispatch::Call;
use killick::process;
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    // This program is what killick re-executes.
    match std::env::args().nth(1).as_deref() {
        Some(process::SUPERVISE) => return process::supervise(),
        Some(process::STAGE) => return process::become_confined(),
        Some(_) | None => divan::main(),
    }
    ExitCode::SUCCESS
}

fn bash(bencher: Bencher<'_, '_>, capabilities: Option<&str>) {
    let home = tempfile::tempdir_in(".").unwrap();
    let options = Options {
        workspace: home.path().canonicalize().unwrap(),
        sources: Sources::None,
        capabilities: capabilities.map(str::to_owned),
        tools: None,
        state: home.path().join("state"),
        config: PathBuf::from("/nowhere"),
        home: PathBuf::from("/nowhere"),
        temp: std::env::temp_dir(),
        environment: std::env::vars_os().collect(),
        warn: |_| {},
    };
    let app = App::start(options, SessionKind::Process).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.bench_local(|| {
        let call = Call { tool: "bash".to_owned(), arguments: json!({"command": "true"}) };
        let token = CancellationToken::new();
        let outcome = runtime.block_on(app.executor.call(call, &token));
        assert!(outcome.ok, "{}", outcome.text);
    });
}

#[divan::bench(sample_count = 100, sample_size = 1)]
fn peer_sh(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| {
        assert!(Command::new("sh").args(["-c", "true"]).output().unwrap().status.success());
    });
}

#[divan::bench(sample_count = 100, sample_size = 1)]
fn unrestricted(bencher: Bencher<'_, '_>) {
    bash(bencher, None);
}

#[divan::bench(sample_count = 100, sample_size = 1)]
fn sandboxed(bencher: Bencher<'_, '_>) {
    bash(bencher, Some("file/read,process/exec"));
}
