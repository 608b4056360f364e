//! Text to tokens, losslessly: every byte lies in exactly one token. Hot.
//!
//! One lexer for all dialects, driven by a dialect's data. It decides nothing about pairs of delimiters;
//! that is `balance`. It never fails: what has no end runs to the end of the text as
//! [`TokenKind::Unclosed`].
//!
//! Invariant: tokens are never empty, and begin and end on character boundaries, because every byte that
//! decides is ASCII and an escaped character is passed whole.

use memchr::{memchr, memchr2, memchr3, memmem};

use super::dialect::{Bang, Bars, Class, Dialect, Has};

/// A kind of delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delim {
    /// `( )`
    Round,
    /// `[ ]`
    Square,
    /// `{ }`
    Curly,
}

impl Delim {
    /// Returns the opening delimiter.
    pub fn opener(self) -> char {
        match self {
            Self::Round => '(',
            Self::Square => '[',
            Self::Curly => '{',
        }
    }

    /// Returns the closing delimiter.
    pub fn closer(self) -> char {
        match self {
            Self::Round => ')',
            Self::Square => ']',
            Self::Curly => '}',
        }
    }

    fn of(byte: u8) -> Self {
        match byte {
            b'[' | b']' => Self::Square,
            b'{' | b'}' => Self::Curly,
            _ => Self::Round,
        }
    }
}

/// What a prefix does to what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// It makes one datum with the next one: `'`, `#'`, `` ` ``, `,@`, `#p`.
    Quote,
    /// It makes one datum with the next two: `#+test form`, `^meta form`.
    Pair,
    /// It takes the next datum out of the program: `#;`, `#_`.
    Discard,
}

/// What runs to the end of the text because it never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unclosed {
    /// `"…`
    String,
    /// `#|…`
    BlockComment,
    /// `|…`
    Symbol,
    /// `#<<END…`
    HereString,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// White space, line endings among it.
    Blank,
    /// A comment up to the end of its line, without the line ending.
    LineComment,
    /// A comment with an end of its own.
    BlockComment,
    /// A reader prefix.
    Prefix(Prefix),
    /// An opening delimiter.
    Open(Delim),
    /// A closing delimiter.
    Close(Delim),
    /// A string, a regular expression or a here string.
    String,
    /// A symbol, number, keyword or character.
    Atom,
    /// Something that never ends.
    Unclosed(Unclosed),
}

impl TokenKind {
    /// Returns whether the reader skips the token.
    pub fn is_trivia(self) -> bool {
        matches!(self, Self::Blank | Self::LineComment | Self::BlockComment)
    }
}

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Byte offset of the first byte.
    pub start: usize,
    /// Byte offset just past the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the stretch's text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it lies.
    pub span: Span,
}

/// The tokens of a text, first to last.
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    bytes: &'t [u8],
    dialect: &'static Dialect,
    at: usize,
    /// Whether the text declares a language that this dialect's data does not describe.
    foreign: bool,
    /// Per fence, up to where it is known not to occur: a search that failed is not made again.
    barren: [usize; 3],
}

/// What ends a token that some Schemes alone know: slots of [`Lexer::barren`].
#[derive(Clone, Copy, Debug)]
enum Fence {
    /// `}#`, on the line of its `#{`.
    Symbol,
    /// `<#`
    Foreign,
    /// `!#`
    Bang,
}

impl Fence {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Symbol => b"}#",
            Self::Foreign => b"<#",
            Self::Bang => b"!#",
        }
    }
}

impl<'t> Lexer<'t> {
    /// Begins at the start of a text.
    pub fn new(text: &'t str, dialect: &'static Dialect) -> Self {
        let foreign = is_foreign(text.as_bytes(), dialect);
        Self { bytes: text.as_bytes(), dialect, at: 0, foreign, barren: [0; 3] }
    }

    /// Begins at a byte that is known to be the first of a token.
    pub(super) fn at(text: &'t str, dialect: &'static Dialect, at: usize) -> Self {
        Self { at, ..Self::new(text, dialect) }
    }

