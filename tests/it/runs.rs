//! Runs of the binary: only what no test in process can see, such as streams, exit codes and signals.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("ws")).unwrap();
        fs::write(home.path().join("ws/a.txt"), "alpha\nbeta\n").unwrap();
        Self(home)
    }

    fn killick(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_killick"));
        command.env_clear().env("HOME", self.0.path()).current_dir(self.0.path().join("ws"));
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let output = Command::from_std(self.killick()).args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn data_goes_to_stdout_words_to_stderr_and_the_exit_code_ranks_the_end() {
    let home = Home::new();
    assert_eq!(home.run(&["call", "read", "path=a.txt"]).1, "1:64|alpha\n2:c6|beta\n");
    let cases: &[(&[&str], i32)] = &[
        (&["call", "read", "path=nothing"], 1),
        (&["call", "read"], 2),
        (&["call", "no_such_tool"], 2),
        (&["call", "read", "path"], 2),
        (&["--capabilities", "", "call", "read", "path=a.txt"], 5),
        (&["--capabilities", "file/wriet", "tools"], 2),
        (&["--tools", "read,nonsense", "tools"], 2),
        (&["--workspace", "nowhere", "tools"], 2),
        (&["frobnicate"], 2),
        (&["tools"], 0),
        (&["errors"], 0),
        (&["authority"], 0),
        (&["settings", "check"], 0),
        (&["settings", "schema"], 0),
        (&["--help"], 0),
    ];
    for (words, wanted) in cases {
        let (code, out, err) = home.run(words);
        assert_eq!(code, *wanted, "{words:?}: {err}");
        assert_eq!(out.is_empty(), code != 0, "{words:?}");
        assert!(!err.contains("panicked") && !err.contains("RUST_BACKTRACE"), "{err}");
    }
}

#[test]
fn a_named_session_remembers_from_one_process_to_the_next() {
    let home = Home::new();
    let write = |session: &str| {
        home.run(&[
            "call",
            "write",
            "path=a.txt",
            "content=alpha\nbeta\n",
            "--session",
            session,
        ])
        .1
    };
    home.run(&["call", "read", "path=a.txt", "--session", "one"]);
    assert!(!write("one").contains("had not read"));
    assert!(write("two").contains("had not read"));
}

#[test]
fn the_workspace_undo_shows_first_and_acts_when_told() {
    let home = Home::new();
    home.run(&["call", "write", "path=a.txt", "content=new"]);
    let (_, shown, told) = home.run(&["undo"]);
    assert!(shown.contains("changed a.txt") && told.contains("--yes"), "{shown}{told}");
    assert_eq!(fs::read_to_string(home.0.path().join("ws/a.txt")).unwrap(), "new");
    assert_eq!(home.run(&["undo", "--yes"]).0, 0);
    assert_eq!(fs::read_to_string(home.0.path().join("ws/a.txt")).unwrap(), "alpha\nbeta\n");
}

#[test]
fn a_project_cannot_widen_what_the_user_granted_and_is_inert_until_trusted() {
    let home = Home::new();
    let top = home.0.path();
    fs::create_dir_all(top.join("ws/.killick")).unwrap();
    fs::create_dir_all(top.join(".config/killick")).unwrap();
    fs::create_dir(top.join("extra")).unwrap();
    fs::write(top.join("extra/x.txt"), "outside\n").unwrap();
    let user = r#"{"capabilities": ["file/read"]}"#;
    fs::write(top.join(".config/killick/settings.json"), user).unwrap();
    let project = r#"{
        "capabilities": ["file/read", "file/write"],
        "workspace": {"extra": [{"path": "../extra", "access": "read"}]}
    }"#;
    fs::write(top.join("ws/.killick/settings.json"), project).unwrap();
    assert_eq!(home.run(&["call", "write", "path=b", "content=x"]).0, 5);
    let outside = top.join("extra/x.txt").canonicalize().unwrap();
    let path = format!("path={}", outside.display());
    let (code, _, err) = home.run(&["call", "read", &path]);
    assert!(code == 1 && err.contains("inert"), "{err}");
    assert_eq!(home.run(&["trust"]).0, 0);
    assert_eq!(home.run(&["call", "read", &path]).0, 0);
    fs::write(
        top.join("ws/.killick/settings.json"),
        project.replace("file/write", "file/edit"),
    )
    .unwrap();
    assert_eq!(home.run(&["call", "read", &path]).0, 1, "a changed file is no longer trusted");
    assert_eq!(home.run(&["call", "write", "path=b", "content=x"]).0, 5);
}

