//! A grammar for constrained decoding in which only anchors that were served are words.
//!
//! It is `grammar/hashline.lark` with one kind of section for each file, whose anchors are listed.

use std::fmt::Write as _;

use super::anchor::Anchor;

/// One file with the anchors of its served rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedFile {
    /// The path, as results show it.
    pub path: String,
    /// The anchors, in line order.
    pub anchors: Vec<Anchor>,
}

/// Returns the grammar. Files whose path is empty or holds a line feed are left out; a file without anchors takes bare
/// inserts only. With no file at all, no patch can be written and the grammar's start has no word but an
/// empty one.
///
/// Cost: linear in the anchors.
pub fn served_grammar(files: &[ServedFile]) -> String {
    let files: Vec<&ServedFile> = files
        .iter()
        .filter(|file| !file.path.is_empty() && !file.path.contains('\n'))
        .collect();
    if files.is_empty() {
        return "start: \"\"\n".to_owned();
    }
    let mut text = String::from("start: section (NL section)* NL?\n");
    let names: Vec<String> = (1..=files.len()).map(|n| format!("section_{n}")).collect();
    let _ = writeln!(text, "section: {}", names.join(" | "));
    for (index, file) in files.iter().enumerate() {
        push_file(&mut text, index + 1, file);
    }
    text.push_str("row: \"~\" CONTENT?\nCONTENT: /[^\\n]+/\nNL: \"\\n\"\n");
    text
}

fn push_file(text: &mut String, n: usize, file: &ServedFile) {
    let path = quote(&file.path);
    let _ = writeln!(text, "section_{n}: \"@@ \" {path} (NL op_{n})+");
    if file.anchors.is_empty() {
        let _ = writeln!(text, "op_{n}: (\"+\" | \"<\") (NL row)+");
        return;
    }
    let _ = writeln!(text, "op_{n}: (\"+\" | \"<\") (\" \" anchor_{n})? (NL row)+");
    let _ = writeln!(text, "  | \"- \" anchor_{n} \"..\" anchor_{n}");
    let _ = writeln!(text, "  | \"= \" anchor_{n} \"..\" anchor_{n} (NL row)*");
    let words: Vec<String> =
        file.anchors.iter().map(|anchor| format!("\"{anchor}\"")).collect();
    let _ = writeln!(text, "anchor_{n}: {}", words.join(" | "));
}

/// Writes a text as a string of the grammar.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
