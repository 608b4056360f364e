//! `killick authority`: what a session here would hold, what narrowed it, what a person must
//! confirm of it, and what enforces it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Ended;
use crate::app::{Ground, Held, Options, held};
use crate::authority::Capability;
use crate::cli::args::Format;
use crate::cli::environment;
use crate::cli::report::{self, Exit};
use crate::process::confine::Sockets;
use crate::tools::{SYSTEM, Sandbox};

/// What holds a session to its grant, in this version.
const ENFORCED: &[&str] = &[
    "every tool call is held against the grant before it runs",
    "what a person must confirm does not run before it is, and not at all where nobody can be asked",
    "files are opened beneath the roots by folder handles, through no symlink that was put in since",
    "the file tools write no repository's store, no settings of killick's and nothing of its state",
    "they read neither its state nor .killick/settings.local.json",
];

/// What nothing holds it to.
const NOT_ENFORCED: &[&str] = &[
    "other programs of the same user may change files, their modes and their times at any moment",
];

/// What nothing holds a confined shell to.
const OF_THE_SHELL: &[&str] = &[
    "commands may make what is not there yet where they may write, also a repository or project settings (inert \
     until trusted)",
    "commands see which processes run and with which words they were started",
    "commands write through a hard link that lies where they may write",
];

pub(super) fn run(options: &Options, format: Format) -> Result<Exit, Ended> {
    let ground = Ground::survey(options.clone())?;
    let program = environment::program().map_err(Ended::refused)?;
    let held = held(&ground, &program)?;
    match format {
        Format::Text => report::data(&words(&ground, &held)),
        Format::Json => report::data(&data(&ground, &held).to_string()),
    }
    Ok(Exit::Done)
}

fn words(ground: &Ground, held: &Held) -> String {
    let mut lines = Vec::new();
    let holdings = ground.grant.holdings();
    let is_everything = ground.settings.capabilities.is_empty();
    lines.push(match (is_everything, holdings.is_empty()) {
        (true, _) => "authority: everything (no `capabilities` in any settings)".to_owned(),
        (false, true) => "authority: nothing that is gated".to_owned(),
        (false, false) => "authority:".to_owned(),
    });
    if !is_everything {
        lines.extend(holdings.iter().map(|holding| format!("  {holding}")));
    }
    section(&mut lines, "narrowed by:", origins(ground));
    section(&mut lines, "confirmed by a person:", asked(ground));
    section(&mut lines, "exempt from that:", exemptions(ground));
    section(&mut lines, "roots:", roots(ground));
    let inert = ground.settings.inert.iter().map(ToString::to_string).collect();
    section(&mut lines, "inert until `killick trust`:", inert);
    section(&mut lines, "shell:", shell_words(ground, held));
    section(&mut lines, "enforced:", strings(ENFORCED));
    section(&mut lines, "not enforced:", not_enforced(held));
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, rows: Vec<String>) {
    if !rows.is_empty() {
        lines.push(title.to_owned());
        lines.extend(rows.into_iter().map(|row| format!("  {row}")));
    }
}

fn data(ground: &Ground, held: &Held) -> Value {
    json!({
        "everything": ground.settings.capabilities.is_empty(),
        "capabilities": ground.grant.holdings(),
        "restricted": ground.grant.is_restricted(),
        "narrowed_by": origins(ground),
        "ask": asked(ground),
        "approved": exemptions(ground),
        "roots": roots(ground),
        "inert": ground.settings.inert.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "enforced": ENFORCED,
        "not_enforced": not_enforced(held),
        "shell": shell_data(ground, held),
    })
}

fn origins(ground: &Ground) -> Vec<String> {
    ground.settings.capabilities.iter().map(|list| list.origin.to_string()).collect()
}

/// Returns what a person must confirm, each entry with where it is written.
fn asked(ground: &Ground) -> Vec<String> {
    let asked = ground.asks.asked().iter();
    asked.map(|asked| format!("{} ({})", asked.entry, asked.origin)).collect()
}

