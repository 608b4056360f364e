//! The listing of a folder to a small depth: folders first, then files, with sizes.
//!
//! Left out and counted is what find leaves out, and folders that tools fill, where no rule speaks of
//! them. Rows are chosen level by level, so a full folder deep down hides nothing above it. Rendering is
//! the caller's.

use rustix::fs::AtFlags;

use crate::path::{Place, RelPath};

use super::beneath::open_dir;
use super::folder::{Unread, What};
use super::forbidden::is_store;
use super::ignore_rules::Rules;
use super::load::{LoadError, refused};
use super::meta::Meta;
use super::resolve::{Kind, PathError};
use super::root::Root;
use super::roots::Workspace;
use super::walk::{Bounds, Folder, Ignored, Stop, WalkNotes, open_names, rules_at};

/// Folders that tools fill, left out where no rule speaks of them.
const FILLED_BY_TOOLS: [&str; 4] = ["node_modules", "dist", "target", ".venv"];

/// How much of a folder is listed.
#[derive(Clone, Copy)]
pub struct ListLimits<'a> {
    /// How many levels are listed; 1 is the folder's own entries.
    pub depth: usize,
    /// How many entries are listed; the rest is counted.
    pub max_rows: usize,
    /// Says whether something below a canonical folder may be read; else it is left out and counted.
    pub admit_folder: &'a dyn Fn(&Place) -> bool,
}

impl std::fmt::Debug for ListLimits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListLimits")
            .field("depth", &self.depth)
            .field("max_rows", &self.max_rows)
            .finish_non_exhaustive()
    }
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    /// Where it is.
    pub place: Place,
    /// How many levels below the listed folder; its own entries have 1.
    pub depth: usize,
    /// What it is.
    pub kind: ListKind,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// A folder.
    Folder,
    /// A file and its size in bytes.
    File(u64),
    /// A symlink to a file of this size in bytes.
    LinkToFile(u64),
    /// A symlink to a folder, which is not entered.
    LinkToFolder,
    /// A symlink to nothing, or out of every root.
    BrokenLink,
    /// A pipe, a device or a socket.
    Other,
}

/// A folder's listing, in the order in which it is shown: each folder before what it holds.
#[derive(Clone, Debug, Default)]
pub struct FolderList {
    /// The entries.
    pub rows: Vec<ListRow>,
    /// How many more there are.
    pub n_more: usize,
    /// What was left out.
    pub notes: WalkNotes,
}

struct List<'a> {
    workspace: &'a Workspace,
    root: &'a Root,
    limits: &'a ListLimits<'a>,
    bounds: &'a Bounds<'a>,
    list: FolderList,
    n_seen: usize,
}

impl Workspace {
    /// Lists the folder at a canonical place.
    pub fn list(
        &self,
        folder: &Place,
        limits: &ListLimits<'_>,
        bounds: &Bounds<'_>,
    ) -> Result<FolderList, LoadError> {
        let Some(root) = self.root(&folder.root) else {
            return Err(LoadError::NotFound(folder.clone()));
        };
        if folder.path.segments().any(is_store) {
            return Ok(FolderList::default());
        }
        let rules = match bounds.ignored {
            Ignored::LeftOut => rules_at(root, &folder.path),
            Ignored::Listed => None,
        };
        let first = Folder { path: folder.path.clone(), state: 0, rules };
        open_dir(root.dir(), &folder.path)
            .map_err(|error| refused("open the folder", folder, error))?;
        let list = FolderList::default();
        let mut list = List { workspace: self, root, limits, bounds, list, n_seen: 0 };
        list.run(first);
        let mut list = list.list;
        list.rows.sort_by_cached_key(in_folders);
        Ok(list)
    }
}

