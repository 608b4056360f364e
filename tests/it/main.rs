//! The integration tests: the house rules, flows in process, and a dozen runs of the binary.
#![expect(clippy::disallowed_methods, reason = "tests lay out and look at real files")]

mod layers;
mod source;
mod tidy;
