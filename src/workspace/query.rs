//! A regular expression over lines: compiled once, asked of whole contents.
//!
//! The engine is linear-time. A match never crosses a line, and lines are those of `text`: a lone CR is
//! content, the CR of a CRLF is not, a byte-order mark is in no line. The engine knows either LF lines or
//! lines where every CR ends one, so the way of searching is chosen for each content; the rare content
//! with both lone CRs and CRLF is searched line by line. Pure: nothing here opens a file.

use std::ops::Range;

use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::text::{LineNo, Snapshot};

/// How large a compiled pattern may be.
const MAX_COMPILED_BYTES: usize = 10 << 20;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Query {
    lf: RegexMatcher,
    /// Nothing where the pattern is plain text, for which line ends make no difference, or names a CR.
    crlf: Option<RegexMatcher>,
    is_plain: bool,
}

/// The engine's words on a pattern that it refused; they may take several lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct BadQuery {
    /// What the engine said.
    pub words: String,
}

/// A line that matches, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchLine {
    /// The line.
    pub line: LineNo,
    /// The bytes of the line's content that the first match takes.
    pub focus: Range<usize>,
}

/// The matching lines of one content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first of them.
    pub shown: Vec<MatchLine>,
    /// How many there are.
    pub n_lines: usize,
}

/// How a content has to be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Lf,
    CrLf,
    LineByLine,
}

/// Where matching lines begin: the first of them, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pub(super) offsets: Vec<usize>,
    pub(super) n_lines: usize,
}

impl Query {
    /// Compiles a pattern.
    ///
    /// A pattern that asks for a line feed is refused, for it could match nothing.
    pub fn parse(pattern: &str) -> Result<Self, BadQuery> {
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).size_limit(MAX_COMPILED_BYTES);
        let lf = builder
            .line_terminator(Some(b'\n'))
            .build(pattern)
            .map_err(|error| BadQuery { words: error.to_string() })?;
        let is_plain = !pattern.contains(|c: char| c.is_ascii_punctuation() || c.is_control());
        let crlf = if is_plain { None } else { builder.crlf(true).build(pattern).ok() };
        Ok(Self { lf, crlf, is_plain })
    }

    /// Returns the lines of a content that match, at most `max` of them to show.
    pub fn lines(&self, snapshot: &Snapshot, max: usize) -> Lines {
        let starts = self.starts(&mut Searchers::new(), snapshot.bytes(), max);
        self.locate(snapshot, &starts)
    }

    /// Returns the lines that begin at some offsets of a content.
    pub(super) fn locate(&self, snapshot: &Snapshot, starts: &Starts) -> Lines {
        let spans = snapshot.spans();
        let locate = |&offset: &usize| {
            let next = spans.partition_point(|span| span.start as usize <= offset);
            let line = LineNo::from_index(next.saturating_sub(1));
            let content = snapshot.line(line).unwrap_or_default();
            MatchLine { line, focus: self.focus(content.as_bytes()) }
        };
        Lines { shown: starts.offsets.iter().map(locate).collect(), n_lines: starts.n_lines }
    }

    /// Returns where the first match in a line's content is.
    pub(super) fn focus(&self, content: &[u8]) -> Range<usize> {
        let found = self.lf.find(content).ok().flatten();
        found.map_or(0..0, |found| found.start()..found.end())
    }

    /// Returns where the matching lines of a content begin, the first `max` of them and the count.
    pub(super) fn starts(&self, searchers: &mut Searchers, bytes: &[u8], max: usize) -> Starts {
        let from = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let body = bytes.get(from..).unwrap_or_default();
        let mut sink = Collect { starts: Starts::default(), from, max };
        match (self.way(body), &self.crlf) {
            (Way::Lf, _) => searchers.lf.search_slice(&self.lf, body, &mut sink).ok(),
            (Way::CrLf, Some(crlf)) => searchers.crlf.search_slice(crlf, body, &mut sink).ok(),
            (Way::LineByLine | Way::CrLf, _) => {
                self.line_by_line(body, &mut sink);
                None
            }
        };
        sink.starts
    }

    /// Returns how a content has to be searched.
    pub(super) fn way(&self, bytes: &[u8]) -> Way {
        if self.is_plain {
            return Way::Lf;
        }
        let (mut has_crlf, mut has_lone) = (false, false);
        for at in memchr::memchr_iter(b'\r', bytes) {
            match bytes.get(at + 1) {
                Some(b'\n') => has_crlf = true,
                _ => has_lone = true,
            }
            if has_crlf && has_lone {
                return Way::LineByLine;
            }
        }
        if has_crlf { Way::CrLf } else { Way::Lf }
    }

    /// Returns the matcher and the line terminator for a stream that begins with `head`.
    pub(super) fn for_stream(&self, head: &[u8]) -> (&RegexMatcher, LineTerminator) {
        match (self.way(head), &self.crlf) {
            (Way::Lf, _) | (_, None) => (&self.lf, LineTerminator::byte(b'\n')),
            (_, Some(crlf)) => (crlf, LineTerminator::crlf()),
        }
    }

    fn line_by_line(&self, body: &[u8], sink: &mut Collect) {
        let mut start = 0;
        while start < body.len() {
            let rest = body.get(start..).unwrap_or_default();
            let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let line = rest.get(..len).unwrap_or_default();
            if self.lf.is_match(content(line)).unwrap_or(false) {
                sink.push(start);
            }
            start += len;
        }
    }
}

