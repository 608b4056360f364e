//! The only access to the user's files: every open goes beneath a root, through its folder handle.
//!
//! Nobody above this module holds a `std::path::Path` to a user file; they hold a [`crate::path::Place`].

pub mod beneath;
pub mod root;
pub mod disk;
mod lock;
mod journal;
mod in_place;
mod publish;
mod stage;
mod transaction;
mod verify;
mod commit;
mod recover;
mod undo;
#[cfg(test)]
mod fault_disk;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out and look at real files")]
mod crash_tests;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out and look at real files")]
mod transaction_tests;

pub use disk::{Disk, RealDisk};
pub use journal::TransactionId;
pub use lock::{Forever, Patience};
pub use recover::{Ending, Recovery, recover};
pub use root::{Access, Root};
pub use transaction::{
    Change, CommitError, Committed, CommittedFile, Context, Expected, Origin, Parents, Problem,
    ProblemKind, Transaction,
};
pub use undo::{Done, UndoError, Whose, history, inverse, inverse_of};
