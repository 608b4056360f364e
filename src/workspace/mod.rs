//! The only access to the user's files: every open goes beneath a root, through its folder handle.
//!
//! Nobody above this module holds a `std::path::Path` to a user file; they hold a [`crate::path::Place`]. Folders
//! in which programs start, or to which they are held, have paths, because the system takes nothing else.

pub mod beneath;
pub mod root;
mod roots;
mod meta;
mod resolve;
mod load;
mod forbidden;
mod bare;
mod guarded;
mod start_folder;
mod glob;
mod parallel;
mod folder;
mod ignore_rules;
mod walk;
mod select;
mod query;
mod grep;
mod grep_large;
mod near;
mod list;
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
mod fixture;
#[cfg(test)]
mod fault_disk;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out and look at real files")]
mod crash_tests;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out and look at real files")]
mod transaction_tests;

pub use disk::{Disk, RealDisk};
pub use forbidden::{Forbidden, Forbids, is_store};
pub use glob::{Matcher, Pattern, PatternError};
pub use grep::{FileMatches, Found, GrepLimits};
pub use grep_large::{LargeError, LargeFound, LargeLimits, LargeRow, RowKind};
pub use guarded::{Guarded, GuardedWalk, Unwalked};
pub use list::{FolderList, ListKind, ListLimits, ListRow};
pub use load::{LoadError, Loaded};
pub use lock::{Forever, Patience};
pub use meta::Meta;
pub use query::{BadQuery, Lines, MatchLine, Query};
pub use recover::{Ending, Recovery, recover};
pub use resolve::{Kind, PathError, Target};
pub use root::{Access, Root, RootError};
pub use roots::Workspace;
pub use select::{Scan, SelectError, Selection};
pub use start_folder::NoFolder;
pub use transaction::{
    Change, CommitError, Committed, CommittedFile, Context, Expected, Fate, Origin, Parents,
    Problem, ProblemKind, Transaction,
};
pub use undo::{Done, UndoError, Whose, history, inverse, inverse_of};
pub use walk::{Bounds, Entry, Ignored, Listing, Stop, WalkNotes};
