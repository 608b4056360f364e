//! Why a patch was refused: every problem at once, as data, and the rows that a refusal shows.
//!
//! A problem says where, what was observed, and carries the rows as they are now; [`super::report`] writes
//! it. A refused patch has changed nothing.

use super::grammar::Fault;
use super::patch::Role;
use super::seen::Sight;
use crate::code::Code;
use crate::path::Place;
use crate::text::LineNo;

/// One reason for a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub code: Code,
    /// The file, where there is one.
    pub place: Option<Place>,
    /// The line as the op named it.
    pub line: Option<LineNo>,
    /// What that line is to its op.
    pub role: Option<Role>,
    /// What was observed.
    pub cause: Cause,
    /// Anchored rows as they are now, each with its newline; may be empty.
    pub rows: String,
    /// Where the lines that were seen stand now, if at exactly one place.
    pub stands: Option<(LineNo, LineNo)>,
}

/// What was observed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The text is no patch.
    #[error("patch line {0}: {1}")]
    Patch(usize, Fault),
    /// The session has not read the file.
    #[error("the file has not been read in this session; read it first")]
    Unread,
    /// The line is past the end.
    #[error("there is no line {0}; the file has {n}", n = crate::text::count(*.1, "line"))]
    PastEnd(LineNo, usize),
    /// The check is not that of any content of the line that was seen.
    #[error("{0} is not the anchor of line {line}; it is {1} now", line = .0.line)]
    Check(super::anchor::Anchor, super::anchor::Anchor),
    /// The line has that check now, but the session has not seen it so.
    #[error("line {0} changed since it was seen")]
    NotSeen(LineNo),
    /// The line holds something else than it did.
    #[error("line {0} changed since it was seen")]
    Changed(LineNo),
    /// The line reads the same, but may be another one.
    #[error(
        "the file changed around line {0}, and that line cannot be told from another that reads the same"
    )]
    Unproved(LineNo),
    /// An edit of the session changed or moved the line.
    #[error("an earlier edit changed or moved line {0}")]
    Shifted(LineNo),
    /// An earlier edit of the same reply changed the line.
    #[error(
        "an earlier edit of this reply changed line {0}; anchors mean the numbering before the first"
    )]
    Ours(LineNo),
    /// The anchor fits a line of an older content and another line of the present one.
    #[error(
        "the anchor fits the line that was {0} before the file changed and the one that is {0} now; row {0} was not shown since"
    )]
    Ambiguous(LineNo),
    /// The row was shown too long ago.
    #[error("row {0} was shown too long ago to be relied on")]
    Forgotten(LineNo),
    /// The two anchors of a range belong to different contents.
    #[error(
        "the two ends of the range were read at different times, and the file changed between"
    )]
    Torn,
    /// Two ops touch.
    #[error("{first} and {second} touch the same lines; make one op of them")]
    Overlap {
        /// The op that reaches furthest.
        first: String,
        /// The op that runs into it.
        second: String,
    },
    /// A line to be replaced was never shown whole.
    #[error(
        "line {0} was shown in part only and would be replaced unseen; read it with start and end {0}"
    )]
    Clipped(LineNo),
    /// A line to be replaced is longer than what a result shows.
    #[error(
        "line {0} is too long to be shown whole; change a part of it with `replace`, or delete it and insert"
    )]
    TooLong(LineNo),
    /// A payload row begins with an anchor.
    #[error(
        "the payload row {row:?} begins with the anchor of line {line}; leave the anchor out, or send literal: true to mean it"
    )]
    Echoed {
        /// The row's beginning.
        row: String,
        /// The line that the anchor names.
        line: LineNo,
    },
    /// The text to replace is empty.
    #[error("old_string is empty; to insert, use edit")]
    EmptyOld,
    /// The text to put in cannot stand in a file.
    #[error(
        "new_string cannot hold a NUL byte or a carriage return that ends a line; line endings are taken from the file"
    )]
    BadNew,
    /// The text to replace is not there.
    #[error("old_string does not occur in the file{0}")]
    OldNotFound(Near),
    /// The text to replace is there several times.
    #[error(
        "old_string occurs {n} times, at lines {lines}; add lines around it until it occurs once, or send replace_all: true"
    )]
    OldNotUnique {
        /// How often.
        n: usize,
        /// The first lines of the occurrences.
        lines: String,
    },
    /// A tool's own words for a problem that is none of the language's.
    #[error("{0}")]
    Said(String),
}

/// What comes near a text that does not occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Near {
    /// Nothing is near.
    Nothing,
    /// A line is equal but for its blanks.
    Blanks(LineNo),
    /// A line differs first at a character.
    Character {
        /// The line.
        line: LineNo,
        /// The 1-based character of the line.
        column: usize,
        /// What stands there.
        found: char,
        /// What the text has there.
        wanted: char,
    },
    /// So many first lines of the text are there, from a line on.
    Head {
        /// The line where they begin.
        line: LineNo,
        /// How many lines are equal.
        n_lines: usize,
    },
}

impl std::fmt::Display for Near {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Blanks(line) => write!(f, "; line {line} differs in its blanks only"),
            Self::Character { line, column, found, wanted } => write!(
                f,
                "; line {line} has U+{:04X} at character {column}, old_string has U+{:04X}",
                u32::from(*found),
                u32::from(*wanted)
            ),
            Self::Head { line, n_lines } => write!(
                f,
                "; its first {} at line {line}, the next line differs",
                if *n_lines == 1 {
                    "line stands".to_owned()
                } else {
                    format!("{n_lines} lines stand")
                }
            ),
        }
    }
}

/// A refused patch: what is wrong, and what the refusal shows of each file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Every problem, in patch order; the text shows the first of many and counts the rest.
    pub problems: Vec<Problem>,
    /// The rows that the refusal shows, by file: seen at their numbers in the present content.
    pub sights: Vec<(Place, Sight)>,
}

impl Problem {
    /// Returns a fault of the patch's text.
    pub fn patch(line: usize, fault: Fault) -> Self {
        Self::bare(fault.code(), None, Cause::Patch(line, fault))
    }

    /// Returns a problem that a tool found by itself, in its own words.
    pub fn said(code: Code, place: Option<Place>, words: impl Into<String>) -> Self {
        Self::bare(code, place, Cause::Said(words.into()))
    }

    /// Returns a problem without a line and without rows.
    pub(super) fn bare(code: Code, place: Option<Place>, cause: Cause) -> Self {
        Self { code, place, line: None, role: None, cause, rows: String::new(), stands: None }
    }
}

impl From<Vec<Problem>> for Refusal {
    fn from(problems: Vec<Problem>) -> Self {
        Self { problems, sights: Vec::new() }
    }
}

impl Refusal {
    /// Adds the problems and rows of another refusal.
    pub fn extend(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.sights.extend(other.sights);
    }

    /// Returns whether nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }
}
