//! `grammar/hashline.ebnf` and `grammar/hashline.lark` accept exactly what the parse stage accepts.
//!
//! Both are read by one small reader and matched as automata, so that no third text of the language exists.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "functions that tests call: fixtures and grammars are files of the source tree"
)]

use std::collections::{BTreeMap, BTreeSet};

use killick::hashline::anchor::Anchor;
use killick::hashline::grammar::faults;
use killick::hashline::served::{ServedFile, served_grammar};
use killick::text::LineNo;
use proptest::prelude::*;

const EBNF: &str = include_str!("../../grammar/hashline.ebnf");
const LARK: &str = include_str!("../../grammar/hashline.lark");

/// What a rule is made of.
#[derive(Clone, Debug)]
enum Expr {
    Text(String),
    /// Characters, and whether the set is those or all others.
    Set(BTreeSet<char>, bool),
    Rule(String),
    Row(Vec<Self>),
    Choice(Vec<Self>),
    Repeat(Box<Self>, char),
}

/// How a grammar is written.
#[derive(Clone, Copy, PartialEq)]
enum Notation {
    W3c,
    Lark,
}

/// What a step takes: a set of characters, or all others; nothing for a step on no character.
type On = Option<(BTreeSet<char>, bool)>;

/// A recogniser: states with steps on characters and without.
#[derive(Default)]
struct Automaton {
    steps: Vec<Vec<(On, usize)>>,
    end: usize,
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    notation: Notation,
}

