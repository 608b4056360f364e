//! `replace`: puts an exact text in the place of another, on the same engine as `edit`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::balance::Policy;
use super::drafts::{self, Written};
use super::kit::{Kit, demand};
use crate::authority::Capability;
use crate::hashline::{self, Occurrences, apply};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Running, Spec, Tool};
use crate::workspace::Target;

struct Replace {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text("path", "File to edit; it must have been read.")
        .text("old_string", "The exact text to replace; it may span lines.")
        .text("new_string", "The text in its place; empty deletes.")
        .optional_flag("replace_all", "Every occurrence, not exactly one. Default false.")
        .optional_choice("repair", Policy::WORDS, Policy::DOC)
        .build();
    let spec = Spec {
        name: "replace".to_owned(),
        description: "Replace an exact text that stands once in a file that was read. For a small change \
            without anchors."
            .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Writes,
        paging: Paging::Clamp,
    };
    Arc::new(Replace { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
    repair: Option<String>,
}

impl Args {
    fn policy(&self) -> Policy {
        Policy::named(self.repair.as_deref())
    }
}

impl Tool for Replace {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let target = self.kit.writable(&args.path)?;
        let kit = Arc::clone(&self.kit);
        let demands = vec![demand(Capability::FileEdit, &target.place)];
        Ok(Prepared::new(demands, move |running| replace(&kit, target, &args, running)))
    }
}

fn replace(
    kit: &Kit,
    target: Target,
    args: &Args,
    running: &Running,
) -> Result<Outcome, Failure> {
    let now = kit.load(&Capability::FileEdit, &target)?;
    let seen = drafts::seen(kit, &target.place);
    let occurrences = if args.replace_all { Occurrences::All } else { Occurrences::One };
    let (old, new) = (&args.old_string, &args.new_string);
    match hashline::replace(&target.place, &now, &seen, old, new, occurrences) {
        Err(refusal) => Ok(drafts::refused(&refusal)),
        Ok(plan) => {
            let written = Written { label: "replace", targets: &[target], effects: Vec::new() };
            drafts::write_balanced(kit, running, written, apply(plan), args.policy())
        }
    }
}
