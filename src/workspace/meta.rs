//! What the file system says of a file besides its content.

use rustix::fs::{FileType, Stat};

/// What the file system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The size in bytes.
    pub len: u64,
    /// Permission bits, set-id bits and the sticky bit: the low twelve bits of the mode.
    pub mode: u32,
    /// How many names the file has.
    pub n_links: u64,
    /// The device that holds it; with [`Self::inode`] the identity of the file.
    pub device: u64,
    /// Its number on that device.
    pub inode: u64,
}

impl Meta {
    /// Reads what a stat call gave.
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            len: number(stat.st_size),
            mode: stat.st_mode & 0o7777,
            n_links: number(stat.st_nlink),
            device: number(stat.st_dev),
            inode: number(stat.st_ino),
        }
    }

    /// Returns whether anybody at all may write the file.
    pub fn has_write_bit(&self) -> bool {
        self.mode & 0o222 != 0
    }
}

/// Returns what kind of thing a stat call saw.
pub(super) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Widens one of stat's numbers, whose types differ by platform; a negative one becomes the greatest.
pub(super) fn number(n: impl TryInto<u64>) -> u64 {
    n.try_into().unwrap_or(u64::MAX)
}
