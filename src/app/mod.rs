//! Composition: from what the user wrote to a session that runs tools.

mod approved;
mod grant;
mod options;
mod start;
mod tidy;
mod trust;

pub use options::{Options, Sources};
pub use start::{App, Ground, SessionKind, StartError};
pub use tidy::Tidy;
pub use trust::{Judged, Trustee};
