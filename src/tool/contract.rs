//! [`Tool`]: a value with a specification and two steps, `prepare` and the `run` that it yields.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::outcome::{Failure, Outcome};
use super::running::Running;
use crate::authority::Demand;
use crate::protocol::View;

/// What a tool is, as the model, the documentation and the dispatcher see it.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The name by which it is called.
    pub name: String,
    /// What it does, for a model.
    pub description: String,
    /// JSON Schema of its arguments; providers get it verbatim.
    pub schema: Value,
    /// The group it belongs to, as `tools` in the settings names it.
    pub toolset: &'static str,
    /// Whether it changes anything.
    pub reach: Reach,
    /// Who keeps its text within the limit.
    pub paging: Paging,
}

/// Whether a call of the tool changes anything outside the session's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It only looks; such calls may run side by side.
    Reads,
    /// It writes; a refusal says that nothing was written.
    Writes,
    /// It starts or steers commands, which may do anything; a refusal says that nothing was run.
    Runs,
}

/// Who keeps a result's text within the session's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// The tool itself, by whole rows; a longer text (one long row) is still clamped.
    Rows,
    /// The dispatcher, by cutting the middle out.
    Clamp,
}

/// Does what a call asks for.
pub type Run = Box<dyn FnOnce(&Running) -> Result<Outcome, Failure> + Send>;

/// How a person who is asked about a call is shown what it would do.
pub enum Sketch {
    /// By its arguments.
    Arguments,
    /// As the tool draws it, once the grant has been asked. Runs on a thread that may block, changes nothing.
    Drawn(Box<dyn FnOnce() -> View + Send>),
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arguments => "Arguments",
            Self::Drawn(_) => "Drawn",
        })
    }
}

/// A call that has been understood: what it would touch, how long it may take, and how to do it.
pub struct Prepared {
    /// Everything that the grant must cover.
    pub demands: Vec<Demand>,
    /// How long it may work; waiting for a lock does not count.
    pub budget: Duration,
    /// How long it may take, once it was stopped, to say what it did; then nobody listens any more.
    pub last_word: Duration,
    /// How a person is shown what it would do.
    pub sketch: Sketch,
    /// Does it. Runs on a thread that may block.
    pub run: Run,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("demands", &self.demands)
            .field("budget", &self.budget)
            .field("sketch", &self.sketch)
            .finish_non_exhaustive()
    }
}

/// How long a tool may work unless it says otherwise.
pub const DEFAULT_BUDGET: Duration = Duration::from_secs(30);

impl Prepared {
    /// Returns a call with the default budget.
    pub fn new(
        demands: Vec<Demand>,
        run: impl FnOnce(&Running) -> Result<Outcome, Failure> + Send + 'static,
    ) -> Self {
        Self {
            demands,
            budget: DEFAULT_BUDGET,
            last_word: Duration::ZERO,
            sketch: Sketch::Arguments,
            run: Box::new(run),
        }
    }

    /// Lets the call work for `budget`, and `last_word` more to say what it did once it was stopped.
    #[must_use]
    pub fn within(self, budget: Duration, last_word: Duration) -> Self {
        Self { budget, last_word, ..self }
    }

    /// Shows a person who is asked about the call what `draw` returns.
    #[must_use]
    pub fn sketched(mut self, draw: impl FnOnce() -> View + Send + 'static) -> Self {
        self.sketch = Sketch::Drawn(Box::new(draw));
        self
    }
}

/// Something that a model, a script or a person can call.
pub trait Tool: Send + Sync {
    /// Returns what the tool is.
    fn spec(&self) -> &Spec;

    /// Understands a call: resolves what it would touch, and changes nothing.
    ///
    /// `arguments` have been held against the schema. What depends on the content of files belongs into
    /// `run`, so that a caller without the grant learns nothing from a refusal. May block.
    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure>;
}
