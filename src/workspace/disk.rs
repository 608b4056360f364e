//! The system-call seam: every call that a transaction makes on the user's files and on its journal.
//!
//! One method is one call, or one that fails or happens as a whole, so that a test can fail or stop at any
//! of them. The real disk is thin: what a call means to a transaction is decided by its callers. Names are
//! single segments below an open folder, and no symlink is ever followed.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::fs::{
    Access, AtFlags, FileType, FlockOperation, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags,
};
use rustix::io::Errno;

use super::beneath;
use crate::path::RelPath;
use crate::store::{Blobs, StoreError};
use crate::text::Digest;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink, a pipe, a socket or a device.
    Other,
}

/// What is known of a file without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// The permission bits with set-id and sticky bits.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// How many names it has.
    pub n_links: u64,
    /// The size.
    pub bytes: u64,
    /// The device and the number on it: what tells one file from another.
    pub identity: (u64, u64),
}

/// An extended attribute: its name and its value.
pub type Attribute = (CString, Vec<u8>);

/// The calls that a transaction makes.
#[expect(clippy::missing_errors_doc, reason = "each gives what the system says")]
pub trait Disk: Sync {
    /// Returns how many calls may run side by side.
    fn lanes(&self) -> usize;
    /// Opens a folder beneath a root's folder, following no symlink.
    fn open_dir(&self, root: BorrowedFd<'_>, path: &RelPath) -> io::Result<OwnedFd>;
    /// Looks at a name; nothing where there is none.
    fn stat(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<Option<Meta>>;
    /// Looks at an open file or folder.
    fn stat_open(&self, file: BorrowedFd<'_>) -> io::Result<Meta>;
    /// Returns whether this process may write what a name stands for.
    fn may_write(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<bool>;
    /// Opens a file to read it.
    fn open_read(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<File>;
    /// Opens a file to read and write it.
    fn open_write(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<File>;
    /// Creates a file that must not exist, with the permissions `mode` less the process's mask.
    fn create(&self, dir: BorrowedFd<'_>, name: &str, mode: u32) -> io::Result<File>;
    /// Reads at an offset; returns how many bytes were read, none at the end.
    fn read_at(&self, file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes at an offset; returns how many bytes were written.
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Sets a file's length.
    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()>;
    /// Sets the permission bits.
    fn chmod(&self, file: &File, mode: u32) -> io::Result<()>;
    /// Sets owner and group.
    fn chown(&self, file: &File, uid: u32, gid: u32) -> io::Result<()>;
    /// Returns all extended attributes; none where the file system has no such thing.
    fn attributes(&self, file: &File) -> io::Result<Vec<Attribute>>;
    /// Sets an extended attribute.
    fn set_attribute(&self, file: &File, attribute: &Attribute) -> io::Result<()>;
    /// Removes an extended attribute.
    fn remove_attribute(&self, file: &File, attribute: &Attribute) -> io::Result<()>;
    /// Makes a file's content, or a folder's names, outlast a loss of power.
    fn sync(&self, file: BorrowedFd<'_>) -> io::Result<()>;
    /// Exchanges what two names stand for, in one step.
    fn exchange(&self, dir: BorrowedFd<'_>, one: &str, other: &str) -> io::Result<()>;
    /// Renames, unless the new name exists.
    fn rename_new(&self, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()>;
    /// Renames over whatever the new name stands for.
    fn rename_over(
        &self,
        from_dir: BorrowedFd<'_>,
        from: &str,
        to_dir: BorrowedFd<'_>,
        to: &str,
    ) -> io::Result<()>;
    /// Gives a file a second name, unless that exists.
    fn link(&self, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file's name.
    fn unlink(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()>;
    /// Makes a folder.
    fn mkdir(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()>;
    /// Removes an empty folder.
    fn rmdir(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()>;
    /// Takes the lock of an open folder or file; false while another handle holds it.
    fn try_lock(&self, file: BorrowedFd<'_>) -> io::Result<bool>;
    /// Keeps a content in the store.
    fn put_blob(&self, blobs: &Blobs, digest: Digest, bytes: &[u8]) -> Result<(), StoreError>;
    /// Moves a file, whose content has that digest, into the store.
    fn adopt_blob(
        &self,
        blobs: &Blobs,
        digest: Digest,
        dir: BorrowedFd<'_>,
        name: &str,
    ) -> Result<(), StoreError>;
}

/// The disk of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

/// More than the commits that one device joins into one, and few enough threads to start.
const LANES: usize = 16;

const FILE: OFlags =
    OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl Disk for RealDisk {
    fn lanes(&self) -> usize {
        LANES
    }

    fn open_dir(&self, root: BorrowedFd<'_>, path: &RelPath) -> io::Result<OwnedFd> {
        beneath::open_dir(root, path)
    }

    fn stat(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<Option<Meta>> {
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(meta(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn stat_open(&self, file: BorrowedFd<'_>) -> io::Result<Meta> {
        Ok(meta(&rustix::fs::fstat(file)?))
    }

    fn may_write(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<bool> {
        match rustix::fs::accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS) {
            Ok(()) => Ok(true),
            Err(Errno::ACCESS | Errno::PERM) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn open_read(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<File> {
        Ok(File::from(rustix::fs::openat(dir, name, OFlags::RDONLY | FILE, Mode::empty())?))
    }

    fn open_write(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<File> {
        Ok(File::from(rustix::fs::openat(dir, name, OFlags::RDWR | FILE, Mode::empty())?))
    }

    fn create(&self, dir: BorrowedFd<'_>, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | FILE;
        Ok(File::from(rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(mode))?))
    }

    fn read_at(&self, file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(bytes, offset)
    }

    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }

    fn set_len(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }

    fn chmod(&self, file: &File, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
    }

    fn chown(&self, file: &File, uid: u32, gid: u32) -> io::Result<()> {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        Ok(rustix::fs::fchown(file, Some(uid), Some(gid))?)
    }

    fn attributes(&self, file: &File) -> io::Result<Vec<Attribute>> {
        match names_of_attributes(file) {
            Ok(names) => names
                .into_iter()
                .map(|name| attribute(file, &name).map(|value| (name, value)))
                .collect(),
            Err(Errno::NOTSUP | Errno::NOSYS) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn set_attribute(&self, file: &File, (name, value): &Attribute) -> io::Result<()> {
        Ok(rustix::fs::fsetxattr(file, name, value, XattrFlags::empty())?)
    }

    fn remove_attribute(&self, file: &File, (name, _): &Attribute) -> io::Result<()> {
        Ok(rustix::fs::fremovexattr(file, name)?)
    }

    fn sync(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        Ok(rustix::fs::fsync(file)?)
    }

    fn exchange(&self, dir: BorrowedFd<'_>, one: &str, other: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(dir, one, dir, other, RenameFlags::EXCHANGE)?)
    }

    fn rename_new(&self, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE)?)
    }

    fn rename_over(
        &self,
        from_dir: BorrowedFd<'_>,
        from: &str,
        to_dir: BorrowedFd<'_>,
        to: &str,
    ) -> io::Result<()> {
        Ok(rustix::fs::renameat(from_dir, from, to_dir, to)?)
    }

    fn link(&self, dir: BorrowedFd<'_>, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::linkat(dir, from, dir, to, AtFlags::empty())?)
    }

    fn unlink(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn mkdir(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o777))?)
    }

    fn rmdir(&self, dir: BorrowedFd<'_>, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    fn try_lock(&self, file: BorrowedFd<'_>) -> io::Result<bool> {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn put_blob(&self, blobs: &Blobs, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        blobs.put(digest, bytes)
    }

    fn adopt_blob(
        &self,
        blobs: &Blobs,
        digest: Digest,
        dir: BorrowedFd<'_>,
        name: &str,
    ) -> Result<(), StoreError> {
        blobs.adopt(digest, dir, name)
    }
}

// The width and sign of these fields differ between systems; a value that does not fit is none of ours.
#[cfg_attr(
    target_os = "linux",
    expect(clippy::useless_conversion, reason = "the types differ on other systems")
)]
fn meta(stat: &rustix::fs::Stat) -> Meta {
    Meta {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Kind::Other,
        },
        mode: u32::from(stat.st_mode) & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        n_links: u64::from(stat.st_nlink),
        bytes: u64::try_from(stat.st_size).unwrap_or(0),
        identity: (u64::try_from(stat.st_dev).unwrap_or(0), stat.st_ino),
    }
}

fn names_of_attributes(file: &File) -> Result<Vec<CString>, Errno> {
    let n_bytes = rustix::fs::flistxattr_query(file)?;
    if n_bytes == 0 {
        return Ok(Vec::new());
    }
    // An attribute that is added meanwhile is a race that the digests do not cover either.
    let mut list = vec![0; n_bytes];
    let n_bytes = rustix::fs::flistxattr(file, &mut list[..])?;
    list.truncate(n_bytes);
    Ok(list
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .filter_map(|name| CString::new(name).ok())
        .collect())
}

fn attribute(file: &File, name: &CString) -> io::Result<Vec<u8>> {
    let n_bytes = rustix::fs::fgetxattr_query(file, name)?;
    let mut value = vec![0; n_bytes];
    if n_bytes == 0 {
        return Ok(value);
    }
    let n_bytes = rustix::fs::fgetxattr(file, name, &mut value[..])?;
    value.truncate(n_bytes);
    Ok(value)
}

/// A file that was read: what it is, its digest, and its bytes unless it is larger than asked for.
#[derive(Debug)]
pub struct Content {
    /// What it was when it was opened.
    pub meta: Meta,
    /// The digest of its bytes.
    pub digest: Digest,
    /// The bytes, if they are few enough to keep.
    pub bytes: Option<Vec<u8>>,
}

/// What stands at a name.
#[derive(Debug)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A regular file.
    File(Content),
    /// A folder.
    Folder,
    /// Something that is neither.
    Other,
}

impl Found {
    /// Returns whether this is a file of that digest.
    pub fn is(&self, digest: Option<Digest>) -> bool {
        match self {
            Self::File(content) => Some(content.digest) == digest,
            Self::Nothing | Self::Folder | Self::Other => false,
        }
    }

    /// Returns whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::File(_) | Self::Folder | Self::Other => false,
        }
    }
}

/// Looks at a name and reads a regular file there; what is no regular file is not opened.
pub fn find(
    disk: &dyn Disk,
    dir: BorrowedFd<'_>,
    name: &str,
    keep_bytes: u64,
) -> io::Result<Found> {
    match disk.stat(dir, name)?.map(|meta| meta.kind) {
        None => return Ok(Found::Nothing),
        Some(Kind::Folder) => return Ok(Found::Folder),
        Some(Kind::Other) => return Ok(Found::Other),
        Some(Kind::File) => {}
    }
    let file = disk.open_read(dir, name)?;
    let meta = disk.stat_open(file.as_fd())?;
    match meta.kind {
        Kind::File => Ok(Found::File(read(disk, &file, meta, keep_bytes)?)),
        Kind::Folder => Ok(Found::Folder),
        Kind::Other => Ok(Found::Other),
    }
}

/// Reads an open file whole, keeping its bytes if they are at most `keep_bytes`.
pub fn read(disk: &dyn Disk, file: &File, meta: Meta, keep_bytes: u64) -> io::Result<Content> {
    if meta.bytes > keep_bytes {
        return Ok(Content { meta, digest: digest_of(disk, file)?, bytes: None });
    }
    let mut bytes = vec![0; usize::try_from(meta.bytes).unwrap_or(0) + 1];
    let mut filled = 0;
    loop {
        let free = bytes.get_mut(filled..).unwrap_or_default();
        let n_read = retried(|| disk.read_at(file, free, filled as u64))?;
        if n_read == 0 {
            break;
        }
        filled += n_read;
        if filled == bytes.len() {
            bytes.resize(filled * 2, 0);
        }
    }
    bytes.truncate(filled);
    Ok(Content { meta, digest: Digest::of(&bytes), bytes: Some(bytes) })
}

fn digest_of(disk: &dyn Disk, file: &File) -> io::Result<Digest> {
    const BLOCK_BYTES: usize = 1 << 20;
    let mut hasher = blake3::Hasher::new();
    let mut block = vec![0; BLOCK_BYTES];
    let mut offset = 0;
    loop {
        let n_read = retried(|| disk.read_at(file, &mut block, offset))?;
        hasher.update(block.get(..n_read).unwrap_or_default());
        if n_read == 0 {
            return Digest::from_hex(&hasher.finalize().to_hex())
                .ok_or_else(|| io::Error::other("a digest is not 64 hex digits"));
        }
        offset += n_read as u64;
    }
}

/// Writes all of `bytes` at the beginning of a file.
pub fn write_all(disk: &dyn Disk, file: &File, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let offset = (bytes.len() - rest.len()) as u64;
        let n_written = retried(|| disk.write_at(file, rest, offset))?;
        if n_written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        rest = rest.get(n_written..).unwrap_or_default();
    }
    Ok(())
}

fn retried(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
