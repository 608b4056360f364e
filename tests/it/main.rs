//! The integration tests: the house rules, flows in process, and a dozen runs of the binary.

mod grammar;
mod hashline;
