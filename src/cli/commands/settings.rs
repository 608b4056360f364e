//! `killick settings`: checking the files that apply here, and the schema that they follow.

use serde_json::{Map, Value, json};

use super::Ended;
use crate::app::{Ground, Options};
use crate::cli::args::{Format, Settings as Command};
use crate::cli::report::{self, Exit};
use crate::settings::{self, Origin, Settings, Spanned};

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
    let inert = ground.settings.inert.iter().map(ToString::to_string);
    match format {
        Format::Text => {
            let shown =
                rows.iter().map(|row| format!("{} = {}  ({})", row.key, row.value, row.origin));
            report::data(&shown.chain(inert).collect::<Vec<_>>().join("\n"));
        }
        Format::Json => {
            let shown: Vec<Value> = rows
                .into_iter()
                .map(|row| json!({"key": row.key, "value": row.value, "origin": row.origin}))
                .collect();
            report::data(
                &json!({"values": shown, "inert": inert.collect::<Vec<_>>()}).to_string(),
            );
        }
    }
    Ok(Exit::Done)
}

/// One key in force.
struct Row {
    key: &'static str,
    value: Value,
    origin: String,
}

/// Returns every key with its value and where it comes from.
fn values(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |key, value: Value, origin: &Origin| {
        rows.push(Row { key, value, origin: origin.to_string() });
    };
    if settings.capabilities.is_empty() {
        row("capabilities", Value::from("everything"), &Origin::BuiltIn);
    }
    for list in &settings.capabilities {
        row("capabilities", strings(&list.entries), &list.origin);
    }
    let added = [
        ("ask", &settings.ask),
        ("approved", &settings.approved),
        ("bash.interactive.add", &settings.bash_interactive_add),
        ("bash.interactive.allow", &settings.bash_interactive_allow),
        ("bash.env.pass", &settings.bash_env_pass),
    ];
    for (key, lists) in added {
        if lists.is_empty() {
            row(key, strings(&[]), &Origin::BuiltIn);
        }
        for list in lists {
            row(key, strings(&list.value), &list.origin);
        }
    }
    let sandbox = match settings.sandbox.value {
        settings::Sandbox::Auto => "auto",
        settings::Sandbox::Off => "off",
    };
    row("sandbox", sandbox.into(), &settings.sandbox.origin);
    row("bash.shell", settings.bash_shell.value.clone().into(), &settings.bash_shell.origin);
    let timeout = &settings.bash_timeout_seconds;
    row("bash.timeout", timeout.value.into(), &timeout.origin);
    let set = settings.bash_env_set.value.iter();
    let set: Map<String, Value> =
        set.map(|(name, value)| (name.clone(), value.clone().into())).collect();
    row("bash.env.set", set.into(), &settings.bash_env_set.origin);
    for (key, paths) in
        [("bash.writable", &settings.bash_writable), ("bash.readable", &settings.bash_readable)]
    {
        row(key, strings(&paths.value), &paths.origin);
    }
    let tools = match &settings.tools.value {
        settings::Tools::All => Value::from("all"),
        settings::Tools::Named(names) => strings(names),
    };
    row("tools", tools, &settings.tools.origin);
    let extras = settings.workspace_extra.value.iter().map(|extra| {
        let access = match extra.access {
            settings::Access::Read => "read",
            settings::Access::Write => "write",
        };
        json!({"path": extra.path.value, "access": access})
    });
    row("workspace.extra", extras.collect(), &settings.workspace_extra.origin);
    row(
        "limits.output_chars",
        settings.output_chars.value.into(),
        &settings.output_chars.origin,
    );
    let dialects = settings.lisp_dialects.value.iter();
    let dialects: Map<String, Value> =
        dialects.map(|(name, list)| (name.value.clone(), strings(list))).collect();
    row("lisp.dialects", dialects.into(), &settings.lisp_dialects.origin);
    let indent = settings.lisp_indent.value.iter();
    let indent: Map<String, Value> =
        indent.map(|(head, n)| (head.clone(), (*n).into())).collect();
    row("lisp.indent", indent.into(), &settings.lisp_indent.origin);
    row("session.dir", settings.session_dir.value.clone().into(), &settings.session_dir.origin);
    row("session.keep_days", settings.keep_days.value.into(), &settings.keep_days.origin);
    rows
}

fn strings(list: &[Spanned<String>]) -> Value {
    list.iter().map(|entry| Value::from(entry.value.as_str())).collect()
}
