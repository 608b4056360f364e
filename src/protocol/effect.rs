//! What a tool call did to the session's knowledge and to the user's files.
//!
//! Read-state changes only by folding these, so that a replay of logged effects rebuilds it.

use std::fmt;
use std::sync::Arc;

use crate::path::Place;
use crate::text::{Digest, LineDigest, LineNo};

/// One thing that a call saw or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The session now knows this content of a file, whole; `shown` says which of its rows were seen.
    Seen {
        /// The file, through its symlinks.
        place: Place,
        /// The content that was read.
        digest: Digest,
        /// The digest of every line of that content.
        lines: Arc<[LineDigest]>,
        /// The rows that the result showed.
        shown: Shown,
    },
    /// A transaction took effect.
    Committed {
        /// Its name in the journal.
        id: TransactionId,
        /// Every file that it changed.
        files: Vec<FileChange>,
    },
}

/// Which lines of a content were shown in part, and which long ones whole.
///
/// Lines that fit a row, and lines that were not shown, are in neither list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Lines longer than a row that were shown with every character.
    pub whole: Vec<LineNo>,
    /// Lines of which some characters were left out.
    pub clipped: Vec<LineNo>,
}

/// One file of a transaction: its digests before and after; none where there was or is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, through its symlinks.
    pub place: Place,
    /// The content that was replaced.
    pub before: Option<Digest>,
    /// The content that stands there now.
    pub after: Option<Digest>,
}

/// Names a transaction in the journal: a sortable text of digits, lower-case letters and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransactionId(pub Arc<str>);

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
