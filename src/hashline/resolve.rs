//! Patch + what stands there now + what the session has seen → [`Plan`], or every [`Problem`].
//!
//! An op holds only if each line that it replaces, deletes or anchors to is proved to be the line that the
//! session saw at that number. A bare insert anchors to no line and holds for any file that was read.
//!
//! **Which content an anchor means.** The newest known content whose line N has the anchor's check (of a
//! range: that both ends fit). If row N was not shown since that content became the newest, an older
//! content that fits too (the one just before, and the last one of which row N was shown) must lead to the
//! same line; else the anchor is refused until the row has been shown again.

use std::collections::HashSet;
use std::ops::Range;

use super::anchor::{Anchor, anchor};
use super::carry::{Carrier, Lost, Spot};
use super::echo;
use super::find::{Neighbours, unique_place};
use super::overlap::{Extent, touching};
use super::patch::{FilePatch, Op, Role, Target};
use super::plan::{Edit, FilePlan, Moved, Plan, Row, ending_at_gap, ending_like};
use super::problem::{Cause, Problem, Refusal};
use super::seen::{Seen, Shift};
use super::sight::Shower;
use crate::code::Code;
use crate::text::{LineDigest, LineNo, Snapshot, clip_line};

/// A line of more characters may exceed what one result holds, even read by itself.
const LONGEST_READ_CHARS: usize = 16_000;

/// What a caller may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What happens to ops whose lines moved.
    pub relocation: Relocation,
    /// What happens to payload rows that begin with a served anchor.
    pub echoes: Echoes,
}

/// What happens to ops whose lines moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relocation {
    /// They are refused.
    Refuse,
    /// They follow their lines, if those stand with both neighbours at exactly one place.
    Follow,
}

/// What happens to payload rows that begin with a served anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echoes {
    /// They are refused.
    Refuse,
    /// They are meant.
    Literal,
}

/// One file of a patch, with all that decides about it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The file and its ops.
    pub patch: &'a FilePatch,
    /// What stands there now.
    pub now: &'a Snapshot,
    /// What the session knows of it. In a model's reply: as it was when the reply began.
    pub seen: &'a Seen,
    /// The session's own edits of it since the reply began, oldest first; empty without replies.
    pub since: &'a [Shift],
}

/// Decides about a whole patch.
///
/// Errors: all problems of all files. Cost: linear in lines and ops while the content is one that was
/// seen; else it adds one comparison for each content that anchors mean.
pub fn resolve(subjects: &[Subject<'_>], options: Options) -> Result<Plan, Refusal> {
    let mut files = Vec::new();
    let mut refusal = Refusal::default();
    for subject in subjects {
        match file(subject, options) {
            Ok(plan) => files.push(plan),
            Err(refused) => refusal.extend(refused),
        }
    }
    if refusal.is_empty() { Ok(Plan { files }) } else { Err(refusal) }
}

fn file(subject: &Subject<'_>, options: Options) -> Result<FilePlan, Refusal> {
    let place = &subject.patch.place;
    if !subject.seen.is_read() {
        return Err(
            vec![Problem::bare(Code::Unread, Some(place.clone()), Cause::Unread)].into()
        );
    }
    let mut judge = Judge::new(subject, options);
    judge.overlaps(&written(&subject.patch.ops), Numbering::Written);
    let placed: Vec<Option<Spot>> = subject.patch.ops.iter().map(|op| judge.op(op)).collect();
    if judge.problems.is_empty() && (!judge.moved.is_empty() || !subject.since.is_empty()) {
        judge.overlaps(&landed(&subject.patch.ops, &placed), Numbering::Landed);
    }
    if judge.problems.is_empty() {
        return Ok(plan(subject, &placed, judge.moved));
    }
    let sights =
        judge.shower.finish().map(|sight| (place.clone(), sight)).into_iter().collect();
    Err(Refusal { problems: judge.problems, sights })
}

/// Whose numbers an overlap is named by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    Written,
    Landed,
}

fn written(ops: &[Op]) -> Vec<(usize, Extent)> {
    let extent = |(at, op): (usize, &Op)| {
        let lines = op.target.lines()?;
        let lines = *lines.start()..*lines.end() + 1;
        Some((at, Extent { lines, is_range: op.target.is_range() }))
    };
    ops.iter().enumerate().filter_map(extent).collect()
}

