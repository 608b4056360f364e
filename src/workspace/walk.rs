//! The walk of find and search: level by level over folder handles, the same whatever the threads do.
//!
//! Folders of a level are read side by side and merged in the order of their paths, so neither the result
//! nor the entry at which a limit stops the walk depends on threads. A symlinked folder is never entered;
//! a symlink to a file counts as a file where its target lies inside a root. `.git` is never listed or
//! entered. Only what could match the pattern is judged, and only that is counted as left out.

use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rustix::io::Errno;

use crate::path::{Place, RelPath};

use super::beneath::open_dir;
use super::folder::{Names, Unread, What};
use super::forbidden::is_store;
use super::glob::{Matcher, State};
use super::ignore_rules::{Held, Rules};
use super::parallel::in_order;
use super::resolve::Kind;
use super::root::Root;
use super::roots::Workspace;

/// Whether what a repository ignores is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// Ignored entries are left out and counted.
    LeftOut,
    /// Ignored entries are listed like others.
    Listed,
}

/// What bounds a walk and a search.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// What becomes of ignored entries.
    pub ignored: Ignored,
    /// Says whether a canonical place may be read; what may not is left out and counted.
    pub admit: &'a (dyn Fn(&Place) -> bool + Sync),
    /// Says that the caller wants no more.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// How many entries are looked at, at most.
    pub max_entries: usize,
    /// When the work ends with what it has.
    pub deadline: Instant,
}

impl std::fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bounds")
            .field("ignored", &self.ignored)
            .field("max_entries", &self.max_entries)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl Bounds<'_> {
    /// Returns why the work has to end now, if it has.
    pub(super) fn stopped(&self) -> Option<Stop> {
        if (self.stop)() {
            return Some(Stop::Cancelled);
        }
        (Instant::now() >= self.deadline).then_some(Stop::TimeLimit)
    }
}

/// Why a walk or a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It had looked at as many entries as it may.
    EntryLimit,
    /// Its time was over.
    TimeLimit,
    /// The caller wanted no more.
    Cancelled,
}

/// A file that a walk found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Where it is listed.
    pub place: Place,
    /// Where its content is, if it is a symlink.
    pub target: Option<Place>,
}

impl Entry {
    /// Returns the canonical place of the content: what is opened, remembered and judged.
    pub fn content(&self) -> &Place {
        self.target.as_ref().unwrap_or(&self.place)
    }
}

/// What a walk left out, and why it ended. Each count is of entries that could have matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkNotes {
    /// Ignored files and folders; a folder counts once.
    pub n_ignored: usize,
    /// Files that the session may not read.
    pub n_outside_scope: usize,
    /// Folders that could not be read.
    pub n_unreadable: usize,
    /// Names that are not UTF-8.
    pub n_not_utf8: usize,
    /// Symlinks that lead out of every root.
    pub n_escaped: usize,
    /// Why the walk ended early, if it did.
    pub stopped: Option<Stop>,
}

impl WalkNotes {
    fn add(&mut self, other: &Self) {
        self.n_ignored += other.n_ignored;
        self.n_outside_scope += other.n_outside_scope;
        self.n_unreadable += other.n_unreadable;
        self.n_not_utf8 += other.n_not_utf8;
        self.n_escaped += other.n_escaped;
    }
}

/// The files that a walk found, sorted by place, and what is to be said about it.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The files.
    pub files: Vec<Entry>,
    /// What was left out.
    pub notes: WalkNotes,
}

/// A folder that is still to be read.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: RelPath,
    pub(super) state: State,
    /// Nothing when ignored entries are listed.
    pub(super) rules: Option<Rules>,
}

/// What was found in one folder.
#[derive(Debug, Default)]
struct Visit {
    n_entries: usize,
    files: Vec<Entry>,
    folders: Vec<Folder>,
    notes: WalkNotes,
}

/// A walk beneath one root.
struct Walk<'a> {
    workspace: &'a Workspace,
    root: &'a Root,
    matcher: &'a Matcher,
    bounds: &'a Bounds<'a>,
}

