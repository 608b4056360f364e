//! The command line: what the user wrote, one file a command, and one place that talks to the user.

mod args;
mod commands;
mod environment;
mod report;

pub use commands::main;
