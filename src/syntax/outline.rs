//! The forms at top level: what each begins with, what it is called, and where it stands.
//!
//! A name is read off the form's shape; nothing is known about what the head means. Forms that are no
//! lists are left out.

use memchr::memchr_iter;

use super::check::LineRange;
use super::dialect::Dialect;
use super::form::same;
use super::lexer::{Prefix, Span};
use super::tree::{NodeId, NodeKind, Tree};

/// One form at top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its first element: `defun`.
    pub head: String,
    /// What it names, as it is written; nothing where its second element is no name.
    pub name: Option<String>,
    /// Its lines.
    pub lines: LineRange,
    /// Its bytes, prefixes and feature tests included.
    pub span: Span,
    /// The form itself in its tree.
    pub id: NodeId,
}

/// Why a description is not that of one form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchTop {
    /// No form at top level begins so.
    #[error("no top-level form begins with it")]
    None,
    /// Several do; these are their lines.
    #[error("{} top-level forms begin with it", .0.len())]
    Several(Vec<LineRange>),
}

/// Lists the forms at top level, in order.
pub fn outline(tree: &Tree<'_>) -> Vec<Entry> {
    let mut lines = Lines { text: tree.text(), at: 0, line_idx: 0 };
    let mut entries = Vec::new();
    for id in tree.top() {
        let span = tree.node(id).span;
        let Some(list) = list_of(tree, id) else { continue };
        let mut elements = tree.children(list);
        let head = elements.next();
        let defines =
            head.is_some_and(|head| tree.text_of(head).to_ascii_lowercase().contains("def"));
        let name = elements.next().and_then(|second| name_of(tree, second, defines));
        let (start, end) = (lines.index(span.start), lines.index(span.end.saturating_sub(1)));
        entries.push(Entry {
            head: head.map(|head| tree.text_of(head).to_owned()).unwrap_or_default(),
            name,
            lines: LineRange::from_indices(start, end + 1),
            span,
            id,
        });
    }
    entries
}

/// Finds the one form at top level whose first elements are those of `description`: `defun foo`.
///
/// Where no form begins so, the description may leave the head out: `foo`.
pub fn find_top(
    tree: &Tree<'_>,
    description: &str,
    dialect: &'static Dialect,
) -> Result<Entry, NoSuchTop> {
    let wanted = Tree::new(description, dialect);
    let parts: Vec<NodeId> = match wanted.top().collect::<Vec<_>>().as_slice() {
        &[only] if matches!(wanted.node(only).kind, NodeKind::List(_)) => {
            wanted.children(only).collect()
        }
        several => several.to_vec(),
    };
    if parts.is_empty() {
        return Err(NoSuchTop::None);
    }
    let entries = outline(tree);
    let from = |skipped: usize| {
        entries
            .iter()
            .filter(|entry| begins(tree, entry.id, skipped, &wanted, &parts))
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut found = from(0);
    if found.is_empty() {
        found = from(1);
    }
    match found.len() {
        0 => Err(NoSuchTop::None),
        1 => found.pop().ok_or(NoSuchTop::None),
        _ => Err(NoSuchTop::Several(found.iter().map(|entry| entry.lines).collect())),
    }
}

fn begins(
    tree: &Tree<'_>,
    id: NodeId,
    skipped: usize,
    wanted: &Tree<'_>,
    parts: &[NodeId],
) -> bool {
    let Some(list) = list_of(tree, id) else { return false };
    let elements: Vec<NodeId> = tree.children(list).skip(skipped).take(parts.len()).collect();
    elements.len() == parts.len()
        && elements.iter().zip(parts).enumerate().all(|(nth, (&element, &part))| {
            let named = nth + skipped == 1
                && name_of(tree, element, true).as_deref() == Some(wanted.text_of(part));
            named || same(tree, element, wanted, part)
        })
}

/// Returns the list that a form is, past prefixes, feature tests and metadata.
fn list_of(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    let mut id = id;
    loop {
        match tree.node(id).kind {
            NodeKind::List(_) => return Some(id),
            NodeKind::Prefixed(Prefix::Quote | Prefix::Pair) => {
                id = tree.children(id).last()?;
            }
            NodeKind::Prefixed(Prefix::Discard)
            | NodeKind::Atom
            | NodeKind::String
            | NodeKind::Unclosed(_)
            | NodeKind::Stray(_) => return None,
        }
    }
}

/// Returns the name in second place: `foo`, `(foo x)` and `((foo x) y)` name foo, `(setf foo)` is a name.
///
/// Only a form that defines something has its name inside a list.
fn name_of(tree: &Tree<'_>, id: NodeId, defines: bool) -> Option<String> {
    let mut id = id;
    loop {
        match tree.node(id).kind {
            NodeKind::Atom | NodeKind::String => return Some(tree.text_of(id).to_owned()),
            NodeKind::Prefixed(Prefix::Pair) => id = tree.children(id).last()?,
            NodeKind::Prefixed(Prefix::Quote) => return Some(tree.text_of(id).to_owned()),
            NodeKind::List(_) if defines => {
                let first = tree.children(id).next()?;
                if tree.text_of(first).eq_ignore_ascii_case("setf") {
                    return Some(tree.text_of(id).to_owned());
                }
                id = first;
            }
            NodeKind::List(_)
            | NodeKind::Prefixed(Prefix::Discard)
            | NodeKind::Unclosed(_)
            | NodeKind::Stray(_) => return None,
        }
    }
}

/// Turns ascending offsets into 0-based lines without reading the text twice.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line_idx: usize,
}

