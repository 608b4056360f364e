//! One file's content at one moment: its bytes, its lines, and the digests that prove them.
//!
//! A snapshot is immutable and always text. `HH` of an anchor is the first byte of a [`LineDigest`].
//!
//! Invariant: `lines` covers the bytes exactly (content, endings, and a byte-order mark before line 1),
//! and `line_digests` has one entry a line.

use std::fmt;
use std::sync::Arc;

use super::scan::{self, BOM, Ending, LineSpan, NotText};
use super::span::LineNo;

/// BLAKE3 of a whole content, byte-order mark included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Reads 64 lower-case hex digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        lower
            .then(|| blake3::Hash::from_hex(text).ok())
            .flatten()
            .map(|hash| Self(*hash.as_bytes()))
    }

    /// Returns 64 lower-case hex digits.
    pub fn to_hex(self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Takes the digest of bytes that come piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Digester(blake3::Hasher);

impl Digester {
    /// Returns one that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all pieces.
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// The first 128 bits of BLAKE3 of a line's content, without its ending and without a byte-order mark.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineDigest([u8; 16]);

impl LineDigest {
    /// Returns the digest of a line's content.
    pub fn of(content: &[u8]) -> Self {
        let hash = blake3::hash(content);
        let mut short = [0; 16];
        short.copy_from_slice(&hash.as_bytes()[..16]);
        Self(short)
    }

    /// Returns a digest from its 16 bytes, as [`Self::to_bytes`] gave them.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the 16 bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// Returns the two-digit check of an anchor: the first byte.
    pub fn check(self) -> u8 {
        self.0[0]
    }
}

impl fmt::Debug for LineDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A file's content, proved to be text. Cloning shares it.
#[derive(Clone)]
pub struct Snapshot(Arc<Content>);

struct Content {
    text: String,
    digest: Digest,
    body: usize,
    lines: Vec<LineSpan>,
    line_digests: Arc<[LineDigest]>,
}

impl Snapshot {
    /// Takes a copy of `bytes` as text.
    pub fn new(bytes: &[u8]) -> Result<Self, NotText> {
        scan::check(bytes).map(|text| Self::of(text.to_owned()))
    }

    /// Takes `bytes` themselves as text.
    ///
    /// Cost: one pass for NUL, one for UTF-8, one for line ends, and one hash a line.
    pub fn take(bytes: Vec<u8>) -> Result<Self, NotText> {
        scan::take(bytes).map(Self::of)
    }

    fn of(text: String) -> Self {
        let bytes = text.as_bytes();
        let body = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let lines = scan::lines(&text, body);
        let line_digests = lines
            .iter()
            .map(|span| LineDigest::of(&bytes[span.start as usize..span.end as usize]))
            .collect();
        let digest = Digest::of(bytes);
        Self(Arc::new(Content { text, digest, body, lines, line_digests }))
    }

    /// Returns the whole text, byte-order mark included.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.text.as_bytes()
    }

    /// Returns the digest of the bytes.
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// Returns whether the text begins with a byte-order mark.
    pub fn has_bom(&self) -> bool {
        self.0.body > 0
    }

    /// Returns how many lines there are; none for an empty text.
    pub fn n_lines(&self) -> usize {
        self.0.lines.len()
    }

    /// Returns the number of the last line, or nothing where there is no line.
    pub fn last_line(&self) -> Option<LineNo> {
        self.0.lines.len().checked_sub(1).map(LineNo::from_index)
    }

    /// Returns the line table.
    pub fn spans(&self) -> &[LineSpan] {
        &self.0.lines
    }

    /// Returns the content of a line, without its ending and without a byte-order mark.
    pub fn line(&self, line: LineNo) -> Option<&str> {
        let span = self.0.lines.get(line.index())?;
        self.0.text.get(span.start as usize..span.end as usize)
    }

    /// Returns how a line ends.
    pub fn ending(&self, line: LineNo) -> Option<Ending> {
        self.0.lines.get(line.index()).map(|span| span.ending)
    }

    /// Returns the digest of a line.
    pub fn line_digest(&self, line: LineNo) -> Option<LineDigest> {
        self.0.line_digests.get(line.index()).copied()
    }

    /// Returns the digests of all lines, shared.
    pub fn line_digests(&self) -> &Arc<[LineDigest]> {
        &self.0.line_digests
    }

    /// Returns the contents of all lines, first to last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.lines.iter().map(|span| {
            self.0.text.get(span.start as usize..span.end as usize).unwrap_or_default()
        })
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Snapshot({} lines, {} bytes, {})",
            self.n_lines(),
            self.text().len(),
            self.digest()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &str) -> Vec<(String, Ending)> {
        let snapshot = Snapshot::new(text.as_bytes()).unwrap();
        (0..snapshot.n_lines())
            .map(LineNo::from_index)
            .map(|n| (snapshot.line(n).unwrap().to_owned(), snapshot.ending(n).unwrap()))
            .collect()
    }

    #[test]
    fn a_final_newline_opens_no_line() {
        assert_eq!(lines(""), []);
        assert_eq!(lines("\n"), [(String::new(), Ending::Lf)]);
        assert_eq!(lines("a\n\n").len(), 2);
        assert_eq!(lines("a"), [("a".to_owned(), Ending::None)]);
    }

    #[test]
    fn only_lf_and_crlf_end_a_line() {
        assert_eq!(
            lines("a\r\nb\rc\u{2028}d\n\r\n"),
            [
                ("a".to_owned(), Ending::CrLf),
                ("b\rc\u{2028}d".to_owned(), Ending::Lf),
                (String::new(), Ending::CrLf)
            ]
        );
    }

    #[test]
    fn a_byte_order_mark_is_in_no_line() {
        assert_eq!(lines("\u{FEFF}a\n"), [("a".to_owned(), Ending::Lf)]);
        assert_eq!(lines("\u{FEFF}"), []);
        let marked = Snapshot::new("\u{FEFF}a\n".as_bytes()).unwrap();
        let plain = Snapshot::new(b"a\n").unwrap();
        assert_eq!(marked.line_digests(), plain.line_digests());
        assert_ne!(marked.digest(), plain.digest());
    }

    #[test]
    fn bytes_that_are_no_text_say_where() {
        assert_eq!(Snapshot::new(b"ab\0c").unwrap_err(), NotText::Nul(2));
        assert_eq!(Snapshot::new(b"ab\xFF").unwrap_err(), NotText::Encoding(2));
    }

    #[test]
    fn golden_checks_of_known_lines() {
        let check = |text: &str| LineDigest::of(text.as_bytes()).check();
        assert_eq!([check("alpha"), check(""), check("beta")], [0x64, 0xaf, 0xc6]);
        assert_eq!(format!("{:?}", LineDigest::of(b"")), "af1349b9f5f9a1a6a0404dea36dcc949");
        assert_eq!(Digest::from_hex(&Digest::of(b"x").to_hex()), Some(Digest::of(b"x")));
        assert_eq!(Digest::from_hex("zz"), None);
    }

    proptest! {
        #[test]
        fn lines_and_endings_rebuild_the_text(text in "(\u{FEFF})?[ab\r\n\u{e9}]{0,60}") {
            let snapshot = Snapshot::new(text.as_bytes()).unwrap();
            let mut rebuilt = String::from(if snapshot.has_bom() { "\u{FEFF}" } else { "" });
            for (content, ending) in lines(&text) {
                rebuilt.push_str(&content);
                rebuilt.push_str(ending.as_str());
            }
            prop_assert_eq!(rebuilt, text);
        }
    }
}
