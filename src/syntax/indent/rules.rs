//! The conventions as data: how the elements of a form line up, by its head and dialect.

use std::collections::BTreeMap;

use super::super::dialect::Dialect;

/// How the elements of a form line up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Under the first argument, or under the head where that stands alone.
    Call,
    /// One column in.
    Clause,
    /// So many arguments are special; what follows is a body, two columns in.
    Body(u8),
    /// A body whose first argument is a list of local functions, each with a body of its own.
    Functions,
    /// So many special arguments, then clauses whose elements line up one column in.
    Clauses(u8),
    /// So many special arguments, then forms each of which is like a function definition.
    Methods(u8),
    /// The clauses of `loop`.
    Loop,
    /// A named or an ordinary `let`.
    Let,
}

/// Heads and their styles, one dialect's.
type Table = &'static [(&'static str, Style)];

const COMMON_LISP: Table = &[
    ("let", Style::Body(1)),
    ("let*", Style::Body(1)),
    ("when", Style::Body(1)),
    ("unless", Style::Body(1)),
    ("lambda", Style::Body(1)),
    ("progn", Style::Body(0)),
    ("prog1", Style::Body(1)),
    ("prog2", Style::Body(2)),
    ("progv", Style::Body(2)),
    ("prog", Style::Body(1)),
    ("block", Style::Body(1)),
    ("catch", Style::Body(1)),
    ("eval-when", Style::Body(1)),
    ("locally", Style::Body(0)),
    ("tagbody", Style::Body(0)),
    ("unwind-protect", Style::Body(1)),
    ("return-from", Style::Body(1)),
    ("dolist", Style::Body(1)),
    ("dotimes", Style::Body(1)),
    ("do", Style::Body(2)),
    ("do*", Style::Body(2)),
    ("flet", Style::Functions),
    ("labels", Style::Functions),
    ("macrolet", Style::Functions),
    ("symbol-macrolet", Style::Body(1)),
    ("cond", Style::Clauses(0)),
    ("case", Style::Clauses(1)),
    ("ccase", Style::Clauses(1)),
    ("ecase", Style::Clauses(1)),
    ("typecase", Style::Clauses(1)),
    ("ctypecase", Style::Clauses(1)),
    ("etypecase", Style::Clauses(1)),
    ("handler-bind", Style::Body(1)),
    ("handler-case", Style::Methods(1)),
    ("restart-case", Style::Methods(1)),
    ("restart-bind", Style::Body(1)),
    ("multiple-value-bind", Style::Body(2)),
    ("multiple-value-prog1", Style::Body(1)),
    ("destructuring-bind", Style::Body(2)),
    ("print-unreadable-object", Style::Body(1)),
    ("loop", Style::Loop),
    ("defun", Style::Body(2)),
    ("defmacro", Style::Body(2)),
    ("defmethod", Style::Body(2)),
    ("defgeneric", Style::Body(2)),
    ("defclass", Style::Body(2)),
    ("define-condition", Style::Body(2)),
    ("defvar", Style::Body(1)),
    ("defparameter", Style::Body(1)),
    ("defconstant", Style::Body(1)),
    ("defstruct", Style::Body(1)),
    ("defpackage", Style::Body(1)),
    ("deftype", Style::Body(2)),
];

