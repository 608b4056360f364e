//! Command lines: what a shell would be given, and which of its commands a scope covers.

use std::fmt;
use std::sync::Arc;

/// A line that a shell would run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandLine {
    /// Which shell reads it.
    pub shell: Shell,
    /// The line as the shell gets it; it may hold newlines.
    pub text: Arc<str>,
    /// Where it starts.
    pub starts_in: StartsIn,
}

/// Which shell reads a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shell {
    /// The one that the settings name, and it reads the language of `sh`.
    Configured,
    /// Another one, or one of another language; no command scope holds for it.
    Other(Arc<str>),
}

/// Where a command line starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartsIn {
    /// In the workspace's own folder.
    Workspace,
    /// In any other folder; a program that is named by a relative path is then not the one meant.
    Elsewhere,
}

impl Shell {
    /// Returns the configured shell: by its file name it is told whether it reads the language of `sh`.
    pub fn configured(program: &str) -> Self {
        match program.rsplit('/').next() {
            Some("sh" | "bash" | "dash") => Self::Configured,
            Some(_) | None => Self::Other(Arc::from(program)),
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
