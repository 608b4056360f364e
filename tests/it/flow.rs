//! Flows in process: a session over a scratch workspace, driven through the executor as any caller is.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use killick::app::{App, Options, SessionKind, Sources};
use killick::dispatch::Call;
use killick::session::SessionId;
use killick::tool::Outcome;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A scratch workspace with its own state folder.
struct Scratch {
    home: TempDir,
}

impl Scratch {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("ws")).unwrap();
        Self { home }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.home.path().join("ws").join(name)
    }

    fn lay(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn options(&self, capabilities: Option<&str>) -> Options {
        Options {
            workspace: self.path(""),
            sources: Sources::None,
            capabilities: capabilities.map(str::to_owned),
            tools: None,
            state: self.home.path().join("state"),
            config: self.home.path().join("config"),
            environment: Vec::new(),
            home: self.home.path().to_owned(),
            temp: std::env::temp_dir(),
            warn: |_| {},
        }
    }

    fn session(&self, capabilities: Option<&str>) -> Driven {
        Driven::start(self.options(capabilities), SessionKind::Process)
    }
}

/// A session and the runtime that polls it.
struct Driven {
    app: Arc<App>,
    runtime: tokio::runtime::Runtime,
}

impl Driven {
    fn start(options: Options, kind: SessionKind) -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { app: Arc::new(App::start(options, kind).unwrap()), runtime }
    }

    fn call(&self, tool: &str, arguments: Value) -> Outcome {
        let call = Call { tool: tool.to_owned(), arguments };
        self.runtime.block_on(self.app.executor.call(call, &CancellationToken::new()))
    }

    fn ok(&self, tool: &str, arguments: Value) -> String {
        let outcome = self.call(tool, arguments);
        assert!(outcome.ok, "{}", outcome.text);
        outcome.text
    }

    fn refused(&self, tool: &str, arguments: Value) -> (String, String) {
        let outcome = self.call(tool, arguments);
        assert!(!outcome.ok, "{}", outcome.text);
        (outcome.error.unwrap().code.to_string(), outcome.text)
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn writes_are_undone_and_redone_with_everything_they_made() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "old\n");
    let session = scratch.session(None);
    session.ok("write", json!({"path": "a.txt", "content": "new\n"}));
    session.ok("write", json!({"path": "d/e/b.txt", "content": "b\n"}));
    session.ok("undo", json!({"count": 2}));
    assert_eq!(scratch.read("a.txt"), "old\n");
    assert_eq!(entries(&scratch.path("")), ["a.txt"]);
    session.ok("undo", json!({}));
    assert_eq!(
        (scratch.read("a.txt"), scratch.read("d/e/b.txt")),
        ("new\n".into(), "b\n".into())
    );
}

#[test]
fn an_undo_is_refused_whole_when_one_file_has_changed_since() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "a").lay("b.txt", "b");
    let session = scratch.session(None);
    session.ok("write", json!({"path": "a.txt", "content": "A"}));
    session.ok("write", json!({"path": "b.txt", "content": "B"}));
    scratch.lay("a.txt", "somebody else");
    let (code, text) = session.refused("undo", json!({"count": 2}));
    assert_eq!(code, "conflict");
    assert!(text.ends_with("nothing was written"), "{text}");
    assert_eq!(
        (scratch.read("a.txt"), scratch.read("b.txt")),
        ("somebody else".into(), "B".into())
    );
}

#[test]
fn a_session_cannot_take_back_what_it_may_not_write() {
    let scratch = Scratch::new();
    let id = SessionId::new("one").unwrap();
    {
        let whole = Driven::start(scratch.options(None), SessionKind::Named(id.clone()));
        whole.ok("write", json!({"path": "a.txt", "content": "A"}));
    }
    let narrow = Driven::start(scratch.options(Some("file/read")), SessionKind::Named(id));
    assert_eq!(narrow.refused("undo", json!({})).0, "capability_denied");
    assert_eq!(scratch.read("a.txt"), "A");
}

