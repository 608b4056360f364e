//! The dialects, as data: which bytes delimit, what opens a comment, how a character is written.
//!
//! The lexer asks this data and knows no dialect by name. What a dialect's forms look like when they are
//! indented is the business of `indent`. Readers that a program extends (read tables, `#lang`) are not
//! modelled: a file that uses them may be broken in these eyes, and `check` asks only what an edit changed.

use std::fmt;

/// What a byte means where a token may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// White space.
    Blank,
    /// Part of an atom.
    Atom,
    /// An opening delimiter.
    Open,
    /// A closing delimiter.
    Close,
    /// The quote of a string.
    Quote,
    /// The start of a line comment.
    Comment,
    /// The start of a dispatch; part of an atom elsewhere.
    Hash,
    /// A prefix of the next datum, which also ends an atom.
    Prefix,
    /// A prefix of the next datum at the start of a token, part of an atom elsewhere.
    SoftPrefix,
    /// Takes the next character into the atom, whatever it is.
    Escape,
    /// The start of a character, which also ends an atom.
    Char,
    /// The start of a character at the start of a token, part of an atom elsewhere.
    SoftChar,
    /// Opens and closes a quoted part of a symbol.
    Bar,
}

/// How `|` quotes a part of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bars {
    /// It does not: `|` is an ordinary character.
    Plain,
    /// It quotes, over lines too; one that never ends is a fault.
    Anywhere,
    /// It quotes where its end is on the same line. Some readers of the family do not know it at all.
    OnOneLine,
}

/// What `#!` opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bang {
    /// A comment to the end of the line, at the start of the file only.
    FirstLine,
    /// A comment to the end of the line, anywhere.
    Line,
    /// Guile's block comment up to `!#`, or a directive where a letter follows.
    Block,
}

/// Whether a dialect has a piece of syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Has {
    Yes,
    No,
}

/// One dialect of Lisp.
pub struct Dialect {
    /// The name that settings use: `common-lisp`.
    pub name: &'static str,
    /// The name for people: `Common Lisp`.
    pub title: &'static str,
    /// The extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// What each byte means.
    pub(super) classes: [Class; 256],
    /// `#|…|#`, nested.
    pub(super) block_comments: Has,
    /// The byte that makes a datum comment of `#`.
    pub(super) datum_comment: Option<u8>,
    /// `#\x`.
    pub(super) hash_chars: Has,
    /// `#+test form` and `#-test form`.
    pub(super) features: Has,
    /// `#tag` belongs to the datum that follows.
    pub(super) tags: Has,
    /// `#<<END` up to a line `END`.
    pub(super) here_strings: Has,
    /// `#{…}#` is a symbol and `#>…<#` is foreign code.
    pub(super) wild_symbols: Has,
    /// `^meta form`.
    pub(super) metadata: Has,
    /// The languages of a `#lang` or `#reader` line whose files this dialect's lexer cannot read.
    pub(super) foreign: &'static [&'static str],
    pub(super) bars: Bars,
    pub(super) bang: Bang,
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.name).finish()
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Dialect {}

/// Returns what each byte means: the bytes of each pair's string have the pair's class, the rest are atoms.
const fn classes(special: &[(&str, Class)]) -> [Class; 256] {
    let mut table = [Class::Atom; 256];
    let mut byte = 0;
    while byte <= 32 {
        table[byte] = Class::Blank;
        byte += 1;
    }
    table[b';' as usize] = Class::Comment;
    table[b'"' as usize] = Class::Quote;
    table[b'#' as usize] = Class::Hash;
    let mut pair = 0;
    while pair < special.len() {
        let (bytes, class) = (special[pair].0.as_bytes(), special[pair].1);
        let mut at = 0;
        while at < bytes.len() {
            table[bytes[at] as usize] = class;
            at += 1;
        }
        pair += 1;
    }
    table
}

impl Dialect {
    /// Returns whether clauses are pairs of forms side by side.
    pub(super) fn has_pairs(&self) -> bool {
        self.tags == Has::Yes
    }

