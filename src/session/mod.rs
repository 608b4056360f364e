//! One conversation's memory: which contents of which files it has seen, and what it changed.
//!
//! The memory changes only by folding effects, so that replaying a log rebuilds it. It never asks the disk.

mod read_state;
mod memory;
mod file;

pub use file::{SessionFile, SessionFileError};
pub use memory::{Session, SessionId};
pub use read_state::ReadState;
