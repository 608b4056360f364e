//! What derives from the table of keys: the reference, the example file and the schema.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::settings::keys::{KEYS, Key, Kind, Merge, Setter, Whole};

/// Returns the reference of the keys in Markdown.
pub fn reference() -> String {
    KEYS.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn section(key: &Key) -> String {
    let default = key.default.map_or_else(|| "absent".to_owned(), |value| format!("`{value}`"));
    let example =
        key.path.split('.').rfold(key.example.to_owned(), |v, n| format!("{{{n:?}: {v}}}"));
    format!(
        "### `{}`\n\n{}\n\n- Value: {}.\n- Default: {default}.\n- Set by: {}.\n- A later layer {}.\n- Example: `{example}`\n",
        key.path,
        key.doc,
        value_words(key.kind),
        setter_words(key.setter),
        merge_words(key.merge),
    )
}

fn value_words(kind: Kind) -> String {
    match kind {
        Kind::Strings => "an array of strings".to_owned(),
        Kind::AllOrStrings => "`\"all\"` or an array of strings".to_owned(),
        Kind::Paths => "an array of paths (strings)".to_owned(),
        Kind::Program => "a program: its name or its path (a string)".to_owned(),
        Kind::Variables => "an array of names of environment variables (strings)".to_owned(),
        Kind::Assignments => {
            "an object whose keys are names of environment variables and whose values are strings"
                .to_owned()
        }
        Kind::AutoOrOff => "`\"auto\"` or `\"off\"`".to_owned(),
        Kind::Extras => {
            "an array of objects with `path` (a string) and `access` (`\"read\"` or `\"write\"`)"
                .to_owned()
        }
        Kind::Whole(Whole { min, max }) => format!("a whole number from {min} to {max}"),
        Kind::PathOrNull => "a path (a string), or null".to_owned(),
        Kind::Lists => "an object whose values are arrays of strings".to_owned(),
        Kind::Numbers(Whole { min, max }) => {
            format!("an object whose values are whole numbers from {min} to {max}")
        }
    }
}

const fn setter_words(setter: Setter) -> &'static str {
    match setter {
        Setter::Anyone => "any layer",
        Setter::Trusted => {
            "any layer; in a project's settings it is inert until they are trusted"
        }
        Setter::UserOnly => "the user's own settings and flags; elsewhere it is an error",
    }
}

const fn merge_words(merge: Merge) -> &'static str {
    match merge {
        Merge::Replace => "replaces the value",
        Merge::Add => "adds its entries to the value",
        Merge::ByKey => "joins its entries to the value's, and replaces those of the same name",
        Merge::Narrow => "narrows the value: what holds is what every layer holds",
    }
}

/// Returns a file of settings that sets every key, with a comment on each.
pub fn example() -> String {
    let mut text =
        "// Every key of killick's settings. Leave out what you do not want to change.\n{"
            .to_owned();
    let mut open: Vec<&str> = Vec::new();
    let mut separator = "\n";
    for key in KEYS {
        let (groups, name) = split(key);
        let n_kept = open.iter().zip(&groups).take_while(|(a, b)| a == b).count();
        close(&mut text, &mut open, n_kept);
        text.push_str(separator);
        for group in groups.into_iter().skip(n_kept) {
            let _ = writeln!(text, "{}{group:?}: {{", indent(open.len()));
            open.push(group);
        }
        let margin = indent(open.len());
        for sentence in key.doc.split_inclusive(". ") {
            let _ = writeln!(text, "{margin}// {}", sentence.trim_end());
        }
        let _ = write!(text, "{margin}{name:?}: {}", key.example);
        separator = ",\n";
    }
    close(&mut text, &mut open, 0);
    text.push_str("\n}\n");
    text
}

fn split(key: &Key) -> (Vec<&'static str>, &'static str) {
    let mut names: Vec<&'static str> = key.path.split('.').collect();
    let name = names.pop().unwrap_or_default();
    (names, name)
}

fn close(text: &mut String, open: &mut Vec<&str>, n_kept: usize) {
    while open.len() > n_kept {
        open.pop();
        let _ = write!(text, "\n{}}}", indent(open.len()));
    }
}

fn indent(n_open: usize) -> String {
    "  ".repeat(n_open + 1)
}

/// Returns the JSON Schema of a file of settings.
pub fn schema() -> Value {
    let mut root = object("killick settings");
    for key in KEYS {
        let (groups, name) = split(key);
        if let Some(properties) = descend(&mut root, &groups) {
            properties.insert(name.to_owned(), leaf(key));
        }
    }
    if let Some(map) = root.as_object_mut() {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    }
    root
}

