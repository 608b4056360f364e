//! A file whose lines have identities, the changes that others make to it, and one trial of an edit.

use std::fmt;

use killick::hashline::seen::{Scope, Seen, Shift, Sight};
use killick::hashline::{
    Echoes, FilePatch, Op, Options, Relocation, Subject, Target, anchor::Anchor, apply, resolve,
};
use killick::path::{Place, RelPath};
use killick::text::{LineNo, Snapshot};

/// Real sources, so that lines repeat as they do in real files.
const SOURCES: &[&str] = &[
    include_str!("../../src/path.rs"),
    include_str!("../../src/text/clip.rs"),
    include_str!("../../src/text/snapshot.rs"),
    include_str!("../../src/text/diff.rs"),
    include_str!("../../src/hashline/grammar.rs"),
    include_str!("../../src/hashline/patch.rs"),
];

/// A small generator of numbers (splitmix64), so that a trial depends on its seed alone.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, 0 for 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A line and which line it is.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    id: u64,
}

/// Which kind of file a trial has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A stretch of real source.
    Source,
    /// Lines of a small alphabet: nearly every line has a twin.
    Repetitive,
}

/// What happened over many trials, for one kind of file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) trials: u64,
    /// Edits whose lines all stood, themselves, at their numbers.
    pub(crate) could_hold: u64,
    pub(crate) accepted: u64,
    /// Refused, though the texts alone decide that the lines are the ones that were seen.
    pub(crate) needless: u64,
    /// Refused, and the texts alone leave open which of two equal lines it is.
    pub(crate) undecided: u64,
    /// Refused: the lines read as they were seen, and were others.
    pub(crate) twins: u64,
    /// Accepted: the lines were put there anew, and no text tells them from the ones that were seen.
    pub(crate) alike: u64,
}

/// What happened over many trials.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Real source, read once before the changes.
    pub(crate) source: Count,
    /// Real source of which several contents were seen, in part, or that the session edited between.
    pub(crate) several: Count,
    /// Files of few different lines.
    pub(crate) repetitive: Count,
    /// Seeds of trials in which a change was overwritten.
    pub(crate) overwritten: Vec<u64>,
    /// Seeds of trials in which an edit landed on another line than the one that was seen.
    pub(crate) wrong: Vec<u64>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in [
            ("source", self.source),
            ("source, several contents", self.several),
            ("repetitive", self.repetitive),
        ] {
            let rate = |n: u64| Percent { n, of: count.could_hold };
            writeln!(
                f,
                "{name}: {} trials, {} could hold, {} accepted; refused: {} needlessly ({}), \
                 {} undecidable ({}), {} twins; {} indistinguishable",
                count.trials,
                count.could_hold,
                count.accepted,
                count.needless,
                rate(count.needless),
                count.undecided,
                rate(count.undecided),
                count.twins,
                count.alike
            )?;
        }
        write!(f, "overwritten {}, wrong line {}", self.overwritten.len(), self.wrong.len())
    }
}

/// A share, in per cent with three places.
struct Percent {
    n: u64,
    of: u64,
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousandths = self.n * 100_000 / self.of.max(1);
        write!(f, "{}.{:03} %", thousandths / 1000, thousandths % 1000)
    }
}

/// The file, what the session saw of it, and what a model may remember.
struct World {
    random: Random,
    lines: Vec<Line>,
    next_id: u64,
    seen: Seen,
    /// For each row that was shown: its number, its text's check, its identity and text; a later showing
    /// of a number takes the place of an earlier one.
    remembered: Vec<Option<Row>>,
    /// Every content of which rows were shown.
    contents: Vec<Vec<Line>>,
}

/// A row that was shown.
#[derive(Clone, Debug)]
struct Row {
    check: u8,
    line: Line,
    content: usize,
}

/// Runs one trial.
pub(crate) fn trial(seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed);
    let kind = if random.below(10) < 8 { Kind::Source } else { Kind::Repetitive };
    let mut world = World::new(random, kind);
    world.read(0, usize::MAX);
    let n_rounds =
        1 + usize::from(world.random.one_in(3)) + usize::from(world.random.one_in(9));
    for round in 0..n_rounds {
        if round > 0 {
            if world.random.one_in(2) {
                let start = world.random.below(world.lines.len());
                let len = 1 + world.random.below(10);
                world.read(start, len);
            } else {
                world.own_edit();
            }
        }
        if round + 1 == n_rounds || world.random.one_in(2) {
            for _ in 0..[1, 1, 1, 2, 3][world.random.below(5)] {
                world.change();
            }
        }
    }
    let count = match kind {
        Kind::Source if n_rounds == 1 => &mut tally.source,
        Kind::Source => &mut tally.several,
        Kind::Repetitive => &mut tally.repetitive,
    };
    match world.edit(count) {
        Verdict::Right => {}
        Verdict::Overwritten => tally.overwritten.push(seed),
        Verdict::Wrong => tally.wrong.push(seed),
    }
}

