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
mod indent;
mod form;
mod outline;
#[cfg(test)]
mod laws;

pub use balance::{Balance, Diagnostic, Fault, Place, balance};
pub use check::{Check, Hunk, LineRange, Verdict, check};
pub use dialect::{Dialect, Dialects, UnknownDialect};
pub use form::{Form, FormError, Replaced, delete, find, replace, tail_dot};
pub use indent::{IndentRules, reindent};
pub use lexer::{Delim, Lexer, Prefix, Span, Token, TokenKind, Unclosed};
pub use outline::{Entry, NoSuchTop, find_top, outline};
pub use repair::{Candidate, Doubt, Refusal, Repair, TextEdit, repair};
pub use tree::{Children, Node, NodeId, NodeKind, Tree};
