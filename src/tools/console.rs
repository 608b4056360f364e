//! What a command wrote and how it ended, as text for the model and details for programs.

use crate::code::Code;
use crate::process::confine::Enforced;
use crate::process::{Exit, Taken};
use crate::text::{clamp, count};
use crate::tool::{Failure, Outcome, Problem};

/// What a command wrote since it was last asked.
pub(super) struct Said {
    pub(super) stdout: Taken,
    pub(super) stderr: Taken,
    /// The most characters of each stream in the details.
    pub(super) output_chars: usize,
}

impl Said {
    /// Returns the outcome of a command that has ended by itself.
    pub(super) fn ended(self, exit: Option<Exit>) -> Outcome {
        let words = match exit {
            Some(Exit::Code(0)) => None,
            Some(Exit::Code(code)) => Some(format!("Command exited with status {code}.")),
            Some(Exit::Signal(signal)) => {
                Some(format!("Command was ended by signal {}.", named(signal)))
            }
            None => {
                Some("Command ended its own supervisor; how it ended is not known.".to_owned())
            }
        };
        match words {
            None => {
                let text = self.text();
                let text = if text.is_empty() { "(no output)".to_owned() } else { text };
                self.described(Outcome::success(text), exit)
            }
            Some(words) => self.failed(Problem::new(Code::ExitStatus, words), exit),
        }
    }

    /// Returns the outcome of a command that did not do what was asked.
    pub(super) fn failed(self, problem: Problem, exit: Option<Exit>) -> Outcome {
        let text = self.text();
        let mut outcome = Outcome::refused(Failure::from(problem), "");
        if !text.is_empty() {
            outcome.text.push('\n');
            outcome.text.push_str(&text);
        }
        let outcome = self.described(outcome, exit);
        match exit {
            Some(Exit::Code(0)) | None => outcome,
            Some(Exit::Code(code)) => outcome.note(format!("[exit {code}]")),
            Some(Exit::Signal(signal)) => outcome.note(format!("[signal {signal}]")),
        }
    }

    /// Returns the output as it is read: standard output, then standard error under its own line.
    pub(super) fn text(&self) -> String {
        let (out, err) = (&self.stdout.text, &self.stderr.text);
        let mut text = out.clone();
        if !err.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str("[stderr]\n");
            text.push_str(err);
        }
        if text.ends_with('\n') {
            text.pop();
        }
        text
    }

    /// Adds the notes and details that every output has.
    pub(super) fn described(self, mut outcome: Outcome, exit: Option<Exit>) -> Outcome {
        for (name, taken) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if taken.n_dropped > 0 {
                let n = taken.n_dropped;
                outcome = outcome.note(format!("[{name} truncated: {n} characters dropped]"));
            }
            outcome = outcome
                .detail(name, bounded(&taken.text, self.output_chars))
                .detail(&format!("{name}_truncated"), taken.n_dropped > 0);
        }
        match exit {
            None => outcome,
            Some(Exit::Code(code)) => outcome.detail("exit_code", code),
            // As a shell would say it.
            Some(Exit::Signal(signal)) => {
                outcome.detail("exit_code", 128 + signal).detail("signal", signal)
            }
        }
    }
}

fn bounded(text: &str, max_chars: usize) -> String {
    match clamp(text, max_chars) {
        None => text.to_owned(),
        Some(cut) => {
            let omitted = count(cut.omitted, "character");
            format!("{}\n[... {omitted} omitted ...]\n{}", cut.head, cut.tail)
        }
    }
}

/// Adds what held the command, if it was confined.
pub(super) fn with_enforced(outcome: Outcome, enforced: Option<&Enforced>) -> Outcome {
    match enforced.map(serde_json::to_value) {
        Some(Ok(value)) => outcome.detail("sandbox", value),
        Some(Err(_)) | None => outcome,
    }
}

/// Returns a signal's number and name.
pub(super) fn named(signal: i32) -> String {
    const NAMES: &[(i32, &str)] = &[
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (24, "SIGXCPU"),
        (25, "SIGXFSZ"),
        (31, "SIGSYS"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal);
    name.map_or_else(|| signal.to_string(), |(number, name)| format!("{number} ({name})"))
}
