//! The names in one open folder, with what each is.
//!
//! Nothing is filtered but `.` and `..`; nothing is opened. A folder of any size takes bounded memory: of
//! more than `keep` names the bytewise first `keep` stay, so what stays does not depend on the order in
//! which the file system tells them.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType};

use super::meta::file_type;

/// How many names are read between two questions whether to stop.
const NAMES_PER_CHECK: usize = 1024;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    File,
    Folder,
    Link,
    Other,
}

/// The names in a folder, in no order unless [`Names::sort`] was called.
#[derive(Debug, Default)]
pub(super) struct Names {
    arena: String,
    names: Vec<(std::ops::Range<usize>, What)>,
    /// How many names the folder has, those that are not UTF-8 included.
    pub(super) n_seen: usize,
    /// How many of them are not UTF-8; they are left out.
    pub(super) n_not_utf8: usize,
}

/// Why a folder's names are not known.
#[derive(Debug)]
pub(super) enum Unread {
    /// The caller wants no more.
    Stopped,
    /// The system refused.
    Io(io::Error),
}

impl Names {
    /// Reads the names of an open folder.
    pub(super) fn read(
        folder: OwnedFd,
        keep: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, Unread> {
        let mut names = Self::default();
        let mut dir = Dir::new(folder).map_err(|error| Unread::Io(error.into()))?;
        while let Some(entry) = dir.read() {
            let entry = entry.map_err(|error| Unread::Io(error.into()))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            names.n_seen += 1;
            if names.n_seen % NAMES_PER_CHECK == 0 && stop() {
                return Err(Unread::Stopped);
            }
            match name.to_str() {
                Ok(text) => names.push(text, what(&dir, name, entry.file_type())),
                Err(_) => names.n_not_utf8 += 1,
            }
            if names.names.len() >= keep.saturating_mul(2).max(NAMES_PER_CHECK) {
                names.shrink(keep);
            }
        }
        if names.names.len() > keep {
            names.shrink(keep);
        }
        Ok(names)
    }

    /// Returns each name and what it stands for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, What)> {
        self.names.iter().map(|(range, what)| (self.text(range), *what))
    }

    /// Returns what a name stands for, if it is there.
    pub(super) fn find(&self, name: &str) -> Option<What> {
        self.iter().find(|&(other, _)| other == name).map(|(_, what)| what)
    }

    /// Sorts the names bytewise.
    pub(super) fn sort(&mut self) {
        let arena = &self.arena;
        self.names
            .sort_unstable_by(|(a, _), (b, _)| arena.get(a.clone()).cmp(&arena.get(b.clone())));
    }

    fn push(&mut self, name: &str, what: What) {
        let start = self.arena.len();
        self.arena.push_str(name);
        self.names.push((start..self.arena.len(), what));
    }

    /// Keeps the bytewise first `keep` names.
    fn shrink(&mut self, keep: usize) {
        self.sort();
        self.names.truncate(keep);
        let old = std::mem::take(&mut self.arena);
        for (range, _) in &mut self.names {
            let start = self.arena.len();
            self.arena.push_str(old.get(range.clone()).unwrap_or_default());
            *range = start..self.arena.len();
        }
    }

    fn text(&self, range: &std::ops::Range<usize>) -> &str {
        self.arena.get(range.clone()).unwrap_or_default()
    }
}

fn what(dir: &Dir, name: &std::ffi::CStr, told: FileType) -> What {
    match told {
        FileType::RegularFile => What::File,
        FileType::Directory => What::Folder,
        FileType::Symlink => What::Link,
        // Some file systems do not tell.
        FileType::Unknown => ask(dir, name),
        _ => What::Other,
    }
}

fn ask(dir: &Dir, name: &std::ffi::CStr) -> What {
    let stat =
        dir.fd().and_then(|fd| rustix::fs::statat(fd.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW));
    match stat.map(|stat| file_type(&stat)) {
        Ok(FileType::RegularFile) => What::File,
        Ok(FileType::Directory) => What::Folder,
        Ok(FileType::Symlink) => What::Link,
        _ => What::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::beneath::open_dir;
    use super::super::fixture::Laid;
    use super::*;
    use crate::path::RelPath;

    #[test]
    fn of_too_many_names_the_first_stay() {
        let laid = Laid::new();
        for n in 0..2500 {
            laid.write(format!("f{n:04}"), "");
        }
        let open = || open_dir(laid.workspace.roots()[0].dir(), &RelPath::root()).unwrap();
        let mut names = Names::read(open(), 3, &|| false).unwrap();
        names.sort();
        let kept: Vec<_> = names.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(kept, ["f0000", "f0001", "f0002"]);
        assert_eq!(names.n_seen, 2500);
        assert!(matches!(Names::read(open(), 9, &|| true), Err(Unread::Stopped)));
    }
}
