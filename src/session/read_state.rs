//! [`ReadState`]: a fold over effects. What the session knows of each file, and what it wrote.
//!
//! What a file's contents prove is hashline's to say; here they are only kept by file.

use std::collections::HashMap;
use std::sync::Arc;

use crate::hashline::{Scope, Seen, Shift, Sight};
use crate::path::Place;
use crate::protocol::{Effect, HeldPatch, MovedLines, SeenFile, SeenReach, TransactionId};
use crate::text::Change;

/// How many patches that were held back are kept; the oldest is forgotten first.
const KEPT_CANDIDATES: usize = 16;

/// What a session knows of the user's files, and the transactions it made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadState {
    files: HashMap<Place, Seen>,
    transactions: Vec<TransactionId>,
    /// Patches that were held back, newest last.
    held: Vec<HeldPatch>,
}

impl ReadState {
    /// Folds one effect in.
    pub fn fold(&mut self, effect: &Effect) {
        match effect {
            Effect::Seen(seen) => self.file(&seen.place).saw(&sight(seen)),
            Effect::Moved(moved) => self.file(&moved.place).edited(shift(moved)),
            Effect::Held(patch) => self.hold(patch),
            Effect::Released { id } => self.held.retain(|held| held.id != *id),
            Effect::Committed { id, files } => {
                self.transactions.push(id.clone());
                for file in files.iter().filter(|file| file.after.is_none()) {
                    self.files.remove(&file.place);
                }
            }
        }
    }

    /// Returns what is known of a file; nothing before it was seen.
    pub fn seen(&self, place: &Place) -> Option<&Seen> {
        self.files.get(place)
    }

    /// Returns every file that was seen.
    pub fn files(&self) -> impl Iterator<Item = (&Place, &Seen)> {
        self.files.iter()
    }

    /// Returns the transactions of this session, newest last.
    pub fn transactions(&self) -> &[TransactionId] {
        &self.transactions
    }

    /// Returns a patch that was held back.
    pub fn held(&self, id: &str) -> Option<&HeldPatch> {
        self.held.iter().find(|held| held.id == id)
    }

    fn hold(&mut self, patch: &HeldPatch) {
        self.held.retain(|held| held.id != patch.id);
        self.held.push(patch.clone());
        if self.held.len() > KEPT_CANDIDATES {
            self.held.remove(0);
        }
    }

    fn file(&mut self, place: &Place) -> &mut Seen {
        self.files.entry(place.clone()).or_default()
    }
}

fn sight(seen: &SeenFile) -> Sight {
    Sight {
        digest: seen.digest,
        lines: Arc::clone(&seen.lines),
        scope: match seen.reach {
            SeenReach::File => Scope::Whole,
            SeenReach::Rows => Scope::Rows,
        },
        whole: seen.whole.clone(),
        clipped: seen.clipped.clone(),
    }
}

fn shift(moved: &MovedLines) -> Shift {
    let change = |(old, new): &(std::ops::Range<usize>, std::ops::Range<usize>)| Change {
        old: old.clone(),
        new: new.clone(),
    };
    Shift {
        before: moved.before.0,
        before_lines: Arc::clone(&moved.before.1),
        after: moved.after.0,
        after_lines: Arc::clone(&moved.after.1),
        changes: moved.changes.iter().map(change).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RelPath;
    use crate::protocol::FileChange;
    use crate::text::{Digest, Snapshot};

    fn place() -> Place {
        Place::in_workspace(RelPath::parse("a").unwrap())
    }

    fn seen(text: &str) -> Effect {
        let snapshot = Snapshot::new(text.as_bytes()).unwrap();
        Effect::Seen(SeenFile {
            place: place(),
            digest: snapshot.digest(),
            lines: Arc::clone(snapshot.line_digests()),
            reach: SeenReach::File,
            whole: Vec::new(),
            clipped: Vec::new(),
        })
    }

    #[test]
    fn the_newest_content_is_the_one_seen_last() {
        let mut state = ReadState::default();
        for text in ["a", "b", "a"] {
            state.fold(&seen(text));
        }
        let known = state.seen(&place()).unwrap();
        assert_eq!(known.newest(), Some(Digest::of(b"a")));
        assert!(known.knows(Digest::of(b"b")));
    }

    #[test]
    fn a_file_that_was_removed_is_forgotten() {
        let mut state = ReadState::default();
        state.fold(&seen("a"));
        let gone = FileChange { place: place(), before: Some(Digest::of(b"a")), after: None };
        state.fold(&Effect::Committed { id: TransactionId(Arc::from("1")), files: vec![gone] });
        assert_eq!(state.seen(&place()), None);
    }
}
