//! Positions in text: 1-based line numbers and byte offsets, so that the two are never mixed up.

use std::fmt;

/// A line's number, 1-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineNo(u32);

impl LineNo {
    /// The first line.
    pub const FIRST: Self = Self(1);

    /// Returns line number `number`; nothing for 0 or for a number past `u32`.
    pub fn new(number: u64) -> Option<Self> {
        u32::try_from(number).ok().filter(|&number| number > 0).map(Self)
    }

    /// Returns the number of the line at 0-based `index`; the last representable number where that overflows.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// Returns the 0-based index of the line.
    pub fn index(self) -> usize {
        self.0 as usize - 1
    }

    /// Returns the 1-based number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for LineNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A distance in bytes from the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteOffset(pub usize);
