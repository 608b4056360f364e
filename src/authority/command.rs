//! Command lines and the scopes that cover them.
//!
//! A scope is words: each matches one word of a command, where `*` in a word is any characters, and a `*`
//! as the last word is any further words or none. It says which program is started and with which words;
//! it cannot say what the program makes of them. A line is covered if each of its simple commands is,
//! by whichever scope.
//!
//! Invariant: a line that is not resolved is covered by no scope.

use std::fmt;
use std::sync::Arc;

use crate::authority::line::{self, SimpleCommand, Value, Word};
use crate::authority::unresolved::{self, Unresolved};

/// How many characters of a line or a command a message shows.
const MAX_SHOWN: usize = 120;

/// A line that a shell would run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommandLine {
    /// Which shell reads it.
    pub shell: Shell,
    /// The line as the shell gets it; it may hold newlines.
    pub text: Arc<str>,
    /// Where it starts.
    pub starts_in: StartsIn,
}

/// Which shell reads a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shell {
    /// The one that the settings name, and it reads the language of `sh`.
    Configured,
    /// Another one, or one of another language; no command scope holds for it.
    Other(Arc<str>),
}

/// Where a command line starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StartsIn {
    /// In the workspace's own folder.
    Workspace,
    /// In another folder, by its canonical path; a relative path then names another program.
    Elsewhere(Arc<str>),
}

impl Shell {
    /// Returns the configured shell: by its file name it is told whether it reads the language of `sh`.
    pub fn configured(program: &str) -> Self {
        match program.rsplit('/').next() {
            Some("sh" | "bash" | "dash") => Self::Configured,
            Some(_) | None => Self::Other(Arc::from(program)),
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, MAX_SHOWN)
    }
}

/// Returns the start of a text on one line; what cannot be seen is written by its number.
pub(super) fn shown(text: &str, max_chars: usize) -> String {
    let mut shown = String::new();
    for c in text.chars().take(max_chars) {
        match c {
            '\\' | '"' | '\'' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(max_chars).is_some() {
        shown.push('…');
    }
    shown
}

/// Why a line is not covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncovered {
    /// Another shell would read it.
    Shell(Arc<str>),
    /// It holds what cannot be resolved.
    Unresolved(Unresolved),
    /// A command of it that no scope covers.
    Command(String),
    /// A command of it that a scope would cover if the line started in the workspace's own folder and
    /// stayed there.
    Moved(String),
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(shell) => {
                write!(
                    f,
                    "a scope holds for the configured shell alone, not for `{}`",
                    shown(shell, MAX_SHOWN)
                )
            }
            Self::Unresolved(what) => write!(f, "no scope covers {what}"),
            Self::Command(command) => {
                write!(f, "no scope covers `{}`", shown(command, MAX_SHOWN))
            }
            Self::Moved(command) => write!(
                f,
                "a scope covers `{}` only where the line starts in the workspace's folder and has no `cd`",
                shown(command, MAX_SHOWN)
            ),
        }
    }
}

impl CommandLine {
    /// Returns the whole line on one line of text; whoever confirms it must see its end.
    pub(super) fn in_full(&self) -> String {
        let mut text = String::new();
        // Writing into a text cannot fail.
        let _ = self.write(&mut text, usize::MAX);
        text
    }

    fn write(&self, to: &mut dyn fmt::Write, max_chars: usize) -> fmt::Result {
        write!(to, "`{}`", shown(&self.text, max_chars))?;
        match &self.starts_in {
            StartsIn::Workspace => Ok(()),
            StartsIn::Elsewhere(folder) => write!(to, " in {}", shown(folder, usize::MAX)),
        }
    }

    /// Returns nothing if each command of the line is covered by one of the scopes, else why not.
    pub fn check(&self, scopes: &[&CommandScope]) -> Result<(), Uncovered> {
        let commands = self.commands()?;
        let stays = self.starts_in == StartsIn::Workspace && !commands.iter().any(moves);
        for command in &commands {
            let fitting = || scopes.iter().filter(|scope| scope.fits(command));
            let is_covered = |scope: &&&CommandScope| stays || !scope.is_relative();
            match (fitting().next(), fitting().find(is_covered)) {
                (Some(_), Some(_)) => {}
                (Some(_), None) => return Err(Uncovered::Moved(self.written(command))),
                (None, _) => return Err(Uncovered::Command(self.written(command))),
            }
        }
        Ok(())
    }

    /// Returns whether some command of the line may be one that the scope is about.
    ///
    /// True where the line cannot be resolved. A program's path counts as its name here. It is no proof of
    /// the contrary: a program may start another.
    pub fn may_run(&self, scope: &CommandScope) -> bool {
        match self.commands() {
            Err(_) => true,
            Ok(commands) => commands.iter().any(|command| scope.may_fit(command)),
        }
    }

    /// Returns the one scope that covers this line and little else: its only command, word by word.
    ///
    /// Nothing where the line has several commands, words that a scope cannot spell, or a folder of its own.
    pub fn own_scope(&self) -> Option<CommandScope> {
        if self.starts_in != StartsIn::Workspace {
            return None;
        }
        let commands = self.commands().ok()?;
        let [command] = commands.as_slice() else { return None };
        let words = command.words.iter().map(|word| match &word.value {
            Value::Known(text) if !text.contains('*') && !text.is_empty() => {
                Some(text.as_str())
            }
            Value::Known(_) | Value::Unknown => None,
        });
        let words: Vec<&str> = words.collect::<Option<_>>()?;
        if words.iter().any(|word| word.contains(char::is_whitespace)) {
            return None;
        }
        let scope = CommandScope::parse(&words.join(" ")).ok()?;
        self.check(&[&scope]).is_ok().then_some(scope)
    }

