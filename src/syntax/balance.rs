//! What is wrong with a text's delimiters: a closed vocabulary, each fault with its place. Hot.
//!
//! One pass over the tokens, nothing stored but the stack. It says what is wrong and proposes nothing;
//! that is `repair`. What a reader would refuse for other reasons (an unknown dispatch, a prefix without
//! a form) is no fault here.

use memchr::memchr_iter;

use crate::text::{ByteOffset, LineNo};

use super::dialect::Dialect;
use super::lexer::{Delim, Lexer, TokenKind, Unclosed};

/// How many diagnostics are kept; the rest are counted.
const KEPT: usize = 1000;

/// A place in a text, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The byte.
    pub offset: ByteOffset,
    /// The line.
    pub line: LineNo,
    /// The column, 1-based, in characters.
    pub column: usize,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An opener that nothing closes; the place is the opener's.
    UnclosedOpener(Delim),
    /// A closer that closes nothing.
    UnmatchedCloser(Delim),
    /// A closer of another type than the opener that it meets.
    Mismatch {
        /// What stands there.
        closer: Delim,
        /// What it meets.
        opener: Delim,
        /// Where that was opened.
        opened: Place,
    },
    /// A string, comment, symbol or here string that never ends; the place is where it begins.
    Unterminated(Unclosed),
}

/// One fault and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// What is wrong.
    pub fault: Fault,
    /// Where.
    pub at: Place,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: ", self.at.line, self.at.column)?;
        match self.fault {
            Fault::UnclosedOpener(delim) => write!(f, "`{}` is never closed", delim.opener()),
            Fault::UnmatchedCloser(delim) => write!(f, "`{}` closes nothing", delim.closer()),
            Fault::Mismatch { closer, opener, opened } => write!(
                f,
                "`{}` meets the `{}` of line {}, column {}",
                closer.closer(),
                opener.opener(),
                opened.line,
                opened.column
            ),
            Fault::Unterminated(what) => f.write_str(match what {
                Unclosed::String => "a string never ends",
                Unclosed::BlockComment => "a block comment never ends",
                Unclosed::Symbol => "a `|` never ends",
                Unclosed::HereString => "a here string never ends",
            }),
        }
    }
}

/// How many faults of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    unclosed: usize,
    unmatched: usize,
    mismatched: usize,
    unterminated: usize,
}

impl Counts {
    /// Returns whether no kind has more faults than in `other`.
    pub(super) fn within(self, other: Self) -> bool {
        self.unclosed <= other.unclosed
            && self.unmatched <= other.unmatched
            && self.mismatched <= other.mismatched
            && self.unterminated <= other.unterminated
    }

    fn total(self) -> usize {
        self.unclosed + self.unmatched + self.mismatched + self.unterminated
    }
}

/// What a text's delimiters say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The faults in text order, the first thousand of them.
    pub diagnostics: Vec<Diagnostic>,
    /// How many forms stand at top level: lists and atoms, prefixes and comments not counted.
    pub n_top_forms: usize,
    pub(super) counts: Counts,
}

impl Balance {
    /// Returns whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.counts.total() == 0
    }

    /// Returns how many faults there are, also those that are not kept.
    pub fn n_faults(&self) -> usize {
        self.counts.total()
    }

    /// Returns the fault to show first: the first in the text.
    pub fn first(&self) -> Option<&Diagnostic> {
        self.diagnostics.first()
    }
}

/// A fault by its offset, before lines are counted.
enum Raw {
    Unclosed(Delim),
    Unmatched(Delim),
    Mismatch { closer: Delim, opener: Delim, opened: usize },
    Unterminated(Unclosed),
}

#[derive(Default)]
struct Pass {
    stack: Vec<(Delim, usize)>,
    found: Vec<(usize, Raw)>,
    counts: Counts,
    n_top_forms: usize,
}

impl Pass {
    fn note(&mut self, at: usize, raw: Raw) {
        match raw {
            Raw::Unclosed(_) => self.counts.unclosed += 1,
            Raw::Unmatched(_) => self.counts.unmatched += 1,
            Raw::Mismatch { .. } => self.counts.mismatched += 1,
            Raw::Unterminated(_) => self.counts.unterminated += 1,
        }
        if self.found.len() < KEPT {
            self.found.push((at, raw));
        }
    }

    fn datum(&mut self) {
        self.n_top_forms += usize::from(self.stack.is_empty());
    }

    fn close(&mut self, closer: Delim, at: usize) {
        match self.stack.pop() {
            Some((opener, _)) if opener == closer => {}
            Some((opener, opened)) => {
                self.note(at, Raw::Mismatch { closer, opener, opened });
            }
            None => self.note(at, Raw::Unmatched(closer)),
        }
    }

