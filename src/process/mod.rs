//! Processes of the user: how they are started, kept within bounds and ended.

pub mod confine;
