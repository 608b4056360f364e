//! Arguments of a call: the schema a tool declares, and holding what a caller sent against it.
//!
//! Lenient where no meaning is lost: `"12"` is 12, `"yes"` is true, null is absent. A wrong value is named,
//! never ignored, and an argument that the tool does not take is refused, but for a bare remark. All
//! problems of a call are reported at once. This module knows the part of JSON Schema that killick's own
//! tools use: an object of properties with a `type`, `enum`, `minimum` and `maximum`.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::outcome::{Failure, Problem};
use crate::code::Code;

/// Arguments that models add as a remark to themselves; they are dropped.
const REMARKS: &[&str] = &["description", "reason", "explanation"];

/// Builds the JSON Schema of a tool's arguments.
#[derive(Debug, Default)]
pub struct Schema {
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Schema {
    /// Returns a schema without arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a required string.
    #[must_use]
    pub fn text(mut self, name: &'static str, doc: &str) -> Self {
        self.required.push(name);
        self.property(name, "string", doc)
    }

    /// Adds a required whole number.
    #[must_use]
    pub fn integer(mut self, name: &'static str, doc: &str) -> Self {
        self.required.push(name);
        self.property(name, "integer", doc)
    }

    /// Adds an optional string.
    #[must_use]
    pub fn optional_text(self, name: &'static str, doc: &str) -> Self {
        self.property(name, "string", doc)
    }

    /// Adds an optional integer.
    #[must_use]
    pub fn optional_integer(self, name: &'static str, doc: &str) -> Self {
        self.property(name, "integer", doc)
    }

    /// Adds an optional boolean.
    #[must_use]
    pub fn optional_flag(self, name: &'static str, doc: &str) -> Self {
        self.property(name, "boolean", doc)
    }

    /// Adds an optional string that is one of a few words, in any case.
    #[must_use]
    pub fn optional_choice(mut self, name: &'static str, words: &[&str], doc: &str) -> Self {
        let property = json!({"type": "string", "enum": words, "description": doc});
        self.properties.insert(name.to_owned(), property);
        self
    }

    fn property(mut self, name: &str, kind: &str, doc: &str) -> Self {
        self.properties.insert(name.to_owned(), json!({"type": kind, "description": doc}));
        self
    }

    /// Returns the schema as JSON.
    pub fn build(self) -> Value {
        json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        })
    }
}

/// Holds `raw` against `schema` and returns the arguments with their proper types.
///
/// Errors: every problem of the call, each `missing_arg` or `bad_arg`.
pub fn admit(schema: &Value, raw: Value) -> Result<Map<String, Value>, Failure> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let given = object(raw)?;
    let mut admitted = Map::new();
    let mut problems = Vec::new();
    let mut named = HashSet::new();
    for (name, value) in given {
        let Some(property) = properties.get(&name) else {
            if !REMARKS.contains(&name.as_str()) {
                problems.push(unknown(&name, properties));
            }
            continue;
        };
        if value.is_null() {
            continue;
        }
        match convert(property, &value) {
            Ok(value) => drop(admitted.insert(name, value)),
            Err(seen) => {
                problems.push(wrong(&name, property, &seen));
                named.insert(name);
            }
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !admitted.contains_key(name) && !named.contains(name) {
            problems.push(missing(name, properties));
        }
    }
    if problems.is_empty() { Ok(admitted) } else { Err(Failure { problems }) }
}

