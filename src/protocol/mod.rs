//! Plain data that modules share: what a call asks for and what it did. No logic.

mod effect;

pub use effect::{
    Effect, FileChange, HeldFile, HeldPatch, MovedLines, SeenFile, SeenReach, TransactionId,
};
