//! Hard cases of `bash` and its jobs, over MCP: holders of pipes, escapees, closed streams, odd environments,
//! and that nothing is left of a command but what a job names.
//!
//! Every command carries a mark in its environment, by which the processes that are left of it are found.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const KILLICK: &str = env!("CARGO_BIN_EXE_killick");

/// How long anything may take on a machine that has much else to do.
const LONG: Duration = Duration::from_mins(1);

/// What a call came to.
#[derive(Debug)]
struct Outcome {
    ok: bool,
    text: String,
    code: String,
    details: Value,
}

/// A workspace, and a session over it whose commands carry a mark.
struct Scene {
    home: TempDir,
    served: RefCell<Served>,
}

impl Scene {
    fn new() -> Self {
        Self::of(None, &json!({}), &[])
    }

    fn restricted(capabilities: &str) -> Self {
        Self::of(Some(capabilities), &json!({}), &[])
    }

    fn with_settings(settings: &Value) -> Self {
        Self::of(None, settings, &[])
    }

    fn of(capabilities: Option<&str>, settings: &Value, more: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("ws/sub")).unwrap();
        let path = home.path().join("settings.json");
        fs::write(&path, settings.to_string()).unwrap();
        let mut words = vec!["--settings".to_owned(), path.display().to_string()];
        words.extend(capabilities.map(|list| format!("--capabilities={list}")));
        let served = RefCell::new(Served::start(&home, &words, more));
        Self { home, served }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("ws").join(name)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Outcome {
        let mut served = self.served.borrow_mut();
        let id = served.ask(tool, arguments);
        served.outcome(id)
    }

    fn bash(&self, command: &str) -> Outcome {
        self.call("bash", &json!({"command": command}))
    }

    /// Runs a command that has a second and needs more.
    fn timed_out(&self, command: &str) {
        let started = Instant::now();
        let outcome = self.call("bash", &json!({"command": command, "timeout": 1}));
        assert_eq!(code(&outcome), "timeout", "{command}: {}", outcome.text);
        let words = "timeout: Command timed out after 1 seconds.\n";
        assert!((outcome.text.clone() + "\n").starts_with(words), "{}", outcome.text);
        assert_eq!(self.left(), Vec::<String>::new(), "{command}");
        assert!(started.elapsed() < LONG);
        self.is_well();
    }

    fn job_output(&self, job: u32) -> Outcome {
        self.call("job_output", &json!({"job": job}))
    }

    /// Asks for a job's output until `is_enough` of all of it.
    fn job_output_until(&self, job: u32, is_enough: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            let outcome = self.job_output(job);
            assert!(outcome.ok, "{}", outcome.text);
            text.push_str(&outcome.text);
            if is_enough(&text) {
                return text;
            }
            std::thread::yield_now();
        }
        panic!("job {job} printed only {text:.300?}");
    }

    /// Returns what still runs of all the commands, by their command lines.
    fn left(&self) -> Vec<String> {
        self.served.borrow().left()
    }

    /// Checks that the next call works.
    fn is_well(&self) {
        let outcome = self.bash("echo well");
        assert_eq!(outcome.text, "well");
    }
}

/// `killick mcp`, spoken to line by line.
struct Served {
    child: Child,
    answers: BufReader<ChildStdout>,
    n_asked: u64,
    mark: String,
}

