//! What a session may do: capability names, scopes, grants that only shrink, and why a call was denied.
//!
//! Pure: a grant is made from text, and no file, setting or clock is asked. Host and command scopes are
//! not read yet; an entry that carries one is refused.

mod capability;
mod scope;
mod host;
mod command;
mod entry;
mod grant;
mod explain;

pub use capability::{Capability, Gate, ScopeKind, UnknownCapability};
pub use command::{CommandLine, Shell, StartsIn};
pub use entry::{BadEntry, Entry, Scope};
pub use explain::Denial;
pub use grant::{Demand, Grant, Resource};
pub use host::Host;
pub use scope::{BadScope, PathScope};
