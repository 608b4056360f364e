//! `grant/`: tables of calls against lists of entries; and the examples of `docs/authority.md`, in which the
//! list stands before the first empty line and the calls behind it.
//!
//! Each `layer` or `layer ORIGIN` section is a list, one entry a line; without any, everything is held. `calls` holds
//! lines `admit CAPABILITY RESOURCE` or `deny …`, where a resource is `whole`, `some`, or what the scopes of
//! the capability are about: a path in the workspace, or `ROOT//PATH` in another root; `NAME PORT` of a
//! host; a command line, in which `␤` and its like are the control characters that they show, behind
//! `[SHELL]` for another shell and `[elsewhere]` for another folder. Where they stand, `says` holds every denial in full, and
//! `holds` what the session holds. `refuses` holds what is wrong with the entries, and then no call is made.

use std::fmt::Write as _;

use killick::authority::{
    Capability, CommandLine, Demand, Entry, Grant, Host, Resource, ScopeKind, Shell, StartsIn,
};
use killick::path::{Place, RelPath, RootName};

use libtest_mimic::Trial;

use crate::fixture::Fixture;

const DOCUMENT: &str = include_str!("../../docs/authority.md");

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let mut grant = Grant::everything();
    let mut refusals = String::new();
    for layer in fixture.sections.iter().filter(|section| section.name == "layer") {
        let (entries, problems): (Vec<_>, Vec<_>) =
            layer.content.lines().map(Entry::parse).partition(Result::is_ok);
        for problem in problems.into_iter().filter_map(Result::err) {
            let _ = writeln!(refusals, "{problem}");
        }
        let entries: Vec<_> = entries.into_iter().filter_map(Result::ok).collect();
        let list = match layer.argument.as_str() {
            "" => Grant::from_entries(&entries),
            origin => Grant::from_layer(origin, &entries),
        };
        grant = grant.meet(&list);
    }
    if !refusals.is_empty() || fixture.section("refuses").is_some() {
        fixture.check("refuses", "", Some(&refusals));
        return if refusals.is_empty() { Err("nothing is refused".to_owned()) } else { Ok(()) };
    }
    calls(fixture, &grant)?;
    if fixture.section("holds").is_some() {
        let holdings: String = grant.holdings().into_iter().map(|held| held + "\n").collect();
        fixture.check("holds", "", Some(&holdings));
    }
    Ok(())
}

fn calls(fixture: &mut Fixture, grant: &Grant) -> Result<(), String> {
    let mut verdicts = String::new();
    let mut denials = String::new();
    for line in fixture.need("calls")?.lines() {
        let (words, demand) = parse_call(line)?;
        let verdict = match grant.check(&demand) {
            Ok(()) => "admit",
            Err(denial) => {
                let _ = writeln!(denials, "{denial}");
                "deny"
            }
        };
        let _ = writeln!(verdicts, "{verdict} {words}");
    }
    fixture.check("calls", "", Some(&verdicts));
    if fixture.section("says").is_some() {
        fixture.check("says", "", Some(&denials));
    }
    Ok(())
}

/// Returns what follows the verdict, and what it demands.
fn parse_call(line: &str) -> Result<(&str, Demand), String> {
    let wrong = || format!("a call is VERDICT CAPABILITY RESOURCE, not {line:?}");
    let (_, words) = line.split_once(' ').ok_or_else(wrong)?;
    let (name, resource) = words.split_once(' ').ok_or_else(wrong)?;
    let capability = Capability::parse(name).map_err(|error| error.to_string())?;
    let resource = parse_resource(capability.gate().scope, resource)?;
    Ok((words, Demand { capability, resource }))
}

fn parse_resource(kind: ScopeKind, text: &str) -> Result<Resource, String> {
    match (text, kind) {
        ("whole", _) => Ok(Resource::Whole),
        ("some", _) => Ok(Resource::Some),
        (_, ScopeKind::Host) => parse_host(text),
        (_, ScopeKind::Command) => Ok(Resource::Command(parse_line(text))),
        (_, ScopeKind::Path | ScopeKind::None) => parse_place(text),
    }
}

fn parse_place(text: &str) -> Result<Resource, String> {
    let (root, path) = match text.split_once("//") {
        Some((root, path)) => (RootName::absolute(root), path),
        None => (RootName::workspace(), text),
    };
    let path = RelPath::parse(path).map_err(|error| error.to_string())?;
    Ok(Resource::Path(Place { root, path }))
}

fn parse_host(text: &str) -> Result<Resource, String> {
    let (name, port) = text.split_once(' ').ok_or("a host is NAME PORT")?;
    let port = port.parse().ok().ok_or_else(|| format!("{port} is no port"))?;
    Host::new(name, port).map(Resource::Host).map_err(|error| error.to_string())
}

fn parse_line(text: &str) -> CommandLine {
    let (bracketed, line) = match text.strip_prefix('[').and_then(|rest| rest.split_once("] "))
    {
        Some((word, line)) => (word, line),
        None => ("", text),
    };
    let (shell, starts_in) = match bracketed {
        "" => (Shell::Configured, StartsIn::Workspace),
        "elsewhere" => (Shell::Configured, StartsIn::Elsewhere("/d".into())),
        other => (Shell::configured(other), StartsIn::Workspace),
    };
    CommandLine { shell, text: line.chars().map(control).collect::<String>().into(), starts_in }
}

/// Returns the control character that a picture of one stands for.
fn control(c: char) -> char {
    match c {
        '␤' => '\n',
        '␡' => '\u{7f}',
        '\u{2400}'..='\u{241f}' => {
            char::from_u32(u32::from(c) - 0x2400).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        other => other,
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let blocks: Vec<&str> = DOCUMENT.split("```grant\n").skip(1).collect();
    assert!(blocks.len() > 4, "{} blocks", blocks.len());
    let trials = blocks.into_iter().enumerate().map(|(nth, block)| {
        Trial::test(format!("authority::example-{}", nth + 1), move || {
            example(block).map_err(Into::into)
        })
    });
    trials.collect()
}

fn example(block: &str) -> Result<(), String> {
    let (block, _) = block.split_once("```").ok_or("the block does not end")?;
    let (list, calls) = block.split_once("\n\n").ok_or("no empty line behind the list")?;
    let entries: Result<Vec<_>, _> = list.lines().map(Entry::parse).collect();
    let grant = Grant::from_entries(&entries.map_err(|error| error.to_string())?);
    for line in calls.lines() {
        let (_, demand) = parse_call(line)?;
        let verdict = if grant.covers(&demand) { "admit" } else { "deny" };
        if !line.starts_with(verdict) {
            return Err(format!("{line:?}: {verdict}"));
        }
    }
    Ok(())
}
