//! From what a user wrote to the place it means: dots by the text, then symlinks, one by one, by hand.
//!
//! The file system's own resolution is never used, because it would follow a link out of a root. Each
//! segment is looked at from its folder's handle; a link's target, relative or absolute, is walked in the
//! same way and may pass outside the roots as long as it ends inside one. What is found outside is never
//! told: every failure there is an escape. Nothing is opened for reading here; `load` opens, and refuses
//! any link that has been put in since.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::path::{BadPath, Place, RelPath};

use super::beneath::open_beneath;
use super::meta::{Meta, file_type};
use super::root::Root;
use super::roots::Workspace;

/// How many symlinks one path may lead through, as on Linux.
const MAX_LINKS: usize = 40;

/// Opens a folder only to look up names in it; it needs no read permission where the system has that.
#[cfg(target_os = "linux")]
pub(super) const LOOKUP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
pub(super) const LOOKUP: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// What a path means.
#[derive(Clone, Debug)]
pub struct Target {
    /// The place, through every symlink: what is opened, locked, remembered and judged.
    pub place: Place,
    /// The place as it was written, dots resolved, symlinks kept: what is shown.
    pub spelled: Place,
    /// The root that holds [`Self::place`].
    pub root: Arc<Root>,
    /// What stands there.
    pub kind: Kind,
}

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File(Meta),
    /// A folder.
    Folder,
    /// A pipe, a device or a socket.
    Other,
    /// Nothing yet.
    Missing {
        /// The deepest folder on the way that exists.
        parent: Place,
        /// How many segments below it do not; at least 1.
        n_missing: usize,
    },
}

/// Why a text means no place.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The path holds a NUL byte.
    #[error("the path holds a NUL byte")]
    Nul,
    /// The path ends outside every root.
    #[error("`{path}` leads out of the workspace and of every other root")]
    Escape {
        /// The path as it was written.
        path: String,
        /// The last symlink inside a root that was followed on the way out, if it was one.
        link: Option<Place>,
    },
    /// The path leads through too many symlinks.
    #[error("`{path}` leads through more than 40 symlinks")]
    SymlinkLoop {
        /// The path as it was written.
        path: String,
    },
    /// A symlink's target is not UTF-8.
    #[error("the target of the symlink `{link}` is not UTF-8")]
    NotUtf8 {
        /// The symlink.
        link: Place,
    },
    /// Something that is no folder is used as one.
    #[error("`{file}` is not a folder")]
    NotAFolder {
        /// What is no folder.
        file: Place,
    },
    /// The system refused a step.
    #[error("failed to {verb} `{path}`")]
    Io {
        /// What was attempted.
        verb: &'static str,
        /// Where.
        path: Place,
        /// What the system said.
        source: io::Error,
    },
}

impl PathError {
    /// Returns the place of which the error tells something, if it is inside a root.
    pub fn tells_of(&self) -> Option<&Place> {
        match self {
            Self::Nul | Self::SymlinkLoop { .. } => None,
            Self::Escape { path: _, link } => link.as_ref(),
            Self::NotUtf8 { link: place }
            | Self::NotAFolder { file: place }
            | Self::Io { verb: _, path: place, source: _ } => Some(place),
        }
    }
}

/// A path as it was written, dots resolved.
enum Spelled {
    Inside(Place, PathBuf),
    Elsewhere(PathBuf),
}

impl Workspace {
    /// Returns what `text` means: relative to the workspace's own root, or absolute inside any root.
    ///
    /// A missing file is no error; neither is a dangling symlink, which means the file that it would make.
    pub fn resolve(&self, text: &str) -> Result<Target, PathError> {
        match self.spell(text)? {
            Spelled::Inside(place, start) => {
                let pending = place.path.segments().rev().map(str::to_owned).collect();
                self.trace(text, start, pending, Some(place))
            }
            Spelled::Elsewhere(absolute) => {
                let segments = absolute.to_str().unwrap_or_default().rsplit('/');
                let pending = segments.filter(|s| !s.is_empty()).map(str::to_owned).collect();
                self.trace(text, PathBuf::from("/"), pending, None)
            }
        }
    }

