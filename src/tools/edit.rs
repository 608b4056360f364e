//! `edit`: applies a hashline patch to one or more files, all or none; or accepts one that was held back.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::accept;
use super::balance::Policy;
use super::drafts::{self, Written};
use super::kit::{Kit, demand};
use crate::authority::Capability;
use crate::code::Code;
use crate::hashline::{
    self, Echoes, FilePatch, Options, Refusal, Relocation, Seen, Subject, apply, grammar,
    report, resolve,
};
use crate::text::Snapshot;
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Problem, Reach, Running, Spec, Tool};
use crate::workspace::Target;

struct Edit {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .optional_text("input", "The patch; required unless accept_repair is given.")
        .optional_flag(
            "relocate",
            "Follow lines that moved, if each stands at one place. Default false.",
        )
        .optional_flag(
            "literal",
            "Payload rows that begin with an anchor are meant. Default false.",
        )
        .optional_choice("repair", Policy::WORDS, Policy::DOC)
        .optional_text(
            "accept_repair",
            "Candidate id of a repair that was shown: writes exactly that.",
        )
        .optional_text("path", "With accept_repair: one of the candidate's files.")
        .build();
    let spec = Spec {
        name: "edit".to_owned(),
        description: hashline::DESCRIPTION.trim_end().to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Writes,
        paging: Paging::Clamp,
    };
    Arc::new(Edit { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    input: Option<String>,
    #[serde(default)]
    relocate: bool,
    #[serde(default)]
    literal: bool,
    repair: Option<String>,
    accept_repair: Option<String>,
    path: Option<String>,
}

/// How a patch is to be taken.
#[derive(Clone, Copy)]
struct Manner {
    options: Options,
    policy: Policy,
}

impl Args {
    fn manner(&self) -> Manner {
        let options = Options {
            relocation: if self.relocate { Relocation::Follow } else { Relocation::Refuse },
            echoes: if self.literal { Echoes::Literal } else { Echoes::Refuse },
        };
        Manner { options, policy: Policy::named(self.repair.as_deref()) }
    }
}

impl Tool for Edit {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let manner = args.manner();
        match (args.input, args.accept_repair, args.path) {
            (Some(input), None, None) => self.prepare_patch(&input, manner),
            (None, Some(id), Some(path)) => accept::prepare(&self.kit, &id, &path),
            (None, Some(_), None) => Err(Failure::new(
                Code::MissingArg,
                "`path` is required with `accept_repair`: one of the candidate's files.",
            )),
            (None, None, _) => Err(Failure::new(
                Code::MissingArg,
                "`input` is required: the patch (or `accept_repair` with `path`).",
            )),
            (Some(_), Some(_), _) => Err(Failure::new(
                Code::BadArg,
                "`input` and `accept_repair` exclude each other; send one of them.",
            )),
            (Some(_), None, Some(_)) => Err(Failure::new(
                Code::BadArg,
                "`path` belongs to `accept_repair`; a patch names its files after @@.",
            )),
        }
    }
}

impl Edit {
    fn prepare_patch(&self, input: &str, manner: Manner) -> Result<Prepared, Failure> {
        let (files, targets) = understood(&self.kit, input)?;
        let kit = Arc::clone(&self.kit);
        let demands =
            targets.iter().map(|target| demand(Capability::FileEdit, &target.place)).collect();
        Ok(Prepared::new(demands, move |running| edit(&kit, &files, &targets, manner, running)))
    }
}

/// Parses a patch and finds the file that each section means.
fn understood(kit: &Kit, input: &str) -> Result<(Vec<FilePatch>, Vec<Target>), Failure> {
    let patch = grammar::parse(input).map_err(|problems| bad_patch(&problems))?;
    let mut targets: Vec<Target> = Vec::new();
    let files = patch.into_files(|path| {
        let target = kit.writable(path)?;
        let place = target.place.clone();
        if targets.iter().all(|known| known.place != place) {
            targets.push(target);
        }
        Ok(place)
    });
    match files {
        Ok(files) => Ok((files, targets)),
        Err(refused) => Err(all(refused)),
    }
}

fn bad_patch(problems: &[hashline::Problem]) -> Failure {
    let problem = |p: &hashline::Problem| Problem::new(p.code, report::line(p));
    let mut problems: Vec<Problem> =
        problems.iter().take(report::SHOWN_PROBLEMS).map(problem).collect();
    if let Some(last) = problems.last_mut() {
        last.message.push_str("\nCorrect the patch and send it again whole.");
    }
    Failure { problems }
}

/// Joins the failures of several sections.
fn all(refused: Vec<(usize, Failure)>) -> Failure {
    let problems = refused.into_iter().flat_map(|(_, failure)| failure.problems);
    Failure { problems: problems.collect() }
}

/// A file of the patch as it is and as the session knows it.
struct Loaded<'a> {
    patch: &'a FilePatch,
    now: Snapshot,
    seen: Seen,
}

fn edit(
    kit: &Kit,
    files: &[FilePatch],
    targets: &[Target],
    manner: Manner,
    running: &Running,
) -> Result<Outcome, Failure> {
    let mut refusal = Refusal::default();
    let mut loaded = Vec::new();
    for (patch, target) in files.iter().zip(targets) {
        match kit.load(&Capability::FileEdit, target) {
            Ok(now) => {
                loaded.push(Loaded { patch, now, seen: drafts::seen(kit, &target.place) });
            }
            Err(failure) => drafts::add(&mut refusal, failure),
        }
    }
    let subjects: Vec<Subject<'_>> = loaded
        .iter()
        .map(|file| Subject { patch: file.patch, now: &file.now, seen: &file.seen, since: &[] })
        .collect();
    let plan = match resolve(&subjects, manner.options) {
        Ok(plan) if refusal.is_empty() => plan,
        Ok(_) => return Ok(drafts::refused(&refusal)),
        Err(more) => {
            refusal.extend(more);
            return Ok(drafts::refused(&refusal));
        }
    };
    let written = Written { label: "edit", targets, effects: Vec::new() };
    drafts::write_balanced(kit, running, written, apply(plan), manner.policy)
}
