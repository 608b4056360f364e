//! A private temporary folder, which goes away with its session.
//!
//! One that a session left behind when it was killed is removed by the next: nobody holds its lock.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use super::ConfineError;

const PREFIX: &str = "killick-";

/// How many digits follow the prefix.
const N_DIGITS: usize = 16;

/// How often a folder is made before that counts as hopeless.
const MAX_TRIES: usize = 16;

/// A folder of a session's own, removed with all in it when this is dropped.
#[derive(Debug)]
pub struct PrivateTemp {
    path: PathBuf,
    /// Its lock says that somebody uses the folder.
    _held: OwnedFd,
}

impl PrivateTemp {
    /// Makes a folder in `base` that nobody else may enter.
    pub fn make(base: &Path) -> Result<Self, ConfineError> {
        let base = base.canonicalize().map_err(ConfineError::path("find", base))?;
        remove_abandoned(&base);
        let mut tried = base.clone();
        for _ in 0..MAX_TRIES {
            tried = base.join(name()?);
            rustix::fs::mkdir(&tried, Mode::RWXU)
                .map_err(ConfineError::path("make", &tried))?;
            // Somebody who tidied up may have taken it for abandoned before it was held.
            if let Ok(held) = hold(&tried)
                && is_at(&held, &tried)
            {
                return Ok(Self { path: tried, _held: held });
            }
        }
        Err(ConfineError::path("keep", &tried)(Errno::AGAIN))
    }

    /// Returns the folder's absolute path without symlinks.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateTemp {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn hold(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
    rustix::fs::flock(held.as_fd(), FlockOperation::NonBlockingLockExclusive)?;
    Ok(held)
}

/// Removes a folder with all in it; what cannot be removed stays for the system to tidy.
#[expect(
    clippy::disallowed_methods,
    reason = "the folder is killick's own and of no other module"
)]
fn remove(path: &Path) {
    let _stays = std::fs::remove_dir_all(path);
}

fn remove_abandoned(base: &Path) {
    for (path, _held) in abandoned(base).unwrap_or_default() {
        remove(&path);
    }
}

fn name() -> Result<String, ConfineError> {
    let mut noise = [0; N_DIGITS / 2];
    getrandom(&mut noise, GetRandomFlags::empty())
        .map_err(ConfineError::process("get random bytes"))?;
    Ok(format!("{PREFIX}{:016x}", u64::from_le_bytes(noise)))
}

fn is_at(held: &OwnedFd, path: &Path) -> bool {
    let there = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    let here = rustix::fs::fstat(held);
    matches!((here, there), (Ok(a), Ok(b)) if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino))
}

/// Returns the folders of ours that nobody uses any more, each held so that nobody begins to.
fn abandoned(base: &Path) -> rustix::io::Result<Vec<(PathBuf, OwnedFd)>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(CWD, base, flags, Mode::empty())?;
    let me = rustix::process::geteuid();
    let mut abandoned = Vec::new();
    for entry in rustix::fs::Dir::new(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if !is_ours(name) {
            continue;
        }
        let path = base.join(name);
        let is_mine = rustix::fs::statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| stat.st_uid == me.as_raw());
        // Whoever uses it holds the lock.
        if is_mine && let Ok(held) = hold(&path) {
            abandoned.push((path, held));
        }
    }
    Ok(abandoned)
}

fn is_ours(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| {
        rest.len() == N_DIGITS && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out real files")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_folder_goes_with_its_session_and_an_abandoned_one_with_the_next() {
        let base = tempfile::tempdir().unwrap();
        let left = base.path().join("killick-0123456789abcdef");
        std::fs::create_dir_all(left.join("x")).unwrap();
        std::fs::create_dir_all(base.path().join("killick-other")).unwrap();
        let temp = PrivateTemp::make(base.path()).unwrap();
        let mode = std::fs::metadata(temp.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(!left.exists());
        let other = PrivateTemp::make(base.path()).unwrap();
        assert!(temp.path().exists(), "it is in use");
        std::fs::write(temp.path().join("f"), "").unwrap();
        drop(temp);
        drop(other);
        let names: Vec<_> = std::fs::read_dir(base.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["killick-other"]);
    }
}
