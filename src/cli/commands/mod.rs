//! The commands, a file each, and the entry that parses, runs and turns the end into an exit code.

mod authority;
mod doctor;
mod probe;
mod call;
mod errors;
mod grammar;
mod mcp;
mod settings;
mod tools;
mod trust;
mod undo;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser as _;

use super::args::{Cli, Command, Global};
use super::environment::{self, Environment};
use super::report::{self, Exit};
use crate::app::{Options, Sources, StartError};
use crate::process;

/// Why a command could not do its work, and how the process ends.
struct Ended {
    exit: Exit,
    error: Box<dyn Error>,
}

impl Ended {
    fn usage(error: impl Error + 'static) -> Self {
        Self { exit: Exit::Usage, error: Box::new(error) }
    }

    fn refused(error: impl Error + 'static) -> Self {
        Self { exit: Exit::Refused, error: Box::new(error) }
    }
}

impl From<StartError> for Ended {
    fn from(error: StartError) -> Self {
        if error.is_usage() { Self::usage(error) } else { Self::refused(error) }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    // What killick is as a process of its own, before anything else: it must have one thread.
    match std::env::args_os().nth(1) {
        Some(word) if word == process::SUPERVISE => return process::supervise(),
        Some(word) if word == process::STAGE => return process::become_confined(),
        Some(_) | None => {}
    }
    hush_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(shown) => {
            let exit = if shown.use_stderr() { Exit::Usage } else { Exit::Done };
            // clap knows which stream its words belong to; a reader that went away wants none.
            drop(shown.print());
            return exit.into();
        }
    };
    match run(cli) {
        Ok(exit) => report::ended(exit).into(),
        Err(ended) => {
            report::error(&*ended.error);
            ended.exit.into()
        }
    }
}

fn run(cli: Cli) -> Result<Exit, Ended> {
    let Cli { global, command } = cli;
    let format = global.format;
    match command {
        Command::Errors => Ok(errors::run(format)),
        Command::Grammar { served: None } => Ok(grammar::whole()),
        Command::Grammar { served: Some(name) } => grammar::served(options(&global)?, &name),
        Command::Settings(command) => settings::run(&options(&global)?, format, &command),
        Command::Call { tool, arguments, session } => {
            call::run(options(&global)?, format, tool, &arguments, session.as_deref())
        }
        Command::Mcp => mcp::run(options(&global)?),
        Command::Tools => tools::run(options(&global)?, format),
        Command::Doctor => doctor::run(&options(&global)?, format),
        Command::Probe => Ok(probe::run()),
        Command::Authority => authority::run(&options(&global)?, format),
        Command::Trust { revoke } => trust::run(&options(&global)?, revoke),
        Command::Undo { count, yes } => undo::run(options(&global)?, count, yes),
    }
}

/// Adds what the environment knows to what the user wrote.
fn options(global: &Global) -> Result<Options, Ended> {
    let environment = Environment::read().map_err(Ended::usage)?;
    let current = environment::current_dir().map_err(Ended::usage)?;
    let sources = match &global.settings {
        Some(file) => Sources::Only(current.join(file)),
        None if global.isolated => Sources::None,
        None => Sources::Layers,
    };
    Ok(Options {
        workspace: global
            .workspace
            .as_ref()
            .map_or_else(|| current.clone(), |dir| current.join(dir)),
        sources,
        capabilities: global.capabilities.clone(),
        tools: global.tools.clone(),
        state: environment.state,
        config: environment.config,
        home: environment.home,
        temp: environment.temp,
        environment: environment.variables,
        warn: report::warning,
    })
}

/// Keeps a panic from spilling a trace: the executor turns it into an outcome, and one line says where.
fn hush_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {at}"));
        report::warning(&format!("internal fault{place}; please report it"));
    }));
}
