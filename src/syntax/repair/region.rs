//! The part of a text that a repair may look at, as items with columns, and the openers around it.
//!
//! Columns are those of the screen: a tab goes to the next multiple of eight. Trivia is left out, and a
//! prefix belongs to the item that it stands before.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use memchr::{memchr, memchr_iter, memrchr};

use super::super::dialect::Dialect;
use super::super::lexer::{Delim, Lexer, Prefix, Span, Token, TokenKind};
use super::role::{Role, role};

/// The width of a tab stop.
const TAB: usize = 8;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ItemKind {
    Open(Delim),
    Close(Delim),
    Datum,
}

/// One delimiter or datum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    /// Its bytes, without the prefix before it.
    pub(super) span: Span,
    /// The 0-based line that it begins on, and the one that it ends on.
    pub(super) line: usize,
    pub(super) end_line: usize,
    /// The column of the item itself.
    pub(super) col: usize,
    /// The column of the first prefix before it, else its own.
    pub(super) lead: usize,
    /// Whether nothing but white space stands before it on its line.
    pub(super) first: bool,
    /// Whether nothing but comments follows on its line.
    pub(super) last: bool,
    /// Whether nothing but closers follows on its line.
    pub(super) trailing: bool,
    /// Equal for equal text.
    pub(super) id: u64,
    /// Whether nothing but prefixes, feature tests and metadata stand before it on its line.
    pub(super) begins: bool,
    /// Whether it ends a feature test or metadata, whose form comes next.
    pub(super) tests: bool,
    /// What it could be in a form.
    pub(super) role: Role,
    /// Whether white space stands before it on its line.
    pub(super) spaced: bool,
    /// Whether a quote or backquote stands before it.
    pub(super) quoted: bool,
    /// Behind the `#` of the tag before it: the tag could be the head of a form that lost its opener.
    pub(super) tagged: Option<usize>,
}

/// An opener that is open where the region begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) delim: Delim,
    pub(super) col: usize,
    /// The column of its second element, where that is on the opener's line.
    pub(super) second: Option<usize>,
    /// The column of its last element that is first on a line.
    pub(super) child: Option<usize>,
    /// How many elements it has, up to four.
    pub(super) n: u8,
}

/// An opener on the way to the region, by offsets.
struct Open {
    delim: Delim,
    at: usize,
    line: usize,
    n: u8,
    second: Option<usize>,
    child: Option<usize>,
}

impl Open {
    fn frame(&self, text: &str, near: bool) -> Frame {
        let col = |at: usize| if near { column(text, at) } else { 0 };
        Frame {
            delim: self.delim,
            col: col(self.at),
            second: self.second.map(col),
            child: self.child.map(col),
            n: self.n,
        }
    }
}

/// The lines before a region: what is open at its start.
pub(super) struct Before {
    pub(super) frames: Vec<Frame>,
    /// The first byte of the first token that reaches into the region.
    pub(super) at: usize,
}

/// How far back the start of a line is looked for; what stands further right is at this column.
const FAR: usize = 4096;

/// Of how many openers around the region the columns are known; those further out count as at column 0.
const NEAR_FRAMES: usize = 256;

/// Returns the screen column of a byte.
pub(super) fn column(text: &str, at: usize) -> usize {
    let from = at.saturating_sub(FAR);
    let Some(newline) = memrchr(b'\n', &text.as_bytes()[from..at]) else {
        let before = if from == 0 { text.get(..at) } else { None };
        return before.map_or(FAR, width);
    };
    width(text.get(from + newline + 1..at).unwrap_or_default())
}

fn width(before: &str) -> usize {
    before.chars().filter(|&c| c != '\u{FEFF}').fold(0, advance)
}

fn advance(col: usize, c: char) -> usize {
    if c == '\t' { (col / TAB + 1) * TAB } else { col + 1 }
}

/// Returns the byte at which a 0-based line begins; the end of the text past the last line.
pub(super) fn line_start(text: &str, line: usize) -> usize {
    match line.checked_sub(1) {
        None => 0,
        Some(before) => memchr_iter(b'\n', text.as_bytes())
            .nth(before)
            .map_or(text.len(), |newline| newline + 1),
    }
}