impl Workspace {
    /// Returns the files below the folder `start` that `matcher` accepts.
    pub(super) fn walk(
        &self,
        start: &Place,
        matcher: &Matcher,
        bounds: &Bounds<'_>,
    ) -> Listing {
        let Some(root) = self.root(&start.root) else {
            return Listing::default();
        };
        if start.path.segments().any(is_store) {
            return Listing::default();
        }
        let rules = match bounds.ignored {
            Ignored::LeftOut => rules_at(root, &start.path),
            Ignored::Listed => None,
        };
        let first = Folder { path: start.path.clone(), state: matcher.start(), rules };
        Walk { workspace: self, root, matcher, bounds }.run(first)
    }
}

impl Walk<'_> {
    fn run(&self, first: Folder) -> Listing {
        let mut listing = Listing::default();
        let mut level = vec![first];
        let mut left = self.bounds.max_entries;
        while !level.is_empty() && listing.notes.stopped.is_none() {
            let visits = self.visit_all(&level, left);
            let n_visits = visits.iter().take_while(|visit| visit.is_some()).count();
            let mut next = Vec::new();
            for (folder, mut visit) in level.iter().zip(visits.into_iter().map_while(|v| v)) {
                if visit.n_entries > left {
                    listing.notes.stopped = Some(Stop::EntryLimit);
                    visit = self.visit(folder, left).unwrap_or_default();
                }
                left = left.saturating_sub(visit.n_entries);
                listing.notes.add(&visit.notes);
                listing.files.append(&mut visit.files);
                next.append(&mut visit.folders);
                if listing.notes.stopped.is_some() {
                    break;
                }
            }
            if n_visits < level.len() && listing.notes.stopped.is_none() {
                listing.notes.stopped = self.bounds.stopped().or(Some(Stop::Cancelled));
            }
            next.sort_unstable_by(|a, b| a.path.cmp(&b.path));
            level = next;
        }
        listing.files.sort_unstable();
        listing
    }

    /// Reads the folders of a level as far as they may matter; nothing for one whose reading was stopped.
    fn visit_all(&self, level: &[Folder], left: usize) -> Vec<Option<Visit>> {
        let n_seen = AtomicUsize::new(0);
        in_order(
            level.len(),
            || {
                let goes_on =
                    n_seen.load(Ordering::SeqCst) <= left && self.bounds.stopped().is_none();
                goes_on.then_some(())
            },
            || (),
            |(), (), index| {
                let visit = self.visit(level.get(index)?, self.bounds.max_entries)?;
                n_seen.fetch_add(visit.n_entries, Ordering::SeqCst);
                Some(visit)
            },
        )
    }

    /// Reads one folder, at most `keep` of its names.
    fn visit(&self, folder: &Folder, keep: usize) -> Option<Visit> {
        let stop = || self.bounds.stopped().is_some();
        let (names, rules) = match open_names(self.root, folder, keep, &stop) {
            Ok(read) => read,
            Err(Unread::Stopped) => return None,
            Err(Unread::Io(error)) => return Some(Visit::unread(&error)),
        };
        let mut visit = Visit { n_entries: names.n_seen, ..Visit::default() };
        visit.notes.n_not_utf8 = names.n_not_utf8;
        let mut path = folder.path.as_str().to_owned();
        if !path.is_empty() {
            path.push('/');
        }
        let folder_len = path.len();
        for (name, what) in names.iter() {
            let state = self.matcher.advance(folder.state, name);
            if state == 0 || is_store(name) {
                continue;
            }
            path.truncate(folder_len);
            path.push_str(name);
            self.judge(&mut visit, &folder.path, &path, name, what, state, rules.as_ref());
        }
        Some(visit)
    }

    #[expect(clippy::too_many_arguments, reason = "what is known of one name, asked for once")]
    fn judge(
        &self,
        visit: &mut Visit,
        folder: &RelPath,
        path: &str,
        name: &str,
        what: What,
        state: State,
        rules: Option<&Rules>,
    ) {
        let matters = match what {
            What::Folder => self.matcher.goes_on(state),
            What::File | What::Link => self.matcher.accepts(state),
            What::Other => false,
        };
        if !matters {
            return;
        }
        if rules.is_some_and(|rules| rules.ignore(path, what == What::Folder)) {
            visit.notes.n_ignored += 1;
            return;
        }
        let Some(path) = folder.child(name) else { return };
        match what {
            What::Folder => visit.folders.push(Folder { path, state, rules: rules.cloned() }),
            What::File => self.list(visit, path, None),
            What::Link => self.list_link(visit, path),
            What::Other => {}
        }
    }

    fn list_link(&self, visit: &mut Visit, path: RelPath) {
        let place = Place { root: self.root.name().clone(), path };
        match self.workspace.resolve_place(&place) {
            Ok(target) if target.place.path.segments().any(is_store) => {}
            Ok(target) if matches!(target.kind, Kind::File(_)) => {
                self.list(visit, place.path, Some(target.place));
            }
            Ok(_) => {}
            Err(_) => visit.notes.n_escaped += 1,
        }
    }

    fn list(&self, visit: &mut Visit, path: RelPath, target: Option<Place>) {
        let place = self.workspace.settle(self.root, path);
        let admitted = (self.bounds.admit)(&place)
            && target.as_ref().is_none_or(|target| (self.bounds.admit)(target));
        if admitted {
            visit.files.push(Entry { place, target });
        } else {
            visit.notes.n_outside_scope += 1;
        }
    }
}

