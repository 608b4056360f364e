//! Cases `balance/DIALECT/…`: texts `old` (may be absent) and `new`, and what the check `says`.

use std::fmt::Write as _;

use killick::syntax::{Verdict, check};

use crate::fixture::Fixture;
use crate::lexer::dialect;

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let dialect = dialect(fixture)?;
    let old = fixture.section("old").map(|section| section.content.clone());
    let new = fixture.need("new")?;
    let seen = check(old.as_deref(), &new, dialect);
    let verdict = match seen.verdict {
        Verdict::Whole => "whole",
        Verdict::StillBroken => "still broken",
        Verdict::Broken => "broken",
    };
    let mut says = format!("{verdict}\n");
    for fault in &seen.after.diagnostics {
        let _ = writeln!(says, "{fault}");
    }
    fixture.check("says", "", Some(&says));
    Ok(())
}