const SCHEME: Table = &[
    ("define", Style::Body(1)),
    ("define*", Style::Body(1)),
    ("define-syntax", Style::Body(1)),
    ("define-record-type", Style::Body(1)),
    ("define-module", Style::Body(1)),
    ("define-library", Style::Body(1)),
    ("lambda", Style::Body(1)),
    ("lambda*", Style::Body(1)),
    ("λ", Style::Body(1)),
    ("case-lambda", Style::Body(0)),
    ("let", Style::Let),
    ("let*", Style::Body(1)),
    ("letrec", Style::Body(1)),
    ("letrec*", Style::Body(1)),
    ("let-values", Style::Body(1)),
    ("let*-values", Style::Body(1)),
    ("let-syntax", Style::Body(1)),
    ("letrec-syntax", Style::Body(1)),
    ("parameterize", Style::Body(1)),
    ("fluid-let", Style::Body(1)),
    ("begin", Style::Body(0)),
    ("when", Style::Body(1)),
    ("unless", Style::Body(1)),
    ("do", Style::Body(2)),
    ("case", Style::Clauses(1)),
    ("cond", Style::Clauses(0)),
    ("match", Style::Clauses(1)),
    ("guard", Style::Body(1)),
    ("dynamic-wind", Style::Body(0)),
    ("receive", Style::Body(2)),
    ("syntax-rules", Style::Clauses(1)),
    ("syntax-case", Style::Clauses(2)),
    ("call-with-values", Style::Body(1)),
    ("module", Style::Body(2)),
    ("for", Style::Body(1)),
    ("for/list", Style::Body(1)),
    ("for/fold", Style::Body(2)),
    ("struct", Style::Body(2)),
    ("class", Style::Body(1)),
];

const EMACS_LISP: Table = &[
    ("let", Style::Body(1)),
    ("let*", Style::Body(1)),
    ("if", Style::Body(2)),
    ("if-let", Style::Body(2)),
    ("if-let*", Style::Body(2)),
    ("when", Style::Body(1)),
    ("when-let", Style::Body(1)),
    ("when-let*", Style::Body(1)),
    ("unless", Style::Body(1)),
    ("while", Style::Body(1)),
    ("lambda", Style::Body(1)),
    ("progn", Style::Body(0)),
    ("prog1", Style::Body(1)),
    ("prog2", Style::Body(2)),
    ("save-excursion", Style::Body(0)),
    ("save-restriction", Style::Body(0)),
    ("save-match-data", Style::Body(0)),
    ("catch", Style::Body(1)),
    ("condition-case", Style::Body(2)),
    ("unwind-protect", Style::Body(1)),
    ("dolist", Style::Body(1)),
    ("dotimes", Style::Body(1)),
    ("pcase", Style::Clauses(1)),
    ("pcase-let", Style::Body(1)),
    ("cl-case", Style::Clauses(1)),
    ("cl-loop", Style::Loop),
    ("cl-flet", Style::Functions),
    ("cl-labels", Style::Functions),
    ("cl-letf", Style::Body(1)),
    ("cl-defun", Style::Body(2)),
    ("defun", Style::Body(2)),
    ("defmacro", Style::Body(2)),
    ("defvar", Style::Body(1)),
    ("defcustom", Style::Body(1)),
    ("defconst", Style::Body(1)),
    ("eval-when-compile", Style::Body(0)),
    ("eval-after-load", Style::Body(1)),
    ("use-package", Style::Body(1)),
];

const CLOJURE: Table = &[
    ("let", Style::Body(1)),
    ("if", Style::Body(1)),
    ("if-let", Style::Body(1)),
    ("if-some", Style::Body(1)),
    ("if-not", Style::Body(1)),
    ("when", Style::Body(1)),
    ("when-let", Style::Body(1)),
    ("when-some", Style::Body(1)),
    ("when-not", Style::Body(1)),
    ("when-first", Style::Body(1)),
    ("loop", Style::Body(1)),
    ("for", Style::Body(1)),
    ("doseq", Style::Body(1)),
    ("dotimes", Style::Body(1)),
    ("binding", Style::Body(1)),
    ("do", Style::Body(0)),
    ("doto", Style::Body(1)),
    ("try", Style::Body(0)),
    ("catch", Style::Body(2)),
    ("finally", Style::Body(0)),
    ("case", Style::Body(1)),
    ("cond", Style::Body(0)),
    ("condp", Style::Body(2)),
    ("cond->", Style::Body(1)),
    ("cond->>", Style::Body(1)),
    ("as->", Style::Body(2)),
    ("fn", Style::Body(1)),
    ("letfn", Style::Functions),
    ("ns", Style::Body(1)),
    ("comment", Style::Body(0)),
    ("future", Style::Body(0)),
    ("delay", Style::Body(0)),
    ("go", Style::Body(0)),
    ("go-loop", Style::Body(1)),
    ("testing", Style::Body(1)),
    ("are", Style::Body(2)),
    ("while", Style::Body(1)),
    ("locking", Style::Body(1)),
    ("extend-type", Style::Methods(1)),
    ("extend-protocol", Style::Methods(1)),
    ("reify", Style::Methods(1)),
    ("proxy", Style::Methods(2)),
    ("defrecord", Style::Methods(2)),
    ("deftype", Style::Methods(2)),
    ("defprotocol", Style::Methods(1)),
];

