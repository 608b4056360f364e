//! What a restricted session's shell is held to by the kernel: Landlock, mounts, seccomp.
//!
//! [`apply`] confines the calling process, which has a single thread and becomes the shell by `exec`.
//! Nothing here decides what a session may do; the caller has worked out a [`Confinement`]. Where the
//! kernel cannot hold a process to it, [`apply`] fails and nothing may be run.

mod confinement;
mod level;
mod error;
mod temp;
mod probe;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod elsewhere;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{apply, close_inherited};
#[cfg(target_os = "linux")]
pub use linux::{apply, close_inherited};

pub use confinement::{Confinement, Sockets, outermost};
pub use error::{ConfineError, LEAST_ABI};
pub use level::{Enforced, Gap, Mounts};
pub use probe::{NoSandbox, PROBE, ask, probe};
pub use temp::PrivateTemp;
