//! Reading one file into a snapshot: beneath its root, through no symlink, whole and within a limit.
//!
//! What is no regular file is refused before it is opened, so a pipe never blocks and a device never
//! acts; it is looked at again once it is open. Places come from `resolve`, so a symlink here is one that
//! was put in since. Nothing here decides a limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::path::{Place, RelPath};
use crate::text::{Digest, Digester, NotText, Snapshot};

use super::beneath::open_beneath;
use super::meta::{Meta, file_type};
use super::resolve::LOOKUP;
use super::roots::Workspace;

/// How much of a file is read at a time when it is only digested.
const PIECE_BYTES: usize = 256 << 10;

/// A file's content, and what the file system said of the file when it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The content.
    pub snapshot: Snapshot,
    /// The file's mode, identity and number of names; `len` is as it was at the open.
    pub meta: Meta,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nothing stands at the place.
    #[error("`{0}` does not exist")]
    NotFound(Place),
    /// A folder stands at the place.
    #[error("`{0}` is a folder")]
    IsDirectory(Place),
    /// A pipe, a device or a socket stands at the place.
    #[error("`{0}` is not a regular file")]
    NotRegular(Place),
    /// The file is over the limit.
    #[error("`{place}` has {len} bytes, more than {limit_bytes}")]
    TooLarge {
        /// The file.
        place: Place,
        /// Its size in bytes, at least.
        len: u64,
        /// What it may have.
        limit_bytes: u64,
    },
    /// The bytes are not text.
    #[error("`{place}` is not text")]
    NotText {
        /// The file.
        place: Place,
        /// The first byte that is not, and why.
        #[source]
        why: NotText,
    },
    /// A symlink, or a file in a folder's stead, was put in since the place was resolved.
    #[error("the way to `{0}` was changed during the call")]
    Swapped(Place),
    /// The system refused.
    #[error("failed to {verb} `{place}`")]
    Io {
        /// What was attempted.
        verb: &'static str,
        /// The file.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
}

impl Workspace {
    /// Reads the text file at a canonical place, at most `limit_bytes` of it.
    pub fn load(&self, place: &Place, limit_bytes: u64) -> Result<Loaded, LoadError> {
        let (bytes, meta) = self.load_bytes(place, limit_bytes)?;
        let snapshot = Snapshot::take(bytes)
            .map_err(|why| LoadError::NotText { place: place.clone(), why })?;
        Ok(Loaded { snapshot, meta })
    }

    /// Reads the file at a canonical place, text or not.
    pub fn load_bytes(
        &self,
        place: &Place,
        limit_bytes: u64,
    ) -> Result<(Vec<u8>, Meta), LoadError> {
        let (file, meta) = self.open_file(place)?;
        let mut bytes = Vec::new();
        read_whole(file, place, &meta, limit_bytes, &mut bytes)?;
        Ok((bytes, meta))
    }

    /// Returns the digest and the size of the file at a canonical place, of any size.
    ///
    /// Cost: one pass over the file in small memory.
    pub fn digest(&self, place: &Place) -> Result<(Digest, u64), LoadError> {
        let (mut file, _) = self.open_file(place)?;
        let mut digester = Digester::new();
        let mut piece = vec![0; PIECE_BYTES];
        let mut len = 0u64;
        loop {
            let n = file.read(&mut piece).map_err(|source| LoadError::Io {
                verb: "read",
                place: place.clone(),
                source,
            })?;
            if n == 0 {
                return Ok((digester.finish(), len));
            }
            digester.update(piece.get(..n).unwrap_or_default());
            len = len.saturating_add(n as u64);
        }
    }

    /// Opens the regular file at a canonical place for reading.
    pub(super) fn open_file(&self, place: &Place) -> Result<(File, Meta), LoadError> {
        let (Some(root), Some(parent), Some(name)) =
            (self.root(&place.root), place.path.parent(), place.path.file_name())
        else {
            return Err(LoadError::IsDirectory(place.clone()));
        };
        let dir = open_beneath(root.dir(), &parent, LOOKUP, Mode::empty())
            .map_err(|error| refused("open the folder of", place, error))?;
        let stat = rustix::fs::statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| refused("look up", place, error.into()))?;
        regular(place, file_type(&stat))?;
        let Some(name) = RelPath::root().child(name) else {
            return Err(LoadError::IsDirectory(place.clone()));
        };
        let file = open_beneath(dir.as_fd(), &name, READ, Mode::empty())
            .map_err(|error| refused("open", place, error))?;
        checked(place, file.into())
    }
}

/// How a file is opened for reading: a pipe that was put there meanwhile must not block the open.
pub(super) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Returns an open file with what the system says of it, if it is a regular one.
pub(super) fn checked(place: &Place, file: File) -> Result<(File, Meta), LoadError> {
    let stat =
        rustix::fs::fstat(&file).map_err(|error| refused("look at", place, error.into()))?;
    regular(place, file_type(&stat))?;
    Ok((file, Meta::of(&stat)))
}

