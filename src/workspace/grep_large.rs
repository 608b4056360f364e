//! Search of one named file of any size, as a stream: rows to show, none of them to remember.
//!
//! Memory is bounded by the longest line that is allowed, and the search ends soon after it is told to.
//! A NUL byte or a line that is no text ends it as well: such a file is not text, and says where.

use std::fs::File;
use std::io::{self, Read};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use crate::path::Place;
use crate::text::{LineDigest, LineNo, clip_line, clip_window};

use super::load::LoadError;
use super::query::{Query, content};
use super::roots::Workspace;
use super::walk::{Bounds, Stop};

/// How long a line may be.
const MAX_LINE_BYTES: usize = 64 << 20;

/// How much is looked at to learn how lines end.
const HEAD_BYTES: u64 = 1 << 20;

/// How much of the search of a large file is kept.
#[derive(Clone, Copy, Debug)]
pub struct LargeLimits {
    /// How many lines around a match are kept.
    pub context: usize,
    /// How many matching lines are kept.
    pub max_rows: usize,
    /// How many characters of a line are kept.
    pub max_chars: usize,
}

/// A line as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeRow {
    /// The line.
    pub line: LineNo,
    /// The digest of the whole line.
    pub digest: LineDigest,
    /// What is shown of it: all, its head, or a window around the match.
    pub shown: String,
    /// Why it is shown.
    pub kind: RowKind,
}

/// Why a row is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// The line matches.
    Match,
    /// The line stands near one that does.
    Context,
}

/// What was found in a large file.
#[derive(Clone, Debug, Default)]
pub struct LargeFound {
    /// The first matching lines and the lines around them.
    pub rows: Vec<LargeRow>,
    /// How many lines match, as far as the file was searched.
    pub n_lines: usize,
    /// Why the search ended early, if it did.
    pub stopped: Option<Stop>,
}

/// Why a large file cannot be searched.
#[derive(Debug, thiserror::Error)]
pub enum LargeError {
    /// The file cannot be opened.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A NUL byte, or a matching line that is not UTF-8.
    #[error("`{place}` is not text at byte {at_byte}")]
    NotText {
        /// The file.
        place: Place,
        /// The 0-based offset of the NUL byte or of the line.
        at_byte: u64,
    },
    /// A line is longer than is read at a time.
    #[error("`{place}` has a line of more than {limit_bytes} bytes")]
    LineTooLong {
        /// The file.
        place: Place,
        /// The limit.
        limit_bytes: usize,
    },
    /// The system refused.
    #[error("failed to read `{place}`")]
    Io {
        /// The file.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
}

impl Workspace {
    /// Searches the file at a canonical place, of any size.
    ///
    /// Cost: one pass over the file; memory for its longest line.
    pub fn grep_large(
        &self,
        place: &Place,
        query: &Query,
        limits: &LargeLimits,
        bounds: &Bounds<'_>,
    ) -> Result<LargeFound, LargeError> {
        let (file, _) = self.open_file(place)?;
        let failed = |source| LargeError::Io { place: place.clone(), source };
        let mut head = Vec::new();
        (&file).take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
        let (matcher, terminator) = query.for_stream(&head);
        let n_bom = if head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let body = head.get(n_bom..).unwrap_or_default();
        let mut searcher = SearcherBuilder::new()
            .line_terminator(terminator)
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_LINE_BYTES))
            .before_context(limits.context)
            .after_context(limits.context)
            .build();
        let mut sink = Rows { query, limits, found: LargeFound::default(), not_text: None };
        let mut stream = Stream { file, bounds, end: None };
        let searched = search(&mut searcher, matcher, body.chain(&mut stream), &mut sink);
        sink.drop_loose_context();
        match (searched, sink.not_text, stream.end) {
            (_, Some(at), _) => {
                let at_byte = at + u64::try_from(n_bom).unwrap_or(0);
                Err(LargeError::NotText { place: place.clone(), at_byte })
            }
            (_, None, Some(End::Stop(stop))) => {
                Ok(LargeFound { stopped: Some(stop), ..sink.found })
            }
            (_, None, Some(End::Failed(source))) => Err(failed(source)),
            (Err(_), None, None) => Err(LargeError::LineTooLong {
                place: place.clone(),
                limit_bytes: MAX_LINE_BYTES,
            }),
            (Ok(()), None, None) => Ok(sink.found),
        }
    }
}

fn search(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    from: impl Read,
    sink: &mut Rows<'_>,
) -> io::Result<()> {
    searcher.search_reader(matcher, from, sink)
}

/// A file that stops when it is told to; the searcher sees its end.
struct Stream<'a> {
    file: File,
    bounds: &'a Bounds<'a>,
    end: Option<End>,
}

/// Why a stream ended before its file did.
enum End {
    Stop(Stop),
    Failed(io::Error),
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.end.is_some() {
            return Ok(0);
        }
        if let Some(stop) = self.bounds.stopped() {
            self.end = Some(End::Stop(stop));
            return Ok(0);
        }
        match self.file.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.end = Some(End::Failed(error));
                Ok(0)
            }
            read => read,
        }
    }
}

struct Rows<'a> {
    query: &'a Query,
    limits: &'a LargeLimits,
    found: LargeFound,
    not_text: Option<u64>,
}

