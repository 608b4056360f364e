//! Runs a command in the sandbox of a restricted session's shell: `confined CONFINEMENT.json COMMAND…`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "it is a program of its own"
)]

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use killick::process::confine::{self, Confinement, NoSandbox};

fn main() -> ExitCode {
    drop(confine::close_inherited());
    let mut words = std::env::args_os().skip(1);
    let (Some(file), Some(program)) = (words.next(), words.next()) else {
        return ExitCode::from(2);
    };
    let read = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Some(confinement): Option<Confinement> = read else { return ExitCode::from(2) };
    if let Err(error) = confine::apply(&confinement) {
        eprintln!("{}", NoSandbox::from(&error));
        return ExitCode::from(125);
    }
    let error = Command::new(program).args(words).env("TMPDIR", &confinement.temp).exec();
    eprintln!("{error}");
    ExitCode::from(126)
}
