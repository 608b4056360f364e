//! Forms as forms: reading one, finding it, replacing it, deleting it.
//!
//! Two forms match when their structure is the same and their atoms, strings and prefixes have the same
//! text; white space and comments never count. Nothing outside the forms that are named is changed but one
//! separator where a form is deleted, and the indentation of a new form's own lines.

use super::balance::{Diagnostic, balance};
use super::check::LineRange;
use super::dialect::Dialect;
use super::indent::{IndentRules, reindent};
use super::lexer::{Delim, Prefix, Span, Token, TokenKind};
use super::tree::{NodeId, NodeKind, Tree};

/// Why a text is not one form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// The text holds no form.
    #[error("there is no form in it")]
    Empty,
    /// The text holds more than one form.
    #[error("it holds {0} forms, not one")]
    Several(usize),
    /// The text is not balanced.
    #[error("it is not balanced: {0}")]
    Unbalanced(Diagnostic),
}

/// A text that is exactly one form.
#[derive(Clone, Debug)]
pub struct Form<'t> {
    tree: Tree<'t>,
    root: NodeId,
}

impl<'t> Form<'t> {
    /// Reads a text that holds one form, with white space and comments around it.
    pub fn parse(text: &'t str, dialect: &'static Dialect) -> Result<Self, FormError> {
        if let Some(fault) = balance(text, dialect).first() {
            return Err(FormError::Unbalanced(*fault));
        }
        let tree = Tree::new(text, dialect);
        let roots: Vec<NodeId> = tree.top().collect();
        match roots.as_slice() {
            [] => Err(FormError::Empty),
            &[root] => Ok(Self { tree, root }),
            several => Err(FormError::Several(several.len())),
        }
    }

    /// Returns the form's text, without what stands around it.
    pub fn text(&self) -> &'t str {
        self.tree.text_of(self.root)
    }

    /// Returns whether a node of another text is the same form.
    pub fn is(&self, tree: &Tree<'_>, id: NodeId) -> bool {
        same(&self.tree, self.root, tree, id)
    }
}

/// Returns whether two nodes are the same form.
pub(super) fn same(a: &Tree<'_>, a_id: NodeId, b: &Tree<'_>, b_id: NodeId) -> bool {
    let (mut a_nodes, mut b_nodes) = (a.within(a_id), b.within(b_id));
    loop {
        match (a_nodes.next(), b_nodes.next()) {
            (None, None) => return true,
            (Some(a_node), Some(b_node)) => {
                if a.size(a_node) != b.size(b_node) || !alike(a, a_node, b, b_node) {
                    return false;
                }
            }
            (Some(_), None) | (None, Some(_)) => return false,
        }
    }
}

fn alike(a: &Tree<'_>, a_id: NodeId, b: &Tree<'_>, b_id: NodeId) -> bool {
    let (a_node, b_node) = (a.node(a_id), b.node(b_id));
    a_node.kind == b_node.kind && a_node.head.of(a.text()) == b_node.head.of(b.text())
}

/// Returns the forms of a text that match, first to last; only those inside `within` where that is given.
///
/// Cost: linear in the text, times the length of what they have in common.
pub fn find(tree: &Tree<'_>, form: &Form<'_>, within: Option<NodeId>) -> Vec<NodeId> {
    let all: Vec<NodeId> = match within {
        Some(top) => tree.within(top).collect(),
        None => tree.all().collect(),
    };
    all.into_iter().filter(|&id| form.is(tree, id)).collect()
}

/// A text with forms replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The whole text.
    pub text: String,
    /// Where the new forms stand in it.
    pub spans: Vec<Span>,
}

/// Puts a new form in the place of each form, and indents its continuation lines where it then stands.
///
/// `ids` are nodes of `tree` in text order, none inside another. Everything else keeps its bytes.
pub fn replace(
    tree: &Tree<'_>,
    ids: &[NodeId],
    new: &Form<'_>,
    dialect: &'static Dialect,
    rules: &IndentRules,
) -> Replaced {
    let mut out = Replaced { text: String::new(), spans: Vec::new() };
    let mut at = 0;
    let ending = if tree.text().contains("\r\n") { "\r\n" } else { "\n" };
    let form = new.text().replace("\r\n", "\n").replace('\n', ending);
    for &id in ids {
        let span = tree.node(id).span;
        out.text.push_str(Span { start: at, end: span.start }.of(tree.text()));
        let start = out.text.len();
        out.text.push_str(&form);
        out.spans.push(Span { start, end: out.text.len() });
        at = span.end;
    }
    out.text.push_str(Span { start: at, end: tree.text().len() }.of(tree.text()));
    indent_spans(&mut out, dialect, rules);
    out
}