impl Rows<'_> {
    /// Drops the lines before a match that is itself no longer kept.
    fn drop_loose_context(&mut self) {
        if self.found.n_lines <= self.limits.max_rows {
            return;
        }
        let last = self.found.rows.iter().rfind(|row| row.kind == RowKind::Match);
        let reach = last.map_or(0, |row| row.line.index() + self.limits.context);
        self.found.rows.retain(|row| row.line.index() <= reach);
    }

    /// Keeps a row; says no where the line is no text.
    fn push(&mut self, line: &[u8], number: Option<u64>, at_byte: u64, kind: RowKind) -> bool {
        let bytes = content(line);
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.not_text = Some(at_byte);
            return false;
        };
        let clipped = match kind {
            RowKind::Match => clip_window(text, self.query.focus(bytes), self.limits.max_chars),
            RowKind::Context => clip_line(text, self.limits.max_chars),
        };
        let line = LineNo::new(number.unwrap_or(0)).unwrap_or(LineNo::from_index(usize::MAX));
        let digest = LineDigest::of(bytes);
        self.found.rows.push(LargeRow {
            line,
            digest,
            shown: clipped.shown.into_owned(),
            kind,
        });
        true
    }
}

impl Sink for Rows<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.n_lines += 1;
        if self.found.n_lines > self.limits.max_rows {
            return Ok(true);
        }
        Ok(self.push(
            found.bytes(),
            found.line_number(),
            found.absolute_byte_offset(),
            RowKind::Match,
        ))
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        if self.found.n_lines > self.limits.max_rows {
            return Ok(true);
        }
        Ok(self.push(
            around.bytes(),
            around.line_number(),
            around.absolute_byte_offset(),
            RowKind::Context,
        ))
    }

    fn binary_data(&mut self, _: &Searcher, at_byte: u64) -> io::Result<bool> {
        self.not_text = Some(at_byte);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::super::fixture::{Laid, place};
    use super::super::walk::Ignored;
    use super::*;

    const LIMITS: LargeLimits = LargeLimits { context: 0, max_rows: 1000, max_chars: 20 };

    fn bounds() -> Bounds<'static> {
        Bounds {
            ignored: Ignored::LeftOut,
            admit: &|_| true,
            stop: &|| false,
            max_entries: 0,
            deadline: Instant::now() + Duration::from_hours(1),
        }
    }

    fn grep(
        laid: &Laid,
        pattern: &str,
        limits: &LargeLimits,
    ) -> Result<LargeFound, LargeError> {
        let query = Query::parse(pattern).unwrap();
        laid.workspace.grep_large(&place("f"), &query, limits, &bounds())
    }

    #[test]
    fn rows_are_windows_with_the_digest_of_the_whole_line() {
        let long = format!("{}needle{}", "x".repeat(5000), "y".repeat(5000));
        let laid = Laid::with(&[("f", &format!("\u{FEFF}needle\r\n\n{long}\r\nend"))]);
        let found = grep(&laid, "needle(y|$)", &LIMITS).unwrap();
        assert_eq!(found.n_lines, 2);
        assert_eq!(found.rows[0].digest, LineDigest::of(b"needle"));
        assert_eq!((found.rows[0].line.get(), &*found.rows[0].shown), (1, "needle"));
        assert_eq!(found.rows[1].digest, LineDigest::of(long.as_bytes()));
        assert_eq!(found.rows[1].shown, "[+4994 chars]xxxxxxneedleyyyyyyyy[+4992 chars]");
    }

    #[test]
    fn rows_past_the_limit_are_counted_with_no_context_left_behind() {
        let laid = Laid::with(&[("f", "a\nn\nb\nc\nd\nn\ne\nn\n")]);
        let limits = LargeLimits { context: 1, max_rows: 1, ..LIMITS };
        let found = grep(&laid, "n", &limits).unwrap();
        let rows: Vec<_> = found.rows.iter().map(|row| (row.line.get(), row.kind)).collect();
        let wanted = [(1, RowKind::Context), (2, RowKind::Match), (3, RowKind::Context)];
        assert_eq!((rows, found.n_lines), (wanted.to_vec(), 3));
    }

    #[test]
    fn what_is_no_text_ends_the_search() {
        let laid = Laid::new();
        laid.sparse("f", 10 << 30);
        let error = grep(&laid, "n", &LIMITS).unwrap_err();
        assert!(matches!(error, LargeError::NotText { at_byte: 0, .. }), "{error}");
        laid.write("f", b"n\nn \xff\n");
        let error = grep(&laid, "n", &LIMITS).unwrap_err();
        assert!(matches!(error, LargeError::NotText { at_byte: 2, .. }), "{error}");
    }

    #[test]
    fn a_line_of_a_hundred_megabytes_is_refused() {
        let laid = Laid::new();
        laid.write("f", "x".repeat(100_000_000));
        let error = grep(&laid, "y", &LIMITS).unwrap_err();
        assert!(matches!(error, LargeError::LineTooLong { .. }), "{error}");
        laid.write("f", format!("{}\n", "x".repeat(1_000_000)).repeat(3));
        assert_eq!(grep(&laid, "x$", &LIMITS).unwrap().n_lines, 3);
    }

    #[test]
    fn a_search_ends_when_it_is_told_to() {
        let laid = Laid::with(&[("f", &"line\n".repeat(1_000_000))]);
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::SeqCst) >= 3;
        let query = Query::parse("line").unwrap();
        let bounds = Bounds { stop: &stop, ..bounds() };
        let found = laid.workspace.grep_large(&place("f"), &query, &LIMITS, &bounds).unwrap();
        assert_eq!(found.stopped, Some(Stop::Cancelled));
        assert!(found.n_lines < 1_000_000);
    }
}
