//! Asking a person before a call runs, and remembering what was answered.
//!
//! It decides nothing that the grant has not let through before, and widens nothing. Where nobody can be
//! asked, a call that must be confirmed is refused at once. Questions are put one at a time, in the order in
//! which the calls were understood; a call that is withdrawn while it waits takes its question back.
//!
//! Invariant: an answer for the session holds for an equal demand alone.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::{spawn, spawn_blocking};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::authority::{Asked, Asks, Demand};
use crate::code::Code;
use crate::protocol::{Answer, Question, View};
use crate::tool::{Failure, Problem, Sketch};

/// An answer that is still to come; dropping it takes the question back.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Puts a question. At most one is open at a time.
    fn ask(&self, question: Question) -> Answering;
}

/// Whether somebody can be asked.
#[derive(Clone)]
pub enum Desk {
    /// Nobody: what must be confirmed is refused.
    Nobody,
    /// Somebody.
    Person(Arc<dyn Approver>),
}

/// Why «always» was not kept.
pub type NotKept = Box<dyn std::error::Error + Send + Sync>;

/// Keeps «always» for the sessions to come.
pub trait Keeper: Send + Sync {
    /// Keeps entries, as they are written in the settings. May block.
    fn keep(&self, entries: &[String]) -> Result<(), NotKept>;
}

/// Whether «always» can be kept.
#[derive(Clone)]
pub enum Keeping {
    /// It cannot: no settings of this workspace are read.
    Nowhere,
    /// It can.
    By(Arc<dyn Keeper>),
}

/// What came of the question whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approval {
    /// Nothing had to be confirmed.
    NotAsked,
    /// A person answered «once».
    Once,
    /// A person answered «session».
    Session,
    /// A person answered «always», and it was kept.
    Always,
}

impl Approval {
    /// Returns the word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::NotAsked => "not asked",
            Self::Once => "once",
            Self::Session => "session",
            Self::Always => "always",
        }
    }
}

/// What must be confirmed, by whom, and what was already.
pub struct Approvals {
    asks: Asks,
    desk: Desk,
    keeping: Keeping,
    /// What was answered for the session.
    confirmed: Mutex<HashSet<Demand>>,
    /// Held while a question is open.
    floor: tokio::sync::Mutex<()>,
    warn: fn(&str),
}

/// A call that may have to be confirmed.
pub(super) struct Proposal {
    pub(super) tool: String,
    pub(super) demands: Vec<Demand>,
    pub(super) arguments: serde_json::Map<String, serde_json::Value>,
    pub(super) sketch: Sketch,
}

impl Approvals {
    /// Returns the approvals of a session in which nothing was answered yet.
    pub fn new(asks: Asks, desk: Desk, keeping: Keeping, warn: fn(&str)) -> Self {
        Self {
            asks,
            desk,
            keeping,
            confirmed: Mutex::default(),
            floor: tokio::sync::Mutex::default(),
            warn,
        }
    }

    /// Returns whether no call ever has to be confirmed.
    pub(super) fn ask_nothing(&self) -> bool {
        self.asks.is_nothing()
    }

    /// Has a person confirm a call where that must be.
    ///
    /// Errors: `approval_required` where nobody can be asked, `declined` on a no, `cancelled`.
    pub(super) async fn confirm(
        &self,
        proposal: Proposal,
        token: &CancellationToken,
    ) -> Result<Approval, Failure> {
        let open = self.open(&proposal.demands);
        if open.is_empty() {
            return Ok(Approval::NotAsked);
        }
        let Desk::Person(person) = &self.desk else { return Err(nobody(&open)) };
        tokio::select! {
            biased;
            () = token.cancelled() => Err(super::executor::withdrawn()),
            answered = self.put(person, proposal) => answered,
        }
    }

