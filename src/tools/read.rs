//! `read`: a file's lines with their anchors, a page at a time. Any read arms the whole file.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::forms;
use super::kit::Kit;
use crate::authority::Capability;
use crate::code::Code;
use crate::hashline::anchor::{Extent, ROW_CHARS, push_row};
use crate::path::Place;
use crate::protocol::{Effect, SeenFile, SeenReach};
use crate::syntax::Tree;
use crate::text::{LineNo, Snapshot, clip_line, count};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Spec, Tool};
use crate::workspace::Target;

/// The most rows of one page.
const MAX_ROWS: usize = 1000;

/// What a page keeps free for the line that says how to go on.
const NOTE_CHARS: usize = 120;

struct Read {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text("path", "File to read, relative to the workspace or absolute inside it.")
        .optional_integer("start", "First line, 1-based. Default 1.")
        .optional_integer("end", "Last line, inclusive. start = end shows a long line whole.")
        .optional_text("form", "Of a Lisp file: the top-level form to show, such as defun foo.")
        .optional_flag("raw", "Lines without their LINE:HH| anchors. Default false.")
        .build();
    let spec = Spec {
        name: "read".to_owned(),
        description:
            "Read a text file. Each line comes as LINE:HH|content; LINE:HH is the anchor that \
            edits use. At most 1000 lines a call; the last line then says how to go on."
                .to_owned(),
        schema,
        toolset: "core",
        reach: Reach::Reads,
        paging: Paging::Rows,
    };
    Arc::new(Read { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    path: String,
    start: Option<i64>,
    end: Option<i64>,
    form: Option<String>,
    #[serde(default)]
    raw: bool,
}

/// Which lines a call asks for.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    start: Option<i64>,
    end: Option<i64>,
    style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Anchored,
    Raw,
}

impl Tool for Read {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let target = self.kit.readable(&args.path)?;
        let style = if args.raw { Style::Raw } else { Style::Anchored };
        let wanted = Wanted { start: args.start, end: args.end, style };
        wanted.check()?;
        if args.form.is_some() {
            if args.start.is_some() || args.end.is_some() {
                let message =
                    "`form` takes the place of `start` and `end`; send one or the other.";
                return Err(Failure::new(Code::BadArg, message));
            }
            forms::dialect(&self.kit, &target.place)?;
        }
        let kit = Arc::clone(&self.kit);
        let demands = vec![kit.read_demand(&target.place)];
        Ok(Prepared::new(demands, move |_| read(&kit, &target, wanted, args.form.as_deref())))
    }
}

impl Wanted {
    fn first(self) -> i64 {
        self.start.unwrap_or(1).max(1)
    }

