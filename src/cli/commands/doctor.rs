//! `killick doctor`: what killick needs of this machine, and what to do where it is not there.

use serde_json::{Value, json};

use super::Ended;
use crate::app::{Check, Options, Verdict, checks};
use crate::cli::args::Format;
use crate::cli::environment;
use crate::cli::report::{self, Exit};

pub(super) fn run(options: &Options, format: Format) -> Result<Exit, Ended> {
    let program = environment::program().map_err(Ended::refused)?;
    let checks = checks(options, &program, &environment::path());
    match format {
        Format::Text => report::data(&checks.iter().map(line).collect::<Vec<_>>().join("\n")),
        Format::Json => report::data(&checks.iter().map(datum).collect::<Value>().to_string()),
    }
    let is_sound = checks.iter().all(|check| check.verdict != Verdict::Fail);
    Ok(if is_sound { Exit::Done } else { Exit::Refused })
}

fn line(check: &Check) -> String {
    let Check { name, verdict, found, next } = check;
    let next = next.map_or_else(String::new, |next| format!("\n     next: {next}"));
    format!("{:<4} {name}: {}{next}", verdict.as_str(), found.replace('\n', "\n     "))
}

fn datum(check: &Check) -> Value {
    let Check { name, verdict, found, next } = check;
    json!({"name": name, "verdict": verdict.as_str(), "found": found, "next": next})
}
