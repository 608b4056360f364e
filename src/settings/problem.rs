//! What is wrong with a file of settings: where, what was expected and what was seen.

use std::fmt;

use crate::settings::keys::Whole;
use crate::settings::site::Site;

/// One thing that is wrong, at its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{site}: {kind}")]
pub struct Problem {
    /// Where it was written.
    pub site: Site,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What can be wrong with a file of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is no JSON; the parser's own words, which nobody branches on.
    Syntax(String),
    /// The file holds no value.
    Empty,
    /// A key that is no row of the table.
    UnknownKey {
        /// The key from the root down.
        key: String,
        /// The known key that is nearest, if one is near.
        nearest: Option<String>,
    },
    /// A key that is written with its dots instead of nested.
    Dotted {
        /// The key as written.
        key: String,
    },
    /// A key that stands twice in its object.
    DuplicateKey {
        /// The key from the root down.
        key: String,
        /// The line of the first one, 1-based.
        first_line: usize,
    },
    /// An object that lacks a key.
    MissingKey {
        /// The missing key from the root down.
        key: String,
    },
    /// A value of another kind than the key takes.
    WrongType {
        /// The key from the root down; empty for the file itself.
        key: String,
        /// What the key takes.
        expected: &'static str,
        /// What stands there.
        seen: String,
    },
    /// A number that is no whole one, or outside its bounds.
    NotInRange {
        /// The key from the root down.
        key: String,
        /// The bounds.
        range: Whole,
        /// What stands there.
        seen: String,
    },
    /// A key of the user's own settings in a project's file.
    UserOnly {
        /// The key.
        key: &'static str,
    },
    /// Problems that were counted and not kept.
    More {
        /// How many.
        n_more: usize,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(words) => write!(f, "this is not JSON: {words}"),
            Self::Empty => {
                f.write_str("expected an object, and the file holds none; `{}` sets nothing")
            }
            Self::UnknownKey { key, nearest: Some(nearest) } => {
                write!(f, "unknown key {key:?}; the nearest known key is {nearest:?}")
            }
            Self::UnknownKey { key, nearest: None } => write!(f, "unknown key {key:?}"),
            Self::Dotted { key } => write!(
                f,
                "unknown key {key:?}; a dot in the reference stands for an object within an object"
            ),
            Self::DuplicateKey { key, first_line } => {
                write!(f, "the key {key:?} stands already in line {first_line}")
            }
            Self::MissingKey { key } => write!(f, "expected the key {key:?} in this object"),
            Self::WrongType { key, expected, seen } if key.is_empty() => {
                write!(f, "expected {expected}, and this is {seen}")
            }
            Self::WrongType { key, expected, seen } => {
                write!(f, "{key:?} takes {expected}, and this is {seen}")
            }
            Self::NotInRange { key, range: Whole { min, max }, seen } => {
                write!(
                    f,
                    "{key:?} takes a whole number from {min} to {max}, and this is {seen}"
                )
            }
            Self::UserOnly { key } => write!(
                f,
                "{key:?} belongs in the user's own settings (~/.config/killick/settings.json), not in a project's"
            ),
            Self::More { n_more } => write!(f, "and {n_more} more problems"),
        }
    }
}
