//! The one place that talks to the user: data to standard output, words to standard error.
//!
//! It knows what each stream is: on a terminal control characters are escaped, in a pipe bytes are left
//! alone. A reader that went away is no error. Exit codes are ranked here and nowhere else.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::{show_control, with_causes};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// It did what was asked.
    Done,
    /// A tool refused, or the system did.
    Refused,
    /// The command line or the settings are wrong.
    Usage,
    /// The grant does not cover the call, or no person confirmed it.
    Denied,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Denied => 5,
        })
    }
}

/// Writes data to standard output, with a final newline where it has none.
pub(super) fn data(text: &str) {
    let out = io::stdout();
    if let Err(failed) = put(out.lock(), text, out.is_terminal()) {
        IS_DATA_LOST.store(true, Ordering::Relaxed);
        words(&format!("killick: standard output cannot be written: {failed}"));
    }
}

/// Writes words to standard error.
pub(super) fn words(text: &str) {
    let err = io::stderr();
    // There is no other place left to say it.
    drop(put(err.lock(), text, err.is_terminal()));
}

/// Writes an error with its causes in one line: `killick: what failed: cause`.
pub(super) fn error(error: &dyn Error) {
    words(&format!("killick: {}", with_causes(error)));
}

/// Writes what is not wrong enough to stop.
pub(super) fn warning(text: &str) {
    words(&format!("killick: {text}"));
}

fn put(mut sink: impl Write, text: &str, is_terminal: bool) -> io::Result<()> {
    let shown = if is_terminal { show_control(text) } else { text.into() };
    let end = if shown.ends_with('\n') || shown.is_empty() { "" } else { "\n" };
    // A reader that went away has what it wanted.
    let written =
        sink.write_all(shown.as_bytes()).and_then(|()| sink.write_all(end.as_bytes()));
    match written.and_then(|()| sink.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether data could not be written to standard output, as on a full disk.
static IS_DATA_LOST: AtomicBool = AtomicBool::new(false);

/// Returns how the process ends: nobody who lost data on the way out is told that all is done.
pub(super) fn ended(exit: Exit) -> Exit {
    match exit {
        Exit::Done if IS_DATA_LOST.load(Ordering::Relaxed) => Exit::Refused,
        Exit::Done | Exit::Refused | Exit::Usage | Exit::Denied => exit,
    }
}
