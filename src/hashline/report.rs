//! The words of a result, for a model: what was edited, with fresh anchored rows, or why nothing was.
//!
//! Bounded: a long region shows its head and tail, many problems show the first and a count.

use std::fmt::Write as _;
use std::ops::Range;

use super::anchor::ROW_CHARS;
use super::apply::Draft;
use super::problem::{Cause, Problem, Refusal};
use crate::code::Code;
use crate::text::{LineNo, clip_line, count};

/// How many problems a refusal shows.
pub const SHOWN_PROBLEMS: usize = 20;

/// A region of more rows than this shows its ends only.
const REGION_ROWS: usize = 40;

/// How many rows of a long region's start and end are shown.
const REGION_HEAD: usize = 20;
const REGION_TAIL: usize = 10;

/// How many rows all regions of one file show.
const FILE_ROWS: usize = 200;

/// How many notes about moved lines one file has.
const SHIFT_NOTES: usize = 20;

/// Whether a file was written as the patch says or with a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// As the patch says.
    Edited,
    /// With its delimiters repaired.
    Repaired,
}

/// Writes what became of one file: the count line, the fresh rows, and how later numbers moved.
pub fn success(draft: &Draft, verb: Verb) -> String {
    let place = &draft.place;
    if draft.is_unchanged() {
        return format!("{place}: no change; nothing was written");
    }
    let verb = match verb {
        Verb::Edited => "Edited",
        Verb::Repaired => "Edited (repaired)",
    };
    let mut text = format!("{verb} {place} (+{} -{})", draft.added, draft.removed);
    for moved in &draft.moved {
        let lines = if moved.from.0 == moved.from.1 { "line" } else { "lines" };
        let (from, to) = (span(moved.from), span(moved.to));
        let _ = write!(text, "\n{lines} {from} moved to {to}, and the edit with it");
    }
    rows(&mut text, draft);
    shifts(&mut text, draft);
    text
}

fn span((first, last): (LineNo, LineNo)) -> String {
    if first == last { first.to_string() } else { format!("{first}..{last}") }
}

fn rows(text: &mut String, draft: &Draft) {
    if draft.n_lines() == 0 {
        text.push_str("\n(empty file)");
    }
    let mut budget = FILE_ROWS;
    let mut hidden = 0;
    for region in draft.regions() {
        if budget == 0 {
            hidden += region.len();
            continue;
        }
        let long = region.len() > REGION_ROWS.min(budget);
        let head = if long { REGION_HEAD.min(budget) } else { region.len() };
        let tail = if long { REGION_TAIL.min(budget - head) } else { 0 };
        budget -= head + tail;
        push_rows(text, draft, region.start..region.start + head);
        let omitted = region.len() - head - tail;
        if omitted > 0 {
            let _ = write!(text, "\n[{} as written]", count(omitted, "row"));
        }
        push_rows(text, draft, region.end - tail..region.end);
    }
    if hidden > 0 {
        let _ = write!(text, "\n[{} of further changes]", count(hidden, "row"));
    }
}

fn push_rows(text: &mut String, draft: &Draft, range: Range<usize>) {
    for line in range.map(LineNo::from_index) {
        if let (Some(anchor), Some(content)) = (draft.anchor(line), draft.line(line)) {
            let _ = write!(text, "\n{anchor}|{}", clip_line(content, ROW_CHARS).shown);
        }
    }
}

/// Writes after which lines the numbers moved, and by how much.
fn shifts(text: &mut String, draft: &Draft) {
    let mut said = 0;
    let mut notes = Vec::new();
    for (at, change) in draft.changes.iter().enumerate() {
        let delta = change.new.end.cast_signed() - change.old.end.cast_signed();
        let until = draft.changes.get(at + 1).map_or(draft.n_lines(), |next| next.new.start);
        if delta == said || until <= change.new.end {
            continue;
        }
        said = delta;
        notes.push(match delta {
            0 => format!("\nlines after {} keep their numbers", change.new.end),
            _ => format!("\nlines after {} moved by {delta:+}", change.new.end),
        });
    }
    let left_out = notes.len().saturating_sub(SHIFT_NOTES);
    let from = if left_out > 0 {
        let _ = write!(text, "\n[{} of moved lines left out]", count(left_out, "note"));
        left_out
    } else {
        0
    };
    text.extend(notes.drain(from..));
}

/// Writes a refusal: each problem on its own line with its rows, then the next step.
pub fn refusal(refusal: &Refusal) -> String {
    let mut text = String::new();
    for problem in refusal.problems.iter().take(SHOWN_PROBLEMS) {
        push_problem(&mut text, problem);
    }
    let left_out = refusal.problems.len().saturating_sub(SHOWN_PROBLEMS);
    if left_out > 0 {
        let _ = writeln!(text, "[{} more]", count(left_out, "problem"));
    }
    let _ = write!(text, "{}; nothing was written", next_step(&refusal.problems));
    text
}

/// Writes one problem without its code and its rows.
pub fn line(problem: &Problem) -> String {
    let mut text = String::new();
    push_line(&mut text, problem);
    text
}

fn push_problem(text: &mut String, problem: &Problem) {
    let _ = write!(text, "{}: ", problem.code);
    push_line(text, problem);
    text.push('\n');
    text.push_str(&problem.rows);
}

fn push_line(text: &mut String, problem: &Problem) {
    if let Some(place) = &problem.place {
        let _ = write!(text, "{place}");
        if let Some(line) = problem.line {
            let _ = write!(text, ":{line}");
        }
        if let Some(role) = problem.role {
            let _ = write!(text, " ({})", role.as_str());
        }
        text.push_str(": ");
    }
    let _ = write!(text, "{}", problem.cause);
    if let Some((first, last)) = problem.stands {
        let stand = if first == last { "the line seen stands" } else { "the lines seen stand" };
        let _ = write!(text, "; {stand} now at {}", span((first, last)));
    }
}

/// Returns the one next step: what has to happen before the patch can be sent again.
fn next_step(problems: &[Problem]) -> String {
    let has = |code: Code| problems.iter().any(|problem| problem.code == code);
    let has_rows = problems.iter().any(|problem| !problem.rows.is_empty());
    let is_open = |problem: &Problem| match problem.code {
        Code::Unread | Code::StaleAnchor => false,
        Code::ClippedLine => !matches!(problem.cause, Cause::Clipped(_)),
        _ => problem.stands.is_none(),
    };
    let is_clipped = problems.iter().any(|problem| matches!(problem.cause, Cause::Clipped(_)));
    let first = match (has(Code::Unread), is_clipped) {
        (true, true) => {
            "Read each unread file, and each of those lines with start and end on it, then "
        }
        (true, false) => "Read each unread file, then ",
        (false, true) => "Read each of those lines with start and end on it, then ",
        (false, false) => "",
    };
    if has(Code::BadPatch) {
        return "Correct the patch and send it again whole".to_owned();
    }
    let then = match (problems.iter().any(is_open), has_rows) {
        (true, true) => {
            "correct the call, take the anchors of the rows above and send it again whole"
        }
        (true, false) => "correct the call and send it again whole",
        (false, true) => "send the whole patch again with the anchors of the rows above",
        (false, false) => "send the whole call again",
    };
    capitalised(&format!("{first}{then}"))
}

fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}
