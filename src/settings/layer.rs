//! The layers, and what holds when all of them are laid over one another.
//!
//! A later layer's value replaces an earlier one's, key by key. `capabilities`, `ask`, `approved` and the
//! names of `bash` are not replaced: every layer's list is kept. What holds is what all lists of capabilities hold, and what must be
//! confirmed is what any list names. Reading files, judging trust and
//! meeting the lists are the caller's work.

use std::fmt;
use std::sync::Arc;

use crate::settings::keys::{READABLE, Setter, Setting};
use crate::settings::raw::{Assignment, Raw};
use crate::settings::site::{Site, Spanned};
use crate::settings::typed::{Extra, Lists, Sandbox, Tools};

/// Who wrote a value, in the order in which later ones prevail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's own settings.
    User,
    /// The project's settings, shared with others.
    Project,
    /// The project's settings on this machine.
    Local,
    /// The command line.
    Flags,
}

impl Layer {
    /// Returns whether the layer lies within the project, which somebody else may have written.
    pub const fn is_project(self) -> bool {
        match self {
            Self::Project | Self::Local => true,
            Self::User | Self::Flags => false,
        }
    }

    /// Returns the layer's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Flags => "flags",
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody wrote it.
    BuiltIn,
    /// A layer wrote it.
    Written {
        /// The layer.
        layer: Layer,
        /// Where its key stands.
        site: Site,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Written { layer: Layer::Flags, site } => f.write_str(&site.label),
            Self::Written { layer: Layer::User | Layer::Project | Layer::Local, site } => {
                write!(f, "{} line {}", site.label, site.line)
            }
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// Entries of capabilities as written, not yet looked up.
pub type Entries = Vec<Spanned<String>>;

/// One layer's list of capabilities, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowing {
    /// Where the list is written.
    pub origin: Origin,
    /// The entries, not yet looked up.
    pub entries: Vec<Spanned<String>>,
}

/// Whether a project's file may set what needs trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It may.
    Trusted,
    /// It may not; such keys are inert.
    Untrusted,
}

/// The trust in each of the project's layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedLayers {
    /// In the shared settings.
    pub project: Trust,
    /// In those of this machine.
    pub local: Trust,
}

impl TrustedLayers {
    fn of(self, layer: Layer) -> Trust {
        match layer {
            Layer::Project => self.project,
            Layer::Local => self.local,
            Layer::User | Layer::Flags => Trust::Trusted,
        }
    }
}

/// A key that is written and not in force, for want of trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inert {
    /// The key.
    pub key: &'static str,
    /// Where it is written.
    pub origin: Origin,
}

impl fmt::Display for Inert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} in {} is inert until `killick trust` has recorded the project",
            self.key, self.origin
        )
    }
}

/// What holds, each value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Every layer's list, the user's first; none means everything.
    pub capabilities: Vec<Narrowing>,
    /// Every layer's list of what a person must confirm, the user's first.
    pub ask: Vec<Sourced<Entries>>,
    /// Every layer's list of what need not be confirmed, the user's first.
    pub approved: Vec<Sourced<Entries>>,
    /// Whether the shell of a restricted session is held by the kernel.
    pub sandbox: Sourced<Sandbox>,
    /// The shell that runs commands, as written.
    pub bash_shell: Sourced<String>,
    /// How long a command may run, in seconds.
    pub bash_timeout_seconds: Sourced<u32>,
    /// Every layer's further interactive programs, the user's first.
    pub bash_interactive_add: Vec<Sourced<Entries>>,
    /// Every layer's programs that are not interactive, the user's first.
    pub bash_interactive_allow: Vec<Sourced<Entries>>,
    /// Every layer's variables that commands get as they are, the user's first.
    pub bash_env_pass: Vec<Sourced<Entries>>,
    /// Variables that commands get, with their values; each name stands once.
    pub bash_env_set: Sourced<Vec<(String, String)>>,
    /// What the shell of a restricted session may write beside what the grant covers.
    pub bash_writable: Sourced<Entries>,
    /// What it may read beside the system's files and what the grant covers.
    pub bash_readable: Sourced<Entries>,
    /// Which tools are offered.
    pub tools: Sourced<Tools>,
    /// Folders beside the workspace.
    pub workspace_extra: Sourced<Vec<Extra>>,
    /// The greatest length of a tool result, in characters.
    pub output_chars: Sourced<u32>,
    /// Further extensions of each Lisp, by its name.
    pub lisp_dialects: Sourced<Lists>,
    /// Heads of the user's own, with the number of special arguments before the body.
    pub lisp_indent: Sourced<Vec<(String, u32)>>,
    /// The folder that keeps sessions.
    pub session_dir: Sourced<Option<String>>,
    /// How many days a session is kept.
    pub keep_days: Sourced<u32>,
    /// What is written and not in force.
    pub inert: Vec<Inert>,
}

