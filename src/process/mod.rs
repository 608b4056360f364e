//! Processes of the user: how they are started, kept within bounds and ended.

pub mod confine;
mod word;
mod interactive;
mod environment;

pub use environment::{Environment, environment, looks_secret};
pub use interactive::{Interactive, interactive};