#[test]
fn what_a_person_must_confirm_is_shown_and_does_not_run_where_nobody_is() {
    let home = Home::new();
    let top = home.0.path();
    fs::create_dir_all(top.join(".config/killick")).unwrap();
    let user = r#"{"ask": ["file/write"], "approved": ["file/write(b.txt)"]}"#;
    let path = top.join(".config/killick/settings.json");
    fs::write(&path, user).unwrap();
    let (code, _, err) = home.run(&["call", "write", "path=c.txt", "content=x"]);
    assert!(code == 5 && err.starts_with("approval_required: "), "{code} {err}");
    assert_eq!(home.run(&["call", "write", "path=b.txt", "content=x"]).0, 0);
    let (_, shown, _) = home.run(&["authority"]);
    let asked = format!("confirmed by a person:\n  file/write ({} line 1)\n", path.display());
    assert!(shown.contains(&asked), "{shown}");
    assert!(shown.contains("exempt from that:\n  file/write(b.txt)\n"), "{shown}");
    fs::write(&path, r#"{"ask": ["file/wriet"], "approved": ["process/exec(a; b)"]}"#).unwrap();
    let (code, _, err) = home.run(&["authority"]);
    assert_eq!((code, err.lines().count()), (2, 3), "{err}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    let mut child = home.killick().arg("errors").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_mcp_client_is_served_until_it_closes_and_every_request_is_answered() {
    let home = Home::new();
    let mut child = home
        .killick()
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let call = |id: u32, tool: &str, arguments: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
               "params": {"name": tool, "arguments": arguments}})
    };
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        call(3, "read", json!({"path": "a.txt"})),
        call(4, "write", json!({"path": "b.txt", "content": "1"})),
        call(5, "write", json!({"path": "b.txt", "content": "22"})),
        call(6, "no_such_tool", json!({})),
        call(7, "read", json!(["a.txt"])),
        call(8, "read", json!("{\"path\": \"a.txt\"}")),
        json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"arguments": {}}}),
        json!({"jsonrpc": "2.0", "id": 10, "method": "no/such"}),
        call(11, "write", json!({"path": "large.txt", "content": "x".repeat(17 << 20)})),
    ];
    let mut stdin = child.stdin.take().unwrap();
    for message in messages {
        writeln!(stdin, "{message}").unwrap();
    }
    let unreadable =
        r#"{"jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": "\ud800"}"#;
    writeln!(stdin, "{unreadable}").unwrap();
    drop(stdin);
    let answers: Vec<Value> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert!(child.wait().unwrap().success());
    let whole = |id: u32| answers.iter().find(|a| a["id"] == id).unwrap();
    let answer = |id: u32| &whole(id)["result"];
    assert_eq!(answers.len(), 12);
    assert_eq!(whole(12)["error"]["code"], -32700);
    assert_eq!(answer(3)["content"][0]["text"], "1:64|alpha\n2:c6|beta");
    assert_eq!(answer(5)["_meta"]["killick"]["details"]["prior"], "1");
    assert_eq!(answer(6)["isError"], true);
    assert_eq!(answer(6)["_meta"]["killick"]["error"]["code"], "unknown_tool");
    assert_eq!(fs::read_to_string(home.0.path().join("ws/b.txt")).unwrap(), "22");
    assert_eq!(answer(7)["_meta"]["killick"]["error"]["code"], "bad_arg");
    assert_eq!(answer(8)["content"][0]["text"], "1:64|alpha\n2:c6|beta");
    assert_eq!(whole(9)["error"]["code"], -32602);
    assert_eq!(whole(10)["error"]["code"], -32601);
    assert_eq!(answer(11)["isError"], false);
}

#[test]
fn what_cannot_be_written_to_standard_output_is_no_success() {
    let home = Home::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    // Only some systems have such a device.
    let Ok(full) = full else { return };
    let output = home.killick().arg("tools").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("standard output"));
}

#[test]
fn settings_that_are_no_file_are_said_to_be_none() {
    let home = Home::new();
    fs::create_dir_all(home.0.path().join("ws/.killick/settings.json")).unwrap();
    let (code, _, err) = home.run(&["settings", "check"]);
    assert!(code == 2 && err.contains("is no regular file"), "{err}");
}

#[test]
fn the_session_in_the_readme_says_what_it_says_there() {
    let home = Home::new();
    fs::write(home.0.path().join("ws/notes.txt"), "one\ntwo\n").unwrap();
    fs::create_dir(home.0.path().join("ws/src")).unwrap();
    fs::write(home.0.path().join("ws/src/main.rs"), include_str!("../../src/main.rs")).unwrap();
    fs::write(home.0.path().join("ws/README.md"), "").unwrap();
    let page = include_str!("../../README.md");
    let mut n_commands = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for part in block.split("$ ").skip(1).filter(|part| part.starts_with("killick")) {
            // A command goes on while a quote is open.
            let end = part
                .match_indices('\n')
                .map(|(at, _)| at)
                .find(|&at| part[..at].matches('\'').count() % 2 == 0)
                .unwrap();
            let (command, wanted) = part.split_at(end + 1);
            let command = command.replace("killick", env!("CARGO_BIN_EXE_killick"));
            let output = std::process::Command::new("sh")
                .args(["-c", &format!("{} 2>&1", command.trim_end())])
                .env("HOME", home.0.path())
                .env_remove("XDG_STATE_HOME")
                .env_remove("XDG_CONFIG_HOME")
                .current_dir(home.0.path().join("ws"))
                .output()
                .unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said, wanted, "{command}");
            n_commands += 1;
        }
    }
    assert!(n_commands >= 5, "README's examples were not found");
}
