//! killick: a Lisp-flavoured hashline editing agent.
//!
//! Every edit is anchored to content that the session has read, and every tool call is gated by a
//! capability. The modules stand in reading order; `docs/architecture.md` says which may import which,
//! and a test holds it to that. `text`, `path`, `code`, `hashline` and `syntax` are pure, and public for
//! corpora and fuzzing; the rest is public for benches and tests and promises nothing.

pub mod text;
pub mod path;
pub mod code;
pub mod settings;
pub mod store;
pub mod process;
pub mod authority;
pub mod protocol;
pub mod hashline;
pub mod syntax;
pub mod workspace;
pub mod session;
pub mod tool;
pub mod dispatch;
pub mod tools;
pub mod mcp;
pub mod app;
pub mod cli;