fn place() -> Place {
    Place::in_workspace(RelPath::parse("a.txt").unwrap_or_else(|_| RelPath::root()))
}

impl World {
    fn new(mut random: Random, kind: Kind) -> Self {
        let texts: Vec<String> = match kind {
            Kind::Source => {
                let source: Vec<&str> = SOURCES[random.below(SOURCES.len())].lines().collect();
                let start = random.below(source.len() - 20);
                let len = 20 + random.below(180);
                source[start..].iter().take(len).map(|&line| line.to_owned()).collect()
            }
            Kind::Repetitive => {
                let alphabet = 2 + random.below(8);
                (0..=random.below(30)).map(|_| format!("l{}", random.below(alphabet))).collect()
            }
        };
        let lines = (0..).zip(texts).map(|(id, text)| Line { text, id }).collect::<Vec<_>>();
        let next_id = lines.len() as u64;
        Self {
            random,
            lines,
            next_id,
            seen: Seen::default(),
            remembered: Vec::new(),
            contents: Vec::new(),
        }
    }

    fn snapshot(&self) -> Snapshot {
        let mut text = String::new();
        for line in &self.lines {
            text += &line.text;
            text.push('\n');
        }
        let snapshot = Snapshot::new(text.as_bytes());
        snapshot.unwrap_or_else(|error| unreachable!("lines are text: {error}"))
    }

    /// Reads the file and shows `len` rows from `start`.
    fn read(&mut self, start: usize, len: usize) {
        let now = self.snapshot();
        let end = start.saturating_add(len).min(self.lines.len());
        let whole = (start..end).map(LineNo::from_index).map(|line| (line, line)).collect();
        self.seen.saw(&sight(&now, whole));
        self.remember(start..end, &now);
    }

    fn remember(&mut self, rows: impl Iterator<Item = usize>, now: &Snapshot) {
        self.contents.push(self.lines.clone());
        let content = self.contents.len() - 1;
        for index in rows {
            if self.remembered.len() <= index {
                self.remembered.resize(index + 1, None);
            }
            let check = now.line_digests()[index].check();
            self.remembered[index] =
                Some(Row { check, line: self.lines[index].clone(), content });
        }
    }

    /// Inserts or deletes through the engine, as the session's own edit.
    fn own_edit(&mut self) {
        let now = self.snapshot();
        self.seen.saw(&sight(&now, Vec::new()));
        self.contents.push(self.lines.clone());
        let at = self.random.below(self.lines.len());
        let n_lines = 1 + self.random.below(4);
        let Some(digest) = now.line_digests().get(at) else {
            return;
        };
        let anchor = Anchor { line: LineNo::from_index(at), check: digest.check() };
        let (target, payload, fresh) = if self.random.one_in(2) {
            let fresh = self.block(n_lines);
            let payload = fresh.iter().map(|line| line.text.clone()).collect();
            (Target::After(anchor), payload, fresh)
        } else {
            (Target::Delete(anchor, anchor), Vec::new(), Vec::new())
        };
        let Some((draft, shift)) = run(&now, &self.seen, &[], target, payload) else {
            return;
        };
        if fresh.is_empty() {
            self.lines.remove(at);
        } else {
            let below = at + 1;
            self.lines.splice(below..below, fresh);
        }
        let after = self.snapshot();
        assert_eq!(after.digest(), draft.0, "the engine wrote what was asked");
        self.seen.edited(shift);
        self.seen.saw(&draft.1);
        let rows = draft.1.whole.iter().flat_map(|(a, b)| a.index()..b.index() + 1);
        self.remember(rows, &after);
    }

