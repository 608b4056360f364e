//! Where the parts of the state lie: the state folder, and one folder a workspace.
//!
//! Opening makes nothing; the first write of a part makes its folder.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Folder, StoreError};

/// The state folder.
#[derive(Clone, Debug)]
pub struct Store {
    path: Arc<Path>,
}

/// The part of the state that belongs to one workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceStore {
    store: Store,
    key: Arc<str>,
}

impl Store {
    /// Takes `path`, which need not exist, as the state folder.
    ///
    /// Errors: `Symlink`, `Foreign`, or what the system says of a folder that is there.
    pub fn open(path: PathBuf) -> Result<Self, StoreError> {
        Folder::top(&path)?;
        Ok(Self { path: Arc::from(path) })
    }

    /// Returns the state folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the part of the workspace whose canonical root path is `root`.
    pub fn workspace(&self, root: &Path) -> WorkspaceStore {
        let hex = blake3::hash(root.as_os_str().as_bytes()).to_hex();
        WorkspaceStore {
            store: self.clone(),
            key: Arc::from(hex.chars().take(32).collect::<String>()),
        }
    }

    /// Opens a folder of the state by the names that lead to it; nothing where there is none.
    pub fn folder(&self, names: &[&str]) -> Result<Option<Folder>, StoreError> {
        let mut found = Folder::top(&self.path)?;
        for name in names {
            let Some(folder) = found else { return Ok(None) };
            found = folder.child(name)?;
        }
        Ok(found)
    }

    /// Opens a folder of the state, making what is missing.
    pub fn make_folder(&self, names: &[&str]) -> Result<Folder, StoreError> {
        names
            .iter()
            .try_fold(Folder::make_top(&self.path)?, |folder, name| folder.make_child(name))
    }
}

impl WorkspaceStore {
    /// Returns the whole state that this is a part of.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the workspace's name in the state: 32 hex digits.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the part of another workspace by its key, or nothing where the text is no key.
    pub fn with_key(store: &Store, key: &str) -> Option<Self> {
        let hex =
            key.len() == 32 && key.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        hex.then(|| Self { store: store.clone(), key: Arc::from(key) })
    }

    /// Opens a folder of this workspace by the names that lead to it; nothing where there is none.
    pub fn folder(&self, names: &[&str]) -> Result<Option<Folder>, StoreError> {
        self.store.folder(&self.below(names))
    }

    /// Opens a folder of this workspace, making what is missing.
    pub fn make_folder(&self, names: &[&str]) -> Result<Folder, StoreError> {
        self.store.make_folder(&self.below(names))
    }

    /// Opens the folder of a session; nothing where there is none.
    pub fn session(&self, name: &str) -> Result<Option<Folder>, StoreError> {
        self.folder(&["sessions", name])
    }

    /// Opens the folder of a session, making what is missing.
    pub fn make_session(&self, name: &str) -> Result<Folder, StoreError> {
        self.make_folder(&["sessions", name])
    }

    /// Returns the names of the workspace's sessions, sorted.
    pub fn sessions(&self) -> Result<Vec<String>, StoreError> {
        self.folder(&["sessions"])?.map_or_else(|| Ok(Vec::new()), |folder| folder.names())
    }

    fn below<'n>(&'n self, names: &[&'n str]) -> Vec<&'n str> {
        ["workspaces", &*self.key].into_iter().chain(names.iter().copied()).collect()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test looks at the real files")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn opening_makes_nothing_and_writing_makes_closed_folders_and_files() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deep/state");
        let store = Store::open(path.clone()).unwrap();
        let workspace = store.workspace(Path::new("/w"));
        assert!(workspace.session("a").unwrap().is_none());
        assert!(!home.path().join("deep").exists());
        workspace.make_session("a").unwrap().write("log", b"x").unwrap();
        let file = path.join("workspaces").join(workspace.key()).join("sessions/a/log");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        file.ancestors().skip(1).take(5).for_each(|folder| assert_eq!(mode(folder), 0o700));
        assert_eq!(workspace.sessions().unwrap(), ["a"]);
        assert_eq!(workspace.key().len(), 32);
    }

    #[test]
    fn a_state_folder_that_is_a_symlink_is_refused() {
        let home = tempfile::tempdir().unwrap();
        symlink(home.path(), home.path().join("link")).unwrap();
        let refused = Store::open(home.path().join("link")).unwrap_err();
        assert!(matches!(refused, StoreError::Symlink(_)), "{refused}");
    }

    #[test]
    fn a_symlink_inside_the_state_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), home.path().join("spill")).unwrap();
        let store = Store::open(home.path().to_owned()).unwrap();
        let refused = store.make_folder(&["spill", "s"]).unwrap_err();
        assert!(matches!(refused, StoreError::Symlink(_)), "{refused}");
        assert!(matches!(store.make_folder(&[".."]).unwrap_err(), StoreError::BadName(_)));
    }

    #[test]
    fn a_state_folder_open_to_others_is_closed() {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Store::open(home.path().to_owned()).unwrap();
        assert_eq!(fs::metadata(home.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
