//! Output that a result had no room for: numbered texts of one session, the oldest removed first.

use std::io::Write as _;
use std::path::PathBuf;

use super::{Folder, Store, StoreError};

/// The most bytes that one session's spills hold together.
const SESSION_CAP_BYTES: u64 = 64 << 20;

/// The spills of one session.
#[derive(Clone, Debug)]
pub struct Spill {
    store: Store,
    session: String,
}

impl Spill {
    /// Returns the spills of a session.
    pub fn new(store: &Store, session: &str) -> Self {
        Self { store: store.clone(), session: session.to_owned() }
    }

    /// Returns the folder that the spills are written to; it may not exist yet.
    pub fn path(&self) -> PathBuf {
        self.store.path().join("spill").join(&self.session)
    }

    /// Opens the folder of the spills, making what is missing.
    pub fn folder(&self) -> Result<Folder, StoreError> {
        self.store.make_folder(&["spill", &self.session])
    }

    /// Keeps `text` and returns its file. It need not outlast a loss of power.
    pub fn write(&self, text: &str) -> Result<PathBuf, StoreError> {
        self.write_within(text, SESSION_CAP_BYTES)
    }

    fn write_within(&self, text: &str, cap_bytes: u64) -> Result<PathBuf, StoreError> {
        let folder = self.folder()?;
        let held = folder.hold()?;
        let numbers = numbers(&folder)?;
        let name = format!("{}.txt", numbers.last().map_or(1, |last| last.saturating_add(1)));
        let path = folder.path().join(&name);
        make_room(&folder, &numbers, cap_bytes.saturating_sub(text.len() as u64))?;
        let mut file = folder.create(&name)?;
        let written = file.write_all(text.as_bytes()).map_err(StoreError::io("write", &path));
        if written.is_err() {
            folder.remove(&name)?;
        }
        drop(held);
        written.map(|()| path)
    }
}

fn numbers(folder: &Folder) -> Result<Vec<u64>, StoreError> {
    let mut numbers: Vec<u64> = folder
        .names()?
        .iter()
        .filter_map(|name| name.strip_suffix(".txt")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn make_room(folder: &Folder, numbers: &[u64], room_bytes: u64) -> Result<(), StoreError> {
    let mut held = 0_u64;
    for number in numbers.iter().rev() {
        let name = format!("{number}.txt");
        held = held.saturating_add(folder.info(&name)?.map_or(0, |info| info.bytes));
        if held > room_bytes {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spills_are_numbered_and_the_oldest_make_room() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("s")).unwrap();
        let spill = Spill::new(&store, "one");
        let names = |n: usize| -> Vec<String> {
            (0..n)
                .map(|_| spill.write_within("12345", 12).unwrap())
                .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(4), ["1.txt", "2.txt", "3.txt", "4.txt"]);
        assert_eq!(spill.folder().unwrap().names().unwrap(), ["3.txt", "4.txt"]);
        assert!(matches!(
            Spill::new(&store, "../x").write("").unwrap_err(),
            StoreError::BadName(_)
        ));
    }
}
