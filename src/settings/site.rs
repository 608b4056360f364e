//! Where a value was written: file, line and column.
//!
//! Lines end at a line feed. Columns count characters, not bytes; a byte order mark counts as none.

use std::fmt;
use std::sync::Arc;

/// A place in a file of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What the caller calls the file.
    pub label: Arc<str>,
    /// The line, 1-based.
    pub line: usize,
    /// The column in characters, 1-based.
    pub column: usize,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.label, self.line, self.column)
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it begins.
    pub site: Site,
}

/// Turns byte offsets into sites.
///
/// Offsets that grow cost the text once in all, which is how a reader asks; one that steps back costs
/// the text again.
#[derive(Debug)]
pub(super) struct Locator<'a> {
    text: &'a str,
    label: Arc<str>,
    offset: usize,
    line: usize,
    column: usize,
}

impl<'a> Locator<'a> {
    pub(super) fn new(label: &str, text: &'a str) -> Self {
        Self { text, label: Arc::from(label), offset: 0, line: 1, column: 1 }
    }

    /// Returns the site of an offset; one past the end counts as the end.
    pub(super) fn site(&mut self, offset: usize) -> Site {
        if offset < self.offset {
            (self.offset, self.line, self.column) = (0, 1, 1);
        }
        let rest = self.text.get(self.offset..).unwrap_or_default();
        for c in rest.chars() {
            if self.offset >= offset {
                break;
            }
            self.offset += c.len_utf8();
            (self.line, self.column) = match c {
                '\n' => (self.line + 1, 1),
                _ => (self.line, self.column + 1),
            };
        }
        Site { label: Arc::clone(&self.label), line: self.line, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_in_either_direction() {
        let mut locator = Locator::new("f", "aé\nüb");
        let mut at = |offset| locator.site(offset).to_string();
        assert_eq!(at(0), "f:1:1");
        assert_eq!(at(3), "f:1:3");
        assert_eq!(at(6), "f:2:2");
        assert_eq!(at(4), "f:2:1");
        assert_eq!(at(99), "f:2:3");
        assert_eq!(at(1), "f:1:2");
    }
}