    fn fresh(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Returns new lines: unheard-of ones, or copies of a stretch of the file.
    fn block(&mut self, n_lines: usize) -> Vec<Line> {
        let copy = self.random.below(3);
        let from = self.random.below(self.lines.len());
        (0..n_lines)
            .map(|offset| {
                let id = self.fresh();
                let twin = self.lines.get(from + offset).map(|line| line.text.clone());
                let copied = copy == 0 || (copy == 1 && self.random.one_in(2));
                let text = twin.filter(|_| copied).unwrap_or_else(|| format!("new {id}"));
                Line { text, id }
            })
            .collect()
    }

    /// Lets another program change the file once.
    fn change(&mut self) {
        let n = self.lines.len();
        let start = self.random.below(n + 1);
        let end = (start + 1 + self.random.below(10)).min(n);
        let n_lines = 1 + self.random.below(10);
        match self.random.below(7) {
            0 | 1 => {
                let block = self.block(n_lines);
                self.lines.splice(start..start, block);
            }
            2 => drop(self.lines.drain(start.min(end)..end)),
            3 => {
                let block = self.block(n_lines);
                self.replace(start.min(end)..end, block);
            }
            4 => {
                if let Some(line) = self.lines.get_mut(start) {
                    line.text.push('~');
                }
            }
            5 => {
                let mut block = self.lines[start.min(end)..end].to_vec();
                for line in &mut block {
                    self.next_id += 1;
                    line.id = self.next_id;
                }
                let to = self.random.below(n + 1);
                self.lines.splice(to..to, block);
            }
            _ => {
                let block: Vec<Line> = self.lines.drain(start.min(end)..end).collect();
                let to = self.random.below(self.lines.len() + 1);
                self.lines.splice(to..to, block);
            }
        }
    }

    /// Replaces a block; the lines at its ends that read as before are the same lines.
    fn replace(&mut self, range: std::ops::Range<usize>, mut block: Vec<Line>) {
        let old = &self.lines[range.clone()];
        let head = old.iter().zip(&block).take_while(|(a, b)| a.text == b.text).count();
        for (line, old) in block.iter_mut().zip(old).take(head) {
            line.id = old.id;
        }
        let rest = old.len().min(block.len()) - head;
        let tail = old
            .iter()
            .rev()
            .zip(block.iter().rev())
            .take(rest)
            .take_while(|(a, b)| a.text == b.text)
            .count();
        for (line, old) in block.iter_mut().rev().zip(old.iter().rev()).take(tail) {
            line.id = old.id;
        }
        self.lines.splice(range, block);
    }

    /// Sends an edit with remembered anchors and judges what came of it.
    fn edit(&mut self, count: &mut Count) -> Verdict {
        let start = self.random.below(self.remembered.len());
        let len = [1, 1, 2, 3, 8][self.random.below(5)];
        let rows = self.remembered.iter().skip(start).take(len).map_while(Clone::clone);
        let mut wanted: Vec<Row> = rows.collect();
        let of_one = |row: &Row| row.content == wanted[0].content;
        wanted.truncate(wanted.iter().take_while(|row| of_one(row)).count());
        let (Some(head), Some(foot)) = (wanted.first(), wanted.last()) else {
            return Verdict::Right;
        };
        let first = Anchor { line: LineNo::from_index(start), check: head.check };
        let end = LineNo::from_index(start + wanted.len() - 1);
        let last = Anchor { line: end, check: foot.check };
        let (target, wanted) = match self.random.below(4) {
            0 => (Target::After(first), &wanted[..1]),
            1 => (Target::Before(first), &wanted[..1]),
            2 => (Target::Delete(first, last), &wanted[..]),
            _ => (Target::Replace(first, last), &wanted[..]),
        };
        let is_delete = matches!(target, Target::Delete(..));
        let payload = if is_delete { Vec::new() } else { vec!["payload".to_owned()] };
        let accepted = run(&self.snapshot(), &self.seen, &[], target, payload).is_some();
        let stand = |row: &(usize, &Row), fits: fn(&Line, &Line) -> bool| {
            self.lines.get(start + row.0).is_some_and(|line| fits(line, &row.1.line))
        };
        let rows = || wanted.iter().enumerate();
        let reads = rows().all(|row| stand(&row, |a, b| a.text == b.text));
        let itself = rows().all(|row| stand(&row, |a, b| a.id == b.id && a.text == b.text));
        let decided = || rows().all(|(at, row)| self.decided(row, start + at));
        count.trials += 1;
        count.accepted += u64::from(accepted);
        match (reads, itself, accepted) {
            (true, true, true) => count.could_hold += 1,
            (true, true, false) => {
                count.could_hold += 1;
                let plain = rows().all(|(at, row)| self.plain(row, start + at));
                if plain { count.needless += 1 } else { count.undecided += 1 }
            }
            (true, false, true) if decided() => count.alike += 1,
            (true, false, true) => return Verdict::Wrong,
            (true, false, false) => count.twins += 1,
            (false, _, true) => return Verdict::Overwritten,
            (false, _, false) => {}
        }
        Verdict::Right
    }
}

impl World {
    /// Returns whether the texts decide that the line now at `at` is the row that was shown there: from a
    /// content that has it there to the present one, or from each content to the next.
    fn decided(&self, row: &Row, at: usize) -> bool {
        let contents: Vec<&Vec<Line>> =
            self.contents[row.content..].iter().chain([&self.lines]).collect();
        let id = |content: &[Line]| content.get(at).map(|line| line.id);
        let mut decided = vec![true];
        for to in 1..contents.len() {
            let from = |from: usize| {
                let (old, new) = (contents[from], contents[to]);
                decided[from] && (id(old) == id(new) || same(old, new, at))
            };
            let is_decided = (0..to).any(from);
            decided.push(is_decided);
        }
        decided.last() == Some(&true)
    }

