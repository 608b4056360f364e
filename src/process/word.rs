//! The words of a shell line, one after the other, as its program would get them.
//!
//! Quotes are taken off, redirections and comments left out; what the shell would put in by running or
//! looking up something is one mark in the word. It reads no more of the line than is asked for, and
//! knows no grammar beyond where a command ends.

use std::iter::Peekable;
use std::str::Chars;

/// Stands in a word for what only the shell knows; no program gets this character.
const UNKNOWN: char = '\0';

/// How many texts are taken apart into further words; each may hold the next one.
const MAX_SPLITS: usize = 8;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    text: String,
    /// How many bytes at its begin were written without quotes.
    n_plain: usize,
}

impl Word {
    /// Returns the word as its program would get it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Returns what stands behind the last `/`.
    pub(super) fn file_name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether the word is this one, written without quotes.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        self.text == text && self.n_plain == text.len()
    }

    /// Returns whether a shell takes the word for an assignment where a command begins.
    pub(super) fn is_assignment(&self) -> bool {
        let Some((name, _)) = self.text.split_once('=') else { return false };
        if name.len() >= self.n_plain {
            return false;
        }
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Returns whether the word may be the number before a redirection.
    fn is_number(&self) -> bool {
        self.n_plain == self.text.len() && self.text.chars().all(|c| c.is_ascii_digit())
    }
}

/// The words that are left of a line.
#[derive(Debug)]
pub(super) struct Words<'a> {
    /// Words to be read before the rest, the next one last.
    ahead: Vec<Word>,
    n_splits: usize,
    chars: Peekable<Chars<'a>>,
}

