//! The source tree as data, for the tests of the house rules.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every file below `folder` of the given kind, relative to it, with its text.
fn texts(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let top = root().join(folder);
    let mut folders = vec![top.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(&top).unwrap().to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Returns the Rust files below `folder`, relative to it, with their texts.
pub(crate) fn files(folder: &str) -> Vec<(PathBuf, String)> {
    texts(folder, "rs")
}

/// Returns the Markdown files below `folder`, relative to it, with their texts.
pub(crate) fn pages(folder: &str) -> Vec<(PathBuf, String)> {
    texts(folder, "md")
}

/// Returns the part of a file before its test module.
pub(crate) fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\n").next().unwrap_or(text)
}
