//! The table of keys, from which the reader, the reference, the example and the schema derive.
//!
//! A key arrives with the part that reads it: a row here, a variant of [`Setting`], a field of
//! `Settings`. Anything that is no row is an unknown key.
//!
//! Invariant: rows that share a group stand together, and no key is also a group.

use jsonc_parser::ast::Value;

use crate::settings::site::Spanned;
use crate::settings::typed::{Extra, Lists, Reader, Sandbox, Tools};

/// The bounds of a whole number, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The least value.
    pub min: u32,
    /// The greatest value.
    pub max: u32,
}

/// What a key's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An array of strings.
    Strings,
    /// The word `all`, or an array of strings.
    AllOrStrings,
    /// An array of paths.
    Paths,
    /// A program: its name or its path.
    Program,
    /// An array of names of environment variables.
    Variables,
    /// An object of strings, by names of environment variables.
    Assignments,
    /// The word `auto` or `off`.
    AutoOrOff,
    /// An array of objects with `path` and `access`.
    Extras,
    /// A whole number.
    Whole(Whole),
    /// A path, or null.
    PathOrNull,
    /// An object of arrays of strings.
    Lists,
    /// An object of whole numbers.
    Numbers(Whole),
}

/// Which layers may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setter {
    /// Any layer.
    Anyone,
    /// Any layer, but in a project's layers it is inert until the project is trusted.
    Trusted,
    /// The user's own settings and the flags.
    UserOnly,
}

/// What a later layer does to an earlier one's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// It replaces the value.
    Replace,
    /// It narrows the value: what holds is what every layer holds.
    Narrow,
    /// Its entries are added to the value: no layer takes one away.
    Add,
    /// Entries of later layers join those of earlier ones and replace entries of the same name.
    ByKey,
}

/// A value that was read, by the key that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `capabilities`.
    Capabilities(Vec<Spanned<String>>),
    /// `ask`.
    Ask(Vec<Spanned<String>>),
    /// `approved`.
    Approved(Vec<Spanned<String>>),
    /// `sandbox`.
    Sandbox(Sandbox),
    /// `bash.shell`.
    BashShell(String),
    /// `bash.timeout`.
    BashTimeout(u32),
    /// `bash.interactive.add`.
    BashInteractiveAdd(Vec<Spanned<String>>),
    /// `bash.interactive.allow`.
    BashInteractiveAllow(Vec<Spanned<String>>),
    /// `bash.env.pass`.
    BashEnvPass(Vec<Spanned<String>>),
    /// `bash.env.set`.
    BashEnvSet(Vec<(String, String)>),
    /// `bash.writable`.
    BashWritable(Vec<Spanned<String>>),
    /// `bash.readable`.
    BashReadable(Vec<Spanned<String>>),
    /// `tools`.
    Tools(Tools),
    /// `workspace.extra`.
    WorkspaceExtra(Vec<Extra>),
    /// `limits.output_chars`.
    OutputChars(u32),
    /// `session.dir`.
    SessionDir(Option<String>),
    /// `session.keep_days`.
    KeepDays(u32),
    /// `lisp.dialects`.
    LispDialects(Lists),
    /// `lisp.indent`.
    LispIndent(Vec<(String, u32)>),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The names from the root down, joined by dots.
    pub path: &'static str,
    /// What its value looks like.
    pub kind: Kind,
    /// The built-in value as JSON; nothing when the key has none.
    pub default: Option<&'static str>,
    /// Which layers may set it.
    pub setter: Setter,
    /// What a later layer does.
    pub merge: Merge,
    /// What the key is for, in full sentences.
    pub doc: &'static str,
    /// A value worth showing, as JSON.
    pub example: &'static str,
    /// Reads the value; the text is how a problem names the key.
    pub read: fn(&mut Reader<'_>, &str, &Value<'_>) -> Option<Setting>,
}

const OUTPUT_CHARS: Whole = Whole { min: 1000, max: 1_000_000 };
const BASH_SECONDS: Whole = Whole { min: 1, max: 300 };
const KEEP_DAYS: Whole = Whole { min: 1, max: 3650 };
const SPECIAL: Whole = Whole { min: 0, max: 20 };

/// Where tools are installed in a home folder, without what keeps secrets beside them.
pub(super) const READABLE: &str = r#"["~/.cargo/bin", "~/.cargo/env", "~/.cargo/config.toml", "~/.cargo/registry", "~/.cargo/git", "~/.rustup", "~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore", "~/.config/git/attributes", "~/.local/bin", "~/.local/lib", "~/.local/share/uv", "~/.local/share/mise", "~/.asdf", "~/.pyenv", "~/.rbenv", "~/.sdkman/candidates", "~/.nvm", "~/.volta", "~/.bun/bin", "~/.deno/bin", "~/.npm/_cacache", "~/go/bin", "~/go/pkg/mod", "~/.m2/repository", "~/.roswell", "~/quicklisp"]"#;

