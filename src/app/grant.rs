//! From the lists in the settings to the grant of the session and to what a person must confirm.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::authority::{Asked, Asks, BadEntry, Entry, Grant};
use crate::settings::{Entries, Narrowing, Settings, Site, Spanned};

/// An entry of a list of capabilities that means nothing.
#[derive(Debug, thiserror::Error)]
#[error("{site}: {cause}")]
pub struct BadCapability {
    /// Where it is written.
    pub site: Site,
    /// What is wrong with it.
    pub cause: BadEntry,
}

/// What a session may do, and what of that a person must confirm.
#[derive(Clone, Debug)]
pub(super) struct Authority {
    pub(super) grant: Grant,
    pub(super) asks: Asks,
}

/// Reads the lists of all layers.
///
/// A scope that is written with the workspace's absolute path means the same as without it.
/// Errors: every entry that is wrong, over all lists.
pub(super) fn read(
    settings: &Settings,
    workspace: &Path,
) -> Result<Authority, Vec<BadCapability>> {
    let mut reader = Reader { workspace, wrong: Vec::new() };
    let grant = reader.meet(&settings.capabilities);
    let mut asked = Vec::new();
    for list in &settings.ask {
        let origin: Arc<str> = Arc::from(list.origin.to_string());
        let entries = reader.entries(&list.value).into_iter();
        asked.extend(entries.map(|entry| Asked { entry, origin: Arc::clone(&origin) }));
    }
    let exempt =
        settings.approved.iter().flat_map(|list| reader.entries(&list.value)).collect();
    if reader.wrong.is_empty() {
        Ok(Authority { grant, asks: Asks::new(asked, exempt) })
    } else {
        Err(reader.wrong)
    }
}

/// Reads lists, and keeps every entry that is wrong.
struct Reader<'w> {
    workspace: &'w Path,
    wrong: Vec<BadCapability>,
}

impl Reader<'_> {
    /// Meets the lists of all layers; without any, everything is granted.
    fn meet(&mut self, narrowings: &[Narrowing]) -> Grant {
        narrowings.iter().fold(Grant::everything(), |grant, narrowing| {
            let entries = self.entries(&narrowing.entries);
            grant.meet(&Grant::from_layer(&narrowing.origin.to_string(), &entries))
        })
    }

    fn entries(&mut self, list: &Entries) -> Vec<Entry> {
        list.iter().filter_map(|entry| self.entry(entry)).collect()
    }

    fn entry(&mut self, entry: &Spanned<String>) -> Option<Entry> {
        match Entry::parse(&relative(&entry.value, self.workspace)) {
            Ok(entry) => Some(entry),
            Err(cause) => {
                self.wrong.push(BadCapability { site: entry.site.clone(), cause });
                None
            }
        }
    }
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
