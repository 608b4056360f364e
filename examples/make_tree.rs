//! Makes a tree of source-like files for measuring walks and searches: `make_tree FOLDER [FILES [BYTES]]`.
//!
//! The content is the same at every run. A tenth of the files are Rust, one in a hundred holds `needle`.
#![expect(clippy::disallowed_methods, reason = "it lays out files for a bench")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("usage: make_tree FOLDER [FILES [BYTES]]")?;
    let n_files: usize = words.next().map_or(Ok(20_000), |n| n.parse())?;
    let n_bytes: usize = words.next().map_or(Ok(200 << 20), |n| n.parse())?;
    let each = n_bytes / n_files.max(1);
    let mut state = 1;
    for number in 0..n_files {
        let extension =
            ["rs", "c", "lisp", "md", "py", "js", "txt", "h", "toml", "sh"][number % 10];
        let dir = Path::new(&folder).join(format!("d{}/e{}", number / 1000, number / 50 % 20));
        fs::create_dir_all(&dir)?;
        fs::write(
            dir.join(format!("f{number}.{extension}")),
            content(number, each, &mut state),
        )?;
    }
    Ok(())
}

/// Returns about `n_bytes` of lines of words.
fn content(number: usize, n_bytes: usize, state: &mut u64) -> String {
    const WORDS: [&str; 16] = [
        "let",
        "return",
        "value",
        "index",
        "buffer",
        "(defun",
        "match",
        "=>",
        "if",
        "else",
        "struct",
        "impl",
        "fn",
        "self.state",
        "0x1f",
        "\"text\"",
    ];
    let mut text = String::with_capacity(n_bytes + 80);
    if number % 100 == 7 {
        text.push_str("// a needle in this file\n");
    }
    while text.len() < n_bytes {
        for _ in 0..8 {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let word = WORDS[usize::try_from(*state >> 60).unwrap_or(0)];
            let _ = write!(text, "{word} ");
        }
        text.push('\n');
    }
    text
}
