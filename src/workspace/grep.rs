//! Search of the files that a walk found: side by side, with a result that depends on no thread.
//!
//! Of the matching files, in the order of their places, the first ones are kept whole, as the caller
//! shows rows of them and remembers what was shown; all others are only counted. A file is read once.
//! Files that are too large or no text are counted and passed over. Rendering is the caller's.

use std::fs::File;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::Mode;

use crate::text::Snapshot;

use super::beneath::open_beneath;
use super::load::{LoadError, READ, checked, refused};
use super::query::{Lines, Query, Searchers, Starts};
use super::roots::Workspace;
use super::walk::{Bounds, Entry, Stop};

/// How much of a search's result is kept.
#[derive(Clone, Copy, Debug)]
pub struct GrepLimits {
    /// How many matching files are kept.
    pub max_files: usize,
    /// How many matching lines are kept, over all files.
    pub max_rows: usize,
    /// Above how many bytes a file is passed over.
    pub max_file_bytes: u64,
}

/// A file that matches.
#[derive(Clone, Debug)]
pub struct FileMatches {
    /// The file.
    pub entry: Entry,
    /// Its content.
    pub snapshot: Snapshot,
    /// The lines that match, as far as they are kept.
    pub lines: Lines,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The first matching files, in order.
    pub files: Vec<FileMatches>,
    /// How many files match.
    pub n_files: usize,
    /// How many lines match, over all files.
    pub n_lines: usize,
    /// How many files were too large.
    pub n_too_large: usize,
    /// How many files would have matched but are no text, or hold a NUL byte near their start.
    pub n_not_text: usize,
    /// How many files could not be read.
    pub n_unreadable: usize,
    /// How many files were searched or passed over; less than there are if the search ended early.
    pub n_done: usize,
    /// Why the search ended early, if it did.
    pub stopped: Option<Stop>,
}

/// How much of a file is looked at for a NUL byte before it is searched.
const HEAD_BYTES: usize = 8 << 10;

/// What became of one file.
enum Verdict {
    NoMatch,
    TooLarge,
    NotText,
    Unreadable,
    Counted(usize),
    Kept(Box<(Snapshot, Lines)>),
}

/// Whether a file's matches may still be among those that are kept.
enum Wanted {
    Whole,
    Count,
}

struct Grep<'a> {
    workspace: &'a Workspace,
    limits: &'a GrepLimits,
    n_files: AtomicUsize,
    n_lines: AtomicUsize,
}

struct Scratch {
    bytes: Vec<u8>,
    searchers: Searchers,
    /// A clone, because threads that share one engine wait for each other's caches.
    query: Query,
}

impl Scratch {
    fn new(query: &Query) -> Self {
        Self { bytes: Vec::new(), searchers: Searchers::new(), query: query.clone() }
    }
}

impl Workspace {
    /// Searches files, which come in the order in which they are to be kept.
    pub fn grep(
        &self,
        files: &[Entry],
        query: &Query,
        limits: &GrepLimits,
        bounds: &Bounds<'_>,
    ) -> Found {
        let (n_files, n_lines) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let grep = Grep { workspace: self, limits, n_files, n_lines };
        let verdicts = super::parallel::in_order(
            files.len(),
            || bounds.stopped().is_none().then(|| grep.wanted()),
            || Scratch::new(query),
            |scratch, wanted, index| {
                files.get(index).map(|entry| grep.judge(scratch, entry, &wanted))
            },
        );
        let mut found = Found { n_done: verdicts.len(), ..Found::default() };
        if verdicts.len() < files.len() {
            found.stopped = bounds.stopped().or(Some(Stop::Cancelled));
        }
        for (entry, verdict) in files.iter().zip(verdicts.into_iter().flatten()) {
            found.add(entry, verdict, limits);
        }
        found
    }
}

