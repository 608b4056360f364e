//! Tokens to a tree, losslessly: every form with its place, trivia in the gaps between them.
//!
//! The tree is an arena in text order. It is built without recursion, so depth is bounded by the text
//! alone, and it never fails: an opener without a closer holds everything to the end of the text, a
//! closer of another type closes what is open, and one without an opener is a [`NodeKind::Stray`].
//!
//! Invariant: a node's descendants follow it directly, up to its `after`.

use super::dialect::Dialect;
use super::lexer::{Delim, Lexer, Prefix, Span, Token, TokenKind, Unclosed};

/// A node's place in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(usize);

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// What a pair of delimiters holds.
    List(Delim),
    /// A prefix and the data that it takes; fewer than it wants where a closer or the end came first.
    Prefixed(Prefix),
    /// A symbol, number, keyword or character.
    Atom,
    /// A string.
    String,
    /// A token that never ends.
    Unclosed(Unclosed),
    /// A closer without an opener.
    Stray(Delim),
}

/// One form of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// From its first byte to just past its last one, delimiters and prefixes included.
    pub span: Span,
    /// The bytes of its first token: the opener, the prefix, or the whole atom.
    pub head: Span,
    /// The node that holds it; nothing at top level.
    pub parent: Option<NodeId>,
    after: usize,
}

/// A text's forms.
#[derive(Clone, Debug)]
pub struct Tree<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    nodes: Vec<Node>,
}

impl<'t> Tree<'t> {
    /// Reads a text.
    ///
    /// Cost: linear in the text, whatever it is.
    pub fn new(text: &'t str, dialect: &'static Dialect) -> Self {
        let tokens: Vec<Token> = Lexer::new(text, dialect).collect();
        let mut builder = Builder { nodes: Vec::new(), open: Vec::new() };
        for token in &tokens {
            builder.take(*token);
        }
        Self { text, tokens, nodes: builder.finish() }
    }

    /// Returns the text that was read.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns every token, trivia included.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns a node of this tree.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// Returns the text of a node.
    pub fn text_of(&self, id: NodeId) -> &'t str {
        self.node(id).span.of(self.text)
    }

    /// Returns the forms that no form holds, in order.
    pub fn top(&self) -> Children<'_> {
        Children { nodes: &self.nodes, at: 0, end: self.nodes.len() }
    }

    /// Returns the forms that a node holds directly, in order.
    pub fn children(&self, id: NodeId) -> Children<'_> {
        Children { nodes: &self.nodes, at: id.0 + 1, end: self.node(id).after }
    }

    /// Returns a node and all that it holds, in text order.
    pub fn within(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (id.0..self.node(id).after).map(NodeId)
    }

    /// Returns how many nodes a node holds, itself included.
    pub(super) fn size(&self, id: NodeId) -> usize {
        self.node(id).after - id.0
    }

    /// Returns the innermost list that holds a byte, delimiters not included.
    pub(super) fn list_around(&self, at: usize) -> Option<NodeId> {
        let mut found = None;
        let mut level = self.top();
        'down: loop {
            for id in level {
                let node = self.node(id);
                if node.span.start >= at {
                    break 'down;
                }
                if at < node.span.end && self.size(id) > 0 {
                    if matches!(node.kind, NodeKind::List(_)) {
                        found = Some(id);
                    }
                    level = self.children(id);
                    continue 'down;
                }
            }
            break;
        }
        found
    }

    /// Returns all nodes in text order.
    pub fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }
}

/// Nodes side by side.
#[derive(Clone, Debug)]
pub struct Children<'a> {
    nodes: &'a [Node],
    at: usize,
    end: usize,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let id = self.at;
        if id >= self.end {
            return None;
        }
        self.at = self.nodes[id].after;
        Some(NodeId(id))
    }
}

/// A node that is not finished, and for a prefix how many data it still takes.
struct Frame {
    node: usize,
    takes: Option<u8>,
}

struct Builder {
    nodes: Vec<Node>,
    open: Vec<Frame>,
}

impl Builder {
    fn take(&mut self, token: Token) {
        match token.kind {
            TokenKind::Blank | TokenKind::LineComment | TokenKind::BlockComment => {}
            TokenKind::Open(delim) => self.open(NodeKind::List(delim), token.span, None),
            TokenKind::Prefix(prefix) => {
                let takes = match prefix {
                    Prefix::Quote | Prefix::Discard => 1,
                    Prefix::Pair => 2,
                };
                self.open(NodeKind::Prefixed(prefix), token.span, Some(takes));
            }
            TokenKind::Close(delim) => self.close(delim, token.span),
            TokenKind::Atom => self.leaf(NodeKind::Atom, token.span),
            TokenKind::String => self.leaf(NodeKind::String, token.span),
            TokenKind::Unclosed(what) => self.leaf(NodeKind::Unclosed(what), token.span),
        }
    }

