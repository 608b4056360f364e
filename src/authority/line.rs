//! Reading a shell's line into its simple commands, where it is one that every shell reads alike.
//!
//! The language is the part of `sh` in which nothing is left to be found out when the line runs: words,
//! quotes without expansions, and the separators `;` `&` `&&` `||` `|` and a newline. Everything else
//! (expansions, substitutions, redirections, groups, keywords, builtins that change what later words
//! mean) makes the line unresolved, with the place of what did it. Only a pattern of file names is let
//! through as an argument: it stands for any words. No shell is run and no name is looked up.
//!
//! Invariant: a line that is read has been accounted for character by character, and was read in the same
//! way by a second grammar that shares no code with this one.

use std::ops::Range;

use crate::authority::grammar;
use crate::authority::unresolved::{Construct, Unresolved, is_keyword, is_unruly};

/// The greatest length of a line in bytes.
const MAX_LINE: usize = 16 * 1024;

/// One command of a line: a program or builtin and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// The words; never empty.
    pub(super) words: Vec<Word>,
}

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The bytes of the line that it was written in.
    pub(super) span: Range<usize>,
    /// What the program gets.
    pub(super) value: Value,
}

/// What a word comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Exactly this, its quotes taken away.
    Known(String),
    /// A pattern of file names: any words, also none.
    Unknown,
}

/// Returns the simple commands of a line, each with its words.
pub(super) fn simple_commands(line: &str) -> Result<Vec<SimpleCommand>, Unresolved> {
    if line.len() > MAX_LINE {
        return Err(Unresolved { construct: Construct::TooLong, at_char: 1 });
    }
    let commands = Reader { line, at: 0 }.read().map_err(|(construct, at)| {
        let before = line.get(..at).unwrap_or_default();
        Unresolved { construct, at_char: before.chars().count() + 1 }
    })?;
    let spans: Vec<Vec<Range<usize>>> = commands
        .iter()
        .map(|command| command.words.iter().map(|word| word.span.clone()).collect())
        .collect();
    if grammar::word_spans(line).is_some_and(|other| other == spans) {
        return Ok(commands);
    }
    Err(Unresolved { construct: Construct::Ambiguous, at_char: 1 })
}

/// What stands where, as the reader reports it: by its byte.
type Stop = (Construct, usize);

/// Where in a command a word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Command,
    Argument,
}

/// Whether a separator leaves the line unfinished.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    MayEnd,
    MustFollow,
}

