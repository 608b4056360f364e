//! From an edit that broke the balance to ranked candidates, each with what speaks against it.
//!
//! The region is the edited lines; where nothing in them restores the balance it is widened to the forms
//! around them, and what comes of that is never safe. The target is what was open at the region's end
//! before the edit, so faults elsewhere in the file do not matter and nothing outside is read twice.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::balance::{Balance, Diagnostic, Fault, balance};
use super::super::check::{Check, Hunk, LineRange, Verdict, check};
use super::super::dialect::Dialect;
use super::super::indent::IndentRules;
use super::super::lexer::Delim;
use super::super::tree::{NodeKind, Tree};
use super::align::{Alignment, align};
use super::candidate::{Candidate, Doubt, Refusal, Repair, TextEdit};
use super::region::{self, Before, Item, ItemKind, Region};
use super::role::Role;
use super::search::{self, Found, Op, Problem};
use super::shape::{Shape, shape};
use super::weigh;
use super::{lost, quote};

/// How many candidates are shown.
const MOST_SHOWN: usize = 5;
/// How many places a safe repair may change.
const MOST_SITES: usize = 4;
/// A result that costs more says nothing.
const WORTHLESS: u32 = 160;
/// When a result in the edited lines costs more, one around them is looked for too.
const DEAR: u32 = 60;
/// About how many items are searched over all places for a lost quote.
const QUOTE_BUDGET: usize = 12_000;
/// How far a widened region reaches, in lines before and after the edit.
const REACH_LINES: usize = 400;
/// How far around the edit the form that holds it is looked for, in bytes.
const FORM_REACH: usize = 16 << 10;
/// Of how many hunks each is tried alone.
const MOST_HUNKS: usize = 8;

/// Proposes repairs of an edit whose check said [`Verdict::Broken`].
///
/// `hunks` are the places that the edit changed, in order; without any, what differs is taken for one.
/// Cost: a pass over the text before the edit's end, and a search bounded by a budget.
pub fn repair(
    checked: &Check,
    old: Option<&str>,
    new: &str,
    dialect: &'static Dialect,
    hunks: &[Hunk],
) -> Repair {
    let before = old.unwrap_or_default();
    let mut hunks = hunks.to_vec();
    if hunks.is_empty() {
        hunks.push(Hunk::between(before, new));
    }
    let blamed = blame(before, new, dialect, &hunks);
    let base = blamed.as_ref().map_or(before, |(text, _)| text);
    let scope = match &blamed {
        Some((_, hunk)) => vec![*hunk],
        None => hunks.clone(),
    };
    let job = Job { old: base, new, dialect, hunks: &scope };
    let mut outcome = job.propose();
    if let Repair::Proposed(candidates) = &mut outcome {
        let whole = old.is_some() && checked.before.as_ref().is_some_and(Balance::is_whole);
        let n_forms = checked.before.as_ref().map_or(0, |before| before.n_top_forms);
        for candidate in candidates {
            let recount = blamed.is_some() || hunks.len() > 1;
            if recount && balance(&candidate.text, dialect).n_top_forms != n_forms {
                candidate.doubts.push(Doubt::FormCount);
            }
            if !whole {
                candidate.doubts.push(Doubt::OldNotWhole);
            }
            if old.is_some_and(|old| old == candidate.text) {
                candidate.doubts.push(Doubt::SameAsOld);
            }
            candidate.doubts.sort_unstable();
            candidate.doubts.dedup();
        }
    }
    let faults = &checked.after.diagnostics;
    let endless = faults.iter().any(|found| matches!(found.fault, Fault::Unterminated(_)));
    match outcome {
        // What follows the edit can be out of step without a string or comment that never ends.
        Repair::Refused(Refusal::Unterminated, None) if !endless => {
            Repair::Refused(Refusal::NothingFits, shown_fault(checked, &hunks))
        }
        Repair::Refused(reason, None) => Repair::Refused(reason, shown_fault(checked, &hunks)),
        outcome @ (Repair::Refused(_, Some(_)) | Repair::Proposed(_)) => outcome,
    }
}

