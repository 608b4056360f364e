//! Plain data that modules share: what a call asks for and what it did. No logic.

mod decision;
mod effect;

pub use decision::{Answer, Question, View};
pub use effect::{
    Effect, FileChange, HeldFile, HeldPatch, MovedLines, SeenFile, SeenReach, TransactionId,
};