impl Served {
    fn start(home: &TempDir, words: &[String], more: &[(&str, &str)]) -> Self {
        let mark = home.path().join("mark").display().to_string();
        let mut child = Command::new(KILLICK)
            .args(words)
            .arg("mcp")
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("KILLICK_MARK", &mark)
            .envs(more.iter().copied())
            .current_dir(home.path().join("ws"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut served = Self { child, answers, n_asked: 0, mark };
        served.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}));
        served.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        served.answer(0);
        served
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.n_asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.n_asked, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}));
        self.n_asked
    }

    fn answer(&mut self, id: u64) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "killick has gone");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn outcome(&mut self, id: u64) -> Outcome {
        outcome(&self.answer(id))
    }

    /// Returns what runs of its commands; killick itself carries the mark too.
    fn left(&self) -> Vec<String> {
        let mut left = marked(&self.mark);
        left.retain(|line| !line.starts_with(KILLICK) && !line.starts_with("killick"));
        left
    }

    /// Runs a job and a command that is waited for.
    fn busy(&mut self, begun: &Path) {
        let job = json!({"command": "setsid sleep 600 & sleep 600", "background": true});
        let id = self.ask("bash", &job);
        self.answer(id);
        self.ask("bash", &json!({"command": "touch begun; setsid sleep 600 & sleep 600"}));
        assert!(until(|| begun.exists() && self.left().len() >= 4));
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn outcome(answer: &Value) -> Outcome {
    let result = &answer["result"];
    let ours = &result["_meta"]["killick"];
    Outcome {
        ok: result["isError"] == false,
        text: result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
        code: ours["error"]["code"].as_str().unwrap_or_default().to_owned(),
        details: ours["details"].clone(),
    }
}

/// Returns the command lines of all processes whose environment holds `mark`.
fn marked(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let holds = fs::read(entry.path().join("environ"))
            .is_ok_and(|text| text.windows(mark.len()).any(|part| part == mark.as_bytes()));
        if holds {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

fn code(outcome: &Outcome) -> &str {
    &outcome.code
}

fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + LONG;
    while Instant::now() < end {
        if is_so() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn the_result_shows_both_streams_and_how_the_command_ended() {
    let scene = Scene::new();
    assert_eq!(scene.bash("true").text, "(no output)");
    assert_eq!(scene.bash("-x 2>/dev/null; echo dash").text, "dash");
    let other = json!({"command": "print('python')", "shell": "python3"});
    let other = scene.call("bash", &other);
    assert!(other.text == "python" || code(&other) == "bad_arg", "{}", other.text);
    assert_eq!(scene.bash("printf out; printf err >&2").text, "out\n[stderr]\nerr");
    let failed = scene.bash("echo out; exit 3");
    assert_eq!(failed.text, "exit_status: Command exited with status 3.\nout\n[exit 3]");
    assert_eq!((code(&failed), failed.ok), ("exit_status", false));
    assert_eq!(failed.details["exit_code"], 3);
    assert_eq!(failed.details["stdout"], "out\n");
    let killed = scene.bash("kill -9 $$");
    let words = "Command was ended by signal 9 (SIGKILL).";
    assert_eq!(killed.text, format!("exit_status: {words}\n[signal 9]"));
    assert_eq!(killed.details["exit_code"], 137);
    assert_eq!(killed.details["signal"], 9);
    assert_eq!(scene.bash("exit 137").details["exit_code"], 137);
}

#[test]
fn who_holds_the_streams_does_not_hold_the_call() {
    for holder in [
        "sleep 600 & echo started",
        "sleep 600 >/dev/null & echo started",
        "sleep 600 2>/dev/null & echo started",
        "setsid sleep 600 & echo started",
        "(sleep 600 &) ; echo started",
        "nohup sleep 600 >/dev/null 2>&1 & echo started",
    ] {
        let scene = Scene::new();
        let outcome = scene.bash(holder);
        let wanted = "started\n[job 1: 1 process still running]";
        assert_eq!(outcome.text, wanted, "{holder}");
        assert_eq!(outcome.details["job"], 1);
        assert_eq!(outcome.details["exit_code"], 0);
        assert_eq!(scene.left(), ["sleep 600 "], "{holder}");
        let killed = scene.call("job_kill", &json!({"job": 1}));
        assert!(killed.ok, "{}", killed.text);
        assert_eq!(scene.left(), Vec::<String>::new(), "{holder}");
        assert_eq!(scene.job_output(1).details["running"], false);
        scene.is_well();
    }
}

#[test]
fn a_substituted_process_does_not_hold_the_call() {
    let scene = Scene::new();
    let command = "exec > >(tee log) 2>&1 && echo through";
    let outcome = scene.call("bash", &json!({"command": command, "shell": "bash"}));
    assert!(outcome.ok && outcome.text.contains("through"), "{}", outcome.text);
    assert_eq!(fs::read_to_string(scene.path("log")).unwrap(), "through\n");
}

#[test]
fn a_time_out_ends_the_whole_family() {
    let scene = Scene::new();
    for command in [
        "sleep 600",
        "sh -c 'sleep 600; true'; true",
        "setsid sleep 600 & sleep 600",
        "trap '' TERM; sleep 600; sleep 600",
        "(setsid sh -c 'sleep 600 & sleep 600 &' &); sleep 600",
        "kill -STOP $$",
        "yes",
        "exec >&- 2>&-; sleep 600",
    ] {
        scene.timed_out(command);
    }
    let printed =
        scene.call("bash", &json!({"command": "echo so far; sleep 600", "timeout": 1}));
    assert!(printed.text.contains("seconds.\nso far\n"), "{}", printed.text);
    assert_eq!(printed.details["stdout"], "so far\n");
}

#[test]
fn processes_that_flee_or_multiply_are_caught() {
    let scene = Scene::new();
    let relay = "sleep 0.01; setsid sh relay.sh &\n";
    fs::write(scene.path("relay.sh"), relay).unwrap();
    scene.timed_out("sh relay.sh; sleep 600");
    let tree = "grow() { if [ $1 -gt 0 ]; then grow $(($1 - 1)) & grow $(($1 - 1)) & fi; sleep 600; }\ngrow 6";
    scene.timed_out(tree);
    // Each that is killed would be replaced, were they not stopped before.
    let pair = "n=0; while [ $n -lt 400 ]; do sleep 0.05 & wait $!; n=$((n + 1)); done\n";
    fs::write(scene.path("again.sh"), pair).unwrap();
    scene.timed_out("for i in 1 2 3 4 5 6; do setsid sh again.sh & done; sleep 600");
}

#[test]
fn a_withdrawn_call_ends_the_family() {
    let scene = Scene::new();
    let command = "echo so far; touch begun; setsid sleep 600 & sleep 600";
    let id = scene.served.borrow_mut().ask("bash", &json!({"command": command}));
    assert!(until(|| scene.path("begun").exists()));
    scene
        .served
        .borrow_mut()
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}}));
    assert!(until(|| scene.left().is_empty()));
    scene.is_well();
}

