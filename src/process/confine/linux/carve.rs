//! Which rules stand for a confinement where no mount keeps what is sealed: a folder that holds something
//! sealed or hidden is granted child by child.
//!
//! What is made at the top of such a folder later has no rule, and making it has none either.

use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::mounts::SHARED_MEMORY;
use crate::process::confine::{ConfineError, Confinement};

/// The rules to be: which rights hold at and below which places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    pub(super) read: Vec<PathBuf>,
    pub(super) write: Vec<PathBuf>,
    /// Folders whose names can be listed, and nothing more.
    pub(super) list: Vec<PathBuf>,
}

impl Grants {
    /// Returns the grants where mounts keep what is sealed and hidden.
    pub(super) fn whole(confinement: &Confinement) -> Self {
        let shared = [&confinement.temp, Path::new(SHARED_MEMORY)].map(Path::to_owned);
        Self {
            read: confinement.readable.iter().chain(&shared).cloned().collect(),
            write: confinement.writable.iter().chain(&shared).cloned().collect(),
            list: Vec::new(),
        }
    }

    /// Returns the grants where nothing but them keeps what is sealed and hidden.
    pub(super) fn carved(confinement: &Confinement) -> Result<Self, ConfineError> {
        let mut grants = Self::default();
        let hidden: Vec<&Path> = confinement.hidden.iter().map(PathBuf::as_path).collect();
        let mut kept: Vec<&Path> = confinement.sealed.iter().map(PathBuf::as_path).collect();
        kept.extend(&hidden);
        for path in &confinement.readable {
            carve(path, &hidden, &mut grants.read, &mut grants.list)?;
        }
        let mut unlisted = Vec::new();
        for path in &confinement.writable {
            carve(path, &kept, &mut grants.write, &mut unlisted)?;
        }
        grants.read.push(confinement.temp.clone());
        grants.write.push(confinement.temp.clone());
        Ok(grants)
    }
}

/// Adds a place to `granted` as far as it holds none of `kept`; the folders that do go to `split`.
fn carve(
    path: &Path,
    kept: &[&Path],
    granted: &mut Vec<PathBuf>,
    split: &mut Vec<PathBuf>,
) -> Result<(), ConfineError> {
    if kept.iter().any(|kept| path.starts_with(kept)) {
        return Ok(());
    }
    if !kept.iter().any(|kept| kept.starts_with(path)) {
        granted.push(path.to_owned());
        return Ok(());
    }
    split.push(path.to_owned());
    for child in children(path)? {
        carve(&child, kept, granted, split)?;
    }
    Ok(())
}

/// Returns what lies in a folder, without symlinks; nothing if it is no folder any more.
fn children(folder: &Path) -> Result<Vec<PathBuf>, ConfineError> {
    let fail = |error: Errno| ConfineError::path("list", folder)(error);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(CWD, folder, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
        Err(error) => return Err(fail(error)),
    };
    let mut children = Vec::new();
    for entry in Dir::new(fd).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().to_bytes();
        if entry.file_type() != FileType::Symlink && name != b"." && name != b".." {
            let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name);
            children.push(folder.join(name));
        }
    }
    children.sort_unstable();
    Ok(children)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test lays out real files")]
mod tests {
    use super::*;
    use crate::process::confine::Sockets;

    #[test]
    fn a_folder_that_holds_something_kept_is_granted_child_by_child() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path();
        for folder in [".git", ".killick", "src", "sub/.git", "sub/lib"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        for file in ["a.txt", ".killick/settings.local.json", ".killick/x"] {
            std::fs::write(top.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("src", top.join("link")).unwrap();
        let at = |paths: &[&str]| -> Vec<PathBuf> {
            paths.iter().map(|path| top.join(path)).collect()
        };
        let confinement = Confinement {
            readable: at(&[""]),
            writable: at(&[""]),
            sealed: at(&[".git", ".killick", "sub/.git"]),
            hidden: at(&[".killick/settings.local.json"]),
            temp: PathBuf::from("/t"),
            sockets: Sockets::Pairs,
        };
        let grants = Grants::carved(&confinement).unwrap();
        let temp = PathBuf::from("/t");
        let mut write = at(&["a.txt", "src", "sub/lib"]);
        write.push(temp.clone());
        let mut read = at(&[".git", ".killick/x", "a.txt", "src", "sub"]);
        read.push(temp);
        assert_eq!(grants, Grants { read, write, list: at(&["", ".killick"]) });
    }
}