    fn push(&mut self, kind: NodeKind, span: Span) -> usize {
        let node = self.nodes.len();
        let parent = self.open.last().map(|frame| NodeId(frame.node));
        self.nodes.push(Node { kind, span, head: span, parent, after: node + 1 });
        node
    }

    fn open(&mut self, kind: NodeKind, span: Span, takes: Option<u8>) {
        let node = self.push(kind, span);
        self.open.push(Frame { node, takes });
    }

    fn leaf(&mut self, kind: NodeKind, span: Span) {
        self.push(kind, span);
        self.completed(span.end);
    }

    /// Ends the unfinished node on top of the stack.
    fn end(&mut self, at: usize) {
        if let Some(frame) = self.open.pop() {
            let after = self.nodes.len();
            let node = &mut self.nodes[frame.node];
            node.span.end = at;
            node.after = after;
        }
    }

    /// Counts a datum that ended at `at` for the prefixes that wait for one.
    fn completed(&mut self, at: usize) {
        while let Some(Frame { node, takes: Some(takes) }) = self.open.last_mut() {
            *takes -= 1;
            if *takes > 0 {
                return;
            }
            let discarded = self.nodes[*node].kind == NodeKind::Prefixed(Prefix::Discard);
            self.end(at);
            if discarded {
                return;
            }
        }
    }

    /// Ends the prefixes on top that got too few data, each just past what it has.
    fn abandon_prefixes(&mut self) {
        while let Some(Frame { node, takes: Some(_) }) = self.open.last() {
            let at = self.reach(*node);
            self.end(at);
        }
    }

    /// Returns where the last thing below an unfinished node ends.
    fn reach(&self, node: usize) -> usize {
        self.nodes
            .last()
            .map_or(self.nodes[node].span.end, |last| last.span.end)
            .max(self.nodes[node].span.end)
    }

    fn close(&mut self, delim: Delim, span: Span) {
        self.abandon_prefixes();
        if self.open.is_empty() {
            self.push(NodeKind::Stray(delim), span);
        } else {
            self.end(span.end);
            self.completed(span.end);
        }
    }

    fn finish(mut self) -> Vec<Node> {
        let end = self.nodes.iter().map(|node| node.span.end).max().unwrap_or(0);
        while !self.open.is_empty() {
            self.abandon_prefixes();
            self.end(end);
        }
        self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str, dialect: &'static Dialect) -> String {
        let tree = Tree::new(text, dialect);
        let mut out = String::new();
        let mut rest: Vec<_> = tree.top().map(|id| (0, id)).collect();
        rest.reverse();
        while let Some((depth, id)) = rest.pop() {
            let line =
                format!("{}{}\n", " ".repeat(depth), tree.text_of(id).replace('\n', "/"));
            out.push_str(&line);
            let mut children: Vec<_> = tree.children(id).map(|id| (depth + 1, id)).collect();
            children.reverse();
            rest.extend(children);
        }
        out
    }

    #[test]
    fn a_feature_test_and_its_form_are_one_form() {
        assert_eq!(
            shape("#+sbcl (a) b", Dialect::COMMON_LISP),
            "#+sbcl (a)\n sbcl\n (a)\n  a\nb\n"
        );
    }

    #[test]
    fn a_discard_inside_a_discard_takes_two() {
        assert_eq!(shape("#_ #_ a b c", Dialect::CLOJURE), "#_ #_ a b\n #_ a\n  a\n b\nc\n");
    }

    #[test]
    fn a_prefix_before_a_closer_takes_nothing() {
        assert_eq!(shape("(a ') b", Dialect::SCHEME), "(a ')\n a\n '\nb\n");
    }

    #[test]
    fn what_never_closes_holds_the_rest() {
        assert_eq!(shape("(a (b) c", Dialect::SCHEME), "(a (b) c\n a\n (b)\n  b\n c\n");
        assert_eq!(shape(") a", Dialect::SCHEME), ")\na\n");
    }

    #[test]
    fn depth_is_bounded_by_the_text_alone() {
        let deep = "(".repeat(200_000);
        let tree = Tree::new(&deep, Dialect::EMACS_LISP);
        assert_eq!(tree.top().count(), 1);
        assert_eq!(tree.all().count(), 200_000);
    }
}