/// The conventions of a dialect, with what a user says about names of their own.
#[derive(Clone, Debug)]
pub struct IndentRules {
    table: Table,
    dialect: &'static Dialect,
    own: BTreeMap<String, u8>,
}

impl IndentRules {
    /// Returns a dialect's conventions.
    pub fn new(dialect: &'static Dialect) -> Self {
        let table = match dialect.name {
            "common-lisp" => COMMON_LISP,
            "scheme" | "racket" => SCHEME,
            "emacs-lisp" => EMACS_LISP,
            _ => CLOJURE,
        };
        Self { table, dialect, own: BTreeMap::new() }
    }

    /// Says that forms with this head have so many special arguments and then a body.
    pub fn add(&mut self, head: &str, n_special: u8) {
        self.own.insert(head.to_owned(), n_special);
    }

    /// Returns how many special arguments stand before the body of forms with this head; nothing for a head
    /// that is not known to have a body.
    pub(in crate::syntax) fn before_body(&self, head: &str) -> Option<usize> {
        let folded = self.bare(head).to_ascii_lowercase();
        match self.table.iter().find(|(name, _)| *name == folded)?.1 {
            Style::Body(n) => Some(usize::from(n)),
            Style::Let | Style::Functions => Some(1),
            Style::Call
            | Style::Clause
            | Style::Clauses(_)
            | Style::Methods(_)
            | Style::Loop => None,
        }
    }

    /// Returns how forms with this head line up.
    pub(super) fn style(&self, head: &str) -> Style {
        let bare = self.bare(head);
        let folded = bare.to_ascii_lowercase();
        let own = self.own.get(head).or_else(|| self.own.get(bare));
        if let Some(&n_special) = own {
            return Style::Body(n_special);
        }
        let known = self.table.iter().find(|(name, _)| *name == folded);
        known.map_or_else(|| by_name(&folded), |&(_, style)| style)
    }

    /// Returns a name without its package or namespace.
    fn bare<'h>(&self, head: &'h str) -> &'h str {
        let separator = if self.dialect.name == "clojure" { '/' } else { ':' };
        match head.rsplit_once(separator) {
            Some((package, name)) if !package.is_empty() && !name.is_empty() => name,
            _ => head,
        }
    }
}

/// What the name of an unknown head promises.
fn by_name(head: &str) -> Style {
    let begins = |stem: &str| head.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-'));
    let defines = head.starts_with("def") && head != "default";
    if defines || begins("with") || begins("when") || begins("do") || begins("call-with") {
        Style::Body(1)
    } else {
        Style::Call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_own_names_come_first() {
        let mut rules = IndentRules::new(Dialect::COMMON_LISP);
        assert_eq!(rules.style("ALEXANDRIA:when-let"), Style::Body(1));
        assert_eq!(rules.style("my-macro"), Style::Call);
        rules.add("my-macro", 2);
        rules.add("when", 0);
        assert_eq!(rules.style("pkg:my-macro"), Style::Body(2));
        assert_eq!(rules.style("when"), Style::Body(0));
    }

    #[test]
    fn tables_name_each_head_once() {
        for table in [COMMON_LISP, SCHEME, EMACS_LISP, CLOJURE] {
            let mut names: Vec<_> = table.iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            let n_all = names.len();
            names.dedup();
            assert_eq!(names.len(), n_all);
        }
    }
}
