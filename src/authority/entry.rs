//! Entries of a capability list: a name, and the part of it that a scope leaves.

use std::fmt;

use crate::authority::capability::{Capability, ScopeKind, UnknownCapability};
use crate::authority::command::{BadCommand, CommandScope};
use crate::authority::host::{BadHost, HostScope};
use crate::authority::scope::{BadScope, MAX_PATTERN, PathScope};

/// Which part of a capability an entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    Whole,
    /// What a pattern covers.
    Part(Pattern),
}

/// A pattern of what a capability is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Places.
    Path(PathScope),
    /// Hosts.
    Host(HostScope),
    /// Commands.
    Command(CommandScope),
}

impl Pattern {
    fn parse(kind: ScopeKind, text: &str) -> Result<Option<Self>, BadPattern> {
        Ok(Some(match kind {
            ScopeKind::None => return Ok(None),
            ScopeKind::Path => Self::Path(PathScope::parse(text)?),
            ScopeKind::Host | ScopeKind::Command if text.trim().is_empty() => {
                return Err(BadScope::Empty.into());
            }
            ScopeKind::Host | ScopeKind::Command if text.len() > MAX_PATTERN => {
                return Err(BadScope::TooLong.into());
            }
            ScopeKind::Host => Self::Host(HostScope::parse(text)?),
            ScopeKind::Command => Self::Command(CommandScope::parse(text)?),
        }))
    }

    /// Returns the pattern as the user wrote it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Path(scope) => scope.as_str(),
            Self::Host(scope) => scope.as_str(),
            Self::Command(scope) => scope.as_str(),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a text is no scope of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPattern {
    /// It is no path scope, or none at all.
    #[error(transparent)]
    Path(#[from] BadScope),
    /// It is no host scope.
    #[error(transparent)]
    Host(#[from] BadHost),
    /// It is no command scope.
    #[error(transparent)]
    Command(#[from] BadCommand),
}

/// One entry of a capability list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The capability.
    pub capability: Capability,
    /// The part of it.
    pub scope: Scope,
}

/// Why a text is no entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEntry {
    /// The name is unknown.
    #[error(transparent)]
    Name(#[from] UnknownCapability),
    /// The capability takes no scope.
    #[error("{capability} takes no scope, and {scope:?} is one")]
    NoScope {
        /// The capability.
        capability: Capability,
        /// The scope as written.
        scope: String,
    },
    /// An opening parenthesis without a closing one at the end.
    #[error("the scope in {0:?} is not closed by a parenthesis at the end")]
    Open(String),
    /// The scope is no pattern.
    #[error("{capability}: {cause}")]
    Scope {
        /// The capability.
        capability: Capability,
        /// What is wrong with the scope.
        cause: BadPattern,
    },
}

impl Entry {
    /// Reads `NAME` or `NAME(SCOPE)`.
    pub fn parse(text: &str) -> Result<Self, BadEntry> {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('(') else {
            return Ok(Self { capability: Capability::parse(text)?, scope: Scope::Whole });
        };
        let capability = Capability::parse(name)?;
        let Some(scope) = rest.strip_suffix(')') else {
            return Err(BadEntry::Open(text.to_owned()));
        };
        match Pattern::parse(capability.gate().scope, scope) {
            Ok(Some(pattern)) => Ok(Self { capability, scope: Scope::Part(pattern) }),
            Ok(None) => Err(BadEntry::NoScope { capability, scope: scope.to_owned() }),
            Err(cause) => Err(BadEntry::Scope { capability, cause }),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Whole => self.capability.fmt(f),
            Scope::Part(pattern) => write!(f, "{}({pattern})", self.capability),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_entry_panics(text in "(file/read|net/fetch|process/exec|:Mcp/|)[(]?[a-z{}!,\\[\\]*?./()\\\\é: -]{0,30}[)]?") {
            if let Ok(entry) = Entry::parse(&text) {
                prop_assert_eq!(Entry::parse(&entry.to_string()), Ok(entry));
            }
        }
    }

    #[test]
    fn bad_entries_say_what_is_wrong() {
        let says = |text: &str| Entry::parse(text).unwrap_err().to_string();
        assert_eq!(says("image/eval()"), "image/eval takes no scope, and \"\" is one");
        assert!(says("process/exec(a").contains("not closed"));
        assert!(says("process/exec( )").contains("empty"));
        assert!(says("process/exec(a; b)").contains("';'"));
        assert!(says("process/exec(eval *)").contains("\"eval\""));
        assert!(says("net/fetch(a b)").contains("no host"));
        assert!(says("file/read(").contains("not closed"));
        assert!(says("file/read()").contains("empty"));
        assert!(says("file/read(../x)").contains("`..`"));
        assert!(says("file/read([a)").contains("no pattern"));
        assert!(says("file/wrte(a)").contains("\"file/write\""));
    }
}