fn landed(ops: &[Op], placed: &[Option<Spot>]) -> Vec<(usize, Extent)> {
    let extent = |(at, op): (usize, &Op)| {
        let (lines, spot) = (op.target.lines()?, placed.get(at)?.as_ref()?);
        let start = spot.lines.start;
        let lines = start..start + (lines.end() + 1 - lines.start());
        Some((at, Extent { lines, is_range: op.target.is_range() }))
    };
    ops.iter().enumerate().filter_map(extent).collect()
}

/// Judges the ops of one file and collects what is wrong.
struct Judge<'a> {
    subject: &'a Subject<'a>,
    options: Options,
    carrier: Carrier<'a>,
    shower: Shower<'a>,
    problems: Vec<Problem>,
    moved: Vec<Moved>,
    /// Anchors and lines that were refused already; each is reported once.
    reported: HashSet<(usize, Option<u8>)>,
    /// Lines that were shown in part and never whole.
    clipped: HashSet<LineDigest>,
}

/// Why an op does not hold.
enum Stale {
    /// These of its anchors fit no content that is known.
    Unfit(Vec<(Role, Anchor)>),
    /// Each anchor fits some content, but no content fits them all.
    Torn,
    /// A line of the content that is meant cannot be relied on.
    Lost(usize, Lost),
    /// An older content leads elsewhere.
    Ambiguous,
    /// What row this was is no longer known.
    Forgotten,
}

impl<'a> Judge<'a> {
    fn new(subject: &'a Subject<'a>, options: Options) -> Self {
        let (seen, now) = (subject.seen, subject.now);
        Self {
            subject,
            options,
            carrier: Carrier::new(seen, subject.since, now),
            shower: Shower::new(now),
            problems: Vec::new(),
            moved: Vec::new(),
            reported: HashSet::new(),
            clipped: seen.clipped(),
        }
    }

    fn push(&mut self, code: Code, at: Option<(Role, LineNo)>, cause: Cause) -> &mut Problem {
        let mut problem = Problem::bare(code, Some(self.subject.patch.place.clone()), cause);
        problem.role = at.map(|(role, _)| role);
        problem.line = at.map(|(_, line)| line);
        let index = self.problems.len();
        self.problems.push(problem);
        &mut self.problems[index]
    }

    fn overlaps(&mut self, extents: &[(usize, Extent)], numbering: Numbering) {
        let only: Vec<Extent> = extents.iter().map(|(_, extent)| extent.clone()).collect();
        for (first, second) in touching(&only) {
            let name = |at: usize| {
                let words = self.subject.patch.ops[extents[at].0].target.describe();
                match numbering {
                    Numbering::Written => words,
                    Numbering::Landed => {
                        format!("{words} (now at {})", LineNo::from_index(only[at].lines.start))
                    }
                }
            };
            let cause = Cause::Overlap { first: name(first), second: name(second) };
            self.push(Code::Overlap, None, cause);
        }
    }

    /// Judges one op; returns where it acts in the present content, or nothing if it was refused.
    fn op(&mut self, op: &Op) -> Option<Spot> {
        self.echoes(op);
        let n_lines = self.subject.now.n_lines();
        let Some(lines) = op.target.lines() else {
            let gap = if op.target == Target::Top { 0 } else { n_lines };
            return Some(Spot { lines: 0..0, gap });
        };
        let gap = match op.target {
            Target::After(_) => lines.end() + 1,
            Target::Before(_)
            | Target::End
            | Target::Top
            | Target::Delete(..)
            | Target::Replace(..) => *lines.start(),
        };
        let spot = Spot { lines: *lines.start()..lines.end() + 1, gap };
        let landed = if self.is_past_end(op) {
            self.past_end(op, &spot)
        } else {
            match self.find(op, &spot) {
                Ok(landed) => Some(landed),
                Err(stale) => self.stale(op, &spot, &stale),
            }
        }?;
        self.clipped(op, &landed);
        Some(landed)
    }

    fn echoes(&mut self, op: &Op) {
        if self.options.echoes == Echoes::Literal {
            return;
        }
        let (seen, now) = (self.subject.seen, self.subject.now);
        let echoed =
            |row: &String| echo::echoed(row, seen, now).map(|line| (line, row.clone()));
        if let Some((line, row)) = op.payload.iter().find_map(echoed) {
            let row = clip_line(&row, 40).shown.into_owned();
            self.push(Code::EchoedAnchor, None, Cause::Echoed { row, line });
        }
    }