/// Every key, in the order of the documentation.
pub const KEYS: &[Key] = &[
    Key {
        path: "capabilities",
        kind: Kind::Strings,
        default: None,
        setter: Setter::Anyone,
        merge: Merge::Narrow,
        doc: "What a session may do. Absent means everything, an empty array nothing that is gated, \
              and a list exactly what it names; no name implies another. A capability of files may \
              carry a scope of paths in parentheses, one of the network a scope of hosts, and \
              process/exec a scope of commands.",
        example: r#"["file/read", "file/edit(src/**)", "process/exec(cargo test *)"]"#,
        read: |reader, key, value| reader.strings(key, value).map(Setting::Capabilities),
    },
    Key {
        path: "ask",
        kind: Kind::Strings,
        default: Some("[]"),
        setter: Setter::Anyone,
        merge: Merge::Add,
        doc: "What a person must confirm although it is granted, in entries like those of capabilities. \
              Where nobody can be asked, such a call does not run.",
        example: r#"["file/write(.github/**)", "process/exec"]"#,
        read: |reader, key, value| reader.strings(key, value).map(Setting::Ask),
    },
    Key {
        path: "approved",
        kind: Kind::Strings,
        default: Some("[]"),
        setter: Setter::Trusted,
        merge: Merge::Add,
        doc: "What of ask need not be confirmed any more, in entries like those of capabilities. It grants \
              nothing. An answer of always adds a line here, in .killick/settings.local.json.",
        example: r#"["process/exec(cargo test)"]"#,
        read: |reader, key, value| reader.strings(key, value).map(Setting::Approved),
    },
    Key {
        path: "sandbox",
        kind: Kind::AutoOrOff,
        default: Some(r#""auto""#),
        setter: Setter::UserOnly,
        merge: Merge::Replace,
        doc: "Whether the kernel holds the shell of a restricted session to what the session may do. With \
              auto it does, and where it cannot no command runs. With off commands run with all that \
              the user may do.",
        example: r#""auto""#,
        read: |reader, key, value| reader.sandbox(key, value).map(Setting::Sandbox),
    },
    Key {
        path: "bash.shell",
        kind: Kind::Program,
        default: Some(r#""sh""#),
        setter: Setter::Trusted,
        merge: Merge::Replace,
        doc: "The shell that runs a command where the call names none, by its name or its path.",
        example: r#""bash""#,
        read: |reader, key, value| reader.program(key, value).map(Setting::BashShell),
    },
    Key {
        path: "bash.timeout",
        kind: Kind::Whole(BASH_SECONDS),
        default: Some("30"),
        setter: Setter::Anyone,
        merge: Merge::Replace,
        doc: "How many seconds a command may run where the call says nothing.",
        example: "30",
        read: |reader, key, value| {
            reader.whole(key, value, BASH_SECONDS).map(Setting::BashTimeout)
        },
    },
    Key {
        path: "bash.interactive.add",
        kind: Kind::Strings,
        default: Some("[]"),
        setter: Setter::Anyone,
        merge: Merge::Add,
        doc: "Further programs that wait for a person at a terminal, by their file names. A command that \
              begins with one is refused, as with vim or less.",
        example: r#"["psql", "gdb"]"#,
        read: |reader, key, value| reader.strings(key, value).map(Setting::BashInteractiveAdd),
    },
    Key {
        path: "bash.interactive.allow",
        kind: Kind::Strings,
        default: Some("[]"),
        setter: Setter::Trusted,
        merge: Merge::Add,
        doc: "Programs that may run although they are on that list, by their file names. It prevails over \
              bash.interactive.add.",
        example: r#"["ssh"]"#,
        read: |reader, key, value| {
            reader.strings(key, value).map(Setting::BashInteractiveAllow)
        },
    },
    Key {
        path: "bash.env.pass",
        kind: Kind::Variables,
        default: Some("[]"),
        setter: Setter::Trusted,
        merge: Merge::Add,
        doc: "Environment variables that commands get as they are, although their names look secret or \
              they are otherwise left out or replaced.",
        example: r#"["GITHUB_TOKEN"]"#,
        read: |reader, key, value| reader.variables(key, value).map(Setting::BashEnvPass),
    },
    Key {
        path: "bash.env.set",
        kind: Kind::Assignments,
        default: Some("{}"),
        setter: Setter::Trusted,
        merge: Merge::ByKey,
        doc: "Environment variables that commands get with these values.",
        example: r#"{"RUST_BACKTRACE": "1"}"#,
        read: |reader, key, value| reader.assignments(key, value).map(Setting::BashEnvSet),
    },
    Key {
        path: "bash.writable",
        kind: Kind::Paths,
        default: Some("[]"),
        setter: Setter::UserOnly,
        merge: Merge::Replace,
        doc: "Files and folders that the shell of a restricted session may read and write beside what the \
              capabilities cover, such as the caches of build tools. A path is absolute, below `~/`, or \
              relative to the workspace.",
        example: r#"["~/.cargo/registry", "~/.npm/_cacache"]"#,
        read: |reader, key, value| reader.paths(key, value).map(Setting::BashWritable),
    },
    Key {
        path: "bash.readable",
        kind: Kind::Paths,
        default: Some(READABLE),
        setter: Setter::UserOnly,
        merge: Merge::Replace,
        doc: "Files and folders that the shell of a restricted session may read and run beside the system's \
              and what the capabilities cover: by default where tools are installed in a home folder, \
              and git's settings.",
        example: r#"["~/.cargo/bin", "~/.rustup", "~/.gitconfig"]"#,
        read: |reader, key, value| reader.paths(key, value).map(Setting::BashReadable),
    },
    Key {
        path: "tools",
        kind: Kind::AllOrStrings,
        default: Some(r#""all""#),
        setter: Setter::Anyone,
        merge: Merge::Replace,
        doc: "Which tools a session is offered: all of them, or those named. It offers or hides; \
              what a tool may do is decided by the capabilities alone.",
        example: r#""all""#,
        read: |reader, key, value| reader.tools(key, value).map(Setting::Tools),
    },
    Key {
        path: "workspace.extra",
        kind: Kind::Extras,
        default: Some("[]"),
        setter: Setter::Trusted,
        merge: Merge::Replace,
        doc: "Folders beside the workspace that file tools may enter, to read or also to write. \
              A path is absolute or relative to the workspace.",
        example: r#"[{"path": "../docs", "access": "read"}]"#,
        read: |reader, key, value| reader.extras(key, value).map(Setting::WorkspaceExtra),
    },
    Key {
        path: "limits.output_chars",
        kind: Kind::Whole(OUTPUT_CHARS),
        default: Some("20000"),
        setter: Setter::Anyone,
        merge: Merge::Replace,
        doc: "How many characters one tool result may hold before it is cut.",
        example: "20000",
        read: |reader, key, value| {
            reader.whole(key, value, OUTPUT_CHARS).map(Setting::OutputChars)
        },
    },
    Key {
        path: "lisp.dialects",
        kind: Kind::Lists,
        default: Some("{}"),
        setter: Setter::Anyone,
        merge: Merge::ByKey,
        doc: "Which further file extensions belong to which Lisp: common-lisp, scheme, racket, \
              emacs-lisp or clojure. The built-in extensions stay unless one is given away.",
        example: r#"{"common-lisp": ["lsp", "sbclrc"]}"#,
        read: |reader, key, value| reader.lists(key, value).map(Setting::LispDialects),
    },
    Key {
        path: "lisp.indent",
        kind: Kind::Numbers(SPECIAL),
        default: Some("{}"),
        setter: Setter::Anyone,
        merge: Merge::ByKey,
        doc: "Heads of forms that have a body, each with the number of special arguments before it, \
              as edit_sexp indents them.",
        example: r#"{"with-my-thing": 1}"#,
        read: |reader, key, value| reader.numbers(key, value, SPECIAL).map(Setting::LispIndent),
    },
    Key {
        path: "session.dir",
        kind: Kind::PathOrNull,
        default: Some("null"),
        setter: Setter::UserOnly,
        merge: Merge::Replace,
        doc: "The folder that keeps named sessions, absolute or relative to the workspace; null means the folder of killick's own state.",
        example: "null",
        read: |reader, key, value| reader.path_or_null(key, value).map(Setting::SessionDir),
    },
    Key {
        path: "session.keep_days",
        kind: Kind::Whole(KEEP_DAYS),
        default: Some("30"),
        setter: Setter::UserOnly,
        merge: Merge::Replace,
        doc: "How many days a session is kept after its last use.",
        example: "30",
        read: |reader, key, value| reader.whole(key, value, KEEP_DAYS).map(Setting::KeepDays),
    },
];

impl Key {
    /// Returns the row of a dotted path.
    pub fn find(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.path == path)
    }
}

/// Returns every group: each proper prefix of a key's path, once.
pub(super) fn groups() -> Vec<&'static str> {
    let mut groups: Vec<&'static str> = Vec::new();
    for key in KEYS {
        for (at, _) in key.path.match_indices('.') {
            if let Some(group) = key.path.get(..at).filter(|group| !groups.contains(group)) {
                groups.push(group);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_none_is_a_group() {
        let mut paths: Vec<_> = KEYS.iter().map(|key| key.path).chain(groups()).collect();
        paths.sort_unstable();
        let n_paths = paths.len();
        paths.dedup();
        assert_eq!(paths.len(), n_paths);
        assert!(KEYS.iter().all(|key| key.doc.ends_with('.')));
    }

    #[test]
    fn keys_of_a_group_stand_together() {
        let mut seen: Vec<&str> = KEYS
            .iter()
            .map(|key| key.path.split_once('.').map_or(key.path, |(group, _)| group))
            .collect();
        seen.dedup();
        let n_runs = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), n_runs);
    }
}
