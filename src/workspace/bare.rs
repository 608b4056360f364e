//! Whether a place lies in a repository's store that is not called `.git`: a bare repository, or a folder
//! that a `.git` file leads to.
//!
//! Such a store has no name to go by, so it is known as git itself knows it: by `HEAD`, `objects` and
//! `refs`, or, for a worktree's part of one, by `HEAD` and `commondir`. Only folders beneath the place's
//! root are looked at.

use std::os::fd::AsFd as _;

use rustix::fs::{AtFlags, Mode};

use crate::path::{Place, RelPath};

use super::beneath::open_beneath;
use super::resolve::LOOKUP;
use super::root::Root;
use super::roots::Workspace;

impl Workspace {
    /// Returns whether a canonical place is, or lies in, a repository's store of any name.
    ///
    /// Cost: up to five look-ups for each folder on the way.
    pub fn is_in_bare_store(&self, place: &Place) -> bool {
        let Some(root) = self.root(&place.root) else {
            return false;
        };
        let mut at = Some(place.path.clone());
        while let Some(path) = at {
            if is_store_folder(root, &path) {
                return true;
            }
            at = path.parent();
        }
        false
    }
}

fn is_store_folder(root: &Root, path: &RelPath) -> bool {
    let Ok(dir) = open_beneath(root.dir(), path, LOOKUP, Mode::empty()) else {
        return false;
    };
    let holds =
        |name: &str| rustix::fs::statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs")))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Laid, place};

    #[test]
    fn a_store_is_known_by_what_it_holds() {
        let laid = Laid::with(&[
            ("bare.git/HEAD", ""),
            ("bare.git/objects/x", ""),
            ("bare.git/refs/x", ""),
            ("bare.git/worktrees/w/HEAD", ""),
            ("part/HEAD", ""),
            ("part/commondir", ""),
            ("src/HEAD", ""),
            ("src/objects/x", ""),
        ]);
        let is_in = |path: &str| laid.workspace.is_in_bare_store(&place(path));
        assert!(is_in("bare.git/hooks/post-update"));
        assert!(is_in("bare.git"));
        assert!(is_in("bare.git/new/deep/file"));
        assert!(is_in("part/HEAD"));
        assert!(!is_in("src/HEAD"));
        assert!(!is_in("src/objects/x"));
    }
}