#[test]
fn a_write_says_when_the_file_was_not_what_the_session_had_seen() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "one\n");
    let session = scratch.session(None);
    let unread = session.ok("write", json!({"path": "a.txt", "content": "two\n"}));
    assert!(unread.contains("had not read"), "{unread}");
    scratch.lay("a.txt", "three\n");
    let changed = session.ok("write", json!({"path": "a.txt", "content": "four\n"}));
    assert!(changed.contains("had changed"), "{changed}");
    let seen = session.ok("write", json!({"path": "a.txt", "content": "five\n"}));
    assert_eq!(seen, "Wrote 5 characters to a.txt.");
}

#[test]
fn a_long_result_is_cut_and_the_whole_can_be_read_from_its_spill() {
    let scratch = Scratch::new();
    for n in 0..900 {
        scratch.lay(&format!("{}/{n:04}.txt", "folder-with-a-long-name".repeat(2)), "");
    }
    let session = scratch.session(None);
    let text = session.ok("find", json!({"pattern": "**"}));
    assert!(text.chars().count() < 20_400, "{}", text.chars().count());
    let note = text.lines().find(|line| line.starts_with("[... truncated")).unwrap();
    let spill = note.split(" are in ").nth(1).unwrap().trim_end_matches(" ...]");
    let rows = session.ok("search", json!({"pattern": "0450", "path": spill}));
    assert!(rows.contains("0450.txt"), "{rows}");
    let (code, _) = session.refused("write", json!({"path": spill, "content": ""}));
    assert_eq!(code, "read_only");
}

