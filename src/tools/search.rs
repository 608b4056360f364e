//! `search`: lines that match a regular expression, with their anchors. A matching file is armed whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::find::{demanded, walked, which, with_bounds};
use super::kit::{FILE_LIMIT_BYTES, Kit};
use super::read::show;
use super::{notes, refuse};
use crate::authority::Capability;
use crate::code::Code;
use crate::hashline::anchor::{Extent, ROW_CHARS, push_row, push_window};
use crate::path::Place;
use crate::protocol::{Effect, SeenFile, SeenReach};
use crate::text::{LineNo, Snapshot, count};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Running, Spec, Tool};
use crate::workspace::{
    Entry, FileMatches, Found, GrepLimits, Ignored, Kind, LargeError, LargeLimits, LoadError,
    MatchLine, Query, RowKind, Selection, Target, WalkNotes,
};

/// The most matching files of one result.
const MAX_FILES: usize = 100;

/// The most matching rows of one result.
const MAX_ROWS: usize = 1000;

/// The most lines around a match.
const MAX_CONTEXT: usize = 100;

/// What a result keeps free for its notes.
const NOTE_CHARS: usize = 600;

struct Search {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text("pattern", "Regular expression (Rust syntax), matched within each line.")
        .text("path", "A file, a folder, or a glob such as src/**/*.rs.")
        .optional_integer("context", "Lines to show around each match. Default 0.")
        .optional_integer(
            "max_results",
            "Most matching lines to show, up to 1000. Default 1000.",
        )
        .optional_flag("ignored", "Also what the repository ignores. Default false.")
        .build();
    let spec = Spec {
        name: "search".to_owned(),
        description: "Search file contents by line. Under each path, *LINE:HH|content is a match and \
            a row that begins with a blank is context. The anchors can be used in edits at once."
            .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Reads,
        paging: Paging::Rows,
    };
    Arc::new(Search { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    pattern: String,
    path: String,
    context: Option<i64>,
    max_results: Option<i64>,
    #[serde(default)]
    ignored: bool,
}

/// What a call wants to see.
#[derive(Debug)]
struct Wanted {
    query: Query,
    context: usize,
    max_rows: usize,
    ignored: Ignored,
}

impl Args {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let query = Query::parse(&self.pattern).map_err(|bad| {
            Failure::new(
                Code::BadArg,
                format!(
                    "`pattern` is no regular expression that search takes: {}. A match never crosses a \
                     line; escape what is meant literally.",
                    bad.words.trim_end().trim_end_matches('.')
                ),
            )
        })?;
        let max_rows = match self.max_results {
            None => MAX_ROWS,
            Some(n) if n < 1 => {
                let message = format!("`max_results` must be at least 1, not {n}.");
                return Err(Failure::new(Code::BadArg, message));
            }
            Some(n) => usize::try_from(n).unwrap_or(MAX_ROWS).min(MAX_ROWS),
        };
        let context = self.context.unwrap_or(0).max(0);
        let context = usize::try_from(context).unwrap_or(MAX_CONTEXT).min(MAX_CONTEXT);
        Ok(Wanted { query, context, max_rows, ignored: which(self.ignored) })
    }
}

impl Tool for Search {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let wanted = args.wanted()?;
        let selection = self.kit.select(&args.path)?;
        let kit = Arc::clone(&self.kit);
        let demands = vec![demanded(&selection)];
        Ok(Prepared::new(demands, move |running| search(&kit, &selection, &wanted, running)))
    }
}

fn search(
    kit: &Kit,
    selection: &Selection,
    wanted: &Wanted,
    running: &Running,
) -> Result<Outcome, Failure> {
    match selection {
        Selection::Missing(target) => Err(refuse::not_found(&target.place, &kit.near(target))),
        Selection::Other(target) => Err(refuse::not_regular(&target.place)),
        Selection::File(target) => search_one(kit, target, wanted, running),
        Selection::Below(_) | Selection::Nothing(_) => {
            let listing = walked(kit, selection, wanted.ignored, running);
            let found = with_bounds(kit, wanted.ignored, running, |bounds| {
                kit.workspace.grep(&listing.files, &wanted.query, &limits(wanted), bounds)
            });
            Ok(Report::of(&found, wanted, kit.output_chars).outcome(&found, &listing.notes))
        }
    }
}

fn limits(wanted: &Wanted) -> GrepLimits {
    GrepLimits {
        max_files: MAX_FILES,
        max_rows: wanted.max_rows,
        max_file_bytes: FILE_LIMIT_BYTES,
    }
}

