//! Replacing an exact text: the plan of the `replace` tool, without anchors.
//!
//! The text itself is the proof, so the file may have changed since it was read. A line feed in the text
//! matches any line ending of the file, and what is put in takes the ending of its place. Nothing is
//! matched fuzzily: a refusal says what comes near, and does no more.

use std::ops::Range;

use super::plan::{Edit, FilePlan, Plan, Row, ending_like};
use super::problem::{Cause, Near, Problem, Refusal};
use super::seen::Seen;
use crate::code::Code;
use crate::path::Place;
use crate::text::{Ending, LineNo, Snapshot};

/// How often the text may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrences {
    /// Exactly once.
    One,
    /// At least once; all are replaced, from the top, none overlapping another.
    All,
}

/// How many lines a refusal names.
const NAMED_LINES: usize = 10;

/// Plans to replace `old` by `new` in one file.
///
/// Errors: `unread`, `old_string_not_found`, `old_string_not_unique`, `bad_arg` for an empty `old`.
/// Cost: linear in the text.
pub fn replace(
    place: &Place,
    now: &Snapshot,
    seen: &Seen,
    old: &str,
    new: &str,
    occurrences: Occurrences,
) -> Result<Plan, Refusal> {
    let refuse =
        |code, cause| Refusal::from(vec![Problem::bare(code, Some(place.clone()), cause)]);
    if !seen.is_read() {
        return Err(refuse(Code::Unread, Cause::Unread));
    }
    if old.is_empty() {
        return Err(refuse(Code::BadArg, Cause::EmptyOld));
    }
    let (wanted, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if new.contains('\0') || new.split('\n').any(|row| row.ends_with('\r')) {
        return Err(refuse(Code::BadArg, Cause::BadNew));
    }
    let flat = Flat::new(now);
    let found = flat.find(&wanted);
    if found.is_empty() {
        let near = near(now, &wanted);
        return Err(refuse(Code::OldStringNotFound, Cause::OldNotFound(near)));
    }
    if occurrences == Occurrences::One && found.len() > 1 {
        let lines = flat.named(&found);
        let cause = Cause::OldNotUnique { n: found.len(), lines };
        return Err(refuse(Code::OldStringNotUnique, cause));
    }
    let edits = flat.edits(now, &found, wanted.len(), &new);
    let added = edits.iter().map(|edit| edit.rows.len()).sum();
    let removed = edits.iter().map(|edit| edit.old.len()).sum();
    let (place, base) = (place.clone(), now.clone());
    let file = FilePlan { place, base, edits, moved: Vec::new(), added, removed };
    Ok(Plan { files: vec![file] })
}

/// A content with a line feed for each line ending, and where each line starts in it.
struct Flat {
    text: String,
    starts: Vec<usize>,
}

impl Flat {
    fn new(now: &Snapshot) -> Self {
        let mut text = String::with_capacity(now.text().len());
        let mut starts = Vec::with_capacity(now.n_lines());
        for (content, span) in now.iter().zip(now.spans()) {
            starts.push(text.len());
            text.push_str(content);
            if span.ending != Ending::None {
                text.push('\n');
            }
        }
        Self { text, starts }
    }

    /// Returns where `wanted` begins, from the top, without overlaps; a second place that overlaps the
    /// only one is given too, so that what is not unique is never taken for unique.
    fn find(&self, wanted: &str) -> Vec<usize> {
        let mut found: Vec<usize> = self.text.match_indices(wanted).map(|(at, _)| at).collect();
        if let &[only] = found.as_slice() {
            let next = only + wanted.chars().next().map_or(1, char::len_utf8);
            let rest = self.text.get(next..).unwrap_or_default();
            found.extend(rest.find(wanted).map(|at| next + at));
        }
        found
    }

    /// Returns the 0-based line that holds byte `at`; the number of lines for the very end.
    fn line_of(&self, at: usize) -> usize {
        if at == self.text.len() && self.text.ends_with('\n') {
            return self.starts.len();
        }
        self.starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    fn named(&self, found: &[usize]) -> String {
        let name = |&at: &usize| LineNo::from_index(self.line_of(at)).to_string();
        let names: Vec<String> = found.iter().take(NAMED_LINES).map(name).collect();
        match found.len().saturating_sub(NAMED_LINES) {
            0 => names.join(", "),
            rest => format!("{} and {rest} more", names.join(", ")),
        }
    }

    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the edits that replace `len` bytes at each place; places on shared lines are one edit.
    fn edits(&self, now: &Snapshot, found: &[usize], len: usize, new: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut places = found.iter().copied().peekable();
        let mut free = 0;
        while let Some(first) = places.next() {
            if first < free {
                continue;
            }
            let first_line = self.line_of(first);
            let mut text = self.slice(self.starts[first_line]..first).to_owned() + new;
            let mut end = first + len;
            while let Some(next) =
                places.next_if(|&next| next < end || self.line_of(next) <= self.line_of(end))
            {
                if next >= end {
                    text += self.slice(end..next);
                    text += new;
                    end = next + len;
                }
            }
            free = end;
            let last_line = self.line_of(end);
            let at_start = self.starts.get(last_line).is_none_or(|&start| start == end);
            let whole = at_start && (text.is_empty() || text.ends_with('\n'));
            edits.extend(if whole || last_line >= self.starts.len() {
                edit(now, first_line..last_line, &text, Last::New)
            } else {
                let stop = self.starts.get(last_line + 1).copied().unwrap_or(self.text.len());
                text += self.slice(end..stop);
                edit(now, first_line..last_line + 1, &text, Last::Kept)
            });
        }
        edits
    }
}

/// What becomes of the ending of the last line that goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// It was replaced too.
    New,
    /// It stays, behind the last row that comes.
    Kept,
}

/// Returns the edit that puts `text` in place of whole lines, or nothing if it changes nothing.
fn edit(now: &Snapshot, old: Range<usize>, text: &str, last: Last) -> Option<Edit> {
    let ending = ending_like(now, old.start);
    let kept = old.end.checked_sub(1).map_or(ending, |line| ending_like(now, line));
    let unended = last == Last::Kept
        && now.spans().get(old.end - 1).is_some_and(|span| span.ending == Ending::None);
    let gone = text.is_empty() && (last == Last::New || unended);
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut rows: Vec<Row> = body
        .split('\n')
        .filter(|_| !gone)
        .map(|content| Row { content: content.to_owned(), ending })
        .collect();
    if let Some(row) = rows.last_mut().filter(|_| last == Last::Kept) {
        row.ending = kept;
    }
    let same = |(line, row): (usize, &Row)| {
        now.line(LineNo::from_index(line)) == Some(row.content.as_str())
    };
    let unchanged = rows.len() == old.len() && old.clone().zip(&rows).all(same);
    (!unchanged).then_some(Edit { old, rows })
}

/// Looks for what comes near a text that does not occur.
fn near(now: &Snapshot, wanted: &str) -> Near {
    let lines: Vec<&str> = now.iter().collect();
    let rows: Vec<&str> = wanted.split('\n').collect();
    let heads = head(&lines, &rows);
    let first = rows.iter().copied().find(|row| !row.trim().is_empty()).unwrap_or_default();
    heads
        .or_else(|| blanks(&lines, first))
        .or_else(|| character(&lines, first))
        .unwrap_or(Near::Nothing)
}

/// Returns where the most first lines of the text stand.
fn head(lines: &[&str], rows: &[&str]) -> Option<Near> {
    let (first, rest) = rows.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let run = |start: usize| {
        1 + lines[start + 1..].iter().zip(rest).take_while(|(line, row)| line == row).count()
    };
    let starts = (0..lines.len()).filter(|&at| lines[at].ends_with(first) && !first.is_empty());
    let best = starts.max_by_key(|&at| (run(at), std::cmp::Reverse(at)))?;
    Some(Near::Head { line: LineNo::from_index(best), n_lines: run(best) })
}

fn blanks(lines: &[&str], row: &str) -> Option<Near> {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = squeeze(row);
    if wanted.is_empty() {
        return None;
    }
    let at =
        lines.iter().position(|line| line.len() >= wanted.len() && squeeze(line) == wanted)?;
    Some(Near::Blanks(LineNo::from_index(at)))
}

/// Returns the line that has as many characters as the row and differs in the fewest, at most three and a quarter of them.
fn character(lines: &[&str], row: &str) -> Option<Near> {
    let wanted = row.trim();
    let n_chars = wanted.chars().count();
    if n_chars < 4 {
        return None;
    }
    let differing = |line: &str| {
        (line.chars().count() == n_chars)
            .then(|| line.chars().zip(wanted.chars()).filter(|(a, b)| a != b).count())
    };
    let best = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((differing(line.trim())?, at)))
        .filter(|&(n, _)| n > 0 && n <= 3 && n * 4 <= n_chars)
        .min()?;
    let line = lines[best.1];
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    let mut pairs = line.trim().chars().zip(wanted.chars()).enumerate();
    let (at, (found, wanted)) = pairs.find(|(_, (a, b))| a != b)?;
    let line = LineNo::from_index(best.1);
    Some(Near::Character { line, column: indent + at + 1, found, wanted })
}
