//! What a session knows of one file: every content that it has seen, what was shown of each, and how its
//! own edits moved lines.
//!
//! A [`Seen`] is built by folding, oldest first: [`Seen::saw`] for each content of which rows were shown
//! or that was read whole, [`Seen::edited`] for each edit of the session's own, before the content that
//! the edit left. It decides nothing; [`super::resolve()`] does.
//!
//! Invariant: contents stand oldest first and no digest twice; a content that is seen again becomes the
//! newest, and only what is shown of it from then on counts as served from it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::anchor::Anchor;
use super::line_set::LineSet;
use crate::text::{Change, Digest, LineDigest, LineNo};

/// How many contents of one file are kept; the oldest is forgotten first.
pub const KEPT_CONTENTS: usize = 64;

/// How many line digests of one file are kept over all contents (32 MiB).
pub const KEPT_LINES: usize = 1 << 21;

/// How much of a content the session knows by one sight of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every line, shown or not: it was read, searched, written or edited.
    Whole,
    /// Only the rows that were shown: a refusal showed them.
    Rows,
}

/// One sight of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The content.
    pub digest: Digest,
    /// The digest of each of its lines.
    pub lines: Arc<[LineDigest]>,
    /// How much of it is known by this.
    pub scope: Scope,
    /// Rows that were shown, with their anchors and every character, as inclusive ranges.
    pub whole: Vec<(LineNo, LineNo)>,
    /// Rows of which some characters were left out.
    pub clipped: Vec<LineNo>,
}

/// How an edit of the session's own moved lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The content that was edited.
    pub before: Digest,
    /// The digests of its lines.
    pub before_lines: Arc<[LineDigest]>,
    /// The content that the edit left.
    pub after: Digest,
    /// The digests of its lines.
    pub after_lines: Arc<[LineDigest]>,
    /// The stretches that the edit replaced, in order; an insert is an empty `old`.
    pub changes: Vec<Change>,
}

/// What a session knows of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    contents: Vec<Known>,
    edits: Vec<(u64, Shift)>,
    /// Lines that were served from contents that are kept no longer.
    forgotten: LineSet,
    clock: u64,
}

/// One content that the session knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) digest: Digest,
    pub(super) lines: Arc<[LineDigest]>,
    scope: Scope,
    /// When it became the newest.
    since: u64,
    /// Lines shown since then.
    served: LineSet,
    /// Lines ever shown with every character.
    whole: LineSet,
    /// Lines ever shown in part.
    clipped: LineSet,
}

impl Seen {
    /// Returns whether the file was read: some content of it is known whole.
    pub fn is_read(&self) -> bool {
        self.contents.iter().any(|known| known.scope == Scope::Whole)
    }

    /// Returns the newest content that was seen, or nothing before the first sight.
    pub fn newest(&self) -> Option<Digest> {
        self.contents.last().map(|known| known.digest)
    }

    /// Returns whether this content was seen whole.
    pub fn knows(&self, digest: Digest) -> bool {
        self.contents.iter().any(|known| known.digest == digest && known.scope == Scope::Whole)
    }

    /// Returns the anchors of the newest content that were served since it became that, in line order.
    pub fn served(&self) -> Vec<Anchor> {
        let Some(known) = self.contents.last() else { return Vec::new() };
        let anchor = |index: usize| {
            let check = known.lines.get(index)?.check();
            Some(Anchor { line: LineNo::from_index(index), check })
        };
        known.served.iter().filter_map(anchor).collect()
    }

    /// Folds in one sight of a content, which becomes the newest.
    ///
    /// Rows without anchors (a raw read) belong in no list but `clipped`.
    pub fn saw(&mut self, sight: &Sight) {
        self.clock += 1;
        let known = match self.contents.iter().position(|known| known.digest == sight.digest) {
            Some(at) => {
                let newest = at + 1 == self.contents.len();
                let mut known = self.contents.remove(at);
                if !newest {
                    known.since = self.clock;
                    known.served = LineSet::default();
                }
                known
            }
            None => Known::new(sight, self.clock),
        };
        self.contents.push(known);
        if let Some(known) = self.contents.last_mut() {
            known.add(sight);
        }
        self.forget();
    }