/// Reads what is open at the byte `start`, the beginning of a line.
pub(super) fn before(text: &str, dialect: &'static Dialect, start: usize) -> Before {
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    let mut line = 0;
    let mut fresh = true;
    let mut lead: Option<(usize, bool)> = None;
    for token in Lexer::new(text, dialect) {
        if token.span.end > start {
            break;
        }
        at = token.span.end;
        let here = lead.unwrap_or((token.span.start, fresh));
        match token.kind {
            TokenKind::Blank => {
                if memchr(b'\n', &text.as_bytes()[token.span.start..at]).is_some() {
                    line += 1;
                    fresh = true;
                }
                continue;
            }
            TokenKind::LineComment | TokenKind::BlockComment => continue,
            TokenKind::Prefix(Prefix::Quote | Prefix::Pair | Prefix::Discard) => {
                lead = Some(here);
                fresh = false;
                continue;
            }
            TokenKind::Open(delim) => {
                note_element(&mut open, here, line);
                let at = token.span.start;
                open.push(Open { delim, at, line, n: 0, second: None, child: None });
            }
            TokenKind::Close(_) => drop(open.pop()),
            TokenKind::Atom | TokenKind::String | TokenKind::Unclosed(_) => {
                note_element(&mut open, here, line);
            }
        }
        lead = None;
        fresh = false;
    }
    let far = open.len().saturating_sub(NEAR_FRAMES);
    let frames =
        open.iter().enumerate().map(|(nth, open)| open.frame(text, nth >= far)).collect();
    Before { frames, at }
}

fn note_element(open: &mut [Open], (at, fresh): (usize, bool), line: usize) {
    if let Some(top) = open.last_mut() {
        top.n = (top.n + 1).min(4);
        if fresh {
            top.child = Some(at);
        }
        if top.n == 2 && top.second.is_none() && top.child.is_none() && top.line == line {
            top.second = Some(at);
        }
    }
}

/// The items of a stretch of text.
pub(super) struct Region {
    pub(super) items: Vec<Item>,
    /// Where the first token begins that is not in the region.
    pub(super) end: usize,
    /// Whether its last token never ends.
    pub(super) endless: bool,
    /// The text of comments and prefixes, as one number.
    pub(super) other: u64,
}

/// A region of more items than this is not read.
pub(super) const MOST_ITEMS: usize = 11_000;

/// Reads a region; nothing where it is too large.
///
/// `at` is the first byte of a token; the region ends before the first token at or past `stop`.
pub(super) fn region(
    text: &str,
    dialect: &'static Dialect,
    at: usize,
    stop: usize,
) -> Option<Region> {
    let mut reader = Reader::new(text, at);
    let mut end = text.len();
    let mut endless = false;
    for token in Lexer::at(text, dialect, at) {
        if token.span.start >= stop {
            end = token.span.start;
            break;
        }
        endless = matches!(token.kind, TokenKind::Unclosed(_));
        reader.take(token);
        if reader.items.len() > MOST_ITEMS {
            return None;
        }
    }
    Some(Region { items: reader.finish(), end, endless, other: reader.other.finish() })
}

/// Returns the first code item at or past a byte that begins a token.
pub(super) fn next_item(text: &str, dialect: &'static Dialect, at: usize) -> Option<Item> {
    let mut reader = Reader::new(text, at);
    for token in Lexer::at(text, dialect, at) {
        reader.take(token);
        if !reader.items.is_empty() {
            break;
        }
    }
    reader.items.first().copied()
}

