//! `write`: replaces a file whole, or makes it. It is never refused for what it replaces, but it says
//! when that was not what the session had seen.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::kit::{FILE_LIMIT_BYTES, Kit, demand};
use super::{balance, commit, refuse};
use crate::authority::Capability;
use crate::code::Code;
use crate::hashline::Seen;
use crate::protocol::{Effect, SeenFile, SeenReach};
use crate::text::{Digest, LineDiff, Snapshot, count, unified};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Running, Spec, Tool};
use crate::workspace::{
    Change, Committed, CommittedFile, Expected, Fate, Kind, LoadError, Parents, Target,
};

/// How much of a diff rides in the details.
const DIFF_ROWS: usize = 200;
const DIFF_CHARS: usize = 1000;

/// How often a write is tried again when somebody else writes the same file at the same moment.
const MAX_TRIES: u32 = 20;

struct Write {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text("path", "File to write; missing folders are made.")
        .text("content", "The whole new content, exactly as it shall be.")
        .build();
    let spec = Spec {
        name: "write".to_owned(),
        description:
            "Write a file whole, replacing what is there. For a new file or a complete rewrite."
                .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Writes,
        paging: Paging::Clamp,
    };
    Arc::new(Write { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    path: String,
    content: String,
}

impl Tool for Write {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let target = self.kit.writable(&args.path)?;
        let kit = Arc::clone(&self.kit);
        let demands = vec![demand(Capability::FileWrite, &target.place)];
        Ok(Prepared::new(demands, move |running| {
            if args.path.ends_with('/') && matches!(target.kind, Kind::Missing { .. }) {
                return Err(refuse::names_a_folder(&args.path));
            }
            write(&kit, &target, &args.content, running)
        }))
    }
}

/// What stood at the path before.
enum Prior {
    Nothing,
    Text(Snapshot),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// Too large to be read whole; its digest and size.
    Large {
        digest: Digest,
        len: u64,
    },
}

impl Prior {
    fn digest(&self) -> Option<Digest> {
        match self {
            Self::Nothing => None,
            Self::Text(snapshot) => Some(snapshot.digest()),
            Self::Bytes(bytes) => Some(Digest::of(bytes)),
            Self::Large { digest, .. } => Some(*digest),
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Text(snapshot) => snapshot.text().into(),
            Self::Bytes(bytes) => {
                json!({"digest": Digest::of(bytes).to_hex(), "bytes": bytes.len()})
            }
            Self::Large { digest, len } => json!({"digest": digest.to_hex(), "bytes": len}),
        }
    }
}

fn write(
    kit: &Kit,
    target: &Target,
    content: &str,
    running: &Running,
) -> Result<Outcome, Failure> {
    kit.check_target_links(&Capability::FileWrite, target)?;
    let (prior, committed) = replace(kit, target, content, running)?;
    let after = Snapshot::new(content.as_bytes());
    let is_same = prior.digest() == Some(Digest::of(content.as_bytes()));
    let mut lines = vec![format!(
        "Wrote {} to {}.",
        count(content.chars().count(), "character"),
        target.spelled
    )];
    lines.extend(unseen(kit, target, &prior));
    lines.extend(committed.files.iter().filter_map(gone));
    lines.extend(unbalanced(kit, target, content));
    lines.extend(commit::recovered(&committed.recovered));
    let mut outcome = Outcome::success(lines.join("\n"))
        .detail("path", target.spelled.to_string())
        .detail("created", matches!(prior, Prior::Nothing))
        .detail("files", json!([file_details(target, &prior, after.as_ref().ok(), is_same)]))
        .detail("prior", prior.details())
        .effect(commit::effect(&committed));
    if let Ok(after) = after {
        outcome.effects.push(Effect::Seen(SeenFile {
            place: target.place.clone(),
            digest: after.digest(),
            lines: Arc::clone(after.line_digests()),
            reach: SeenReach::File,
            whole: Vec::new(),
            clipped: Vec::new(),
        }));
    }
    Ok(outcome)
}

/// Replaces whatever stands there; where somebody else writes at the same moment, what they wrote.
fn replace(
    kit: &Kit,
    target: &Target,
    content: &str,
    running: &Running,
) -> Result<(Prior, Committed), Failure> {
    let mut n_left = MAX_TRIES;
    loop {
        let prior = prior(kit, target)?;
        let change = Change {
            root: Arc::clone(&target.root),
            path: target.place.path.clone(),
            expected: prior.digest().map_or(Expected::Absent, Expected::Content),
            after: Some(content.as_bytes().to_vec()),
            parents: Parents::Make,
        };
        n_left -= 1;
        match commit::commit(kit, running, "write", vec![change]) {
            Ok(committed) => return Ok((prior, committed)),
            Err(failure) if n_left > 0 && is_conflict(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
}

fn is_conflict(failure: &Failure) -> bool {
    failure.problems.iter().all(|problem| problem.code == Code::Conflict)
}

fn prior(kit: &Kit, target: &Target) -> Result<Prior, Failure> {
    match target.kind {
        Kind::Folder => return Err(refuse::is_directory(&target.place)),
        Kind::Other => return Err(refuse::not_regular(&target.place)),
        Kind::Missing { .. } => return Ok(Prior::Nothing),
        Kind::File(_) => {}
    }
    match kit.workspace.load_bytes(&target.place, FILE_LIMIT_BYTES) {
        Ok((bytes, meta)) => {
            kit.check_links(&Capability::FileWrite, &target.place, &meta)?;
            if !kit.may_read(&target.place) {
                // Writing gives no right to be shown what was there.
                return Ok(Prior::Bytes(bytes));
            }
            Ok(Snapshot::new(&bytes).map_or(Prior::Bytes(bytes), Prior::Text))
        }
        Err(LoadError::NotFound(_)) => Ok(Prior::Nothing),
        Err(LoadError::TooLarge { .. }) => {
            let digested = kit.workspace.digest(&target.place);
            let (digest, len) = digested.map_err(|error| refuse::load(error, &[]))?;
            Ok(Prior::Large { digest, len })
        }
        Err(error) => Err(refuse::load(error, &[])),
    }
}

/// Says when what was replaced was not what the session had seen.
fn unseen(kit: &Kit, target: &Target, prior: &Prior) -> Option<String> {
    let digest = prior.digest()?;
    kit.session.look(|state| match state.seen(&target.place).and_then(Seen::newest) {
        None => Some("(it replaced a file that this session had not read)".to_owned()),
        Some(seen) if seen != digest => {
            Some("(what it replaced had changed since this session saw it)".to_owned())
        }
        Some(_) => None,
    })
}

/// Says when what was replaced is not kept.
fn gone(file: &CommittedFile) -> Option<String> {
    match file.fate {
        Fate::Gone => Some(
            "(what it replaced was too large to keep: undo cannot bring it back)".to_owned(),
        ),
        Fate::Kept => None,
    }
}

/// Says when a Lisp file is not balanced.
fn unbalanced(kit: &Kit, target: &Target, content: &str) -> Option<String> {
    let fault = balance::fault(content, kit.dialect(&target.place)?)?;
    Some(format!("(the file is unbalanced: {fault})"))
}

fn file_details(
    target: &Target,
    prior: &Prior,
    after: Option<&Snapshot>,
    is_same: bool,
) -> Value {
    let status = match prior {
        Prior::Nothing => "created",
        _ if is_same => "unchanged",
        Prior::Text(_) | Prior::Bytes(_) | Prior::Large { .. } => "modified",
    };
    let nothing = Snapshot::new(b"").ok();
    let before = match prior {
        Prior::Nothing => nothing.as_ref(),
        Prior::Text(snapshot) => Some(snapshot),
        Prior::Bytes(_) | Prior::Large { .. } => None,
    };
    let (Some(before), Some(after)) = (before, after) else {
        return json!({"path": target.spelled.to_string(), "status": status});
    };
    let diff = LineDiff::between(before.line_digests(), after.line_digests());
    let (added, removed) = diff.added_removed();
    json!({
        "path": target.spelled.to_string(),
        "added": added,
        "removed": removed,
        "diff": unified(before, after, DIFF_ROWS, DIFF_CHARS),
        "status": status,
    })
}