const fn built_in<T>(value: T) -> Sourced<T> {
    Sourced { value, origin: Origin::BuiltIn }
}

impl Settings {
    /// Returns the settings of a user who wrote none.
    pub fn built_in() -> Self {
        Self {
            capabilities: Vec::new(),
            ask: Vec::new(),
            approved: Vec::new(),
            sandbox: built_in(Sandbox::Auto),
            bash_shell: built_in("sh".to_owned()),
            bash_timeout_seconds: built_in(30),
            bash_interactive_add: Vec::new(),
            bash_interactive_allow: Vec::new(),
            bash_env_pass: Vec::new(),
            bash_env_set: built_in(Vec::new()),
            bash_writable: built_in(Vec::new()),
            bash_readable: built_in(readable()),
            tools: built_in(Tools::All),
            workspace_extra: built_in(Vec::new()),
            output_chars: built_in(20_000),
            lisp_dialects: built_in(Vec::new()),
            lisp_indent: built_in(Vec::new()),
            session_dir: built_in(None),
            keep_days: built_in(30),
            inert: Vec::new(),
        }
    }

    fn assign(&mut self, assignment: Assignment) {
        let origin = assignment.origin;
        match assignment.setting {
            Setting::Capabilities(entries) => {
                self.capabilities.push(Narrowing { origin, entries });
            }
            Setting::Ask(value) => self.ask.push(Sourced { value, origin }),
            Setting::Approved(value) => self.approved.push(Sourced { value, origin }),
            Setting::Sandbox(value) => self.sandbox = Sourced { value, origin },
            Setting::BashShell(value) => self.bash_shell = Sourced { value, origin },
            Setting::BashTimeout(value) => {
                self.bash_timeout_seconds = Sourced { value, origin };
            }
            Setting::BashInteractiveAdd(value) => {
                self.bash_interactive_add.push(Sourced { value, origin });
            }
            Setting::BashInteractiveAllow(value) => {
                self.bash_interactive_allow.push(Sourced { value, origin });
            }
            Setting::BashEnvPass(value) => self.bash_env_pass.push(Sourced { value, origin }),
            Setting::BashEnvSet(value) => {
                let held = &mut self.bash_env_set.value;
                held.retain(|(name, _)| value.iter().all(|(new, _)| new != name));
                held.extend(value);
                self.bash_env_set.origin = origin;
            }
            Setting::BashWritable(value) => self.bash_writable = Sourced { value, origin },
            Setting::BashReadable(value) => self.bash_readable = Sourced { value, origin },
            Setting::Tools(value) => self.tools = Sourced { value, origin },
            Setting::WorkspaceExtra(value) => self.workspace_extra = Sourced { value, origin },
            Setting::OutputChars(value) => self.output_chars = Sourced { value, origin },
            Setting::LispDialects(value) => {
                let held = &mut self.lisp_dialects.value;
                held.retain(|(name, _)| value.iter().all(|(new, _)| new.value != name.value));
                held.extend(value);
                self.lisp_dialects.origin = origin;
            }
            Setting::LispIndent(value) => {
                let held = &mut self.lisp_indent.value;
                held.retain(|(name, _)| value.iter().all(|(new, _)| new != name));
                held.extend(value);
                self.lisp_indent.origin = origin;
            }
            Setting::SessionDir(value) => self.session_dir = Sourced { value, origin },
            Setting::KeepDays(value) => self.keep_days = Sourced { value, origin },
        }
    }
}