fn object(title: &str) -> Value {
    json!({"title": title, "type": "object", "additionalProperties": false, "properties": {}})
}

/// Returns the properties of a group, which is made where it is not there yet.
fn descend<'a>(root: &'a mut Value, groups: &[&str]) -> Option<&'a mut Map<String, Value>> {
    let mut properties = root.get_mut("properties")?.as_object_mut()?;
    for group in groups {
        let entry = properties.entry(*group).or_insert_with(|| object(group));
        properties = entry.get_mut("properties")?.as_object_mut()?;
    }
    Some(properties)
}

fn leaf(key: &Key) -> Value {
    let mut schema = match key.kind {
        Kind::Strings => strings(),
        Kind::AllOrStrings => json!({"oneOf": [{"const": "all"}, strings()]}),
        Kind::Paths => {
            json!({"type": "array", "items": {"type": "string", "minLength": 1}})
        }
        Kind::Program => json!({"type": "string", "minLength": 1}),
        Kind::Variables => json!({"type": "array", "items": variable()}),
        Kind::Assignments => json!({
            "type": "object",
            "propertyNames": variable(),
            "additionalProperties": {"type": "string"},
        }),
        Kind::AutoOrOff => json!({"enum": ["auto", "off"]}),
        Kind::Extras => json!({"type": "array", "items": {
            "type": "object",
            "properties": {"path": {"type": "string", "minLength": 1}, "access": {"enum": ["read", "write"]}},
            "required": ["path", "access"],
            "additionalProperties": false,
        }}),
        Kind::Whole(Whole { min, max }) => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        Kind::PathOrNull => json!({"type": ["string", "null"], "minLength": 1}),
        Kind::Lists => json!({"type": "object", "additionalProperties": strings()}),
        Kind::Numbers(Whole { min, max }) => json!({
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": min, "maximum": max},
        }),
    };
    if let Some(map) = schema.as_object_mut() {
        map.insert("description".to_owned(), json!(key.doc));
        let default = key.default.and_then(|text| serde_json::from_str(text).ok());
        default.map(|value: Value| map.insert("default".to_owned(), value));
    }
    schema
}

fn strings() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn variable() -> Value {
    json!({"type": "string", "pattern": "^[^=]+$"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, Trust, TrustedLayers, merge, read};

    const PAGE: &str = include_str!("../../docs/settings.md");
    const EXAMPLE: &str = include_str!("../../settings.example.json");
    const BEGIN: &str = "<!-- keys: begin -->\n\n";
    const END: &str = "\n<!-- keys: end -->";

    /// Holds a committed file against the generated text; `KILLICK_BLESS=1` writes it instead.
    #[expect(clippy::disallowed_methods, reason = "both files are part of the source tree")]
    fn hold(name: &str, committed: &str, generated: &str) {
        if std::env::var_os("KILLICK_BLESS").is_some() {
            std::fs::write(format!("{}/{name}", env!("CARGO_MANIFEST_DIR")), generated)
                .unwrap();
        } else {
            assert_eq!(committed, generated, "{name}: KILLICK_BLESS=1 writes it anew");
        }
    }

    #[test]
    fn the_page_holds_the_reference() {
        let (head, rest) = PAGE.split_once(BEGIN).unwrap();
        let (_, tail) = rest.split_once(END).unwrap();
        hold("docs/settings.md", PAGE, &format!("{head}{BEGIN}{}{END}{tail}", reference()));
    }

    #[test]
    fn the_example_is_the_generated_one_and_sets_every_key() {
        hold("settings.example.json", EXAMPLE, &example());
        let raw = read("settings.example.json", Layer::User, &example()).unwrap();
        let set: Vec<_> =
            raw.assignments.iter().map(|assignment| assignment.key.path).collect();
        assert_eq!(set, KEYS.iter().map(|key| key.path).collect::<Vec<_>>());
        let trusted = TrustedLayers { project: Trust::Untrusted, local: Trust::Untrusted };
        assert_eq!(merge(vec![raw], trusted).inert, []);
    }

    #[test]
    fn the_schema_knows_every_key() {
        let schema = schema();
        for key in KEYS {
            let pointer = format!("/properties/{}", key.path.replace('.', "/properties/"));
            let leaf = schema.pointer(&pointer).unwrap();
            assert_eq!(leaf.get("description").unwrap(), key.doc);
            assert_eq!(leaf.get("default").is_some(), key.default.is_some());
        }
    }
}
