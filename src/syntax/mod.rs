//! Lisp source as text: what its delimiters say, by dialect.
//!
//! Text in, text out. Nothing here opens a file, and nothing is evaluated, not even `#.`. Analyses never
//! fail: whatever the text is, every byte of it lies in exactly one token, and what is wrong with it is a
//! list of diagnostics.

mod dialect;
mod lexer;
mod tree;
mod balance;
mod check;
mod repair;

pub use balance::{Balance, Diagnostic, Fault, Place, balance};
pub use check::{Check, Hunk, LineRange, Verdict, check};
pub use dialect::{Dialect, Dialects, UnknownDialect};
pub use lexer::{Delim, Lexer, Prefix, Span, Token, TokenKind, Unclosed};
pub use repair::{Candidate, Doubt, Refusal, Repair, TextEdit, repair};
pub use tree::{Children, Node, NodeId, NodeKind, Tree};
