//! `killick authority`: what a session here would hold, what narrowed it, what a person must
//! confirm of it, and what enforces it.

use serde_json::{Value, json};

use super::Ended;
use crate::app::{Ground, Options};
use crate::cli::args::Format;
use crate::cli::report::{self, Exit};

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

pub(super) fn run(options: &Options, format: Format) -> Result<Exit, Ended> {
    let ground = Ground::survey(options.clone())?;
    match format {
        Format::Text => report::data(&words(&ground)),
        Format::Json => report::data(&data(&ground).to_string()),
    }
    Ok(Exit::Done)
}

fn words(ground: &Ground) -> String {
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
    section(&mut lines, "enforced:", strings(ENFORCED));
    section(&mut lines, "not enforced:", strings(NOT_ENFORCED));
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, rows: Vec<String>) {
    if !rows.is_empty() {
        lines.push(title.to_owned());
        lines.extend(rows.into_iter().map(|row| format!("  {row}")));
    }
}

fn data(ground: &Ground) -> Value {
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
        "not_enforced": NOT_ENFORCED,
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

fn strings(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|&row| row.to_owned()).collect()
}
