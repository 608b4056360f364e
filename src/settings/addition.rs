//! Adding entries to a list in the text of a settings file, with the layout and comments that it has.
//!
//! Only keys at the top whose value is an array of strings. What would not read back is not returned.

use jsonc_parser::ast::Value;
use jsonc_parser::cst::{CstInputValue, CstRootNode};

use crate::settings::keys::{Key, Kind};
use crate::settings::layer::Layer;
use crate::settings::raw::{OPTIONS, read};

/// What a settings file is where there is none.
const EMPTY: &str = "{}\n";

/// Why entries cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAdded {
    /// The key is not one whose value is an array of strings.
    #[error("{0} is no list in the settings")]
    NoList(&'static str),
    /// The text is not one of settings, or would not be one any more.
    #[error("the file is not one of settings that can be read")]
    Unreadable,
}

/// Returns the text with `entries` at the end of the list `key`; those that stand there are not repeated.
///
/// An empty text is taken for that of a file which is not there.
pub fn add(text: &str, key: &'static str, entries: &[String]) -> Result<String, NotAdded> {
    let is_list = Key::find(key).is_some_and(|key| key.kind == Kind::Strings);
    if !is_list || key.contains('.') {
        return Err(NotAdded::NoList(key));
    }
    let (mark, bare) =
        text.strip_prefix('\u{feff}').map_or(("", text), |bare| ("\u{feff}", bare));
    let bare = if bare.is_empty() { EMPTY } else { bare };
    is_settings(bare)?;
    let root = CstRootNode::parse(bare, &OPTIONS).ok().ok_or(NotAdded::Unreadable)?;
    let object = root.object_value().ok_or(NotAdded::Unreadable)?;
    let is_new = object.get(key).is_none();
    let list = object.array_value_or_create(key).ok_or(NotAdded::Unreadable)?;
    let present: Vec<String> = list
        .elements()
        .iter()
        .filter_map(|element| element.as_string_lit()?.decoded_value().ok())
        .collect();
    for entry in entries.iter().filter(|entry| !present.contains(entry)) {
        list.append(CstInputValue::String(entry.clone()));
    }
    if is_new {
        list.ensure_multiline();
    }
    let added = root.to_string();
    is_settings(&added)?;
    if !entries.iter().all(|entry| names(&added, key, entry)) {
        return Err(NotAdded::Unreadable);
    }
    Ok(format!("{mark}{added}"))
}

fn is_settings(text: &str) -> Result<(), NotAdded> {
    read("", Layer::Local, text).map(drop).ok().ok_or(NotAdded::Unreadable)
}

/// Returns whether the text has an entry in a list.
fn names(text: &str, key: &str, entry: &str) -> bool {
    let parsed =
        jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &OPTIONS);
    let Some(Value::Object(root)) = parsed.ok().and_then(|parsed| parsed.value) else {
        return false;
    };
    root.get_array(key).is_some_and(|list| {
        list.elements.iter().any(
            |element| matches!(element, Value::StringLit(literal) if literal.value == entry),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str, entries: &[&str]) -> String {
        let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
        add(text, "approved", &entries).unwrap()
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        assert_eq!(
            added("", &["file/write(a)"]),
            "{\n  \"approved\": [\n    \"file/write(a)\"\n  ]\n}\n"
        );
    }

    #[test]
    fn layout_and_comments_stay() {
        let text = "// mine\n{\n    // what I want\n    \"tools\": \"all\", // all\n    \"approved\": [\n        \"a/b\", // one\n    ],\n}\n";
        assert_eq!(
            added(text, &["file/write(a\\*)", "a/b"]),
            "// mine\n{\n    // what I want\n    \"tools\": \"all\", // all\n    \"approved\": [\n        \"a/b\", // one\n        \"file/write(a\\\\*)\",\n    ],\n}\n"
        );
        assert_eq!(added("{\"ask\": []}", &["x"]).matches("\"x\"").count(), 1);
        assert_eq!(added("\u{feff}{}", &["x"]).chars().next(), Some('\u{feff}'));
        let windows = added("{\r\n\t\"ask\": []\r\n}\r\n", &["x", "y"]);
        assert_eq!(
            windows.matches('\n').count(),
            windows.matches("\r\n").count(),
            "{windows:?}"
        );
    }

    #[test]
    fn what_stands_there_is_not_repeated() {
        let once = added("{}", &["x", "y"]);
        assert_eq!(added(&once, &["y", "x"]), once);
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        let entry = ["x".to_owned()];
        for text in
            ["{", "[]", "{\"approved\": 1}", "{\"approved\": [1]}", "{\"nonsense\": 1}", " "]
        {
            assert_eq!(add(text, "approved", &entry), Err(NotAdded::Unreadable), "{text}");
        }
        assert_eq!(add("{}", "tools", &entry), Err(NotAdded::NoList("tools")));
    }
}