struct Reader<'t> {
    text: &'t str,
    items: Vec<Item>,
    other: DefaultHasher,
    at: usize,
    line: usize,
    col: usize,
    fresh: bool,
    lead: Option<(usize, bool)>,
    spaced: bool,
    depth: usize,
    /// The depth of a feature test that is not over yet, and whether it began its line.
    test: Option<(usize, bool)>,
    begins: bool,
    tagged: Option<usize>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        let at = at.min(text.len());
        let line = memchr_iter(b'\n', &text.as_bytes()[..at]).count();
        let col = column(text, at);
        let start = memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1);
        let fresh = text.get(start..at).unwrap_or_default().trim().is_empty();
        let (items, other) = (Vec::new(), DefaultHasher::new());
        Self {
            text,
            items,
            other,
            at,
            line,
            col,
            fresh,
            lead: None,
            spaced: false,
            depth: 0,
            test: None,
            begins: false,
            tagged: None,
        }
    }

    /// Moves past a token's text.
    fn pass(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' {
                self.line += 1;
                self.col = 0;
                self.fresh = true;
            } else if c != '\u{FEFF}' {
                self.col = advance(self.col, c);
            }
        }
    }

    fn take(&mut self, token: Token) {
        let text = token.span.of(self.text);
        let (line, col) = (self.line, self.col);
        let here = self.lead.unwrap_or((col, self.fresh));
        if self.lead.is_none() {
            let before = token.span.start.wrapping_sub(1);
            self.spaced = self.text.as_bytes().get(before) == Some(&b' ');
        }
        let kind = match token.kind {
            TokenKind::Blank => return self.pass(text),
            TokenKind::LineComment | TokenKind::BlockComment => {
                text.hash(&mut self.other);
                let fresh = self.fresh;
                self.pass(text);
                self.fresh |= fresh;
                return;
            }
            TokenKind::Prefix(prefix) => {
                text.hash(&mut self.other);
                if prefix == Prefix::Pair {
                    self.test = Some((self.depth, here.1));
                }
                let word = text.strip_prefix('#').unwrap_or_default();
                let tags = word.starts_with(|c: char| c.is_alphabetic() || ":.-".contains(c));
                self.tagged = tags.then_some(token.span.start + 1);
                self.lead = Some(here);
                self.pass(text);
                self.fresh = false;
                return;
            }
            TokenKind::Open(delim) => ItemKind::Open(delim),
            TokenKind::Close(delim) => ItemKind::Close(delim),
            TokenKind::Atom | TokenKind::String | TokenKind::Unclosed(_) => ItemKind::Datum,
        };
        let prefixed = self.lead.take().is_some();
        let function = self.text.as_bytes()[..token.span.start].ends_with(b"#'");
        let begins = here.1 || std::mem::take(&mut self.begins);
        match kind {
            ItemKind::Open(_) => self.depth += 1,
            ItemKind::Close(_) => self.depth = self.depth.saturating_sub(1),
            ItemKind::Datum => {}
        }
        let mut tests = false;
        if !matches!(kind, ItemKind::Open(_))
            && let Some((_, began)) = self.test.take_if(|(depth, _)| *depth == self.depth)
        {
            self.begins = began;
            tests = true;
        }
        self.pass(text);
        self.fresh = false;
        let mut hasher = DefaultHasher::new();
        (kind, text).hash(&mut hasher);
        self.items.push(Item {
            kind,
            span: token.span,
            line,
            end_line: self.line,
            col,
            lead: here.0,
            first: here.1,
            begins,
            tests,
            last: false,
            trailing: false,
            id: hasher.finish(),
            role: if function {
                Role::FunctionQuoted
            } else {
                role(token.kind, prefixed, text)
            },
            spaced: self.spaced,
            quoted: self.text.as_bytes()[..token.span.start].ends_with(b"'") && !function
                || self.text.as_bytes()[..token.span.start].ends_with(b"`"),
            tagged: self.tagged.take(),
        });
        self.at = token.span.end;
    }

    fn finish(&mut self) -> Vec<Item> {
        let mut items = std::mem::take(&mut self.items);
        let mut next: Option<(usize, bool, ItemKind)> = None;
        for item in items.iter_mut().rev() {
            let follows = next.filter(|(line, _, _)| *line == item.end_line);
            item.last = follows.is_none();
            item.trailing = match follows {
                None => true,
                Some((_, trailing, kind)) => trailing && matches!(kind, ItemKind::Close(_)),
            };
            next = Some((item.line, item.trailing, item.kind));
        }
        items
    }
}
