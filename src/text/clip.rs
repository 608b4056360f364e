//! Cuts of text for display: a long line, a window around a match, a long result, control characters.
//!
//! All limits are in characters and no cut falls inside one. A cut is always said in the text that is shown.
//! Nothing here decides a limit; callers bring theirs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// A line as it is shown: the part that is seen and how many characters are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clipped<'a> {
    /// What is shown, with its `[+N chars]` marks.
    pub shown: Cow<'a, str>,
    /// How many characters of the line are not shown.
    pub hidden: usize,
}

/// A result cut to its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clamped {
    /// The part before the cut; ends with a line's end where one was near.
    pub head: String,
    /// The part after the cut; begins at a line's start where one was near.
    pub tail: String,
    /// How many characters lie between.
    pub omitted: usize,
}

/// How far a cut of a result moves to fall between lines, in characters.
const NEAR: usize = 200;

/// Returns `line` whole if it has at most `max` characters, else its first `max` and `[+N chars]`.
pub fn clip_line(line: &str, max: usize) -> Clipped<'_> {
    if line.len() <= max {
        return Clipped { shown: Cow::Borrowed(line), hidden: 0 };
    }
    let Some(cut) = boundary(line, max) else {
        return Clipped { shown: Cow::Borrowed(line), hidden: 0 };
    };
    let (head, tail) = line.split_at(cut);
    let hidden = tail.chars().count();
    Clipped { shown: Cow::Owned(format!("{head}[+{hidden} chars]")), hidden }
}

/// Returns `line` whole if it has at most `max` characters, else a window of `max` characters around the
/// bytes `focus`, with `[+N chars]` at each cut end.
///
/// A focus that is longer than the window is shown from its start.
pub fn clip_window(line: &str, focus: Range<usize>, max: usize) -> Clipped<'_> {
    if boundary(line, max).is_none() {
        return Clipped { shown: Cow::Borrowed(line), hidden: 0 };
    }
    let focus_start = floor(line, focus.start);
    let focus_end = floor(line, focus.end).max(focus_start);
    let (before_all, rest) = line.split_at(focus_start);
    let focus_len =
        rest.get(..focus_end - focus_start).unwrap_or(rest).chars().count().min(max);
    let n_before = before_all.chars().count();
    let n_after = rest.chars().count() - focus_len;
    let spare = max - focus_len;
    let take_before = n_before.min((spare / 2).max(spare.saturating_sub(n_after)));
    let start = before_all
        .char_indices()
        .nth(n_before - take_before)
        .map_or(before_all.len(), |(at, _)| at);
    let (cut_before, window) = line.split_at(start);
    let end = boundary(window, max).unwrap_or(window.len());
    let (window, cut_after) = window.split_at(end);
    let (n_cut_before, n_cut_after) = (cut_before.chars().count(), cut_after.chars().count());
    let mut shown = String::with_capacity(window.len() + 32);
    if n_cut_before > 0 {
        let _ = write!(shown, "[+{n_cut_before} chars]");
    }
    shown.push_str(window);
    if n_cut_after > 0 {
        let _ = write!(shown, "[+{n_cut_after} chars]");
    }
    Clipped { shown: Cow::Owned(shown), hidden: n_cut_before + n_cut_after }
}

/// Cuts the middle out of `text` if it has more than `max` characters.
///
/// The head gets two thirds. Each cut moves up to 200 characters so as to fall between lines.
pub fn clamp(text: &str, max: usize) -> Option<Clamped> {
    boundary(text, max)?;
    let n_chars = text.chars().count();
    let n_head = max - max / 3;
    let head_end = boundary(text, n_head).unwrap_or(text.len());
    let tail_start = boundary(text, n_chars - max / 3).unwrap_or(text.len());
    let head = text.get(..head_end).unwrap_or_default();
    let tail = text.get(tail_start..).unwrap_or_default();
    let head = match head.rfind('\n') {
        Some(at) if head.get(at..).unwrap_or_default().chars().count() <= NEAR => {
            head.get(..=at).unwrap_or(head)
        }
        _ => head,
    };
    let tail = match tail.find('\n') {
        Some(at) if tail.get(..at).unwrap_or_default().chars().count() <= NEAR => {
            tail.get(at + 1..).unwrap_or(tail)
        }
        _ => tail,
    };
    let omitted = n_chars - head.chars().count() - tail.chars().count();
    Some(Clamped { head: head.to_owned(), tail: tail.to_owned(), omitted })
}

