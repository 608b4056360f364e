//! `find`: the paths that a glob, a folder or a path means. It opens no file.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::kit::{Kit, demand};
use super::notes;
use crate::authority::{Capability, Demand, Resource};
use crate::path::Place;
use crate::text::count;
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Running, Spec, Tool};
use crate::workspace::{Bounds, Ignored, Listing, Selection};

/// The most paths of one result.
const MAX_PATHS: usize = 1000;

/// The most entries that one walk looks at.
const MAX_ENTRIES: usize = 100_000;

/// The longest that one walk takes.
const MAX_TIME: Duration = Duration::from_secs(10);

struct Find {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text(
            "pattern",
            "Glob such as src/**/*.rs: * stays in a segment, ** spans folders. A folder means all files \
             below it.",
        )
        .optional_flag("ignored", "Also what the repository ignores. Default false.")
        .build();
    let spec = Spec {
        name: "find".to_owned(),
        description:
            "List the files whose paths match a glob, sorted. Paths only; search looks inside."
                .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Reads,
        paging: Paging::Clamp,
    };
    Arc::new(Find { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    pattern: String,
    #[serde(default)]
    ignored: bool,
}

impl Tool for Find {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let selection = self.kit.select(&args.pattern)?;
        let kit = Arc::clone(&self.kit);
        let ignored = which(args.ignored);
        let demands = vec![demanded(&selection)];
        Ok(Prepared::new(demands, move |running| Ok(find(&kit, &selection, ignored, running))))
    }
}

/// Returns whether ignored entries are wanted.
pub(super) fn which(ignored: bool) -> Ignored {
    if ignored { Ignored::Listed } else { Ignored::LeftOut }
}

/// Returns what a selection demands: the very file where one is named, else any part of reading, the
/// rest being left out entry by entry.
pub(super) fn demanded(selection: &Selection) -> Demand {
    match selection {
        Selection::File(target) | Selection::Other(target) | Selection::Missing(target) => {
            demand(Capability::FileRead, &target.place)
        }
        Selection::Below(_) | Selection::Nothing(_) => {
            Demand { capability: Capability::FileRead, resource: Resource::Some }
        }
    }
}

/// Walks a selection within the bounds that find and search share.
pub(super) fn walked(
    kit: &Kit,
    selection: &Selection,
    ignored: Ignored,
    running: &Running,
) -> Listing {
    with_bounds(kit, ignored, running, |bounds| kit.workspace.find(selection, bounds))
}

/// Calls `act` with the bounds that find and search share.
pub(super) fn with_bounds<T>(
    kit: &Kit,
    ignored: Ignored,
    running: &Running,
    act: impl FnOnce(&Bounds<'_>) -> T,
) -> T {
    let admit = |place: &Place| kit.may_read(place);
    let stop = || running.is_stopped();
    let deadline = Instant::now() + MAX_TIME;
    act(&Bounds { ignored, admit: &admit, stop: &stop, max_entries: MAX_ENTRIES, deadline })
}

fn find(kit: &Kit, selection: &Selection, ignored: Ignored, running: &Running) -> Outcome {
    let listing = walked(kit, selection, ignored, running);
    let n_found = listing.files.len();
    let n_shown = n_found.min(MAX_PATHS);
    let mut lines: Vec<String> =
        listing.files.iter().take(MAX_PATHS).map(|entry| entry.place.to_string()).collect();
    if n_found == 0 {
        lines.push("(no matches)".to_owned());
    }
    if n_found > n_shown {
        lines.push(format!(
            "({n_shown} of {} are shown; narrow the pattern to see the rest)",
            count(n_found, "path")
        ));
    }
    lines.extend(notes::of_walk(&listing.notes));
    Outcome::success(lines.join("\n")).detail("count", n_found).detail("shown", n_shown)
}
