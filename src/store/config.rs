//! Settings files: their bytes, bounded, and the folder in which killick writes one. What they mean is the
//! business of `settings`.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Folder, StoreError, folder};

/// Reads the settings file at `path`, through symlinks; nothing where there is none.
///
/// Errors: `NotRegular` for what is no regular file, `TooLarge` above `limit_bytes`.
pub fn read_settings(path: &Path, limit_bytes: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => folder::read_bounded(File::from(fd), path, limit_bytes).map(Some),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(StoreError::io("open", path)(error)),
    }
}

/// Opens the folder of a project's settings, making it where it is missing.
///
/// Errors: `Symlink` where the folder is one; nothing is written through it.
pub fn settings_folder(path: &Path) -> Result<Folder, StoreError> {
    Folder::make_shared(path)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test lays out real files")]
mod tests {
    use super::*;

    #[test]
    fn settings_are_bounded_and_a_missing_file_is_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("settings.json");
        assert_eq!(read_settings(&path, 10).unwrap(), None);
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(read_settings(&path, 2).unwrap().as_deref(), Some(&b"{}"[..]));
        assert!(matches!(read_settings(&path, 1).unwrap_err(), StoreError::TooLarge { .. }));
        assert!(matches!(
            read_settings(home.path(), 9).unwrap_err(),
            StoreError::NotRegular(_)
        ));
    }
}
