//! Where the places lie that no tool may write, or none may read, found by walking whole trees.
//!
//! For a boundary that knows no names, such as the kernel's: [`super::Forbids`] judges one place at a time,
//! this finds them all. Nothing is skipped that a person or a program could have put there: hidden and
//! ignored folders are entered, links never. A folder that cannot be read counts as one to be guarded.
//!
//! A walk remembers what each folder held. What it remembers is used while the folder's change time, which
//! no program can set, is the same, and only if that was well past when the folder was read.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::forbidden::{is_local_settings, is_settings_folder, is_store};
use super::meta::{file_type, number};

/// How far a folder's change time must lie back for what was read to count as all that it holds: more than
/// the coarsest clock of a file system that is on this machine.
const SETTLED_NS: i128 = 50_000_000;

/// The most bytes of a `.git` file that are looked at.
const LEAD_LIMIT_BYTES: usize = 4096;

/// What a walk found, by absolute paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Repositories' stores: folders, files and links called `.git`, where they lead, and bare repositories.
    pub stores: Vec<PathBuf>,
    /// Folders of projects' settings, or what stands in their stead.
    pub settings: Vec<PathBuf>,
    /// Settings that no tool may read.
    pub secret: Vec<PathBuf>,
    /// Folders that cannot be read.
    pub unreadable: Vec<PathBuf>,
}

/// Why a walk did not find everything.
#[derive(Debug, thiserror::Error)]
pub enum Unwalked {
    /// The time was over.
    #[error("{} holds more folders than can be looked through in {} seconds", .top.display(), .limit.as_secs())]
    TimeLimit {
        /// The folder where the walk began.
        top: PathBuf,
        /// How long it may take.
        limit: Duration,
    },
    /// The system refused.
    #[error("failed to look through {}", .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Walks trees again and again, and remembers folders from one time to the next.
#[derive(Debug, Default)]
pub struct GuardedWalk {
    known: HashMap<PathBuf, Known>,
}

/// What a folder was when it was read.
#[derive(Clone, Debug)]
struct Known {
    stamp: Stamp,
    held: Arc<Held>,
}

/// A folder at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed_ns: i128,
}

/// What a folder holds, as far as it matters here.
#[derive(Debug, Default)]
struct Held {
    folders: Vec<OsString>,
    stores: Vec<OsString>,
    settings: Vec<OsString>,
    secret: Vec<OsString>,
    is_store: bool,
}

impl GuardedWalk {
    /// Walks the trees at `tops`, which are canonical paths; those that do not exist hold nothing.
    ///
    /// Cost: one look at every folder, and reading those that have changed since.
    pub fn find(&mut self, tops: &[&Path], limit: Duration) -> Result<Guarded, Unwalked> {
        let deadline = Instant::now() + limit;
        let mut guarded = Guarded::default();
        let mut seen = HashMap::with_capacity(self.known.len());
        for top in tops {
            let mut open = vec![top.to_path_buf()];
            while let Some(folder) = open.pop() {
                if Instant::now() >= deadline {
                    return Err(Unwalked::TimeLimit { top: top.to_path_buf(), limit });
                }
                let known = match self.look(&folder) {
                    Ok(Some(known)) => known,
                    Ok(None) => continue,
                    Err(Errno::ACCESS | Errno::PERM) => {
                        guarded.unreadable.push(folder);
                        continue;
                    }
                    Err(error) => {
                        return Err(Unwalked::Io { path: folder, source: error.into() });
                    }
                };
                guarded.add(&folder, &known.held);
                if !known.held.is_store {
                    open.extend(known.held.folders.iter().map(|name| folder.join(name)));
                }
                seen.insert(folder, known);
            }
        }
        self.known = seen;
        guarded.follow_leads();
        Ok(guarded)
    }

