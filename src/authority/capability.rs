//! The capability names: a closed table, and one open family for MCP servers.
//!
//! A name says what kind of act it gates, not which tool performs it. This module holds no grant.
//!
//! Invariant: every name is lower case; [`Capability::parse`] folds what the user wrote.

use std::fmt;
use std::sync::Arc;

/// What kind of scope an entry of a capability may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// A pattern of paths.
    Path,
    /// A pattern of host names.
    Host,
    /// A pattern of commands.
    Command,
    /// No scope: the capability is held in full or not at all.
    None,
}

/// A row of the table of names.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The name as written.
    pub name: &'static str,
    /// One sentence that says what the capability gates.
    pub gates: &'static str,
    /// What kind of scope an entry may carry.
    pub scope: ScopeKind,
}

macro_rules! capabilities {
    ($($variant:ident $name:literal $scope:ident $gates:literal;)*) => {
        /// One capability, by its folded name.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Capability {
            $(#[doc = $gates] $variant,)*
            /// The tools of one MCP server, by its lower-case name; made by [`Capability::mcp`].
            Mcp(Arc<str>),
        }

        impl Capability {
            /// Every capability outside the MCP family, in the order of the documentation.
            pub const NAMED: &[Self] = &[$(Self::$variant,)*];

            /// Returns the row of the capability; the MCP family shares one.
            pub const fn gate(&self) -> Gate {
                match self {
                    $(Self::$variant => {
                        Gate { name: $name, gates: $gates, scope: ScopeKind::$scope }
                    })*
                    Self::Mcp(_) => MCP,
                }
            }
        }
    };
}

capabilities! {
    FileRead "file/read" Path "Reading, finding, searching and listing files.";
    FileWrite "file/write" Path "Writing a whole file, new or replaced.";
    FileEdit "file/edit" Path "Changing lines or forms of an existing file.";
    ProcessExec "process/exec" Command "Running shell commands, their jobs and the project's tests.";
    ProcessNetwork "process/network" None "Sockets in the shell of a restricted session.";
    ImageEval "image/eval" None "Evaluating Lisp in the image.";
    ImageDebug "image/debug" None "Restarts and aborts of a parked evaluation, beside image/eval.";
    NetFetch "net/fetch" Host "Fetching a page by its address.";
    NetRequest "net/request" Host "Sending an arbitrary HTTP request.";
    NetSearch "net/search" None "Searching the web.";
    EnvRead "env/read" None "Reading environment variables.";
    ProcessList "process/list" None "Listing the machine's processes.";
    GitCommit "git/commit" None "Committing to the repository.";
    GitStore "git/store" None "Writes to `.git` by a restricted session's shell.";
}

const FAMILY: &str = "mcp/";
const MCP: Gate = Gate {
    name: "mcp/SERVER",
    gates: "Calling the tools of the MCP server of that name.",
    scope: ScopeKind::None,
};

/// A name that no capability has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown capability {name:?}{}", suggestion(*.nearest))]
pub struct UnknownCapability {
    /// The name as the user wrote it.
    pub name: String,
    /// The known name that is nearest, if one is near.
    pub nearest: Option<&'static str>,
}

fn suggestion(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(
        || format!("; the names are {}", names().collect::<Vec<_>>().join(", ")),
        |name| format!("; the nearest known name is {name:?}"),
    )
}

/// Returns every name as written, the MCP family last.
fn names() -> impl Iterator<Item = &'static str> {
    Capability::NAMED.iter().map(|known| known.gate().name).chain([MCP.name])
}

impl Capability {
    /// Reads a name, folding case and dropping a leading `:`.
    pub fn parse(text: &str) -> Result<Self, UnknownCapability> {
        let folded = text.trim().to_lowercase();
        let name = folded.strip_prefix(':').unwrap_or(&folded);
        if let Some(server) = name.strip_prefix(FAMILY).filter(|server| is_server(server)) {
            return Ok(Self::Mcp(Arc::from(server)));
        }
        let known = Self::NAMED.iter().find(|known| known.gate().name == name).cloned();
        known.ok_or_else(|| UnknownCapability { name: text.to_owned(), nearest: nearest(name) })
    }

    /// Returns the capability of an MCP server; names that differ by case alone share one.
    pub fn mcp(server: &str) -> Self {
        Self::Mcp(Arc::from(server.to_lowercase()))
    }
}

fn is_server(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "()/".contains(c))
}

fn nearest(name: &str) -> Option<&'static str> {
    names()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|&(distance, known)| distance <= known.len() / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known)
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mcp(server) => write!(f, "{FAMILY}{server}"),
            named => f.write_str(named.gate().name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_itself_in_any_case_and_with_a_colon() {
        for known in Capability::NAMED {
            let name = known.gate().name;
            assert_eq!(Capability::parse(name).as_ref(), Ok(known));
            assert_eq!(
                Capability::parse(&format!(":{}", name.to_uppercase())).as_ref(),
                Ok(known)
            );
            assert_eq!(known.to_string(), name);
            assert!(known.gate().gates.ends_with('.'), "{name}");
        }
    }

    #[test]
    fn the_page_has_a_row_for_every_name() {
        let page = include_str!("../../docs/settings.md");
        let (_, rest) =
            page.split_once("| capability | scope | gates |\n|---|---|---|\n").unwrap();
        let (table, _) = rest.split_once("\n\n").unwrap();
        let gates = Capability::NAMED.iter().map(Capability::gate).chain([MCP]);
        let rows: Vec<_> = gates
            .map(|gate| {
                let scope = match gate.scope {
                    ScopeKind::Path => "paths",
                    ScopeKind::Host => "hosts",
                    ScopeKind::Command => "commands",
                    ScopeKind::None => "none",
                };
                format!("| `{}` | {scope} | {} |", gate.name, gate.gates)
            })
            .collect();
        assert_eq!(table, rows.join("\n"));
    }

    #[test]
    fn a_server_name_is_one_plain_word() {
        assert_eq!(Capability::parse("MCP/Files"), Ok(Capability::mcp("files")));
        for bad in ["mcp/", "mcp/a/b", "mcp/a b", "mcp"] {
            assert!(Capability::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_unknown_name_is_met_with_the_nearest_known_one_or_none() {
        assert_eq!(Capability::parse("file/wrte").unwrap_err().nearest, Some("file/write"));
        assert_eq!(Capability::parse("::file/read").unwrap_err().nearest, Some("file/read"));
        assert_eq!(Capability::parse("telepathy").unwrap_err().nearest, None);
        assert_eq!(Capability::parse("").unwrap_err().nearest, None);
    }
}