impl Grep<'_> {
    /// Returns what is wanted of the file that is claimed next: enough files or rows before it are enough.
    fn wanted(&self) -> Wanted {
        let enough = self.n_files.load(Ordering::SeqCst) >= self.limits.max_files
            || self.n_lines.load(Ordering::SeqCst) >= self.limits.max_rows;
        if enough { Wanted::Count } else { Wanted::Whole }
    }

    fn judge(&self, scratch: &mut Scratch, entry: &Entry, wanted: &Wanted) -> Verdict {
        let bytes = match self.read(&mut scratch.bytes, entry) {
            Ok(bytes) => bytes,
            Err(LoadError::TooLarge { .. }) => return Verdict::TooLarge,
            Err(LoadError::Io { .. }) => return Verdict::Unreadable,
            // What is gone or became something else meanwhile is no file of the walk any more.
            Err(_) => return Verdict::NoMatch,
        };
        let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
        if memchr::memchr(0, head).is_some() {
            return Verdict::NotText;
        }
        let starts = scratch.query.starts(&mut scratch.searchers, bytes, self.limits.max_rows);
        if starts.n_lines == 0 {
            return Verdict::NoMatch;
        }
        let verdict = keep(&scratch.query, bytes, &starts, wanted);
        if !matches!(verdict, Verdict::NotText) {
            self.n_files.fetch_add(1, Ordering::SeqCst);
            self.n_lines.fetch_add(starts.n_lines, Ordering::SeqCst);
        }
        verdict
    }

    /// Reads a file into a buffer that is kept from file to file and never shrinks.
    fn read<'b>(&self, buffer: &'b mut Vec<u8>, entry: &Entry) -> Result<&'b [u8], LoadError> {
        let place = entry.content();
        let Some(root) = self.workspace.root(&place.root) else {
            return Err(LoadError::NotFound(place.clone()));
        };
        let opened = open_beneath(root.dir(), &place.path, READ, Mode::empty())
            .map_err(|error| refused("open", place, error))?;
        let (mut file, meta) = checked(place, File::from(opened))?;
        let limit_bytes = self.limits.max_file_bytes;
        let too_large = |len| LoadError::TooLarge { place: place.clone(), len, limit_bytes };
        let limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX - 1);
        let mut n_read = 0;
        let expected = match usize::try_from(meta.len) {
            Ok(len) if len <= limit => len,
            _ => return Err(too_large(meta.len)),
        };
        buffer.resize(buffer.len().max(expected + 1), 0);
        loop {
            let free = buffer.get_mut(n_read..).unwrap_or_default();
            let n = file.read(free).map_err(|source| LoadError::Io {
                verb: "read",
                place: place.clone(),
                source,
            })?;
            n_read += n;
            if n_read > limit {
                return Err(too_large(meta.len.max(limit_bytes.saturating_add(1))));
            }
            // A read that brings exactly what was announced spares the one that would bring nothing.
            if n == 0 || n_read == expected {
                break;
            }
            if n_read == buffer.len() {
                buffer.resize(buffer.len().saturating_mul(2), 0);
            }
        }
        Ok(buffer.get(..n_read).unwrap_or_default())
    }
}

impl Found {
    fn add(&mut self, entry: &Entry, verdict: Verdict, limits: &GrepLimits) {
        match verdict {
            Verdict::NoMatch => {}
            Verdict::TooLarge => self.n_too_large += 1,
            Verdict::NotText => self.n_not_text += 1,
            Verdict::Unreadable => self.n_unreadable += 1,
            Verdict::Counted(n_lines) => {
                self.n_files += 1;
                self.n_lines += n_lines;
            }
            Verdict::Kept(kept) => {
                let (snapshot, mut lines) = *kept;
                let n_before = self.n_lines;
                let room = limits.max_rows.saturating_sub(n_before);
                self.n_files += 1;
                self.n_lines += lines.n_lines;
                if room > 0 && self.files.len() < limits.max_files {
                    lines.shown.truncate(room);
                    self.files.push(FileMatches { entry: entry.clone(), snapshot, lines });
                }
            }
        }
    }
}

fn keep(query: &Query, bytes: &[u8], starts: &Starts, wanted: &Wanted) -> Verdict {
    match wanted {
        Wanted::Whole => match Snapshot::new(bytes) {
            Ok(snapshot) => {
                let lines = query.locate(&snapshot, starts);
                Verdict::Kept(Box::new((snapshot, lines)))
            }
            Err(_) => Verdict::NotText,
        },
        Wanted::Count if is_text(bytes) => Verdict::Counted(starts.n_lines),
        Wanted::Count => Verdict::NotText,
    }
}