/// Returns the fault that a refusal shows: the first in the edited lines, else the first of all.
fn shown_fault(checked: &Check, hunks: &[Hunk]) -> Option<Diagnostic> {
    let edited =
        |fault: &&Diagnostic| hunks.iter().any(|hunk| hunk.new.holds(fault.at.line.index()));
    let faults = &checked.after.diagnostics;
    faults.iter().find(edited).or(faults.first()).copied()
}

/// Of several hunks, finds one that alone is at fault: with its old lines the new text is whole.
///
/// Returns the new text with the old lines of that hunk, and the hunk in its terms.
fn blame(
    old: &str,
    new: &str,
    dialect: &'static Dialect,
    hunks: &[Hunk],
) -> Option<(String, Hunk)> {
    if hunks.len() < 2 || hunks.len() > MOST_HUNKS {
        return None;
    }
    hunks.iter().find_map(|hunk| {
        let lines = |text: &str, range: LineRange| {
            (
                region::line_start(text, range.start.index()),
                region::line_start(text, range.end.index()),
            )
        };
        let (old_start, old_end) = lines(old, hunk.old);
        let (new_start, new_end) = lines(new, hunk.new);
        let kept = old.get(old_start..old_end)?;
        let text = [new.get(..new_start)?, kept, new.get(new_end..)?].concat();
        let start = hunk.new.start.index();
        let range = LineRange::from_indices(start, start + hunk.old.n_lines());
        let whole = check(None, &text, dialect).verdict == Verdict::Whole;
        whole.then_some((text, Hunk { old: range, new: hunk.new }))
    })
}

struct Job<'a> {
    old: &'a str,
    new: &'a str,
    dialect: &'static Dialect,
    hunks: &'a [Hunk],
}

/// 0-based lines of both texts that are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Window {
    start: usize,
    old_end: usize,
    new_end: usize,
}

/// Both texts' regions, read.
pub(super) struct View {
    pub(super) before: Rc<Before>,
    pub(super) old: Region,
    pub(super) new: Region,
    old_shape: Shape,
    pub(super) alignment: Alignment,
    stop: usize,
}

/// Whether a closer that was put in ends a form before its body: what stands below may have been meant
/// to be that.
fn starves(
    text: &str,
    start: usize,
    stop: usize,
    edits: &[TextEdit],
    dialect: &'static Dialect,
) -> bool {
    let Some(region) = text.get(start..stop) else { return false };
    let tree = Tree::new(region, dialect);
    let rules = IndentRules::new(dialect);
    put_in(edits).into_iter().any(|end| {
        let lists = tree.all().filter(|&id| {
            let node = tree.node(id);
            matches!(node.kind, NodeKind::List(_)) && node.span.end + start == end
        });
        let Some(ended) = lists.max_by_key(|&id| tree.node(id).span.start) else {
            return false;
        };
        let mut elements = tree.children(ended);
        let head = elements.next().map(|head| tree.text_of(head)).unwrap_or_default();
        rules.before_body(head).is_some_and(|n_special| elements.count() <= n_special)
    })
}

/// Whether a form that was closed leaves the one around it with half a pair: a map, or Clojure's `cond`.
fn leaves_half_a_pair(
    text: &str,
    start: usize,
    stop: usize,
    edits: &[TextEdit],
    dialect: &'static Dialect,
) -> bool {
    if !dialect.has_braces() {
        return false;
    }
    let far = |at: usize| at.saturating_sub(FORM_REACH);
    let head = text.get(far(start)..start).and_then(|head| head.rfind("\n("));
    let start = head.map_or(0, |at| far(start) + at + 1);
    let tail = text.get(stop..).and_then(|tail| tail.find("\n("));
    let stop = tail.map_or(text.len(), |at| stop + at + 1);
    let Some(form) = text.get(start..stop).filter(|form| form.len() < 3 * FORM_REACH) else {
        return false;
    };
    let tree = Tree::new(form, dialect);
    let ends = put_in(edits);
    let odd = |id| match tree.node(id).kind {
        NodeKind::List(Delim::Curly) => tree.children(id).count() % 2 == 1,
        NodeKind::List(Delim::Round) => {
            let head = tree.children(id).next().map(|head| tree.text_of(head));
            let name = head.and_then(|head| head.rsplit('/').next());
            name == Some("cond")
                && dialect.has_pairs()
                && tree.children(id).count().is_multiple_of(2)
        }
        _ => false,
    };
    tree.all().filter(|&id| ends.contains(&(tree.node(id).span.end + start))).any(|id| {
        // A prefix stands between a form and the list around it.
        let mut around = tree.node(id).parent;
        while let Some(parent) = around
            && !matches!(tree.node(parent).kind, NodeKind::List(_))
        {
            around = tree.node(parent).parent;
        }
        odd(id) && tree.node(id).kind == NodeKind::List(Delim::Curly) || around.is_some_and(odd)
    })
}