    /// Returns how many lines anchors may name: in a reply, those of the file before its first edit.
    fn n_nameable(&self) -> usize {
        let first = self.subject.since.first();
        first.map_or(self.subject.now.n_lines(), |shift| shift.before_lines.len())
    }

    fn is_past_end(&self, op: &Op) -> bool {
        let n_lines = self.n_nameable();
        op.target.anchors().iter().any(|(_, anchor)| anchor.line.index() >= n_lines)
    }

    /// Lets an op follow its lines into a file that became shorter, or reports the anchors that no line
    /// of it has.
    fn past_end(&mut self, op: &Op, spot: &Spot) -> Option<Spot> {
        let (n_lines, anchors) = (self.n_nameable(), op.target.anchors());
        let n_contents = self.subject.seen.contents().len();
        let parts = |content| self.reading(content, &anchors, &spot.lines);
        let parts = (0..n_contents).rev().find_map(parts).unwrap_or_default();
        let content = if let [(content, _)] = *parts { Some(content) } else { None };
        if let (Some(content), Relocation::Follow) = (content, self.options.relocation)
            && let Some(landed) = self.follow(spot, content)
        {
            return Some(landed);
        }
        for (role, anchor) in anchors {
            if anchor.line.index() < n_lines {
                if !self.fits_anywhere(anchor) {
                    self.unfit(role, anchor);
                }
            } else if self.reported.insert((anchor.line.index(), Some(anchor.check))) {
                let stands = content.and_then(|content| self.stands(spot, content));
                let cause = Cause::PastEnd(anchor.line, n_lines);
                self.push_standing(Code::OutOfRange, (role, anchor.line), cause, stands);
            }
        }
        None
    }

    /// Reports a line, with the rows where the lines of its op stand now if that is known.
    fn push_standing(
        &mut self,
        code: Code,
        at: (Role, LineNo),
        cause: Cause,
        stands: Option<Range<usize>>,
    ) {
        let mut rows = String::new();
        if let Some(stands) = &stands {
            self.shower.told(&mut rows, stands.clone());
        }
        let problem = self.push(code, Some(at), cause);
        problem.rows = rows;
        problem.stands = stands
            .map(|lines| (LineNo::from_index(lines.start), LineNo::from_index(lines.end - 1)));
    }

    /// Returns where an op's lines stand now, if they are proved to be the lines that were seen.
    fn find(&self, op: &Op, spot: &Spot) -> Result<Spot, Stale> {
        let anchors = op.target.anchors();
        let n_contents = self.subject.seen.contents().len();
        let reading = |content| Some((content, self.reading(content, &anchors, &spot.lines)?));
        let Some((newest, parts)) = (0..n_contents).rev().find_map(reading) else {
            let unfit: Vec<_> = anchors
                .into_iter()
                .filter(|(_, anchor)| !self.fits_anywhere(*anchor))
                .collect();
            return Err(if unfit.is_empty() { Stale::Torn } else { Stale::Unfit(unfit) });
        };
        let landed = self.carry(&parts, spot).map_err(|(at, lost)| Stale::Lost(at, lost))?;
        for (_, anchor) in &anchors {
            self.agrees(*anchor, spot, newest)?;
        }
        Ok(landed)
    }

    /// Returns which contents the lines are known from if anchors mean the numbering of `content`: the
    /// content itself, or where only rows of it were shown, those before it. Nothing if an anchor does
    /// not fit.
    fn reading(
        &self,
        content: usize,
        anchors: &[(Role, Anchor)],
        lines: &Range<usize>,
    ) -> Option<Vec<(usize, Range<usize>)>> {
        let contents = self.subject.seen.contents();
        for (_, anchor) in anchors {
            let index = anchor.line.index();
            let from = self.source(content, index)?;
            if contents[from].lines[index].check() != anchor.check {
                return None;
            }
        }
        let mut parts: Vec<(usize, Range<usize>)> = Vec::new();
        let mut at = lines.start;
        while at < lines.end {
            let from = self.source(content, at)?;
            let whole = from == content;
            let end = if whole { contents[from].stretch(at)?.min(lines.end) } else { at + 1 };
            match parts.last_mut() {
                Some((last, range)) if *last == from => range.end = end,
                _ => parts.push((from, at..end)),
            }
            at = end;
        }
        Some(parts)
    }

