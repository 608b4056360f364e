//! What a tool call did to the session's knowledge and to the user's files.
//!
//! Read-state changes only by folding these, so that a replay of logged effects rebuilds it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::path::Place;
use crate::text::{Digest, LineDigest, LineNo};

/// One thing that a call saw or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The session saw a content of a file.
    Seen(SeenFile),
    /// An edit of the session's own moved lines of a file.
    Moved(MovedLines),
    /// A patch was held back, to be accepted or not.
    Held(HeldPatch),
    /// A patch that was held back was accepted.
    Released {
        /// Its name.
        id: String,
    },
    /// A transaction took effect.
    Committed {
        /// Its name in the journal.
        id: TransactionId,
        /// Every file that it changed.
        files: Vec<FileChange>,
    },
}

/// One sight of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// The file, through its symlinks.
    pub place: Place,
    /// The content.
    pub digest: Digest,
    /// The digest of every line of it.
    pub lines: Arc<[LineDigest]>,
    /// How much of it is known by this.
    pub reach: SeenReach,
    /// Rows that were shown with their anchors and every character, as inclusive ranges in order.
    pub whole: Vec<(LineNo, LineNo)>,
    /// Rows of which some characters were left out.
    pub clipped: Vec<LineNo>,
}

/// How much of a content one sight makes known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeenReach {
    /// Every line, shown or not.
    File,
    /// Only the rows that were shown.
    Rows,
}

/// How an edit moved the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedLines {
    /// The file, through its symlinks.
    pub place: Place,
    /// The content that was edited, and the digests of its lines.
    pub before: (Digest, Arc<[LineDigest]>),
    /// The content that the edit left, and the digests of its lines.
    pub after: (Digest, Arc<[LineDigest]>),
    /// The stretches that were replaced: 0-based lines of the one content, and of the other.
    pub changes: Vec<(Range<usize>, Range<usize>)>,
}

/// A patch that was not written: every file that it would change, as it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPatch {
    /// Its name: lower-case hex digits.
    pub id: String,
    /// Its files.
    pub files: Vec<HeldFile>,
}

/// One file of a patch that was held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFile {
    /// The file, through its symlinks.
    pub place: Place,
    /// The content that the patch was made for.
    pub base: Digest,
    /// The content that it would leave.
    pub after: Arc<[u8]>,
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
