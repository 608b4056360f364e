//! One line after the other: the column at which each begins, from the lines above as they then stand.
//!
//! Lines that begin inside a string, lines with nothing on them and comments of one or three semicolons
//! stay as they are.

use memchr::{memchr_iter, memrchr};

use super::super::check::LineRange;
use super::super::dialect::Dialect;
use super::super::lexer::{Delim, Prefix, Span, TokenKind};
use super::super::tree::{NodeId, NodeKind, Tree};
use super::rules::{IndentRules, Style};

/// Returns the text with the lines of a range indented by convention.
///
/// Cost: one pass over the text, and for each line the depth and width of the forms around it.
pub fn reindent(
    text: &str,
    dialect: &'static Dialect,
    rules: &IndentRules,
    lines: LineRange,
) -> String {
    let tree = Tree::new(text, dialect);
    let mut page = Page { tree: &tree, rules, dialect, starts: vec![0], shifts: Vec::new() };
    page.starts.extend(memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1));
    page.shifts = vec![0; page.starts.len()];
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for line in lines.start.index()..lines.end.index().min(page.starts.len()) {
        let Some((start, first)) = page.first_on(line) else { continue };
        let wanted = page.column_for(first);
        let had = page.raw_column(first);
        page.shifts[line] = signed(wanted) - signed(had);
        out.push_str(Span { start: at, end: start }.of(text));
        out.push_str(&" ".repeat(wanted));
        at = first;
    }
    out.push_str(Span { start: at, end: text.len() }.of(text));
    out
}

fn signed(column: usize) -> isize {
    isize::try_from(column).unwrap_or(isize::MAX)
}

/// A text whose lines are being moved.
struct Page<'a> {
    tree: &'a Tree<'a>,
    rules: &'a IndentRules,
    dialect: &'static Dialect,
    starts: Vec<usize>,
    /// By how many columns each line has been moved so far.
    shifts: Vec<isize>,
}

