//! From the lists of capabilities in the settings to the grant of the session.

use std::borrow::Cow;
use std::path::Path;

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
/// A scope that is written with the workspace's absolute path means the same as without it.
/// Errors: every entry that is wrong, over all lists.
pub(super) fn meet(
    narrowings: &[Narrowing],
    workspace: &Path,
) -> Result<Grant, Vec<BadCapability>> {
    let mut grant = Grant::everything();
    let mut wrong = Vec::new();
    for narrowing in narrowings {
        let mut entries = Vec::new();
        for entry in &narrowing.entries {
            match Entry::parse(&relative(&entry.value, workspace)) {
                Ok(entry) => entries.push(entry),
                Err(cause) => wrong.push(BadCapability { site: entry.site.clone(), cause }),
            }
        }
        grant = grant.meet(&Grant::from_layer(&narrowing.origin.to_string(), &entries));
    }
    if wrong.is_empty() { Ok(grant) } else { Err(wrong) }
}

/// Takes the workspace's own path from the start of an entry's scope.
fn relative<'e>(entry: &'e str, workspace: &Path) -> Cow<'e, str> {
    let within = entry.split_once('(').and_then(|(name, scope)| {
        let rest = scope.strip_prefix(workspace.to_str()?)?;
        match rest.strip_prefix('/') {
            Some(below) => Some(format!("{name}({below}")),
            None => rest.starts_with(')').then(|| format!("{name}(.{rest}")),
        }
    });
    within.map_or(Cow::Borrowed(entry), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_with_the_path_of_the_workspace_is_one_of_the_workspace() {
        let relative = |entry| relative(entry, Path::new("/w/s")).into_owned();
        assert_eq!(relative("file/edit(/w/s/src/**)"), "file/edit(src/**)");
        assert_eq!(relative("file/edit(/w/s)"), "file/edit(.)");
        assert_eq!(relative("file/edit(/w/sister/**)"), "file/edit(/w/sister/**)");
        assert_eq!(relative("file/edit"), "file/edit");
    }
}