#[test]
fn a_command_may_kill_or_stop_what_looks_after_it() {
    let scene = Scene::new();
    for command in ["kill -9 $PPID; sleep 600", "setsid sleep 600 & kill -9 $PPID; sleep 600"] {
        let outcome = scene.bash(command);
        assert_eq!(code(&outcome), "exit_status", "{}", outcome.text);
        assert!(outcome.text.contains("its own supervisor"), "{}", outcome.text);
        assert_eq!(scene.left(), Vec::<String>::new(), "{command}");
        scene.is_well();
    }
    // Signals that end a program by default do nothing to it.
    let outcome = scene.bash("kill $PPID; kill -INT $PPID; kill -HUP $PPID; echo on");
    assert_eq!(outcome.text, "on");
    scene.timed_out("setsid sleep 600 & kill -STOP $PPID; sleep 600");
}

#[test]
fn zombies_are_no_processes_and_do_not_stay() {
    let scene = Scene::new();
    let farm = "for i in $(seq 100); do (exit 0) & done; exec sleep 600";
    let outcome = scene.bash(&format!("sh -c '{farm}' >/dev/null & echo planted"));
    assert!(until(|| scene.call("jobs", &json!({})).text.contains("1 process still")));
    assert!(outcome.text.starts_with("planted\n[job 1: "), "{}", outcome.text);
    let ended = scene.call("job_kill", &json!({"job": 1}));
    assert_eq!(ended.details["running"], false);
}

#[test]
fn a_background_job_is_followed_to_its_end() {
    let scene = Scene::new();
    let command = "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two >&2; exit 4";
    let started = scene.call("bash", &json!({"command": command, "background": true}));
    assert!(started.text.starts_with("Started job 1"), "{}", started.text);
    assert_eq!(started.details["job"], 1);
    let text = scene.job_output_until(1, |text| text.contains("one"));
    assert!(text.contains("[job 1: running]"), "{text}");
    let listed = scene.call("jobs", &json!({}));
    assert!(listed.text.starts_with("1  running "), "{}", listed.text);
    fs::write(scene.path("go"), "").unwrap();
    let text = scene.job_output_until(1, |text| text.contains("exit 4"));
    assert!(text.contains("two") && !text.contains("one"), "only what is new: {text}");
    assert_eq!(code(&scene.job_output(2)), "no_such_job");
}