    /// Returns whether braces are delimiters.
    pub(super) fn has_braces(&self) -> bool {
        self.classes[usize::from(b'{')] == Class::Open
    }

    /// Common Lisp. `[ ] { }` are constituents.
    pub const COMMON_LISP: &'static Self = &Self {
        name: "common-lisp",
        title: "Common Lisp",
        extensions: &["lisp", "asd", "cl", "lsp"],
        classes: classes(&[
            ("(", Class::Open),
            (")", Class::Close),
            ("'`,", Class::Prefix),
            ("\\", Class::Escape),
            ("|", Class::Bar),
        ]),
        block_comments: Has::Yes,
        datum_comment: None,
        hash_chars: Has::Yes,
        features: Has::Yes,
        tags: Has::No,
        here_strings: Has::No,
        wild_symbols: Has::No,
        metadata: Has::No,
        foreign: &[],
        bars: Bars::Anywhere,
        bang: Bang::FirstLine,
    };

    /// Scheme: what R7RS, Guile, Chicken and their kin agree on, and their comments and here strings.
    pub const SCHEME: &'static Self = &Self {
        name: "scheme",
        title: "Scheme",
        extensions: &["scm", "ss", "sld"],
        classes: classes(&[
            ("([", Class::Open),
            (")]", Class::Close),
            ("`,", Class::Prefix),
            ("'", Class::SoftPrefix),
            ("|", Class::Bar),
        ]),
        block_comments: Has::Yes,
        datum_comment: Some(b';'),
        hash_chars: Has::Yes,
        features: Has::No,
        tags: Has::No,
        here_strings: Has::Yes,
        wild_symbols: Has::Yes,
        metadata: Has::No,
        foreign: &[],
        bars: Bars::OnOneLine,
        bang: Bang::Block,
    };

    /// Racket: Scheme with braces and with `\` as an escape in symbols.
    pub const RACKET: &'static Self = &Self {
        name: "racket",
        title: "Racket",
        extensions: &["rkt"],
        classes: classes(&[
            ("([{", Class::Open),
            (")]}", Class::Close),
            ("'`,", Class::Prefix),
            ("\\", Class::Escape),
            ("|", Class::Bar),
        ]),
        block_comments: Has::Yes,
        datum_comment: Some(b';'),
        hash_chars: Has::Yes,
        features: Has::No,
        tags: Has::No,
        here_strings: Has::Yes,
        wild_symbols: Has::No,
        metadata: Has::No,
        foreign: &[
            "at-exp",
            "scribble",
            "2d",
            "pollen",
            "rhombus",
            "shrubbery",
            "datalog",
            "brag",
            "ragg",
            "honu",
            "algol60",
        ],
        bars: Bars::OnOneLine,
        bang: Bang::FirstLine,
    };

    /// Emacs Lisp: `?x` characters, vectors, no block comments.
    pub const EMACS_LISP: &'static Self = &Self {
        name: "emacs-lisp",
        title: "Emacs Lisp",
        extensions: &["el"],
        classes: classes(&[
            ("([", Class::Open),
            (")]", Class::Close),
            ("'`,", Class::Prefix),
            ("\\", Class::Escape),
            ("?", Class::SoftChar),
        ]),
        block_comments: Has::No,
        datum_comment: None,
        hash_chars: Has::No,
        features: Has::No,
        tags: Has::No,
        here_strings: Has::No,
        wild_symbols: Has::No,
        metadata: Has::No,
        foreign: &[],
        bars: Bars::Plain,
        bang: Bang::FirstLine,
    };

    /// Clojure, ClojureScript and EDN.
    pub const CLOJURE: &'static Self = &Self {
        name: "clojure",
        title: "Clojure",
        extensions: &["clj", "cljs", "cljc", "edn"],
        classes: classes(&[
            ("([{", Class::Open),
            (")]}", Class::Close),
            ("`~@^", Class::Prefix),
            ("'", Class::SoftPrefix),
            ("\\", Class::Char),
            (",", Class::Blank),
        ]),
        block_comments: Has::No,
        datum_comment: Some(b'_'),
        hash_chars: Has::No,
        features: Has::No,
        tags: Has::Yes,
        here_strings: Has::No,
        wild_symbols: Has::No,
        metadata: Has::Yes,
        foreign: &[],
        bars: Bars::Plain,
        bang: Bang::Line,
    };

    /// Every dialect, in the order of the documentation.
    pub const ALL: &'static [&'static Self] =
        &[Self::COMMON_LISP, Self::SCHEME, Self::RACKET, Self::EMACS_LISP, Self::CLOJURE];

    /// Returns the dialect of a file extension, given without its dot, in any case.
    pub fn for_extension(extension: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|dialect| {
            dialect.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
        })
    }

    /// Returns the dialect of a name that settings use.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.name == name)
    }
}

