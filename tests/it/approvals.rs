//! Approvals in process: a session whose calls a scripted person confirms, or nobody.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use killick::app::{App, Options, SessionKind, Sources};
use killick::code::Code;
use killick::dispatch::{Answering, Approver, Call, Desk};
use killick::protocol::{Answer, Question, View};
use killick::tool::Outcome;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What the person does with one question.
enum Script {
    Say(Answer),
    /// Says so after a long while.
    Late(Answer),
    /// Never says anything.
    Silence,
    Panic,
}

/// A person who answers by the book, and remembers what was asked.
#[derive(Default)]
struct Person {
    script: Mutex<VecDeque<Script>>,
    asked: Mutex<Vec<Question>>,
    n_open: Arc<AtomicUsize>,
    most_open: Arc<AtomicUsize>,
}

/// Counts a question as open until it is answered or taken back.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Person {
    fn of(script: impl IntoIterator<Item = Script>) -> Arc<Self> {
        Arc::new(Self { script: Mutex::new(script.into_iter().collect()), ..Self::default() })
    }

    fn saying(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        Self::of(answers.into_iter().map(Script::Say))
    }

    fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    fn demands(&self) -> Vec<String> {
        self.asked().into_iter().map(|question| question.demands.join(" + ")).collect()
    }
}

impl Approver for Person {
    fn ask(&self, question: Question) -> Answering {
        self.asked.lock().unwrap().push(question);
        let script = self.script.lock().unwrap().pop_front();
        let script = script.unwrap_or_else(|| panic!("nobody expected this question"));
        let n_open = self.n_open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(n_open, Ordering::SeqCst);
        let open = Open(Arc::clone(&self.n_open));
        Box::pin(async move {
            let _open = open;
            tokio::task::yield_now().await;
            match script {
                Script::Say(answer) => answer,
                Script::Late(answer) => {
                    tokio::time::sleep(Duration::from_hours(5)).await;
                    answer
                }
                Script::Silence => std::future::pending().await,
                Script::Panic => panic!("the person left"),
            }
        })
    }
}

/// A scratch workspace with settings.
struct Scratch {
    home: TempDir,
}

impl Scratch {
    fn new(settings: &Value) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("ws")).unwrap();
        fs::create_dir_all(home.path().join("config")).unwrap();
        fs::write(home.path().join("config/settings.json"), settings.to_string()).unwrap();
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("ws").join(name)
    }

    fn options(&self) -> Options {
        Options {
            workspace: self.path(""),
            sources: Sources::Layers,
            capabilities: None,
            tools: None,
            state: self.home.path().join("state"),
            config: self.home.path().join("config"),
            home: self.home.path().to_owned(),
            temp: std::env::temp_dir(),
            environment: Vec::new(),
            warn: |_| {},
        }
    }

    fn session(&self, person: &Arc<Person>) -> Driven {
        let desk = Desk::Person(Arc::clone(person) as Arc<dyn Approver>);
        Driven::start(self.options(), desk)
    }

    fn local(&self) -> String {
        fs::read_to_string(self.path(".killick/settings.local.json")).unwrap()
    }
}

struct Driven {
    app: App,
    runtime: tokio::runtime::Runtime,
}

fn call(tool: &str, arguments: Value) -> Call {
    Call { tool: tool.to_owned(), arguments }
}

fn write(path: &str) -> Call {
    call("write", json!({"path": path, "content": "x\n"}))
}

impl Driven {
    fn start(options: Options, desk: Desk) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let app = App::start_with(options, SessionKind::Process, desk).unwrap();
        Self { app, runtime }
    }

    fn run(&self, call: Call) -> Outcome {
        self.runtime.block_on(self.app.executor.call(call, &CancellationToken::new()))
    }

    fn code(&self, call: Call) -> Option<Code> {
        self.run(call).error.map(|problem| problem.code)
    }
}

fn no(reason: &str) -> Answer {
    Answer::No { reason: reason.to_owned() }
}

