//! Command scopes against the shells themselves: what a scope covers, a shell runs, and nothing else.
//!
//! Lines of a nasty alphabet are held against a scope; those that it covers are given to real shells whose
//! `PATH` holds nothing but programs that tell how they were called.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use killick::authority::{
    Capability, CommandLine, Demand, Entry, Grant, Resource, Shell, StartsIn,
};

/// What lines are made of: harmless words, and whatever may split, join, hide or run others.
const PIECES: &[&str] = &[
    "a", "a", "a", "b x", "b x", "evil", "x", " ", " ", " ", "\t", "\n", ";", "; ", "&", " & ",
    "&&", " && ", "|", " | ", "||", "'", "'", "\"", "\"", "\\", "\\\n", " \\\n", "#", " #",
    "$", "$x", "$(evil)", "`", "(", ")", "{", "}", "{a,b}", "<", ">", "2>", "=", "x=1 ", "~",
    "*", "?", "[", "]", "!", "! ", "%", "^", "-", "+", ",", ":", ".", "@", "\r", "\u{b}",
    "\u{7f}", "é", "\u{a0}", "if ", "then ", "time ", "eval ", "exec ", "command ", "coproc ",
    "\\'", "\\\"", "\\\\", "''", "\"\"", "'a'", "\"b\" x", "$'a'", "0", "<<x", "a;b x",
];

/// How many covered lines each shell is given.
const N_LINES: usize = 250;

/// How many lines are drawn at most.
const N_DRAWN: usize = 400_000;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }
}

fn grant() -> Grant {
    let entries = ["process/exec(a *)", "process/exec(b x)"].map(|e| Entry::parse(e).unwrap());
    Grant::from_entries(&entries)
}

fn parsed(line: &str) -> CommandLine {
    CommandLine { shell: Shell::Configured, text: line.into(), starts_in: StartsIn::Workspace }
}

fn covers(grant: &Grant, line: &str) -> bool {
    let resource = Resource::Command(parsed(line));
    grant.covers(&Demand { capability: Capability::ProcessExec, resource })
}

/// Draws lines until enough of them are covered.
fn covered_lines(grant: &Grant) -> BTreeSet<String> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut lines = BTreeSet::new();
    for _ in 0..N_DRAWN {
        let n_pieces = 2 + numbers.below(9);
        let tail = (0..n_pieces).map(|_| PIECES[numbers.below(PIECES.len())]);
        let line: String = std::iter::once("a ").chain(tail).collect();
        let has_signs = line.chars().filter(|c| !c.is_alphanumeric() && *c != ' ').count() > 1;
        if has_signs && covers(grant, &line) {
            lines.insert(line);
        }
        if lines.len() == N_LINES {
            break;
        }
    }
    lines
}

/// A folder with nothing but programs that each leave a file that tells how they were called.
struct Stubs {
    home: tempfile::TempDir,
}

impl Stubs {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["bin", "log", "cwd"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        for name in ["a", "b", "x", "evil"] {
            let path = home.path().join("bin").join(name);
            let log = home.path().join("log").display().to_string();
            let script =
                format!("#!/bin/sh\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" > '{log}'/$$\n");
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs a line and returns every program that it called, each with its words.
    fn run(&self, shell: &Path, line: &str) -> Vec<Vec<String>> {
        let ended = Command::new(shell)
            .args(["-c", line])
            .env_clear()
            .env("PATH", self.path("bin"))
            .current_dir(self.path("cwd"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let complaints = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(complaints, "", "{} and {line:?}", shell.display());
        let left: Vec<_> = fs::read_dir(self.path("cwd")).unwrap().collect();
        assert!(left.is_empty(), "{} and {line:?} left {left:?}", shell.display());
        let logs = fs::read_dir(self.path("log")).unwrap().map(|entry| entry.unwrap().path());
        let calls = logs.map(|log| {
            let bytes = fs::read(&log).unwrap();
            fs::remove_file(log).unwrap();
            let words = bytes.split(|&byte| byte == 0).map(|w| String::from_utf8(w.to_vec()));
            let mut words: Vec<String> = words.map(Result::unwrap).collect();
            words.pop();
            words
        });
        calls.collect()
    }
}

fn shells() -> Vec<PathBuf> {
    let known = ["/bin/sh", "/bin/bash", "/bin/dash"].map(PathBuf::from);
    known.into_iter().filter(|shell| shell.exists()).collect()
}

#[test]
fn what_a_scope_covers_runs_in_every_shell_as_it_was_read() {
    let grant = grant();
    let lines = covered_lines(&grant);
    assert!(lines.len() > N_LINES / 2, "only {} lines are covered", lines.len());
    let stubs = Stubs::new();
    for shell in shells() {
        for line in &lines {
            let own = parsed(line).own_scope();
            for words in stubs.run(&shell, line) {
                if let Some(own) = &own {
                    assert_eq!(
                        words.join(" "),
                        own.as_str(),
                        "{} and {line:?}",
                        shell.display()
                    );
                }
                let is_granted = match words.first().map(String::as_str) {
                    Some("a") => true,
                    Some("b") => words.len() == 2 && words[1] == "x",
                    Some(_) | None => false,
                };
                assert!(is_granted, "{} and {line:?}: {words:?}", shell.display());
            }
        }
    }
}

#[test]
fn the_programs_of_the_shells_tell_what_was_called() {
    let stubs = Stubs::new();
    for shell in shells() {
        let mut calls = stubs.run(&shell, "a 'x y' \"\" | evil; b $((1+1))");
        calls.sort();
        assert_eq!(calls, [vec!["a", "x y", ""], vec!["b", "2"], vec!["evil"]]);
    }
}

#[test]
fn no_scope_covers_a_builtin_that_is_not_known_to_be_harmless() {
    let harmless = [":", "cd", "echo", "exit", "false", "kill", "pwd", "true", "umask"];
    let bash = Path::new("/bin/bash");
    let builtins = if bash.exists() {
        let listed = Command::new(bash).args(["-c", "compgen -b"]).output().unwrap();
        String::from_utf8(listed.stdout).unwrap()
    } else {
        "eval\nexec\n".to_owned()
    };
    for name in builtins.lines().filter(|name| !harmless.contains(name)) {
        assert!(Entry::parse(&format!("process/exec({name} *)")).is_err(), "{name}");
    }
    for name in harmless {
        assert!(Entry::parse(&format!("process/exec({name} *)")).is_ok(), "{name}");
    }
}