    /// Returns what a folder holds; nothing if it is none, or none any more.
    fn look(&self, folder: &Path) -> rustix::io::Result<Option<Known>> {
        let gone = |error| match error {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Ok(None),
            error => Err(error),
        };
        if let Some(known) = self.known.get(folder) {
            match rustix::fs::statat(CWD, folder, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if stamp(&stat) == known.stamp => return Ok(Some(known.clone())),
                Ok(_) => {}
                Err(error) => return gone(error),
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match rustix::fs::openat(CWD, folder, flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(error) => return gone(error),
        };
        let mut stamp = stamp(&rustix::fs::fstat(&dir)?);
        let now = clock_gettime(ClockId::Realtime);
        if ns(now.tv_sec, now.tv_nsec) - stamp.changed_ns < SETTLED_NS {
            // Never the stamp of a folder, so it is read again.
            stamp.changed_ns = i128::MIN;
        }
        Ok(Some(Known { stamp, held: Arc::new(Held::read(dir, folder)?) }))
    }
}

fn stamp(stat: &rustix::fs::Stat) -> Stamp {
    Stamp {
        device: number(stat.st_dev),
        inode: number(stat.st_ino),
        changed_ns: ns(stat.st_ctime, stat.st_ctime_nsec),
    }
}

// The width and sign of these fields differ between systems.
fn ns(seconds: impl TryInto<i128>, nanoseconds: impl TryInto<i128>) -> i128 {
    let seconds = seconds.try_into().unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.try_into().unwrap_or(0))
}

impl Held {
    fn read(dir: std::os::fd::OwnedFd, path: &Path) -> rustix::io::Result<Self> {
        let is_settings =
            path.file_name().and_then(OsStr::to_str).is_some_and(is_settings_folder);
        let mut held = Self::default();
        let (mut has_head, mut has_objects, mut has_refs, mut has_common) =
            (false, false, false, false);
        let mut dir = Dir::new(dir)?;
        while let Some(entry) = dir.read() {
            let entry = entry?;
            let bytes = entry.file_name().to_bytes();
            let name = OsStr::from_bytes(bytes);
            match bytes {
                b"." | b".." => continue,
                b"HEAD" => has_head = true,
                b"objects" => has_objects = true,
                b"refs" => has_refs = true,
                b"commondir" => has_common = true,
                _ => {}
            }
            let text = name.to_str();
            if text.is_some_and(is_store) {
                held.stores.push(name.to_owned());
                continue;
            }
            if text.is_some_and(is_settings_folder) {
                held.settings.push(name.to_owned());
            }
            if is_settings && text.is_some_and(is_local_settings) {
                held.secret.push(name.to_owned());
            }
            if is_folder(&dir, entry.file_name(), entry.file_type()) {
                held.folders.push(name.to_owned());
            }
        }
        held.is_store = has_head && (has_common || (has_objects && has_refs));
        Ok(held)
    }
}

fn is_folder(dir: &Dir, name: &std::ffi::CStr, told: FileType) -> bool {
    match told {
        FileType::Directory => true,
        // Some file systems do not tell.
        FileType::Unknown => dir
            .fd()
            .and_then(|fd| rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW))
            .is_ok_and(|stat| file_type(&stat) == FileType::Directory),
        _ => false,
    }
}

impl Guarded {
    fn add(&mut self, folder: &Path, held: &Held) {
        let below = |names: &[OsString]| -> Vec<PathBuf> {
            names.iter().map(|name| folder.join(name)).collect()
        };
        if held.is_store {
            self.stores.push(folder.to_owned());
        }
        self.stores.extend(below(&held.stores));
        self.settings.extend(below(&held.settings));
        self.secret.extend(below(&held.secret));
    }

    /// Adds the folders that `.git` files and links lead to.
    fn follow_leads(&mut self) {
        let led: Vec<PathBuf> = self.stores.iter().flat_map(|store| leads(store)).collect();
        for store in led {
            if !self.stores.contains(&store) {
                self.stores.push(store);
            }
        }
    }
}

/// Returns where a `.git` that is no folder leads: to a store, and to the one that this shares with others.
fn leads(store: &Path) -> Vec<PathBuf> {
    let Ok(stat) = rustix::fs::statat(CWD, store, AtFlags::SYMLINK_NOFOLLOW) else {
        return Vec::new();
    };
    let own = match file_type(&stat) {
        FileType::Symlink => store.canonicalize().ok(),
        FileType::RegularFile => named_in(store, "gitdir:"),
        _ => None,
    };
    let shared = own.as_ref().and_then(|own| named_in(&own.join("commondir"), ""));
    own.into_iter().chain(shared).collect()
}

