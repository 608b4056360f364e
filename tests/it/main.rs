//! The integration tests: the house rules, flows in process, and a dozen runs of the binary.
#![expect(clippy::disallowed_methods, reason = "tests read fixtures of the source tree")]

mod grammar;
mod hashline;