#[test]
fn where_nobody_can_be_asked_the_call_is_refused_at_once() {
    let scratch = Scratch::new(&json!({"ask": ["file/write(src/**)", "file/edit"]}));
    let session = Driven::start(scratch.options(), Desk::Nobody);
    let outcome = session.run(write("src/a"));
    let config = scratch.home.path().join("config/settings.json");
    assert_eq!(
        outcome.text,
        format!(
            "approval_required: file/write on src/a must be confirmed by a person (`ask` in {} line 1), and \
             nobody can be asked here; nothing ran. Go on without it, or say that it is needed.\n\
             nothing was written",
            config.display()
        )
    );
    assert!(!scratch.path("src/a").exists());
    assert_eq!(session.code(write("doc/a")), None, "what is not named runs");
}

#[test]
fn once_is_once() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let person = Person::saying([Answer::Once, no("")]);
    let session = scratch.session(&person);
    assert_eq!(session.code(write("a")), None);
    assert_eq!(session.code(write("a")), Some(Code::Declined));
    let asked = person.asked();
    assert_eq!(asked.len(), 2);
    let Question { tool, demands, view, always } = &asked[0];
    assert_eq!(
        (tool.as_str(), demands.as_slice()),
        ("write", &["file/write on a".to_owned()][..])
    );
    let arguments = json!({"path": "a", "content": "x\n"});
    assert_eq!(view, &View::Arguments(arguments.as_object().unwrap().clone()));
    assert_eq!(always, &["file/write(a)"]);
}

#[test]
fn an_answer_for_the_session_holds_for_exactly_what_was_asked() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let person = Person::saying([Answer::Session, Answer::Session]);
    let session = scratch.session(&person);
    for path in ["a", "a", "./a", "b", "a", "b"] {
        assert_eq!(session.code(write(path)), None);
    }
    assert_eq!(person.demands(), ["file/write on a", "file/write on b"]);
    let person = Person::saying([no("")]);
    assert_eq!(scratch.session(&person).code(write("a")), Some(Code::Declined));
}

#[test]
fn always_is_a_line_that_the_next_session_reads() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let person = Person::saying([Answer::Always, no("")]);
    let session = scratch.session(&person);
    assert_eq!(session.code(write("src/a.rs")), None);
    assert_eq!(session.code(write("src/a.rs")), None);
    assert_eq!(session.code(write("src/b.rs")), Some(Code::Declined));
    assert_eq!(scratch.local(), "{\n  \"approved\": [\n    \"file/write(src/a.rs)\"\n  ]\n}\n");
    let next = Driven::start(scratch.options(), Desk::Nobody);
    assert_eq!(next.code(write("src/a.rs")), None);
    assert_eq!(next.code(write("src/b.rs")), Some(Code::ApprovalRequired));
}

#[test]
fn a_line_that_killick_did_not_write_exempts_from_nothing_before_it_is_trusted() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    fs::create_dir(scratch.path(".killick")).unwrap();
    for name in ["settings.json", "settings.local.json"] {
        let text = json!({"approved": ["file/write"]}).to_string();
        fs::write(scratch.path(".killick").join(name), text).unwrap();
    }
    let session = Driven::start(scratch.options(), Desk::Nobody);
    assert_eq!(session.code(write("a")), Some(Code::ApprovalRequired));
    let before = scratch.local();
    let person = Person::saying([Answer::Always]);
    let session = scratch.session(&person);
    assert_eq!(session.code(write("a")), None);
    assert_eq!(session.code(write("a")), None, "it holds for the session");
    assert_eq!(scratch.local(), before, "and trusts nothing that somebody else wrote");
}

#[test]
fn an_exemption_grants_nothing() {
    let scratch = Scratch::new(&json!({
        "ask": ["file/write"], "approved": ["file/write"], "capabilities": ["file/write(src/**)"],
    }));
    let person = Person::saying([]);
    let session = scratch.session(&person);
    assert_eq!(session.code(write("src/a")), None);
    assert_eq!(session.code(write("doc/a")), Some(Code::CapabilityDenied));
}

#[test]
fn what_is_denied_is_never_asked() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"], "capabilities": ["file/read"]}));
    let session = scratch.session(&Person::saying([]));
    assert_eq!(session.code(write("a")), Some(Code::CapabilityDenied));
}

#[test]
fn a_no_tells_why_and_writes_nothing() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let session = scratch.session(&Person::saying([no("use b")]));
    assert_eq!(
        session.run(write("a")).text,
        "declined: a person said no to file/write on a: use b. Nothing ran; do not ask for the same again.\n\
         nothing was written"
    );
    assert!(!scratch.path("a").exists());
}

