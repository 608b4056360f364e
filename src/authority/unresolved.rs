//! What in a shell's line keeps it from being resolved by its text alone.
//!
//! It reads no line; `line` does.

use std::fmt;

/// What in a line keeps it from being resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Construct {
    /// `$NAME`, `${…}`, `$'…'` and whatever else begins with a dollar sign.
    Expansion,
    /// `$(…)`, backquotes, `<(…)` or `>(…)`.
    Substitution,
    /// `<`, `>` or a here-document.
    Redirection,
    /// `(` or `)`: a subshell or a function.
    Subshell,
    /// `{` or `}`: a group, or an expansion of braces.
    Braces,
    /// `~` where a shell may put a home folder.
    Tilde,
    /// A pattern of file names in place of a command.
    Pattern,
    /// `NAME=VALUE` before a command.
    Assignment,
    /// A word that opens a compound command, negates or times.
    Keyword,
    /// A builtin that runs or redefines what its words do not tell.
    Builtin(String),
    /// A command that begins like an option, which the shell would take for its own.
    Option,
    /// A quote without its end.
    Quote,
    /// A `\` before a newline inside a word, or at the end.
    Continuation,
    /// A separator without a command before or behind it, or one that only some shells know.
    Separator,
    /// A control character.
    Control,
    /// A character beyond ASCII outside quotes, or before a `\` within them.
    BeyondAscii,
    /// The line is over the length that is read.
    TooLong,
    /// Two grammars read the line differently.
    Ambiguous,
}

/// Why a line is not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// What is there.
    pub construct: Construct,
    /// Which character of the line it is, from 1; of no use where the whole line is at fault.
    pub at_char: usize,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.construct.fmt(f)?;
        if matches!(self.construct, Construct::TooLong | Construct::Ambiguous) {
            return Ok(());
        }
        write!(f, " (character {})", self.at_char)
    }
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expansion => "an expansion (`$`)",
            Self::Substitution => "a substitution",
            Self::Redirection => "a redirection",
            Self::Subshell => "a parenthesis (a subshell or a function)",
            Self::Braces => "a brace (a group or an expansion)",
            Self::Tilde => "a `~` that may become a home folder",
            Self::Pattern => "a pattern of file names in place of a command",
            Self::Assignment => "an assignment",
            Self::Keyword => "a word of the shell's grammar",
            Self::Builtin(name) => {
                return write!(f, "the shell's own `{name}`, which may run or change anything");
            }
            Self::Option => "a command that begins like an option",
            Self::Quote => "a quote that does not end",
            Self::Continuation => "a backslash before a newline or the end",
            Self::Separator => {
                "a separator without a command on both sides, or that not every shell knows"
            }
            Self::Control => "a control character",
            Self::BeyondAscii => "a character beyond ASCII outside quotes",
            Self::TooLong => "a line of that length",
            Self::Ambiguous => "a line that shells may read in different ways",
        })
    }
}

/// Words that belong to the grammar when they stand unquoted in place of a command.
const KEYWORDS: &[&str] = &[
    "!",
    "[[",
    "]]",
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "esac",
    "fi",
    "for",
    "function",
    "if",
    "in",
    "namespace",
    "select",
    "then",
    "time",
    "until",
    "while",
];

/// Builtins, of the shells that are called `sh`, that run, redefine or evaluate what their words name.
const BUILTINS: &[&str] = &[
    ".",
    "[",
    "alias",
    "autoload",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "export",
    "fc",
    "fg",
    "float",
    "functions",
    "getopts",
    "global",
    "hash",
    "help",
    "history",
    "integer",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "nameref",
    "popd",
    "print",
    "printf",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "rename",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "unalias",
    "unset",
    "wait",
    "whence",
];

/// Returns whether no scope covers a command of that name, however it is quoted.
pub(super) fn is_unruly(name: &str) -> bool {
    BUILTINS.contains(&name) || name.starts_with('%')
}

/// Returns whether an unquoted word in place of a command belongs to the grammar.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || word.starts_with('!')
}