fn is_text(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::fixture::Laid;
    use super::super::walk::Ignored;
    use super::*;

    const LIMITS: GrepLimits =
        GrepLimits { max_files: 100, max_rows: 1000, max_file_bytes: 2 << 20 };

    fn bounds() -> Bounds<'static> {
        Bounds {
            ignored: Ignored::LeftOut,
            admit: &|_| true,
            stop: &|| false,
            max_entries: 100_000,
            deadline: Instant::now() + Duration::from_hours(1),
        }
    }

    fn grep(laid: &Laid, pattern: &str, limits: &GrepLimits) -> Found {
        let files = laid.workspace.find(&laid.workspace.select("**").unwrap(), &bounds()).files;
        laid.workspace.grep(&files, &Query::parse(pattern).unwrap(), limits, &bounds())
    }

    fn shown(found: &Found) -> Vec<(String, Vec<u32>)> {
        let lines = |file: &FileMatches| {
            file.lines.shown.iter().map(|found| found.line.get()).collect::<Vec<_>>()
        };
        found.files.iter().map(|f| (f.entry.place.to_string(), lines(f))).collect()
    }

    #[test]
    fn matching_files_come_in_order_with_their_lines() {
        let laid = Laid::with(&[
            ("b/x.txt", "needle\n\nneedle needle\n"),
            ("a.txt", "no\nneedle"),
            ("c.txt", "nothing\n"),
            ("empty", ""),
        ]);
        laid.link("b/x.txt", "l.txt");
        let found = grep(&laid, "needle", &LIMITS);
        let wanted = [("a.txt", vec![2]), ("b/x.txt", vec![1, 3]), ("l.txt", vec![1, 3])];
        assert_eq!(shown(&found), wanted.map(|(path, lines)| (path.to_owned(), lines)));
        assert_eq!((found.n_files, found.n_lines, found.n_done), (3, 5, 5));
    }

    #[test]
    fn what_is_no_text_or_too_large_is_passed_over_and_counted() {
        let laid = Laid::with(&[("a.txt", "needle\n")]);
        laid.write("nul", b"needle\n\0");
        laid.write("late", [b"needle\n".repeat(2000), b"\0".to_vec()].concat());
        laid.write("latin", b"needle \xe9\n");
        laid.write("latin2", b"other \xe9\n");
        laid.sparse("huge", 10 << 30);
        laid.write("exact", [b"needle\n".to_vec(), vec![b'x'; (2 << 20) - 7]].concat());
        let found = grep(&laid, "needle", &LIMITS);
        assert_eq!(shown(&found).len(), 2);
        assert_eq!((found.n_not_text, found.n_too_large, found.n_unreadable), (3, 1, 0));
    }

    #[test]
    fn limits_keep_the_first_files_and_rows_and_count_the_rest() {
        let laid = Laid::new();
        for n in 0..300 {
            laid.write(format!("f{n:03}"), "n\nn\n");
        }
        for _ in 0..20 {
            let found = grep(&laid, "n", &GrepLimits { max_files: 7, ..LIMITS });
            let names: Vec<_> = shown(&found).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, (0..7).map(|n| format!("f{n:03}")).collect::<Vec<_>>());
            assert_eq!((found.n_files, found.n_lines), (300, 600));
            let found = grep(&laid, "n", &GrepLimits { max_rows: 5, ..LIMITS });
            let rows: Vec<_> =
                shown(&found).into_iter().map(|(_, lines)| lines.len()).collect();
            assert_eq!((rows, found.n_lines), (vec![2, 2, 1], 600));
        }
    }

    #[test]
    fn a_search_that_is_stopped_says_how_far_it_came() {
        let laid = Laid::with(&[("a", "n"), ("b", "n")]);
        let files = laid.workspace.find(&laid.workspace.select("*").unwrap(), &bounds()).files;
        let over = Bounds { deadline: Instant::now(), ..bounds() };
        let query = Query::parse("n").unwrap();
        let found = laid.workspace.grep(&files, &query, &LIMITS, &over);
        assert_eq!((found.n_done, found.stopped), (0, Some(Stop::TimeLimit)));
    }
}
