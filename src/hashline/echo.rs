//! Payload rows that begin with an anchor which was served: pasted rows, not content.
//!
//! A row that merely has that shape is content: only the check that was served for that very line counts.

use super::anchor::Anchor;
use super::seen::Seen;
use crate::text::{LineNo, Snapshot};

/// Returns the line whose anchor, as it was served for this file, a payload row begins with.
pub(super) fn echoed(row: &str, seen: &Seen, now: &Snapshot) -> Option<LineNo> {
    let anchor = leading_anchor(row)?;
    let index = anchor.line.index();
    let served =
        now.line_digest(anchor.line).is_some_and(|digest| digest.check() == anchor.check)
            || seen
                .contents()
                .iter()
                .any(|known| known.knows(index) && known.lines[index].check() == anchor.check);
    served.then_some(anchor.line)
}

/// Reads `N:HH|` from the front of a row, with or without search's `*` or blank.
fn leading_anchor(row: &str) -> Option<Anchor> {
    let row = row.strip_prefix(['*', ' ']).unwrap_or(row);
    let digits = row.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = row.split_at_checked(digits)?;
    let (hex, _) = rest.strip_prefix(':')?.split_once('|')?;
    let lower = hex.len() == 2 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let check = lower.then(|| u8::from_str_radix(hex, 16).ok()).flatten()?;
    Some(Anchor { line: LineNo::new(number.parse().ok()?)?, check })
}
