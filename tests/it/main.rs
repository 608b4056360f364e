//! The integration tests: the house rules, flows in process, and a dozen runs of the binary.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    reason = "tests lay out and look at real files, and fail by panicking"
)]

mod approvals;
mod commands;
mod escape;
mod flow;
mod grammar;
mod hashline;
mod layers;
mod runs;
mod shells;
mod soak;
mod source;
mod tidy;
