//! Hashline: lines addressed by number and proved by content. Text in, text out; no file is touched here.
//!
//! `grammar::parse` (text → [`Patch`]) → [`resolve()`] (with what the session has [`Seen`] and what stands
//! there now → [`Plan`] | [`Refusal`]) → [`apply()`] (→ [`Draft`]s) → `report` (→ the words of the result).
//! Each arrow consumes its left side. [`replace()`] enters at the plan with an exact text in place of anchors.

pub mod anchor;
pub mod patch;
pub mod grammar;
pub mod served;
mod line_set;
mod prove;
mod find;
pub mod seen;
pub mod problem;
mod overlap;
mod echo;
mod carry;
mod sight;
pub mod plan;
mod resolve;
mod replace;
mod apply;
pub mod report;

pub use apply::{Draft, apply, rewrite};
pub use patch::{FilePatch, Op, Patch, Section, Target};
pub use plan::{Edit, FilePlan, Moved, Plan, Row};
pub use problem::{Cause, Problem, Refusal};
pub use replace::{Occurrences, replace};
pub use resolve::{Echoes, Options, Relocation, Subject, resolve};
pub use seen::{Scope, Seen, Shift, Sight};

/// The grammar of patches, in Lark's notation.
pub const GRAMMAR: &str = include_str!("../../grammar/hashline.lark");

/// The tool's own description: the language in the words that a model gets.
pub const DESCRIPTION: &str = include_str!("description.md");