/// Returns the canonical path that a small file names after `lead`, from the file's folder.
fn named_in(file: &Path, lead: &str) -> Option<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(CWD, file, flags, Mode::empty()).ok()?;
    let mut bytes = [0; LEAD_LIMIT_BYTES];
    let n_bytes = rustix::io::read(&fd, &mut bytes).ok()?;
    let named = bytes.get(..n_bytes)?.strip_prefix(lead.as_bytes())?.trim_ascii();
    file.parent()?.join(OsStr::from_bytes(named)).canonicalize().ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out real files")]
mod tests {
    use super::super::fixture::Laid;
    use super::*;

    const LIMIT: Duration = Duration::from_mins(1);

    fn find(walk: &mut GuardedWalk, laid: &Laid) -> Guarded {
        let top = laid.path("").canonicalize().unwrap();
        let mut found = walk.find(&[&top], LIMIT).unwrap();
        let relative = |paths: &mut Vec<PathBuf>| {
            for path in paths.iter_mut() {
                *path = path.strip_prefix(&top).unwrap().to_owned();
            }
            paths.sort();
        };
        [&mut found.stores, &mut found.settings, &mut found.secret, &mut found.unreadable]
            .into_iter()
            .for_each(relative);
        found
    }

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn stores_and_settings_are_found_wherever_they_lie() {
        let laid = Laid::with(&[
            (".git/HEAD", ""),
            (".git/modules/m/HEAD", ""),
            (".gitignore", "target"),
            ("target/deep/.git/HEAD", ""),
            (".hid/.GIT", "gitdir: ../elsewhere/store"),
            ("elsewhere/store/commondir", "../common"),
            ("elsewhere/common/x", ""),
            ("bare/HEAD", ""),
            ("bare/objects/x", ""),
            ("bare/refs/x", ""),
            ("bare/sub/.git/x", ""),
            ("a/.killick/settings.local.json", ""),
            ("a/.killick/b/.killick/settings.local.json", ""),
            ("b/settings.local.json", ""),
            ("b/HEAD", ""),
        ]);
        laid.link("elsewhere/common", "b/.git");
        laid.link("a", "to_a");
        laid.write(OsStr::from_bytes(b"odd\xff/.git"), "");
        let found = find(&mut GuardedWalk::default(), &laid);
        let mut stores = paths(&[
            ".git",
            ".hid/.GIT",
            "b/.git",
            "bare",
            "elsewhere/common",
            "elsewhere/store",
            "target/deep/.git",
        ]);
        stores.push(PathBuf::from(OsStr::from_bytes(b"odd\xff/.git")));
        stores.sort();
        assert_eq!(found.stores, stores);
        assert_eq!(found.settings, paths(&["a/.killick", "a/.killick/b/.killick"]));
        assert_eq!(
            found.secret,
            paths(&[
                "a/.killick/b/.killick/settings.local.json",
                "a/.killick/settings.local.json"
            ])
        );
        assert_eq!(found.unreadable, paths(&[]));
    }

    #[test]
    fn what_has_come_or_gone_since_is_seen() {
        let laid = Laid::with(&[("a/x", ""), ("b/c/x", "")]);
        let mut walk = GuardedWalk::default();
        assert_eq!(find(&mut walk, &laid).stores, paths(&[]));
        laid.write("b/c/.git/HEAD", "");
        assert_eq!(find(&mut walk, &laid).stores, paths(&["b/c/.git"]));
        std::fs::rename(laid.path("b"), laid.path("a/b")).unwrap();
        assert_eq!(find(&mut walk, &laid).stores, paths(&["a/b/c/.git"]));
        std::fs::rename(laid.path("a/b/c/.git"), laid.path("a/g")).unwrap();
        assert_eq!(find(&mut walk, &laid).stores, paths(&[]));
    }

    #[test]
    fn a_walk_ends_when_its_time_is_over() {
        let laid = Laid::with(&[("a/x", "")]);
        let top = laid.path("").canonicalize().unwrap();
        let ended = GuardedWalk::default().find(&[&top], Duration::ZERO);
        assert!(matches!(ended, Err(Unwalked::TimeLimit { .. })));
    }
}