/// Searches one named file: whole where it can be read whole, else as a stream.
fn search_one(
    kit: &Kit,
    target: &Target,
    wanted: &Wanted,
    running: &Running,
) -> Result<Outcome, Failure> {
    kit.check_target_links(&Capability::FileRead, target)?;
    if matches!(target.kind, Kind::File(meta) if meta.len > FILE_LIMIT_BYTES) {
        return search_large(kit, target, wanted, running);
    }
    let mut found = Found { n_done: 1, ..Found::default() };
    match kit.workspace.load(&target.place, FILE_LIMIT_BYTES) {
        Err(LoadError::NotText { .. }) => found.n_not_text = 1,
        Err(error) => return Err(refuse::load(error, &[])),
        Ok(loaded) => {
            kit.check_links(&Capability::FileRead, &target.place, &loaded.meta)?;
            let lines = wanted.query.lines(&loaded.snapshot, wanted.max_rows);
            if lines.n_lines > 0 {
                let entry = Entry {
                    place: target.spelled.clone(),
                    target: (target.spelled != target.place).then(|| target.place.clone()),
                };
                (found.n_files, found.n_lines) = (1, lines.n_lines);
                found.files.push(FileMatches { entry, snapshot: loaded.snapshot, lines });
            }
        }
    }
    let report = Report::of(&found, wanted, kit.output_chars);
    Ok(report.outcome(&found, &WalkNotes::default()))
}

/// Rows of a result, and what the rows made known.
struct Report {
    text: String,
    n_chars: usize,
    n_rows: usize,
    effects: Vec<Effect>,
}

impl Report {
    /// Renders matching files as far as the result holds whole rows.
    fn of(found: &Found, wanted: &Wanted, output_chars: usize) -> Self {
        let budget = output_chars.saturating_sub(NOTE_CHARS);
        let mut report =
            Self { text: String::new(), n_chars: 0, n_rows: 0, effects: Vec::new() };
        for file in &found.files {
            if !report.push_file(file, wanted.context, budget) {
                break;
            }
        }
        report
    }

    /// Adds a file's rows; false when the result is full.
    fn push_file(&mut self, file: &FileMatches, context: usize, budget: usize) -> bool {
        let matches = &file.lines.shown;
        let (mut whole, mut clipped) = (Vec::new(), Vec::new());
        let header = file.entry.place.to_string();
        let mut is_open = false;
        let mut is_full = false;
        for line in rows(matches, context, file.snapshot.n_lines()) {
            let mut row = String::new();
            if !is_open {
                row.push_str(&header);
                row.push('\n');
            }
            let found = matches.binary_search_by_key(&line, |m| m.line).ok();
            let found = found.and_then(|at| matches.get(at));
            let extent = push_line(&mut row, &file.snapshot, line, found);
            if !self.push(&row, budget) {
                is_full = true;
                break;
            }
            is_open = true;
            self.n_rows += usize::from(found.is_some());
            match extent {
                Extent::Clipped => clipped.push(line),
                Extent::Whole => show(&mut whole, line),
            }
        }
        if is_open {
            self.effects.push(Effect::Seen(SeenFile {
                place: file.entry.content().clone(),
                digest: file.snapshot.digest(),
                lines: Arc::clone(file.snapshot.line_digests()),
                reach: SeenReach::File,
                whole,
                clipped,
            }));
        }
        !is_full
    }