impl Visit {
    /// What a folder that could not be read counts as; one that is gone meanwhile is nothing to tell.
    fn unread(error: &std::io::Error) -> Self {
        let gone = matches!(
            Errno::from_io_error(error),
            Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
        );
        let notes = WalkNotes { n_unreadable: usize::from(!gone), ..WalkNotes::default() };
        Self { notes, ..Self::default() }
    }
}

/// Reads a folder's names, in order where some were left out, and the rules that hold inside it.
pub(super) fn open_names(
    root: &Root,
    folder: &Folder,
    keep: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Names, Option<Rules>), Unread> {
    let dir = open_dir(root.dir(), &folder.path).map_err(Unread::Io)?;
    let again = dir.try_clone().map_err(Unread::Io)?;
    let names = Names::read(again, keep, stop)?;
    let rules = folder.rules.as_ref().map(|rules| {
        let held = Held {
            dot_ignore: names.find(".ignore") == Some(What::File),
            gitignore: names.find(".gitignore") == Some(What::File),
            store: names.find(".git").is_some(),
        };
        rules.within(dir.as_fd(), folder.path.as_str(), held)
    });
    Ok((names, rules))
}

/// Returns the rules that hold around the folder at `path`, or nothing when it is itself ignored: who
/// names an ignored place means it.
pub(super) fn rules_at(root: &Root, path: &RelPath) -> Option<Rules> {
    let mut rules = Rules::default();
    let mut at = RelPath::root();
    for segment in path.segments() {
        if let Ok(dir) = open_dir(root.dir(), &at) {
            rules = rules.within(dir.as_fd(), at.as_str(), Held::look(dir.as_fd()));
        }
        at = at.child(segment)?;
        if rules.ignore(at.as_str(), true) {
            return None;
        }
    }
    Some(rules)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::super::Selection;
    use super::super::fixture::Laid;
    use super::*;

    fn bounds(max_entries: usize) -> Bounds<'static> {
        Bounds {
            ignored: Ignored::LeftOut,
            admit: &|_| true,
            stop: &|| false,
            max_entries,
            deadline: Instant::now() + Duration::from_hours(1),
        }
    }

    fn find_with(laid: &Laid, pattern: &str, bounds: &Bounds<'_>) -> (Vec<String>, WalkNotes) {
        let listing = laid.workspace.find(&laid.workspace.select(pattern).unwrap(), bounds);
        (listing.files.iter().map(|file| file.place.to_string()).collect(), listing.notes)
    }

    fn find(laid: &Laid, pattern: &str) -> Vec<String> {
        find_with(laid, pattern, &bounds(100_000)).0
    }

    fn small() -> Laid {
        Laid::with(&[
            ("src/a.rs", ""),
            ("src/b/c.rs", ""),
            ("target/x.rs", ""),
            ("target/deep/y.rs", ""),
            (".hid/h.rs", ""),
            (".git/HEAD", ""),
            ("notes.log", ""),
            ("keep.log", ""),
            (".gitignore", "target/\n*.log\n!keep.log\n"),
        ])
    }

    #[test]
    fn patterns_paths_and_folders_are_told_apart() {
        let laid = small();
        laid.write("src/[x].rs", "");
        assert_eq!(find(&laid, "src/*.rs"), ["src/[x].rs", "src/a.rs"]);
        assert_eq!(find(&laid, "src/[x].rs"), ["src/[x].rs"]);
        assert_eq!(find(&laid, "src"), ["src/[x].rs", "src/a.rs", "src/b/c.rs"]);
        assert_eq!(find(&laid, "src/b/"), ["src/b/c.rs"]);
        assert_eq!(find(&laid, "s*/b/**"), ["src/b/c.rs"]);
        assert_eq!(find(&laid, "**/HEAD"), [""; 0]);
        assert_eq!(find(&laid, ".git/*"), [""; 0]);
        assert_eq!(find(&laid, ".git/HEAD"), [""; 0]);
        assert_eq!(find(&laid, "*/*.rs"), [".hid/h.rs", "src/[x].rs", "src/a.rs"]);
        assert_eq!(find(&laid, "nope/*.rs"), [""; 0]);
        let select = |pattern: &str| laid.workspace.select(pattern).unwrap();
        assert!(matches!(select("nope.rs"), Selection::Missing(_)));
        assert!(matches!(select("nope/*"), Selection::Nothing(_)));
        assert!(matches!(select("src/a.rs/*"), Selection::Nothing(_)));
        assert!(laid.workspace.select("../out/*").is_err());
        assert!(laid.workspace.select("[").is_err());
        let absolute = laid.path("src").canonicalize().unwrap();
        assert_eq!(find(&laid, &format!("{}/b/*", absolute.display())), ["src/b/c.rs"]);
    }

    #[test]
    fn ignored_entries_are_left_out_and_counted() {
        let laid = small();
        let (files, notes) = find_with(&laid, "**", &bounds(1000));
        assert_eq!(files, [".gitignore", ".hid/h.rs", "keep.log", "src/a.rs", "src/b/c.rs"]);
        assert_eq!(notes, WalkNotes { n_ignored: 2, ..WalkNotes::default() });
        let all = Bounds { ignored: Ignored::Listed, ..bounds(1000) };
        assert_eq!(find_with(&laid, "**", &all).0.len(), 8);
        assert_eq!(find(&laid, "target/*.rs"), ["target/x.rs"]);
        assert_eq!(find(&laid, "target/deep/*"), ["target/deep/y.rs"]);
        assert_eq!(find(&laid, "notes.log"), ["notes.log"]);
    }

    #[test]
    fn rules_nest_and_a_repository_within_starts_anew() {
        let laid = Laid::with(&[
            (".gitignore", "*.o\n/top\n"),
            ("a/.gitignore", "!keep.o\nb/*.txt\n"),
            ("a/keep.o", ""),
            ("a/x.o", ""),
            ("a/b/t.txt", ""),
            ("a/top", ""),
            ("top", ""),
            ("inner/.git/info/exclude", "excluded\n"),
            ("inner/x.o", ""),
            ("inner/excluded", ""),
            ("dot/.ignore", "*.md\n!y.o\n"),
            ("dot/x.md", ""),
            ("dot/y.o", ""),
        ]);
        assert_eq!(find(&laid, "a"), ["a/.gitignore", "a/keep.o", "a/top"]);
        assert_eq!(find(&laid, "a/b/*"), [""; 0]);
        assert_eq!(find(&laid, "inner/**"), ["inner/x.o"]);
        assert_eq!(find(&laid, "dot/*"), ["dot/.ignore", "dot/y.o"]);
        assert_eq!(find(&laid, "top"), ["top"]);
        assert_eq!(find(&laid, "to*"), [""; 0]);
    }

    #[test]
    fn a_link_to_a_file_is_a_file_and_a_linked_folder_is_not_entered() {
        let laid = Laid::with(&[("real/x.txt", ""), ("../out/s.txt", "")]);
        laid.link("real/x.txt", "l.txt");
        laid.link(".", "loop.txt");
        laid.link("../loop.txt", "real/cycle");
        laid.link("../out/s.txt", "out.txt");
        laid.link("nothing", "dangling.txt");
        laid.fifo("pipe.txt");
        let (files, notes) = find_with(&laid, "**/*.txt", &bounds(1000));
        assert_eq!(files, ["l.txt", "real/x.txt"]);
        assert_eq!(notes, WalkNotes { n_escaped: 1, ..WalkNotes::default() });
        let listing = laid.workspace.find(&laid.workspace.select("l*").unwrap(), &bounds(9));
        assert_eq!(listing.files[0].content().to_string(), "real/x.txt");
        assert_eq!(find(&laid, "loop.txt/real/*"), ["real/x.txt"]);
    }

    #[test]
    fn what_may_not_be_read_is_counted() {
        let laid = small();
        let admit = |place: &Place| !place.path.as_str().starts_with("src/b");
        let scoped = Bounds { admit: &admit, ..bounds(1000) };
        let (files, notes) = find_with(&laid, "src/**", &scoped);
        assert_eq!((files, notes.n_outside_scope), (vec!["src/a.rs".to_owned()], 1));
    }

    #[test]
    fn a_name_that_is_not_utf8_is_counted() {
        let laid = Laid::with(&[("a", "")]);
        laid.write(std::ffi::OsStr::from_bytes(b"b\xff"), "");
        let (files, notes) = find_with(&laid, "*", &bounds(1000));
        assert_eq!((files, notes.n_not_utf8), (vec!["a".to_owned()], 1));
    }

    #[test]
    fn the_entry_limit_cuts_at_the_same_place_every_time() {
        let laid = Laid::new();
        for folder in 0..20 {
            for file in 0..10 {
                laid.write(format!("d{folder:02}/f{file}"), "");
            }
        }
        for (limit, n_files) in [(10, 0), (20, 0), (21, 1), (55, 35), (219, 199), (220, 200)] {
            let (files, notes) = find_with(&laid, "**", &bounds(limit));
            assert_eq!(files.len(), n_files, "{limit}");
            let whole: Vec<_> =
                (0..n_files).map(|n| format!("d{:02}/f{}", n / 10, n % 10)).collect();
            assert_eq!(files, whole);
            assert_eq!(notes.stopped, (limit < 220).then_some(Stop::EntryLimit), "{limit}");
        }
    }

    #[test]
    fn a_walk_stops_when_it_is_told_to() {
        let laid = small();
        let over = Bounds { deadline: Instant::now(), ..bounds(1000) };
        assert_eq!(find_with(&laid, "**", &over).1.stopped, Some(Stop::TimeLimit));
        let asked = AtomicBool::new(false);
        let stop = || asked.swap(true, Ordering::SeqCst);
        let (_, notes) = find_with(&laid, "**", &Bounds { stop: &stop, ..bounds(1000) });
        assert_eq!(notes.stopped, Some(Stop::Cancelled));
    }

    #[test]
    fn a_folder_that_vanishes_during_the_walk_is_nothing_to_tell() {
        let laid = small();
        let admit = |place: &Place| {
            if place.path.as_str() == ".gitignore" {
                laid.remove("src/b");
            }
            true
        };
        let (files, notes) = find_with(&laid, "**", &Bounds { admit: &admit, ..bounds(1000) });
        assert_eq!(files, [".gitignore", ".hid/h.rs", "keep.log", "src/a.rs"]);
        assert_eq!((notes.n_unreadable, notes.stopped), (0, None));
    }

    #[test]
    fn a_root_within_a_root_keeps_its_own_places() {
        let laid = Laid::with(&[("in/x", ""), ("y", "")]);
        let name = |path: &str| {
            let path = laid.path(path).canonicalize().unwrap();
            (crate::path::RootName::absolute(path.to_str().unwrap()), path)
        };
        let inner = super::super::fixture::root(name("in").0, &name("in").1);
        let outer = super::super::fixture::root(name("").0, &name("").1);
        let main = super::super::fixture::root(
            crate::path::RootName::workspace(),
            &laid.path("../out"),
        );
        let workspace = Workspace::open(main, vec![outer, inner]);
        let selection = workspace.select(name("").1.to_str().unwrap()).unwrap();
        let files = workspace.find(&selection, &bounds(100)).files;
        let roots: Vec<_> = files.iter().map(|file| file.place.root.clone()).collect();
        assert_eq!(roots, [name("").0, name("in").0]);
    }
}
