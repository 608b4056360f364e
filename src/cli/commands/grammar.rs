//! `killick grammar`: the language of patches for a decoder, whole or with a session's anchors only.

use super::Ended;
use crate::app::{Ground, Options};
use crate::cli::report::{self, Exit};
use crate::hashline::GRAMMAR;
use crate::hashline::served::{ServedFile, served_grammar};
use crate::session::SessionId;

/// There is no such session.
#[derive(Debug, thiserror::Error)]
#[error("there is no session `{0}` in this workspace; `killick call --session {0}` makes one")]
struct NoSession(String);

pub(super) fn whole() -> Exit {
    report::data(GRAMMAR);
    Exit::Done
}

pub(super) fn served(options: Options, name: &str) -> Result<Exit, Ended> {
    let ground = Ground::survey(options)?;
    let no_session = || Ended::usage(NoSession(name.to_owned()));
    let id = SessionId::new(name).ok_or_else(no_session)?;
    let state = ground.memory(&id)?.ok_or_else(no_session)?;
    let mut files: Vec<ServedFile> = state
        .files()
        .map(|(place, seen)| ServedFile { path: place.to_string(), anchors: seen.served() })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    report::data(&served_grammar(&files));
    Ok(Exit::Done)
}
