//! `killick call`: one tool call from the command line.

use std::io::Read as _;

use serde_json::{Map, Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::Ended;
use crate::app::{App, Options, SessionKind};
use crate::cli::args::Format;
use crate::cli::report::{self, Exit};
use crate::code::Code;
use crate::dispatch::Call;
use crate::session::SessionId;
use crate::tool::Outcome;

/// What is wrong with the words after the tool's name.
#[derive(Debug, thiserror::Error)]
enum BadCall {
    #[error("`{0}` is no key=value; arguments are one JSON object or any number of key=value")]
    NoKey(String),
    #[error("the arguments are no JSON")]
    Json(#[source] serde_json::Error),
    #[error("failed to read standard input")]
    Input(#[source] std::io::Error),
    #[error(
        "`{0}` is no session name: 1 to 64 letters, digits, `-`, `_` or `.`, not beginning with a dot"
    )]
    SessionName(String),
}

pub(super) fn run(
    options: Options,
    format: Format,
    tool: String,
    words: &[String],
    session: Option<&str>,
) -> Result<Exit, Ended> {
    let arguments = arguments(words).map_err(Ended::usage)?;
    let kind = match session.map(|name| SessionId::new(name).ok_or(name)) {
        None => SessionKind::OneCall,
        Some(Ok(id)) => SessionKind::Named(id),
        Some(Err(name)) => return Err(Ended::usage(BadCall::SessionName(name.to_owned()))),
    };
    let mut app = App::start(options, kind)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Ended::refused)?;
    let outcome = runtime
        .block_on(call_until_signalled(&app, Call { tool, arguments }))
        .map_err(Ended::refused)?;
    // What was abandoned has nothing left to say and may not write.
    runtime.shutdown_background();
    app.keep(&outcome.effects)?;
    report(&outcome, format);
    if is_unread(&outcome) && session.is_none() {
        report::words(
            "hint: a single call remembers nothing; read and edit with one --session NAME",
        );
    }
    if let Err(error) = app.tidy.run(jiff::Timestamp::now()) {
        report::warning(&format!("old files of killick's own cannot be removed: {error}"));
    }
    Ok(exit(&outcome))
}

/// Runs the call; a signal withdraws it, and it still ends with its one outcome.
async fn call_until_signalled(app: &App, call: Call) -> std::io::Result<Outcome> {
    let interrupt = signal(SignalKind::interrupt())?;
    let terminate = signal(SignalKind::terminate())?;
    let token = CancellationToken::new();
    let listener = tokio::spawn(withdraw_on(interrupt, terminate, token.clone()));
    let outcome = app.executor.call(call, &token).await;
    listener.abort();
    Ok(outcome)
}

async fn withdraw_on(mut interrupt: Signal, mut terminate: Signal, token: CancellationToken) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    token.cancel();
}

fn arguments(words: &[String]) -> Result<Value, BadCall> {
    match words {
        [one] if one == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(BadCall::Input)?;
            serde_json::from_str(&text).map_err(BadCall::Json)
        }
        [one] if one.trim_start().starts_with('{') => {
            serde_json::from_str(one).map_err(BadCall::Json)
        }
        pairs => {
            let mut map = Map::new();
            for pair in pairs {
                let (key, value) =
                    pair.split_once('=').ok_or_else(|| BadCall::NoKey(pair.clone()))?;
                map.insert(key.to_owned(), Value::String(value.to_owned()));
            }
            Ok(Value::Object(map))
        }
    }
}

pub(super) fn report(outcome: &Outcome, format: Format) {
    match format {
        Format::Text if outcome.ok => report::data(&outcome.text),
        Format::Text => report::words(&outcome.text),
        Format::Json => report::data(&rendered(outcome).to_string()),
    }
}

fn is_unread(outcome: &Outcome) -> bool {
    outcome.error.as_ref().is_some_and(|problem| problem.code == Code::Unread)
}

fn rendered(outcome: &Outcome) -> Value {
    let error = outcome
        .error
        .as_ref()
        .map(|problem| json!({"code": problem.code.as_str(), "message": problem.message}));
    json!({"ok": outcome.ok, "text": outcome.text, "error": error, "details": outcome.details})
}

pub(super) fn exit(outcome: &Outcome) -> Exit {
    match outcome.error.as_ref().map(|problem| problem.code) {
        None => Exit::Done,
        Some(Code::CapabilityDenied | Code::ApprovalRequired | Code::Declined) => Exit::Denied,
        Some(Code::UnknownTool | Code::BadArg | Code::MissingArg) => Exit::Usage,
        Some(_) => Exit::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Result<Value, BadCall> {
        arguments(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn pairs_and_objects_say_the_same() {
        let object = words(&[r#"{"path": "a", "start": 3}"#]).unwrap();
        assert_eq!(object, json!({"path": "a", "start": 3}));
        assert_eq!(words(&["path=a=b", "x="]).unwrap(), json!({"path": "a=b", "x": ""}));
        assert_eq!(words(&[]).unwrap(), json!({}));
        assert!(matches!(words(&["path"]), Err(BadCall::NoKey(_))));
        assert!(matches!(words(&["{path"]), Err(BadCall::Json(_))));
    }
}