/// Returns where, in the repaired text, each character that was put in ends.
fn put_in(edits: &[TextEdit]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut shift = 0isize;
    for edit in edits {
        let at = edit.offset.saturating_add_signed(shift);
        ends.extend((1..=edit.inserted.len()).map(|n| at + n));
        shift += edit.inserted.len().cast_signed() - edit.removed.cast_signed();
    }
    ends
}

impl Job<'_> {
    fn propose(&self) -> Repair {
        let narrow = self.window();
        let Some(view) = self.view(self.new, narrow) else {
            return Repair::Refused(Refusal::TooLarge, None);
        };
        if !self.in_step(self.new, &view) {
            let found = self.quotes(narrow, &view);
            return settle(found, Refusal::Unterminated);
        }
        if is_flat(&view) {
            return Repair::Refused(Refusal::NoIndentation, None);
        }
        let mut found = self.candidates(&view);
        if found.first().is_none_or(|best| best.cost > DEAR) {
            let wide = self.widen(narrow);
            let view = Some(wide).filter(|wide| *wide != narrow);
            let view = view.and_then(|wide| self.view(self.new, wide));
            if let Some(view) = view.filter(|view| self.in_step(self.new, view)) {
                found.extend(self.candidates(&view));
            }
        }
        settle(found, Refusal::NothingFits)
    }

    /// Returns the lines from the first edited one to the last.
    fn window(&self) -> Window {
        let (first, last) = (self.hunks.first(), self.hunks.last());
        Window {
            start: first.map_or(0, |hunk| hunk.new.start.index()),
            old_end: last.map_or(0, |hunk| hunk.old.end.index()),
            new_end: last.map_or(0, |hunk| hunk.new.end.index()),
        }
    }

    /// Widens to the forms at column 0 around the window.
    fn widen(&self, window: Window) -> Window {
        let bytes = self.new.as_bytes();
        let opens = |line: usize| {
            let at = region::line_start(self.new, line);
            bytes.get(at).is_some_and(|byte| matches!(byte, b'(' | b'[' | b'{' | b'\'' | b'#'))
        };
        let mut start = window.start;
        for _ in 0..REACH_LINES {
            if start == 0 || opens(start) && start < window.start {
                break;
            }
            start -= 1;
        }
        let n_lines = self.new.split_inclusive('\n').count();
        let mut n_after = 0;
        while window.new_end + n_after < n_lines && n_after < REACH_LINES {
            if opens(window.new_end + n_after) {
                break;
            }
            n_after += 1;
        }
        Window { start, old_end: window.old_end + n_after, new_end: window.new_end + n_after }
    }

    fn view(&self, new: &str, window: Window) -> Option<View> {
        let start = region::line_start(new, window.start);
        let before = Rc::new(region::before(new, self.dialect, start));
        self.view_after(new, window, before)
    }

    /// Reads the regions behind lines that are read already.
    fn view_after(&self, new: &str, window: Window, before: Rc<Before>) -> Option<View> {
        let stop = region::line_start(new, window.new_end);
        let old_stop = region::line_start(self.old, window.old_end);
        let new = region::region(new, self.dialect, before.at, stop)?;
        let old = region::region(self.old, self.dialect, before.at, old_stop)?;
        let old_shape = shape(&before.frames, &old.items);
        let alignment = align(&old.items, &new.items);
        Some(View { before, old, new, old_shape, alignment, stop })
    }

    /// Whether what follows the region reads as it did before the edit.
    fn in_step(&self, new: &str, view: &View) -> bool {
        follows_alike((new, &view.new), (self.old, &view.old))
    }

    fn is_edited(&self, line: usize) -> bool {
        self.hunks.iter().any(|hunk| hunk.new.holds(line))
    }

    fn search(&self, new: &str, view: &View) -> Vec<Found> {
        let edited: Vec<(bool, bool)> = view
            .new
            .items
            .iter()
            .map(|item| (self.is_edited(item.line), self.is_edited(item.end_line)))
            .collect();
        search::search(&Problem {
            frames: &view.before.frames,
            items: &view.new.items,
            edited: &edited,
            old_items: &view.old.items,
            old: &view.old_shape,
            alignment: &view.alignment,
            next: region::next_item(new, self.dialect, view.new.end),
        })
    }

    fn candidates(&self, view: &View) -> Vec<Candidate> {
        let found = self.search(self.new, view);
        found.iter().filter_map(|found| self.candidate(view, found)).collect()
    }

    fn candidate(&self, view: &View, found: &Found) -> Option<Candidate> {
        let edits: Vec<TextEdit> = found.ops.iter().map(|op| text_edit(*op)).collect();
        let text = applied(self.new, &edits)?;
        let stop = text.len().checked_sub(self.new.len().checked_sub(view.stop)?)?;
        let repaired = region::region(&text, self.dialect, view.before.at, stop)?;
        let repaired_shape = shape(&view.before.frames, &repaired.items);
        let types = |shape: &Shape| shape.end.iter().map(|&(d, _)| d).collect::<Vec<Delim>>();
        let restored = follows_alike((&text, &repaired), (self.old, &view.old))
            && types(&repaired_shape) == types(&view.old_shape)
            && repaired_shape.n_faults <= view.old_shape.n_faults
            && keeps_data(&repaired, &view.new, found);
        if !restored {
            return None;
        }
        let mut doubts = Vec::new();
        let mut doubt = |when: bool, doubt| doubts.extend(when.then_some(doubt));
        let marks = found.marks;
        doubt(repaired_shape.n_top != view.old_shape.n_top, Doubt::FormCount);
        let starved = starves(&text, view.before.at, stop, &edits, self.dialect);
        doubt(marks.body_left || starved, Doubt::BodyLeft);
        doubt(marks.overhang, Doubt::Indentation);
        doubt(marks.outside, Doubt::Outside);
        doubt(marks.opener, Doubt::Opener);
        doubt(marks.midline, Doubt::MidLine);
        let drops = found.ops.iter().any(|op| matches!(op, Op::Delete(_)));
        let adds = found.ops.iter().any(|op| matches!(op, Op::Insert(..)));
        let n_changes = found.ops.iter().filter(|op| matches!(op, Op::Change(..))).count();
        let mixed = drops && (adds || n_changes > 0) || n_changes > 1;
        doubt(found.n_sites > MOST_SITES || mixed, Doubt::ManyPlaces);
        let lost = lost::opener_was_lost(view)
            || drops && lost::opener_may_be_lost(view)
            || drops && self.tags_anew(view)
            || adds && lost::renamed_lacks_opener(view)
            || (adds || n_changes > 0) && lost::line_lacks_its_opener(view)
            || found.ops.iter().any(|op| self.doubles(*op));
        // Openers alone say nothing about what they were to hold.
        let hollow = adds && data_ids(&view.new).is_empty();
        doubt(lost || hollow, Doubt::Opener);
        let halved = leaves_half_a_pair(&text, view.before.at, stop, &edits, self.dialect);
        doubt(halved, Doubt::CloseSecond);
        let split = found.ops.iter().any(|op| self.changes_within_line(*op, view));
        doubt(split, Doubt::MidLine);
        doubt(self.is_quote_odd(view), Doubt::Quote);
        let same = view.alignment.same_data && view.old.other == view.new.other;
        doubt(same, Doubt::DelimitersOnly);
        Some(Candidate { text, edits, doubts, cost: found.cost })
    }

    /// Whether a change takes away the second of two closers of one type, whose opener may be lost.
    fn doubles(&self, op: Op) -> bool {
        let bytes = self.new.as_bytes();
        match op {
            Op::Change(at, _) => at > 0 && bytes.get(at) == bytes.get(at - 1),
            Op::Insert(..) | Op::Delete(_) => false,
        }
    }

    /// Whether a form has a tag that the old lines have not: `#not (…)` is as well an anonymous function
    /// without its opener.
    fn tags_anew(&self, view: &View) -> bool {
        let old = self.old.get(view.before.at..view.old.end).unwrap_or_default();
        view.new.items.iter().any(|item| {
            let tag = item.tagged.and_then(|at| self.new.get(at..item.span.start));
            tag.is_some_and(|tag| !old.contains(tag.trim_end()))
        })
    }

    /// Whether a closer of another type is put behind new data of its line that do not look like one
    /// list: one in their midst may be what is missing, and this one too many.
    fn changes_within_line(&self, op: Op, view: &View) -> bool {
        let Op::Change(offset, closer) = op else { return false };
        let items = &view.new.items;
        let Some(at) = items.iter().position(|item| item.span.start == offset) else {
            return false;
        };
        let mut depth = 0usize;
        let mut elements: Vec<&Item> = Vec::new();
        for item in items[..at].iter().rev() {
            match item.kind {
                _ if item.line != items[at].line => return false,
                ItemKind::Close(_) => depth += 1,
                ItemKind::Open(_) if depth == 0 => break,
                ItemKind::Open(_) => depth -= 1,
                ItemKind::Datum => {}
            }
            if depth == 0 {
                elements.push(item);
            }
        }
        if elements.is_empty() {
            return true;
        }
        elements.reverse();
        let names = |item: &&Item| item.kind == ItemKind::Datum && item.role == Role::Name;
        let n = elements.len();
        match closer {
            '}' => n % 2 == 1,
            ']' => n > 1 && n % 2 == 1 && !elements.iter().all(names),
            _ => {
                self.dialect.has_braces()
                    && elements.iter().skip(1).any(|item| is_of_brackets(item))
            }
        }
    }

    /// Whether the edited lines have an odd number of quotes, and the old ones had not.
    fn is_quote_odd(&self, view: &View) -> bool {
        let odd = |text: &str, end: usize| {
            let lines = text.get(view.before.at..end).unwrap_or_default();
            let bytes = lines.as_bytes();
            let free = |at: &usize| *at == 0 || !matches!(bytes[at - 1], b'\\' | b'?');
            memchr::memchr_iter(b'"', bytes).filter(free).count() % 2 == 1
        };
        odd(self.new, view.new.end) && !odd(self.old, view.old.end)
    }

    /// Puts a quote in at each likely place and repairs what is then left.
    fn quotes(&self, window: Window, view: &View) -> Vec<Candidate> {
        let start = region::line_start(self.new, window.start);
        let old_stop = region::line_start(self.old, window.old_end);
        let (Some(old), Some(new)) =
            (self.old.get(start..old_stop), self.new.get(start..view.stop))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        // Each place that fits is searched like an edit of its own, so a large one gets fewer of them.
        let n_items = view.old.items.len().max(view.new.items.len());
        let mut searches_left = (QUOTE_BUDGET / n_items.max(1)).max(1);
        for place in quote::places(old, new) {
            if searches_left == 0 {
                break;
            }
            let at = start + place.offset;
            let Some((head, tail)) = self.new.split_at_checked(at) else { continue };
            let quoted = [head, "\"", tail].concat();
            let stop = view.stop + usize::from(at < view.stop);
            let fits = region::region(&quoted, self.dialect, view.before.at, stop)
                .is_some_and(|read| follows_alike((&quoted, &read), (self.old, &view.old)));
            if !fits {
                continue;
            }
            let Some(view) = self.view_after(&quoted, window, Rc::clone(&view.before)) else {
                continue;
            };
            searches_left -= 1;
            let job = Job { new: &quoted, ..*self };
            for mut candidate in job.candidates(&view) {
                candidate.cost += place.cost;
                candidate.doubts.push(Doubt::Quote);
                candidate.edits = with_quote(candidate.edits, at);
                found.push(candidate);
            }
        }
        found
    }
}

