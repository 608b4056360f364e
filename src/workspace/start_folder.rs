//! The folder in which a program starts, as the path that the system takes.
//!
//! A program is no file tool: it gets a path and goes where the system lets it. Nothing here judges
//! whether it may.

use std::io;
use std::path::{Path, PathBuf};

use super::roots::Workspace;
use crate::path::Place;

/// Why a program cannot start in a folder.
#[derive(Debug, thiserror::Error)]
pub enum NoFolder {
    /// Nothing stands there.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// Something else stands there.
    #[error("`{}` is no folder", .0.display())]
    NotAFolder(PathBuf),
    /// The system refused to say.
    #[error("failed to look at `{}`", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Workspace {
    /// Returns the path of the workspace's own folder.
    pub fn main_folder(&self) -> &Path {
        self.roots().first().map_or(Path::new("/"), |root| root.path())
    }

    /// Returns the path of the folder at a place, which was resolved before.
    pub fn folder_at(&self, place: &Place) -> PathBuf {
        let root = self.root(&place.root).map_or(Path::new("/"), |root| root.path());
        root.join(place.path.as_str())
    }

    /// Returns the path, without symlinks, of any folder of the machine; a relative one starts in the workspace's own.
    pub fn folder_anywhere(&self, text: &str) -> Result<PathBuf, NoFolder> {
        let path = self.main_folder().join(text);
        match path.canonicalize() {
            Ok(folder) if folder.is_dir() => Ok(folder),
            Ok(_) => Err(NoFolder::NotAFolder(path)),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                Err(NoFolder::Missing(path))
            }
            Err(source) => Err(NoFolder::Io { path, source }),
        }
    }
}
