//! `killick trust`: trusting the project's settings files as they are now, or no longer.

use super::Ended;
use crate::app::{Ground, Options};
use crate::cli::report::{self, Exit};
use crate::text::Digest;

pub(super) fn run(options: &Options, revoke: bool) -> Result<Exit, Ended> {
    let trustee = Ground::trustee(options)?;
    if revoke {
        trustee.revoke().map_err(Ended::refused)?;
        report::data("No settings of this project are trusted any more.");
        return Ok(Exit::Done);
    }
    let before = Ground::survey(options.clone())?;
    let judged = trustee.trust().map_err(Ended::refused)?;
    if judged.is_empty() {
        report::data(
            "There are no project settings here: .killick/settings.json does not exist.",
        );
    }
    for file in judged {
        let digest = Digest::of(&file.bytes).to_hex();
        let start = digest.get(..16).unwrap_or_default();
        report::data(&format!(
            "Trusted {} as it is now (BLAKE3 {start}…).",
            file.path.display()
        ));
    }
    for inert in &before.settings.inert {
        report::data(&format!("{:?} in {} is in force from now on.", inert.key, inert.origin));
    }
    Ok(Exit::Done)
}
