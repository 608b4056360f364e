//! A question to a person, and what a person answers.

use serde_json::{Map, Value};

/// What a person is asked before a call runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The tool that would run.
    pub tool: String,
    /// What it would touch that must be confirmed, in words; never empty.
    pub demands: Vec<String>,
    /// What it would do.
    pub view: View,
    /// The lines that [`Answer::Always`] would write into the settings, one a demand; empty where it cannot
    /// be had, and then it is taken for [`Answer::Session`].
    pub always: Vec<String>,
}

/// What a call would do, as a person sees it. It is text of others: it may hold control characters.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// The arguments as they were understood.
    Arguments(Map<String, Value>),
    /// A text.
    Text(String),
    /// A unified diff.
    Diff(String),
}

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This call may run.
    Once,
    /// It may, and so may every call of the session that touches exactly this.
    Session,
    /// It may, and so may every call in this workspace that touches exactly this.
    Always,
    /// It may not.
    No {
        /// Why, in the person's words; may be empty.
        reason: String,
    },
}
