//! Commands through the binary: what holds pipes, escapes, is killed or prints without end holds no call, and
//! nothing is left of it but what a job names.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// `killick mcp` in a folder of its own, spoken to line by line.
struct Served {
    home: TempDir,
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    n_asked: u64,
}

impl Served {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_killick"))
            .args(["--isolated", "mcp"])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin")
            .env("MARK", home.path())
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut served = Self { home, child, to, from: BufReader::new(from), n_asked: 0 };
        served.send(&json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}
            }
        }));
        served.answer(0);
        served.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        served
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    fn answer(&mut self, id: u64) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "killick mcp has gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.n_asked += 1;
        self.send(&json!({
            "jsonrpc": "2.0", "id": self.n_asked, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}
        }));
        self.n_asked
    }

    /// Runs a tool; returns its text and its details.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, Value) {
        let id = self.ask(tool, arguments);
        let answer = self.answer(id);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (text, result["_meta"]["killick"]["details"].clone())
    }

    fn bash(&mut self, line: &str) -> String {
        self.call("bash", &json!({"command": line})).0
    }

    /// Returns how many processes carry this test's mark, beside killick itself.
    fn n_left(&self) -> usize {
        marked(self.home.path()).into_iter().filter(|pid| *pid != self.child.id()).count()
    }

    /// Waits until no process carries the mark but those that a job names.
    fn settle(&self, n_wanted: usize) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.n_left() != n_wanted {
            assert!(Instant::now() < until, "{} processes, wanted {n_wanted}", self.n_left());
            std::thread::yield_now();
        }
    }

    fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the processes in whose environment the mark of `home` stands, the dead left out.
fn marked(home: &Path) -> Vec<u32> {
    let mark = format!("MARK={}\0", home.display());
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_marked = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|window| window == mark.as_bytes())
    };
    numbers.filter(is_marked).collect()
}

#[test]
fn a_process_that_holds_the_pipes_holds_no_call() {
    let mut served = Served::new();
    // B1, B2, B3, B5: in the background, silent, in a session of its own, behind a substitution.
    for line in [
        "sleep 300 & echo started",
        "sleep 300 >/dev/null & echo started",
        "setsid sleep 300 & echo started",
        "(setsid sh -c 'sleep 300 & sleep 300' &) ; echo started",
    ] {
        let text = served.bash(line);
        assert!(
            text.starts_with("started\n[job ") && text.ends_with("still running]"),
            "{text}"
        );
    }
    let (_, details) = served.call("jobs", &json!({}));
    for job in details["jobs"].as_array().unwrap().clone() {
        served.call("job_kill", &json!({"job": job["job"]}));
    }
    served.settle(0);
    assert_eq!(served.bash("echo on"), "on");
}

#[test]
fn a_time_out_ends_everything_that_a_command_started() {
    let mut served = Served::new();
    for line in [
        "sleep 300",
        "sleep 300 & setsid sleep 300 & sleep 300",
        // B4, B8: deaf to the request, forked twice, a parent that has gone.
        "trap '' TERM; (trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 300; sleep 300' &) ; sleep 300; sleep 300",
        "sh -c 'sh -c \"sleep 300 & sleep 300 &\" & exit' ; sleep 300",
    ] {
        let (text, _) = served.call("bash", &json!({"command": line, "timeout": 1}));
        assert!(text.starts_with("timeout: Command timed out after 1 second."), "{text}");
        served.settle(0);
    }
    assert_eq!(served.bash("echo on"), "on");
}

#[test]
fn a_withdrawn_call_ends_its_command() {
    let mut served = Served::new();
    let id = served.ask("bash", &json!({"command": "sleep 300 & setsid sleep 300"}));
    served.settle(3);
    served.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}
    }));
    served.settle(0);
    assert_eq!(served.bash("echo on"), "on");
}

#[test]
fn nothing_outlives_killick_however_it_ends() {
    let mut served = Served::new();
    served
        .call("bash", &json!({"command": "setsid sleep 300 & sleep 300", "background": true}));
    served.settle(3);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !marked(served.home.path()).is_empty() {
        assert!(Instant::now() < until, "processes are left");
        std::thread::yield_now();
    }
}

#[test]
fn a_command_that_kills_what_stands_above_it_leaves_nothing() {
    let mut served = Served::new();
    let text = served.bash("sleep 300 & setsid sleep 300 & kill -9 $PPID; sleep 300");
    assert!(text.starts_with("exit_status: "), "{text}");
    served.settle(0);
    assert_eq!(served.bash("echo on"), "on");
}

#[test]
fn a_crowd_that_grows_while_it_is_ended_is_ended() {
    let mut served = Served::new();
    // At most 2^7 of them, each deaf to the request.
    let line = "f() { trap '' TERM; [ $1 -lt 7 ] && { f $(($1+1)) & f $(($1+1)) & }; sleep 300; sleep 300; }; f 0";
    served.call("bash", &json!({"command": line, "timeout": 1}));
    served.settle(0);
    // Dead ones that nobody waits for.
    served.bash("for i in $(seq 200); do sh -c 'true' & done; exec true");
    served.settle(0);
    assert_eq!(served.bash("echo on"), "on");
}

