//! The stage: killick re-executed once more, to put bounds on its own process and become the shell.
//!
//! It has one thread and no file open but what it is given. What it was told over its standard input it
//! gives up for the real one before the shell begins.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;

use super::confine::{self, ConfineError, Enforced};
use super::wire::{self, Cause, Program, Refused, Staged};
use crate::text::with_causes;

/// The first argument of a killick that is a stage.
pub const STAGE: &str = "__confine";

/// Confines the process and becomes the program; returns only where it cannot. One thread must run.
pub fn become_confined() -> ExitCode {
    // Before anything is open that must stay.
    let closed = confine::close_inherited();
    let Ok(socket) = wire::own_socket() else { return ExitCode::FAILURE };
    let Ok(Some((program, files))) = wire::receive(&socket) else { return ExitCode::FAILURE };
    let refused = match closed.map_err(|error| unconfined(&error)) {
        Ok(()) => become_program(&socket, &program, files),
        Err(refused) => refused,
    };
    // The supervisor may have gone.
    let _told = wire::send(&socket, &Staged::Failed(refused), &[]);
    ExitCode::FAILURE
}

fn become_program(socket: &UnixStream, program: &Program, files: Vec<OwnedFd>) -> Refused {
    let system = |error: io::Error| Refused::by_system(&error);
    let Ok([input]) = <[OwnedFd; 1]>::try_from(files) else {
        return system(io::ErrorKind::InvalidData.into());
    };
    if let Err(refused) = confined(program).and_then(|enforced| {
        wire::send(socket, &Staged::Confined(enforced), &[]).map_err(system)
    }) {
        return refused;
    }
    if let Err(error) = rustix::stdio::dup2_stdin(input) {
        return system(error.into());
    }
    system(program.command().exec())
}

fn confined(program: &Program) -> Result<Enforced, Refused> {
    let bounds = program.confinement.as_ref().ok_or_else(|| Refused {
        cause: Cause::Unconfined,
        words: "no bounds were named".to_owned(),
    })?;
    confine::apply(bounds).map_err(|error| unconfined(&error))
}

fn unconfined(error: &ConfineError) -> Refused {
    Refused { cause: Cause::Unconfined, words: with_causes(error) }
}
