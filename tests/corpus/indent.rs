//! Cases `indent/DIALECT/…`: a `text` whose lines, once flattened, are put back where they stand.
//!
//! `own` holds a user's rules, `NAME N` a line.

use killick::syntax::{Dialect, IndentRules, Lexer, LineRange, TokenKind, reindent};

use crate::fixture::Fixture;
use crate::lexer::dialect;

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let dialect = dialect(fixture)?;
    let text = fixture.need("text")?;
    let mut rules = IndentRules::new(dialect);
    for line in
        fixture.section("own").map(|own| own.content.clone()).unwrap_or_default().lines()
    {
        let (name, n) = line.split_once(' ').ok_or("own: expected NAME N")?;
        rules.add(name, n.parse().ok().ok_or("own: expected NAME N")?);
    }
    let all = LineRange::from_indices(0, text.lines().count());
    let flat = flattened(&text, dialect);
    let seen = reindent(&flat, dialect, &rules, all);
    fixture.check("text", "", Some(&seen));
    let again = reindent(&seen, dialect, &rules, all);
    if again == seen { Ok(()) } else { Err(format!("a second time it gives\n{again}")) }
}

/// Takes the blanks away that begin lines of code.
fn flattened(text: &str, dialect: &'static Dialect) -> String {
    let mut flat = String::new();
    for token in Lexer::new(text, dialect) {
        let text = token.span.of(text);
        match text.rfind('\n').filter(|_| token.kind == TokenKind::Blank) {
            Some(newline) => flat.push_str(text.get(..=newline).unwrap_or_default()),
            None => flat.push_str(text),
        }
    }
    flat
}
