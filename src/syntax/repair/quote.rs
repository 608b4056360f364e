//! Where a lost quote is likely to have stood.
//!
//! It looks at the lines' text alone: strings that the old lines held and the new ones hold without one of
//! their quotes, and, with less to say for it, the end of a line with an odd quote.

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
const GUESSED: u32 = 40;

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
        }
        start += line.len();
    }
    places.truncate(MOST);
    places
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
    fn else_the_end_of_the_line_is_guessed() {
        assert_eq!(
            places("", "(f \"abc))\n"),
            [Place { offset: 7, cost: 40 }, Place { offset: 9, cost: 50 }]
        );
    }
}
