//! The audit's two records of a call, one before it runs and one after.
//!
//! Values whose names look secret are masked and long texts are cut, with the digest of the whole.

use serde_json::{Map, Value, json};

use crate::authority::Demand;
use crate::protocol::Effect;
use crate::text::Digest;
use crate::tool::Outcome;

/// How many characters of a text argument a record keeps.
const KEPT_CHARS: usize = 200;

/// Parts of a name that make its value secret.
const SECRET: &[&str] = &["secret", "token", "password", "key", "credential", "auth"];

/// Returns the record of a call that is about to be judged.
pub(super) fn before(session: &str, number: u64, tool: &str, arguments: &Value) -> Value {
    json!({
        "event": "call",
        "session": session,
        "call": number,
        "tool": tool,
        "arguments": masked("", arguments),
    })
}

/// Returns the record of what a call came to.
pub(super) fn after(
    session: &str,
    number: u64,
    demands: &[Demand],
    outcome: &Outcome,
    duration_ms: u64,
) -> Value {
    json!({
        "event": "outcome",
        "session": session,
        "call": number,
        "demands": demands.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "ok": outcome.ok,
        "error": outcome.error.as_ref().map(|error| error.code.as_str()),
        "rule": outcome.error.as_ref().map(|error| error.message.clone()),
        "files": files(&outcome.effects),
        "duration_ms": duration_ms,
    })
}

fn files(effects: &[Effect]) -> Vec<Value> {
    let mut files = Vec::new();
    for effect in effects {
        match effect {
            Effect::Seen { place, digest, .. } => {
                files.push(json!({"path": place.to_string(), "seen": digest.to_hex()}));
            }
            Effect::Committed { id, files: changed } => {
                files.extend(changed.iter().map(|file| {
                    json!({
                        "path": file.place.to_string(),
                        "before": file.before.map(Digest::to_hex),
                        "after": file.after.map(Digest::to_hex),
                        "transaction": id.to_string(),
                    })
                }));
            }
        }
    }
    files
}

fn masked(name: &str, value: &Value) -> Value {
    let lower = name.to_ascii_lowercase();
    match value {
        Value::String(text) if SECRET.iter().any(|part| lower.contains(part)) => {
            Value::String(format!("<redacted: {} chars>", text.chars().count()))
        }
        Value::String(text) => cut(text),
        Value::Object(map) => {
            let entries = map.iter().map(|(name, value)| (name.clone(), masked(name, value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| masked(name, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn cut(text: &str) -> Value {
    let n_chars = text.chars().count();
    if n_chars <= KEPT_CHARS {
        return Value::String(text.to_owned());
    }
    let head: String = text.chars().take(KEPT_CHARS).collect();
    json!({"head": head, "chars": n_chars, "digest": Digest::of(text.as_bytes()).to_hex()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_long_texts_cut() {
        let arguments = json!({
            "path": "a", "api_key": "sk-123", "headers": {"Authorization": ["Bearer x"]},
            "content": "y".repeat(300),
        });
        let record = before("s", 1, "write", &arguments);
        let text = record.to_string();
        assert!(!text.contains("sk-123") && !text.contains("Bearer"), "{text}");
        assert_eq!(record["arguments"]["content"]["chars"], 300);
        assert_eq!(record["arguments"]["path"], "a");
    }
}
