//! What the user wrote on the command line, parsed and nothing more.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A Lisp-flavoured hashline editing agent.
///
/// Every edit is anchored to content that was read, and every tool call is gated by a capability.
#[derive(Debug, Parser)]
#[command(name = "killick", version, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What every command takes.
#[derive(Args, Debug)]
pub(super) struct Global {
    /// The folder to work in; the current one by default.
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub(super) workspace: Option<PathBuf>,
    /// Reads this settings file instead of all others.
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "isolated")]
    pub(super) settings: Option<PathBuf>,
    /// Ignores every settings file.
    #[arg(long, global = true)]
    pub(super) isolated: bool,
    /// Narrows what may be done to these capabilities: `file/read,file/write(src/**)`; empty for none.
    #[arg(long, value_name = "LIST", global = true)]
    pub(super) capabilities: Option<String>,
    /// Offers these tools and toolsets only: `read,find` or `core`.
    #[arg(long, value_name = "LIST", global = true)]
    pub(super) tools: Option<String>,
    /// How results are written.
    #[arg(long, value_name = "FORMAT", global = true, default_value = "text")]
    pub(super) format: Format,
}

/// How results are written to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Words for a person.
    Text,
    /// One JSON value.
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Makes one tool call.
    ///
    /// Exit status: 0 done, 1 the tool refused, 2 wrong usage or settings, 5 denied.
    Call {
        /// The tool.
        tool: String,
        /// The arguments: one JSON object, `-` for one on standard input, or any number of key=value.
        arguments: Vec<String>,
        /// Remembers what was read under this name, from one call to the next.
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
    },
    /// Serves the tools over the Model Context Protocol on standard input and output.
    Mcp,
    /// Lists the tools.
    Tools,
    /// Says what a session here would hold, and what narrowed it.
    Authority,
    /// Checks what killick needs of this machine, and says what is missing.
    ///
    /// Exit status: 0 nothing is wrong, 1 something is.
    Doctor,
    /// Confines itself and says what holds it: what `authority` and `doctor` ask.
    #[command(name = "__probe", hide = true)]
    Probe,
    /// Lists the error codes with their meanings.
    Errors,
    /// Prints the grammar of hashline patches, for constrained decoding.
    Grammar {
        /// Only the anchors that this session was shown are words.
        #[arg(long, value_name = "SESSION")]
        served: Option<String>,
    },
    /// Looks after settings.
    #[command(subcommand)]
    Settings(Settings),
    /// Trusts this workspace's settings as they are now, so that keys that widen access take effect.
    Trust {
        /// Takes the trust away again.
        #[arg(long)]
        revoke: bool,
    },
    /// Takes back the workspace's last transactions; without --yes only shows them.
    Undo {
        /// How many.
        #[arg(default_value_t = 1)]
        count: u32,
        /// Does it.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Settings {
    /// Checks every settings file that applies here and shows where each value comes from.
    Check,
    /// Writes the JSON Schema of a settings file.
    Schema,
}