    /// Adds whole lines of text if they still fit; the first always do.
    fn push(&mut self, row: &str, budget: usize) -> bool {
        let n_chars = row.chars().count() + 1;
        if self.n_chars + n_chars > budget && !self.text.is_empty() {
            return false;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(row);
        self.n_chars += n_chars;
        true
    }

    fn outcome(self, found: &Found, walk: &WalkNotes) -> Outcome {
        let mut lines = Vec::new();
        if !self.text.is_empty() {
            lines.push(self.text);
        } else if found.n_lines == 0 {
            lines.push("(no matches)".to_owned());
        }
        lines.extend(left_out(found, self.n_rows, self.effects.len()));
        lines.extend(skipped(found));
        lines.extend(notes::of_walk(&WalkNotes {
            stopped: walk.stopped.or(found.stopped),
            ..*walk
        }));
        let n_skipped = found.n_too_large + found.n_not_text + found.n_unreadable;
        let mut outcome = Outcome::success(lines.join("\n"))
            .detail("matches", found.n_lines)
            .detail("files", found.n_files)
            .detail("skipped", n_skipped)
            .detail("shown", self.n_rows);
        outcome.effects = self.effects;
        outcome
    }
}

/// Returns the lines to show: the matches and the lines around them, each once, in order.
fn rows(matches: &[MatchLine], context: usize, n_lines: usize) -> BTreeSet<LineNo> {
    matches
        .iter()
        .map(|found| found.line.index())
        .flat_map(|at| at.saturating_sub(context)..(at + context + 1).min(n_lines))
        .map(LineNo::from_index)
        .collect()
}

fn push_line(
    row: &mut String,
    snapshot: &Snapshot,
    line: LineNo,
    found: Option<&MatchLine>,
) -> Extent {
    if let Some(found) = found {
        row.push('*');
        return push_window(row, snapshot, line, found.focus.clone());
    }
    row.push(' ');
    push_row(row, snapshot, line, ROW_CHARS)
}

/// Says how much of what was found is not shown.
fn left_out(found: &Found, n_rows: usize, n_files: usize) -> Option<String> {
    (found.n_lines > n_rows).then(|| {
        format!(
            "({n_rows} of {} are shown, in {n_files} of {}; narrow the pattern or the path)",
            count(found.n_lines, "match"),
            count(found.n_files, "file"),
        )
    })
}

fn skipped(found: &Found) -> Vec<String> {
    let said = [
        (found.n_too_large, "skipped: over 2 MiB; name it as the path to search it"),
        (found.n_not_text, "skipped: not text"),
        (found.n_unreadable, "skipped: unreadable"),
    ];
    let said = said.into_iter().filter(|&(n, _)| n > 0);
    said.map(|(n, why)| format!("({} {why})", count(n, "file"))).collect()
}

/// Searches a file that is too large to be read whole; its rows are shown and arm nothing.
fn search_large(
    kit: &Kit,
    target: &Target,
    wanted: &Wanted,
    running: &Running,
) -> Result<Outcome, Failure> {
    let limits = LargeLimits {
        context: wanted.context,
        max_rows: wanted.max_rows,
        max_chars: ROW_CHARS,
    };
    let found = with_bounds(kit, wanted.ignored, running, |bounds| {
        kit.workspace.grep_large(&target.place, &wanted.query, &limits, bounds)
    });
    let found = match found {
        Ok(found) => found,
        Err(LargeError::NotText { .. }) => {
            let skipped = Found { n_not_text: 1, n_done: 1, ..Found::default() };
            let report = Report::of(&skipped, wanted, kit.output_chars);
            return Ok(report.outcome(&skipped, &WalkNotes::default()));
        }
        Err(error) => return Err(large(error, &target.spelled)),
    };
    let mut report = Report { text: String::new(), n_chars: 0, n_rows: 0, effects: Vec::new() };
    let budget = kit.output_chars.saturating_sub(NOTE_CHARS);
    for row in &found.rows {
        let header = if report.text.is_empty() {
            format!("{}\n", target.spelled)
        } else {
            String::new()
        };
        let is_match = row.kind == RowKind::Match;
        let sign = if is_match { '*' } else { ' ' };
        let check = row.digest.check();
        if !report
            .push(&format!("{header}{sign}{}:{check:02x}|{}", row.line, row.shown), budget)
        {
            break;
        }
        report.n_rows += usize::from(is_match);
    }
    let summary = Found {
        n_files: usize::from(found.n_lines > 0),
        n_lines: found.n_lines,
        n_done: 1,
        stopped: found.stopped,
        ..Found::default()
    };
    let note = "(the file is over 2 MiB: its rows cannot be edited by anchor)";
    let mut outcome = report.outcome(&summary, &WalkNotes::default());
    outcome.text.push('\n');
    outcome.text.push_str(note);
    Ok(outcome)
}

fn large(error: LargeError, shown: &Place) -> Failure {
    match error {
        LargeError::Load(error) => refuse::load(error, &[]),
        LargeError::NotText { place: _, at_byte } => {
            Failure::new(Code::NotText, format!("{shown} is not text at byte {at_byte}."))
        }
        LargeError::LineTooLong { place: _, limit_bytes } => Failure::new(
            Code::TooLarge,
            format!(
                "{shown} has a line of more than {limit_bytes} bytes, which cannot be searched; \
                 search other files."
            ),
        ),
        LargeError::Io { place: _, source } => refuse::io("read", &shown.to_string(), &source),
    }
}
