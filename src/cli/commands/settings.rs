//! `killick settings`: checking the files that apply here, and the schema that they follow.

use super::Ended;
use crate::app::{Ground, Options};
use crate::cli::args::{Format, Settings as Command};
use crate::cli::report::{self, Exit};
use crate::settings::{self, Origin, Settings};

pub(super) fn run(options: &Options, format: Format, command: &Command) -> Result<Exit, Ended> {
    match command {
        Command::Schema => {
            report::data(&format!("{:#}", settings::schema()));
            Ok(Exit::Done)
        }
        Command::Check => check(options, format),
    }
}

/// Checks all that starting a session would check, and shows what is in force.
fn check(options: &Options, format: Format) -> Result<Exit, Ended> {
    let ground = Ground::survey(options.clone())?;
    ground.check_tools()?;
    let rows = values(&ground.settings);
    match format {
        Format::Text => {
            let lines: Vec<String> = rows
                .iter()
                .map(|(key, value, origin)| format!("{key} = {value}  ({origin})"))
                .chain(ground.settings.inert.iter().map(ToString::to_string))
                .collect();
            report::data(&lines.join("\n"));
        }
        Format::Json => {
            let map: serde_json::Map<String, serde_json::Value> = rows
                .into_iter()
                .map(|(key, value, origin)| {
                    (key, serde_json::json!({"value": value, "origin": origin}))
                })
                .collect();
            report::data(&serde_json::Value::Object(map).to_string());
        }
    }
    Ok(Exit::Done)
}

/// Returns every key with its value, as JSON would write it, and where it comes from.
fn values(settings: &Settings) -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    let mut row = |key: &str, value: String, origin: &Origin| {
        rows.push((key.to_owned(), value, origin.to_string()));
    };
    if settings.capabilities.is_empty() {
        row("capabilities", "everything".to_owned(), &Origin::BuiltIn);
    }
    for list in &settings.capabilities {
        let entries: Vec<&str> =
            list.entries.iter().map(|entry| entry.value.as_str()).collect();
        row("capabilities", format!("{entries:?}"), &list.origin);
    }
    let tools = match &settings.tools.value {
        settings::Tools::All => "\"all\"".to_owned(),
        settings::Tools::Named(names) => {
            format!("{:?}", names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>())
        }
    };
    row("tools", tools, &settings.tools.origin);
    let extras: Vec<String> = settings
        .workspace_extra
        .value
        .iter()
        .map(|extra| format!("{} ({:?})", extra.path.value, extra.access).to_lowercase())
        .collect();
    row("workspace.extra", format!("{extras:?}"), &settings.workspace_extra.origin);
    row(
        "limits.output_chars",
        settings.output_chars.value.to_string(),
        &settings.output_chars.origin,
    );
    let lists: Vec<String> = settings
        .lisp_dialects
        .value
        .iter()
        .map(|(name, list)| {
            let list: Vec<&str> = list.iter().map(|entry| entry.value.as_str()).collect();
            format!("{:?}: {list:?}", name.value)
        })
        .collect();
    row("lisp.dialects", format!("{{{}}}", lists.join(", ")), &settings.lisp_dialects.origin);
    let heads: Vec<String> =
        settings.lisp_indent.value.iter().map(|(head, n)| format!("{head:?}: {n}")).collect();
    row("lisp.indent", format!("{{{}}}", heads.join(", ")), &settings.lisp_indent.origin);
    let dir =
        settings.session_dir.value.as_ref().map_or("null".to_owned(), |dir| format!("{dir:?}"));
    row("session.dir", dir, &settings.session_dir.origin);
    row("session.keep_days", settings.keep_days.value.to_string(), &settings.keep_days.origin);
    rows
}
