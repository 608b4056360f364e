//! Plan → [`Draft`]: the new bytes of each file, and what a result says about them.
//!
//! Every untouched line keeps its bytes and its ending, and a byte-order mark stays. A file that is edited
//! ends with a newline; one that is emptied has no bytes at all. Nothing is written here.

use std::ops::Range;
use std::sync::Arc;

use super::anchor::Anchor;
use super::plan::{Edit, FilePlan, Moved, Plan, Row, ending_like};
use super::seen::{Scope, Shift, Sight};
use crate::path::Place;
use crate::text::{Change, Digest, Ending, LineDiff, LineDigest, LineNo, Snapshot, clip_line};

/// One file as an accepted patch leaves it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The file, through its symlinks.
    pub place: Place,
    /// The content that the patch was accepted for; the transaction verifies it.
    pub base: Snapshot,
    /// The new content.
    pub bytes: Vec<u8>,
    /// The digest of the new content.
    pub digest: Digest,
    /// The digests of its lines.
    pub lines: Arc<[LineDigest]>,
    /// How many rows were put in.
    pub added: usize,
    /// How many lines were taken out.
    pub removed: usize,
    /// The stretches that changed, in order, 0-based; what follows a stretch is moved by its difference.
    pub changes: Vec<Change>,
    /// What followed its lines to another place.
    pub moved: Vec<Moved>,
    edits: Vec<Edit>,
}

/// Carries a plan out in memory. Cost: one copy of each file, one hash of it, one of each new row.
pub fn apply(plan: Plan) -> Vec<Draft> {
    plan.files.into_iter().map(apply_file).collect()
}

fn apply_file(plan: FilePlan) -> Draft {
    let base = plan.base;
    let (bytes, lines) = if plan.edits.is_empty() {
        (base.bytes().to_vec(), Arc::clone(base.line_digests()))
    } else {
        (new_bytes(&base, &plan.edits), new_lines(&base, &plan.edits))
    };
    let digest = if plan.edits.is_empty() { base.digest() } else { Digest::of(&bytes) };
    let draft = Draft {
        place: plan.place,
        bytes,
        digest,
        lines,
        added: plan.added,
        removed: plan.removed,
        changes: changes(&plan.edits),
        moved: plan.moved,
        edits: plan.edits,
        base,
    };
    with_mark(draft)
}

/// Takes a draft whose first line now begins with U+FEFF for what a reader will take it for: that character
/// is the file's byte-order mark, and no longer content of the line.
fn with_mark(draft: Draft) -> Draft {
    let begins = |bytes: &[u8]| bytes.starts_with("\u{feff}".as_bytes());
    if begins(draft.base.bytes()) || !begins(&draft.bytes) {
        return draft;
    }
    match Snapshot::new(&draft.bytes) {
        Ok(after) => Draft { moved: draft.moved, ..rewrite(draft.place, draft.base, &after) },
        Err(_) => draft,
    }
}

/// Returns the draft that turns a file into `after` as it is, with what differs by whole lines.
///
/// For a content that was made otherwise than by a plan. Cost: one comparison of the lines.
pub fn rewrite(place: Place, base: Snapshot, after: &Snapshot) -> Draft {
    let diff = LineDiff::between(base.line_digests(), after.line_digests());
    let row = |index: usize| {
        let line = LineNo::from_index(index);
        Row {
            content: after.line(line).unwrap_or_default().to_owned(),
            ending: after.ending(line).unwrap_or(Ending::None),
        }
    };
    let edit = |change: &Change| Edit {
        old: change.old.clone(),
        rows: change.new.clone().map(row).collect(),
    };
    let (added, removed) = diff.added_removed();
    Draft {
        place,
        bytes: after.bytes().to_vec(),
        digest: after.digest(),
        lines: Arc::clone(after.line_digests()),
        added,
        removed,
        changes: diff.changes().to_vec(),
        moved: Vec::new(),
        edits: diff.changes().iter().map(edit).collect(),
        base,
    }
}

fn new_bytes(base: &Snapshot, edits: &[Edit]) -> Vec<u8> {
    let (bytes, spans) = (base.bytes(), base.spans());
    let added: usize = edits
        .iter()
        .flat_map(|edit| &edit.rows)
        .map(|row| row.content.len() + row.ending.as_str().len())
        .sum();
    let mut out = Vec::with_capacity(bytes.len() + added + 2);
    let start_of =
        |line: usize| spans.get(line).map_or(bytes.len(), |span| span.start as usize);
    let keeps_last = edits.iter().all(|edit| edit.old.is_empty() || edit.old.end < spans.len());
    let mut is_ended = !keeps_last;
    let mut kept_to = 0;
    for edit in edits {
        out.extend_from_slice(&bytes[kept_to..start_of(edit.old.start)]);
        if edit.old.start >= spans.len() && !is_ended {
            end_last_line(&mut out, base);
            is_ended = true;
        }
        for row in &edit.rows {
            out.extend_from_slice(row.content.as_bytes());
            push_ending(&mut out, row.ending);
        }
        kept_to = start_of(edit.old.end);
    }
    out.extend_from_slice(&bytes[kept_to..]);
    if !is_ended {
        end_last_line(&mut out, base);
    }
    let n_rows: usize = edits.iter().map(|edit| edit.rows.len()).sum();
    let n_gone: usize = edits.iter().map(|edit| edit.old.len()).sum();
    if n_rows == 0 && n_gone == spans.len() {
        out.clear();
    }
    out
}