/// Returns a line without its ending.
pub(super) fn content(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    }
}

/// What one thread reuses from content to content.
#[derive(Debug)]
pub(super) struct Searchers {
    lf: Searcher,
    crlf: Searcher,
}

impl Searchers {
    pub(super) fn new() -> Self {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(false)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none());
        let lf = builder.line_terminator(LineTerminator::byte(b'\n')).build();
        let crlf = builder.line_terminator(LineTerminator::crlf()).build();
        Self { lf, crlf }
    }
}

struct Collect {
    starts: Starts,
    from: usize,
    max: usize,
}

impl Collect {
    fn push(&mut self, offset: usize) {
        if self.starts.offsets.len() < self.max {
            self.starts.offsets.push(self.from + offset);
        }
        self.starts.n_lines += 1;
    }
}

impl Sink for Collect {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.push(usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matching(pattern: &str, text: &str) -> Vec<u32> {
        let snapshot = Snapshot::new(text.as_bytes()).unwrap();
        let lines = Query::parse(pattern).unwrap().lines(&snapshot, 1000);
        assert_eq!(lines.shown.len(), lines.n_lines);
        lines.shown.iter().map(|found| found.line.get()).collect()
    }

    #[test]
    fn a_match_never_crosses_a_line() {
        assert_eq!(matching(r"a\s*b", "a\nb\na b\n"), [3]);
        assert_eq!(matching(r"a[^x]b", "a\nb\nayb"), [3]);
        assert_eq!(matching("(?s)a.*b", "a\nb\na-b\n"), [3]);
        assert!(Query::parse("a\\nb").unwrap_err().words.contains("not allowed"));
        assert!(Query::parse("(").unwrap_err().words.contains("unclosed"));
        assert!(Query::parse(r"(\w{999}){999}").unwrap_err().words.contains("size limit"));
    }

    #[test]
    fn the_carriage_return_of_an_ending_is_no_content() {
        for text in ["foo\r\nfoo.\r\nxfoo\n", "foo\nfoo.\nxfoo"] {
            assert_eq!(matching("^foo$", text), [1], "{text:?}");
            assert_eq!(matching("foo.", text), [2], "{text:?}");
            assert_eq!(matching(r"foo\s", text), [0; 0], "{text:?}");
        }
        assert_eq!(matching("a.b", "a\rb\n"), [1]);
        assert_eq!(matching("a.b$", "x\r\na\rb\r\n"), [2]);
        assert_eq!(matching("^b", "x\r\na\rb\r\n"), [0; 0]);
        assert_eq!(matching("^$", "\r\n\nx\r\n"), [1, 2]);
    }

    #[test]
    fn a_byte_order_mark_is_in_no_line() {
        assert_eq!(matching("^a", "\u{FEFF}a\nb\na\n"), [1, 3]);
        assert_eq!(matching("\u{FEFF}", "\u{FEFF}a\n"), [0; 0]);
    }

    #[test]
    fn the_first_match_is_the_focus() {
        let snapshot = Snapshot::new("\u{FEFF}xx\nλ needle needle\r\n".as_bytes()).unwrap();
        let lines = Query::parse("(?i)NEEDLE").unwrap().lines(&snapshot, 1);
        let line = LineNo::new(2).unwrap();
        assert_eq!(lines.shown, [MatchLine { line, focus: 3..9 }]);
    }

    proptest! {
        #[test]
        fn every_way_finds_what_a_search_line_by_line_finds(
            text in "(\u{FEFF})?[ab\r\n ]{0,40}",
            pattern in "\\^?(a|b|\\.|\\[\\^a\\]|\\\\s|a\\*){1,3}\\$?",
        ) {
            let query = Query::parse(&pattern).unwrap();
            let snapshot = Snapshot::new(text.as_bytes()).unwrap();
            let wanted: Vec<u32> = (0..snapshot.n_lines())
                .map(LineNo::from_index)
                .filter(|&line| {
                    query.lf.is_match(snapshot.line(line).unwrap().as_bytes()).unwrap()
                })
                .map(LineNo::get)
                .collect();
            prop_assert_eq!(matching(&pattern, &text), wanted);
        }
    }
}
