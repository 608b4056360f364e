//! What the model sees of a long result: head and tail, with the rest in a spill file.

use std::fmt::Write as _;

use crate::store::Spill;
use crate::text::{clamp, count};

/// Returns `text` cut to `max_chars` characters, the whole kept in the spill.
///
/// The note between head and tail says how much was left out and where it is.
pub(super) fn clamp_text(text: String, max_chars: usize, spill: &Spill) -> String {
    let Some(cut) = clamp(&text, max_chars) else {
        return text;
    };
    let kept = match spill.write(&text) {
        Ok(path) => format!("the first {} are in {}", text.chars().count(), path.display()),
        Err(_) => "the rest could not be kept".to_owned(),
    };
    let mut shown = cut.head;
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    let omitted = count(cut.omitted, "character");
    let _ = write!(shown, "[... truncated, {omitted} omitted; {kept} ...]\n{}", cut.tail);
    shown
}
