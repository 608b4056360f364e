//! [`ReadState`]: a fold over effects. What the session knows of each file, newest content last.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::path::Place;
use crate::protocol::{Effect, Shown, TransactionId};
use crate::text::{Digest, LineDigest, LineNo};

/// How many contents of one file are remembered; older ones are forgotten first.
pub(super) const VERSIONS_A_FILE: usize = 8;

/// One content of a file that the session has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The digest of the content.
    pub digest: Digest,
    /// The digest of every line.
    pub lines: Arc<[LineDigest]>,
    /// Lines that were shown with characters left out, and never whole.
    pub clipped: BTreeSet<LineNo>,
    /// Lines of over a row's length that were shown whole all the same.
    whole: BTreeSet<LineNo>,
}

/// What a session knows of the user's files, and the transactions it made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadState {
    versions: HashMap<Place, Vec<Version>>,
    transactions: Vec<TransactionId>,
}

impl ReadState {
    /// Folds one effect in.
    pub fn fold(&mut self, effect: &Effect) {
        match effect {
            Effect::Seen { place, digest, lines, shown } => {
                self.see(place, *digest, lines, shown);
            }
            Effect::Committed { id, files } => {
                self.transactions.push(id.clone());
                for file in files.iter().filter(|file| file.after.is_none()) {
                    self.versions.remove(&file.place);
                }
            }
        }
    }

    /// Returns the contents of a file that were seen, newest last.
    pub fn versions(&self, place: &Place) -> &[Version] {
        self.versions.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns the content of a file that was seen last.
    pub fn newest(&self, place: &Place) -> Option<&Version> {
        self.versions(place).last()
    }

    /// Returns the transactions of this session, newest last.
    pub fn transactions(&self) -> &[TransactionId] {
        &self.transactions
    }

    fn see(&mut self, place: &Place, digest: Digest, lines: &Arc<[LineDigest]>, shown: &Shown) {
        let versions = self.versions.entry(place.clone()).or_default();
        let known = versions.iter().position(|version| version.digest == digest);
        let mut version = known.map_or_else(
            || Version {
                digest,
                lines: Arc::clone(lines),
                clipped: BTreeSet::new(),
                whole: BTreeSet::new(),
            },
            |at| versions.remove(at),
        );
        version.whole.extend(&shown.whole);
        version.clipped.extend(&shown.clipped);
        version.clipped.retain(|line| !version.whole.contains(line));
        versions.push(version);
        if versions.len() > VERSIONS_A_FILE {
            versions.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RelPath;
    use crate::text::Snapshot;

    fn place() -> Place {
        Place::in_workspace(RelPath::parse("a").unwrap())
    }

    fn seen(text: &str, whole: &[u64], clipped: &[u64]) -> Effect {
        let snapshot = Snapshot::new(text.as_bytes()).unwrap();
        let line = |n: &u64| LineNo::new(*n).unwrap();
        Effect::Seen {
            place: place(),
            digest: snapshot.digest(),
            lines: Arc::clone(snapshot.line_digests()),
            shown: Shown {
                whole: whole.iter().map(line).collect(),
                clipped: clipped.iter().map(line).collect(),
            },
        }
    }

    #[test]
    fn a_line_shown_whole_is_no_longer_clipped() {
        let mut state = ReadState::default();
        state.fold(&seen("a\nb\n", &[], &[1, 2]));
        state.fold(&seen("a\nb\n", &[2], &[]));
        state.fold(&seen("a\nb\n", &[], &[1, 2]));
        let clipped: Vec<u32> =
            state.newest(&place()).unwrap().clipped.iter().map(|l| l.get()).collect();
        assert_eq!(clipped, [1]);
    }

    #[test]
    fn the_newest_content_is_the_one_seen_last() {
        let mut state = ReadState::default();
        for text in ["a", "b", "a"] {
            state.fold(&seen(text, &[], &[]));
        }
        assert_eq!(state.versions(&place()).len(), 2);
        assert_eq!(state.newest(&place()).unwrap().digest, Digest::of(b"a"));
    }

    #[test]
    fn old_contents_are_forgotten_first() {
        let mut state = ReadState::default();
        for n in 0..20 {
            state.fold(&seen(&n.to_string(), &[], &[]));
        }
        assert_eq!(state.versions(&place()).len(), VERSIONS_A_FILE);
        assert_eq!(state.newest(&place()).unwrap().digest, Digest::of(b"19"));
    }
}