#[test]
fn pages_of_a_long_file_join_to_the_whole() {
    let scratch = Scratch::new();
    let lines: Vec<String> =
        (1..=3000).map(|n| format!("line {n} {}", "x".repeat(n % 90))).collect();
    scratch.lay("a.txt", lines.join("\n"));
    let session = scratch.session(None);
    let mut seen = Vec::new();
    while seen.len() < lines.len() {
        let page = session
            .call("read", json!({"path": "a.txt", "start": seen.len() + 1, "raw": true}));
        assert!(page.text.chars().count() <= 20_000);
        let rows = page.text.lines().filter(|line| !line.starts_with('('));
        seen.extend(rows.map(str::to_owned));
    }
    assert_eq!(seen, lines);
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let scratch = Scratch::new();
    scratch.lay("f", "x");
    fs::create_dir(scratch.path("d")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(scratch.path("pipe")).status().unwrap();
    assert!(made.success());
    symlink("loop2", scratch.path("loop1")).unwrap();
    symlink("loop1", scratch.path("loop2")).unwrap();
    let huge = fs::File::create(scratch.path("huge")).unwrap();
    huge.set_len(10 << 30).unwrap();
    let session = scratch.session(None);
    let cases = [
        ("pipe", "not_text"),
        ("d", "is_directory"),
        ("loop1", "io"),
        ("huge", "too_large"),
        ("f/x", "not_found"),
        ("nothing", "not_found"),
        ("../x", "path_escape"),
        ("/etc/passwd", "path_escape"),
        ("a\0b", "bad_arg"),
    ];
    for (path, wanted) in cases {
        assert_eq!(session.refused("read", json!({"path": path})).0, wanted, "{path:?}");
    }
    let not_written =
        [("pipe", "not_text"), ("d", "is_directory"), ("loop1", "io"), ("../x", "path_escape")];
    for (path, wanted) in not_written {
        let (code, text) = session.refused("write", json!({"path": path, "content": "x"}));
        assert_eq!(code, wanted, "{path}");
        assert!(text.ends_with("nothing was written"), "{text}");
    }
    let found = session.ok("search", json!({"pattern": "x", "path": "huge"}));
    assert!(found.contains("not text"), "{found}");
}

#[test]
fn a_file_without_a_write_bit_stays_as_it_is() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "x");
    fs::set_permissions(scratch.path("a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    let session = scratch.session(None);
    assert_eq!(
        session.refused("write", json!({"path": "a.txt", "content": "y"})).0,
        "read_only"
    );
    assert_eq!(scratch.read("a.txt"), "x");
}

#[test]
fn a_scoped_session_sees_and_touches_its_scope_only() {
    let scratch = Scratch::new();
    scratch.lay("src/a.rs", "fn a() {}\n").lay("secret/b.rs", "fn b() {}\n");
    fs::hard_link(scratch.path("secret/b.rs"), scratch.path("src/linked.rs")).unwrap();
    symlink("../secret/b.rs", scratch.path("src/s.rs")).unwrap();
    let session = scratch.session(Some("file/read(src/**),file/write(src/**)"));
    let found = session.ok("find", json!({"pattern": "**/*.rs"}));
    assert_eq!(found.lines().next(), Some("src/a.rs"));
    assert!(!found.contains("linked.rs") && !found.contains("src/s.rs"), "{found}");
    let searched = session.ok("search", json!({"pattern": "fn", "path": "."}));
    assert!(searched.contains("fn a") && !searched.contains("fn b"), "{searched}");
    let listed = session.ok("list_dir", json!({"depth": 2}));
    assert!(listed.contains("src/") && !listed.contains("secret"), "{listed}");
    for path in ["secret/b.rs", "src/s.rs", "src/linked.rs"] {
        let (code, text) = session.refused("read", json!({"path": path}));
        assert_eq!(code, "capability_denied", "{path}");
        assert!(!text.contains("fn b"), "{text}");
        let (code, _) = session.refused("write", json!({"path": path, "content": "x"}));
        assert_eq!(code, "capability_denied", "{path}");
    }
    assert_eq!(scratch.read("secret/b.rs"), "fn b() {}\n");
}

#[test]
fn a_cancelled_call_is_an_outcome_and_writes_nothing() {
    let scratch = Scratch::new();
    let session = scratch.session(None);
    let token = CancellationToken::new();
    token.cancel();
    let call =
        Call { tool: "write".to_owned(), arguments: json!({"path": "a", "content": "x"}) };
    let outcome = session.runtime.block_on(session.app.executor.call(call, &token));
    assert_eq!(outcome.text, "cancelled: the caller withdrew the call.\nnothing was written");
    assert!(!scratch.path("a").exists());
}

#[test]
fn every_call_is_in_the_audit_and_the_chain_holds() {
    let scratch = Scratch::new();
    let session = scratch.session(Some("file/read"));
    session.call("read", json!({"path": "nothing"}));
    session.call("write", json!({"path": "a", "content": "x"}));
    session.call("no_such_tool", json!({"api_key": "sk-1"}));
    let store = killick::store::Store::open(scratch.home.path().join("state")).unwrap();
    let root = scratch.path("").canonicalize().unwrap();
    let audit = killick::store::Audit::new(&store.workspace(&root));
    assert_eq!(audit.check().unwrap(), killick::store::Chain::Whole { n_records: 6 });
}

#[test]
fn two_sessions_that_write_one_file_lose_no_write() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "start");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let scratch = &scratch;
            scope.spawn(move || {
                let session = scratch.session(None);
                for n in 0..10 {
                    let content = format!("{writer} {n}");
                    session.ok("write", json!({"path": "a.txt", "content": content}));
                }
            });
        }
    });
    let last = scratch.read("a.txt");
    assert!(last.ends_with(" 9"), "{last}");
    assert_eq!(entries(&scratch.path("")), ["a.txt"]);
}

/// Returns the anchors that `read` shows of a file, by line from 1.
fn anchors(session: &Driven, path: &str) -> Vec<String> {
    let text = session.ok("read", json!({"path": path}));
    text.lines().map(|row| row.split('|').next().unwrap().to_owned()).collect()
}