/// A name that is no dialect's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no dialect is named `{name}`; there are common-lisp, scheme, racket, emacs-lisp and clojure"
)]
pub struct UnknownDialect {
    /// The name as it was given.
    pub name: String,
}

/// The dialects by extension, with what a user added.
#[derive(Clone, Debug, Default)]
pub struct Dialects {
    added: Vec<(String, &'static Dialect)>,
}

impl Dialects {
    /// Gives the files of `extension`, written with or without its dot, to the dialect of a name.
    ///
    /// The latest addition of an extension wins, also over the built-in ones.
    pub fn add(&mut self, name: &str, extension: &str) -> Result<(), UnknownDialect> {
        let dialect =
            Dialect::named(name).ok_or_else(|| UnknownDialect { name: name.to_owned() })?;
        let bare = extension.strip_prefix('.').unwrap_or(extension);
        self.added.insert(0, (bare.to_ascii_lowercase(), dialect));
        Ok(())
    }

    /// Returns the dialect of an extension, given without its dot, in any case.
    pub fn for_extension(&self, extension: &str) -> Option<&'static Dialect> {
        self.added
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(extension))
            .map(|&(_, dialect)| dialect)
            .or_else(|| Dialect::for_extension(extension))
    }

    /// Returns the dialect of a file's name or path: what follows the last dot of its last segment.
    pub fn for_path(&self, path: &str) -> Option<&'static Dialect> {
        let name = path.rsplit(['/', '\\']).next()?;
        let (_, extension) = name.rsplit_once('.')?;
        self.for_extension(extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_choose_the_dialect_in_any_case() {
        let name = |extension| Dialect::for_extension(extension).map(|dialect| dialect.name);
        assert_eq!(name("ASD"), Some("common-lisp"));
        assert_eq!(name("sld"), Some("scheme"));
        assert_eq!(name("rkt"), Some("racket"));
        assert_eq!(name("el"), Some("emacs-lisp"));
        assert_eq!(name("edn"), Some("clojure"));
        assert_eq!(name("rs"), None);
    }

    #[test]
    fn what_a_user_added_comes_first() {
        let mut dialects = Dialects::default();
        dialects.add("scheme", ".lsp").unwrap();
        dialects.add("emacs-lisp", "emacs").unwrap();
        assert_eq!(dialects.for_path("a/b.LSP"), Some(Dialect::SCHEME));
        assert_eq!(dialects.for_path(".emacs"), Some(Dialect::EMACS_LISP));
        assert_eq!(dialects.for_path("a.d/readme"), None);
        assert_eq!(dialects.for_path("x.lisp"), Some(Dialect::COMMON_LISP));
        let unknown = dialects.add("lisp", "l").unwrap_err();
        assert!(unknown.to_string().contains("common-lisp"));
    }

    #[test]
    fn names_and_extensions_are_unique() {
        let mut extensions: Vec<_> = Dialect::ALL.iter().flat_map(|d| d.extensions).collect();
        extensions.sort_unstable();
        let n_all = extensions.len();
        extensions.dedup();
        assert_eq!(extensions.len(), n_all);
        assert!(Dialect::ALL.iter().all(|d| Dialect::named(d.name) == Some(*d)));
    }
}
