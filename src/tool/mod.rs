//! The contract of a tool: what it is, what it asks for, how it runs, and what comes back.
//!
//! Nothing here knows a tool by name, opens a file or talks to a model.

pub mod args;
mod contract;
mod outcome;
mod running;

pub use contract::{DEFAULT_BUDGET, Paging, Prepared, Reach, Run, Sketch, Spec, Tool};
pub use outcome::{Failure, Outcome, Problem, problems_detail};
pub use running::{Clock, Running, Stop, Stopped, Watch};
