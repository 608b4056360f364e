//! `killick undo`: shows the workspace's last writes, and takes them back when told to.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Ended;
use crate::app::{App, Ground, Options, SessionKind};
use crate::cli::report::{self, Exit};
use crate::dispatch::Call;
use crate::session::SessionId;
use crate::workspace::{Done, Whose, history};

/// Why the last writes cannot be taken back together.
#[derive(Debug, thiserror::Error)]
enum CannotUndo {
    #[error("nothing has been written in this workspace, or its record was purged")]
    Nothing,
    #[error("only {0} of that many writes are recorded in this workspace")]
    TooFew(usize),
    #[error("the last writes belong to several sessions; take them back one at a time")]
    SeveralSessions,
    #[error("the record of the last write names no session")]
    NoSession,
}

pub(super) fn run(options: Options, count: u32, yes: bool) -> Result<Exit, Ended> {
    let ground = Ground::survey(options.clone())?;
    let store = ground.workspace_store(&ground.workspace()?);
    let n_wanted = usize::try_from(count.max(1)).unwrap_or(usize::MAX);
    let last = history(&store, Whose::Everyone, n_wanted).map_err(Ended::refused)?;
    if last.is_empty() {
        return Err(Ended::refused(CannotUndo::Nothing));
    }
    if last.len() < n_wanted {
        return Err(Ended::refused(CannotUndo::TooFew(last.len())));
    }
    if !yes {
        let rows: Vec<String> = last.iter().map(shown).collect();
        report::data(&rows.join("\n"));
        report::words("Nothing was changed. To take this back: killick undo --yes");
        return Ok(Exit::Done);
    }
    take_back(options, &last)
}

/// Takes the writes back through the same gate as any other call of their session.
fn take_back(options: Options, last: &[Done]) -> Result<Exit, Ended> {
    let mut sessions = last.iter().map(|done| done.session.as_str());
    let session = sessions.next().unwrap_or_default();
    if sessions.any(|other| other != session) {
        return Err(Ended::refused(CannotUndo::SeveralSessions));
    }
    let id = SessionId::new(session).ok_or_else(|| Ended::refused(CannotUndo::NoSession))?;
    let app = App::start(options, SessionKind::Adopted(id))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Ended::refused)?;
    let call = Call { tool: "undo".to_owned(), arguments: json!({"count": last.len()}) };
    let outcome = runtime.block_on(app.executor.call(call, &CancellationToken::new()));
    super::call::report(&outcome, crate::cli::args::Format::Text);
    Ok(super::call::exit(&outcome))
}

fn shown(done: &Done) -> String {
    let time = i64::try_from(done.time_unix_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(|| "at an unknown time".to_owned(), |time| format!("{time:.0}"));
    let files = done.files.iter().map(|file| {
        let how = match (file.before, file.after) {
            (None, _) => "made",
            (Some(_), None) => "removed",
            (Some(_), Some(_)) => "changed",
        };
        format!("  {how} {}", file.place)
    });
    let head = format!("{time}  {} by session {}", done.label, done.session);
    std::iter::once(head).chain(files).collect::<Vec<_>>().join("\n")
}