    fn run(&mut self, text: &str, dialect: &'static Dialect) {
        for token in Lexer::new(text, dialect) {
            let at = token.span.start;
            match token.kind {
                TokenKind::Blank
                | TokenKind::LineComment
                | TokenKind::BlockComment
                | TokenKind::Prefix(_) => {}
                TokenKind::Open(delim) => {
                    self.datum();
                    self.stack.push((delim, at));
                }
                TokenKind::Close(delim) => self.close(delim, at),
                TokenKind::String | TokenKind::Atom => self.datum(),
                TokenKind::Unclosed(what) => {
                    self.datum();
                    self.note(at, Raw::Unterminated(what));
                }
            }
        }
        for (delim, at) in std::mem::take(&mut self.stack) {
            self.note(at, Raw::Unclosed(delim));
        }
    }
}

/// Turns ascending offsets into places without reading any part of the text twice.
struct Places<'t> {
    text: &'t str,
    at: usize,
    line_idx: usize,
    column: usize,
}

impl Places<'_> {
    fn place(&mut self, offset: usize) -> Place {
        let passed = self.text.get(self.at..offset).unwrap_or_default();
        self.line_idx += memchr_iter(b'\n', passed.as_bytes()).count();
        let (line, column) = match passed.rsplit_once('\n') {
            Some((_, line)) => (line, 1),
            None => (passed, self.column),
        };
        self.column = column + line.trim_start_matches('\u{FEFF}').chars().count();
        self.at = offset;
        Place {
            offset: ByteOffset(offset),
            line: LineNo::from_index(self.line_idx),
            column: self.column,
        }
    }
}

/// Finds every fault of a text's delimiters.
///
/// Cost: one pass; at least 150 MB a second.
pub fn balance(text: &str, dialect: &'static Dialect) -> Balance {
    let mut pass = Pass::default();
    pass.run(text, dialect);
    pass.found.sort_by_key(|&(at, _)| at);
    let mut offsets: Vec<usize> =
        pass.found.iter().flat_map(|(at, raw)| offsets(*at, raw)).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut places = Places { text, at: 0, line_idx: 0, column: 1 };
    let places: Vec<Place> = offsets.into_iter().map(|at| places.place(at)).collect();
    let diagnostics =
        pass.found.iter().filter_map(|(at, raw)| diagnostic(*at, raw, &places)).collect();
    Balance { diagnostics, n_top_forms: pass.n_top_forms, counts: pass.counts }
}

fn offsets(at: usize, raw: &Raw) -> impl Iterator<Item = usize> + use<> {
    let opened = match raw {
        Raw::Mismatch { opened, .. } => Some(*opened),
        Raw::Unclosed(_) | Raw::Unmatched(_) | Raw::Unterminated(_) => None,
    };
    std::iter::once(at).chain(opened)
}

fn diagnostic(at: usize, raw: &Raw, places: &[Place]) -> Option<Diagnostic> {
    let place = |at: usize| {
        let found = places.binary_search_by_key(&at, |place| place.offset.0).ok()?;
        places.get(found).copied()
    };
    let fault = match *raw {
        Raw::Unclosed(delim) => Fault::UnclosedOpener(delim),
        Raw::Unmatched(delim) => Fault::UnmatchedCloser(delim),
        Raw::Mismatch { closer, opener, opened } => {
            Fault::Mismatch { closer, opener, opened: place(opened)? }
        }
        Raw::Unterminated(what) => Fault::Unterminated(what),
    };
    Some(Diagnostic { fault, at: place(at)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Vec<String> {
        balance(text, Dialect::CLOJURE).diagnostics.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_fault_has_its_place() {
        assert_eq!(
            says("(a [é (b]\n"),
            [
                "line 1, column 1: `(` is never closed",
                "line 1, column 4: `[` is never closed",
                "line 1, column 9: `]` meets the `(` of line 1, column 7",
            ]
        );
        assert_eq!(says("\u{FEFF})"), ["line 1, column 1: `)` closes nothing"]);
        assert_eq!(says("a\r\n \"b"), ["line 2, column 2: a string never ends"]);
    }

    #[test]
    fn faults_past_the_kept_ones_are_counted() {
        let seen = balance(&"(".repeat(5000), Dialect::SCHEME);
        assert_eq!((seen.n_faults(), seen.diagnostics.len()), (5000, KEPT));
    }

    #[test]
    fn top_forms_are_lists_and_atoms() {
        assert_eq!(balance("'(a) b \"c\" ;d\n", Dialect::SCHEME).n_top_forms, 3);
    }
}
