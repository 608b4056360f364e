//! The sandbox of Linux, a part a file, in the order in which they are put on.

mod apply;
mod paths;
mod mount_table;
mod mounts;
mod carve;
mod rules;
mod privileges;
mod filter;

pub use apply::apply;
pub use privileges::close_inherited;
