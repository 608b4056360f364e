//! From the lists of capabilities in the settings to the grant of the session.

use crate::authority::{BadEntry, Entry, Grant};
use crate::settings::{Narrowing, Site};

/// An entry of a list of capabilities that means nothing.
#[derive(Debug, thiserror::Error)]
#[error("{site}: {cause}")]
pub struct BadCapability {
    /// Where it is written.
    pub site: Site,
    /// What is wrong with it.
    pub cause: BadEntry,
}

/// Meets the lists of all layers; without any, everything is granted.
///
/// Errors: every entry that is wrong, over all lists.
pub(super) fn meet(narrowings: &[Narrowing]) -> Result<Grant, Vec<BadCapability>> {
    let mut grant = Grant::everything();
    let mut wrong = Vec::new();
    for narrowing in narrowings {
        let mut entries = Vec::new();
        for entry in &narrowing.entries {
            match Entry::parse(&entry.value) {
                Ok(entry) => entries.push(entry),
                Err(cause) => wrong.push(BadCapability { site: entry.site.clone(), cause }),
            }
        }
        grant = grant.meet(&Grant::from_layer(&narrowing.origin.to_string(), &entries));
    }
    if wrong.is_empty() { Ok(grant) } else { Err(wrong) }
}