/// Whether a datum is more at home in brackets or braces than in a call.
fn is_of_brackets(item: &Item) -> bool {
    item.kind == ItemKind::Datum && item.role == Role::Keyword
}

fn data_ids(region: &Region) -> Vec<u64> {
    let data = region.items.iter().filter(|item| item.kind == ItemKind::Datum);
    data.map(|item| item.id).collect()
}

/// Whether a repaired region has the data that it had, but for tags that became the head of a form.
fn keeps_data(repaired: &Region, new: &Region, found: &Found) -> bool {
    let untagged = |op: &&Op| match op {
        Op::Insert(at, _) => new.items.iter().any(|item| item.tagged == Some(*at)),
        Op::Delete(_) | Op::Change(..) => false,
    };
    let n_untagged = found.ops.iter().filter(untagged).count();
    let (after, before) = (data_ids(repaired), data_ids(new));
    let mut rest = after.iter();
    after.len() == before.len() + n_untagged && before.iter().all(|id| rest.any(|it| it == id))
}

/// Whether what follows two regions is read alike.
fn follows_alike((a_text, a): (&str, &Region), (b_text, b): (&str, &Region)) -> bool {
    a_text.len() - a.end == b_text.len() - b.end && a.endless == b.endless
}

/// Rewrites edits of a text with a quote put in at `at` as edits of the text without it.
fn with_quote(edits: Vec<TextEdit>, at: usize) -> Vec<TextEdit> {
    let place = edits.iter().filter(|edit| edit.offset <= at).count();
    let mut all: Vec<TextEdit> = edits
        .into_iter()
        .map(|edit| TextEdit { offset: edit.offset - usize::from(edit.offset > at), ..edit })
        .collect();
    all.insert(place, TextEdit { offset: at, removed: 0, inserted: "\"".to_owned() });
    all
}

