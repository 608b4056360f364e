//! A real `kill -9` in a loop: whatever moment it falls on, every file is whole and nothing else is left.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long the loop runs.
const LENGTH: Duration = Duration::from_secs(4);

/// How many files are written in turn.
const N_FILES: usize = 6;

fn start(home: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_killick"))
        .arg("mcp")
        .env_clear()
        .env("HOME", home)
        .current_dir(home.join("ws"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn call(id: usize, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// Returns what a client says to write all files, again and again.
fn conversation(round: usize) -> String {
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"}}})
        .to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
    ];
    for n in 0..20 {
        for file in 0..N_FILES {
            let content = format!("round {round}.{n}\n").repeat(2000);
            let path = format!("f{file}");
            lines.push(call(
                1 + n * N_FILES + file,
                "write",
                &json!({"path": path, "content": content}),
            ));
        }
    }
    lines.join("\n") + "\n"
}

fn texts(home: &Path) -> Vec<String> {
    (0..N_FILES)
        .map(|n| fs::read_to_string(home.join("ws").join(format!("f{n}"))).unwrap())
        .collect()
}

#[test]
fn a_process_killed_at_any_moment_leaves_whole_files_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    fs::create_dir(home.join("ws")).unwrap();
    for n in 0..N_FILES {
        fs::write(home.join("ws").join(format!("f{n}")), "start\n".repeat(2000)).unwrap();
    }
    let begun = Instant::now();
    let mut round = 0;
    while begun.elapsed() < LENGTH {
        let mut child = start(home);
        child.stdin.take().unwrap().write_all(conversation(round).as_bytes()).unwrap();
        // Moments all over the run, from the start of the process to long after its last write.
        sleep(Duration::from_micros(u64::try_from(round * 7919 % 60_000).unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
        round += 1;
        for text in texts(home) {
            let mut lines = text.lines();
            let first = lines.next().unwrap();
            assert!(lines.all(|line| line == first) && text.lines().count() == 2000, "{first}");
        }
    }
    assert!(round > 10, "only {round} rounds");
    // The next session that may write recovers what the last one left.
    let status = Command::new(env!("CARGO_BIN_EXE_killick"))
        .args(["call", "write", "path=done", "content=x"])
        .env_clear()
        .env("HOME", home)
        .current_dir(home.join("ws"))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let names: Vec<String> = fs::read_dir(home.join("ws"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), N_FILES + 1, "{names:?}");
}