/// Gives the last line of the old content an ending if it has none.
fn end_last_line(out: &mut Vec<u8>, base: &Snapshot) {
    let spans = base.spans();
    if let Some(last) = spans.len().checked_sub(1)
        && spans[last].ending == Ending::None
    {
        push_ending(out, ending_like(base, last));
    }
}

/// Appends a line ending; behind a carriage return that is content it is CRLF, or the two would become one
/// ending and the line another one.
fn push_ending(out: &mut Vec<u8>, ending: Ending) {
    let ending = if out.ends_with(b"\r") { Ending::CrLf } else { ending };
    out.extend_from_slice(ending.as_str().as_bytes());
}

fn new_lines(base: &Snapshot, edits: &[Edit]) -> Arc<[LineDigest]> {
    let old = base.line_digests();
    let mut lines = Vec::with_capacity(old.len() + edits.len());
    let mut kept_to = 0;
    for edit in edits {
        lines.extend_from_slice(&old[kept_to..edit.old.start]);
        lines.extend(edit.rows.iter().map(|row| LineDigest::of(row.content.as_bytes())));
        kept_to = edit.old.end;
    }
    lines.extend_from_slice(&old[kept_to..]);
    lines.into()
}

fn changes(edits: &[Edit]) -> Vec<Change> {
    let mut delta = 0isize;
    let mut changes = Vec::with_capacity(edits.len());
    for edit in edits {
        let start = edit.old.start.saturating_add_signed(delta);
        changes.push(Change { old: edit.old.clone(), new: start..start + edit.rows.len() });
        delta += edit.rows.len().cast_signed() - edit.old.len().cast_signed();
    }
    changes
}

impl Draft {
    /// Returns whether the draft changes no byte.
    pub fn is_unchanged(&self) -> bool {
        self.digest == self.base.digest()
    }

    /// Returns how many lines the new content has.
    pub fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns the content of a line of the new content. Cost: logarithmic in the edits.
    pub fn line(&self, line: LineNo) -> Option<&str> {
        let index = line.index();
        let next = self.changes.partition_point(|change| change.new.end <= index);
        if let Some(change) = self.changes.get(next).filter(|c| c.new.contains(&index)) {
            let row = self.edits.get(next)?.rows.get(index - change.new.start)?;
            return Some(&row.content);
        }
        let old = match next.checked_sub(1).and_then(|before| self.changes.get(before)) {
            Some(before) => (index + before.old.end).checked_sub(before.new.end)?,
            None => index,
        };
        self.base.line(LineNo::from_index(old))
    }

    /// Returns the anchor of a line of the new content.
    pub fn anchor(&self, line: LineNo) -> Option<Anchor> {
        let digest = self.lines.get(line.index())?;
        Some(Anchor { line, check: digest.check() })
    }

    /// Returns how the edit moved lines, for the session's memory.
    pub fn shift(&self) -> Shift {
        Shift {
            before: self.base.digest(),
            before_lines: Arc::clone(self.base.line_digests()),
            after: self.digest,
            after_lines: Arc::clone(&self.lines),
            changes: self.changes.clone(),
        }
    }

    /// Returns what the session has seen once the result is shown: the new content whole, its rows within
    /// the changed regions and one line around each. What was put in is known whole, shown or not.
    pub fn sight(&self) -> Sight {
        let mut whole = Vec::new();
        let mut clipped = Vec::new();
        for region in self.regions() {
            for index in region {
                let line = LineNo::from_index(index);
                let content = self.line(line).unwrap_or_default();
                let ours = self.is_new(index);
                if !ours && clip_line(content, super::anchor::ROW_CHARS).hidden > 0 {
                    clipped.push(line);
                } else {
                    whole.push((line, line));
                }
            }
        }
        let (digest, lines) = (self.digest, Arc::clone(&self.lines));
        Sight { digest, lines, scope: Scope::Whole, whole, clipped }
    }

    /// Returns the changed regions of the new content with one line of context, joined where they meet.
    pub fn regions(&self) -> Vec<Range<usize>> {
        let mut regions: Vec<Range<usize>> = Vec::new();
        for change in &self.changes {
            let start = change.new.start.saturating_sub(1);
            let end = (change.new.end + 1).min(self.n_lines());
            match regions.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => regions.push(start..end),
            }
        }
        regions.retain(|region| !region.is_empty());
        regions
    }

    /// Returns whether line `index` of the new content was put in.
    fn is_new(&self, index: usize) -> bool {
        let next = self.changes.partition_point(|change| change.new.end <= index);
        self.changes.get(next).is_some_and(|change| change.new.contains(&index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RelPath;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rewrite_has_the_bytes_and_lines_that_it_was_given(
            old in "([ab]\r?\n){0,8}[ab]?", new in "([ab]\r?\n){0,8}[ab]?"
        ) {
            let snapshot = |text: &str| Snapshot::new(text.as_bytes()).unwrap();
            let (base, after) = (snapshot(&old), snapshot(&new));
            let place = Place::in_workspace(RelPath::parse("a").unwrap());
            let draft = rewrite(place, base, &after);
            prop_assert_eq!(&draft.bytes, &new.into_bytes());
            prop_assert_eq!(draft.is_unchanged(), draft.bytes == old.into_bytes());
            for (index, line) in after.iter().enumerate() {
                prop_assert_eq!(draft.line(LineNo::from_index(index)), Some(line));
            }
        }
    }
}