    /// Returns what stands at a place, following symlinks as [`Self::resolve`] does.
    pub fn resolve_place(&self, place: &Place) -> Result<Target, PathError> {
        let Some(root) = self.root(&place.root) else {
            return Err(PathError::Escape { path: place.to_string(), link: None });
        };
        let pending = place.path.segments().rev().map(str::to_owned).collect();
        let start = root.path().to_owned();
        self.trace(&place.to_string(), start, pending, Some(place.clone()))
    }

    /// Returns the place that a path would mean if nothing on its way were in the way, whether or not it
    /// resolves: what a judgement needs that must not tell one obstacle from another.
    ///
    /// Where the way leads out of every root it is the place as written; nothing if that is outside too.
    pub fn meant(&self, text: &str) -> Option<Place> {
        let Spelled::Inside(place, start) = self.spell(text).ok()? else {
            return self.resolve(text).ok().map(|target| target.place);
        };
        Some(self.meant_from(start, &place))
    }

    /// The same for a place.
    pub(super) fn meant_place(&self, place: &Place) -> Option<Place> {
        let start = self.root(&place.root)?.path().to_owned();
        Some(self.meant_from(start, place))
    }

    fn meant_from(&self, start: PathBuf, place: &Place) -> Place {
        let pending = place.path.segments().rev().map(str::to_owned).collect();
        let mut trace =
            Trace { workspace: self, text: "", at: start, pending, n_links: 0, link: None };
        let Err(_) = trace.run() else {
            return self.place_of(&trace.at).unwrap_or_else(|| place.clone());
        };
        let rest: Vec<String> = trace.pending.into_iter().rev().collect();
        self.place_of(&without_dots(&trace.at, &rest.join("/")))
            .unwrap_or_else(|| place.clone())
    }

    fn spell(&self, text: &str) -> Result<Spelled, PathError> {
        let absolute = match RelPath::parse(text) {
            Ok(path) => {
                let Some(main) = self.roots().first() else {
                    return Err(PathError::Escape { path: text.to_owned(), link: None });
                };
                let place = Place { root: main.name().clone(), path };
                return Ok(Spelled::Inside(place, main.path().to_owned()));
            }
            Err(BadPath::Nul) => return Err(PathError::Nul),
            Err(BadPath::Absolute) => without_dots(Path::new("/"), text),
            // It may climb out of the workspace and come down in another root, or in the same one.
            Err(BadPath::Climbs) => {
                let main = self.roots().first().map_or(Path::new("/"), |root| root.path());
                without_dots(main, text)
            }
        };
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        Ok(match self.locate_spelled(&absolute) {
            Some((root, path)) => {
                let place = Place { root: root.name().clone(), path };
                Spelled::Inside(place, root.path().to_owned())
            }
            None => Spelled::Elsewhere(absolute),
        })
    }

    fn trace(
        &self,
        text: &str,
        start: PathBuf,
        pending: Vec<String>,
        spelled: Option<Place>,
    ) -> Result<Target, PathError> {
        let mut trace =
            Trace { workspace: self, text, at: start, pending, n_links: 0, link: None };
        let kind = trace.run()?;
        let Some((root, path)) = self.locate(&trace.at) else {
            return Err(trace.escape());
        };
        let place = Place { root: root.name().clone(), path };
        let spelled = spelled.unwrap_or_else(|| place.clone());
        Ok(Target { place, spelled, root: Arc::clone(root), kind })
    }
}

/// Applies `text` to an absolute path, `.` and `..` by the text alone; `..` above `/` stays there.
fn without_dots(base: &Path, text: &str) -> PathBuf {
    let mut path = base.to_owned();
    for segment in text.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(path.pop()),
            name => path.push(name),
        }
    }
    path
}

