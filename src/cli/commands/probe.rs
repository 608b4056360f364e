//! `killick __probe`: confines itself and says what holds it, as JSON.

use crate::cli::report::{self, Exit};
use crate::process::confine;

pub(super) fn run() -> Exit {
    let answer = confine::probe();
    report::data(&serde_json::to_string(&answer).unwrap_or_default());
    Exit::Done
}
