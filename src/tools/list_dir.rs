//! `list_dir`: what a folder holds, folders first, with sizes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::kit::Kit;
use super::{notes, refuse};
use crate::authority::{Capability, Demand, Resource};
use crate::code::Code;
use crate::path::Place;
use crate::text::count;
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Running, Spec, Tool};
use crate::workspace::{
    Bounds, FolderList, Ignored, Kind, ListKind, ListLimits, ListRow, Target,
};

/// The most entries of one result.
const MAX_ROWS: usize = 500;

/// The deepest listing.
const MAX_DEPTH: i64 = 4;

struct ListDir {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .optional_text("path", "Folder to list. Default the workspace.")
        .optional_integer("depth", "How many levels, 1 to 4. Default 1.")
        .build();
    let spec = Spec {
        name: "list_dir".to_owned(),
        description:
            "List a folder: folders first, then files with their sizes. What the repository \
            ignores is left out."
                .to_owned(),
        schema,
        toolset: "project",
        reach: Reach::Reads,
        paging: Paging::Clamp,
    };
    Arc::new(ListDir { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    path: Option<String>,
    depth: Option<i64>,
}

impl Tool for ListDir {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let wanted = args.depth.unwrap_or(1);
        let depth = usize::try_from(wanted).ok().filter(|_| (1..=MAX_DEPTH).contains(&wanted));
        let Some(depth) = depth else {
            let message = format!("`depth` must be between 1 and {MAX_DEPTH}, not {wanted}.");
            return Err(Failure::new(Code::BadArg, message));
        };
        let target = self.kit.readable(args.path.as_deref().unwrap_or("."))?;
        if !may_be_told(&self.kit, &target) {
            let denied = refuse::denied(&Capability::FileRead, &target.place, &self.kit.grant);
            return Err(denied);
        }
        let kit = Arc::clone(&self.kit);
        let demands =
            vec![Demand { capability: Capability::FileRead, resource: Resource::Some }];
        Ok(Prepared::new(demands, move |running| list(&kit, &target, depth, running)))
    }
}

/// Returns whether something at or below a folder may be read.
fn may_enter(kit: &Kit, folder: &Place) -> bool {
    kit.grant.reaches(&Capability::FileRead, folder) && kit.forbids.for_read(folder).is_none()
}

/// Returns whether what stands at a path may be told, were it only that nothing does.
fn may_be_told(kit: &Kit, target: &Target) -> bool {
    match target.kind {
        Kind::Folder => may_enter(kit, &target.place),
        Kind::Missing { .. } | Kind::File(_) | Kind::Other => {
            kit.grant.admits(&Capability::FileRead, &target.place)
        }
    }
}

fn list(
    kit: &Kit,
    target: &Target,
    depth: usize,
    running: &Running,
) -> Result<Outcome, Failure> {
    match target.kind {
        Kind::Folder => {}
        Kind::Missing { .. } => {
            return Err(refuse::not_found(&target.place, &kit.near(target)));
        }
        Kind::File(_) | Kind::Other => return Err(refuse::not_a_folder(&target.place)),
    }
    let may_enter = |folder: &Place| may_enter(kit, folder);
    let limits = ListLimits { depth, max_rows: MAX_ROWS, admit_folder: &may_enter };
    let admit = |place: &Place| kit.may_read(place);
    let stop = || running.is_stopped();
    let bounds = Bounds {
        ignored: Ignored::LeftOut,
        admit: &admit,
        stop: &stop,
        max_entries: 100_000,
        deadline: Instant::now() + Duration::from_secs(10),
    };
    let list = kit.workspace.list(&target.place, &limits, &bounds);
    let list = list.map_err(|error| refuse::load(error, &[]))?;
    Ok(outcome(&list))
}

fn outcome(list: &FolderList) -> Outcome {
    let mut lines: Vec<String> = list.rows.iter().map(row).collect();
    if lines.is_empty() {
        lines.push("(empty folder)".to_owned());
    }
    if list.n_more > 0 {
        lines.push(format!(
            "({} more; name a folder below to see them)",
            count(list.n_more, "entry")
        ));
    }
    lines.extend(notes::of_walk(&list.notes));
    Outcome::success(lines.join("\n"))
        .detail("count", list.rows.len() + list.n_more)
        .detail("shown", list.rows.len())
}

fn row(row: &ListRow) -> String {
    let indent = "  ".repeat(row.depth.saturating_sub(1));
    let name = row.place.path.file_name().unwrap_or(".");
    match row.kind {
        ListKind::Folder => format!("{indent}{name}/"),
        ListKind::File(len) => format!("{indent}{name}  {}", size(len)),
        ListKind::LinkToFile(len) => format!("{indent}{name}  {}, symlink", size(len)),
        ListKind::LinkToFolder => format!("{indent}{name}  symlink to a folder"),
        ListKind::BrokenLink => format!("{indent}{name}  symlink to nothing that can be read"),
        ListKind::Other => format!("{indent}{name}  pipe, device or socket"),
    }
}

/// Writes a size in bytes, above 10 KiB with its unit.
fn size(len: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if len < 10 * 1024 {
        return format!("{len} B");
    }
    let mut scaled = len;
    let mut unit = 0;
    while scaled >= 10 * 1024 * 1024 && unit + 1 < UNITS.len() {
        scaled /= 1024;
        unit += 1;
    }
    let (whole, tenth) = (scaled / 1024, scaled % 1024 * 10 / 1024);
    format!("{whole}.{tenth} {}", UNITS.get(unit).copied().unwrap_or("TiB"))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short_and_exact_where_small() {
        let sizes = [0, 1023, 10_239, 10_240, 1_572_864, 10 << 30];
        let shown: Vec<String> = sizes.into_iter().map(size).collect();
        assert_eq!(shown, ["0 B", "1023 B", "10239 B", "10.0 KiB", "1536.0 KiB", "10.0 GiB"]);
    }
}