/// Returns the built-in places that a restricted shell may read.
fn readable() -> Entries {
    let paths: Vec<String> = serde_json::from_str(READABLE).unwrap_or_default();
    let site = Site { label: Arc::from("built-in"), line: 1, column: 1 };
    paths.into_iter().map(|value| Spanned { value, site: site.clone() }).collect()
}

/// Lays the files over the built-in values, in the order of their layers.
///
/// Files of one layer are laid in the order in which they are given.
pub fn merge(mut raws: Vec<Raw>, trusted: TrustedLayers) -> Settings {
    raws.sort_by_key(|raw| raw.layer);
    let mut settings = Settings::built_in();
    for raw in raws {
        for assignment in raw.assignments {
            if is_inert(&assignment, trusted.of(raw.layer)) {
                let Assignment { key, origin, setting: _ } = assignment;
                settings.inert.push(Inert { key: key.path, origin });
            } else {
                settings.assign(assignment);
            }
        }
    }
    settings
}

fn is_inert(assignment: &Assignment, trust: Trust) -> bool {
    match (assignment.key.setter, trust) {
        (Setter::Trusted, Trust::Untrusted) => true,
        (Setter::Anyone | Setter::UserOnly, _) | (Setter::Trusted, Trust::Trusted) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::keys::KEYS;
    use crate::settings::raw::read;

    #[test]
    fn the_defaults_of_the_table_are_the_built_in_values() {
        let built_in = Settings::built_in();
        for key in KEYS {
            let Some(default) = key.default else { continue };
            let names: Vec<_> = key.path.split('.').collect();
            let text = names.iter().rfold(default.to_owned(), |v, n| format!("{{{n:?}:{v}}}"));
            let raw = read("s", Layer::User, &text).unwrap();
            let trusted = TrustedLayers { project: Trust::Trusted, local: Trust::Trusted };
            let seen = merge(vec![raw], trusted);
            assert_eq!(seen.sandbox.value, built_in.sandbox.value);
            assert_eq!(seen.bash_shell.value, built_in.bash_shell.value);
            assert_eq!(seen.bash_timeout_seconds.value, built_in.bash_timeout_seconds.value);
            assert_eq!(seen.bash_env_set.value, built_in.bash_env_set.value);
            assert_eq!(seen.bash_writable.value, built_in.bash_writable.value);
            let paths = |settings: &Settings| -> Vec<String> {
                settings.bash_readable.value.iter().map(|path| path.value.clone()).collect()
            };
            assert_eq!(paths(&seen), paths(&built_in));
            assert!(!paths(&seen).is_empty());
            assert_eq!(seen.tools.value, built_in.tools.value);
            assert_eq!(seen.workspace_extra.value, built_in.workspace_extra.value);
            assert_eq!(seen.output_chars.value, built_in.output_chars.value);
            assert_eq!(seen.session_dir.value, built_in.session_dir.value);
            assert_eq!(seen.keep_days.value, built_in.keep_days.value);
            assert!(seen.capabilities.is_empty());
            let bash =
                [&seen.bash_interactive_add, &seen.bash_interactive_allow, &seen.bash_env_pass];
            let bash = bash.into_iter().flatten();
            let lists = seen.ask.iter().chain(&seen.approved).chain(bash);
            assert!(lists.flat_map(|list| &list.value).next().is_none());
        }
    }
}
