//! What the tools that know Lisp forms share: finding one by its description, and saying where it is not.

use super::kit::Kit;
use crate::code::Code;
use crate::path::Place;
use crate::syntax::{Dialect, Entry, LineRange, NoSuchTop, Tree, find_top};
use crate::tool::Failure;

/// How many places a refusal names.
const MAX_NAMED: usize = 10;

/// Returns the dialect of a file that must be Lisp source.
pub(super) fn dialect(kit: &Kit, place: &Place) -> Result<&'static Dialect, Failure> {
    kit.dialect(place).ok_or_else(|| {
        let message = format!(
            "{place} is no Lisp source by its extension; lisp.dialects in the settings can add one."
        );
        Failure::new(Code::BadArg, message)
    })
}

/// Finds the top-level form that begins as `description` says.
pub(super) fn top(
    tree: &Tree<'_>,
    description: &str,
    dialect: &'static Dialect,
    place: &Place,
) -> Result<Entry, Failure> {
    find_top(tree, description, dialect).map_err(|error| match error {
        NoSuchTop::None => Failure::new(
            Code::NoSuchForm,
            format!("no top-level form of {place} begins with {description:?}; outline lists them."),
        ),
        NoSuchTop::Several(lines) => Failure::new(
            Code::AmbiguousForm,
            format!(
                "{} top-level forms of {place} begin with {description:?}, at lines {}; say more of the one \
                 that is meant.",
                lines.len(),
                ranges(&lines)
            ),
        ),
    })
}

fn ranges(lines: &[LineRange]) -> String {
    let named: Vec<String> =
        lines.iter().take(MAX_NAMED).map(|range| range_of(*range)).collect();
    let more = if lines.len() > MAX_NAMED { ", …" } else { "" };
    named.join(", ") + more
}

/// Writes a range of lines with its last line included.
pub(super) fn range_of(lines: LineRange) -> String {
    let (first, last) = (lines.start.get(), lines.end.get().saturating_sub(1));
    if first >= last { first.to_string() } else { format!("{first}..{last}") }
}

/// Writes the places of forms as line:column, both from 1.
pub(super) fn places(text: &str, starts: &[usize]) -> String {
    let place = |&start: &usize| {
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{line}:{column}")
    };
    let named: Vec<String> = starts.iter().take(MAX_NAMED).map(place).collect();
    let more = if starts.len() > MAX_NAMED { ", …" } else { "" };
    named.join(", ") + more
}
