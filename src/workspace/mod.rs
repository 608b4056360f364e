//! The only access to the user's files: every open goes beneath a root, through its folder handle.
//!
//! Nobody above this module holds a `std::path::Path` to a user file; they hold a [`crate::path::Place`].

pub mod beneath;
pub mod root;

pub use root::{Access, Root};
