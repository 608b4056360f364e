//! Why a demand was denied, as data and as one sentence.
//!
//! It says what was asked, what the session holds and which list narrowed it. It offers no way around a
//! denial: a grant only shrinks.

use std::fmt;
use std::sync::Arc;

use crate::authority::command::Uncovered;
use crate::authority::grant::{Demand, Resource};
use crate::code::Code;

/// A demand that the grant does not cover.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Denial {
    /// What was asked for.
    pub demand: Demand,
    /// Whether the session holds some of the capability.
    pub held_in_part: bool,
    /// Which part of a command line is not covered, where the session holds some commands.
    pub uncovered: Option<Uncovered>,
    /// What the session holds, as entries are written.
    pub holds: Vec<String>,
    /// Where the list is written that does not cover it, when that is known.
    pub narrowed_by: Option<Arc<str>>,
}

impl Denial {
    /// Returns the code that the refusal of the call carries.
    pub const fn code(&self) -> Code {
        Code::CapabilityDenied
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.demand)?;
        if self.held_in_part && self.demand.resource == Resource::Whole {
            f.write_str(" in full")?;
        }
        f.write_str(" is not granted")?;
        if let Some(uncovered) = &self.uncovered {
            write!(f, ": {uncovered}")?;
        }
        f.write_str("; this session holds ")?;
        if self.holds.is_empty() {
            f.write_str("nothing that is gated")?;
        } else {
            f.write_str(&self.holds.join(", "))?;
        }
        match &self.narrowed_by {
            Some(origin) => write!(f, " (narrowed by {origin})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.resource {
            Resource::Whole | Resource::Some => self.capability.fmt(f),
            Resource::Path(place) => write!(f, "{} on {place}", self.capability),
            Resource::Host(host) => write!(f, "{} on {host}", self.capability),
            Resource::Command(line) => write!(f, "{} on {line}", self.capability),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::{Capability, Entry, Grant};
    use crate::path::{Place, RelPath};

    #[test]
    fn a_denial_names_what_was_asked_what_is_held_and_who_narrowed_it() {
        let entries =
            [":FILE/read", "file/edit(src/**)", "mcp/x"].map(|t| Entry::parse(t).unwrap());
        let place = Place::in_workspace(RelPath::parse("a.txt").unwrap());
        let demand =
            Demand { capability: Capability::FileWrite, resource: Resource::Path(place) };
        let user = Grant::from_layer("/x/settings.json line 3", &entries);
        assert_eq!(
            Grant::everything().meet(&user).check(&demand).unwrap_err().to_string(),
            "file/write on a.txt is not granted; this session holds file/read, file/edit(src/**), \
             mcp/x (narrowed by /x/settings.json line 3)"
        );
        assert_eq!(
            Grant::none().check(&demand).unwrap_err().to_string(),
            "file/write on a.txt is not granted; this session holds nothing that is gated"
        );
    }

    #[test]
    fn a_capability_that_two_lists_scope_shows_both() {
        let list = |texts: &[&str]| {
            let entries: Vec<_> = texts.iter().map(|t| Entry::parse(t).unwrap()).collect();
            Grant::from_entries(&entries)
        };
        let grant =
            list(&["file/read(src/**)", "file/read(docs)"]).meet(&list(&["file/read(*.md)"]));
        assert_eq!(grant.holdings(), ["file/read(src/** | docs) within (*.md)"]);
    }
}