/// A walk along a path: where it stands, and the segments that are still to come, last first.
struct Trace<'a> {
    workspace: &'a Workspace,
    text: &'a str,
    /// Absolute and free of symlinks; a folder, except when the walk has ended.
    at: PathBuf,
    pending: Vec<String>,
    n_links: usize,
    link: Option<Place>,
}

/// What one segment led to.
enum Step {
    On(Kind),
    Missing,
}

impl Trace<'_> {
    /// Walks to the end; on an error the segment that was in the way is still to come.
    fn run(&mut self) -> Result<Kind, PathError> {
        let mut kind = Kind::Folder;
        while let Some(name) = self.pending.pop() {
            if name == ".." {
                self.at.pop();
                continue;
            }
            kind = match self.step(&name) {
                Ok(Step::On(kind)) => kind,
                Ok(Step::Missing) => return self.missing(name),
                Err(error) => {
                    self.pending.push(name);
                    return Err(error);
                }
            };
        }
        Ok(kind)
    }

    fn step(&mut self, name: &str) -> Result<Step, PathError> {
        let dir = self.open()?;
        let stat = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Step::Missing),
            Err(error) => return Err(self.refused("look up", name, error)),
        };
        let kind = match file_type(&stat) {
            FileType::Symlink => {
                self.follow(&dir, name)?;
                return Ok(Step::On(Kind::Folder));
            }
            FileType::Directory => Kind::Folder,
            _ if !self.pending.is_empty() => return Err(self.not_a_folder(name)),
            FileType::RegularFile => Kind::File(Meta::of(&stat)),
            _ => Kind::Other,
        };
        self.at.push(name);
        Ok(Step::On(kind))
    }

    /// Opens the folder where the walk stands.
    fn open(&self) -> Result<OwnedFd, PathError> {
        let opened = match self.workspace.locate(&self.at) {
            Some((root, path)) => open_beneath(root.dir(), &path, LOOKUP, Mode::empty()),
            // Outside, a race reveals nothing: whatever is found there, only a place inside is told.
            None => rustix::fs::open(&self.at, LOOKUP | OFlags::CLOEXEC, Mode::empty())
                .map_err(io::Error::from),
        };
        opened.map_err(|source| match self.workspace.place_of(&self.at) {
            Some(path) => PathError::Io { verb: "open the folder", path, source },
            None => self.escape(),
        })
    }

    fn follow(&mut self, dir: &OwnedFd, name: &str) -> Result<(), PathError> {
        self.n_links += 1;
        if self.n_links > MAX_LINKS {
            return Err(PathError::SymlinkLoop { path: self.text.to_owned() });
        }
        let link = self.here(name);
        let target = rustix::fs::readlinkat(dir.as_fd(), name, Vec::new())
            .map_err(|error| self.refused("read the symlink", name, error))?;
        let Ok(target) = target.to_str() else {
            return Err(link.map_or_else(|| self.escape(), |link| PathError::NotUtf8 { link }));
        };
        if target.starts_with('/') {
            self.at = PathBuf::from("/");
        }
        let segments = target.rsplit('/').filter(|s| !matches!(*s, "" | "."));
        self.pending.extend(segments.map(str::to_owned));
        if link.is_some() {
            self.link = link;
        }
        Ok(())
    }

    fn missing(&mut self, name: String) -> Result<Kind, PathError> {
        let Some(parent) = self.workspace.place_of(&self.at) else {
            return Err(self.escape());
        };
        // Only a link's target can climb here, and what it climbs from does not exist.
        if self.pending.iter().any(|segment| segment == "..") {
            return Err(self.refused("look up", &name, Errno::NOENT));
        }
        let n_missing = 1 + self.pending.len();
        self.at.push(name);
        while let Some(name) = self.pending.pop() {
            self.at.push(name);
        }
        Ok(Kind::Missing { parent, n_missing })
    }

    /// Returns the place of `name` in the folder where the walk stands, if that is inside a root.
    fn here(&self, name: &str) -> Option<Place> {
        self.workspace.place_of(&self.at.join(name))
    }

    fn refused(&self, verb: &'static str, name: &str, error: Errno) -> PathError {
        match self.here(name) {
            Some(path) => PathError::Io { verb, path, source: error.into() },
            None => self.escape(),
        }
    }

    fn not_a_folder(&self, name: &str) -> PathError {
        self.here(name).map_or_else(|| self.escape(), |file| PathError::NotAFolder { file })
    }

    fn escape(&self) -> PathError {
        PathError::Escape { path: self.text.to_owned(), link: self.link.clone() }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test moves real files")]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::super::fixture::{Laid, place};
    use super::*;

    fn shown(laid: &Laid, text: &str) -> String {
        match laid.workspace.resolve(text) {
            Ok(target) => {
                let kind = match target.kind {
                    Kind::File(_) => "file".to_owned(),
                    Kind::Folder => "folder".to_owned(),
                    Kind::Other => "other".to_owned(),
                    Kind::Missing { parent, n_missing } => {
                        format!("{n_missing} below {parent}")
                    }
                };
                format!("{} ({kind})", target.place)
            }
            Err(PathError::Escape { link: Some(link), .. }) => format!("escape by {link}"),
            Err(PathError::Escape { link: None, .. }) => "escape".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_plain_path_is_itself_however_it_is_spelled() {
        let laid = Laid::with(&[("d/a.txt", "x")]);
        let absolute = laid.path("d/a.txt");
        for text in ["d/a.txt", "./d//a.txt", "e/../d/a.txt", "../w/d/a.txt"] {
            assert_eq!(shown(&laid, text), "d/a.txt (file)", "{text}");
        }
        assert_eq!(shown(&laid, absolute.to_str().unwrap()), "d/a.txt (file)");
        assert_eq!(shown(&laid, "d"), "d (folder)");
        assert_eq!(shown(&laid, ""), ". (folder)");
        assert_eq!(shown(&laid, "d/b.txt"), "d/b.txt (1 below d)");
        assert_eq!(shown(&laid, "e/f/g"), "e/f/g (3 below .)");
        assert_eq!(shown(&laid, "d/a.txt/x"), "`d/a.txt` is not a folder");
        assert_eq!(shown(&laid, "a\0b"), "the path holds a NUL byte");
        assert_eq!(shown(&laid, "/a\0b"), "the path holds a NUL byte");
    }

    #[test]
    fn nothing_outside_is_told_apart() {
        let laid = Laid::new();
        laid.write("../out/secret", "x");
        laid.link("../out", "dir");
        laid.link("../out/secret", "file");
        laid.link("../out/new", "dangling");
        laid.link("../out/secret/x", "beyond");
        laid.link("/proc/self/root/etc", "magic");
        for text in ["../out/secret", "../../etc/passwd", "/etc/passwd", "/nothing", "/"] {
            assert_eq!(shown(&laid, text), "escape", "{text}");
        }
        for (text, link) in [
            ("dir", "dir"),
            ("dir/secret", "dir"),
            ("dir/new", "dir"),
            ("file", "file"),
            ("dangling", "dangling"),
            ("dangling/deep", "dangling"),
            ("beyond", "beyond"),
            ("magic/passwd", "magic"),
        ] {
            assert_eq!(shown(&laid, text), format!("escape by {link}"), "{text}");
        }
    }

    #[test]
    fn symlinks_that_stay_inside_are_followed() {
        let laid = Laid::with(&[("real/deep/x", "x")]);
        laid.link("real/deep", "short");
        laid.link("../../real/deep/x", "a/b/up");
        laid.link("short/x", "chain");
        laid.link("real/new.txt", "dangling");
        laid.link("../w/real", "out_and_in");
        laid.link(laid.path("real").to_str().unwrap(), "absolute");
        for (text, place) in [
            ("short/x", "real/deep/x (file)"),
            ("a/b/up", "real/deep/x (file)"),
            ("chain", "real/deep/x (file)"),
            ("dangling", "real/new.txt (1 below real)"),
            ("out_and_in/deep", "real/deep (folder)"),
            ("absolute/deep/x", "real/deep/x (file)"),
            ("short", "real/deep (folder)"),
        ] {
            assert_eq!(shown(&laid, text), place, "{text}");
        }
        let target = laid.workspace.resolve("short/x").unwrap();
        assert_eq!((target.spelled, target.place), (place("short/x"), place("real/deep/x")));
    }

    #[test]
    fn loops_and_unreadable_targets_are_named() {
        let laid = Laid::new();
        laid.link("b", "a");
        laid.link("a", "b");
        laid.link("self/x", "self");
        let target = std::ffi::OsStr::from_bytes(b"\xff");
        std::os::unix::fs::symlink(target, laid.path("bytes")).unwrap();
        assert_eq!(shown(&laid, "a"), "`a` leads through more than 40 symlinks");
        assert_eq!(shown(&laid, "self"), "`self` leads through more than 40 symlinks");
        assert_eq!(shown(&laid, "bytes"), "the target of the symlink `bytes` is not UTF-8");
    }

    #[test]
    fn what_a_path_means_does_not_depend_on_what_is_in_its_way() {
        let laid = Laid::with(&[("d/a.txt", "x")]);
        laid.link("d", "l");
        laid.link("loop", "loop");
        laid.link("../out/x", "out");
        for (text, meant) in [
            ("d/a.txt", "d/a.txt"),
            ("d/a.txt/x/y", "d/a.txt/x/y"),
            ("d/none/x/y", "d/none/x/y"),
            ("l/a.txt/x", "d/a.txt/x"),
            ("l/none/x", "d/none/x"),
            ("loop/x", "loop/x"),
            ("out", "out"),
            ("../w/d/a.txt/x", "d/a.txt/x"),
        ] {
            assert_eq!(laid.workspace.meant(text), Some(place(meant)), "{text}");
        }
        assert_eq!(laid.workspace.meant("../out/x"), None);
    }

    #[test]
    fn a_link_into_another_root_lands_there() {
        let mut laid = Laid::new();
        laid.write("../out/x", "x");
        laid.link("../out/x", "l");
        let out = laid.admit_out();
        let target = laid.workspace.resolve("l").unwrap();
        assert_eq!(target.place.root, out);
        assert_eq!(target.place.path.as_str(), "x");
        assert_eq!(target.root.name(), &out);
        assert_eq!(laid.workspace.resolve("../out/x").unwrap().place, target.place);
    }

    #[test]
    fn a_root_may_be_named_through_a_symlink() {
        let laid = Laid::with(&[("x", "x")]);
        laid.link("w", "../alias");
        let alias = laid.path("../alias").canonicalize().unwrap();
        assert_eq!(alias, laid.path("").canonicalize().unwrap());
        let text = laid.path("").parent().unwrap().join("alias/x");
        assert_eq!(shown(&laid, text.to_str().unwrap()), "x (file)");
    }

    #[test]
    fn a_root_that_was_renamed_is_still_the_root() {
        let laid = Laid::with(&[("d/x", "x")]);
        std::fs::rename(laid.path(""), laid.path("../moved")).unwrap();
        assert_eq!(shown(&laid, "d/x"), "d/x (file)");
    }

    #[test]
    fn a_name_that_the_system_refuses_is_an_error_of_the_system() {
        let laid = Laid::new();
        let error = laid.workspace.resolve(&"x".repeat(300)).unwrap_err();
        assert!(matches!(error, PathError::Io { verb: "look up", .. }), "{error:?}");
    }
}
