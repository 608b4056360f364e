//! killick: a Lisp-flavoured hashline editing agent.
//!
//! Every edit is anchored to content that the session has read, and every tool call is gated by a
//! capability. The modules stand in reading order; `docs/architecture.md` says which may import which,
//! and a test holds it to that. `text`, `path`, `code` and `hashline` are pure and public for corpora
//! and fuzzing.

pub mod text;
pub mod path;
pub mod code;
pub mod store;
pub mod protocol;
pub mod hashline;
pub mod workspace;
