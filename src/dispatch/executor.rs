//! The executor: every tool call goes through it, in one order, and every call gets exactly one outcome.
//!
//! Unknown tool → already cancelled → arguments against the schema → prepare → demands against the grant
//! → a person's approval where the settings ask for it → run under the deadline and the token → clamp →
//! fold the effects → audit. Hooks belong between grant and approval. It never panics and never returns
//! without an outcome; a tool that panics, hangs
//! or is cancelled is an outcome too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::approval::{Approval, Approvals, Proposal};
use super::clamp::clamp_text;
use super::record;
use super::registry::Registry;
use crate::authority::{Demand, Grant};
use crate::code::Code;
use crate::session::Session;
use crate::store::{Audit, Spill};
use crate::text::with_causes;
use crate::tool::{
    Clock, Failure, Outcome, Prepared, Problem, Reach, Sketch, Stop, Tool, Watch, args,
};

/// One call, as a model, a script or a person made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, as they were sent.
    pub arguments: Value,
}

/// What the model sees of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most characters of one result.
    pub output_chars: usize,
}

/// What an executor is made of.
#[derive(Debug)]
pub struct Parts {
    /// The tools.
    pub registry: Arc<Registry>,
    /// What the session holds.
    pub grant: Arc<Grant>,
    /// What a person must confirm.
    pub approvals: Approvals,
    /// The session's memory.
    pub session: Arc<Session>,
    /// Where every call is recorded.
    pub audit: Arc<Audit>,
    /// Where the rest of a long result goes.
    pub spill: Arc<Spill>,
    /// What the model sees of a result.
    pub limits: Limits,
    /// Where time comes from.
    pub clock: Clock,
    /// Tells the user what is not wrong enough to stop.
    pub warn: fn(&str),
}

/// Runs calls for one session.
#[derive(Debug)]
pub struct Executor {
    parts: Parts,
    n_calls: AtomicU64,
    audit_failed: AtomicBool,
    /// Calls that write take their turns in the order in which they came.
    turn: Semaphore,
}

/// A call that has passed the gate, and what it asked for.
struct Admitted {
    demands: Vec<Demand>,
    prepared: Result<Prepared, Failure>,
}

/// A call that has come to its end.
struct Judged {
    demands: Vec<Demand>,
    approval: Approval,
    outcome: Outcome,
}

impl Judged {
    fn early(outcome: Outcome) -> Self {
        Self { demands: Vec::new(), approval: Approval::NotAsked, outcome }
    }
}

