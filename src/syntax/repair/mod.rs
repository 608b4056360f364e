//! What an unbalanced edit was meant to be: candidates, ranked, with what speaks against each.
//!
//! A repair changes delimiters (and a lost quote) and nothing else, inside the edited lines wherever that
//! can be. It is a proposal: only a [`Candidate`] without a [`Doubt`] may be written unasked.

mod candidate;
mod role;
mod region;
mod align;
mod shape;
mod weigh;
mod state;
mod search;
mod quote;
mod lost;
mod propose;

pub use candidate::{Candidate, Doubt, Refusal, Repair, TextEdit};
pub use propose::repair;