fn replace_line(path: &str, anchor: &str, row: &str) -> String {
    format!("@@ {path}\n= {anchor}..{anchor}\n~{row}\n")
}

#[test]
fn a_patch_with_one_stale_anchor_changes_no_file() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "a\n").lay("b.txt", "b\n");
    let session = scratch.session(None);
    let (a, b) = (anchors(&session, "a.txt"), anchors(&session, "b.txt"));
    scratch.lay("b.txt", "somebody else\n");
    let patch = replace_line("a.txt", &a[0], "A") + &replace_line("b.txt", &b[0], "B");
    let (code, text) = session.refused("edit", json!({"input": patch}));
    assert_eq!(code, "stale_anchor");
    assert!(text.contains("somebody else") && text.contains("nothing was written"), "{text}");
    assert_eq!(
        (scratch.read("a.txt"), scratch.read("b.txt")),
        ("a\n".into(), "somebody else\n".into())
    );
    let b =
        text.lines().find(|row| row.contains("|somebody")).unwrap().split('|').next().unwrap();
    let patch = replace_line("a.txt", &a[0], "A") + &replace_line("b.txt", b, "B");
    session.ok("edit", json!({"input": patch}));
    assert_eq!((scratch.read("a.txt"), scratch.read("b.txt")), ("A\n".into(), "B\n".into()));
    session.ok("undo", json!({}));
    assert_eq!(
        (scratch.read("a.txt"), scratch.read("b.txt")),
        ("a\n".into(), "somebody else\n".into())
    );
}

#[test]
fn a_change_elsewhere_is_not_in_the_way_and_stays() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "one\ntwo\nthree\n");
    let session = scratch.session(None);
    let rows = anchors(&session, "a.txt");
    scratch.lay("a.txt", "one\ntwo\nthree\nadded by somebody else\n");
    session.ok("edit", json!({"input": replace_line("a.txt", &rows[1], "TWO")}));
    assert_eq!(scratch.read("a.txt"), "one\nTWO\nthree\nadded by somebody else\n");
}

#[test]
fn the_anchors_of_a_result_serve_the_next_edit() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "one\ntwo\n");
    let session = scratch.session(None);
    let rows = anchors(&session, "a.txt");
    let text =
        session.ok("edit", json!({"input": format!("@@ a.txt\n< {}\n~zero\n", rows[0])}));
    let fresh =
        text.lines().find(|row| row.ends_with("|one")).unwrap().split('|').next().unwrap();
    session.ok("edit", json!({"input": replace_line("a.txt", fresh, "ONE")}));
    assert_eq!(scratch.read("a.txt"), "zero\nONE\ntwo\n");
}

#[test]
fn a_file_under_two_spellings_is_one_file_and_a_link_stays_a_link() {
    let scratch = Scratch::new();
    scratch.lay("d/a.txt", "one\ntwo\n");
    symlink("d/a.txt", scratch.path("link")).unwrap();
    let session = scratch.session(None);
    let rows = anchors(&session, "link");
    let patch = replace_line("./d/../link", &rows[0], "ONE")
        + &replace_line("d/a.txt", &rows[1], "TWO");
    session.ok("edit", json!({"input": patch}));
    assert_eq!(scratch.read("d/a.txt"), "ONE\nTWO\n");
    assert!(fs::symlink_metadata(scratch.path("link")).unwrap().is_symlink());
}

