//! `settings/`: layers of text, and what holds or what is wrong.
//!
//! The sections `user`, `project`, `local` and `flags` are the layers, each with its file's name; a
//! section `trusted LAYER` trusts one. Below `valid/` the case ends in `holds`, every value with its
//! origin; below `invalid/` in `says`, every problem in full, and a case without problems fails.

use std::fmt::Write as _;

use killick::settings::{
    Access, Extra, Layer, Raw, Settings, Spanned, Tools, Trust, TrustedLayers, merge, read,
};

use crate::fixture::Fixture;

/// Runs a case whose layers are sound.
pub(crate) fn valid(fixture: &mut Fixture) -> Result<(), String> {
    let (raws, says) = layers(fixture)?;
    let trust = |name: &str| {
        let mut sections = fixture.sections.iter();
        let is_trusted = sections.any(|s| s.name == "trusted" && s.argument == name);
        if is_trusted { Trust::Trusted } else { Trust::Untrusted }
    };
    let trusted = TrustedLayers { project: trust("project"), local: trust("local") };
    let holds = if says.is_empty() { render(&merge(raws, trusted)) } else { says };
    fixture.check("holds", "", Some(&holds));
    Ok(())
}

/// Runs a case with at least one problem.
pub(crate) fn invalid(fixture: &mut Fixture) -> Result<(), String> {
    let (_, says) = layers(fixture)?;
    if says.is_empty() {
        return Err("no problem was found".to_owned());
    }
    fixture.check("says", "", Some(&says));
    Ok(())
}

/// Reads every layer of a case, and renders every problem.
fn layers(fixture: &Fixture) -> Result<(Vec<Raw>, String), String> {
    let mut raws = Vec::new();
    let mut says = String::new();
    for section in &fixture.sections {
        let layer = match section.name.as_str() {
            "user" => Layer::User,
            "project" => Layer::Project,
            "local" => Layer::Local,
            "flags" => Layer::Flags,
            "trusted" | "holds" | "says" => continue,
            other => return Err(format!("no layer is called {other}")),
        };
        match read(&section.argument, layer, &section.content) {
            Ok(raw) => raws.push(raw),
            Err(problems) => problems.iter().for_each(|problem| {
                let _ = writeln!(says, "{problem}");
            }),
        }
    }
    Ok((raws, says))
}

fn render(settings: &Settings) -> String {
    let mut text = String::new();
    if settings.capabilities.is_empty() {
        text.push_str("capabilities: everything\n");
    }
    for narrowing in &settings.capabilities {
        let entries = strings(&narrowing.entries);
        let _ = writeln!(text, "capabilities within {entries} ({})", narrowing.origin);
    }
    let added = [
        ("ask", &settings.ask),
        ("approved", &settings.approved),
        ("bash.interactive.add", &settings.bash_interactive_add),
        ("bash.interactive.allow", &settings.bash_interactive_allow),
        ("bash.env.pass", &settings.bash_env_pass),
    ];
    for (key, lists) in added {
        for list in lists {
            let _ = writeln!(text, "{key} adds {} ({})", strings(&list.value), list.origin);
        }
    }
    let tools = match &settings.tools.value {
        Tools::All => "all".to_owned(),
        Tools::Named(names) => strings(names),
    };
    let extra: Vec<_> = settings.workspace_extra.value.iter().map(show_extra).collect();
    let _ = writeln!(text, "tools: {tools} ({})", settings.tools.origin);
    let origin = &settings.workspace_extra.origin;
    let _ = writeln!(text, "workspace.extra: [{}] ({origin})", extra.join(", "));
    let chars = &settings.output_chars;
    let _ = writeln!(text, "limits.output_chars: {} ({})", chars.value, chars.origin);
    let shell = &settings.bash_shell;
    let _ = writeln!(text, "bash.shell: {:?} ({})", shell.value, shell.origin);
    let timeout = &settings.bash_timeout_seconds;
    let _ = writeln!(text, "bash.timeout: {} ({})", timeout.value, timeout.origin);
    for (name, value) in &settings.bash_env_set.value {
        let origin = &settings.bash_env_set.origin;
        let _ = writeln!(text, "bash.env.set.{name}: {value:?} ({origin})");
    }
    let lisp = &settings.lisp_dialects;
    for (name, list) in &lisp.value {
        let list: Vec<&str> = list.iter().map(|entry| entry.value.as_str()).collect();
        let _ = writeln!(text, "lisp.dialects.{}: {list:?} ({})", name.value, lisp.origin);
    }
    for (head, n) in &settings.lisp_indent.value {
        let _ = writeln!(text, "lisp.indent.{head}: {n} ({})", settings.lisp_indent.origin);
    }
    let dir = &settings.session_dir;
    let _ = writeln!(text, "session.dir: {:?} ({})", dir.value, dir.origin);
    let days = &settings.keep_days;
    let _ = writeln!(text, "session.keep_days: {} ({})", days.value, days.origin);
    for inert in &settings.inert {
        let _ = writeln!(text, "{inert}");
    }
    text
}

fn strings(strings: &[Spanned<String>]) -> String {
    let shown =
        strings.iter().map(|s| format!("{:?} {}:{}", s.value, s.site.line, s.site.column));
    format!("[{}]", shown.collect::<Vec<_>>().join(", "))
}

fn show_extra(extra: &Extra) -> String {
    let access = match extra.access {
        Access::Read => "read",
        Access::Write => "write",
    };
    format!("{access} {:?} at {}", extra.path.value, extra.path.site)
}
