//! The only access to the user's files: every open goes beneath a root, through its folder handle.
//!
//! Nobody above this module holds a `std::path::Path` to a user file; they hold a [`crate::path::Place`].

pub mod beneath;
pub mod root;
mod roots;
mod meta;
mod resolve;
mod load;
mod forbidden;
mod bare;
mod glob;
mod parallel;
mod folder;
mod ignore_rules;
mod walk;
mod select;
mod query;
mod grep;
mod grep_large;
mod list;
mod near;
#[cfg(test)]
mod fixture;

pub use forbidden::{Forbidden, Forbids, is_store};
pub use glob::{Matcher, Pattern, PatternError};
pub use grep::{FileMatches, Found, GrepLimits};
pub use grep_large::{LargeError, LargeFound, LargeLimits, LargeRow, RowKind};
pub use list::{FolderList, ListKind, ListLimits, ListRow};
pub use load::{LoadError, Loaded};
pub use meta::Meta;
pub use query::{BadQuery, Lines, MatchLine, Query};
pub use resolve::{Kind, PathError, Target};
pub use root::{Access, Root};
pub use roots::Workspace;
pub use select::{Scan, SelectError, Selection};
pub use walk::{Bounds, Entry, Ignored, Listing, Stop, WalkNotes};