    fn check(self) -> Result<(), Failure> {
        match self.end {
            Some(end) if end < self.first() => Err(Failure::new(
                Code::BadArg,
                format!("`end` {end} lies before `start` {}; send start <= end.", self.first()),
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether one line is asked for by name, which is then shown whole.
    fn is_one_line(self) -> bool {
        self.start.is_some() && self.start == self.end
    }
}

fn read(
    kit: &Kit,
    target: &Target,
    wanted: Wanted,
    form: Option<&str>,
) -> Result<Outcome, Failure> {
    let snapshot = kit.load(&Capability::FileRead, target)?;
    let wanted = match form {
        None => wanted,
        Some(form) => lines_of(kit, target, &snapshot, form, wanted)?,
    };
    let page = Page::of(&snapshot, wanted, kit.output_chars)
        .ok_or_else(|| past_the_end(&target.spelled, &snapshot, wanted))?;
    Ok(page.outcome(&target.spelled, &target.place, &snapshot))
}

/// Returns the lines of a top-level form in place of those that were asked for.
fn lines_of(
    kit: &Kit,
    target: &Target,
    snapshot: &Snapshot,
    form: &str,
    wanted: Wanted,
) -> Result<Wanted, Failure> {
    let dialect = forms::dialect(kit, &target.place)?;
    let tree = Tree::new(snapshot.text(), dialect);
    let lines = forms::top(&tree, form, dialect, &target.spelled)?.lines;
    let (first, last) = (i64::from(lines.start.get()), i64::from(lines.end.get()) - 1);
    Ok(Wanted { start: Some(first), end: Some(last.max(first)), ..wanted })
}

fn past_the_end(shown: &Place, snapshot: &Snapshot, wanted: Wanted) -> Failure {
    let n_lines = snapshot.n_lines();
    Failure::new(
        Code::OutOfRange,
        format!(
            "`start` {} is past the end: {shown} has {}; the last usable start is {}.",
            wanted.first(),
            count(n_lines, "line"),
            n_lines.max(1)
        ),
    )
}

/// Adds a line to the ranges of lines that were shown; lines come in order.
pub(super) fn show(ranges: &mut Vec<(LineNo, LineNo)>, line: LineNo) {
    match ranges.last_mut() {
        Some((_, last)) if last.index() + 1 == line.index() => *last = line,
        Some(_) | None => ranges.push((line, line)),
    }
}

/// Rows of one page; the lines are 1-based and inclusive.
struct Page {
    rows: String,
    whole: Vec<(LineNo, LineNo)>,
    clipped: Vec<LineNo>,
    first: usize,
    last: usize,
    /// The last line that was asked for and exists.
    wanted_last: usize,
}

impl Page {
    /// Renders the wanted rows as far as a page holds them; nothing if they start past the end.
    fn of(snapshot: &Snapshot, wanted: Wanted, output_chars: usize) -> Option<Self> {
        let n_lines = snapshot.n_lines();
        let first = usize::try_from(wanted.first()).unwrap_or(usize::MAX);
        if first > n_lines.max(1) {
            return None;
        }
        let wanted_last = wanted
            .end
            .map_or(n_lines, |end| usize::try_from(end).unwrap_or(usize::MAX).min(n_lines));
        let budget = output_chars.saturating_sub(NOTE_CHARS);
        let row_chars = if wanted.is_one_line() { budget.max(ROW_CHARS) } else { ROW_CHARS };
        let mut page = Self {
            rows: String::new(),
            whole: Vec::new(),
            clipped: Vec::new(),
            first,
            last: first - 1,
            wanted_last,
        };
        let mut n_chars = 0;
        for index in (first - 1..wanted_last).take(MAX_ROWS) {
            let before = page.rows.len();
            page.push(snapshot, LineNo::from_index(index), row_chars, wanted.style);
            n_chars += page.rows.get(before..).unwrap_or_default().chars().count();
            if n_chars > budget && page.last >= first {
                page.rows.truncate(before);
                page.take_back(LineNo::from_index(index));
                break;
            }
            page.last = index + 1;
        }
        Some(page)
    }

    fn push(&mut self, snapshot: &Snapshot, line: LineNo, row_chars: usize, style: Style) {
        if !self.rows.is_empty() {
            self.rows.push('\n');
        }
        let content = snapshot.line(line).unwrap_or_default();
        match style {
            Style::Anchored => match push_row(&mut self.rows, snapshot, line, row_chars) {
                Extent::Clipped => self.clipped.push(line),
                Extent::Whole => show(&mut self.whole, line),
            },
            // Raw rows serve no anchors, so they only count where they hide something.
            Style::Raw => {
                let row = clip_line(content, row_chars);
                self.rows.push_str(&row.shown);
                if row.hidden > 0 {
                    self.clipped.push(line);
                }
            }
        }
    }

    /// Forgets the last row, which did not fit.
    fn take_back(&mut self, line: LineNo) {
        self.clipped.retain(|&clipped| clipped != line);
        match self.whole.last_mut() {
            Some((first, last)) if *last == line && first == last => drop(self.whole.pop()),
            Some((_, last)) if *last == line => *last = LineNo::from_index(line.index() - 1),
            Some(_) | None => {}
        }
    }

    fn outcome(self, spelled: &Place, place: &Place, snapshot: &Snapshot) -> Outcome {
        let n_lines = snapshot.n_lines();
        let truncated = self.last < self.wanted_last;
        let mut text = self.rows;
        if n_lines == 0 {
            text.push_str("(empty file)");
        } else if truncated {
            let (first, last) = (self.first, self.last);
            let next = last + 1;
            let _ = write!(
                text,
                "\n(lines {first}..{last} of {n_lines} are shown; go on with start: {next})"
            );
        }
        let seen = Effect::Seen(SeenFile {
            place: place.clone(),
            digest: snapshot.digest(),
            lines: Arc::clone(snapshot.line_digests()),
            reach: SeenReach::File,
            whole: self.whole,
            clipped: self.clipped,
        });
        Outcome::success(text)
            .detail("path", spelled.to_string())
            .detail("lines", n_lines)
            .detail("start", if n_lines == 0 { 0 } else { self.first })
            .detail("end", self.last)
            .detail("truncated", truncated)
            .effect(seen)
    }
}
