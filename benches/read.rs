//! Reading a text: all lines hashed, a page rendered, and the whole file page by page.
//!
//! Sizes are 1, 4 and 16 times a text of 40,000 lines and 2 MiB, to show that the cost is linear.

use std::fmt::Write as _;

use divan::{Bencher, black_box};
use killick::hashline::anchor::{ROW_CHARS, push_row};
use killick::text::{LineNo, Snapshot};

fn main() {
    divan::main();
}

/// Returns a text of 40,000 lines and about 2 MiB, `times` over.
fn text(times: usize) -> Vec<u8> {
    let line = |n: usize| format!("  let value_{n:06} = compute(input, {n:>9}, st);\n");
    (0..40_000 * times).flat_map(|n| line(n).into_bytes()).collect()
}

fn page(snapshot: &Snapshot, from: usize) -> String {
    let mut rows = String::new();
    for index in (from..snapshot.n_lines()).take(1000) {
        push_row(&mut rows, snapshot, LineNo::from_index(index), ROW_CHARS);
        rows.push('\n');
    }
    rows
}

/// The peer: splits the text into lines and numbers the first thousand, as `cat -n` does; no hash.
#[divan::bench(args = [1, 4, 16])]
fn number_lines_without_hashes(bencher: Bencher<'_, '_>, times: usize) {
    let bytes = text(times);
    bencher.bench(|| {
        let text = std::str::from_utf8(black_box(&bytes)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let mut rows = String::new();
        for (n, line) in lines.iter().take(1000).enumerate() {
            let _ = writeln!(rows, "{n}\t{line}");
        }
        (lines.len(), rows)
    });
}

#[divan::bench(args = [1, 4, 16])]
fn hash_all_lines_and_render_a_page(bencher: Bencher<'_, '_>, times: usize) {
    let bytes = text(times);
    bencher.bench(|| Snapshot::new(black_box(&bytes)).map(|snapshot| page(&snapshot, 0)));
}

/// Every page reads and hashes the file anew, as separate calls do; 40 calls at 1 time.
#[divan::bench(args = [1])]
fn page_through_the_whole_text_in_one_snapshot(bencher: Bencher<'_, '_>, times: usize) {
    let bytes = text(times);
    bencher.bench(|| {
        let snapshot = Snapshot::new(black_box(&bytes));
        let n_pages = 40_000 * times / 1000;
        snapshot.map(|s| (0..n_pages).map(|n| page(&s, n * 1000).len()).sum::<usize>())
    });
}