    /// Returns the newest content up to `content` of which line `index` is known.
    fn source(&self, content: usize, index: usize) -> Option<usize> {
        let contents = self.subject.seen.contents();
        for at in (0..=content).rev() {
            if contents[at].knows(index) {
                return Some(at);
            }
            if contents[at].is_whole() {
                return None;
            }
        }
        None
    }

    fn served(&self, content: usize, anchor: Anchor) -> bool {
        let index = anchor.line.index();
        self.source(content, index)
            .is_some_and(|from| self.subject.seen.contents()[from].served(index))
    }

    fn fits_anywhere(&self, anchor: Anchor) -> bool {
        let index = anchor.line.index();
        self.subject
            .seen
            .contents()
            .iter()
            .any(|known| known.knows(index) && known.lines[index].check() == anchor.check)
    }

    /// Carries every part of a spot to the present content; they must arrive side by side.
    fn carry(
        &self,
        parts: &[(usize, Range<usize>)],
        spot: &Spot,
    ) -> Result<Spot, (usize, Lost)> {
        let mut whole: Option<Spot> = None;
        for (from, lines) in parts {
            let gap = if parts.len() == 1 { spot.gap } else { lines.start };
            let part = Spot { lines: lines.clone(), gap };
            let landed = self.carrier.carry(*from, &part).map_err(|lost| (*from, lost))?;
            whole = Some(match whole {
                None => landed,
                Some(before) if before.lines.end == landed.lines.start => {
                    Spot { lines: before.lines.start..landed.lines.end, gap: before.gap }
                }
                Some(_) => return Err((*from, Lost::Ours(lines.start))),
            });
        }
        whole.ok_or((0, Lost::Unproved(spot.lines.start)))
    }

    /// Checks an anchor whose row was not shown of content `newest`: the content just before it, and the
    /// last one that showed a row with this anchor, must lead to the same line. The lines of the op next
    /// to it that were shown there too, and not since, must stand as they were.
    fn agrees(&self, anchor: Anchor, spot: &Spot, newest: usize) -> Result<(), Stale> {
        let contents = self.subject.seen.contents();
        let index = anchor.line.index();
        let mut was_served = self.served(newest, anchor);
        for older in (0..newest).rev().take_while(|_| !self.served(newest, anchor)) {
            let known = &contents[older];
            let fits = known.knows(index) && known.lines[index].check() == anchor.check;
            if fits && (known.served(index) || older + 1 == newest) {
                self.agrees_with(older, index, spot, newest)?;
                was_served |= known.served(index);
                if known.served(index) {
                    break;
                }
            }
        }
        if !was_served && self.subject.seen.has_forgotten(index) {
            return Err(Stale::Forgotten);
        }
        Ok(())
    }

    fn agrees_with(
        &self,
        older: usize,
        index: usize,
        spot: &Spot,
        newest: usize,
    ) -> Result<(), Stale> {
        let contents = self.subject.seen.contents();
        let open =
            |line: &usize| contents[older].served(*line) && !contents[newest].served(*line);
        let mut end = (index + 1..spot.lines.end).find(|l| !open(l)).unwrap_or(spot.lines.end);
        let above = (spot.lines.start..index).rev().find(|l| !open(l));
        let mut start = above.map_or(spot.lines.start, |line| line + 1);
        loop {
            let part = Spot { lines: start..end, gap: start };
            match self.carrier.carry(older, &part) {
                Ok(landed) if self.subject.since.is_empty() && landed.lines != part.lines => {
                    return Err(Stale::Ambiguous);
                }
                Ok(_) => return Ok(()),
                Err(Lost::Shifted(line) | Lost::Ours(line)) if line > index => end = line,
                Err(Lost::Shifted(line) | Lost::Ours(line)) if line < index => start = line + 1,
                Err(lost) if self.differs(older, lost) => return Err(Stale::Lost(older, lost)),
                Err(_) => return Err(Stale::Ambiguous),
            }
        }
    }

    /// Returns whether a line that was lost plainly reads otherwise now.
    fn differs(&self, content: usize, lost: Lost) -> bool {
        let Lost::Unproved(index) = lost else {
            return false;
        };
        let known = self.subject.seen.contents()[content].lines.get(index).copied();
        self.subject.now.line_digest(LineNo::from_index(index)) != known
    }