    /// Returns whether the texts alone show that the line that stands at `at` still is the row.
    fn plain(&self, row: &Row, at: usize) -> bool {
        let is_it = |content: &&Vec<Line>| content.get(at).is_some_and(|l| l.id == row.line.id);
        self.contents[row.content..]
            .iter()
            .filter(is_it)
            .any(|content| same(content, &self.lines, at))
    }
}

/// Returns whether the texts decide that line `at` of both is one line.
fn same(old: &[Line], new: &[Line], at: usize) -> bool {
    enclosed(old, new, at) || forced(old, new, at)
}

/// Returns whether line `at` stands in an unbroken run of equal lines, and on either side of it, or in
/// its place, a line that is the only one of its kind in both, or an end of both.
fn enclosed(old: &[Line], new: &[Line], at: usize) -> bool {
    let equal = |i: usize| old.get(i).zip(new.get(i)).is_some_and(|(a, b)| a.text == b.text);
    let once =
        |lines: &[Line], text: &str| lines.iter().filter(|l| l.text == text).count() == 1;
    let only = |i: &usize| once(old, &old[*i].text) && once(new, &old[*i].text);
    let above = (0..=at).rev().take_while(|&i| equal(i)).find(|i| *i == 0 || only(i));
    let ends = |i: usize| i + 1 == old.len() && i + 1 == new.len();
    let below = (at..old.len()).take_while(|&i| equal(i)).find(|i| ends(*i) || only(i));
    above.is_some() && below.is_some()
}

/// What an accepted edit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    Overwritten,
    Wrong,
}

/// Returns whether every longest common subsequence of the two whole contents pairs line `at` with line
/// `at`: then the texts themselves say that it is the same line. Written apart from the engine, in full.
fn forced(old: &[Line], new: &[Line], at: usize) -> bool {
    let (n, m) = (old.len(), new.len());
    let same = |i: usize, j: usize| old[i].text == new[j].text;
    let mut before = vec![vec![0u16; m + 1]; n + 1];
    let mut after = before.clone();
    for i in 0..n {
        for j in 0..m {
            let take = before[i][j] + u16::from(same(i, j));
            before[i + 1][j + 1] = take.max(before[i][j + 1]).max(before[i + 1][j]);
        }
    }
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let take = after[i + 1][j + 1] + u16::from(same(i, j));
            after[i][j] = take.max(after[i][j + 1]).max(after[i + 1][j]);
        }
    }
    let longest = after[0][0];
    let skipped = (0..=m).any(|j| before[at][j] + after[at + 1][j] == longest);
    let taken =
        |j: &usize| same(at, *j) && before[at][*j] + 1 + after[at + 1][*j + 1] == longest;
    !skipped && (0..m).filter(taken).eq([at])
}

fn sight(now: &Snapshot, whole: Vec<(LineNo, LineNo)>) -> Sight {
    Sight {
        digest: now.digest(),
        lines: now.line_digests().clone(),
        scope: Scope::Whole,
        whole,
        clipped: Vec::new(),
    }
}

type Written = ((killick::text::Digest, Sight), Shift);

fn run(
    now: &Snapshot,
    seen: &Seen,
    since: &[Shift],
    target: Target,
    payload: Vec<String>,
) -> Option<Written> {
    let ops = vec![Op { target, payload, patch_line: 2 }];
    let patch = FilePatch { place: place(), ops };
    let subject = Subject { patch: &patch, now, seen, since };
    let options = Options { relocation: Relocation::Refuse, echoes: Echoes::Refuse };
    let plan = resolve(&[subject], options).ok()?;
    let draft = apply(plan).into_iter().next()?;
    Some(((draft.digest, draft.sight()), draft.shift()))
}