/// Returns `text` with control and direction-changing characters escaped, for a terminal.
///
/// Line feeds and tabs stay. Results for a model or a program are never escaped.
pub fn show_control(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hostile(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Returns `n` and `noun`, plural but for 1: `1 line`, `2 lines`, `1 match`, `2 matches`, `2 entries`.
pub fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{n} {stem}ies"),
        _ if noun.ends_with("ch") || noun.ends_with('s') => format!("{n} {noun}es"),
        _ => format!("{n} {noun}s"),
    }
}

/// Returns the byte offset of character `n`, or nothing if `text` has at most `n` characters.
fn boundary(text: &str, n: usize) -> Option<usize> {
    if text.len() <= n {
        return None;
    }
    text.char_indices().nth(n).map(|(at, _)| at)
}

/// Returns the nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn is_hostile(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_says_how_much_is_hidden() {
        assert_eq!(clip_line("abc", 3).shown, "abc");
        assert_eq!(clip_line("abcd", 3).shown, "abc[+1 chars]");
        assert_eq!(clip_line("λλλλ", 3).shown, "λλλ[+1 chars]");
        assert_eq!(clip_line("λλλ", 3).hidden, 0);
    }

    #[test]
    fn a_window_shows_its_focus() {
        let line = format!("{}needle{}", "x".repeat(1000), "y".repeat(1000));
        let window = clip_window(&line, 1000..1006, 20);
        assert_eq!(window.shown, "[+993 chars]xxxxxxxneedleyyyyyyy[+993 chars]");
        assert_eq!(window.hidden, 1986);
        assert_eq!(clip_window("short", 0..2, 20).shown, "short");
        assert_eq!(clip_window("needleyyyy", 0..6, 8).shown, "needleyy[+2 chars]");
        assert_eq!(clip_window("xxxxneedle", 4..10, 8).shown, "[+2 chars]xxneedle");
    }

    #[test]
    fn a_clamp_falls_between_lines() {
        let text = "0123456789\n".repeat(100);
        let clamped = clamp(&text, 60).unwrap();
        assert_eq!(clamped.head, "0123456789\n".repeat(3));
        assert_eq!(clamped.tail, "0123456789\n");
        assert_eq!(clamp(&text, 1100), None);
    }

    #[test]
    fn nouns_have_their_plurals() {
        assert_eq!(count(1, "entry"), "1 entry");
        assert_eq!(count(2, "entry"), "2 entries");
        assert_eq!(count(0, "match"), "0 matches");
        assert_eq!(count(3, "line"), "3 lines");
    }

    #[test]
    fn a_terminal_never_gets_an_escape() {
        assert_eq!(show_control("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\n");
        assert_eq!(show_control("a\u{202e}b"), "a\\u{202e}b");
    }

    proptest! {
        #[test]
        fn a_clamp_keeps_head_and_tail_and_counts_the_rest(
            text in "[a\u{e9}\n]{0,400}", max in 0usize..300
        ) {
            match clamp(&text, max) {
                None => prop_assert!(text.chars().count() <= max),
                Some(c) => {
                    prop_assert!(text.starts_with(&c.head) && text.ends_with(&c.tail));
                    let (head, tail) = (c.head.chars().count(), c.tail.chars().count());
                    prop_assert!(head + tail <= max);
                    prop_assert_eq!(head + tail + c.omitted, text.chars().count());
                }
            }
        }

        #[test]
        fn a_window_never_panics_and_keeps_its_size(
            line in "[a\u{e9}]{0,80}", start in 0usize..100, len in 0usize..100, max in 0usize..40
        ) {
            let window = clip_window(&line, start..start + len, max);
            let marks = window.shown.matches("chars]").count();
            prop_assert_eq!(marks > 0, window.hidden > 0);
        }
    }
}
