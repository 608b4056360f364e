//! A folder of the state, held open; every file below it is reached by a plain name, never a symlink.
//!
//! It decides no layout: names come from the parts. A whole-file write is seen whole or not at all, also
//! after a loss of power; appends are the business of `log` and `audit`.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::StoreError;

/// How much of the time and size of a file the bounds need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// The size.
    pub bytes: u64,
    /// When the content last changed.
    pub modified_unix_ms: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// A folder of the state.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const FOLDER_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Returns whether `name` may name a file of the store.
pub(super) fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.len() <= 200 && !name.contains(['/', '\0'])
}

impl Folder {
    /// Opens the state folder itself; nothing where there is none.
    ///
    /// Errors: `Symlink` or `Foreign` where the folder is not this user's own.
    pub(super) fn top(path: &Path) -> Result<Option<Self>, StoreError> {
        match rustix::fs::open(path, FOLDER, Mode::empty()) {
            Ok(fd) => Self { fd, path: path.to_owned() }.own().map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(Self::refused(path, error)),
        }
    }

    /// Opens the state folder, making it and its parents where they are missing.
    pub(super) fn make_top(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = Self::top(path)? {
            return Ok(folder);
        }
        make_all(path).map_err(StoreError::io("make the folder", path))?;
        Self::top(path)?.ok_or_else(|| Self::refused(path, Errno::NOENT))
    }

    /// Opens a folder that lies among the user's own, making it where it is missing; others may enter it.
    pub(super) fn make_shared(path: &Path) -> Result<Self, StoreError> {
        match rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(StoreError::io("make the folder", path)(error)),
        }
        let fd = rustix::fs::open(path, FOLDER, Mode::empty());
        let fd = fd.map_err(|error| Self::refused(path, error))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    fn refused(path: &Path, error: Errno) -> StoreError {
        let is_link = rustix::fs::lstat(path)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
        if is_link {
            return StoreError::Symlink(path.to_owned());
        }
        StoreError::io("open the folder", path)(error)
    }