impl Page<'_> {
    fn text(&self) -> &str {
        self.tree.text()
    }

    /// Returns where a line and its first token begin, if the line is one that may move.
    fn first_on(&self, line: usize) -> Option<(usize, usize)> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text().len());
        let content = Span { start, end }.of(self.text());
        let blank = content.len() - content.trim_start_matches([' ', '\t']).len();
        let first = start + blank;
        let token_at = |at: usize| {
            let next = self.tree.tokens().partition_point(|token| token.span.start <= at);
            self.tree.tokens().get(next.checked_sub(1)?)
        };
        let token = token_at(first)?;
        let follows_blank = start == 0 || token_at(start - 1)?.kind == TokenKind::Blank;
        let moves = match token.kind {
            TokenKind::Blank => false,
            TokenKind::LineComment => {
                let text = token.span.of(self.text());
                text.starts_with(";;") && !text.starts_with(";;;")
            }
            TokenKind::BlockComment
            | TokenKind::Prefix(_)
            | TokenKind::Open(_)
            | TokenKind::Close(_)
            | TokenKind::String
            | TokenKind::Atom
            | TokenKind::Unclosed(_) => true,
        };
        (moves && follows_blank && token.span.start == first).then_some((start, first))
    }

    /// The column of a byte in the text as it came; tabs go to multiples of eight.
    fn raw_column(&self, at: usize) -> usize {
        let start = memrchr(b'\n', &self.text().as_bytes()[..at]).map_or(0, |n| n + 1);
        let before = Span { start, end: at }.of(self.text());
        let before = before.trim_start_matches('\u{FEFF}').chars();
        before.fold(0, |col, c| if c == '\t' { (col / 8 + 1) * 8 } else { col + 1 })
    }

    /// The column of a byte as the lines now stand.
    fn column(&self, at: usize) -> usize {
        let line = self.starts.partition_point(|&start| start <= at) - 1;
        self.raw_column(at).saturating_add_signed(self.shifts[line])
    }

    fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at)
    }

    /// Returns the column for the token that begins a line.
    fn column_for(&self, first: usize) -> usize {
        let Some(list) = self.tree.list_around(first) else { return 0 };
        let open = self.column(self.tree.node(list).head.start);
        let elements: Vec<NodeId> = self.tree.children(list).collect();
        let before: Vec<NodeId> =
            elements.into_iter().filter(|&id| self.tree.node(id).span.start < first).collect();
        let Some((&head, arguments)) = before.split_first() else { return open + 1 };
        let is_round = self.tree.node(list).kind == NodeKind::List(Delim::Round);
        let named = self.tree.node(head).kind == NodeKind::Atom;
        if !is_round || !named || self.is_data(list) {
            return open + 1;
        }
        match self.style(list, head) {
            Style::Call | Style::Clauses(0) => self.call(open, head, arguments),
            Style::Clause => open + 1,
            Style::Loop => self.clause(open, arguments, first),
            Style::Body(n) | Style::Clauses(n) | Style::Methods(n) => {
                self.body(open, usize::from(n), head, arguments)
            }
            Style::Functions => self.body(open, 1, head, arguments),
            Style::Let => {
                let named = arguments
                    .first()
                    .is_some_and(|&name| self.tree.node(name).kind == NodeKind::Atom);
                self.body(open, if named { 2 } else { 1 }, head, arguments)
            }
        }
    }

    /// Under the first argument where that stands beside the head.
    fn call(&self, open: usize, head: NodeId, arguments: &[NodeId]) -> usize {
        match arguments.first().map(|&id| self.tree.node(id).span.start) {
            Some(first) if self.line_of(first) == self.line_of(self.end_of(head)) => {
                self.column(first)
            }
            Some(_) | None => open + 1,
        }
    }

    fn body(&self, open: usize, n_special: usize, head: NodeId, arguments: &[NodeId]) -> usize {
        let clojure = self.dialect.name == "clojure";
        if arguments.len() >= n_special || clojure && arguments.is_empty() {
            open + 2
        } else if clojure {
            self.call(open, head, arguments)
        } else {
            open + 4
        }
    }

    /// A line of `loop`: a clause under the first one, and a clause's further forms under its first.
    fn clause(&self, open: usize, arguments: &[NodeId], first: usize) -> usize {
        let words = |id: NodeId| {
            let node = self.tree.node(id);
            (node.kind == NodeKind::Atom).then(|| loop_word(self.tree.text_of(id))).flatten()
        };
        let Some(&opening) = arguments.first() else { return open + 2 };
        if words(opening).is_none() {
            return open + 2;
        }
        let begins = self.tree.all().find(|&id| self.tree.node(id).span.start == first);
        let word = begins.and_then(words);
        let lined_up = self.column(self.tree.node(opening).span.start);
        if word == Some(LoopWord::Clause) {
            return lined_up;
        }
        let last = arguments.iter().rposition(|&id| words(id) == Some(LoopWord::Clause));
        let subject = last.and_then(|at| arguments.get(at + 1));
        subject.map_or_else(|| lined_up + 2, |&id| self.column(self.tree.node(id).span.start))
    }

    fn end_of(&self, id: NodeId) -> usize {
        self.tree.node(id).span.end.saturating_sub(1)
    }

    /// Whether a list is quoted, and so has no head.
    fn is_data(&self, list: NodeId) -> bool {
        self.tree.node(list).parent.is_some_and(|parent| {
            let node = self.tree.node(parent);
            let prefix = node.head.of(self.text());
            node.kind == NodeKind::Prefixed(Prefix::Quote)
                && matches!(prefix, "'" | "#" | "#?" | "#?@")
                && !(prefix == "#" && self.dialect.name == "clojure")
        })
    }

    /// The style of a list by its head, or by its place in the form around it.
    fn style(&self, list: NodeId, head: NodeId) -> Style {
        if let Some(style) = self.placed(list) {
            return style;
        }
        self.rules.style(self.tree.text_of(head))
    }

    /// The style that a list has because of where it stands: a clause, a method, a local function.
    fn placed(&self, list: NodeId) -> Option<Style> {
        let parent = self.tree.node(list).parent?;
        if let Some(style) = self.style_of(parent) {
            let nth = self.tree.children(parent).position(|id| id == list)?;
            return match style {
                Style::Clauses(n) if nth > usize::from(n) => Some(Style::Clause),
                Style::Methods(n) if nth > usize::from(n) => Some(Style::Body(1)),
                Style::Clauses(_)
                | Style::Methods(_)
                | Style::Call
                | Style::Clause
                | Style::Body(_)
                | Style::Functions
                | Style::Loop
                | Style::Let => None,
            };
        }
        let holder = self.tree.node(parent).parent?;
        let local = self.style_of(holder) == Some(Style::Functions)
            && self.tree.children(holder).nth(1) == Some(parent);
        local.then_some(Style::Body(1))
    }

    /// The style of a list with a name at its head.
    fn style_of(&self, list: NodeId) -> Option<Style> {
        let node = self.tree.node(list);
        let head = self.tree.children(list).next()?;
        let named = matches!(node.kind, NodeKind::List(Delim::Round))
            && self.tree.node(head).kind == NodeKind::Atom;
        named.then(|| self.rules.style(self.tree.text_of(head)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LoopWord {
    /// It begins a clause.
    Clause,
    /// It goes on with one.
    Inner,
}

fn loop_word(text: &str) -> Option<LoopWord> {
    const CLAUSES: [&str; 34] = [
        "for",
        "as",
        "with",
        "repeat",
        "while",
        "until",
        "always",
        "never",
        "thereis",
        "do",
        "doing",
        "collect",
        "collecting",
        "append",
        "appending",
        "nconc",
        "nconcing",
        "sum",
        "summing",
        "count",
        "counting",
        "maximize",
        "maximizing",
        "minimize",
        "minimizing",
        "return",
        "if",
        "when",
        "unless",
        "else",
        "end",
        "initially",
        "finally",
        "named",
    ];
    const INNER: [&str; 18] = [
        "and", "in", "on", "=", "then", "from", "to", "below", "above", "by", "across",
        "being", "into", "downto", "upto", "downfrom", "upfrom", "using",
    ];
    let bare = text.trim_start_matches(':').to_ascii_lowercase();
    if CLAUSES.contains(&bare.as_str()) {
        Some(LoopWord::Clause)
    } else {
        INNER.contains(&bare.as_str()).then_some(LoopWord::Inner)
    }
}
