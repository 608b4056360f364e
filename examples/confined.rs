//! Runs a command in the sandbox of a restricted session's shell, and says what holds it:
//! `confined [--read PATH | --write PATH | --seal PATH | --hide PATH | --internet]… --temp DIR -- COMMAND…`

#![expect(clippy::disallowed_methods, reason = "it is a program of its own")]

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use killick::process::confine::{self, Confinement, Sockets};

fn main() -> ExitCode {
    let mut confinement = Confinement {
        readable: Vec::new(),
        writable: Vec::new(),
        sealed: Vec::new(),
        hidden: Vec::new(),
        temp: PathBuf::new(),
        sockets: Sockets::Pairs,
    };
    let mut words = std::env::args_os().skip(1);
    let mut quiet = false;
    while let Some(word) = words.next() {
        let mut path = || PathBuf::from(words.next().unwrap_or_default());
        match word.to_str() {
            Some("--read") => confinement.readable.push(path()),
            Some("--write") => confinement.writable.push(path()),
            Some("--seal") => confinement.sealed.push(path()),
            Some("--hide") => confinement.hidden.push(path()),
            Some("--temp") => confinement.temp = path(),
            Some("--internet") => confinement.sockets = Sockets::Internet,
            Some("--quiet") => quiet = true,
            _ => break,
        }
    }
    let Some(program) = words.next() else { return ExitCode::from(2) };
    match confine::apply(&confinement) {
        Err(error) => {
            let cause = std::error::Error::source(&error);
            eprintln!("{error}: {}", cause.map(ToString::to_string).unwrap_or_default());
            return ExitCode::from(125);
        }
        Ok(enforced) if !quiet => eprintln!("{enforced}; gaps {:?}", enforced.gaps),
        Ok(_) => {}
    }
    let error = Command::new(program).args(words).env("TMPDIR", &confinement.temp).exec();
    eprintln!("{error}");
    ExitCode::from(126)
}