impl List<'_> {
    fn run(&mut self, first: Folder) {
        let mut level = vec![first];
        for depth in 1..=self.limits.depth {
            let mut next = Vec::new();
            for folder in &level {
                self.list.notes.stopped = self.stopped();
                if self.list.notes.stopped.is_some() {
                    return;
                }
                self.visit(folder, depth, &mut next);
            }
            level = next;
        }
    }

    fn stopped(&self) -> Option<Stop> {
        if self.n_seen >= self.bounds.max_entries {
            return Some(Stop::EntryLimit);
        }
        self.bounds.stopped()
    }

    fn visit(&mut self, folder: &Folder, depth: usize, next: &mut Vec<Folder>) {
        let left = self.bounds.max_entries.saturating_sub(self.n_seen);
        let stop = || self.bounds.stopped().is_some();
        let (mut names, rules) = match open_names(self.root, folder, left, &stop) {
            Ok(read) => read,
            Err(Unread::Stopped) => return,
            Err(Unread::Io(_)) => {
                self.list.notes.n_unreadable += 1;
                return;
            }
        };
        names.sort();
        self.n_seen += names.n_seen;
        self.list.notes.n_not_utf8 += names.n_not_utf8;
        for wanted in [What::Folder, What::File] {
            for (name, what) in names.iter() {
                if (what == What::Folder) != (wanted == What::Folder) || is_store(name) {
                    continue;
                }
                let Some(path) = folder.path.child(name) else { continue };
                if left_out(rules.as_ref(), &path, name, what) {
                    self.list.notes.n_ignored += 1;
                } else if self.push(&path, what, depth) && what == What::Folder {
                    next.push(Folder { path, state: 0, rules: rules.clone() });
                }
            }
        }
    }

    /// Adds a row, or counts it; says no where the entry may not be seen.
    fn push(&mut self, path: &RelPath, what: What, depth: usize) -> bool {
        let place = self.workspace.settle(self.root, path.clone());
        let admitted = match what {
            What::Folder => (self.limits.admit_folder)(&place),
            What::File | What::Other => (self.bounds.admit)(&place),
            What::Link => (self.bounds.admit)(&place) && self.admits_target(&place),
        };
        if !admitted {
            self.list.notes.n_outside_scope += 1;
        } else if self.list.rows.len() >= self.limits.max_rows {
            self.list.n_more += 1;
        } else {
            let kind = self.kind(&place, path, what);
            self.list.rows.push(ListRow { place, depth, kind });
        }
        admitted
    }

    fn kind(&self, place: &Place, path: &RelPath, what: What) -> ListKind {
        match what {
            What::Folder => ListKind::Folder,
            What::File => ListKind::File(self.len(path)),
            What::Link => self.link(place),
            What::Other => ListKind::Other,
        }
    }

    /// Returns whether what a symlink leads to, or would lead to, may be told.
    fn admits_target(&self, link: &Place) -> bool {
        let Some(meant) = self.workspace.meant_place(link) else { return false };
        match self.workspace.resolve_place(link).map(|target| target.kind) {
            Ok(Kind::Folder) => (self.limits.admit_folder)(&meant),
            Ok(Kind::File(_) | Kind::Other | Kind::Missing { .. }) | Err(_) => {
                (self.bounds.admit)(&meant)
            }
        }
    }

    fn link(&self, place: &Place) -> ListKind {
        match self.workspace.resolve_place(place).map(|target| target.kind) {
            Ok(Kind::File(meta)) => ListKind::LinkToFile(meta.len),
            Ok(Kind::Folder) => ListKind::LinkToFolder,
            Ok(Kind::Other) => ListKind::Other,
            Ok(Kind::Missing { .. })
            | Err(
                PathError::Nul
                | PathError::Escape { .. }
                | PathError::SymlinkLoop { .. }
                | PathError::NotUtf8 { .. }
                | PathError::NotAFolder { .. }
                | PathError::Io { .. },
            ) => ListKind::BrokenLink,
        }
    }

    /// Returns a file's size, 0 where it is gone meanwhile.
    fn len(&self, path: &RelPath) -> u64 {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return 0;
        };
        let Ok(dir) = open_dir(self.root.dir(), &folder) else {
            return 0;
        };
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.map_or(0, |stat| Meta::of(&stat).len)
    }
}

