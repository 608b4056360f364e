//! What this kernel can hold a process by, found out by holding one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::{ConfineError, Confinement, Enforced, Sockets, apply};
use crate::text::with_causes;

/// The hidden command by which a program of killick's answers what holds it.
pub const PROBE: &str = "__probe";

/// Why a process cannot be confined here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{why}")]
pub struct NoSandbox {
    /// The error and its causes.
    pub why: String,
}

impl From<&ConfineError> for NoSandbox {
    fn from(error: &ConfineError) -> Self {
        Self { why: with_causes(error) }
    }
}

/// Confines the calling process to nothing at all, and returns what holds it.
///
/// The process must have a single thread, and can do little afterwards but tell.
pub fn probe() -> Result<Enforced, NoSandbox> {
    let nothing = Confinement {
        readable: Vec::new(),
        writable: Vec::new(),
        sealed: Vec::new(),
        hidden: Vec::new(),
        temp: PathBuf::from("/nonexistent"),
        sockets: Sockets::Pairs,
    };
    apply(&nothing).map_err(|error| NoSandbox::from(&error))
}

/// Starts `program` to confine itself, and returns what it says holds it.
#[expect(
    clippy::disallowed_methods,
    reason = "it starts killick itself, and waits for its end"
)]
pub fn ask(program: &Path) -> Result<Enforced, NoSandbox> {
    let fail = |why: String| NoSandbox { why };
    let output = Command::new(program)
        .arg(PROBE)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| fail(format!("{} cannot be started: {error}", program.display())))?;
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| Err(fail(format!("the probe ended with {}", output.status))))
}