#[test]
fn a_session_has_a_bounded_number_of_jobs() {
    let scene = Scene::new();
    let job = json!({"command": "exec sleep 600", "background": true});
    for n in 1..=64 {
        assert_eq!(scene.call("bash", &job).details["job"], n);
    }
    let refused = scene.call("bash", &job);
    assert_eq!(code(&refused), "too_many_jobs", "{}", refused.text);
    assert!(refused.text.ends_with("\nwhat had begun of it was ended"), "{}", refused.text);
    assert!(until(|| scene.left().len() == 64), "{:?}", scene.left());
    assert!(scene.call("job_kill", &json!({"job": 7})).ok);
    assert_eq!(scene.call("bash", &job).details["job"], 65);
    assert_eq!(code(&scene.job_output(7)), "no_such_job");
}

#[test]
fn a_background_job_ends_when_its_time_is_over() {
    let scene = Scene::new();
    let timed = json!({"command": "sleep 600", "background": true, "timeout": 1});
    assert!(scene.call("bash", &timed).ok);
    let text = scene.job_output_until(1, |text| text.contains("timed out"));
    assert!(text.contains("[job 1: timed out, signal 15 (SIGTERM)]"), "{text}");
}

#[test]
fn two_hundred_commands_run_side_by_side() {
    let scene = Scene::new();
    let mut served = scene.served.borrow_mut();
    for n in 1..=200 {
        let command = format!("echo {n}; cat");
        served.ask("bash", &json!({"command": command, "input": "in", "timeout": 200}));
    }
    let mut line = String::new();
    let mut seen: Vec<(u64, String)> = Vec::new();
    while seen.len() < 200 {
        line.clear();
        assert_ne!(served.answers.read_line(&mut line).unwrap(), 0);
        let answer: Value = serde_json::from_str(&line).unwrap();
        seen.push((answer["id"].as_u64().unwrap(), outcome(&answer).text));
    }
    seen.sort();
    let wanted: Vec<_> = (1..=200).map(|n| (n, format!("{n}\nin"))).collect();
    assert_eq!(seen, wanted);
    assert_eq!(served.left(), Vec::<String>::new());
}

#[test]
fn there_is_no_terminal_and_nothing_to_read() {
    let scene = Scene::new();
    assert_eq!(scene.bash("cat; echo done").text, "done");
    assert_eq!(scene.bash("[ -p /dev/stdin ] || echo no pipe").text, "no pipe");
    assert!(!scene.bash(": </dev/tty").ok);
    // The shell leads a group of its own in a session that it does not lead.
    let ids = scene.bash("cut -d' ' -f1,5,6 /proc/$$/stat").text;
    let ids: Vec<&str> = ids.split_whitespace().collect();
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    let own = fs::read_to_string("/proc/self/stat").unwrap();
    assert_ne!(Some(ids[2]), own.rsplit(')').next().unwrap().split_whitespace().nth(3));
    let only_streams = scene.bash("ls /proc/self/fd | wc -l");
    assert_eq!(only_streams.text.trim(), "4");
}

#[test]
fn input_is_written_while_output_is_read() {
    let scene = Scene::new();
    let long = "0123456789".repeat(30_000);
    let echoed = scene.call("bash", &json!({"command": "cat", "input": long}));
    assert!(echoed.details["stdout"].as_str().unwrap().len() > 15_000);
    let counted = scene.call("bash", &json!({"command": "wc -c", "input": long}));
    assert_eq!(counted.text, "300000");
    let unread = scene.call("bash", &json!({"command": "exec <&-; echo shut", "input": long}));
    assert_eq!(unread.text, "shut");
    let ignored = scene.call("bash", &json!({"command": "echo ignored", "input": long}));
    assert_eq!(ignored.text, "ignored");
}

#[test]
fn streams_may_be_closed_at_any_time() {
    let scene = Scene::new();
    assert_eq!(scene.bash("echo a; exec >&-; exit 0").text, "a");
    assert_eq!(scene.bash("exec >&- 2>&- <&-; exit 4").details["exit_code"], 4);
    assert_eq!(scene.bash("exec 2>&-; echo b").text, "b");
    let late = scene.bash("(sleep 0.02; echo late) & echo early");
    assert_eq!(late.text, "early\nlate");
}

#[test]
fn no_character_is_split_and_what_is_none_is_replaced() {
    let scene = Scene::new();
    let halves = "printf '\\342\\202'; sleep 0.05; printf '\\254\\n'";
    assert_eq!(scene.bash(halves).text, "\u{20ac}");
    assert_eq!(scene.bash("printf 'a\\377b\\342\\202'").text, "a\u{fffd}b\u{fffd}");
    let wide = scene.bash("head -c 2400000 /dev/zero | sed 's/\\x00/\u{e9}/g'");
    assert!(wide.text.ends_with("[stdout truncated: 1351424 characters dropped]"));
}