#[test]
fn output_without_end_is_counted_and_not_kept() {
    let mut served = Served::new();
    let (text, details) = served.call(
        "bash",
        &json!({"command": "head -c 1000000000 /dev/zero | tr '\\0' x", "timeout": 120}),
    );
    assert!(
        text.ends_with("[stdout truncated: 998951424 characters dropped]"),
        "{}",
        text.len()
    );
    assert_eq!(details["stdout_truncated"], true);
    assert!(served.peak_kib() < 40 * 1024, "{} KiB", served.peak_kib());
}

#[test]
fn two_hundred_commands_run_side_by_side() {
    let mut served = Served::new();
    let ids: Vec<(u64, u64)> = (0..200)
        .map(|n| (served.ask("bash", &json!({"command": format!("echo {n}; cat")})), n))
        .collect();
    let mut answers = std::collections::HashMap::new();
    let mut line = String::new();
    while answers.len() < ids.len() {
        line.clear();
        assert_ne!(served.from.read_line(&mut line).unwrap(), 0);
        let message: Value = serde_json::from_str(&line).unwrap();
        let text = message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        answers.insert(message["id"].as_u64().unwrap(), text);
    }
    for (id, n) in ids {
        assert_eq!(answers[&id], n.to_string());
    }
    served.settle(0);
}

#[test]
fn a_background_job_tells_what_is_new_and_how_it_ended() {
    let mut served = Served::new();
    let line = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 3";
    let (text, _) = served.call("bash", &json!({"command": line, "background": true}));
    assert_eq!(text, "Started job 1");
    let mut seen = String::new();
    while !seen.contains("one") {
        seen = served.call("job_output", &json!({"job": 1})).0;
    }
    assert_eq!(seen, "one\n[job 1: running]");
    fs::write(served.home.path().join("go"), "").unwrap();
    while !seen.contains("exit 3") {
        let (text, _) = served.call("job_output", &json!({"job": 1}));
        seen = if text.contains("two") { text } else { seen.replace("one", "") + &text };
    }
    assert!(seen.contains("two") && !seen.contains("one"), "{seen}");
    let (text, _) = served.call("job_output", &json!({"job": 9}));
    assert_eq!(text, "no_such_job: there is no job 9; the jobs are 1.\nnothing was run");
    served.settle(0);
}

#[test]
fn odd_ends_and_streams_are_told_as_they_are() {
    let mut served = Served::new();
    for (line, wanted) in [
        (
            "exec >&- 2>&-; sleep 0.1; exit 4",
            "exit_status: Command exited with status 4.\n[exit 4]",
        ),
        ("kill -9 $$", "exit_status: Command was ended by signal 9 (SIGKILL).\n[signal 9]"),
        ("true", "(no output)"),
        ("printf '\\342\\202'; sleep 0.1; printf '\\254'", "€"),
        ("printf '\\342\\202'", "\u{fffd}"),
        ("exec <&-; echo fine", "fine"),
        ("read x; echo \"[$x]\"", "[]"),
        ("tty", "exit_status: Command exited with status 1.\nnot a tty\n[exit 1]"),
        ("sh -c 'echo x >/dev/tty' 2>/dev/null || echo none", "none"),
        ("-x 2>/dev/null; echo dash", "dash"),
        ("printf out; printf err >&2", "out\n[stderr]\nerr"),
    ] {
        assert_eq!(served.bash(line), wanted, "{line}");
    }
    let (text, _) = served.call("bash", &json!({"command": "x".repeat(131_072)}));
    assert!(text.starts_with("bad_arg: `command` has 131072 bytes"), "{text}");
    let (text, _) =
        served.call("bash", &json!({"command": "true #".to_owned() + &"x".repeat(131_000)}));
    assert_eq!(text, "(no output)");
    let (text, _) = served.call("bash", &json!({"command": "pwd", "directory": "/"}));
    assert_eq!(text, "/");
}

#[test]
fn a_restricted_session_has_a_shell_that_holds_no_more_than_it() {
    let home = tempfile::tempdir().unwrap();
    let ws = home.path().join("ws");
    fs::create_dir_all(ws.join("src")).unwrap();
    fs::write(ws.join("kept"), "kept").unwrap();
    let line = "echo new > src/a; echo lost > kept; kill -9 $PPID; cat kept src/a; echo; printf %s \"$TMPDIR\"";
    let output = Command::new(env!("CARGO_BIN_EXE_killick"))
        .args(["--isolated", "--format", "json"])
        .args(["--capabilities", "file/read,file/write(src/**),process/exec"])
        .args(["call", "bash", &json!({"command": line}).to_string()])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&ws)
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    if told["error"]["code"] == "sandbox_unavailable" {
        let modules = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
        assert!(!modules.contains("landlock"), "there is Landlock, and yet: {told}");
        assert!(!ws.join("src/a").exists());
        return;
    }
    let stdout = told["details"]["stdout"].as_str().unwrap();
    let (files, temp) = stdout.split_once("\n\n").unwrap();
    assert_eq!(files, "keptnew", "{told}");
    assert!(!Path::new(temp).exists(), "the temporary folder is left at {temp}");
    assert!(told["details"]["sandbox"]["landlock_abi"].as_u64().unwrap() >= 3, "{told}");
    assert_eq!(fs::read_to_string(ws.join("kept")).unwrap(), "kept");
}
