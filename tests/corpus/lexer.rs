//! Cases `lexer/DIALECT/…`: `source`, its `tokens` but white space, and its `faults` where it has any.

use std::fmt::Write as _;

use killick::syntax::{
    Delim, Dialect, Lexer, Prefix, Token, TokenKind, Tree, Unclosed, balance,
};

use crate::fixture::Fixture;

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let dialect = dialect(fixture)?;
    let source = fixture.need("source")?;
    let tokens: Vec<Token> = Lexer::new(&source, dialect).collect();
    let whole: String = tokens.iter().map(|token| token.span.of(&source)).collect();
    if whole != source {
        return Err("the tokens are not the text".to_owned());
    }
    let mut dump = String::new();
    for token in tokens.iter().filter(|token| token.kind != TokenKind::Blank) {
        let _ = writeln!(dump, "{:9}{}", name(token.kind), show(token.span.of(&source)));
    }
    fixture.check("tokens", "", Some(&dump));
    let seen = balance(&source, dialect);
    let mut faults = String::new();
    for fault in &seen.diagnostics {
        let _ = writeln!(faults, "{fault}");
    }
    fixture.check("faults", "", Some(&*faults).filter(|faults| !faults.is_empty()));
    let tree = Tree::new(&source, dialect);
    let reached = tree.top().all(|id| source.is_char_boundary(tree.node(id).span.end));
    if reached { Ok(()) } else { Err("a form ends inside a character".to_owned()) }
}

/// Returns the dialect that the case's folder names.
pub(crate) fn dialect(fixture: &Fixture) -> Result<&'static Dialect, String> {
    let name = fixture.folder();
    Dialect::named(&name).ok_or(format!("{name} is no dialect"))
}

fn show(text: &str) -> String {
    text.replace('\n', "⏎").replace('\r', "␍")
}

fn name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Blank => "blank",
        TokenKind::LineComment | TokenKind::BlockComment => "comment",
        TokenKind::Prefix(Prefix::Quote) => "prefix",
        TokenKind::Prefix(Prefix::Pair) => "pair",
        TokenKind::Prefix(Prefix::Discard) => "discard",
        TokenKind::Open(Delim::Round | Delim::Square | Delim::Curly) => "open",
        TokenKind::Close(Delim::Round | Delim::Square | Delim::Curly) => "close",
        TokenKind::String => "string",
        TokenKind::Atom => "atom",
        TokenKind::Unclosed(
            Unclosed::String | Unclosed::BlockComment | Unclosed::Symbol | Unclosed::HereString,
        ) => "unclosed",
    }
}