    /// Reports what is wrong with an op's lines, or lets it follow them.
    fn stale(&mut self, op: &Op, spot: &Spot, stale: &Stale) -> Option<Spot> {
        match stale {
            Stale::Lost(content, lost) => return self.lost(op, spot, *content, *lost),
            Stale::Unfit(anchors) => {
                for &(role, anchor) in anchors {
                    self.unfit(role, anchor);
                }
            }
            Stale::Torn => self.at_anchors(op, |_| Cause::Torn),
            Stale::Ambiguous => self.at_anchors(op, Cause::Ambiguous),
            Stale::Forgotten => self.at_anchors(op, Cause::Forgotten),
        }
        None
    }

    /// Reports an op at its first anchor and shows the rows of all of them.
    fn at_anchors(&mut self, op: &Op, cause: impl Fn(LineNo) -> Cause) {
        let anchors = op.target.anchors();
        let Some(&(role, first)) = anchors.first() else {
            return;
        };
        if !self.reported.insert((first.line.index(), Some(first.check))) {
            return;
        }
        let mut rows = String::new();
        for (_, anchor) in &anchors {
            self.shower.around(&mut rows, anchor.line.index());
        }
        let problem = self.push(Code::StaleAnchor, Some((role, first.line)), cause(first.line));
        problem.rows = rows;
    }

    /// Reports an anchor that fits no known content of its line.
    fn unfit(&mut self, role: Role, wanted: Anchor) {
        let index = wanted.line.index();
        if !self.reported.insert((index, Some(wanted.check))) {
            return;
        }
        let mut rows = String::new();
        self.shower.around(&mut rows, index);
        let cause = match anchor(self.subject.now, wanted.line) {
            Some(present) if present.check == wanted.check => Cause::NotSeen(wanted.line),
            Some(present) if self.subject.since.is_empty() => Cause::Check(wanted, present),
            Some(_) | None => Cause::NotSeen(wanted.line),
        };
        self.push(Code::StaleAnchor, Some((role, wanted.line)), cause).rows = rows;
    }

    /// Lets an op follow its lines if it may and they stand at one place, else reports the line.
    fn lost(&mut self, op: &Op, spot: &Spot, content: usize, lost: Lost) -> Option<Spot> {
        let (index, may_follow) = match lost {
            Lost::Unproved(index) | Lost::Shifted(index) => (index, true),
            Lost::Ours(index) => (index, false),
        };
        if may_follow
            && self.options.relocation == Relocation::Follow
            && let Some(landed) = self.follow(spot, content)
        {
            return Some(landed);
        }
        if !self.reported.insert((index, None)) {
            return None;
        }
        let line = LineNo::from_index(index);
        let same = !self.differs(content, Lost::Unproved(index));
        let cause = match lost {
            Lost::Ours(_) => Cause::Ours(line),
            Lost::Shifted(_) => Cause::Shifted(line),
            Lost::Unproved(_) if same && self.subject.since.is_empty() => Cause::Unproved(line),
            Lost::Unproved(_) => Cause::Changed(line),
        };
        let role = role_of(op, index);
        let mut rows = String::new();
        self.shower.around(&mut rows, index);
        for other in index + 1..spot.lines.end {
            if self.differs(content, Lost::Unproved(other)) {
                self.shower.around(&mut rows, other);
            }
        }
        let stands = self.stands(spot, content).filter(|_| may_follow);
        if let Some(stands) = &stands {
            self.shower.told(&mut rows, stands.clone());
        }
        let problem = self.push(Code::StaleAnchor, Some((role, line)), cause);
        problem.rows = rows;
        problem.stands = stands
            .map(|lines| (LineNo::from_index(lines.start), LineNo::from_index(lines.end - 1)));
        None
    }

    /// Returns where the lines of a known content stand now, if at exactly one place.
    fn stands(&self, spot: &Spot, content: usize) -> Option<Range<usize>> {
        if self.problems.len() >= super::report::SHOWN_PROBLEMS {
            return None;
        }
        let known = &self.subject.seen.contents()[content];
        if !spot.lines.clone().all(|line| known.knows(line)) {
            return None;
        }
        let (known, now) = (&known.lines, self.subject.now.line_digests());
        let place = |neighbours| unique_place(known, spot.lines.clone(), now, neighbours);
        let start = place(Neighbours::None).or_else(|| place(Neighbours::Both))?;
        Some(start..start + spot.lines.len())
    }

