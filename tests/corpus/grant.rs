//! `grant/`: tables of calls against lists of entries.
//!
//! Each `layer` or `layer ORIGIN` section is a list, one entry a line; without any, everything is held. `calls` holds
//! lines `admit CAPABILITY RESOURCE` or `deny …`, where a resource is `whole`, `some`, a path in the
//! workspace, or `ROOT//PATH` in another root. Where they stand, `says` holds every denial in full, and
//! `holds` what the session holds. `refuses` holds what is wrong with the entries, and then no call is made.

use std::fmt::Write as _;

use killick::authority::{Capability, Demand, Entry, Grant, Resource};
use killick::path::{Place, RelPath, RootName};

use crate::fixture::Fixture;

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
        let mut words = line.splitn(3, ' ').skip(1);
        let (Some(name), Some(resource)) = (words.next(), words.next()) else {
            return Err(format!("a call is VERDICT CAPABILITY RESOURCE, not {line:?}"));
        };
        let demand = Demand {
            capability: Capability::parse(name).map_err(|error| error.to_string())?,
            resource: parse_resource(resource)?,
        };
        let verdict = match grant.check(&demand) {
            Ok(()) => "admit",
            Err(denial) => {
                let _ = writeln!(denials, "{denial}");
                "deny"
            }
        };
        let _ = writeln!(verdicts, "{verdict} {name} {resource}");
    }
    fixture.check("calls", "", Some(&verdicts));
    if fixture.section("says").is_some() {
        fixture.check("says", "", Some(&denials));
    }
    Ok(())
}

fn parse_resource(text: &str) -> Result<Resource, String> {
    let (root, path) = match (text, text.split_once("//")) {
        ("whole", _) => return Ok(Resource::Whole),
        ("some", _) => return Ok(Resource::Some),
        (_, Some((root, path))) => (RootName::absolute(root), path),
        (path, None) => (RootName::workspace(), path),
    };
    let path = RelPath::parse(path).map_err(|error| error.to_string())?;
    Ok(Resource::Path(Place { root, path }))
}
