//! What a datum could be in a form, by its text alone: the head of a call, of a definition, a quoted list.
//!
//! Nothing is looked up; these are guesses about style, and only ever hold a repair back.

use super::super::lexer::TokenKind;

/// What a datum could be in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The name at the head of a form.
    Name,
    /// The name at the head of a form that takes a list of lists: `let`, `cond`.
    ListTaker,
    /// The name at the head of a form that defines something with arguments: `defun`.
    Definer,
    /// A keyword.
    Keyword,
    /// It has a prefix: it could be the first of a quoted list.
    Quoted,
    /// It has the prefix of a function.
    FunctionQuoted,
    /// None of these.
    Other,
}

/// Names whose forms take a list of lists, by what stands before their first `-` or `*`.
const LIST_TAKERS: [&str; 12] = [
    "let", "cond", "do", "do*", "flet", "labels", "macrolet", "case", "handler", "restart",
    "letfn", "with",
];

/// Names that define without taking arguments.
const PLAIN: [&str; 6] = ["def", "defvar", "defparameter", "defconst", "defcustom", "defonce"];

/// Names that do not begin with `def` and take a list of arguments or fields.
const MAKERS: [&str; 4] = ["lambda", "λ", "fn", "struct"];

/// Returns what a token could be.
pub(super) fn role(kind: TokenKind, prefixed: bool, text: &str) -> Role {
    let digit = |c: char| c.is_ascii_digit();
    if prefixed {
        return Role::Quoted;
    }
    if kind != TokenKind::Atom || text.trim_start_matches(['-', '+', '.']).starts_with(digit) {
        return Role::Other;
    }
    if text.starts_with(':') {
        return Role::Keyword;
    }
    if !text.chars().any(char::is_alphanumeric) || text.starts_with(['#', '?', '\\', '|']) {
        return Role::Other;
    }
    if text.starts_with("def") && !PLAIN.contains(&text) || MAKERS.contains(&text) {
        return Role::Definer;
    }
    let stem = text.split(['-', '*']).next().unwrap_or(text);
    if LIST_TAKERS.contains(&stem) { Role::ListTaker } else { Role::Name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_off_the_text() {
        let of = |text| role(TokenKind::Atom, false, text);
        assert_eq!([of("foo"), of("car"), of("->>")], [Role::Name, Role::Name, Role::Other]);
        assert_eq!([of("let*"), of("with-open-file")], [Role::ListTaker, Role::ListTaker]);
        assert_eq!(
            [of("defun"), of("fn"), of("def")],
            [Role::Definer, Role::Definer, Role::Name]
        );
        assert_eq!([of(":a"), of("-1.5"), of("#t")], [Role::Keyword, Role::Other, Role::Other]);
        assert_eq!(role(TokenKind::String, false, "\"a\""), Role::Other);
    }
}
