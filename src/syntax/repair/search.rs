//! The search: from left to right over a region, every way to keep, drop, change or add delimiters, cheapest
//! first, until what is open at the end is what was open there before. Hot.
//!
//! A beam of states, each a persistent stack and a persistent list of changes. What a change costs depends
//! on where it stands, on what stood there before the edit, and on how well the lines below it then fit
//! their indentation. It decides nothing about what may be written; that is `propose`.

use std::collections::HashSet;

use super::super::lexer::Delim;
use super::align::{Alignment, Gap};
use super::region::{Frame, Item, ItemKind};
use super::role::Role;
use super::shape::{Home, Shape};
use super::state::{Entry, Held, Last, Marks, State};
use super::weigh::{self, Evidence, Spot};

/// How many states are kept an item, at most and at least.
const WIDEST: usize = 64;
const NARROWEST: usize = 8;
/// About how many states are expanded in a search.
const BUDGET: usize = 60_000;
/// How many closers are added in one place at most.
const MOST_CLOSERS: usize = 12;
/// How many results are returned at most.
const MOST_FOUND: usize = 12;

const NONE: u32 = u32::MAX;

/// One change to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Puts a delimiter in at this byte.
    Insert(usize, char),
    /// Takes the one at this byte out.
    Delete(usize),
    /// Puts another in the place of the one at this byte.
    Change(usize, char),
}

/// One way to restore the balance.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) ops: Vec<Op>,
    pub(super) cost: u32,
    pub(super) n_sites: usize,
    pub(super) marks: Marks,
}

/// What is searched.
pub(super) struct Problem<'a> {
    pub(super) frames: &'a [Frame],
    pub(super) items: &'a [Item],
    /// For each item, whether its start and its end lie in edited lines.
    pub(super) edited: &'a [(bool, bool)],
    pub(super) old_items: &'a [Item],
    pub(super) old: &'a Shape,
    pub(super) alignment: &'a Alignment,
    /// The first item past the region.
    pub(super) next: Option<Item>,
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    entries: Vec<Entry>,
    edits: Vec<(Op, u32)>,
    /// For each item, how many data stand before it.
    gap_before: Vec<usize>,
    /// For each item, openers less closers of what follows it.
    rest: Vec<i32>,
    /// For each item that begins a line that the edit did not re-indent, who held it before the edit.
    held: Vec<Option<Held>>,
    /// The types of delimiters that the region closes.
    closed_types: Vec<Delim>,
    /// Those of which it closes more, or opens fewer, than it did.
    surplus: Vec<Delim>,
}

/// Returns who held the line that an item begins, where the edit left its indentation alone.
fn held(problem: &Problem<'_>, at: usize) -> Option<Held> {
    let item = &problem.items[at];
    let old = problem.alignment.old_of[at].filter(|_| item.first)?;
    let old_item = &problem.old_items[old];
    (old_item.first && old_item.lead == item.lead)
        .then(|| Held::translate(problem.old.parent[old], problem.alignment))
}