fn rules(text: &str, notation: Notation) -> BTreeMap<String, Expr> {
    let text = match text.split_once("*/") {
        Some((comment, rest)) if notation == Notation::W3c => {
            assert!(comment.starts_with("/*"));
            rest
        }
        _ => text,
    };
    let sign = if notation == Notation::W3c { "::=" } else { ":" };
    let mut joined: Vec<String> = Vec::new();
    for line in
        text.lines().filter(|l| !l.trim().is_empty() && !l.trim_start().starts_with("//"))
    {
        match joined.last_mut().filter(|_| line.starts_with(' ')) {
            Some(last) => last.push_str(line),
            None => joined.push(line.to_owned()),
        }
    }
    let rule = |line: String| {
        let (name, body) = line.split_once(sign).unwrap();
        let mut reader = Reader { chars: body.chars().peekable(), notation };
        let expr = reader.choice();
        assert_eq!(reader.chars.next(), None, "{line}");
        (name.trim().to_owned(), expr)
    };
    joined.into_iter().map(rule).collect()
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn choice(&mut self) -> Expr {
        let mut rows = vec![self.row()];
        while self.chars.next_if_eq(&'|').is_some() {
            rows.push(self.row());
        }
        Expr::Choice(rows)
    }

    fn row(&mut self) -> Expr {
        let mut items = Vec::new();
        loop {
            self.blanks();
            match self.chars.peek() {
                None | Some('|' | ')') => return Expr::Row(items),
                Some(_) => items.push(self.item()),
            }
        }
    }

    fn item(&mut self) -> Expr {
        let mut item = match *self.chars.peek().unwrap() {
            '(' => {
                self.chars.next();
                let inner = self.choice();
                assert_eq!(self.chars.next(), Some(')'));
                inner
            }
            '"' => self.text(),
            '[' => self.set(),
            '/' => {
                self.chars.next();
                let set = self.set();
                let plus = self.chars.next_if_eq(&'+').is_some();
                assert_eq!(self.chars.next(), Some('/'));
                if plus { Expr::Repeat(Box::new(set), '+') } else { set }
            }
            '#' => Expr::Text(self.code().to_string()),
            _ => {
                let mut name = String::new();
                while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                assert!(!name.is_empty(), "at {:?}", self.chars.peek());
                Expr::Rule(name)
            }
        };
        while let Some(sign) = self.chars.next_if(|c| matches!(c, '*' | '+' | '?')) {
            item = Expr::Repeat(Box::new(item), sign);
        }
        item
    }

    fn text(&mut self) -> Expr {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next().unwrap() {
                '"' => return Expr::Text(text),
                '\\' if self.notation == Notation::Lark => text.push(self.escaped()),
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self) -> char {
        match self.chars.next().unwrap() {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            c => c,
        }
    }

    fn code(&mut self) -> char {
        assert_eq!((self.chars.next(), self.chars.next()), (Some('#'), Some('x')));
        let mut code = 0;
        while let Some(digit) = self.chars.peek().and_then(|c| c.to_digit(16)) {
            self.chars.next();
            code = code * 16 + digit;
        }
        char::from_u32(code).unwrap()
    }

    fn set(&mut self) -> Expr {
        assert_eq!(self.chars.next(), Some('['));
        let others = self.chars.next_if_eq(&'^').is_some();
        let mut set = BTreeSet::new();
        loop {
            let c = match *self.chars.peek().unwrap() {
                ']' => {
                    self.chars.next();
                    return Expr::Set(set, others);
                }
                '#' if self.notation == Notation::W3c => self.code(),
                '\\' if self.notation == Notation::Lark => {
                    self.chars.next();
                    self.escaped()
                }
                c => {
                    self.chars.next();
                    c
                }
            };
            if self.chars.next_if_eq(&'-').is_some() {
                set.extend(c..=self.chars.next().unwrap());
            } else {
                set.insert(c);
            }
        }
    }
}

impl Automaton {
    fn new(rules: &BTreeMap<String, Expr>, start: &str) -> Self {
        let mut automaton = Self::default();
        let from = automaton.state();
        automaton.end = automaton.add(rules, &Expr::Rule(start.to_owned()), from);
        automaton
    }

    fn state(&mut self) -> usize {
        self.steps.push(Vec::new());
        self.steps.len() - 1
    }

    fn step(&mut self, from: usize, on: (BTreeSet<char>, bool)) -> usize {
        let to = self.state();
        self.steps[from].push((Some(on), to));
        to
    }

    fn add(&mut self, rules: &BTreeMap<String, Expr>, expr: &Expr, from: usize) -> usize {
        match expr {
            Expr::Text(text) => {
                text.chars().fold(from, |at, c| self.step(at, (BTreeSet::from([c]), false)))
            }
            Expr::Set(set, others) => self.step(from, (set.clone(), *others)),
            Expr::Rule(name) => {
                let rule = rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
                self.add(rules, rule, from)
            }
            Expr::Row(items) => items.iter().fold(from, |at, item| self.add(rules, item, at)),
            Expr::Choice(rows) => {
                let to = self.state();
                for row in rows {
                    let end = self.add(rules, row, from);
                    self.steps[end].push((None, to));
                }
                to
            }
            Expr::Repeat(inner, sign) => {
                let (start, to) = (self.state(), self.state());
                self.steps[from].push((None, start));
                let end = self.add(rules, inner, start);
                self.steps[end].push((None, to));
                if *sign != '+' {
                    self.steps[start].push((None, to));
                }
                if *sign != '?' {
                    self.steps[end].push((None, start));
                }
                to
            }
        }
    }

    fn close(&self, states: &mut BTreeSet<usize>) {
        let mut todo: Vec<usize> = states.iter().copied().collect();
        while let Some(state) = todo.pop() {
            for (on, to) in &self.steps[state] {
                if on.is_none() && states.insert(*to) {
                    todo.push(*to);
                }
            }
        }
    }

    fn accepts(&self, text: &str) -> bool {
        let mut states = BTreeSet::from([0]);
        self.close(&mut states);
        for c in text.chars() {
            let steps = states.iter().flat_map(|&state| &self.steps[state]);
            states = steps
                .filter(|(on, _)| {
                    on.as_ref().is_some_and(|(set, others)| set.contains(&c) != *others)
                })
                .map(|(_, to)| *to)
                .collect();
            self.close(&mut states);
        }
        states.contains(&self.end)
    }
}

fn parse_stage_accepts(text: &str) -> bool {
    faults(text)
        .map_or_else(|faults| faults.iter().all(|(_, fault)| !fault.is_syntax()), |_| true)
}

fn both() -> (Automaton, Automaton) {
    (
        Automaton::new(&rules(EBNF, Notation::W3c), "patch"),
        Automaton::new(&rules(LARK, Notation::Lark), "start"),
    )
}

fn corpus() -> Vec<String> {
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
    folders[0].push("tests/fixtures/hashline");
    let mut patches = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for section in text.split("\n=== ").filter(|section| section.starts_with("patch")) {
                let body = section.split_once('\n').map_or("", |(_, body)| body);
                patches.push(with_anchors(body));
            }
        }
    }
    patches
}