/// Ranks what was found, drops what is worthless or double, and says how clear the best is.
fn settle(mut found: Vec<Candidate>, refusal: Refusal) -> Repair {
    found.sort_by(|a, b| match a.cost.cmp(&b.cost) {
        Ordering::Equal => a.doubts.len().cmp(&b.doubts.len()),
        unequal @ (Ordering::Less | Ordering::Greater) => unequal,
    });
    found.retain(|candidate| candidate.cost <= WORTHLESS);
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in found {
        if kept.iter().all(|other| other.text != candidate.text) {
            kept.push(candidate);
        }
    }
    let close = match kept.as_slice() {
        [best, second, ..] => second.cost - best.cost < weigh::CLEARLY,
        [_] | [] => false,
    };
    for (nth, candidate) in kept.iter_mut().enumerate() {
        if close || nth > 0 {
            candidate.doubts.push(Doubt::CloseSecond);
        }
    }
    kept.truncate(MOST_SHOWN);
    if kept.is_empty() { Repair::Refused(refusal, None) } else { Repair::Proposed(kept) }
}

/// Whether the lines of a region stand at one column although some are inside others.
fn is_flat(view: &View) -> bool {
    let items = &view.new.items;
    let code: Vec<usize> = (0..items.len())
        .filter(|&at| items[at].first && !matches!(items[at].kind, ItemKind::Close(_)))
        .collect();
    let [first, .., _] = code.as_slice() else { return false };
    let written = shape(&view.before.frames, items);
    let nested = code.iter().any(|&at| written.parent[at] != written.parent[*first]);
    let level = code.iter().all(|&at| items[at].lead == items[*first].lead);
    code.len() > 2 && nested && level && !is_known(view, items)
}

/// Whether most data of the region were there before the edit.
fn is_known(view: &View, items: &[Item]) -> bool {
    let data = || (0..items.len()).filter(|&at| items[at].kind == ItemKind::Datum);
    data().filter(|&at| view.alignment.old_of[at].is_some()).count() * 2 > data().count()
}

fn text_edit(op: Op) -> TextEdit {
    match op {
        Op::Insert(offset, c) => TextEdit { offset, removed: 0, inserted: c.to_string() },
        Op::Delete(offset) => TextEdit { offset, removed: 1, inserted: String::new() },
        Op::Change(offset, c) => TextEdit { offset, removed: 1, inserted: c.to_string() },
    }
}

/// Applies edits in text order.
fn applied(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut out = String::with_capacity(text.len() + edits.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.offset)?);
        out.push_str(&edit.inserted);
        at = edit.offset + edit.removed;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}
