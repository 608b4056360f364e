//! What a process is to be held to, as data that goes to it over a wire.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The bounds of a process and of all that it starts.
///
/// Paths are absolute and without symlinks. What stands in no list can be neither read, run nor written.
/// A path that does not exist, or leads over a symlink by now, is passed over: it grants nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confinement {
    /// Folders and files that may be read and run, with everything below.
    pub readable: Vec<PathBuf>,
    /// Folders and files that may be written, with everything below; to be read they stand in both lists.
    pub writable: Vec<PathBuf>,
    /// Folders and files below writable ones that stay as they are.
    pub sealed: Vec<PathBuf>,
    /// Folders and files below the others that cannot be read either.
    pub hidden: Vec<PathBuf>,
    /// The private temporary folder, which may be read and written.
    pub temp: PathBuf,
    /// Which sockets can be made.
    pub sockets: Sockets,
}

/// Which sockets can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sockets {
    /// Connected pairs only.
    Pairs,
    /// Those of the internet protocols too; still no Unix socket, which leads to the user's other programs.
    Internet,
}

/// Returns the paths that lie below no other one, in order.
pub fn outermost<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Vec<&'p Path> {
    let mut sorted: Vec<&Path> = paths.into_iter().collect();
    sorted.sort_unstable();
    let mut kept: Vec<&Path> = Vec::new();
    for path in sorted {
        if !kept.last().is_some_and(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_others_are_left_out_and_neighbours_are_not() {
        let paths = ["/a/b", "/a-b", "/a", "/a/b/c", "/b"].map(Path::new);
        assert_eq!(outermost(paths), ["/a", "/a-b", "/b"].map(Path::new));
    }
}