/// Reads an open file to its end into `bytes`, whose former content is dropped.
///
/// The limit holds also where the file grows meanwhile.
pub(super) fn read_whole(
    file: File,
    place: &Place,
    meta: &Meta,
    limit_bytes: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), LoadError> {
    bytes.clear();
    let too_large = |len| LoadError::TooLarge { place: place.clone(), len, limit_bytes };
    if meta.len > limit_bytes {
        return Err(too_large(meta.len));
    }
    bytes.reserve(usize::try_from(meta.len).unwrap_or(0).saturating_add(1));
    file.take(limit_bytes.saturating_add(1))
        .read_to_end(bytes)
        .map_err(|source| LoadError::Io { verb: "read", place: place.clone(), source })?;
    match u64::try_from(bytes.len()) {
        Ok(len) if len <= limit_bytes => Ok(()),
        Ok(len) => Err(too_large(len)),
        Err(_) => Err(too_large(u64::MAX)),
    }
}

fn regular(place: &Place, file_type: FileType) -> Result<(), LoadError> {
    match file_type {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(LoadError::IsDirectory(place.clone())),
        FileType::Symlink => Err(LoadError::Swapped(place.clone())),
        _ => Err(LoadError::NotRegular(place.clone())),
    }
}

pub(super) fn refused(verb: &'static str, place: &Place, source: io::Error) -> LoadError {
    match Errno::from_io_error(&source) {
        Some(Errno::NOENT) => LoadError::NotFound(place.clone()),
        Some(Errno::LOOP | Errno::NOTDIR) => LoadError::Swapped(place.clone()),
        _ => LoadError::Io { verb, place: place.clone(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Laid, place};
    use super::*;

    const MIB: u64 = 1 << 20;

    fn refusal(laid: &Laid, path: &str) -> LoadError {
        laid.workspace.load(&place(path), 2 * MIB).unwrap_err()
    }

    #[test]
    fn a_text_file_is_read_whole() {
        let laid = Laid::with(&[("d/a.txt", "one\ntwo"), ("empty", "")]);
        let loaded = laid.workspace.load(&place("d/a.txt"), 7).unwrap();
        assert_eq!((loaded.snapshot.text(), loaded.meta.len), ("one\ntwo", 7));
        assert_eq!(laid.workspace.load(&place("empty"), 0).unwrap().snapshot.n_lines(), 0);
    }

    #[test]
    fn only_regular_files_are_opened() {
        let laid = Laid::new();
        laid.mkdir("d");
        laid.fifo("pipe");
        assert!(matches!(refusal(&laid, "d"), LoadError::IsDirectory(_)));
        assert!(matches!(refusal(&laid, ""), LoadError::IsDirectory(_)));
        assert!(matches!(refusal(&laid, "pipe"), LoadError::NotRegular(_)));
        assert!(matches!(refusal(&laid, "nothing"), LoadError::NotFound(_)));
        assert!(matches!(refusal(&laid, "no/thing"), LoadError::NotFound(_)));
    }

    #[test]
    fn a_device_is_never_opened() {
        let laid = Laid::new();
        let dev = super::super::fixture::root(
            crate::path::RootName::absolute("/dev"),
            std::path::Path::new("/dev"),
        );
        let workspace = laid.workspace.with_root(dev);
        let target = workspace.resolve("/dev/zero").unwrap();
        assert_eq!(target.kind, super::super::Kind::Other);
        let error = workspace.load(&target.place, MIB).unwrap_err();
        assert!(matches!(error, LoadError::NotRegular(_)));
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let laid = Laid::with(&[("five", "12345")]);
        laid.sparse("huge", 10 << 30);
        let LoadError::TooLarge { len, limit_bytes, .. } = refusal(&laid, "huge") else {
            panic!("it was read")
        };
        assert_eq!((len, limit_bytes), (10 << 30, 2 * MIB));
        let error = laid.workspace.load(&place("five"), 4).unwrap_err();
        assert!(matches!(error, LoadError::TooLarge { len: 5, .. }));
    }

    #[test]
    fn a_file_of_the_system_that_says_it_is_empty_is_read_up_to_the_limit() {
        let laid = Laid::new();
        let name = crate::path::RootName::absolute("/proc/self");
        let proc = super::super::fixture::root(name, std::path::Path::new("/proc/self"));
        let workspace = laid.workspace.with_root(proc);
        let place = workspace.resolve("/proc/self/mounts").unwrap().place;
        assert!(workspace.load(&place, MIB).unwrap().snapshot.n_lines() > 0);
        let error = workspace.load(&place, 3).unwrap_err();
        assert!(matches!(error, LoadError::TooLarge { len: 4, .. }));
    }

    #[test]
    fn a_link_that_was_put_in_since_is_refused() {
        let laid = Laid::with(&[("d/x", "x"), ("e/x", "y"), ("f", "z")]);
        let file = laid.workspace.resolve("f").unwrap().place;
        let deep = laid.workspace.resolve("d/x").unwrap().place;
        laid.remove("f");
        laid.link("e/x", "f");
        laid.remove("d");
        laid.link("e", "d");
        for place in [file, deep] {
            let error = laid.workspace.load(&place, MIB).unwrap_err();
            assert!(matches!(error, LoadError::Swapped(_)), "{error:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_say_where() {
        let laid = Laid::new();
        laid.write("nul", b"ab\0");
        laid.write("bytes", b"a\xff");
        assert!(matches!(
            refusal(&laid, "nul"),
            LoadError::NotText { why: NotText::Nul(2), .. }
        ));
        let LoadError::NotText { why, .. } = refusal(&laid, "bytes") else { panic!("text") };
        assert_eq!(why, NotText::Encoding(1));
    }
}