impl Executor {
    /// Returns an executor of these parts.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            n_calls: AtomicU64::new(0),
            audit_failed: AtomicBool::new(false),
            turn: Semaphore::new(1),
        }
    }

    /// Returns the tools that there are.
    pub fn registry(&self) -> &Registry {
        &self.parts.registry
    }

    /// Returns the session that is served.
    pub fn session(&self) -> &Arc<Session> {
        &self.parts.session
    }

    /// Runs a call to its one outcome.
    pub async fn call(&self, call: Call, token: &CancellationToken) -> Outcome {
        let started = Instant::now();
        let number = self.n_calls.fetch_add(1, Ordering::Relaxed) + 1;
        // Before anything else is awaited, so that the order of turns is the order of calls.
        let _turn = self.turn(&call.tool, token).await;
        self.write_audit(record::before(&self.numbered(number), &call.tool, &call.arguments))
            .await;
        let Judged { demands, approval, outcome } = self.judge_and_run(call, token).await;
        self.parts.session.fold(&outcome.effects);
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.write_audit(record::after(
            &self.numbered(number),
            &demands,
            approval,
            &outcome,
            duration_ms,
        ))
        .await;
        outcome
    }

    fn numbered(&self, number: u64) -> record::Numbered<'_> {
        let session = self.parts.session.id().as_str();
        record::Numbered { session, number, now: self.parts.clock.now() }
    }

    async fn judge_and_run(&self, call: Call, token: &CancellationToken) -> Judged {
        let Some(tool) = self.parts.registry.get(&call.tool).map(Arc::clone) else {
            return Judged::early(self.unknown_tool(&call.tool));
        };
        let spec = tool.spec().clone();
        let refuse = |failure| Outcome::refused(failure, closing(spec.reach));
        if token.is_cancelled() {
            return Judged::early(refuse(withdrawn()));
        }
        let arguments = match args::admit(&spec.schema, call.arguments) {
            Ok(arguments) => arguments,
            Err(failure) => return Judged::early(refuse(failure)),
        };
        let shown = self.shown(&arguments);
        let Admitted { demands, prepared } = self.prepare(tool, arguments).await;
        let (approval, ended) = match prepared {
            Err(failure) => (Approval::NotAsked, Err(failure)),
            Ok(prepared) => self.confirm_and_run(&spec.name, shown, prepared, token).await,
        };
        let outcome = self.clamped(ended.unwrap_or_else(refuse)).await;
        Judged { demands, approval, outcome }
    }

    /// Returns what a person may be shown of the arguments; nothing where nobody is asked.
    fn shown(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        if self.parts.approvals.ask_nothing() { Map::new() } else { arguments.clone() }
    }

    async fn confirm_and_run(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        mut prepared: Prepared,
        token: &CancellationToken,
    ) -> (Approval, Result<Outcome, Failure>) {
        let proposal = Proposal {
            tool: tool.to_owned(),
            demands: prepared.demands.clone(),
            arguments,
            sketch: std::mem::replace(&mut prepared.sketch, Sketch::Arguments),
        };
        match self.parts.approvals.confirm(proposal, token).await {
            Err(failure) => (Approval::NotAsked, Err(failure)),
            Ok(approval) => (approval, self.run(prepared, token).await),
        }
    }

    /// Waits until no earlier call is writing; one that only reads, or was withdrawn, needs no turn.
    async fn turn(&self, tool: &str, token: &CancellationToken) -> Option<SemaphorePermit<'_>> {
        match self.parts.registry.get(tool)?.spec().reach {
            Reach::Reads | Reach::Runs => None,
            Reach::Writes => tokio::select! {
                biased;
                turn = self.turn.acquire() => turn.ok(),
                () = token.cancelled() => None,
            },
        }
    }

    fn unknown_tool(&self, name: &str) -> Outcome {
        let names = self.parts.registry.names().join(", ");
        let message = format!("there is no tool `{name}`; the tools are {names}.");
        Outcome::refused(Failure::new(Code::UnknownTool, message), "")
    }

    /// Lets the tool understand the call, and holds what it asks for against the grant.
    async fn prepare(&self, tool: Arc<dyn Tool>, arguments: Map<String, Value>) -> Admitted {
        let grant = Arc::clone(&self.parts.grant);
        let name = tool.spec().name.clone();
        let judged = spawn_blocking(move || match tool.prepare(arguments) {
            Err(failure) => Admitted { demands: Vec::new(), prepared: Err(failure) },
            Ok(prepared) => {
                let demands = prepared.demands.clone();
                let denied = denials(&grant, &demands);
                let prepared = if denied.is_empty() {
                    Ok(prepared)
                } else {
                    Err(Failure { problems: denied })
                };
                Admitted { demands, prepared }
            }
        });
        judged.await.unwrap_or_else(|error| Admitted {
            demands: Vec::new(),
            prepared: Err(broken(&name, &error)),
        })
    }

    /// Runs a prepared call until it ends, passes its deadline or is withdrawn.
    async fn run(
        &self,
        prepared: Prepared,
        token: &CancellationToken,
    ) -> Result<Outcome, Failure> {
        let Prepared { demands: _, budget, last_word, sketch: _, run } = prepared;
        let (watch, running) = Watch::start(budget, token, self.parts.clock);
        let mut work = spawn_blocking(move || run(&running));
        tokio::select! {
            biased;
            ended = &mut work => ended.unwrap_or_else(|error| broken_off(&watch, &error)),
            stop = watch.stopped() => match timeout(last_word, work).await {
                Ok(ended) => ended.unwrap_or_else(|error| broken_off(&watch, &error)),
                Err(_) => Err(match stop {
                    Stop::Withdrawn => withdrawn(),
                    Stop::Deadline => late(budget),
                }),
            },
        }
    }

    /// Cuts a long text, and puts the notes behind it.
    async fn clamped(&self, outcome: Outcome) -> Outcome {
        let mut outcome = self.cut(outcome).await;
        for note in std::mem::take(&mut outcome.notes) {
            if !outcome.text.is_empty() && !outcome.text.ends_with('\n') {
                outcome.text.push('\n');
            }
            outcome.text.push_str(&note);
        }
        outcome
    }

    async fn cut(&self, mut outcome: Outcome) -> Outcome {
        // Bytes bound characters, so the common short text is let through uncounted.
        if outcome.text.len() <= self.parts.limits.output_chars {
            return outcome;
        }
        let (text, max_chars) =
            (std::mem::take(&mut outcome.text), self.parts.limits.output_chars);
        let spill = Arc::clone(&self.parts.spill);
        let cut = spawn_blocking(move || clamp_text(text, max_chars, &spill));
        outcome.text = cut.await.unwrap_or_default();
        outcome
    }

    /// Adds a record; one that cannot be kept is told once and does not stop the work.
    async fn write_audit(&self, record: Map<String, Value>) {
        let (audit, now) = (Arc::clone(&self.parts.audit), self.parts.clock.now());
        let now_unix_ms = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let kept = spawn_blocking(move || audit.append(now_unix_ms, &record)).await;
        if let Ok(Err(error)) = kept
            && !self.audit_failed.swap(true, Ordering::Relaxed)
        {
            let why = with_causes(&error);
            (self.parts.warn)(&format!("the audit log cannot be written: {why}"));
        }
    }
}

fn denials(grant: &Grant, demands: &[Demand]) -> Vec<Problem> {
    let denied = demands.iter().filter_map(|demand| grant.check(demand).err());
    denied.map(|denial| Problem::new(Code::CapabilityDenied, format!("{denial}."))).collect()
}

/// Returns what follows a refusal of a tool that writes.
fn closing(reach: Reach) -> &'static str {
    match reach {
        Reach::Reads => "",
        Reach::Writes => "nothing was written",
        Reach::Runs => "nothing was run",
    }
}

fn late(budget: Duration) -> Failure {
    let n_seconds = budget.as_secs();
    Failure::new(
        Code::Timeout,
        format!("the call passed its {n_seconds} s and was stopped; ask for less at once."),
    )
}

pub(super) fn withdrawn() -> Failure {
    Failure::new(Code::Cancelled, "the caller withdrew the call.")
}

/// Returns what is known of a call that failed inside killick.
fn broken_off(watch: &Watch, error: &JoinError) -> Result<Outcome, Failure> {
    let failure = broken("the tool", error);
    if watch.has_begun_to_write() {
        return Ok(Outcome::refused(failure, "files may have been written: read them again"));
    }
    Err(failure)
}

fn broken(name: &str, error: &JoinError) -> Failure {
    let how = if error.is_panic() { "failed inside killick" } else { "was lost" };
    Failure::new(
        Code::Internal,
        format!("{name} {how}; the session goes on. Please report it."),
    )
}