#[test]
fn a_named_session_edits_with_what_another_process_read() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "one\ntwo\n");
    let named = || SessionKind::Named(SessionId::new("s").unwrap());
    let rows: Vec<String> = {
        let mut first = Driven::start(scratch.options(None), named());
        let outcome = first.call("read", json!({"path": "a.txt"}));
        let app = Arc::get_mut(&mut first.app).unwrap();
        app.keep(&outcome.effects).unwrap();
        outcome.text.lines().map(|row| row.split('|').next().unwrap().to_owned()).collect()
    };
    let second = Driven::start(scratch.options(None), named());
    second.ok("edit", json!({"input": replace_line("a.txt", &rows[1], "TWO")}));
    assert_eq!(scratch.read("a.txt"), "one\nTWO\n");
    drop(second);
    let stranger = scratch.session(None);
    assert_eq!(
        stranger.refused("edit", json!({"input": replace_line("a.txt", &rows[0], "x")})).0,
        "unread"
    );
}

#[test]
fn sessions_that_edit_the_same_files_lose_no_accepted_edit() {
    let (n_writers, n_files, n_rounds) = (3, 4, 8);
    let scratch = Scratch::new();
    for file in 0..n_files {
        let lines: Vec<String> =
            (0..n_writers).map(|writer| format!("writer {writer}: start\n")).collect();
        scratch.lay(&format!("f{file}"), lines.concat());
    }
    std::thread::scope(|scope| {
        for writer in 0..n_writers {
            let scratch = &scratch;
            scope.spawn(move || {
                let session = scratch.session(None);
                for round in 0..n_rounds {
                    let path = format!("f{}", round % n_files);
                    // A refusal writes nothing, so the edit is made again with what is there now.
                    loop {
                        let rows = anchors(&session, &path);
                        let row = format!("writer {writer}: round {round}");
                        let patch = replace_line(&path, &rows[writer], &row);
                        if session.call("edit", json!({"input": patch})).ok {
                            break;
                        }
                    }
                }
            });
        }
    });
    for file in 0..n_files {
        let last = n_rounds - n_files + file;
        let wanted: Vec<String> =
            (0..n_writers).map(|writer| format!("writer {writer}: round {last}\n")).collect();
        assert_eq!(scratch.read(&format!("f{file}")), wanted.concat());
    }
}

#[test]
fn an_exact_text_is_replaced_with_the_endings_of_its_place() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "one\r\ntwo\r\nthree\n");
    let session = scratch.session(None);
    session.ok("read", json!({"path": "a.txt"}));
    session.ok(
        "replace",
        json!({"path": "a.txt", "old_string": "one\ntwo", "new_string": "1\n2"}),
    );
    assert_eq!(scratch.read("a.txt"), "1\r\n2\r\nthree\n");
    let twice = json!({"path": "a.txt", "old_string": "nowhere", "new_string": ""});
    assert_eq!(session.refused("replace", twice).0, "old_string_not_found");
}

#[test]
fn a_sure_repair_is_written_and_says_what_it_changed() {
    let scratch = Scratch::new();
    scratch.lay("a.lisp", "(defun f (x)\n  (when x\n    (print x)))\n\n(defun g () 1)\n");
    let session = scratch.session(None);
    let rows = anchors(&session, "a.lisp");
    let patch = format!("@@ a.lisp\n= {}..{}\n~    (print (1+ x))\n", rows[2], rows[2]);
    let text = session.ok("edit", json!({"input": patch}));
    assert!(
        text.starts_with("Edited (repaired) a.lisp") && text.contains("as sent it was"),
        "{text}"
    );
    assert_eq!(
        scratch.read("a.lisp"),
        "(defun f (x)\n  (when x\n    (print (1+ x))))\n\n(defun g () 1)\n"
    );
}