#[test]
fn a_long_result_is_cut_and_kept_and_its_notes_are_not_cut() {
    let scene = Scene::new();
    let outcome = scene.bash("seq 30000; seq 30000 >&2; sleep 600 >/dev/null 2>&1 & exit 3");
    assert!(outcome.text.starts_with("exit_status: Command exited with status 3.\n1\n2\n"));
    assert!(outcome.text.contains("[... truncated, "), "{}", outcome.text.len());
    let notes = "\n[exit 3]\n[job 1: 1 process still running]";
    assert!(outcome.text.ends_with(notes), "{:?}", &outcome.text[outcome.text.len() - 200..]);
    assert!(outcome.text.chars().count() < 20_400);
    for stream in ["stdout", "stderr"] {
        let excerpt = outcome.details[stream].as_str().unwrap();
        assert!(excerpt.len() < 20_100 && excerpt.contains("characters omitted"), "{stream}");
        assert_eq!(outcome.details[&format!("{stream}_truncated")], false);
    }
    let spill = outcome.text.split(" are in ").nth(1).unwrap().split(" ...]").next().unwrap();
    let kept = fs::read_to_string(spill).unwrap();
    assert!(kept.contains("\n29999\n30000\n[stderr]\n1\n2\n"));
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_runs() {
    let scene = Scene::new();
    fs::write(scene.path("file"), "").unwrap();
    let long = format!("touch ran #{}", "x".repeat(131_071));
    for (arguments, wanted) in [
        (json!({"command": "touch ran\0"}), "bad_arg"),
        (json!({"command": long}), "bad_arg"),
        (json!({"command": "touch ran", "timeout": 0}), "bad_arg"),
        (json!({"command": "touch ran", "timeout": -5}), "bad_arg"),
        (json!({"command": "touch ran", "shell": ""}), "bad_arg"),
        (json!({"command": "touch ran", "shell": "no-such-shell"}), "bad_arg"),
        (json!({"command": "touch ran", "shell": "/no/such/shell"}), "bad_arg"),
        (json!({"command": "touch ran", "directory": "nowhere"}), "not_found"),
        (json!({"command": "touch ran", "directory": "file"}), "bad_arg"),
        (json!({"command": "touch ran", "directory": "a\0b"}), "bad_arg"),
        (
            json!({"command": "touch ran", "shell": "no-such-shell", "background": true}),
            "bad_arg",
        ),
        (json!({"command": "vim; touch ran"}), "interactive_program"),
        (json!({"command": "nice -n 5 less; touch ran"}), "interactive_program"),
        (json!({}), "missing_arg"),
    ] {
        let outcome = scene.call("bash", &arguments);
        assert_eq!(code(&outcome), wanted, "{arguments:.80}: {}", outcome.text);
        assert!(outcome.text.ends_with("\nnothing was run"), "{}", outcome.text);
    }
    assert!(!scene.path("ran").exists());
    assert_eq!(scene.left(), Vec::<String>::new());
    let longest = format!("true #{}", "x".repeat(131_065));
    assert!(scene.bash(&longest).ok);
}

#[test]
fn a_command_starts_where_it_is_told() {
    let scene = Scene::new();
    let ws = scene.path("").canonicalize().unwrap();
    let pwd = |directory: &str| {
        let call = json!({"command": "pwd; echo $PWD", "directory": directory});
        scene.call("bash", &call).text
    };
    let twice = |path: &str| format!("{path}\n{path}");
    assert_eq!(pwd("sub"), twice(ws.join("sub").to_str().unwrap()));
    assert_eq!(pwd("sub/"), twice(ws.join("sub").to_str().unwrap()));
    assert_eq!(pwd("."), twice(ws.to_str().unwrap()));
    assert_eq!(pwd(""), twice(ws.to_str().unwrap()));
    assert_eq!(pwd("/"), twice("/"));
    assert_eq!(scene.bash("pwd").text, ws.display().to_string());
}

#[test]
fn the_environment_is_the_users_without_secrets() {
    let large = "x".repeat(100_000);
    let more = [
        ("A_TOKEN", "probe"),
        ("PLAIN", "plain"),
        ("LARGE1", large.as_str()),
        ("LARGE2", &large),
        ("LARGE3", &large),
        ("LD_PRELOAD_PROBE", "x"),
    ];
    let scene = Scene::of(None, &json!({}), &more);
    assert_eq!(scene.bash("env | grep -c probe; true").text, "0");
    assert_eq!(scene.bash("echo $PLAIN ${#LARGE3}").text, "plain 100000");
    // What stands above a shell has none: a variable of the dynamic linker would reach it unconfined.
    assert_eq!(scene.bash("wc -c </proc/$PPID/environ").text, "0");
    let neutral =
        "echo $GIT_EDITOR $EDITOR $GIT_SEQUENCE_EDITOR $PAGER $GIT_TERMINAL_PROMPT $TERM";
    assert_eq!(scene.bash(neutral).text, "true false false cat 0 dumb");
    let more = [("A_TOKEN", "probe"), ("B_TOKEN", "probe")];
    let settings = json!({"bash": {
        "env": {"pass": ["A_TOKEN"], "set": {"EDITOR": "ed"}},
        "interactive": {"add": ["gdb"], "allow": ["watch"]},
        "timeout": 7, "shell": "bash",
    }});
    let scene = Scene::of(None, &settings, &more);
    let outcome = scene.bash("env | grep -c probe; echo $EDITOR $0");
    assert_eq!(outcome.text, "1\ned bash");
    assert_eq!(outcome.details["timeout_seconds"], 7);
    assert_eq!(code(&scene.bash("gdb x")), "interactive_program");
    assert_ne!(code(&scene.bash("watch --version")), "interactive_program");
}

#[test]
fn an_environment_that_no_program_takes_is_refused_and_harms_nothing() {
    // Each half could be taken, by killick and by its settings.
    let large = "x".repeat(120_000);
    let names: Vec<String> = (0..12).map(|n| format!("OURS{n}")).collect();
    let ours: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), &*large)).collect();
    let set: serde_json::Map<String, Value> =
        (0..8).map(|n| (format!("SET{n}"), large.as_str().into())).collect();
    let scene = Scene::of(None, &json!({"bash": {"env": {"set": set}}}), &ours);
    let outcome = scene.bash("true");
    assert_eq!(code(&outcome), "io", "{:.300}", outcome.text);
    assert!(outcome.text.ends_with("nothing was run"), "{:.300}", outcome.text);
    assert!(scene.call("jobs", &json!({})).ok);
}