fn left_out(rules: Option<&Rules>, path: &RelPath, name: &str, what: What) -> bool {
    let Some(rules) = rules else {
        return false;
    };
    let is_folder = what == What::Folder;
    let filled = is_folder && FILLED_BY_TOOLS.contains(&name);
    rules.verdict(path.as_str(), is_folder).unwrap_or(filled)
}

/// Orders rows so that each folder stands before what it holds and folders before files.
fn in_folders(row: &ListRow) -> Vec<(bool, String)> {
    let mut left = row.place.path.segments().count();
    let is_folder = row.kind == ListKind::Folder;
    let key = |segment: &str| {
        left -= 1;
        (left == 0 && !is_folder, segment.to_owned())
    };
    row.place.path.segments().map(key).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::fixture::{Laid, place};
    use super::*;

    fn list(
        laid: &Laid,
        path: &str,
        depth: usize,
        max_rows: usize,
    ) -> (Vec<String>, FolderList) {
        let bounds = Bounds {
            ignored: Ignored::LeftOut,
            admit: &|place| place.path.as_str() != "secret",
            stop: &|| false,
            max_entries: 100_000,
            deadline: Instant::now() + Duration::from_hours(1),
        };
        let limits = ListLimits { depth, max_rows, admit_folder: &|_| true };
        let list = laid.workspace.list(&place(path), &limits, &bounds).unwrap();
        let row = |row: &ListRow| match row.kind {
            ListKind::Folder => format!("{}/", row.place),
            ListKind::File(len) => format!("{} {len}", row.place),
            ListKind::LinkToFile(len) => format!("{} -> {len}", row.place),
            ListKind::LinkToFolder => format!("{} -> /", row.place),
            ListKind::BrokenLink => format!("{} -> ?", row.place),
            ListKind::Other => format!("{} ?", row.place),
        };
        (list.rows.iter().map(row).collect(), list)
    }

    fn laid() -> Laid {
        let laid = Laid::with(&[
            ("b.txt", "12345"),
            ("a/x", ""),
            ("a/sub/y", "1"),
            ("z/w", ""),
            ("target/t", ""),
            ("dist/d", ""),
            ("log", ""),
            ("secret", ""),
            (".git/HEAD", ""),
            (".gitignore", "log\n!dist\n"),
        ]);
        laid.link("b.txt", "l");
        laid.link("a", "la");
        laid.link("/etc", "le");
        laid.fifo("pipe");
        laid
    }

    #[test]
    fn folders_come_first_and_ignored_entries_are_counted() {
        let (rows, list) = list(&laid(), "", 1, 500);
        let wanted = [
            "a/",
            "dist/",
            "z/",
            ".gitignore 10",
            "b.txt 5",
            "l -> 5",
            "la -> /",
            "le -> ?",
            "pipe ?",
        ];
        assert_eq!(rows, wanted);
        assert_eq!((list.notes.n_ignored, list.notes.n_outside_scope, list.n_more), (2, 1, 0));
    }

    #[test]
    fn each_folder_stands_before_what_it_holds() {
        let (rows, _) = list(&laid(), "", 3, 500);
        assert_eq!(rows[..6], ["a/", "a/sub/", "a/sub/y 1", "a/x 0", "dist/", "dist/d 0"]);
        assert_eq!(list(&laid(), "target", 1, 500).0, ["target/t 0"]);
        assert_eq!(list(&laid(), ".git", 1, 500).0, [""; 0]);
    }

    #[test]
    fn rows_past_the_limit_are_counted_level_by_level() {
        let (rows, list) = list(&laid(), "", 2, 4);
        assert_eq!(rows, ["a/", "dist/", "z/", ".gitignore 10"]);
        assert_eq!(list.n_more, 9);
    }
}
