//! Entries of a capability list: a name, and the part of it that a scope leaves.

use std::fmt;

use crate::authority::capability::{Capability, ScopeKind, UnknownCapability};
use crate::authority::scope::{BadScope, PathScope};

/// Which part of a capability an entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    Whole,
    /// The places that a pattern covers.
    Path(PathScope),
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
    /// The capability takes no scope, or none yet.
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
        cause: BadScope,
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
        match capability.gate().scope {
            ScopeKind::Path => match PathScope::parse(scope) {
                Ok(path) => Ok(Self { capability, scope: Scope::Path(path) }),
                Err(cause) => Err(BadEntry::Scope { capability, cause }),
            },
            ScopeKind::Host | ScopeKind::Command | ScopeKind::None => {
                Err(BadEntry::NoScope { capability, scope: scope.to_owned() })
            }
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::Whole => self.capability.fmt(f),
            Scope::Path(path) => write!(f, "{}({path})", self.capability),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_entry_panics(text in "(file/read|:Mcp/|)[(]?[a-z{}!,\\[\\]*?./()\\\\é-]{0,30}[)]?") {
            if let Ok(entry) = Entry::parse(&text) {
                prop_assert_eq!(Entry::parse(&entry.to_string()), Ok(entry));
            }
        }
    }

    #[test]
    fn bad_entries_say_what_is_wrong() {
        let says = |text: &str| Entry::parse(text).unwrap_err().to_string();
        assert_eq!(
            says("process/exec(cargo test *)"),
            "process/exec takes no scope, and \"cargo test *\" is one"
        );
        assert_eq!(says("image/eval()"), "image/eval takes no scope, and \"\" is one");
        assert!(says("file/read(").contains("not closed"));
        assert!(says("file/read()").contains("empty"));
        assert!(says("file/read(../x)").contains("`..`"));
        assert!(says("file/read([a)").contains("no pattern"));
        assert!(says("file/wrte(a)").contains("\"file/write\""));
    }
}
