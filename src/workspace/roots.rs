//! The workspace: the roots that a session works beneath, and which of them holds an absolute path.
//!
//! Nothing here looks at a file. Where one root lies inside another, a path has still one place: the
//! workspace's own where it holds the path, else the innermost root's.

use std::path::Path;
use std::sync::Arc;

use crate::path::{Place, RelPath, RootName};

use super::root::Root;

/// The roots of a session. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Workspace {
    roots: Arc<[Arc<Root>]>,
}

impl Workspace {
    /// Returns the workspace of `main` and of other roots, which `main` comes before.
    pub fn open(main: Root, others: Vec<Root>) -> Self {
        Self { roots: std::iter::once(main).chain(others).map(Arc::new).collect() }
    }

    /// Returns a workspace that has one more root.
    #[must_use]
    pub fn with_root(&self, root: Root) -> Self {
        Self { roots: self.roots.iter().cloned().chain([Arc::new(root)]).collect() }
    }

    /// Returns the roots, the workspace's own first.
    pub fn roots(&self) -> &[Arc<Root>] {
        &self.roots
    }

    /// Returns the root of a name.
    pub fn root(&self, name: &RootName) -> Option<&Arc<Root>> {
        self.roots.iter().find(|root| root.name() == name)
    }

    /// Returns the place of an absolute path without symlinks, or nothing outside every root.
    ///
    /// No file system is asked. A path below a root that is not UTF-8 has no place.
    pub fn place_of(&self, absolute: &Path) -> Option<Place> {
        let (root, path) = self.locate(absolute)?;
        Some(Place { root: root.name().clone(), path })
    }

    /// Returns the root that holds a canonical absolute path, and the path below it.
    pub(super) fn locate(&self, absolute: &Path) -> Option<(&Arc<Root>, RelPath)> {
        self.choose(absolute, Root::path)
    }

    /// Returns the root under whose canonical path or own name an absolute path is written.
    pub(super) fn locate_spelled(&self, absolute: &Path) -> Option<(&Arc<Root>, RelPath)> {
        self.locate(absolute)
            .or_else(|| self.choose(absolute, |root| Path::new(root.name().as_str())))
    }

    /// Returns the place of a path below `root`, which is another root's where one lies inside this one.
    pub(super) fn settle(&self, root: &Root, path: RelPath) -> Place {
        let inside = |other: &Arc<Root>| {
            other.name() != root.name() && other.path().starts_with(root.path())
        };
        if self.roots.len() > 1 && self.roots.iter().any(inside) {
            let absolute = root.path().join(path.as_str());
            if let Some(place) = self.place_of(&absolute) {
                return place;
            }
        }
        Place { root: root.name().clone(), path }
    }

    fn choose<'a>(
        &'a self,
        absolute: &Path,
        top: impl Fn(&'a Root) -> &'a Path,
    ) -> Option<(&'a Arc<Root>, RelPath)> {
        let holders = self.roots.iter().filter_map(|root| {
            let top = top(root);
            let rest = top.is_absolute().then(|| absolute.strip_prefix(top).ok())??;
            let depth = (root.name().is_workspace(), top.components().count());
            Some((depth, root, RelPath::parse(rest.to_str()?).ok()?))
        });
        holders.max_by_key(|&(depth, ..)| depth).map(|(_, root, path)| (root, path))
    }
}