struct Reader<'l> {
    line: &'l str,
    at: usize,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Vec<SimpleCommand>, Stop> {
        let mut commands = Vec::new();
        let mut words = Vec::new();
        let mut next = Next::MayEnd;
        loop {
            self.skip_blanks()?;
            match self.peek() {
                None => break,
                Some('#') => self.skip_comment()?,
                Some('\n') if words.is_empty() => self.at += 1,
                Some('\n' | ';' | '&' | '|') => {
                    let at = self.at;
                    next = self.separator();
                    if words.is_empty() {
                        return Err((Construct::Separator, at));
                    }
                    commands.push(SimpleCommand { words: std::mem::take(&mut words) });
                }
                Some(_) => {
                    let role = if words.is_empty() { Role::Command } else { Role::Argument };
                    words.push(self.word(role)?);
                    next = Next::MayEnd;
                }
            }
        }
        if !words.is_empty() {
            commands.push(SimpleCommand { words });
        } else if next == Next::MustFollow {
            return Err((Construct::Separator, self.line.len().saturating_sub(1)));
        }
        Ok(commands)
    }

    fn peek(&self) -> Option<char> {
        self.line.get(self.at..)?.chars().next()
    }

    fn rest(&self) -> &str {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Returns the character before the present one.
    fn before(&self) -> Option<char> {
        self.line.get(..self.at)?.chars().next_back()
    }

    /// Skips blanks, and newlines that a backslash right behind a blank takes away.
    fn skip_blanks(&mut self) -> Result<(), Stop> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.rest().starts_with("\\\n") => {
                    if !matches!(self.before(), Some(' ' | '\t')) {
                        return Err((Construct::Continuation, self.at));
                    }
                    self.at += 2;
                    // What follows is read as if it stood behind a blank, which it does.
                    if !matches!(self.peek(), Some(' ' | '\t')) {
                        return Ok(());
                    }
                }
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Stop> {
        while let Some(c) = self.peek().filter(|&c| c != '\n') {
            self.refuse_control(c)?;
            self.at += c.len_utf8();
        }
        Ok(())
    }

    fn refuse_control(&self, c: char) -> Result<(), Stop> {
        let is_control = c.is_control() && !matches!(c, '\t' | '\n');
        if is_control { Err((Construct::Control, self.at)) } else { Ok(()) }
    }

    /// Takes a separator; of those with a second character, that one then has no command before it.
    fn separator(&mut self) -> Next {
        let rest = self.rest();
        let (n_bytes, next) = match rest.get(..2) {
            Some("&&" | "||") => (2, Next::MustFollow),
            Some(_) | None if rest.starts_with('|') => (1, Next::MustFollow),
            Some(_) | None => (1, Next::MayEnd),
        };
        self.at += n_bytes;
        next
    }

    fn word(&mut self, role: Role) -> Result<Word, Stop> {
        let start = self.at;
        let mut word = Building { text: String::new(), is_bare: true, is_pattern: false };
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => self.escaped(&mut word)?,
                _ => self.bare(c, role, start, &mut word)?,
            }
        }
        let span = start..self.at;
        if role == Role::Command {
            word.check_command().map_err(|construct| (construct, start))?;
        }
        let value = if word.is_pattern { Value::Unknown } else { Value::Known(word.text) };
        Ok(Word { span, value })
    }

    /// Takes one unquoted character.
    fn bare(
        &mut self,
        c: char,
        role: Role,
        start: usize,
        word: &mut Building,
    ) -> Result<(), Stop> {
        let stop = |construct| Err((construct, self.at));
        let is_call = self.rest().chars().nth(1) == Some('(');
        match c {
            '$' if is_call => return stop(Construct::Substitution),
            '<' | '>' if is_call => return stop(Construct::Substitution),
            '`' => return stop(Construct::Substitution),
            '$' => return stop(Construct::Expansion),
            '<' | '>' => return stop(Construct::Redirection),
            '(' | ')' => return stop(Construct::Subshell),
            '{' | '}' => return stop(Construct::Braces),
            '~' if self.at == start || matches!(self.before(), Some('=' | ':')) => {
                return stop(Construct::Tilde);
            }
            '=' if role == Role::Command => return stop(Construct::Assignment),
            '*' | '?' | '[' | ']' => word.is_pattern = true,
            _ if c.is_ascii_graphic() => {}
            _ if c.is_control() => return stop(Construct::Control),
            _ => return stop(Construct::BeyondAscii),
        }
        word.text.push(c);
        self.at += 1;
        Ok(())
    }

    fn single_quoted(&mut self, word: &mut Building) -> Result<(), Stop> {
        let open = self.at;
        word.is_bare = false;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.refuse_control(c)?;
            self.at += c.len_utf8();
            if c == '\'' {
                return Ok(());
            }
            word.text.push(c);
        }
        Err((Construct::Quote, open))
    }

    fn double_quoted(&mut self, word: &mut Building) -> Result<(), Stop> {
        let open = self.at;
        word.is_bare = false;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.refuse_control(c)?;
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '`' => return Err((Construct::Substitution, self.at)),
                '$' if self.rest().starts_with("$(") => {
                    return Err((Construct::Substitution, self.at));
                }
                '$' => return Err((Construct::Expansion, self.at)),
                '\\' => self.escaped_in_quotes(word)?,
                _ => {
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        Err((Construct::Quote, open))
    }

    /// Takes a backslash outside quotes and what it makes literal.
    fn escaped(&mut self, word: &mut Building) -> Result<(), Stop> {
        word.is_bare = false;
        match self.rest().chars().nth(1) {
            Some(c) if c == ' ' || c.is_ascii_graphic() => {
                word.text.push(c);
                self.at += 2;
                Ok(())
            }
            None | Some('\n') => Err((Construct::Continuation, self.at)),
            Some(c) if c.is_control() => Err((Construct::Control, self.at)),
            Some(_) => Err((Construct::BeyondAscii, self.at)),
        }
    }

    /// Takes a backslash in double quotes, which makes four characters literal and is itself before others.
    fn escaped_in_quotes(&mut self, word: &mut Building) -> Result<(), Stop> {
        // In some encodings the backslash would be the second half of the character before it.
        if self.before().is_some_and(|c| !c.is_ascii()) {
            return Err((Construct::BeyondAscii, self.at));
        }
        match self.rest().chars().nth(1) {
            Some(c @ ('$' | '`' | '"' | '\\')) => {
                word.text.push(c);
                self.at += 2;
                Ok(())
            }
            None | Some('\n') => Err((Construct::Continuation, self.at)),
            Some(_) => {
                word.text.push('\\');
                self.at += 1;
                Ok(())
            }
        }
    }
}

