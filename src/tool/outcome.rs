//! What comes back from a call: an [`Outcome`], or a [`Failure`] that guarantees that nothing changed.

use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::protocol::Effect;

/// One reason why a call was refused: the code, what was seen, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of refusal.
    pub code: Code,
    /// What was observed and what to do, in one or two sentences; further lines may follow.
    pub message: String,
}

impl Problem {
    /// Returns a problem.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Why a call did not happen. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// All problems that were found; never empty.
    pub problems: Vec<Problem>,
}

impl Failure {
    /// Returns a failure with one problem.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { problems: vec![Problem::new(code, message)] }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether it did what was asked.
    pub ok: bool,
    /// What the model reads, also on an error; cut where it is too long.
    pub text: String,
    /// Lines that follow the text and are never cut.
    pub notes: Vec<String>,
    /// The first problem, for programs.
    pub error: Option<Problem>,
    /// Data for programs and the interface; never shown to the model.
    pub details: Map<String, Value>,
    /// What was seen and changed.
    pub effects: Vec<Effect>,
}

impl Outcome {
    /// Returns a success with nothing but a text.
    pub fn success(text: impl Into<String>) -> Self {
        Self {
            ok: true,
            text: text.into(),
            notes: Vec::new(),
            error: None,
            details: Map::new(),
            effects: Vec::new(),
        }
    }

    /// Returns the outcome of a call that was refused: a line for each problem, opened by its code.
    ///
    /// `closing` follows the last problem on a line of its own where it is not empty.
    pub fn refused(failure: Failure, closing: &str) -> Self {
        let mut lines: Vec<String> = failure
            .problems
            .iter()
            .map(|problem| format!("{}: {}", problem.code, problem.message))
            .collect();
        if !closing.is_empty() {
            lines.push(closing.to_owned());
        }
        Self {
            ok: false,
            text: lines.join("\n"),
            notes: Vec::new(),
            details: problems_detail(&failure.problems),
            error: failure.problems.into_iter().next(),
            effects: Vec::new(),
        }
    }

    /// Adds one entry to the details.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Adds a line that is never cut.
    #[must_use]
    pub fn note(mut self, line: impl Into<String>) -> Self {
        self.notes.push(line.into());
        self
    }

    /// Adds one effect.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// Returns the details of a refusal with several problems: `problems`, each with code and message.
pub fn problems_detail(problems: &[Problem]) -> Map<String, Value> {
    let mut details = Map::new();
    if problems.len() > 1 {
        let all: Vec<Value> = problems
            .iter()
            .map(|problem| json!({"code": problem.code.as_str(), "message": problem.message}))
            .collect();
        details.insert("problems".to_owned(), Value::Array(all));
    }
    details
}