    fn class(&self, byte: u8) -> Class {
        self.dialect.classes[usize::from(byte)]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Moves to just past a fence and says so, or stays where it does not occur.
    ///
    /// Cost: the text is searched once a fence, however many openers ask for it.
    fn pass_fence(&mut self, fence: Fence) -> bool {
        if self.at < self.barren[fence as usize] {
            return false;
        }
        let rest = self.rest();
        let limit = match fence {
            Fence::Symbol => memchr(b'\n', rest).unwrap_or(rest.len()),
            Fence::Foreign | Fence::Bang => rest.len(),
        };
        let found = memmem::find(&rest[..limit], fence.bytes());
        match found {
            Some(at) => self.at += at + fence.bytes().len(),
            None => self.barren[fence as usize] = self.at + limit,
        }
        found.is_some()
    }

    /// Moves to the end of the line, before its ending.
    fn pass_line(&mut self) {
        let end = memchr(b'\n', self.rest()).map_or(self.bytes.len(), |at| self.at + at);
        let crlf = end > self.at && end < self.bytes.len() && self.bytes[end - 1] == b'\r';
        self.at = if crlf { end - 1 } else { end };
    }

    /// Passes one whole character, if there is one.
    fn pass_char(&mut self) {
        self.at = (self.at + 1).min(self.bytes.len());
        while self.peek(0).is_some_and(|byte| byte & 0xC0 == 0x80) {
            self.at += 1;
        }
    }

    fn blank(&mut self) -> TokenKind {
        while self.peek(0).is_some_and(|byte| self.class(byte) == Class::Blank) {
            self.at += 1;
        }
        TokenKind::Blank
    }

    fn line_comment(&mut self) -> TokenKind {
        self.pass_line();
        TokenKind::LineComment
    }

    /// Passes what stands between quotes; the opening one is passed already.
    fn quoted(&mut self, quote: u8) -> bool {
        while let Some(at) = memchr2(quote, b'\\', self.rest()) {
            self.at += at;
            if self.bytes[self.at] == quote {
                self.at += 1;
                return true;
            }
            self.at += 1;
            self.pass_char();
        }
        self.at = self.bytes.len();
        false
    }

    fn string(&mut self) -> TokenKind {
        if self.quoted(b'"') {
            TokenKind::String
        } else {
            TokenKind::Unclosed(Unclosed::String)
        }
    }

    fn block_comment(&mut self) -> TokenKind {
        let mut depth = 1;
        while let Some(at) = memchr2(b'|', b'#', self.rest()) {
            self.at += at;
            let pair = (self.bytes[self.at], self.peek(1));
            self.at +=
                if matches!(pair, (b'|', Some(b'#')) | (b'#', Some(b'|'))) { 2 } else { 1 };
            match pair {
                (b'|', Some(b'#')) => depth -= 1,
                (b'#', Some(b'|')) => depth += 1,
                _ => {}
            }
            if depth == 0 {
                return TokenKind::BlockComment;
            }
        }
        self.at = self.bytes.len();
        TokenKind::Unclosed(Unclosed::BlockComment)
    }

    /// Passes an atom's characters from here; none is a legal number of them.
    fn atom(&mut self) -> TokenKind {
        while let Some(byte) = self.peek(0) {
            match self.class(byte) {
                Class::Atom | Class::Hash | Class::SoftPrefix | Class::SoftChar => self.at += 1,
                Class::Escape => {
                    self.at += 1;
                    self.pass_char();
                }
                Class::Bar => {
                    if !self.bar() {
                        return TokenKind::Unclosed(Unclosed::Symbol);
                    }
                }
                Class::Blank
                | Class::Open
                | Class::Close
                | Class::Quote
                | Class::Comment
                | Class::Prefix
                | Class::Char => break,
            }
        }
        TokenKind::Atom
    }

    /// Passes a quoted part of a symbol; false where it never ends.
    fn bar(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        match self.dialect.bars {
            Bars::Plain => true,
            Bars::Anywhere => self.quoted(b'|'),
            Bars::OnOneLine => {
                if !self.barred_on_line() {
                    self.at = start + 1;
                }
                true
            }
        }
    }

    fn barred_on_line(&mut self) -> bool {
        while let Some(at) = memchr3(b'|', b'\\', b'\n', self.rest()) {
            self.at += at + 1;
            match self.bytes[self.at - 1] {
                b'|' => return true,
                b'\n' => return false,
                _ => self.pass_char(),
            }
        }
        false
    }

    /// Passes a character and what clings to it: `\(`, `\newline`.
    fn character(&mut self) -> TokenKind {
        self.pass_char();
        self.atom()
    }

    /// Passes an Emacs Lisp character; its `?` is passed already.
    fn question_char(&mut self) -> TokenKind {
        while self.peek(0) == Some(b'\\') {
            let modifier =
                matches!(self.peek(1), Some(b'C' | b'M' | b'S' | b'H' | b'A' | b's'));
            if modifier && self.peek(2) == Some(b'-') {
                self.at += 3;
            } else if self.peek(1) == Some(b'^') {
                self.at += 2;
            } else {
                return self.escaped_char();
            }
        }
        self.pass_char();
        TokenKind::Atom
    }

    fn escaped_char(&mut self) -> TokenKind {
        self.at += 1;
        let named = self.peek(0) == Some(b'N') && self.peek(1) == Some(b'{');
        let first = self.peek(0);
        self.pass_char();
        if named {
            let line = memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
            if let Some(end) = memchr(b'}', &self.rest()[..line]) {
                self.at += end + 1;
            }
        } else if matches!(first, Some(b'x' | b'u' | b'U' | b'0'..=b'7')) {
            while self.peek(0).is_some_and(|byte| byte.is_ascii_hexdigit()) {
                self.at += 1;
            }
        }
        TokenKind::Atom
    }

    fn prefix(&mut self, byte: u8) -> TokenKind {
        self.at += 1;
        let pair =
            matches!((byte, self.peek(0)), (b',' | b'~', Some(b'@')) | (b',', Some(b'.')));
        if pair
            && !(byte == b','
                && self.peek(0) == Some(b'.')
                && self.dialect.bars != Bars::Anywhere)
        {
            self.at += 1;
        }
        TokenKind::Prefix(if byte == b'^' { Prefix::Pair } else { Prefix::Quote })
    }

    /// Passes what `#` opens; the `#` is not passed yet.
    fn hash(&mut self) -> TokenKind {
        let dialect = self.dialect;
        let Some(next) = self.peek(1) else {
            self.at += 1;
            return TokenKind::Atom;
        };
        if Some(next) == dialect.datum_comment {
            self.at += 2;
            return TokenKind::Prefix(Prefix::Discard);
        }
        match next {
            b'|' if dialect.block_comments == Has::Yes => {
                self.at += 2;
                self.block_comment()
            }
            b'\\' if dialect.hash_chars == Has::Yes => {
                self.at += 2;
                self.character()
            }
            b'"' => {
                self.at += 2;
                self.string()
            }
            b'+' | b'-' if dialect.features == Has::Yes => {
                self.at += 2;
                TokenKind::Prefix(Prefix::Pair)
            }
            b'^' if dialect.metadata == Has::Yes => {
                self.at += 2;
                TokenKind::Prefix(Prefix::Pair)
            }
            b'\'' | b'`' => {
                self.at += 2;
                TokenKind::Prefix(Prefix::Quote)
            }
            b',' if self.class(b',') == Class::Prefix => {
                self.at += if self.peek(2) == Some(b'@') { 3 } else { 2 };
                TokenKind::Prefix(Prefix::Quote)
            }
            b'!' => self.bang(),
            b'<' if dialect.here_strings == Has::Yes && self.peek(2) == Some(b'<') => {
                self.here_string()
            }
            b'{' if dialect.wild_symbols == Has::Yes => {
                if self.pass_fence(Fence::Symbol) {
                    TokenKind::Atom
                } else {
                    self.tag()
                }
            }
            b'>' if dialect.wild_symbols == Has::Yes => {
                if self.pass_fence(Fence::Foreign) {
                    TokenKind::BlockComment
                } else {
                    self.tag()
                }
            }
            _ => self.tag(),
        }
    }

    /// Passes a dispatch that reads like an atom, and decides whether it belongs to what follows.
    fn tag(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        if self.peek(0) == Some(b'?') && self.dialect.tags == Has::Yes {
            self.at += if self.peek(1) == Some(b'@') { 2 } else { 1 };
            return TokenKind::Prefix(Prefix::Quote);
        }
        let kind = self.atom();
        if kind != TokenKind::Atom {
            return kind;
        }
        let word = &self.bytes[start..self.at];
        let clings = self
            .peek(0)
            .is_some_and(|byte| matches!(self.class(byte), Class::Open | Class::Quote));
        let sign = matches!(word, [b'#', sign] if sign.is_ascii_punctuation() && *sign != b'#');
        let label = word.ends_with(b"=");
        let tag = self.dialect.tags == Has::Yes && !word.starts_with(b"##");
        if clings || sign || label || tag {
            TokenKind::Prefix(Prefix::Quote)
        } else {
            TokenKind::Atom
        }
    }

    fn bang(&mut self) -> TokenKind {
        match self.dialect.bang {
            Bang::FirstLine if self.at == 0 => self.line_comment(),
            Bang::Line => self.line_comment(),
            Bang::Block if !self.peek(2).is_some_and(|byte| byte.is_ascii_alphabetic()) => {
                if self.pass_fence(Fence::Bang) {
                    TokenKind::BlockComment
                } else {
                    self.line_comment()
                }
            }
            Bang::FirstLine | Bang::Block => self.tag(),
        }
    }

    /// Passes `#<<END`, the lines after it and the line `END`.
    fn here_string(&mut self) -> TokenKind {
        self.at += 3;
        let start = self.at;
        self.pass_line();
        let end = &self.bytes[start..self.at];
        while self.at < self.bytes.len() {
            self.at += 1 + usize::from(self.peek(0) == Some(b'\r'));
            let line = self.at;
            self.pass_line();
            if &self.bytes[line.min(self.at)..self.at] == end {
                return TokenKind::String;
            }
        }
        TokenKind::Unclosed(Unclosed::HereString)
    }

    fn lex(&mut self, byte: u8) -> TokenKind {
        match self.class(byte) {
            Class::Blank => self.blank(),
            Class::Open => {
                self.at += 1;
                TokenKind::Open(Delim::of(byte))
            }
            Class::Close => {
                self.at += 1;
                TokenKind::Close(Delim::of(byte))
            }
            Class::Quote => {
                self.at += 1;
                self.string()
            }
            Class::Comment => self.line_comment(),
            Class::Hash => self.hash(),
            Class::Prefix | Class::SoftPrefix => self.prefix(byte),
            Class::Char => {
                self.at += 1;
                self.character()
            }
            Class::SoftChar => {
                self.at += 1;
                self.question_char()
            }
            Class::Atom | Class::Escape | Class::Bar => self.atom(),
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let start = self.at;
        let byte = self.peek(0)?;
        let kind = if self.foreign {
            self.at = self.bytes.len();
            TokenKind::Atom
        } else if start == 0 && self.bytes.starts_with("\u{FEFF}".as_bytes()) {
            self.at = "\u{FEFF}".len();
            self.blank()
        } else {
            self.lex(byte)
        };
        Some(Token { kind, span: Span { start, end: self.at } })
    }
}

/// Returns whether a `#lang` or `#reader` line near the top names one of the dialect's foreign languages.
///
/// Such a text is one atom: nothing in it is found wrong, and nothing is repaired.
fn is_foreign(bytes: &[u8], dialect: &Dialect) -> bool {
    const NEAR: usize = 2048;
    let top = &bytes[..bytes.len().min(NEAR)];
    let declares = |at: usize| {
        let rest = &top[at..];
        let name = rest.strip_prefix(b"#lang ").or_else(|| rest.strip_prefix(b"#reader "));
        name.is_some_and(|name| {
            dialect.foreign.iter().any(|foreign| name.starts_with(foreign.as_bytes()))
        })
    };
    !dialect.foreign.is_empty() && memmem::find_iter(top, b"#").any(declares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_cover_the_text(text in "[-a(){}\\[\\]\"|\\\\#;'`,@~^?!<>+=_ENC\r\n\u{e9}\u{FEFF} ]{0,60}") {
            for dialect in Dialect::ALL {
                let tokens: Vec<_> = Lexer::new(&text, dialect).collect();
                let whole: String = tokens.iter().map(|token| token.span.of(&text)).collect();
                prop_assert_eq!(&whole, &text);
                prop_assert!(tokens.iter().all(|token| token.span.start < token.span.end));
            }
        }
    }
}
