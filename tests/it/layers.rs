//! The import table of `docs/architecture.md` held against the code, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::source;

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Reads the table: module → the modules it may import; «any of the above» is every module of a lower rank.
fn table() -> (Vec<String>, Edges) {
    let text = fs::read_to_string(source::root().join("docs/architecture.md")).unwrap();
    let mut modules: Vec<(u32, String)> = Vec::new();
    let mut edges = Edges::new();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [rank, names, imports] = cells[..] else { continue };
        let Ok(rank) = rank.parse::<u32>() else { continue };
        for name in names.split(", ") {
            let allowed = match imports {
                "–" => BTreeSet::new(),
                "any of the above" => modules.iter().map(|(_, name)| name.clone()).collect(),
                list => list.split(", ").map(str::to_owned).collect(),
            };
            edges.insert(name.to_owned(), allowed);
        }
        modules.extend(names.split(", ").map(|name| (rank, name.to_owned())));
    }
    for (rank, name) in &modules {
        for import in &edges[name] {
            let below = modules.iter().find(|(_, other)| other == import);
            let below =
                below.unwrap_or_else(|| panic!("{name} imports {import}, which has no row"));
            assert!(
                below.0 < *rank,
                "{name} (rank {rank}) may not import {import} (rank {})",
                below.0
            );
        }
    }
    (modules.into_iter().map(|(_, name)| name).collect(), edges)
}

/// Returns the modules that a file's code names after `crate::`, tests left out.
fn imports(text: &str) -> BTreeSet<String> {
    let code = source::without_tests(text);
    code.match_indices("crate::")
        .map(|(at, found)| &code[at + found.len()..])
        .map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap())
        .inspect(|name| {
            assert!(!name.is_empty(), "write `use crate::module::…`, one module a line");
        })
        .map(str::to_owned)
        .collect()
}

fn module_of(path: &Path) -> String {
    let first = path.components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

#[test]
fn the_code_imports_what_the_table_allows_and_the_table_allows_what_the_code_imports() {
    let (modules, allowed) = table();
    let mut seen = Edges::new();
    for (path, text) in source::files("src") {
        let module = module_of(&path);
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        assert!(modules.contains(&module), "{} belongs to no row of the table", path.display());
        for import in imports(&text).into_iter().filter(|import| *import != module) {
            assert!(
                allowed[&module].contains(&import),
                "{} imports {import}, which the table does not allow {module}",
                path.display()
            );
            seen.entry(module.clone()).or_default().insert(import);
        }
    }
    for (module, imports) in &allowed {
        if matches!(module.as_str(), "app" | "cli") {
            continue;
        }
        let used = seen.remove(module).unwrap_or_default();
        let idle: Vec<_> = imports.difference(&used).collect();
        assert!(idle.is_empty(), "the table lets {module} import {idle:?}, which it does not");
    }
}

#[test]
fn the_modules_stand_in_lib_in_the_order_of_their_ranks() {
    let (modules, _) = table();
    let lib = fs::read_to_string(source::root().join("src/lib.rs")).unwrap();
    let listed: BTreeSet<String> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect();
    assert_eq!(listed, modules.into_iter().collect());
}
