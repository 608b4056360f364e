//! Where a lost quote is likely to have stood.
//!
//! It looks at the lines' text alone: strings that the old lines held and the new ones hold without one of
//! their quotes, and, with less to say for it, words and the end of a line with an odd quote.

/// A place for a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Byte offset in the new lines.
    pub(super) offset: usize,
    /// How little speaks for it.
    pub(super) cost: u32,
}

/// How many places are tried.
const MOST: usize = 24;
const KNOWN: u32 = 10;
const LIKELY: u32 = 30;
const GUESSED: u32 = 40;
/// How many words of a stretch are tried.
const MOST_WORDS: usize = 5;

/// Returns the places for a quote in the new lines, the likeliest first.
pub(super) fn places(old: &str, new: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for string in old.split('"').skip(1).step_by(2).filter(|string| !string.is_empty()) {
        for (at, _) in new.match_indices(string) {
            let end = at + string.len();
            let opened = new.get(..at).is_some_and(|head| head.ends_with('"'));
            let closed = new.get(end..).is_some_and(|tail| tail.starts_with('"'));
            if opened && !closed {
                places.push(Place { offset: end, cost: KNOWN });
            } else if closed && !opened {
                places.push(Place { offset: at, cost: KNOWN });
            }
        }
    }
    let mut start = 0;
    for line in new.split_inclusive('\n') {
        let code = line.trim_end();
        if code.matches('"').count() % 2 == 1 && !code.trim_start().starts_with(';') {
            let bare = code.trim_end_matches([')', ']', '}']);
            places.push(Place { offset: start + bare.len(), cost: GUESSED });
            if bare.len() < code.len() {
                places.push(Place { offset: start + code.len(), cost: GUESSED + 10 });
            }
            let words = within_line(code)
                .into_iter()
                .map(|place| Place { offset: start + place.offset, ..place });
            places.extend(words);
        }
        start += line.len();
    }
    places.sort_by_key(|place| place.cost);
    places.truncate(MOST);
    places
}

/// Returns the places at the ends of words where a line's quotes stop taking turns.
///
/// By what stands beside it a quote opens or closes; between two that open one that closes is missing, and
/// the other way round.
fn within_line(line: &str) -> Vec<Place> {
    let bytes = line.as_bytes();
    let free = |at: &usize| *at == 0 || bytes[at - 1] != b'\\';
    let quotes: Vec<usize> = memchr::memchr_iter(b'"', bytes).filter(free).collect();
    let mut places = Vec::new();
    let mut start = 0;
    let mut inside = false;
    for nth in 0..=quotes.len() {
        let here = quotes.get(nth).copied();
        let opens = here.is_some_and(|at| opens(bytes, at));
        let closes = here.is_some_and(|at| closes(bytes, at));
        let end = here.unwrap_or(bytes.len());
        if inside && (here.is_none() || opens) {
            places.extend(ranked(word_ends(bytes, start, end)));
        }
        if !inside && closes {
            places.extend(ranked(word_starts(bytes, start, end)));
        }
        inside = match (opens, closes) {
            (true, false) => true,
            (false, true) => false,
            _ => !inside,
        };
        start = end + 1;
    }
    places
}

fn ranked(offsets: Vec<usize>) -> impl Iterator<Item = Place> {
    let costs = (LIKELY..).step_by(3);
    offsets.into_iter().zip(costs).take(MOST_WORDS).map(|(offset, cost)| Place { offset, cost })
}

fn opens(line: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| is_edge(line[before]))
}

fn closes(line: &[u8], at: usize) -> bool {
    line.get(at + 1).is_none_or(|after| is_edge(*after))
}

fn is_edge(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'\'' | b'#')
}

/// The ends of the words of a stretch, the first one first.
fn word_ends(line: &[u8], start: usize, end: usize) -> Vec<usize> {
    let ends = |at: &usize| !is_edge(line[at - 1]) && line.get(*at).is_none_or(|c| is_edge(*c));
    (start + 1..=end.min(line.len())).filter(ends).collect()
}

/// The starts of the words of a stretch, the last one first.
fn word_starts(line: &[u8], start: usize, end: usize) -> Vec<usize> {
    let starts = |at: &usize| !is_edge(line[*at]) && opens(line, *at);
    (start..end.min(line.len())).rev().filter(starts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_of_the_old_lines_shows_where_its_quote_stood() {
        let offsets = |old, new| places(old, new).iter().map(|p| p.offset).collect::<Vec<_>>();
        assert_eq!(offsets("(f \"x~%\")", "(f t \"x~%)")[0], 9);
        assert_eq!(offsets("(f \"x~%\")", "(f t x~%\")")[0], 5);
    }

    #[test]
    fn else_a_word_and_the_end_of_the_line_are_guessed() {
        let offsets = |new| places("", new).iter().map(|p| p.offset).collect::<Vec<_>>();
        assert_eq!(offsets("(f \"abc))\n"), [7, 7, 9]);
        assert_eq!(offsets("(f \"ab c))\n")[..2], [6, 8]);
        assert_eq!(offsets("(f ab\" \"c\")\n")[0], 3);
    }
}