#[test]
fn a_patch_that_is_held_back_is_accepted_whole_once_and_by_another_process() {
    let scratch = Scratch::new();
    scratch.lay("a.lisp", "(defun f (x)\n  (when x\n    (print x)))\n").lay("b.txt", "b\n");
    let named = || SessionKind::Named(SessionId::new("s").unwrap());
    let call = |tool: &str, arguments: Value| {
        let mut driven = Driven::start(scratch.options(None), named());
        let outcome = driven.call(tool, arguments);
        Arc::get_mut(&mut driven.app).unwrap().keep(&outcome.effects).unwrap();
        outcome
    };
    let anchor_of = |path: &str, line: usize| {
        let text = call("read", json!({"path": path})).text;
        text.lines().nth(line - 1).unwrap().split('|').next().unwrap().to_owned()
    };
    let (a, b) = (anchor_of("a.lisp", 3), anchor_of("b.txt", 1));
    let patch =
        replace_line("a.lisp", &a, "    (print (1+ x))") + &replace_line("b.txt", &b, "B");
    let shown = call("edit", json!({"input": patch, "repair": "preview"}));
    assert!(shown.ok && shown.text.contains("candidate"), "{}", shown.text);
    assert_eq!(scratch.read("b.txt"), "b\n");
    let accept = json!({"accept_repair": shown.details["candidate"], "path": "a.lisp"});
    let wrong = json!({"accept_repair": shown.details["candidate"], "path": "c.txt"});
    assert_eq!(call("edit", wrong).error.unwrap().code.as_str(), "bad_arg");
    scratch.lay("b.txt", "somebody else\n");
    assert_eq!(call("edit", accept.clone()).error.unwrap().code.as_str(), "stale_candidate");
    scratch.lay("b.txt", "b\n");
    let accepted = call("edit", accept.clone());
    assert!(accepted.ok, "{}", accepted.text);
    assert_eq!(scratch.read("a.lisp"), "(defun f (x)\n  (when x\n    (print (1+ x))))\n");
    assert_eq!(scratch.read("b.txt"), "B\n");
    assert_eq!(call("edit", accept).error.unwrap().code.as_str(), "unknown_candidate");
}

#[test]
fn a_candidate_shows_every_repair_that_accepting_it_writes() {
    let scratch = Scratch::new();
    scratch
        .lay("a.lisp", "(defun f (x)\n  (when x\n    (print x)))\n\n(defun g () 1)\n")
        .lay("b.lisp", "(defun b (x) (list x))\n");
    let session = scratch.session(None);
    let (a, b) = (anchors(&session, "a.lisp"), anchors(&session, "b.lisp"));
    let patch = replace_line("a.lisp", &a[2], "    (print (1+ x))")
        + &replace_line("b.lisp", &b[0], "(defun b (x) (list x)");
    let shown = session.ok("edit", json!({"input": patch}));
    assert!(shown.contains("candidate") && shown.contains("+++ b.lisp, repaired"), "{shown}");
    assert!(shown.contains("+    (print (1+ x))))"), "{shown}");
}

#[test]
fn a_new_form_stands_alone_and_runs_into_nothing() {
    let scratch = Scratch::new();
    scratch.lay("a.lisp", "(a(b)c)\n");
    let session = scratch.session(None);
    let form =
        |old: &str, new: &str| json!({"path": "a.lisp", "match_form": old, "new_form": new});
    for (old, new) in [
        ("(b)", "d"),
        ("(b)", ""),
        ("c", "'"),
        ("c", "(d ')"),
        ("c", "; only a comment"),
        ("c", "d ; and a comment"),
    ] {
        assert_eq!(session.refused("edit_sexp", form(old, new)).0, "bad_arg", "{old} {new}");
    }
    assert_eq!(scratch.read("a.lisp"), "(a(b)c)\n");
    session.ok("edit_sexp", form("(b)", "(d)"));
    session.ok("edit_sexp", form("c", ""));
    assert_eq!(scratch.read("a.lisp"), "(a(d))\n");
}

#[test]
fn a_deletion_takes_nothing_that_was_not_named() {
    let scratch = Scratch::new();
    let source = "(a ^:private b #_#_c d e)\n";
    scratch.lay("a.clj", source);
    let session = scratch.session(None);
    let delete = |old: &str| json!({"path": "a.clj", "match_form": old, "new_form": ""});
    for old in [":private", "c", "d"] {
        assert_eq!(session.refused("edit_sexp", delete(old)).0, "bad_arg", "{old}");
    }
    assert_eq!(scratch.read("a.clj"), source);
    session.ok("edit_sexp", delete("b"));
    assert_eq!(scratch.read("a.clj"), "(a #_#_c d e)\n");
}

