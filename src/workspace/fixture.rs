//! A real folder for this module's tests: files, links and odd things laid out beneath a workspace.
#![expect(clippy::disallowed_methods, reason = "the tests lay out real files")]

use std::path::{Path, PathBuf};

use crate::path::{Place, RelPath, RootName};

use super::root::{Access, Root};
use super::roots::Workspace;

/// A temporary folder with a workspace `w` and a folder `out` beside it that is outside.
pub(super) struct Laid {
    folder: tempfile::TempDir,
    pub(super) workspace: Workspace,
}

impl Laid {
    /// Lays out an empty workspace.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("w")).unwrap();
        std::fs::create_dir(folder.path().join("out")).unwrap();
        let main = root(RootName::workspace(), &folder.path().join("w"));
        Self { folder, workspace: Workspace::open(main, Vec::new()) }
    }

    /// Lays out a workspace with files, each its path and its content.
    pub(super) fn with(files: &[(&str, &str)]) -> Self {
        let laid = Self::new();
        for (path, content) in files {
            laid.write(path, content);
        }
        laid
    }

    /// Makes the folder `out` a root of its own.
    pub(super) fn admit_out(&mut self) -> RootName {
        let out = self.folder.path().join("out").canonicalize().unwrap();
        let name = RootName::absolute(out.to_str().unwrap());
        self.workspace = self.workspace.with_root(root(name.clone(), &out));
        name
    }

    /// Returns the absolute path of something below the workspace.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join("w").join(path)
    }

    pub(super) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn link(&self, target: &str, link: &str) {
        let link = self.path(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
    }

    pub(super) fn mkdir(&self, path: &str) {
        std::fs::create_dir_all(self.path(path)).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        let path = self.path(path);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }

    /// Makes a pipe; opening it for reading would block.
    pub(super) fn fifo(&self, path: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, self.path(path), fifo, mode, 0).unwrap();
    }

    /// Makes a file of `len` bytes that takes no room.
    pub(super) fn sparse(&self, path: &str, len: u64) {
        std::fs::File::create(self.path(path)).unwrap().set_len(len).unwrap();
    }
}

/// Opens a folder as a root that may be written.
pub(super) fn root(name: RootName, folder: &Path) -> Root {
    Root::open(name, folder, Access::Write).unwrap()
}

/// Returns a place in the workspace.
pub(super) fn place(path: &str) -> Place {
    Place::in_workspace(RelPath::parse(path).unwrap())
}