    /// Puts one question, when it is this call's turn.
    async fn put(
        &self,
        person: &Arc<dyn Approver>,
        proposal: Proposal,
    ) -> Result<Approval, Failure> {
        let _floor = self.floor.lock().await;
        // An answer to another call may have confirmed this one meanwhile.
        let open: Vec<Demand> = self
            .open(&proposal.demands)
            .into_iter()
            .map(|(demand, _)| demand.clone())
            .collect();
        if open.is_empty() {
            return Ok(Approval::NotAsked);
        }
        let question = Question {
            tool: proposal.tool,
            demands: open.iter().map(Demand::in_full).collect(),
            view: view(proposal.sketch, proposal.arguments).await,
            always: self.lines(&open),
        };
        let lines = question.always.clone();
        let person = Arc::clone(person);
        let answering =
            AbortOnDropHandle::new(spawn(async move { person.ask(question).await }));
        match answering.await {
            Ok(answer) => self.take(answer, &open, lines).await,
            Err(_) => Err(Failure::new(
                Code::Internal,
                "the question whether the call may run was lost; nothing ran. Please report it.",
            )),
        }
    }

    async fn take(
        &self,
        answer: Answer,
        open: &[Demand],
        lines: Vec<String>,
    ) -> Result<Approval, Failure> {
        match answer {
            Answer::Once => Ok(Approval::Once),
            Answer::Session => {
                self.confirmed().extend(open.iter().cloned());
                Ok(Approval::Session)
            }
            Answer::Always => {
                self.confirmed().extend(open.iter().cloned());
                Ok(self.keep(lines).await)
            }
            Answer::No { reason } => Err(declined(open, &reason)),
        }
    }

    /// Returns the demands that are still to be confirmed, each with what asks for it.
    fn open<'a>(&'a self, demands: &'a [Demand]) -> Vec<(&'a Demand, &'a Asked)> {
        let confirmed = self.confirmed();
        let open = demands.iter().filter(|demand| !confirmed.contains(*demand));
        let open = open.filter_map(|demand| Some((demand, self.asks.must_confirm(demand)?)));
        let mut seen = HashSet::new();
        open.filter(|(demand, _)| seen.insert(*demand)).collect()
    }

    fn confirmed(&self) -> MutexGuard<'_, HashSet<Demand>> {
        self.confirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what «always» would write; nothing unless it can be written for every demand.
    fn lines(&self, open: &[Demand]) -> Vec<String> {
        match &self.keeping {
            Keeping::Nowhere => Vec::new(),
            Keeping::By(_) => {
                let lines = open.iter().map(|demand| Some(demand.own_entry()?.to_string()));
                lines.collect::<Option<_>>().unwrap_or_default()
            }
        }
    }

    /// Keeps «always»; where that cannot be, it holds for the session and the user is told.
    async fn keep(&self, lines: Vec<String>) -> Approval {
        let Keeping::By(keeper) = &self.keeping else { return Approval::Session };
        if lines.is_empty() {
            return Approval::Session;
        }
        let keeper = Arc::clone(keeper);
        match spawn_blocking(move || keeper.keep(&lines)).await {
            Ok(Ok(())) => Approval::Always,
            Ok(Err(error)) => {
                (self.warn)(&format!("the answer holds for this session alone: {error}"));
                Approval::Session
            }
            Err(_) => Approval::Session,
        }
    }
}

async fn view(sketch: Sketch, arguments: serde_json::Map<String, serde_json::Value>) -> View {
    match sketch {
        Sketch::Arguments => View::Arguments(arguments),
        Sketch::Drawn(draw) => spawn_blocking(draw).await.unwrap_or(View::Arguments(arguments)),
    }
}

fn nobody(open: &[(&Demand, &Asked)]) -> Failure {
    let problems = open.iter().map(|(demand, asked)| {
        let message = format!(
            "{demand} must be confirmed by a person (`ask` in {}), and nobody can be asked here; nothing \
             ran. Go on without it, or say that it is needed.",
            asked.origin
        );
        Problem::new(Code::ApprovalRequired, message)
    });
    Failure { problems: problems.collect() }
}

fn declined(open: &[Demand], reason: &str) -> Failure {
    let what: Vec<String> = open.iter().map(ToString::to_string).collect();
    let why = match reason.trim() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let message = format!(
        "a person said no to {}{why}. Nothing ran; do not ask for the same again.",
        what.join(" and ")
    );
    Failure::new(Code::Declined, message)
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "Nobody",
            Self::Person(_) => "Person",
        })
    }
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nowhere => "Nowhere",
            Self::By(_) => "By",
        })
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("asks", &self.asks)
            .field("desk", &self.desk)
            .field("keeping", &self.keeping)
            .finish_non_exhaustive()
    }
}