#[test]
fn several_demands_of_one_call_are_one_question() {
    let scratch = Scratch::new(&json!({"ask": ["file/edit(a)", "file/edit(b)"]}));
    for name in ["a", "b", "c"] {
        fs::write(scratch.path(name), "x\n").unwrap();
    }
    let person = Person::saying([Answer::Session]);
    let session = scratch.session(&person);
    for name in ["a", "b", "c"] {
        assert_eq!(session.code(call("read", json!({"path": name}))), None);
    }
    let patch = "@@ a\n+\n~1\n@@ b\n+\n~1\n@@ c\n+\n~1\n";
    let outcome = session.run(call("edit", json!({"input": patch})));
    assert_eq!(person.demands(), ["file/edit on a + file/edit on b"]);
    assert!(outcome.ok, "{}", outcome.text);
}

#[test]
fn questions_are_put_one_at_a_time() {
    let scratch = Scratch::new(&json!({"ask": ["file/read"]}));
    for name in ["a", "b", "c"] {
        fs::write(scratch.path(name), "x\n").unwrap();
    }
    let person = Person::of([
        Script::Late(Answer::Session),
        Script::Late(no("")),
        Script::Late(Answer::Once),
    ]);
    let session = scratch.session(&person);
    let executor = &session.app.executor;
    let token = CancellationToken::new();
    let read = |name: &str| executor.call(call("read", json!({"path": name})), &token);
    let (a, b, again, c) = session.runtime.block_on(async {
        let a = read("a");
        tokio::pin!(a);
        // The first question is open before the other calls are made.
        let early = tokio::time::timeout(Duration::from_secs(1), &mut a).await;
        assert!(early.is_err());
        tokio::join!(a, read("b"), read("a"), read("c"))
    });
    let [a, b, again, c] =
        [a, b, again, c].map(|outcome| outcome.error.map(|problem| problem.code));
    assert_eq!([a, again], [None, None]);
    // Calls that only read are understood side by side; either may come to be asked first.
    assert!([[b, c], [c, b]].contains(&[Some(Code::Declined), None]), "{b:?} {c:?}");
    assert_eq!(person.asked().len(), 3, "the answer for the session confirms the same again");
    assert_eq!(person.most_open.load(Ordering::SeqCst), 1);
    assert_eq!(person.demands()[0], "file/read on a");
}

#[test]
fn a_call_that_is_withdrawn_takes_its_question_back() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let person = Person::of([Script::Silence, Script::Say(Answer::Once)]);
    let session = scratch.session(&person);
    let token = CancellationToken::new();
    let outcome = session.runtime.block_on(async {
        let waiting = session.app.executor.call(write("a"), &token);
        let withdraw = async {
            tokio::time::sleep(Duration::from_hours(2)).await;
            token.cancel();
        };
        tokio::join!(waiting, withdraw).0
    });
    assert_eq!(outcome.error.map(|problem| problem.code), Some(Code::Cancelled));
    assert!(!scratch.path("a").exists());
    session.runtime.block_on(tokio::task::yield_now());
    assert_eq!(person.n_open.load(Ordering::SeqCst), 0);
    assert_eq!(session.code(write("a")), None, "the next question is put");
}

#[test]
fn waiting_for_a_person_is_no_work() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let person = Person::of([Script::Late(Answer::Once)]);
    assert_eq!(scratch.session(&person).code(write("a")), None);
    assert!(scratch.path("a").exists());
}

#[test]
fn a_person_who_fails_has_confirmed_nothing() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let person = Person::of([Script::Panic, Script::Say(Answer::Once)]);
    let session = scratch.session(&person);
    assert_eq!(session.code(write("a")), Some(Code::Internal));
    assert!(!scratch.path("a").exists());
    assert_eq!(session.code(write("a")), None);
}

#[test]
fn the_audit_tells_what_was_answered() {
    let scratch = Scratch::new(&json!({"ask": ["file/write"]}));
    let session = scratch.session(&Person::saying([Answer::Once]));
    assert_eq!(session.code(write("a")), None);
    let mut audits = Vec::new();
    let mut folders = vec![scratch.home.path().join("state")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                audits.push(fs::read(entry.path()).unwrap());
            }
        }
    }
    let text = String::from_utf8_lossy(&audits.concat()).into_owned();
    assert!(text.contains("\"approval\":\"once\""), "{text}");
}