/// Takes the arguments as an object; a string that holds a JSON object is that object.
fn object(raw: Value) -> Result<Map<String, Value>, Failure> {
    let raw = match raw {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    match raw {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        other => Err(Failure::new(
            Code::BadArg,
            format!("the arguments are {}; send a JSON object.", describe(&other)),
        )),
    }
}

fn missing(name: &str, properties: &Map<String, Value>) -> Problem {
    let doc = properties.get(name).and_then(|p| p.get("description")).and_then(Value::as_str);
    Problem::new(
        Code::MissingArg,
        format!("`{name}` is required: {}", doc.unwrap_or("send it with the call.")),
    )
}

fn wrong(name: &str, property: &Value, seen: &str) -> Problem {
    Problem::new(Code::BadArg, format!("`{name}` must be {}, not {seen}.", expected(property)))
}

fn unknown(name: &str, properties: &Map<String, Value>) -> Problem {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let message = if names.is_empty() {
        format!("`{name}` is no argument of this tool, which takes none.")
    } else {
        format!("`{name}` is no argument of this tool; it takes {}.", names.join(", "))
    };
    Problem::new(Code::BadArg, message)
}

fn expected(property: &Value) -> String {
    if let Some(words) = property.get("enum").and_then(Value::as_array) {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string") => "a string".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some(other) => format!("of type {other}"),
        None => "another value".to_owned(),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let short: String = text.chars().take(60).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            format!("the string {short:?}{more}")
        }
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Converts a value to the type of its property, or says what was seen.
fn convert(property: &Value, value: &Value) -> Result<Value, String> {
    let converted = match property.get("type").and_then(Value::as_str) {
        Some("string") if property.get("enum").is_some() => {
            value.as_str().map(|word| Value::from(word.to_ascii_lowercase()))
        }
        Some("string") => value.is_string().then(|| value.clone()),
        Some("integer") => integer(value).map(Value::from),
        Some("boolean") => flag(value).map(Value::from),
        Some("array") => value.is_array().then(|| value.clone()),
        Some("object") => value.is_object().then(|| value.clone()),
        _ => Some(value.clone()),
    };
    let allowed = property.get("enum").and_then(Value::as_array);
    converted
        .filter(|value| allowed.is_none_or(|allowed| allowed.contains(value)))
        .ok_or_else(|| describe(value))
}

/// Takes a whole number, also as text or as a fraction without one.
fn integer(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() <= EXACT)?;
            format!("{float:.0}").parse().ok()
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Takes a truth value, also as one of the words that models use.
fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        Schema::new()
            .text("path", "the file to read")
            .optional_integer("start", "first line")
            .optional_flag("raw", "no anchors")
            .build()
    }

    fn admitted(raw: Value) -> Value {
        Value::Object(admit(&schema(), raw).unwrap())
    }

    fn refused(raw: Value) -> Vec<String> {
        let failure = admit(&schema(), raw).unwrap_err();
        failure.problems.iter().map(|p| format!("{}: {}", p.code, p.message)).collect()
    }

    #[test]
    fn what_loses_no_meaning_is_taken() {
        assert_eq!(
            admitted(json!({"path": "a", "start": "12", "raw": "No", "reason": "x"})),
            json!({"path": "a", "start": 12, "raw": false})
        );
        assert_eq!(
            admitted(json!({"path": "a", "start": 3.0})),
            json!({"path": "a", "start": 3})
        );
        assert_eq!(admitted(json!({"path": "a", "start": null})), json!({"path": "a"}));
        assert_eq!(admitted(json!(r#"{"path": "a"}"#)), json!({"path": "a"}));
    }

    #[test]
    fn every_problem_is_named_at_once() {
        assert_eq!(
            refused(json!({"start": "many", "colour": "red"})),
            [
                "bad_arg: `start` must be a whole number, not the string \"many\".",
                "bad_arg: `colour` is no argument of this tool; it takes path, start, raw.",
                "missing_arg: `path` is required: the file to read",
            ]
        );
    }

    #[test]
    fn what_would_lose_meaning_is_refused() {
        for raw in [
            json!({"path": 7}),
            json!({"path": "a", "start": 1.5}),
            json!({"path": "a", "start": true}),
            json!({"path": "a", "start": 1e300}),
            json!({"path": "a", "raw": 2}),
            json!({"path": "a", "raw": ""}),
            json!([1]),
            json!("path"),
            json!({"path": null}),
        ] {
            assert_eq!(refused(raw.clone()).len(), 1, "{raw}");
        }
    }
}
