//! What find, search and `list_dir` say about what they left out: each note in parentheses on its own line.

use crate::text::count;
use crate::workspace::{Stop, WalkNotes};

/// Returns the notes of a walk, in a fixed order; none for what did not happen.
pub(super) fn of_walk(notes: &WalkNotes) -> Vec<String> {
    let said = [
        (
            notes.n_ignored,
            "entry",
            "ignored by the repository and left out; pass ignored: true to include",
        ),
        (notes.n_outside_scope, "entry", "outside what this session may read and left out"),
        (notes.n_unreadable, "folder", "unreadable and left out"),
        (notes.n_not_utf8, "name", "not UTF-8 and left out"),
        (notes.n_escaped, "symlink", "leading out of the workspace and left out"),
    ];
    let mut lines: Vec<String> = said
        .into_iter()
        .filter(|&(n, ..)| n > 0)
        .map(|(n, noun, what)| format!("({} {what})", count(n, noun)))
        .collect();
    lines.extend(notes.stopped.map(of_stop));
    lines
}

fn of_stop(stop: Stop) -> String {
    match stop {
        Stop::EntryLimit => {
            "(the walk stopped at 100,000 entries: this is a part; name a folder to see the rest)"
        }
        Stop::TimeLimit => "(the walk stopped after 10 s: this is a part; name a folder to see the rest)",
        Stop::Cancelled => "(the walk was withdrawn: this is a part)",
    }
    .to_owned()
}