#[test]
fn steps_of_a_rebase_are_not_taken_unseen() {
    let scene = Scene::with_settings(&json!({"bash": {"env": {"set": {
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}}}}));
    if !scene.bash("git --version").ok {
        return;
    }
    let commits = "git init -q . && for i in 1 2; do git commit -q --allow-empty -m $i; done";
    assert!(scene.bash(commits).ok);
    let rebased = scene.bash("git rebase -i HEAD~1");
    assert_eq!(code(&rebased), "exit_status", "{}", rebased.text);
    assert!(
        scene.bash("git commit -q --amend --allow-empty").ok,
        "a message that is there stays"
    );
    assert!(scene.bash("git log").text.contains("commit "), "no pager waits");
}

#[test]
fn a_command_that_no_scope_covers_does_not_run() {
    let scene = Scene::restricted("file/read,process/exec(echo *),process/exec(touch *)");
    let denied = scene.bash("ls");
    assert_eq!(code(&denied), "capability_denied", "{}", denied.text);
    assert!(denied.text.ends_with("nothing was run"));
    let other = scene.call("bash", &json!({"command": "echo a", "shell": "bash"}));
    assert_eq!(code(&other), "capability_denied");
    let job = scene.call("jobs", &json!({}));
    assert!(job.ok, "{}", job.text);
    let none = Scene::restricted("file/read");
    assert_eq!(code(&none.bash("echo a")), "capability_denied");
    assert_eq!(code(&none.call("jobs", &json!({}))), "capability_denied");
}

