//! `killick mcp`: the tools over the Model Context Protocol, one session a process.

use std::sync::Arc;
use std::time::Duration;

use super::Ended;
use crate::app::{App, Options, SessionKind};
use crate::cli::report::{self, Exit};
use crate::mcp::serve_stdio;

/// How long work that cannot be stopped may hold up the end of the process.
const LAST_WORK: Duration = Duration::from_secs(10);

pub(super) fn run(options: Options) -> Result<Exit, Ended> {
    let app = App::start(options, SessionKind::Process)?;
    // One thread polls, so that calls take their turns in the order in which they came; the work itself
    // is on blocking threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Ended::refused)?;
    let tidy = app.tidy;
    runtime.spawn_blocking(move || {
        if let Err(error) = tidy.run(jiff::Timestamp::now()) {
            report::warning(&format!("old files of killick's own cannot be removed: {error}"));
        }
    });
    let served = runtime.block_on(serve_stdio(Arc::new(app.executor)));
    runtime.shutdown_timeout(LAST_WORK);
    served.map_err(Ended::refused)?;
    Ok(Exit::Done)
}
