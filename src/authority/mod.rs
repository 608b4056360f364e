//! What a session may do: capability names, scopes, grants that only shrink, and why a call was denied.
//!
//! Pure: a grant is made from text, and no file, setting or clock is asked, no name is resolved and no
//! shell is run.

mod capability;
mod scope;
mod host;
mod grammar;
mod unresolved;
mod line;
mod command;
mod entry;
mod grant;
mod subtree;
mod explain;
mod ask;

pub use ask::{Asked, Asks};
pub use capability::{Capability, Gate, ScopeKind, UnknownCapability};
pub use command::{BadCommand, CommandLine, CommandScope, Shell, StartsIn, Uncovered};
pub use entry::{BadEntry, BadPattern, Entry, Pattern, Scope};
pub use explain::Denial;
pub use grant::{Demand, Grant, Resource};
pub use host::{BadHost, Host, HostScope};
pub use scope::{BadScope, PathScope};
pub use subtree::Subtree;
pub use unresolved::{Construct, Unresolved};