    fn commands(&self) -> Result<Vec<SimpleCommand>, Uncovered> {
        match &self.shell {
            Shell::Other(name) => Err(Uncovered::Shell(Arc::clone(name))),
            Shell::Configured => {
                line::simple_commands(&self.text).map_err(Uncovered::Unresolved)
            }
        }
    }

    /// Returns a command as it is written in the line.
    fn written(&self, command: &SimpleCommand) -> String {
        let start = command.words.first().map_or(0, |word| word.span.start);
        let end = command.words.last().map_or(0, |word| word.span.end);
        self.text.get(start..end).unwrap_or_default().to_owned()
    }
}

/// Returns whether a command changes the folder for those after it.
fn moves(command: &SimpleCommand) -> bool {
    command.words.first().is_some_and(|head| match &head.value {
        Value::Known(name) => matches!(name.as_str(), "cd" | "chdir"),
        Value::Unknown => true,
    })
}

/// A pattern of commands, in words.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandScope {
    source: Arc<str>,
    words: Vec<Pattern>,
    rest: Rest,
}

/// What may follow the words of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Nothing,
    Anything,
}

/// The pattern of one word: what stands between its stars.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(Vec<String>);

/// Why a text is no command scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    /// A character that a shell gives a meaning to.
    #[error(
        "the scope {scope:?} holds {character:?}; it is the words of one command as its program gets them, and `*` is its only sign"
    )]
    Syntax {
        /// The pattern as written.
        scope: String,
        /// The character.
        character: char,
    },
    /// A command that no scope covers.
    #[error(
        "no scope can cover {0:?}: it is a word of the shell's grammar, or a builtin that may run or change anything"
    )]
    Unruly(String),
}

impl CommandScope {
    /// Reads a pattern that is not empty.
    pub fn parse(text: &str) -> Result<Self, BadCommand> {
        let source = text.trim();
        let sign =
            |c: char| "'\"\\`$<>|&;(){}?[]~".contains(c) || (c.is_control() && c != '\t');
        if let Some(character) = source.chars().find(|&c| sign(c)) {
            return Err(BadCommand::Syntax { scope: source.to_owned(), character });
        }
        let mut words: Vec<&str> = source.split_ascii_whitespace().collect();
        if let Some(&head) = words.first()
            && (unresolved::is_keyword(head)
                || unresolved::is_unruly(head)
                || head.starts_with(['-', '+']))
        {
            return Err(BadCommand::Unruly(head.to_owned()));
        }
        let rest = if words.last() == Some(&"*") { Rest::Anything } else { Rest::Nothing };
        if rest == Rest::Anything {
            words.pop();
        }
        let words = words.into_iter().map(Pattern::of).collect();
        Ok(Self { source: Arc::from(source), words, rest })
    }

    /// Returns whether the pattern covers one command, wherever it runs.
    fn fits(&self, command: &SimpleCommand) -> bool {
        let heads = self.words.first().zip(command.words.first());
        let is_program = heads.is_none_or(|(pattern, word)| match &word.value {
            Value::Known(name) => pattern.has_slash() == name.contains('/'),
            Value::Unknown => false,
        });
        is_program && self.fits_words(&command.words)
    }

    fn fits_words(&self, words: &[Word]) -> bool {
        let is_long_enough = match self.rest {
            Rest::Nothing => words.len() == self.words.len(),
            Rest::Anything => words.len() >= self.words.len(),
        };
        is_long_enough
            && self.words.iter().zip(words).all(|(pattern, word)| match &word.value {
                Value::Known(text) => pattern.matches(text),
                Value::Unknown => false,
            })
    }

    /// Returns whether a command may be one that the pattern is about, once its words are known.
    fn may_fit(&self, command: &SimpleCommand) -> bool {
        let known = command.words.iter().map_while(|word| match &word.value {
            Value::Known(text) => Some(text.as_str()),
            Value::Unknown => None,
        });
        let mut known: Vec<&str> = known.collect();
        let all_known = known.len() == command.words.len();
        if let (Some(head), Some(pattern)) = (known.first_mut(), self.words.first())
            && !pattern.has_slash()
        {
            *head = head.rsplit('/').next().unwrap_or_default();
        }
        let is_length = match (self.rest, all_known) {
            (Rest::Nothing, true) => known.len() == self.words.len(),
            (Rest::Anything, true) => known.len() >= self.words.len(),
            (Rest::Nothing, false) => known.len() <= self.words.len(),
            (Rest::Anything, false) => true,
        };
        is_length && self.words.iter().zip(known).all(|(pattern, word)| pattern.matches(word))
    }

    /// Returns whether the program is named by a path that depends on the folder.
    fn is_relative(&self) -> bool {
        self.words.first().is_some_and(|head| head.has_slash() && !head.is_absolute())
    }

    /// Returns the pattern as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for CommandScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CommandScope").field(&self.source).finish()
    }
}

impl Pattern {
    fn of(word: &str) -> Self {
        Self(word.split('*').map(str::to_owned).collect())
    }

    fn has_slash(&self) -> bool {
        self.0.iter().any(|piece| piece.contains('/'))
    }

    fn is_absolute(&self) -> bool {
        self.0.first().is_some_and(|piece| piece.starts_with('/'))
    }

    /// Returns whether the word is the pieces in their order, with anything between them.
    fn matches(&self, word: &str) -> bool {
        let [first, middle @ .., last] = self.0.as_slice() else {
            return self.0.first().is_some_and(|only| only == word);
        };
        let Some(mut rest) = word.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            match rest.split_once(piece.as_str()) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}
