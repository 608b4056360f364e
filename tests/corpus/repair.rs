//! Cases `repair/DIALECT/…`: texts `old` (may be absent) and `new`, the `outcome`, and the best `text`.
//!
//! A section `hunks` names the edited lines, `OLD..OLD NEW..NEW` a line, 1-based and half open; without it
//! what differs is one hunk. What is shown is asserted to be balanced, and to change delimiters and
//! quotes alone.

use std::fmt::Write as _;

use killick::syntax::{
    Dialect, Hunk, Lexer, LineRange, Repair, TokenKind, Verdict, balance, check, repair,
};

use crate::fixture::Fixture;
use crate::lexer::dialect;

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let dialect = dialect(fixture)?;
    let old = fixture.section("old").map(|section| section.content.clone());
    let new = fixture.need("new")?;
    let hunks = match fixture.section("hunks") {
        Some(section) => section.content.lines().map(hunk).collect::<Option<Vec<_>>>(),
        None => Some(vec![Hunk::between(old.as_deref().unwrap_or_default(), &new)]),
    };
    let hunks = hunks.ok_or("hunks: expected OLD..OLD NEW..NEW")?;
    let checked = check(old.as_deref(), &new, dialect);
    let mut outcome = String::new();
    let mut text = None;
    match checked.verdict {
        Verdict::Whole => outcome.push_str("whole\n"),
        Verdict::StillBroken => outcome.push_str("still broken\n"),
        Verdict::Broken => match repair(&checked, old.as_deref(), &new, dialect, &hunks) {
            Repair::Refused(reason, fault) => {
                let _ = writeln!(outcome, "refused: {}", reason.reason());
                if let Some(fault) = fault {
                    let _ = writeln!(outcome, "{fault}");
                }
            }
            Repair::Proposed(candidates) => {
                let best = candidates.first().ok_or("no candidate")?;
                outcome.push_str(if best.is_safe() { "safe\n" } else { "shown\n" });
                for doubt in &best.doubts {
                    let _ = writeln!(outcome, "{}", doubt.reason());
                }
                let worse = |text: &str| {
                    let before =
                        old.as_deref().map_or(0, |old| balance(old, dialect).n_faults());
                    balance(text, dialect).n_faults() > before
                };
                if candidates.iter().any(|candidate| worse(&candidate.text)) {
                    return Err("a candidate is not balanced".to_owned());
                }
                let quoted = best.edits.iter().any(|edit| edit.inserted == "\"");
                if !quoted && data(&best.text, dialect) != data(&new, dialect) {
                    return Err("a repair changed more than delimiters".to_owned());
                }
                text = Some(best.text.clone());
            }
        },
    }
    fixture.check("outcome", "", Some(&outcome));
    fixture.check("text", "", text.as_deref());
    Ok(())
}

/// Returns the tokens that are no delimiters and no white space.
fn data(text: &str, dialect: &'static Dialect) -> Vec<String> {
    let skipped =
        |kind| matches!(kind, TokenKind::Open(_) | TokenKind::Close(_) | TokenKind::Blank);
    let tokens = Lexer::new(text, dialect).filter(|token| !skipped(token.kind));
    tokens.map(|token| token.span.of(text).to_owned()).collect()
}

fn hunk(line: &str) -> Option<Hunk> {
    let (old, new) = line.split_once(' ')?;
    let range = |text: &str| {
        let (start, end) = text.split_once("..")?;
        let index = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
        Some(LineRange::from_indices(index(start)?, index(end)?))
    };
    Some(Hunk { old: range(old)?, new: range(new)? })
}
