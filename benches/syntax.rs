//! The balance of large texts, and repairs of the kind that are met and of the worst that were found.
//!
//! `cargo bench --bench syntax`. Bounds: check at 150 MB/s; a fault in a 40-line edit of a 2 MiB text
//! repaired in 20 ms; anything in 100 ms.

use std::fmt::Write as _;

use divan::Bencher;
use divan::counter::BytesCount;
use killick::syntax::{Check, Dialect, Hunk, LineRange, Repair, balance, check, repair};

fn main() {
    divan::main();
}

const MIB: usize = 1 << 20;

/// Functions of six lines, about this many bytes of them.
fn source(n_bytes: usize) -> String {
    let mut text = String::new();
    let mut nth = 0;
    while text.len() < n_bytes {
        nth += 1;
        let _ = write!(
            text,
            ";;; The {nth}th of many (with a \"quote and a paren\n(defun function-{nth} (x &key (y 1))\n  \
             \"Returns what (the\nothers do not.\"\n  (let ((a (car x)) ; why (not\n        (b '(#\\( |odd (| {nth})))\n    \
             (when (and a b)\n      (list a b x (+ y {nth})))))\n\n"
        );
    }
    text
}

struct Edit {
    old: String,
    new: String,
    hunk: Hunk,
    checked: Check,
}

/// Replaces lines of a text.
fn edit(old: String, start: usize, end: usize, lines: &str) -> Edit {
    let all: Vec<&str> = old.split_inclusive('\n').collect();
    let new = [&*all[..start].concat(), lines, &*all[end..].concat()].concat();
    let hunk = Hunk {
        old: LineRange::from_indices(start, end),
        new: LineRange::from_indices(start, start + lines.split_inclusive('\n').count()),
    };
    let checked = check(Some(&old), &new, Dialect::COMMON_LISP);
    Edit { old, new, hunk, checked }
}

fn run(edit: &Edit) -> Repair {
    repair(&edit.checked, Some(&edit.old), &edit.new, Dialect::COMMON_LISP, &[edit.hunk])
}

#[divan::bench(args = ["common-lisp", "scheme", "racket", "emacs-lisp", "clojure"])]
fn lex_and_check(bencher: Bencher<'_, '_>, name: &str) {
    let Some(dialect) = Dialect::named(name) else { return };
    let text = source(2 * MIB);
    bencher.counter(BytesCount::of_str(&text)).bench(|| balance(&text, dialect));
}

/// Forty lines in the middle, or at the end, of two mebibytes, one closer lost.
#[divan::bench(args = [0.5, 0.99])]
fn forty_lines(bencher: Bencher<'_, '_>, place: f64) {
    let old = source(2 * MIB);
    let n_lines = old.matches('\n').count();
    let start = (n_lines / 9) * if place > 0.6 { 98 } else { 50 } / 100 * 9;
    let lines: Vec<&str> = old.split_inclusive('\n').skip(start).take(40).collect();
    let lines = lines
        .concat()
        .replace("(when (and a b)", "(when (or a b")
        .replacen("(or a b", "(or a b)", 3);
    let edit = edit(old, start, start + 40, &lines);
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn a_quote_lost_in_forty_lines(bencher: Bencher<'_, '_>) {
    let old = source(2 * MIB);
    let start = old.matches('\n').count() / 9 * 98 / 100 * 9;
    let lines: Vec<&str> = old.split_inclusive('\n').skip(start).take(40).collect();
    let lines = lines.concat().replacen("others do not.\"", "others do.", 1);
    let edit = edit(old, start, start + 40, &lines);
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn unclosed_string_on_line_1_and_50_000_openers(bencher: Bencher<'_, '_>) {
    let old = format!("(f \"a\")\n{}{}\n", "(\n".repeat(50_000), ")\n".repeat(50_000));
    let edit = edit(old, 0, 1, "(g \"a)\n");
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn fifty_thousand_openers_in_the_edit(bencher: Bencher<'_, '_>) {
    let edit = edit("(a)\n".to_owned(), 0, 1, &"(b\n".repeat(50_000));
    bencher.bench(|| run(&edit));
}

/// As many items as are searched, no two neighbouring lines at one column.
fn ragged(line: &str, n_lines: usize) -> String {
    (0..n_lines).fold(String::new(), |mut text, nth| {
        let _ = writeln!(text, "{}{line}", " ".repeat(nth * 5 % 37));
        text
    })
}

#[divan::bench]
fn as_many_closers_as_are_searched(bencher: Bencher<'_, '_>) {
    let edit = edit("(a)\n".to_owned(), 0, 1, &ragged("(b c)) d", 1_820));
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn as_many_openers_as_are_searched(bencher: Bencher<'_, '_>) {
    let edit = edit("(a)\n".to_owned(), 0, 1, &ragged("(b (c d", 2_190));
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn a_quote_lost_in_as_many_items_as_are_searched(bencher: Bencher<'_, '_>) {
    let old = ragged("(b \"c\" (d))", 1_560);
    let n_lines = old.matches('\n').count();
    let new = old.replacen("\"c\"", "\"c", 20).replacen("\"c (", "\"c\" (", 19);
    let edit = edit(old, 0, n_lines, &new);
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn one_line_of_two_mebibytes(bencher: Bencher<'_, '_>) {
    let line = |last: &str| format!("(a {}{last}\n", "(b) ".repeat(MIB / 2));
    let edit = edit(line(")"), 0, 1, &line(""));
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn deep_inside_fifty_thousand_forms(bencher: Bencher<'_, '_>) {
    let open = "(a ".repeat(50_000);
    let old = format!("{open}\n(b c)\n{}\n", ")".repeat(50_000));
    let edit = edit(old, 1, 2, "(b d\n");
    bencher.bench(|| run(&edit));
}

#[divan::bench]
fn a_whole_file_rewritten(bencher: Bencher<'_, '_>) {
    let old = source(36_000);
    let new = source(45_000).replacen("(when (and a b)", "(when (and a b", 1);
    let n_lines = old.matches('\n').count();
    let edit = edit(old, 0, n_lines, &new);
    bencher.bench(|| run(&edit));
}