#[test]
fn forms_are_listed_shown_and_replaced_as_forms() {
    let scratch = Scratch::new();
    scratch.lay("a.lisp", "(defun f (x)\n  (g x))\n\n(defun h (x)\n  (g x))\n");
    let session = scratch.session(None);
    assert_eq!(
        session.ok("outline", json!({"path": "a.lisp"})),
        "1..2  (defun f)\n4..5  (defun h)"
    );
    let shown = session.ok("read", json!({"path": "a.lisp", "form": "defun h"}));
    assert!(shown.starts_with("4:") && shown.lines().count() == 2, "{shown}");
    let form = |within: Value| json!({"path": "a.lisp", "match_form": "(g x)", "new_form": "(let ((y x))\n(g y))", "within": within});
    let (code, text) = session.refused("edit_sexp", form(Value::Null));
    assert_eq!(code, "ambiguous_form");
    assert!(text.contains("2:3, 5:3") && text.ends_with("nothing was written"), "{text}");
    session.ok("edit_sexp", form(json!("defun h")));
    assert_eq!(
        scratch.read("a.lisp"),
        "(defun f (x)\n  (g x))\n\n(defun h (x)\n  (let ((y x))\n    (g y)))\n"
    );
}

#[test]
fn outside_a_scope_nothing_is_told_of_what_stands_there() {
    let scratch = Scratch::new();
    scratch.lay("src/a.rs", "a\n").lay("priv/k.rs", "secret\n").lay("top.txt", "secret\n");
    symlink("/etc", scratch.path("priv/out")).unwrap();
    symlink("../priv", scratch.path("src/folder")).unwrap();
    symlink("../priv/k.rs", scratch.path("src/file")).unwrap();
    symlink("../priv/nothing", scratch.path("src/nothing")).unwrap();
    symlink("a.rs", scratch.path("src/inside")).unwrap();
    for capabilities in ["file/read(src/**),file/write(src/**)", ""] {
        let session = scratch.session(Some(capabilities));
        // Each pair is something that exists and the same with nothing there.
        for (there, not_there) in [
            ("top.txt/x", "tip.txt/x"),
            ("priv/k.rs/x/y", "priv/n.rs/x/y"),
            ("priv/out", "priv/not"),
            ("priv/out/passwd", "priv/not/passwd"),
            ("src/folder/k.rs/x", "src/folder/n.rs/x"),
            ("priv", "prov"),
        ] {
            for (tool, key) in [("read", "path"), ("list_dir", "path"), ("find", "pattern")] {
                let refused = |path: &str| session.refused(tool, json!({key: path}));
                let (code, text) = refused(there);
                assert_eq!(code, "capability_denied", "{tool} {there}: {text}");
                let last = |path: &str| path.rsplit_once('/').map_or(path, |p| p.0).to_owned();
                let masked = |text: &str| {
                    [there, not_there, &last(there), &last(not_there), "k.rs", "n.rs"]
                        .iter()
                        .fold(text.to_owned(), |text, part| text.replace(part, "_"))
                };
                assert_eq!(masked(&refused(not_there).1), masked(&text), "{tool} {there}");
            }
            let written = session.refused("write", json!({"path": there, "content": ""}));
            assert_eq!(written.0, "capability_denied", "{there}: {}", written.1);
        }
    }
    let session = scratch.session(Some("file/read(src/**)"));
    assert_eq!(
        session.ok("list_dir", json!({"path": "src"})),
        "a.rs  2 B\ninside  2 B, symlink\n(3 entries outside what this session may read and left out)"
    );
    for pattern in ["priv/*", "prov/*", "top.txt/*", "src/folder/**"] {
        assert_eq!(session.refused("find", json!({"pattern": pattern})).0, "capability_denied");
        let search = json!({"pattern": "secret", "path": pattern});
        assert_eq!(session.refused("search", search).0, "capability_denied");
    }
}

