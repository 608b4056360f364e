//! What a restricted session's shell is held to by the kernel: Landlock, mounts, seccomp.
//!
//! [`apply`] confines the calling process, which has a single thread and becomes the shell by `exec`.
//! Nothing here decides what a session may do; the caller has worked out a [`Confinement`]. Where the
//! kernel cannot hold a process to it, [`apply`] fails and nothing may be run.

mod confinement;
mod level;
mod error;
mod apply;

pub use apply::apply;
pub use confinement::{Confinement, Sockets};
pub use error::ConfineError;
pub use level::{Enforced, Gap, Mounts};