/// What the text holds next.
enum Token {
    Word(Word),
    /// The end of a command, or the begin of a group.
    Edge,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { ahead: Vec::new(), n_splits: 0, chars: text.chars().peekable() }
    }

    /// Returns the next word of the line, of whichever command.
    pub(super) fn next_in_line(&mut self) -> Option<Word> {
        loop {
            match self.token()? {
                Token::Word(word) => return Some(word),
                Token::Edge => {}
            }
        }
    }

    /// Returns the next word of the command that is being read; nothing at its end.
    pub(super) fn next_in_command(&mut self) -> Option<Word> {
        match self.token()? {
            Token::Word(word) => Some(word),
            Token::Edge => None,
        }
    }

    /// Makes a word the next one.
    pub(super) fn put_back(&mut self, word: Word) {
        self.ahead.push(word);
    }

    /// Makes the words of a text the next ones; nothing when that was done too often.
    pub(super) fn put_back_all(&mut self, text: &str) -> Option<()> {
        self.n_splits += 1;
        if self.n_splits > MAX_SPLITS {
            return None;
        }
        let mut words = Words::new(text);
        let mut all: Vec<Word> = std::iter::from_fn(|| words.next_in_line()).collect();
        all.reverse();
        self.ahead.append(&mut all);
        Some(())
    }

    fn token(&mut self) -> Option<Token> {
        if let Some(word) = self.ahead.pop() {
            return Some(Token::Word(word));
        }
        loop {
            match *self.chars.peek()? {
                ' ' | '\t' | '\r' => drop(self.chars.next()),
                '#' => self.skip_comment(),
                '<' | '>' => self.skip_redirection(),
                '\n' | ';' | '&' | '|' | '(' | ')' => {
                    self.chars.next();
                    return Some(Token::Edge);
                }
                _ => {
                    let Some(word) = self.word() else { continue };
                    if !(word.is_number() && self.is_at(&['<', '>'])) {
                        return Some(Token::Word(word));
                    }
                }
            }
        }
    }

    fn is_at(&mut self, chars: &[char]) -> bool {
        self.chars.peek().is_some_and(|c| chars.contains(c))
    }

    fn skip_comment(&mut self) {
        while !self.is_at(&['\n']) && self.chars.next().is_some() {}
    }

    /// Skips a redirection with its target.
    fn skip_redirection(&mut self) {
        while self.is_at(&['<', '>', '&', '|', '-']) {
            self.chars.next();
        }
        while self.is_at(&[' ', '\t']) {
            self.chars.next();
        }
        if self.is_at(&['(']) {
            self.chars.next();
            self.skip_to(')', Some('('));
        } else {
            drop(self.word());
        }
    }

    /// Reads a word up to a blank or a sign of the grammar; nothing where only a line was continued.
    fn word(&mut self) -> Option<Word> {
        let mut text = String::new();
        let mut n_plain = None;
        while let Some(&c) = self.chars.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' | '<' | '>' => break,
                '(' if !text.ends_with('=') => break,
                _ => {}
            }
            self.chars.next();
            let n_before = text.len();
            let is_plain = self.piece(c, &mut text);
            if !is_plain {
                n_plain.get_or_insert(n_before);
            }
        }
        if text.is_empty() && n_plain.is_none() {
            return None;
        }
        let n_plain = n_plain.unwrap_or(text.len());
        Some(Word { text, n_plain })
    }

    /// Reads what begins with a character, and returns whether it stands for itself.
    fn piece(&mut self, c: char, text: &mut String) -> bool {
        match c {
            '\\' => match self.chars.next() {
                Some('\n') | None => return true,
                Some(escaped) => text.push(escaped),
            },
            '\'' => text.extend(self.chars.by_ref().take_while(|&c| c != '\'')),
            '"' => self.double_quoted(text),
            '(' => self.skip_to(')', Some('(')),
            '$' if self.is_at(&['\'', '"']) => {}
            '$' => self.expansion(text),
            '`' => {
                self.skip_to('`', None);
                text.push(UNKNOWN);
            }
            plain => {
                text.push(plain);
                return true;
            }
        }
        false
    }

    fn double_quoted(&mut self, text: &mut String) {
        while let Some(c) = self.chars.next() {
            match c {
                '"' => return,
                '\\' => match self.chars.next() {
                    Some('\n') | None => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                },
                '$' => self.expansion(text),
                '`' => {
                    self.skip_to('`', None);
                    text.push(UNKNOWN);
                }
                c => text.push(c),
            }
        }
    }

    /// Reads what follows a `$`.
    fn expansion(&mut self, text: &mut String) {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        match self.chars.peek() {
            Some('(') => {
                self.chars.next();
                self.skip_to(')', Some('('));
            }
            Some('{') => {
                self.chars.next();
                self.skip_to('}', Some('{'));
            }
            Some(c) if is_name(c) => while self.chars.next_if(is_name).is_some() {},
            Some('?' | '!' | '$' | '#' | '@' | '*' | '-') => drop(self.chars.next()),
            Some(_) | None => {
                text.push('$');
                return;
            }
        }
        text.push(UNKNOWN);
    }

    /// Skips behind the closing sign that fits one that was read; signs in quotes do not count.
    fn skip_to(&mut self, close: char, open: Option<char>) {
        let mut n_open = 1_usize;
        let mut quote = None;
        while let Some(c) = self.chars.next() {
            match (c, quote) {
                ('\\', None | Some('"')) => drop(self.chars.next()),
                (c, Some(end)) => quote = quote.filter(|_| c != end),
                ('\'' | '"', None) => quote = Some(c),
                (c, None) if c == close => n_open -= 1,
                (c, None) if Some(c) == open => n_open += 1,
                (_, None) => {}
            }
            if n_open == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let mut words = Words::new(line);
        std::iter::from_fn(|| words.next_in_line()).map(Word::into_text).collect()
    }

    #[test]
    fn quotes_are_taken_off() {
        assert_eq!(
            words(r#"v\im 'a b'"c d" "\$\x" '' $'e'"#),
            ["vim", "a bc d", "$\\x", "", "e"]
        );
    }

    #[test]
    fn what_only_the_shell_knows_is_a_mark() {
        assert_eq!(
            words(r#"$a/x "$(b ")" c)/d" ${e:-}} `f g`h $ "i$j""#),
            ["\0/x", "\0/d", "\0}", "\0h", "$", "i\0"]
        );
    }

    #[test]
    fn redirections_and_comments_are_no_words() {
        assert_eq!(words("a <b 2>&1 2> c >>d d3>e <(f g) #h\ni#j"), ["a", "d3", "i#j"]);
    }

    #[test]
    fn a_continued_line_is_one_line() {
        assert_eq!(words("\\\n  \\\na\\\nb"), ["ab"]);
        let mut continued = Words::new("a \\\n b\nc");
        assert_eq!(continued.next_in_command().unwrap().text(), "a");
        assert_eq!(continued.next_in_command().unwrap().text(), "b");
        assert_eq!(continued.next_in_command(), None);
        assert_eq!(continued.next_in_line().unwrap().text(), "c");
    }

    #[test]
    fn only_a_plain_name_is_assigned_to() {
        let is_assignment = |line| Words::new(line).next_in_line().unwrap().is_assignment();
        for line in ["a=", "A_1='x y'", "a+=b", "a[1]=b", "a=(b c)", "a=$(b c)"] {
            assert!(is_assignment(line), "{line}");
        }
        for line in ["a", "=b", "1a=b", "'a'=b", "'a=b'", "\\a=b", "a\\=b", "-a=b", "$a=b"] {
            assert!(!is_assignment(line), "{line}");
        }
    }
}
