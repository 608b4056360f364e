//! Running tools: the registry of what there is, and the executor that gates, times, clamps and records.
//!
//! dispatch knows no tool by name. Nothing here formats a wire or asks a person.

mod registry;
mod executor;
mod clamp;
mod record;

pub use executor::{Call, Executor, Limits, Parts};
pub use registry::{DuplicateTool, Registry, UnknownSelection};
