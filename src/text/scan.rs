//! The line table of a text: where each line starts and ends, and how it ends. Hot.
//!
//! Only LF and CRLF end a line; a lone CR and every other control character is content. A final line
//! ending terminates its line and opens no further one, so `"a\n"` is one line and `"a\n\n"` two.
//! This module does not decide what a file is for; it only says why bytes are not text.

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// The text ends without a line ending.
    None,
}

impl Ending {
    /// Returns the ending's bytes as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::None => "",
        }
    }
}

/// Where one line's content lies, without its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpan {
    /// Byte offset of the content's first byte.
    pub start: u32,
    /// Byte offset just past the content.
    pub end: u32,
    /// What follows the content.
    pub ending: Ending,
}

/// Why bytes are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// A NUL byte at this 0-based offset.
    #[error("byte {0} is NUL")]
    Nul(usize),
    /// The bytes from this 0-based offset on are not UTF-8.
    #[error("byte {0} is not UTF-8")]
    Encoding(usize),
    /// The text does not fit 32-bit offsets.
    #[error("the text is over 4 GiB")]
    Size,
}

pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Takes `bytes` as text without a copy.
pub(super) fn take(bytes: Vec<u8>) -> Result<String, NotText> {
    allowed(&bytes)?;
    String::from_utf8(bytes)
        .map_err(|error| NotText::Encoding(error.utf8_error().valid_up_to()))
}

/// Checks that `bytes` are text.
pub(super) fn check(bytes: &[u8]) -> Result<&str, NotText> {
    allowed(bytes)?;
    std::str::from_utf8(bytes).map_err(|error| NotText::Encoding(error.valid_up_to()))
}

/// Checks what is no question of encoding: the size, and NUL bytes.
fn allowed(bytes: &[u8]) -> Result<(), NotText> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(NotText::Size);
    }
    memchr::memchr(0, bytes).map_or(Ok(()), |at| Err(NotText::Nul(at)))
}

/// Returns the line table of `text`, whose content begins at `from` (past a byte-order mark).
pub(super) fn lines(text: &str, from: usize) -> Vec<LineSpan> {
    let bytes = text.as_bytes();
    let body = bytes.get(from..).unwrap_or_default();
    let mut spans = Vec::with_capacity(memchr::memchr_iter(b'\n', body).count() + 1);
    let mut start = from;
    for newline in memchr::memchr_iter(b'\n', body) {
        let newline = from + newline;
        let crlf = newline > start && bytes[newline - 1] == b'\r';
        let (end, ending) =
            if crlf { (newline - 1, Ending::CrLf) } else { (newline, Ending::Lf) };
        spans.push(LineSpan { start: offset(start), end: offset(end), ending });
        start = newline + 1;
    }
    if start < bytes.len() {
        spans.push(LineSpan {
            start: offset(start),
            end: offset(bytes.len()),
            ending: Ending::None,
        });
    }
    spans
}

/// Narrows an offset that [`check`] has proved to fit.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