    fn own(self) -> Result<Self, StoreError> {
        let stat = rustix::fs::fstat(&self.fd).map_err(StoreError::io("stat", &self.path))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(StoreError::Foreign(self.path));
        }
        if stat.st_mode & 0o077 != 0 {
            rustix::fs::fchmod(&self.fd, FOLDER_MODE)
                .map_err(StoreError::io("close to others the folder", &self.path))?;
        }
        Ok(self)
    }

    /// Opens a folder below this one; nothing where there is none.
    pub fn child(&self, name: &str) -> Result<Option<Self>, StoreError> {
        let path = self.path_of(name)?;
        match rustix::fs::openat(&self.fd, name, FOLDER, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, path })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(Self::refused(&path, error)),
        }
    }

    /// Opens a folder below this one, making it where it is missing.
    pub fn make_child(&self, name: &str) -> Result<Self, StoreError> {
        if let Some(child) = self.child(name)? {
            return Ok(child);
        }
        let path = self.path_of(name)?;
        match rustix::fs::mkdirat(&self.fd, name, FOLDER_MODE) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(StoreError::io("make the folder", &path)(error)),
        }
        self.child(name)?.ok_or_else(|| Self::refused(&path, Errno::NOENT))
    }

    /// Returns the open folder.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Returns the path that the folder had when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names in the folder but `.` and `..`, sorted; a name that is not UTF-8 is not ours.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let fail = StoreError::io("list", &self.path);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(&fail)? {
            let entry = entry.map_err(&fail)?;
            if let Ok(name) = entry.file_name().to_str()
                && is_plain(name)
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns size and time of a file or folder; nothing where there is none.
    pub fn info(&self, name: &str) -> Result<Option<FileInfo>, StoreError> {
        let path = self.path_of(name)?;
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileInfo {
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified_unix_ms: unix_ms(stat.st_mtime, stat.st_mtime_nsec),
                is_folder: FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(StoreError::io("stat", &path)(error)),
        }
    }

    /// Reads a file whole; nothing where there is none.
    pub fn read(&self, name: &str, limit_bytes: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path_of(name)?;
        let file =
            match rustix::fs::openat(&self.fd, name, OFlags::RDONLY | FILE, Mode::empty()) {
                Ok(fd) => File::from(fd),
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(StoreError::io("open", &path)(error)),
            };
        read_bounded(file, &path, limit_bytes).map(Some)
    }

    /// Writes a file whole, so that a reader sees the old content or the new one, and both files and
    /// name outlast a loss of power.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path_of(name)?;
        let fail = StoreError::io("write", &path);
        let temp = temp_name(name);
        let written = self.create(&temp).and_then(|mut file| {
            file.write_all(bytes).and_then(|()| file.sync_all()).map_err(&fail)?;
            rustix::fs::renameat(&self.fd, &*temp, &self.fd, name)
                .map_err(|error| fail(error.into()))
        });
        if written.is_err() {
            // The name was ours alone; what remains of it is of no use to anyone.
            let _removed = rustix::fs::unlinkat(&self.fd, &*temp, AtFlags::empty());
        }
        written.and_then(|()| self.sync())
    }

    /// Creates a file that must not exist.
    pub fn create(&self, name: &str) -> Result<File, StoreError> {
        let path = self.path_of(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE;
        rustix::fs::openat(&self.fd, name, flags, FILE_MODE)
            .map(File::from)
            .map_err(StoreError::io("create", &path))
    }

    /// Opens a file to read it and to add at its end, making it where it is missing.
    pub fn open_append(&self, name: &str) -> Result<File, StoreError> {
        let path = self.path_of(name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | FILE;
        rustix::fs::openat(&self.fd, name, flags, FILE_MODE)
            .map(File::from)
            .map_err(StoreError::io("open", &path))
    }

    /// Makes a file's content outlast a loss of power.
    pub(super) fn sync_file(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path_of(name)?;
        rustix::fs::openat(&self.fd, name, OFlags::RDONLY | FILE, Mode::empty())
            .and_then(rustix::fs::fsync)
            .map_err(StoreError::io("sync", &path))
    }

    /// Marks a file as used now, so that it is not the oldest.
    pub(super) fn touch(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path_of(name)?;
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
        rustix::fs::utimensat(&self.fd, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(StoreError::io("touch", &path))
    }

    /// Moves a file from another folder here as `name`: closed to others, and the newest from now on.
    pub(super) fn take(
        &self,
        dir: BorrowedFd<'_>,
        from: &str,
        name: &str,
        limit_bytes: u64,
    ) -> Result<(), StoreError> {
        let path = self.path_of(name)?;
        let fail = StoreError::io("take over", &path);
        let flags = OFlags::RDONLY | FILE;
        let file = rustix::fs::openat(dir, from, flags, Mode::empty()).map_err(&fail)?;
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
        rustix::fs::fchmod(&file, FILE_MODE).map_err(&fail)?;
        rustix::fs::futimens(&file, &times).map_err(&fail)?;
        match rustix::fs::renameat(dir, from, &self.fd, name) {
            Ok(()) => Ok(()),
            Err(Errno::XDEV) => {
                self.write(name, &read_bounded(File::from(file), &path, limit_bytes)?)?;
                self.discard(dir, from)
            }
            Err(error) => Err(fail(error)),
        }
    }

    /// Removes a file from another folder.
    pub(super) fn discard(&self, dir: BorrowedFd<'_>, name: &str) -> Result<(), StoreError> {
        rustix::fs::unlinkat(dir, name, AtFlags::empty())
            .map_err(StoreError::io("remove what was kept in", &self.path))
    }

    /// Removes a file; one that is not there is removed already.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path_of(name)?;
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(StoreError::io("remove", &path)(error)),
        }
    }

    /// Removes a file, or a folder with everything below it. Symlinks are removed, not followed.
    pub fn remove_all(&self, name: &str) -> Result<(), StoreError> {
        if !self.info(name)?.is_some_and(|info| info.is_folder) {
            return self.remove(name);
        }
        if let Some(folder) = self.child(name)? {
            folder.names()?.iter().try_for_each(|below| folder.remove_all(below))?;
        }
        let path = self.path_of(name)?;
        rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
            .map_err(StoreError::io("remove the folder", &path))
    }

    /// Makes the folder's names outlast a loss of power.
    pub fn sync(&self) -> Result<(), StoreError> {
        rustix::fs::fsync(&self.fd).map_err(StoreError::io("sync", &self.path))
    }

    /// Holds the folder for this process alone until the handle that is returned is dropped.
    pub(super) fn hold(&self) -> Result<OwnedFd, StoreError> {
        let fail = StoreError::io("lock", &self.path);
        let fd = rustix::fs::openat(&self.fd, ".", FOLDER, Mode::empty()).map_err(&fail)?;
        lock_patiently(fd.as_fd()).map_err(&fail)?;
        Ok(fd)
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, StoreError> {
        if !is_plain(name) {
            return Err(StoreError::BadName(name.to_owned()));
        }
        Ok(self.path.join(name))
    }
}

/// Reads an open regular file whole.
pub(super) fn read_bounded(
    file: File,
    path: &Path,
    limit_bytes: u64,
) -> Result<Vec<u8>, StoreError> {
    let stat = rustix::fs::fstat(&file).map_err(StoreError::io("stat", path))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(StoreError::NotRegular(path.to_owned()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0).min(1 << 24));
    let limit = limit_bytes.saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(StoreError::io("read", path))?;
    if bytes.len() as u64 > limit_bytes {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit_bytes });
    }
    Ok(bytes)
}

/// Waits for the lock of an open file; a signal does not end the wait.
pub(super) fn lock_patiently(file: BorrowedFd<'_>) -> Result<(), Errno> {
    loop {
        match rustix::fs::flock(file, FlockOperation::LockExclusive) {
            Err(Errno::INTR) => {}
            locked => return locked,
        }
    }
}

/// Returns a name beside `name` that nobody else uses: the process and a count tell it apart.
fn temp_name(name: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let process = rustix::process::getpid().as_raw_nonzero();
    let mut noise = [0; 8];
    // Without noise the name is still unique among the living; a leftover then fails the create.
    let _filled = rustix::rand::getrandom(&mut noise, rustix::rand::GetRandomFlags::empty());
    format!("{name}.{process}-{count}-{:016x}.tmp", u64::from_le_bytes(noise))
}

fn make_all(path: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(path, FOLDER_MODE) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            let parent = path.parent().ok_or(Errno::NOENT)?;
            make_all(parent)?;
            match rustix::fs::mkdir(path, FOLDER_MODE) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

// The width and sign of these fields differ between systems.
fn unix_ms(seconds: impl TryInto<u64>, nanoseconds: impl TryInto<u64>) -> u64 {
    let seconds = seconds.try_into().unwrap_or(0);
    let nanoseconds = nanoseconds.try_into().unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000)
}