fn exemptions(ground: &Ground) -> Vec<String> {
    ground.asks.exemptions().iter().map(ToString::to_string).collect()
}

fn roots(ground: &Ground) -> Vec<String> {
    let main = format!("{} (workspace)", ground.workspace_path().display());
    let extras = ground
        .settings
        .workspace_extra
        .value
        .iter()
        .map(|extra| format!("{} ({:?})", extra.path.value, extra.access).to_lowercase());
    std::iter::once(main).chain(extras).collect()
}

/// Returns what is true of the shell, a row each; nothing where no command runs at all.
fn shell_words(ground: &Ground, held: &Held) -> Vec<String> {
    if !ground.grant.is_held(&Capability::ProcessExec) {
        return vec!["runs nothing: process/exec is not held".to_owned()];
    }
    let bounds = match (&held.sandbox, &held.level) {
        (Sandbox::Unrestricted, _) => {
            return vec![
                "runs with all that the user may do: the session is not restricted".to_owned(),
            ];
        }
        (Sandbox::Off, _) => {
            let origin = &ground.settings.sandbox.origin;
            return vec![format!(
                "runs with all that the user may do: the sandbox is off ({origin})"
            )];
        }
        (Sandbox::On(_), None | Some(Err(_))) => {
            let why = held.level.as_ref().and_then(|level| level.as_ref().err());
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            return vec![format!("runs nothing (sandbox_unavailable){why}")];
        }
        (Sandbox::On(bounds), Some(Ok(level))) => (bounds, level),
    };
    let (bounds, level) = bounds;
    let network = match bounds.sockets() {
        Sockets::Pairs => "no sockets",
        Sockets::Internet => "internet sockets, no Unix sockets",
    };
    vec![
        format!("held by {level}"),
        format!("writes: {}, a temporary folder of its own", paths(&bounds.writable())),
        format!("reads: {}, and the system's {}", paths(&bounds.readable()), SYSTEM.join(" ")),
        format!("network: {network}"),
    ]
}

fn paths(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = there(paths).map(|path| path.display().to_string()).collect();
    if shown.is_empty() { "nothing".to_owned() } else { shown.join(" ") }
}

fn there(paths: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    paths.iter().filter(|path| path.exists())
}

fn shell_data(ground: &Ground, held: &Held) -> Value {
    let can_run = ground.grant.is_held(&Capability::ProcessExec);
    match (&held.sandbox, &held.level) {
        (Sandbox::Unrestricted, _) => json!({"runs": can_run, "sandbox": "unrestricted"}),
        (Sandbox::Off, _) => json!({"runs": can_run, "sandbox": "off"}),
        (Sandbox::On(_), None) => json!({"runs": false, "sandbox": "unavailable"}),
        (Sandbox::On(_), Some(Err(error))) => {
            json!({"runs": false, "sandbox": "unavailable", "why": error.why})
        }
        (Sandbox::On(bounds), Some(Ok(level))) => json!({
            "runs": can_run,
            "sandbox": "on",
            "level": level,
            "writable": there(&bounds.writable()).collect::<Vec<_>>(),
            "readable": there(&bounds.readable()).collect::<Vec<_>>(),
            "system": SYSTEM,
            "sockets": bounds.sockets(),
        }),
    }
}

/// Returns what nothing holds the session to.
fn not_enforced(held: &Held) -> Vec<String> {
    let mut rows = strings(NOT_ENFORCED);
    match (&held.sandbox, &held.level) {
        (Sandbox::Off, _) => rows.push(
            "commands may read, write and send whatever the user may: the sandbox is off"
                .to_owned(),
        ),
        (Sandbox::On(_), Some(Ok(level))) => {
            rows.extend(strings(OF_THE_SHELL));
            rows.extend(level.gaps.iter().map(|gap| format!("commands: {}", gap.as_str())));
        }
        (Sandbox::Unrestricted, _) | (Sandbox::On(_), None | Some(Err(_))) => {}
    }
    rows
}

fn strings(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|&row| row.to_owned()).collect()
}
