//! Processes of the user: how they are started, kept within bounds, listened to and ended.
//!
//! A command runs below a supervisor, which is killick re-executed; a confined one below a stage as well.
//! Nothing here decides what may run, or in which bounds.

pub mod confine;
mod word;
mod interactive;
mod environment;
mod wire;
mod program;
mod capture;
mod family;
mod strays;
mod files;
mod stage;
mod supervise;
mod pump;
mod job;
mod jobs;

pub use capture::Taken;
pub use environment::{Environment, environment, looks_secret};
pub use interactive::{Interactive, interactive};
pub use job::{Job, Phase, Waited};
pub use jobs::{Jobs, Start, TooMany};
pub use stage::{STAGE, become_confined};
pub use supervise::{SUPERVISE, supervise};
pub use wire::{Cause, Exit, Refused};
