//! Composition: from what the user wrote to a session that runs tools.

mod approved;
mod grant;
mod options;
mod sandbox;
mod doctor;
mod start;
mod tidy;
mod trust;

pub use doctor::{Check, Verdict, checks};
pub use options::{Options, Sources};
pub use sandbox::{Held, held};
pub use start::{App, Ground, SessionKind, StartError};
pub use tidy::Tidy;
pub use trust::{Judged, Trustee};
