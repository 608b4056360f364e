//! Accepting a patch that was held back: exactly what was shown, once, if all its files are as they were.

use std::sync::Arc;

use super::balance::Judged;
use super::drafts::{self, Written};
use super::kit::{Kit, demand};
use crate::authority::Capability;
use crate::code::Code;
use crate::hashline::report::Verb;
use crate::hashline::rewrite;
use crate::protocol::{Effect, HeldFile, HeldPatch};
use crate::text::Snapshot;
use crate::tool::{Failure, Outcome, Prepared, Problem, Running};
use crate::workspace::Target;

/// Understands the acceptance of the candidate `id`, of which `path` is one of the files.
pub(super) fn prepare(kit: &Arc<Kit>, id: &str, path: &str) -> Result<Prepared, Failure> {
    let named = kit.writable(path)?;
    let held = kit.session.look(|state| state.held(id).cloned()).ok_or_else(|| unknown(id))?;
    if held.files.iter().all(|file| file.place != named.place) {
        let files: Vec<String> = held.files.iter().map(|file| file.place.to_string()).collect();
        return Err(Failure::new(
            Code::BadArg,
            format!(
                "{} is no file of candidate {id}, which has {}.",
                named.place,
                files.join(", ")
            ),
        ));
    }
    let targets: Vec<Target> = held
        .files
        .iter()
        .map(|file| kit.writable(&file.place.to_string()))
        .collect::<Result<_, _>>()?;
    let demands =
        held.files.iter().map(|file| demand(Capability::FileEdit, &file.place)).collect();
    let kit = Arc::clone(kit);
    Ok(Prepared::new(demands, move |running| accept(&kit, &held, &targets, running)))
}

fn accept(
    kit: &Kit,
    held: &HeldPatch,
    targets: &[Target],
    running: &Running,
) -> Result<Outcome, Failure> {
    let mut judged = Vec::new();
    let mut problems = Vec::new();
    for (file, target) in held.files.iter().zip(targets) {
        match drafted(kit, file, target, &held.id) {
            Ok(draft) => judged.push(draft),
            Err(failure) => problems.extend(failure.problems),
        }
    }
    if !problems.is_empty() {
        return Err(Failure { problems });
    }
    let released = Effect::Released { id: held.id.clone() };
    let written = Written { label: "edit", targets, effects: vec![released] };
    drafts::write(kit, running, written, &judged)
}

fn drafted(kit: &Kit, file: &HeldFile, target: &Target, id: &str) -> Result<Judged, Failure> {
    let now = kit.load(&Capability::FileEdit, target)?;
    if target.place != file.place || now.digest() != file.base {
        return Err(stale(file, id).into());
    }
    let after = Snapshot::new(&file.after).map_err(|error| {
        Failure::new(Code::Internal, format!("candidate {id} is no text: {error}."))
    })?;
    let draft = rewrite(file.place.clone(), now, &after);
    Ok(Judged { draft, verb: Verb::Repaired, note: None })
}

fn unknown(id: &str) -> Failure {
    Failure::new(
        Code::UnknownCandidate,
        format!(
            "this session holds no candidate {id}: it was accepted already, or is older than the 16 \
             newest. Send the edit again."
        ),
    )
}

fn stale(file: &HeldFile, id: &str) -> Problem {
    Problem::new(
        Code::StaleCandidate,
        format!(
            "{} has changed since candidate {id} was shown; read it and send the edit again.",
            file.place
        ),
    )
}