/// A word while it is read.
struct Building {
    text: String,
    is_bare: bool,
    is_pattern: bool,
}

impl Building {
    fn check_command(&self) -> Result<(), Construct> {
        if self.is_bare && is_keyword(&self.text) {
            return Err(Construct::Keyword);
        }
        if self.is_pattern {
            return Err(Construct::Pattern);
        }
        if self.text.starts_with(['-', '+']) {
            return Err(Construct::Option);
        }
        if is_unruly(&self.text) {
            return Err(Construct::Builtin(self.text.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        let known = |word: &Word| match &word.value {
            Value::Known(text) => text.clone(),
            Value::Unknown => "…".to_owned(),
        };
        let commands = simple_commands(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        commands.iter().map(|command| command.words.iter().map(known).collect()).collect()
    }

    #[test]
    fn ordinary_lines_are_resolved() {
        for line in [
            "cargo test --all-targets -- --nocapture",
            "git log --oneline -5 HEAD~3..HEAD^ -- src/a.rs",
            "grep -rn \"foo bar\" src | head -20",
            "sed -n '1,20p' src/main.rs; echo ---; cat x",
            "awk '{print $1}' f | sort | uniq -c",
            "git commit -m 'first line\n\nsecond line; it is $5'",
            "cd crate && cargo build && cargo test -q || echo failed",
            "npm run build:prod -- --flag=a,b --x='y z'",
            "find . -name '*.rs' -not -path ./target -print0",
            "a == b",
            "head -5 12 13 # comment",
            "ls -la src/*.rs tests/**/*.txt",
            "make -j4 CC=gcc all &",
            "curl -s http://127.0.0.1:8080/x?y=1",
            "echo a@b.c 100% +x ,y .z :w /v _u",
            "git add . && \\\n  git status",
            "x '' \"\" a''b",
            "tar -xzf a-1.2.tar.gz",
            "rg -n 'a|b' -g '!target'",
            "",
            "\n\n # nothing\n",
        ] {
            let commands = simple_commands(line);
            assert!(commands.is_ok(), "{line}: {}", commands.unwrap_err());
        }
    }

    #[test]
    fn words_lose_their_quotes() {
        assert_eq!(
            words("a'b c'\"d\\\"\\e\"f\\ g '' *.x; h"),
            [vec!["ab cd\"\\ef g", "", "…"], vec!["h"]]
        );
    }

    #[test]
    fn what_the_two_grammars_read_differently_is_not_resolved() {
        // The second one takes the escaped blank for a blank.
        let unresolved = simple_commands("a\"b\"\\ c").unwrap_err();
        assert_eq!(unresolved.construct, Construct::Ambiguous);
    }

    #[test]
    fn long_rows_overflow_no_stack() {
        for row in ["a && ", "a; ", "a | ", "a\n", "a & ", "a || b; "] {
            let line = row.repeat(3000) + "a";
            drop(simple_commands(&line));
        }
        for bracket in ["(", "{", "$(", "\"", "'", "`", "<", "\\\n"] {
            assert!(
                simple_commands(&format!("a {}", bracket.repeat(5001))).is_err(),
                "{bracket}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_line_panics_and_words_lie_in_order(line in "[a-z $\"'\\\\;&|<>(){}#~=*!\n\t\ré€-]{0,40}") {
            if let Ok(commands) = simple_commands(&line) {
                let spans: Vec<_> =
                    commands.iter().flat_map(|c| c.words.iter().map(|w| w.span.clone())).collect();
                prop_assert!(spans.iter().all(|span| !span.is_empty()));
                prop_assert!(spans.windows(2).all(|two| two[0].end < two[1].start));
            }
        }
    }
}
