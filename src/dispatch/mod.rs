//! Running tools: the registry of what there is, and the executor that gates, times, clamps and records.
//!
//! dispatch knows no tool by name. Nothing here formats a wire; a person is asked through
//! [`Approver`], whoever draws the question.

mod registry;
mod approval;
mod executor;
mod clamp;
mod record;

pub use approval::{Answering, Approvals, Approver, Desk, Keeper, Keeping, NotKept};
pub use executor::{Call, Executor, Limits, Parts};
pub use registry::{DuplicateTool, Registry, UnknownSelection};