/// Finds the cheapest ways to restore what is open at the region's end, best first.
pub(super) fn search(problem: &Problem<'_>) -> Vec<Found> {
    let n = problem.items.len();
    if n == 0 {
        return Vec::new();
    }
    let mut search = Search::new(problem);
    let width = (BUDGET / n).clamp(NARROWEST, WIDEST);
    let mut states = vec![search.start()];
    let mut next = Vec::new();
    for at in 0..n {
        next.clear();
        for state in &states {
            search.expand(*state, at, &mut next);
        }
        for state in &mut next {
            state.rank = state.cost + search.distance(state, at);
        }
        next.sort_by_key(|state| (state.rank, state.cost));
        let mut seen = HashSet::with_capacity(width * 2);
        states.clear();
        states.extend(next.iter().filter(|state| seen.insert(state.hash)).take(width));
    }
    search.finish(&states)
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>) -> Self {
        let items = problem.items;
        let mut gap_before = Vec::with_capacity(items.len());
        let mut n_data = 0;
        for item in items {
            gap_before.push(n_data);
            n_data += usize::from(item.kind == ItemKind::Datum);
        }
        let mut rest = vec![0; items.len()];
        let mut sum = 0;
        for (at, item) in items.iter().enumerate().rev() {
            rest[at] = sum;
            sum += match item.kind {
                ItemKind::Open(_) => 1,
                ItemKind::Close(_) => -1,
                ItemKind::Datum => 0,
            };
        }
        let held = (0..items.len()).map(|at| held(problem, at)).collect();
        let closes =
            |delim: &Delim| items.iter().any(|item| item.kind == ItemKind::Close(*delim));
        let types = [Delim::Round, Delim::Square, Delim::Curly];
        let closed_types = types.into_iter().filter(closes).collect();
        let surplus = types
            .into_iter()
            .filter(|&delim| excess(items, delim) > excess(problem.old_items, delim))
            .collect();
        Self {
            problem,
            entries: Vec::new(),
            edits: Vec::new(),
            gap_before,
            rest,
            held,
            closed_types,
            surplus,
        }
    }

    fn start(&mut self) -> State {
        let mut stack = NONE;
        for (nth, frame) in self.problem.frames.iter().enumerate() {
            self.entries.push(Entry {
                parent: stack,
                delim: frame.delim,
                home: Home::Before(nth),
                col: frame.col,
                old_col: frame.col,
                second: frame.second,
                old_second: frame.second,
                child: frame.child,
                n: frame.n,
                line: usize::MAX,
                in_body: false,
                nth_of_holder: 4,
                first: false,
                in_round: false,
                in_definition: false,
                defines: false,
                quoted: false,
                known: true,
                closes: self.known_gap(self.problem.old.frame_closed[nth]),
            });
            stack = index(self.entries.len() - 1);
        }
        State {
            cost: 0,
            rank: 0,
            stack,
            depth: i32::try_from(self.problem.frames.len()).unwrap_or(i32::MAX),
            edits: NONE,
            n_sites: 0,
            hash: 0,
            contradicted: false,
            openers: 0,
            shift: 0,
            last: Last::Kept,
            closed: None,
            marks: Marks::default(),
        }
    }

    fn entry(&self, stack: u32) -> Option<&Entry> {
        self.entries.get(stack as usize)
    }

    /// What it will cost at least to end with the right number of open forms.
    fn distance(&self, state: &State, at: usize) -> u32 {
        let end = i32::try_from(self.problem.old.end.len()).unwrap_or(i32::MAX);
        (state.depth + self.rest[at] - end).unsigned_abs() * weigh::PER_MISSING
    }

    fn expand(&mut self, state: State, at: usize, out: &mut Vec<State>) {
        let problem = self.problem;
        let item = &problem.items[at];
        let mut state = state;
        if item.first {
            self.begin_line(&mut state, item, self.held[at], Some(at));
        }
        match item.kind {
            ItemKind::Datum => {
                for nth in 0..self.closed_types.len() {
                    let delim = self.closed_types[nth];
                    if let Some(made) = self.make_opener(state, at, delim) {
                        let kept = self.keep_datum(made, at);
                        self.add_closers(kept, at, out);
                    }
                }
                let kept = self.keep_datum(state, at);
                self.add_closers(kept, at, out);
            }
            ItemKind::Open(delim) => {
                // A tagged form may be the first argument of what the tag heads.
                for nth in 0..self.surplus.len() {
                    let surplus = self.surplus[nth];
                    if let Some(made) = self.make_opener(state, at, surplus) {
                        let kept = self.push(made, at, delim, Home::Here(at));
                        self.add_closers(kept, at, out);
                    }
                }
                let dropped = self.drop_opener(state, at);
                self.add_closers(dropped, at, out);
                let kept = self.push(state, at, delim, Home::Here(at));
                self.add_closers(kept, at, out);
            }
            ItemKind::Close(delim) => {
                if let Some(mut made) = self.make_opener(state, at, delim) {
                    if let Some(top) = self.entry(made.stack).copied() {
                        Self::pop(&mut made, top);
                    }
                    self.add_closers(made, at, out);
                }
                self.expand_closer(state, at, delim, out);
            }
        }
    }

    fn expand_closer(&mut self, state: State, at: usize, delim: Delim, out: &mut Vec<State>) {
        // Of a run of equal closers the last ones are dropped: which of them it is makes no difference.
        let must_drop = state.last == Last::Deleted(delim) && !self.problem.items[at].first;
        if !must_drop && let Some(top) = self.entry(state.stack).copied() {
            let mut kept = state;
            if top.delim != delim {
                kept.cost +=
                    weigh::CHANGE * Self::outside(&mut kept, self.problem.edited[at].0);
                kept.n_sites += 1;
                self.edit(&mut kept, Op::Change(self.start_of(at), top.delim.closer()));
            }
            Self::pop(&mut kept, top);
            kept.last = Last::Kept;
            self.add_closers(kept, at, out);
        }
        let dropped = self.drop_closer(state, at, delim);
        self.add_closers(dropped, at, out);
    }

    /// Scores how well a line fits what is open where it begins.
    fn begin_line(
        &mut self,
        state: &mut State,
        item: &Item,
        held: Option<Held>,
        at: Option<usize>,
    ) {
        state.shift = 0;
        if matches!(item.kind, ItemKind::Close(_)) {
            return;
        }
        let unmoved = held.is_some();
        if let Some((col, old_col)) = state.closed.take() {
            state.marks.body_left |= item.lead > if unmoved { old_col } else { col };
        }
        if !held.is_some_and(|held| self.holds(state, held)) {
            if matches!(held, Some(Held::Nobody | Held::By(_))) {
                state.cost += weigh::LOST_PARENT;
            }
            self.score_line(state, item.lead, unmoved);
        }
        if at.is_some()
            && let Some(top) = self.entry(state.stack).copied()
        {
            self.entries.push(Entry { child: Some(item.lead), ..top });
            state.stack = index(self.entries.len() - 1);
        }
    }

    fn holds(&self, state: &State, held: Held) -> bool {
        match (self.entry(state.stack), held) {
            (None, Held::Nobody) => true,
            (Some(top), Held::By(home)) => top.home == home,
            (Some(_), Held::Nobody) | (None, Held::By(_)) | (_, Held::Gone) => false,
        }
    }

    fn score_line(&self, state: &mut State, lead: usize, unmoved: bool) {
        let column = |entry: &Entry| if unmoved { entry.old_col } else { entry.col };
        let mut stack = state.stack;
        let mut n_over = 0;
        while let Some(entry) = self.entry(stack).filter(|entry| column(entry) >= lead) {
            n_over += 1;
            stack = entry.parent;
            if n_over == weigh::MOST_OVER {
                break;
            }
        }
        state.cost += n_over * weigh::OVERHANG;
        state.marks.overhang |= n_over > 0;
        if n_over > 0 {
            return;
        }
        state.cost += match self.entry(state.stack) {
            None => weigh::top_level(lead),
            Some(top) => {
                let second = if unmoved { top.old_second.or(top.second) } else { top.second };
                weigh::inside(lead, column(top), second, top.child, top.n)
            }
        };
    }

    fn start_of(&self, at: usize) -> usize {
        self.problem.items[at].span.start
    }

    fn spot(&self, at: usize) -> Spot {
        if self.problem.items[at].trailing { Spot::Trailing } else { Spot::Middle }
    }

    /// How much dearer a change is for standing outside the edited lines.
    fn outside(state: &mut State, edited: bool) -> u32 {
        state.marks.outside |= !edited;
        if edited { 1 } else { weigh::OUTSIDE }
    }

    fn edit(&mut self, state: &mut State, op: Op) {
        self.edits.push((op, state.edits));
        state.edits = index(self.edits.len() - 1);
    }

    /// Returns the new gap that an old gap is, where that is known.
    fn known_gap(&self, old: Option<usize>) -> Option<usize> {
        old.and_then(|old| self.problem.alignment.new_gap_of.get(old).copied().flatten())
    }

    /// What the old text says about closing an opener in a gap.
    fn closing(&self, entry: &Entry, gap: usize) -> Evidence {
        let alignment = self.problem.alignment;
        let known = alignment.wanted.get(gap).is_some_and(Option::is_some);
        let same = gap.checked_sub(1).is_none_or(|before| alignment.same[before]);
        match entry.closes {
            Some(closes) if closes == gap && same => Evidence::Toward,
            Some(_) if known && same => Evidence::Away,
            Some(_) | None => Evidence::Unknown,
        }
    }

    /// What the old text says about one opener more in a gap, or one less.
    fn opening(&self, state: &State, gap: usize, step: i64) -> Evidence {
        let alignment = self.problem.alignment;
        let Some(Some(wanted)) = alignment.wanted.get(gap) else { return Evidence::Unknown };
        if alignment.same.get(gap) == Some(&false) {
            return Evidence::Unknown;
        }
        let count = |gap: &Gap| i64::try_from(gap.openers).unwrap_or(i64::MAX);
        let now = alignment.present.get(gap).map_or(0, count) + i64::from(state.openers);
        if (count(wanted) - now) * step > 0 { Evidence::Toward } else { Evidence::Away }
    }

    fn keep_datum(&mut self, mut state: State, at: usize) -> State {
        let item = &self.problem.items[at];
        self.contradict(&mut state, at);
        state.emit(item.id);
        (state.openers, state.last) = (0, Last::Kept);
        self.note_element(&mut state, item);
        state
    }

    /// Charges a datum that stood in a form that is still there, and stands in another that was there too.
    fn contradict(&self, state: &mut State, at: usize) {
        let problem = self.problem;
        let Some(old) = problem.alignment.old_of[at] else { return };
        if problem.old_items[old].id != problem.items[at].id {
            return;
        }
        let was = Held::translate(problem.old.parent[old], problem.alignment);
        let now = self.entry(state.stack).map(|top| (top.home, top.known));
        let moved = match (was, now) {
            (Held::Gone, _) | (Held::Nobody, None) => false,
            (Held::Nobody, Some((_, known))) => known,
            (Held::By(_), None) => true,
            (Held::By(was), Some((now, known))) => known && was != now,
        };
        if moved {
            state.cost += if state.contradicted {
                weigh::FURTHER_CONTRADICTION
            } else {
                weigh::CONTRADICTION
            };
            state.contradicted = true;
        }
    }

    /// Counts an element of the innermost open form.
    fn note_element(&mut self, state: &mut State, item: &Item) {
        let Some(top) = self.entry(state.stack).copied() else {
            state.cost += if item.begins { 0 } else { weigh::TOP_LEVEL_INSIDE_LINE };
            return;
        };
        if top.n >= 4 {
            return;
        }
        let mut top = Entry { n: top.n + 1, ..top };
        top.defines |= top.n == 1 && item.role == Role::Definer;
        if top.n == 2 && top.line == item.line && top.second.is_none() {
            top.second = Some(item.lead.saturating_add_signed(isize::from(state.shift)));
        }
        self.entries.push(top);
        state.stack = index(self.entries.len() - 1);
    }

    fn push(&mut self, mut state: State, at: usize, delim: Delim, home: Home) -> State {
        let problem = self.problem;
        let item = &problem.items[at];
        state.emit(10 + code(delim));
        state.last = Last::Kept;
        self.note_element(&mut state, item);
        let col = item.col.saturating_add_signed(isize::from(state.shift));
        let old = match home {
            Home::Here(_) => problem.alignment.old_of[at],
            Home::Before(_) | Home::Made => None,
        };
        let holder = self.entry(state.stack).copied();
        self.entries.push(Entry {
            parent: state.stack,
            delim,
            home,
            col,
            old_col: old.map_or(col, |old| problem.old_items[old].col),
            second: None,
            old_second: old.and_then(|old| problem.old.second[old]),
            child: None,
            n: 0,
            line: item.line,
            in_body: item.begins
                && (!item.first || holder.is_none_or(|holder| item.lead == holder.col + 2)),
            nth_of_holder: holder.map_or(4, |holder| holder.n),
            first: item.first,
            in_round: holder.is_some_and(|holder| holder.delim == Delim::Round),
            in_definition: holder.is_some_and(|holder| holder.defines),
            defines: false,
            quoted: item.lead < item.col,
            known: old.is_some(),
            closes: old.and_then(|old| self.known_gap(problem.old.closed[old])),
        });
        state.stack = index(self.entries.len() - 1);
        state.depth += 1;
        state
    }

    fn pop(state: &mut State, top: Entry) {
        state.emit(code(top.delim));
        state.stack = top.parent;
        state.depth -= 1;
    }

    /// Puts an opener before an item where one could have been lost.
    fn make_opener(&mut self, state: State, at: usize, delim: Delim) -> Option<State> {
        let problem = self.problem;
        let item = &problem.items[at];
        let evidence = self.opening(&state, self.gap_before[at], 1);
        let cost = match evidence {
            Evidence::Toward => weigh::OPENER_BORNE_OUT,
            Evidence::Away => return None,
            Evidence::Unknown => self.lost_opener(&state, at, delim)?,
        };
        let mut made = state;
        made.cost += cost * Self::outside(&mut made, problem.edited[at].0);
        made.marks.opener = true;
        made.openers += 1;
        made.n_sites += 1;
        let mut made = self.push(made, at, delim, Home::Made);
        made.shift += 1;
        let place = item.tagged.unwrap_or(item.span.start);
        self.edit(&mut made, Op::Insert(place, delim.opener()));
        Some(made)
    }

    /// What an opener before an item costs by its looks alone; nothing where none is likely.
    fn lost_opener(&self, state: &State, at: usize, delim: Delim) -> Option<u32> {
        if self.problem.items[at].tagged.is_some() {
            return Some(weigh::OPENER_OF_EMPTY);
        }
        let by_looks = self.by_looks(state, at);
        if self.surplus.contains(&delim) {
            let by_type = self.by_type(at, delim);
            return match (by_looks, by_type) {
                (Some(looks), Some(kind)) => Some(looks.min(kind)),
                (looks, kind) => looks.or(kind),
            };
        }
        let other = if self.surplus.is_empty() { 0 } else { weigh::OPENER_OF_OTHER_TYPE };
        by_looks.map(|cost| cost + other)
    }

    /// What an opener costs of whose type a closer is too many.
    fn by_type(&self, at: usize, delim: Delim) -> Option<u32> {
        let items = self.problem.items;
        let item = &items[at];
        let taker = at.checked_sub(1).map(|before| items[before].role);
        let taken = matches!(taker, Some(Role::ListTaker | Role::Definer | Role::Keyword));
        match (delim, item.kind) {
            (_, ItemKind::Close(_)) => None,
            (Delim::Round, ItemKind::Datum) => None,
            (Delim::Round, ItemKind::Open(_)) => {
                (item.first || item.quoted || taken).then_some(weigh::OPENER_QUOTED)
            }
            (Delim::Square | Delim::Curly, _) if item.first || taken => {
                Some(weigh::OPENER_OF_TYPE)
            }
            (Delim::Square | Delim::Curly, _) => Some(weigh::OPENER_LIKELY),
        }
    }

    /// What an opener before an item costs as far as the item tells.
    fn by_looks(&self, state: &State, at: usize) -> Option<u32> {
        let items = self.problem.items;
        let item = &items[at];
        let before = at.checked_sub(1).map(|before| &items[before]);
        let head = before.filter(|before| matches!(before.kind, ItemKind::Open(_)));
        let call = items.get(at + 1).is_some_and(|next| {
            next.line == item.line && !matches!(next.kind, ItemKind::Close(_))
        });
        match item.kind {
            ItemKind::Open(_) => None,
            ItemKind::Close(_) => {
                (item.spaced && head.is_none()).then_some(weigh::OPENER_OF_EMPTY)
            }
            ItemKind::Datum => match (head, item.role) {
                (
                    Some(opener),
                    Role::Name | Role::ListTaker | Role::Definer | Role::Keyword,
                ) => self.may_hold_lists(state, opener, at).then_some(weigh::OPENER_LIKELY),
                (None, Role::Name | Role::ListTaker | Role::Definer) => {
                    Some(weigh::OPENER_LIKELY)
                }
                (None, Role::Keyword) if item.first => Some(weigh::OPENER_LIKELY),
                (_, Role::Quoted) if call => Some(weigh::OPENER_QUOTED),
                (_, Role::Keyword | Role::Quoted | Role::FunctionQuoted | Role::Other) => None,
            },
        }
    }

    /// Whether the form that an opener begins could be meant as a list of lists.
    fn may_hold_lists(&self, state: &State, opener: &Item, at: usize) -> bool {
        let taker = at.checked_sub(2).map(|before| self.problem.items[before].role);
        if matches!(taker, Some(Role::ListTaker | Role::Keyword)) {
            return true;
        }
        let holder = self.entry(state.stack).and_then(|top| self.entry(top.parent));
        opener.first && holder.is_some_and(|holder| opener.lead != holder.col + 2)
    }

    fn drop_opener(&mut self, state: State, at: usize) -> State {
        let evidence = self.opening(&state, self.gap_before[at], -1);
        let mut dropped = state;
        dropped.cost += weigh::drop_opener(evidence)
            * Self::outside(&mut dropped, self.problem.edited[at].0);
        dropped.marks.opener = true;
        dropped.openers -= 1;
        dropped.n_sites += 1;
        dropped.shift -= 1;
        dropped.last = Last::Kept;
        self.edit(&mut dropped, Op::Delete(self.start_of(at)));
        dropped
    }

    fn drop_closer(&mut self, state: State, at: usize, delim: Delim) -> State {
        let evidence = match self.entry(state.stack).filter(|top| top.delim == delim) {
            Some(top) => self.closing(top, self.gap_before[at]).against(),
            None => Evidence::Unknown,
        };
        let spot = self.spot(at);
        let mut dropped = state;
        dropped.cost += weigh::drop_closer(spot, evidence)
            * Self::outside(&mut dropped, self.problem.edited[at].0);
        dropped.marks.midline |= spot == Spot::Middle && evidence != Evidence::Toward;
        dropped.n_sites += u16::from(state.last != Last::Deleted(delim));
        dropped.last = Last::Deleted(delim);
        self.edit(&mut dropped, Op::Delete(self.start_of(at)));
        dropped
    }

    /// Leaves a state as it is after an item, and with one closer more, and two, and so on.
    fn add_closers(&mut self, state: State, at: usize, out: &mut Vec<State>) {
        out.push(state);
        let problem = self.problem;
        let item = &problem.items[at];
        let follows = problem.items.get(at + 1).filter(|next| next.line == item.end_line);
        if item.tests {
            return;
        }
        let hollow = matches!(item.kind, ItemKind::Open(_)) && !item.last;
        if hollow && !follows.is_some_and(|next| next.spaced) {
            return;
        }
        let gap = self.gap_before[at] + usize::from(item.kind == ItemKind::Datum);
        let mut state = state;
        for nth in 0..MOST_CLOSERS {
            let Some(top) = self.entry(state.stack).copied() else { return };
            // Where an equal closer follows, the place behind that one gives the same text.
            let equal_follows =
                follows.is_some_and(|next| next.kind == ItemKind::Close(top.delim));
            if equal_follows || state.last == Last::Deleted(top.delim) {
                return;
            }
            let evidence = self.closing(&top, gap);
            let spot = match self.spot(at) {
                Spot::Middle if top.splits(item, follows, gap) => Spot::Within,
                Spot::Middle if top.n == 1 => Spot::Head,
                spot @ (Spot::Trailing | Spot::Within | Spot::Middle | Spot::Head) => spot,
            };
            let cost = match (hollow, nth) {
                (true, 0) => weigh::CLOSER_OF_EMPTY,
                (true, _) => return,
                (false, _) => weigh::add_closer(spot, evidence, nth > 0),
            };
            state.cost += cost * Self::outside(&mut state, problem.edited[at].1);
            state.marks.midline |= spot != Spot::Trailing && evidence != Evidence::Toward;
            if evidence != Evidence::Toward {
                let (col, old_col) = state.closed.unwrap_or((usize::MAX, usize::MAX));
                state.closed = Some((col.min(top.col), old_col.min(top.old_col)));
            }
            state.n_sites += u16::from(nth == 0);
            state.last = Last::Inserted;
            self.edit(&mut state, Op::Insert(item.span.end, top.delim.closer()));
            Self::pop(&mut state, top);
            out.push(state);
        }
    }

    /// Keeps the states that end with what was open there before the edit, best first.
    fn finish(&mut self, states: &[State]) -> Vec<Found> {
        let mut ended: Vec<State> =
            states.iter().filter_map(|state| self.end(*state)).collect();
        ended.sort_by_key(|state| state.cost);
        ended.truncate(MOST_FOUND);
        ended
            .iter()
            .map(|state| Found {
                ops: self.ops(state.edits),
                cost: state.cost,
                n_sites: usize::from(state.n_sites),
                marks: state.marks,
            })
            .collect()
    }

    fn end(&mut self, mut state: State) -> Option<State> {
        let problem = self.problem;
        let target = &problem.old.end;
        let mut stack = state.stack;
        let mut lost = false;
        for &(delim, home) in target.iter().rev() {
            let entry = self.entry(stack)?;
            if entry.delim != delim {
                return None;
            }
            let kept = match Held::translate(Some(home), problem.alignment) {
                Held::By(home) => entry.home == home,
                Held::Gone => !matches!(entry.home, Home::Before(_)),
                Held::Nobody => false,
            };
            lost |= !kept;
            if entry.home == home && matches!(home, Home::Before(_)) {
                break;
            }
            stack = entry.parent;
        }
        if state.depth != i32::try_from(target.len()).ok()? {
            return None;
        }
        if lost {
            state.cost += weigh::LOST_PARENT;
            state.marks.body_left = true;
        }
        if let Some(next) = &problem.next {
            // What a lost parent costs is charged once.
            let held = if lost {
                Held::Gone
            } else {
                Held::translate(target.last().map(|&(_, home)| home), problem.alignment)
            };
            self.begin_line(&mut state, next, Some(held), None);
        }
        Some(state)
    }

    fn ops(&self, mut edits: u32) -> Vec<Op> {
        let mut ops = Vec::new();
        while let Some(&(op, before)) = self.edits.get(edits as usize) {
            ops.push(op);
            edits = before;
        }
        ops.reverse();
        ops
    }
}

/// Closers less openers of a type.
fn excess(items: &[Item], delim: Delim) -> i64 {
    items.iter().fold(0, |sum, item| match item.kind {
        ItemKind::Open(open) if open == delim => sum - 1,
        ItemKind::Close(close) if close == delim => sum + 1,
        ItemKind::Open(_) | ItemKind::Close(_) | ItemKind::Datum => sum,
    })
}

fn code(delim: Delim) -> u64 {
    match delim {
        Delim::Round => 1,
        Delim::Square => 2,
        Delim::Curly => 3,
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}