impl Lines<'_> {
    fn index(&mut self, offset: usize) -> usize {
        let passed = self.text.as_bytes().get(self.at..offset).unwrap_or_default();
        self.line_idx += memchr_iter(b'\n', passed).count();
        self.at = self.at.max(offset);
        self.line_idx
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, dialect: &'static Dialect) -> Vec<(String, Option<String>)> {
        outline(&Tree::new(text, dialect)).into_iter().map(|e| (e.head, e.name)).collect()
    }

    fn pair(head: &str, name: &str) -> (String, Option<String>) {
        (head.to_owned(), Some(name.to_owned()))
    }

    #[test]
    fn names_are_read_off_the_shape() {
        assert_eq!(
            names("(define ((f x) y) 1)\n(define z 2)", Dialect::SCHEME),
            [pair("define", "f"), pair("define", "z")]
        );
        assert_eq!(
            names("(defun (setf foo) (v) v)\n#+sbcl (defvar *x* 1) 5", Dialect::COMMON_LISP),
            [pair("defun", "(setf foo)"), pair("defvar", "*x*")]
        );
        assert_eq!(
            names("(defn ^:private ^String f [x] x)", Dialect::CLOJURE),
            [pair("defn", "f")]
        );
    }

    #[test]
    fn a_form_is_found_by_its_first_elements_or_its_name() {
        let text = "(defun a ())\n(defmethod a ((x b))\n  1)\n(defmethod a ((x c)) 2)\n";
        let tree = Tree::new(text, Dialect::COMMON_LISP);
        let found = |what| {
            find_top(&tree, what, Dialect::COMMON_LISP).map(|entry| entry.lines.start.get())
        };
        assert_eq!(found("defun a"), Ok(1));
        assert_eq!(found("defmethod a ((x b))"), Ok(2));
        assert_eq!(found("(defmethod a ((x c)))"), Ok(4));
        assert!(matches!(found("defmethod a"), Err(NoSuchTop::Several(at)) if at.len() == 2));
        assert!(matches!(found("a"), Err(NoSuchTop::Several(at)) if at.len() == 3));
        assert_eq!(found("nope"), Err(NoSuchTop::None));
        assert_eq!(found(""), Err(NoSuchTop::None));
    }
}
