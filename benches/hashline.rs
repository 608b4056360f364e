//! Resolve and apply: 1 and 1,000 ops on 10,000, 40,000 and 160,000 lines, on the content that was seen and
//! on one that another program changed.

#![expect(clippy::expect_used, reason = "a bench stops where its own input is wrong")]

use divan::{Bencher, counter::ItemsCount};
use killick::hashline::anchor::anchor;
use killick::hashline::seen::{Scope, Seen, Sight};
use killick::hashline::{
    Echoes, FilePatch, Op, Options, Relocation, Subject, Target, apply, grammar, report,
    resolve,
};
use killick::path::{Place, RelPath};
use killick::text::{LineNo, Snapshot};

fn main() {
    divan::main();
}

const OPTIONS: Options = Options { relocation: Relocation::Refuse, echoes: Echoes::Refuse };

/// Lines as in source: most are unique, every fourth has twins; 52 bytes each.
fn text(n_lines: usize) -> String {
    (0..n_lines)
        .map(|n| match n % 4 {
            3 => "    }\n".to_owned(),
            _ => format!(
                "    let value_{n:06} = compute(value_{:06}, {:05}); // x\n",
                n / 2,
                n % 997
            ),
        })
        .collect()
}

fn setting(n_lines: usize, n_ops: usize) -> (Snapshot, Seen, FilePatch) {
    let now = Snapshot::new(text(n_lines).as_bytes()).expect("text");
    let mut seen = Seen::default();
    seen.saw(&Sight {
        digest: now.digest(),
        lines: now.line_digests().clone(),
        scope: Scope::Whole,
        whole: vec![(LineNo::FIRST, now.last_line().expect("lines"))],
        clipped: Vec::new(),
    });
    let op = |n: usize| {
        let line = LineNo::from_index(n_lines / (n_ops + 1) * (n + 1));
        let at = anchor(&now, line).expect("in range");
        let target = Target::Replace(at, at);
        Op { target, payload: vec!["one".to_owned(), "two".to_owned()], patch_line: 1 }
    };
    let ops = (0..n_ops).map(op).collect();
    let place = Place::in_workspace(RelPath::parse("a.rs").expect("a path"));
    (now, seen, FilePatch { place, ops })
}

const SIZES: [(usize, usize); 6] = [
    (10_000, 1),
    (40_000, 1),
    (160_000, 1),
    (10_000, 1_000),
    (40_000, 1_000),
    (160_000, 1_000),
];

#[divan::bench(args = SIZES)]
fn seen_content(bencher: Bencher<'_, '_>, (n_lines, n_ops): (usize, usize)) {
    let (now, seen, patch) = setting(n_lines, n_ops);
    bencher.counter(ItemsCount::new(n_lines)).bench(|| {
        let subject = Subject { patch: &patch, now: &now, seen: &seen, since: &[] };
        let drafts = apply(resolve(&[subject], OPTIONS).expect("it holds"));
        (report::success(&drafts[0], report::Verb::Edited), drafts)
    });
}

#[divan::bench(args = SIZES)]
fn content_changed_elsewhere(bencher: Bencher<'_, '_>, (n_lines, n_ops): (usize, usize)) {
    let (now, seen, patch) = setting(n_lines, n_ops);
    let changed = now.text().to_owned() + "a line of another program\n";
    let now = Snapshot::new(changed.as_bytes()).expect("text");
    bencher.counter(ItemsCount::new(n_lines)).bench(|| {
        let subject = Subject { patch: &patch, now: &now, seen: &seen, since: &[] };
        apply(resolve(&[subject], OPTIONS).expect("it holds"))
    });
}

#[divan::bench(args = [1_000, 4_000, 16_000])]
fn parse(bencher: Bencher<'_, '_>, n_ops: usize) {
    let ops: Vec<String> =
        (1..=n_ops).map(|n| format!("= {n}:0a..{n}:0a\n~payload {n}\n")).collect();
    let patch = format!("@@ a.rs\n{}", ops.concat());
    bencher.bench(|| grammar::parse(&patch).expect("a patch"));
}