    fn follow(&mut self, spot: &Spot, content: usize) -> Option<Spot> {
        let known = &self.subject.seen.contents()[content];
        let wide =
            spot.lines.start.saturating_sub(1)..(spot.lines.end + 1).min(known.lines.len());
        if !wide.into_iter().all(|line| known.knows(line)) {
            return None;
        }
        let now = self.subject.now.line_digests();
        let start = unique_place(&known.lines, spot.lines.clone(), now, Neighbours::Both)?;
        let ends = |start: usize| {
            (LineNo::from_index(start), LineNo::from_index(start + spot.lines.len() - 1))
        };
        self.moved.push(Moved { from: ends(spot.lines.start), to: ends(start) });
        let gap = start + (spot.gap - spot.lines.start);
        Some(Spot { lines: start..start + spot.lines.len(), gap })
    }

    /// Returns whether reading a line by itself may not show it whole.
    fn is_too_long(&self, line: LineNo) -> bool {
        let content = self.subject.now.line(line).unwrap_or_default();
        content.chars().nth(LONGEST_READ_CHARS).is_some()
    }

    /// Refuses a replace of lines that were shown in part and never whole.
    fn clipped(&mut self, op: &Op, landed: &Spot) {
        if self.clipped.is_empty() || !matches!(op.target, Target::Replace(..)) {
            return;
        }
        let digests = self.subject.now.line_digests();
        for (offset, index) in landed.lines.clone().enumerate() {
            if digests.get(index).is_some_and(|digest| self.clipped.contains(digest)) {
                let written = op.target.lines().map_or(index, |lines| lines.start() + offset);
                let role = role_of(op, written);
                let line = LineNo::from_index(index);
                let cause = if self.is_too_long(line) {
                    Cause::TooLong(line)
                } else {
                    Cause::Clipped(line)
                };
                self.push(Code::ClippedLine, Some((role, line)), cause);
            }
        }
    }
}

/// Returns what line `index` is to an op.
fn role_of(op: &Op, index: usize) -> Role {
    op.target
        .anchors()
        .into_iter()
        .find(|(_, anchor)| anchor.line.index() == index)
        .map_or(Role::Interior, |(role, _)| role)
}

/// Makes the plan of a file whose ops all hold.
fn plan(subject: &Subject<'_>, placed: &[Option<Spot>], moved: Vec<Moved>) -> FilePlan {
    let base = subject.now;
    let mut order: Vec<(usize, bool, usize)> = Vec::new();
    for (at, op) in subject.patch.ops.iter().enumerate() {
        if let Some(spot) = placed.get(at).and_then(Option::as_ref) {
            order.push((spot.gap, op.target.is_range(), at));
        }
    }
    order.sort_unstable();
    let mut plan = FilePlan {
        place: subject.patch.place.clone(),
        base: base.clone(),
        edits: Vec::new(),
        moved,
        added: 0,
        removed: 0,
    };
    for (gap, is_range, at) in order {
        let (op, spot) = (&subject.patch.ops[at], placed[at].as_ref());
        let lines = spot.filter(|_| is_range).map_or(gap..gap, |spot| spot.lines.clone());
        push_edit(&mut plan, op, lines);
    }
    plan
}

fn push_edit(plan: &mut FilePlan, op: &Op, old: Range<usize>) {
    let base = &plan.base;
    let same = |(index, row): (usize, &String)| {
        base.line(LineNo::from_index(index)) == Some(row.as_str())
    };
    if old.len() == op.payload.len() && old.clone().zip(&op.payload).all(same) {
        return;
    }
    let ending = if old.is_empty() {
        ending_at_gap(base, old.start)
    } else {
        ending_like(base, old.start)
    };
    plan.added += op.payload.len();
    plan.removed += old.len();
    let rows = op.payload.iter().map(|content| Row { content: content.clone(), ending });
    match plan.edits.last_mut() {
        Some(last) if old.is_empty() && last.old == old => last.rows.extend(rows),
        _ => plan.edits.push(Edit { old, rows: rows.collect() }),
    }
}
