//! Where a line of a form conventionally begins, by dialect.
//!
//! It moves lines and changes nothing else. It is for new forms, not for taste: text that stands is never
//! re-indented unasked.

mod rules;
mod line;

pub use line::reindent;
pub use rules::IndentRules;