/// Indents the lines of each new form but its first, and moves the spans along.
fn indent_spans(out: &mut Replaced, dialect: &'static Dialect, rules: &IndentRules) {
    for nth in 0..out.spans.len() {
        let span = out.spans[nth];
        if !span.of(&out.text).contains('\n') {
            continue;
        }
        let line_of =
            |at: usize| memchr::memchr_iter(b'\n', &out.text.as_bytes()[..at]).count();
        let lines = LineRange::from_indices(line_of(span.start) + 1, line_of(span.end) + 1);
        let text = reindent(&out.text, dialect, rules, lines);
        let (before, after) = (out.text.len(), text.len());
        out.spans[nth].end = span.end + after - before;
        for later in &mut out.spans[nth + 1..] {
            later.start = later.start + after - before;
            later.end = later.end + after - before;
        }
        out.text = text;
    }
}

/// Takes forms out, each with one separator, and with the prefix or the dot that would have nothing left
/// to do.
///
/// `ids` are nodes of `tree` in text order, none inside another.
pub fn delete(tree: &Tree<'_>, ids: &[NodeId]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for &id in ids {
        let gone = gap(tree, whole(tree, id));
        let dot = dot(tree, id).map(|dot| gap(tree, dot));
        let mut gone = [Some(gone), dot];
        gone.sort_by_key(|span| span.map(|span| span.start));
        for span in gone.into_iter().flatten() {
            text.push_str(Span { start: at, end: span.start.max(at) }.of(tree.text()));
            at = span.end.max(at);
        }
    }
    text.push_str(Span { start: at, end: tree.text().len() }.of(tree.text()));
    text
}

/// Returns the dot of a pair that has nothing left on one of its sides without this form.
fn dot(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    tail_dot(tree, id).or_else(|| {
        let id = whole(tree, id);
        let mut children = tree.children(tree.node(id).parent?);
        let only = children.next()? == id;
        children.next().filter(|&dot| only && is_dot(tree, dot))
    })
}

/// Returns the dot of a pair whose tail is this form: without its tail the pair is a list.
pub fn tail_dot(tree: &Tree<'_>, id: NodeId) -> Option<NodeId> {
    let id = whole(tree, id);
    let parent = tree.node(id).parent?;
    if tree.node(parent).kind != NodeKind::List(Delim::Round) {
        return None;
    }
    let (mut before, mut dot) = (None, None);
    let mut children = tree.children(parent);
    for child in children.by_ref().take_while(|&child| child != id) {
        (before, dot) = (dot, Some(child));
    }
    dot.filter(|&dot| before.is_some() && is_dot(tree, dot) && children.next().is_none())
}

fn is_dot(tree: &Tree<'_>, id: NodeId) -> bool {
    tree.node(id).kind == NodeKind::Atom && tree.text_of(id) == "."
}

/// Returns the outermost prefixed form that is about this form alone.
fn whole(tree: &Tree<'_>, id: NodeId) -> NodeId {
    let mut id = id;
    while let Some(parent) = tree.node(id).parent {
        match tree.node(parent).kind {
            NodeKind::Prefixed(Prefix::Quote | Prefix::Pair | Prefix::Discard) => id = parent,
            NodeKind::List(_)
            | NodeKind::Atom
            | NodeKind::String
            | NodeKind::Unclosed(_)
            | NodeKind::Stray(_) => break,
        }
    }
    id
}

/// Returns what goes with a form: the white space before it, or after it where it is the first.
fn gap(tree: &Tree<'_>, id: NodeId) -> Span {
    let span = tree.node(id).span;
    let tokens = tree.tokens();
    let first = tokens.partition_point(|token| token.span.start < span.start);
    let next = tokens.partition_point(|token| token.span.start < span.end);
    let blank = |token: Option<&Token>| {
        token.filter(|token| token.kind == TokenKind::Blank).map(|token| token.span)
    };
    let before = first.checked_sub(1).and_then(|at| blank(tokens.get(at)));
    let after = blank(tokens.get(next));
    let neighbour = first.checked_sub(if before.is_some() { 2 } else { 1 });
    match neighbour.and_then(|at| tokens.get(at)).map(|token| token.kind) {
        None | Some(TokenKind::Open(_) | TokenKind::LineComment) => {
            Span { start: span.start, end: after.map_or(span.end, |blank| blank.end) }
        }
        Some(_) => {
            Span { start: before.map_or(span.start, |blank| blank.start), end: span.end }
        }
    }
}
