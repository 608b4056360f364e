//! The audit's two records of a call, one before it runs and one after.
//!
//! Values whose names look secret are masked and long texts are cut, with the digest of the whole.

use serde_json::{Map, Value, json};

use super::approval::Approval;
use crate::authority::Demand;
use crate::protocol::Effect;
use crate::text::Digest;
use crate::tool::Outcome;

/// How many characters of a text argument a record keeps.
const KEPT_CHARS: usize = 200;

/// Parts of a name that make its value secret.
const SECRET: &[&str] = &["secret", "token", "password", "key", "credential", "auth"];

/// Returns the record of a call that is about to be judged.
pub(super) fn before(call: &Numbered<'_>, tool: &str, arguments: &Value) -> Map<String, Value> {
    let mut record = call.opened("call");
    record.insert("tool".to_owned(), tool.into());
    record.insert("arguments".to_owned(), masked("", arguments));
    record
}

/// Which call of which session a record is of, and when it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered<'a> {
    /// The session's name.
    pub(super) session: &'a str,
    /// The call's number in this process, from 1.
    pub(super) number: u64,
    /// When the record is written.
    pub(super) now: jiff::Timestamp,
}

impl Numbered<'_> {
    fn opened(&self, event: &str) -> Map<String, Value> {
        let entries = [
            ("time", Value::from(self.now.to_string())),
            ("event", event.into()),
            ("session", self.session.into()),
            ("call", self.number.into()),
        ];
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Returns the record of what a call came to.
pub(super) fn after(
    call: &Numbered<'_>,
    demands: &[Demand],
    approval: Approval,
    outcome: &Outcome,
    duration_ms: u64,
) -> Map<String, Value> {
    let mut record = call.opened("outcome");
    let mut put = |key: &str, value: Value| drop(record.insert(key.to_owned(), value));
    put("demands", demands.iter().map(ToString::to_string).collect());
    if approval != Approval::NotAsked {
        put("approval", approval.as_str().into());
    }
    put("ok", outcome.ok.into());
    if let Some(problem) = &outcome.error {
        put("error", problem.code.as_str().into());
        put("rule", problem.message.as_str().into());
    }
    put("files", Value::Array(files(&outcome.effects)));
    put("duration_ms", duration_ms.into());
    record
}

fn files(effects: &[Effect]) -> Vec<Value> {
    let mut files = Vec::new();
    for effect in effects {
        match effect {
            Effect::Seen(seen) => {
                files.push(json!({
                    "path": seen.place.to_string(),
                    "seen": seen.digest.to_hex(),
                }));
            }
            Effect::Moved(_) | Effect::Held(_) | Effect::Released { .. } => {}
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
        let call = Numbered { session: "s", number: 1, now: jiff::Timestamp::UNIX_EPOCH };
        let record = Value::Object(before(&call, "write", &arguments));
        let text = record.to_string();
        assert!(!text.contains("sk-123") && !text.contains("Bearer"), "{text}");
        assert_eq!(record["arguments"]["content"]["chars"], 300);
        assert_eq!(record["arguments"]["path"], "a");
    }
}