#[test]
fn a_restricted_shell_is_confined_or_does_not_run() {
    let scene = Scene::restricted("file/read,file/write(sub/**),process/exec");
    fs::write(scene.path("secret.txt"), "workspace").unwrap();
    let outcome = scene.bash("echo in > sub/a && cat secret.txt");
    if code(&outcome) == "sandbox_unavailable" {
        assert!(outcome.text.ends_with("nothing was run"), "{}", outcome.text);
        assert!(!scene.path("sub/a").exists());
        return;
    }
    assert_eq!(outcome.text, "workspace");
    assert!(outcome.details["sandbox"]["landlock_abi"].as_u64().unwrap() >= 3);
    let outside = scene.bash("echo out > outside.txt");
    assert!(!outside.ok && !scene.path("outside.txt").exists(), "{}", outside.text);
    assert_eq!(scene.bash("echo x > \"$TMPDIR/x\" && cat \"$TMPDIR/x\"").text, "x");
    let moved = scene.call("bash", &json!({"command": "pwd", "directory": "/"}));
    assert!(!moved.ok && moved.text.ends_with("nothing was run"), "{}", moved.text);
    let there = scene.call("bash", &json!({"command": "echo y > b", "directory": "sub"}));
    assert!(there.ok && scene.path("sub/b").exists(), "{}", there.text);
    let missing = scene.call("bash", &json!({"command": "true", "shell": "no-such-shell"}));
    assert_eq!(code(&missing), "bad_arg");
    let input = scene.call("bash", &json!({"command": "cat", "input": "through"}));
    assert_eq!(input.text, "through");
    scene.timed_out("setsid sleep 600 & sleep 600");
    let killer = scene.bash("kill -9 $PPID; echo alive");
    assert!(killer.text.contains("alive") || !killer.ok, "{}", killer.text);
}

#[test]
fn killick_leaves_nothing_behind_however_it_ends() {
    for signal in ["KILL", "TERM", "INT", "HUP"] {
        let scene = Scene::new();
        let mut served = scene.served.borrow_mut();
        served.busy(&scene.path("begun"));
        served.signal(signal);
        let status = served.child.wait().unwrap();
        assert!(until(|| served.left().is_empty()), "{signal}: {:?}", served.left());
        assert!(!status.success(), "{signal}: {status}");
    }
}

#[test]
fn a_client_that_leaves_ends_what_runs() {
    let scene = Scene::new();
    let mut served = scene.served.borrow_mut();
    served.busy(&scene.path("begun"));
    drop(served.child.stdin.take());
    assert!(served.child.wait().unwrap().success());
    assert_eq!(served.left(), Vec::<String>::new());
}

#[test]
fn a_gigabyte_of_output_needs_little_memory() {
    let scene = Scene::new();
    let command = "yes 0123456789012345678901234567890123456789 | head -c 1000000000";
    let outcome = scene.call("bash", &json!({"command": command, "timeout": 300}));
    assert_eq!(outcome.details["stdout_truncated"], true);
    let status = format!("/proc/{}/status", scene.served.borrow().child.id());
    let status = fs::read_to_string(status).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most_kib: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most_kib < 40 * 1024, "{most_kib} KiB");
}

#[test]
fn how_killick_was_started_does_not_reach_its_commands() {
    let home = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        let output = Command::new("bash")
            .args(["-c", &script.replace("KILLICK", KILLICK)])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .current_dir(home.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    // A parent that ignores the end of its children hands that down.
    let ignored = run("trap '' CHLD; exec KILLICK call bash 'command=exit 3'");
    assert!(ignored.contains("exited with status 3"), "{ignored}");
    let limit = run("ulimit -Sn 300; exec KILLICK call bash 'command=ulimit -Sn'");
    assert_eq!(limit, "300\n");
    let open = run("exec KILLICK call bash 'command=ls /proc/self/fd | wc -l' 7</dev/null");
    assert_eq!(open.trim(), "4");
    let hint = run("exec KILLICK call bash 'command=sleep 600' background=true");
    assert_eq!(hint, "Started job 1\n");
    let temp = run(
        "exec KILLICK --capabilities file/read,process/exec call bash 'command=printf %s \"$TMPDIR\"'",
    );
    let is_told = temp.contains("sandbox_unavailable");
    assert!(is_told || (temp.starts_with('/') && !Path::new(temp.trim()).exists()), "{temp}");
    let no_supervisor =
        run("KILLICK __supervise </dev/null; echo $?; KILLICK __confine </dev/null; echo $?");
    assert_eq!(no_supervisor, "1\n1\n");
}
