//! Ways out of a restricted session's shell, each with what denies it.
//!
//! Each way is first gone without a sandbox, where that harms nobody: what leads nowhere there proves nothing.
//! Then it is gone in a restricted session, once with the mounts and once where no mount namespace can be had,
//! and everything outside must be as it was.

mod world;
mod files;
mod git;
mod kernel;
mod processes;
mod sockets;
mod work;