/// Puts some anchor in place of each placeholder; which one is no matter to the grammar.
fn with_anchors(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (word, after) = after.split_once("}}").unwrap();
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        out = out + before + &digits + ":0a";
        rest = after;
    }
    out + rest
}

#[test]
fn the_grammars_and_the_parser_agree_on_the_corpus() {
    let (ebnf, lark) = both();
    let (mut accepted, mut refused) = (0, 0);
    for patch in corpus() {
        let wanted = parse_stage_accepts(&patch);
        assert_eq!(ebnf.accepts(&patch), wanted, "ebnf: {patch:?}");
        assert_eq!(lark.accepts(&patch), wanted, "lark: {patch:?}");
        if wanted { accepted += 1 } else { refused += 1 }
    }
    assert!(accepted > 50 && refused > 15, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_served_grammar_has_only_served_anchors_for_words() {
    let anchor = |line, check| Anchor { line: LineNo::new(line).unwrap(), check };
    let file = |path: &str, anchors| ServedFile { path: path.to_owned(), anchors };
    let text = served_grammar(&[
        file("a \"b\".txt", vec![anchor(1, 0x64), anchor(12, 0x0f)]),
        file("empty.txt", Vec::new()),
    ]);
    let served = Automaton::new(&rules(&text, Notation::Lark), "start");
    let patches = [
        ("@@ a \"b\".txt\n= 1:64..12:0f\n~x\n~\n+ 12:0f\n~y\n@@ empty.txt\n+\n~z\n", true),
        ("@@ a \"b\".txt\n- 1:64..1:64", true),
        ("@@ a \"b\".txt\n- 1:64..2:64", false),
        ("@@ a \"b\".txt\n+ 1:65\n~x", false),
        ("@@ empty.txt\n+ 1:64\n~x", false),
        ("@@ other.txt\n+\n~x", false),
        ("@@ empty.txt\n+", false),
    ];
    for (patch, wanted) in patches {
        assert_eq!(served.accepts(patch), wanted, "{patch:?}\n{text}");
        assert!(!wanted || faults(patch).is_ok(), "{patch:?}");
    }
    assert!(Automaton::new(&rules(&served_grammar(&[]), Notation::Lark), "start").accepts(""));
}

/// Lines that are nearly, or quite, lines of a patch.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "@@ a\\.txt",
        1 => "@{1,3}[ \t]{0,2}[a@ ]{0,3}\r?",
        4 => "~[a~+\r ]{0,3}",
        3 => "[+<] ?([0-9]{1,2}:[0-9a-f]{2}[|]?)?[ \t]?",
        3 => "[-=] ?[0-9]{1,2}:[0-9a-f]{2}[|]?\\.\\.[0-9]{1,2}:[0-9a-f]{2}[|]? ?",
        1 => "[-+<=] ?[0-9]{0,2}:?[0-9a-fA]{1,3}[|]?(\\.{1,3}[0-9]{0,2}:?[0-9a-fA]{1,3}[|]?)?[ x]?",
        2 => "[ \t\r]{0,2}",
        1 => "[-+<=~@` \tx\r]{0,4}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_grammars_and_the_parser_agree(
        lines in prop::collection::vec(line(), 0..7), ending in "\n|\r\n", last in "(\n|\r\n|\r)?"
    ) {
        let (ebnf, lark) = both();
        let patch = lines.join(&ending) + &last;
        let wanted = parse_stage_accepts(&patch);
        prop_assert_eq!(ebnf.accepts(&patch), wanted, "ebnf: {:?} {:?}", &patch, faults(&patch));
        prop_assert_eq!(lark.accepts(&patch), wanted, "lark: {:?}", &patch);
    }
}
