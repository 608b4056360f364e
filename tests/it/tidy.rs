//! House rules that no compiler checks.

use std::collections::BTreeSet;
use std::fs;

use crate::source;

/// Files that may be longer than the cap, each with its reason.
const LONG: &[(&str, &str)] = &[];

/// The most lines of a file.
const MAX_LINES: usize = 900;

const FOLDERS: &[&str] = &["src", "tests", "benches", "examples"];

#[test]
fn every_file_says_what_it_is() {
    for folder in FOLDERS {
        for (path, text) in source::files(folder) {
            assert!(text.starts_with("//! "), "{folder}/{} has no module doc", path.display());
        }
    }
}

#[test]
fn no_marker_is_left_over() {
    let markers =
        ["todo!", "unimplemented!", "dbg!", "FIXME", "XXX", "HACK", "#[ignore", "TODO"];
    for folder in FOLDERS {
        for (path, text) in
            source::files(folder).iter().filter(|(path, _)| !path.ends_with("tidy.rs"))
        {
            for marker in markers {
                assert!(!text.contains(marker), "{folder}/{} holds {marker}", path.display());
            }
        }
    }
}

#[test]
fn no_file_is_too_long() {
    for (path, text) in source::files("src") {
        let n_lines = text.lines().count();
        let waived = LONG.iter().any(|(name, _)| path.ends_with(name));
        assert!(n_lines <= MAX_LINES || waived, "{} has {n_lines} lines", path.display());
    }
}

#[test]
fn no_module_is_a_drawer() {
    let drawers = ["util", "utils", "helpers", "common", "misc", "types", "manager"];
    for (path, _) in source::files("src") {
        for part in path.with_extension("").components() {
            let name = part.as_os_str().to_str().unwrap();
            assert!(!drawers.contains(&name), "{} is named for nothing", path.display());
        }
    }
}

#[test]
fn no_code_branches_on_the_words_of_a_message() {
    for (path, text) in source::files("src") {
        let code = source::without_tests(&text);
        for fault in
            [".to_string() ==", "message ==", "message.contains", "message.starts_with(\""]
        {
            assert!(!code.contains(fault), "{} holds {fault:?}", path.display());
        }
    }
}

#[test]
fn no_line_of_text_ends_in_white_space() {
    for (folder, files) in FOLDERS
        .iter()
        .map(|folder| (*folder, source::files(folder)))
        .chain([("docs", source::pages("docs"))])
    {
        for (path, text) in files {
            let bad = text.lines().position(|line| line.ends_with([' ', '\t']));
            assert_eq!(bad, None, "{folder}/{}", path.display());
        }
    }
}

#[test]
fn every_fixture_belongs_to_an_area() {
    let areas = fs::read_to_string(source::root().join("tests/corpus/main.rs")).unwrap();
    let named: BTreeSet<&str> = areas
        .lines()
        .filter_map(|line| line.trim().strip_prefix("(\"")?.split('"').next())
        .collect();
    let fixtures = source::root().join("tests/fixtures");
    let mut folders = vec![fixtures.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let relative = path.strip_prefix(&fixtures).unwrap();
            let used = relative.ancestors().any(|a| named.contains(a.to_str().unwrap()));
            assert!(used, "{} is run by nothing", relative.display());
        }
    }
}

#[test]
fn every_dependency_has_its_sentence() {
    let manifest = fs::read_to_string(source::root().join("Cargo.toml")).unwrap();
    let page = fs::read_to_string(source::root().join("docs/dependencies.md")).unwrap();
    let mut is_table = false;
    let mut n_seen = 0;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_table = line.ends_with("dependencies]");
        } else if let (true, Some((name, _))) = (is_table, line.split_once(" = ")) {
            assert!(page.contains(&format!("**{name}**")), "docs/dependencies.md lacks {name}");
            n_seen += 1;
        }
    }
    assert!(n_seen > 20, "the manifest was not understood");
}

#[test]
fn the_changelog_knows_this_version() {
    let page = fs::read_to_string(source::root().join("CHANGELOG.md")).unwrap();
    let heading = format!("## {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(page.lines().filter(|line| line.starts_with(&heading)).count(), 1);
}

#[test]
fn the_page_of_error_codes_is_the_list() {
    let path = source::root().join("docs/errors.md");
    let page = fs::read_to_string(&path).unwrap();
    let head: String =
        page.split_inclusive('\n').take_while(|line| !line.starts_with("| `")).collect();
    let row = |code: &killick::code::Code| format!("| `{code}` | {} |\n", code.meaning());
    let wanted: String =
        std::iter::once(head).chain(killick::code::Code::ALL.iter().map(row)).collect();
    if std::env::var_os("KILLICK_BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
    } else {
        assert!(page == wanted, "run the tests once with KILLICK_BLESS=1 and look at the diff");
    }
}
