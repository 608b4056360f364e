//! `outline`: the top-level forms of a Lisp file, with head, name and lines.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::forms;
use super::kit::Kit;
use crate::authority::Capability;
use crate::syntax::{Dialect, Entry, Tree, outline};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Spec, Tool};
use crate::workspace::Target;

struct Outline {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new().text("path", "Lisp file to list.").build();
    let spec = Spec {
        name: "outline".to_owned(),
        description:
            "List the top-level forms of a Lisp file: lines, head and name. read with \
            form: \"defun foo\" shows one."
                .to_owned(),
        schema,
        toolset: "lisp",
        reach: Reach::Reads,
        paging: Paging::Clamp,
    };
    Arc::new(Outline { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    path: String,
}

impl Tool for Outline {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let target = self.kit.readable(&args.path)?;
        let dialect = forms::dialect(&self.kit, &target.place)?;
        let kit = Arc::clone(&self.kit);
        let demands = vec![kit.read_demand(&target.place)];
        Ok(Prepared::new(demands, move |_| list(&kit, &target, dialect)))
    }
}

fn list(kit: &Kit, target: &Target, dialect: &'static Dialect) -> Result<Outcome, Failure> {
    let snapshot = kit.load(&Capability::FileRead, target)?;
    let entries = outline(&Tree::new(snapshot.text(), dialect));
    let mut lines: Vec<String> = entries.iter().map(row).collect();
    if lines.is_empty() {
        lines.push("(no forms)".to_owned());
    }
    Ok(Outcome::success(lines.join("\n"))
        .detail("path", target.spelled.to_string())
        .detail("forms", entries.len()))
}

fn row(entry: &Entry) -> String {
    let name = entry.name.as_deref().map_or_else(String::new, |name| format!(" {name}"));
    format!("{}  ({}{name})", forms::range_of(entry.lines), entry.head)
}