#[test]
fn who_may_write_but_not_read_is_not_shown_what_was_replaced() {
    let scratch = Scratch::new();
    scratch.lay("src/a.rs", "secret\n");
    let session = scratch.session(Some("file/write(src/**)"));
    let outcome = session.call("write", json!({"path": "src/a.rs", "content": "new\n"}));
    assert!(outcome.ok, "{}", outcome.text);
    let told = Value::Object(outcome.details.clone()).to_string();
    assert!(!told.contains("secret"), "{told}");
    assert_eq!(outcome.details["prior"]["bytes"], 7);
    session.ok("undo", json!({}));
    assert_eq!(scratch.read("src/a.rs"), "secret\n");
}

#[test]
fn nothing_can_be_put_where_settings_belong() {
    let scratch = Scratch::new();
    let session = scratch.session(None);
    for path in
        [".killick", "sub/.killick", ".killick/settings.json/x", ".KILLICK/Settings.json/x"]
    {
        let (code, _) = session.refused("write", json!({"path": path, "content": "x"}));
        assert_eq!(code, "forbidden_path", "{path}");
    }
    assert!(entries(&scratch.path("")).is_empty());
    session.ok("write", json!({"path": ".killick/init.lisp", "content": "x"}));
}

#[test]
fn a_path_that_ends_in_a_slash_makes_no_file() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "a");
    let session = scratch.session(None);
    for path in ["new/", "d/new//"] {
        let (code, text) = session.refused("write", json!({"path": path, "content": "x"}));
        assert_eq!(code, "is_directory", "{text}");
    }
    assert_eq!(entries(&scratch.path("")), ["a.txt"]);
    let scoped = scratch.session(Some("file/write(src/**)"));
    for path in ["new/", "a.txt/"] {
        let (code, _) = scoped.refused("write", json!({"path": path, "content": "x"}));
        assert_eq!(code, "capability_denied", "{path}");
    }
}

#[test]
fn what_a_late_writer_did_to_a_kept_content_is_told_and_harms_no_later_one() {
    let scratch = Scratch::new();
    scratch.lay("a.txt", "one\n").lay("b.txt", "one\n");
    let session = scratch.session(None);
    let mut late = fs::OpenOptions::new().append(true).open(scratch.path("a.txt")).unwrap();
    session.ok("write", json!({"path": "a.txt", "content": "two\n"}));
    std::io::Write::write_all(&mut late, b"late\n").unwrap();
    let (code, text) = session.refused("undo", json!({}));
    assert_eq!(code, "conflict", "{text}");
    let kept = text.split("What it became is in ").nth(1).unwrap();
    let kept = kept.split(".\n").next().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "one\nlate\n");
    session.ok("write", json!({"path": "b.txt", "content": "two\n"}));
    session.ok("undo", json!({}));
    assert_eq!(scratch.read("b.txt"), "one\n");
}

#[test]
fn a_write_says_when_what_it_replaced_is_too_large_to_bring_back() {
    let scratch = Scratch::new();
    fs::File::create(scratch.path("large")).unwrap().set_len((64 << 20) + 1).unwrap();
    let session = scratch.session(None);
    let text = session.ok("write", json!({"path": "large", "content": "small"}));
    assert!(text.contains("undo cannot bring it back"), "{text}");
    assert_eq!(session.refused("undo", json!({})).0, "not_found");
    let text = session.ok("write", json!({"path": "large", "content": "again"}));
    assert!(!text.contains("undo cannot"), "{text}");
    session.ok("undo", json!({}));
    assert_eq!(scratch.read("large"), "small");
}