    /// Folds in an edit of the session's own; the content that it left is seen next.
    pub fn edited(&mut self, shift: Shift) {
        self.clock += 1;
        self.edits.push((self.clock, shift));
        if self.edits.len() > KEPT_CONTENTS {
            self.edits.remove(0);
            self.drop_oldest();
        }
    }

    /// Returns the contents, oldest first.
    pub(super) fn contents(&self) -> &[Known] {
        &self.contents
    }

    /// Returns the session's edits since a content became the newest, oldest first.
    pub(super) fn edits_since(&self, known: &Known) -> impl Iterator<Item = &Shift> {
        let since = known.since;
        self.edits.iter().filter(move |(when, _)| *when > since).map(|(_, shift)| shift)
    }

    /// Returns whether a row of this number was served from a content that is kept no longer.
    pub(super) fn has_forgotten(&self, line: usize) -> bool {
        self.forgotten.contains(line)
    }

    /// Returns the lines, by content, that were shown in part and never whole. Cost: nothing where no line
    /// was ever shown in part.
    pub(super) fn clipped(&self) -> HashSet<LineDigest> {
        let mut clipped: HashSet<LineDigest> =
            self.contents.iter().flat_map(|known| known.digests(&known.clipped)).collect();
        if !clipped.is_empty() {
            for digest in self.contents.iter().flat_map(|known| known.digests(&known.whole)) {
                clipped.remove(&digest);
            }
        }
        clipped
    }

    fn forget(&mut self) {
        let n_lines =
            |contents: &[Known]| contents.iter().map(|k| k.lines.len()).sum::<usize>();
        while self.contents.len() > KEPT_CONTENTS
            || (self.contents.len() > 2 && n_lines(&self.contents) > KEPT_LINES)
        {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if self.contents.len() > 1 {
            let oldest = self.contents.remove(0);
            self.forgotten.extend(&oldest.served);
        }
        let kept = self.contents.first().map_or(0, |known| known.since);
        self.edits.retain(|(when, _)| *when > kept);
    }
}

impl Known {
    fn new(sight: &Sight, now: u64) -> Self {
        Self {
            digest: sight.digest,
            lines: Arc::clone(&sight.lines),
            scope: sight.scope,
            since: now,
            served: LineSet::default(),
            whole: LineSet::default(),
            clipped: LineSet::default(),
        }
    }

    fn add(&mut self, sight: &Sight) {
        if sight.scope == Scope::Whole {
            self.scope = Scope::Whole;
        }
        for &(first, last) in &sight.whole {
            let range = first.index()..(last.index() + 1).min(self.lines.len());
            self.served.insert(range.clone());
            self.whole.insert(range);
        }
        for line in &sight.clipped {
            let range: Range<usize> = line.index()..(line.index() + 1).min(self.lines.len());
            if sight.scope == Scope::Rows {
                self.served.insert(range.clone());
            }
            self.clipped.insert(range);
        }
    }

    /// Returns whether the session knows line `index` of this content.
    pub(super) fn knows(&self, index: usize) -> bool {
        match self.scope {
            Scope::Whole => index < self.lines.len(),
            Scope::Rows => self.served.contains(index),
        }
    }

    /// Returns the end of the stretch of known lines that holds line `index`, if it is known.
    pub(super) fn stretch(&self, index: usize) -> Option<usize> {
        match self.scope {
            Scope::Whole => (index < self.lines.len()).then_some(self.lines.len()),
            Scope::Rows => self.served.stretch(index),
        }
    }

    /// Returns whether row `index` was shown since this content became the newest.
    pub(super) fn served(&self, index: usize) -> bool {
        self.served.contains(index)
    }

    /// Returns whether every line is known.
    pub(super) fn is_whole(&self) -> bool {
        self.scope == Scope::Whole
    }

    fn digests<'a>(&'a self, set: &'a LineSet) -> impl Iterator<Item = LineDigest> + 'a {
        set.iter().filter_map(|index| self.lines.get(index).copied())
    }
}
