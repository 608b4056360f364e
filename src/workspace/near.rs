//! Which names stand near one that does not exist, so that a refusal can propose them.
//!
//! Nothing is ever opened in place of what was asked for: these are words for a message.

use rustix::fs::{Mode, OFlags};

use crate::path::Place;

use super::beneath::open_beneath;
use super::folder::Names;
use super::forbidden::is_store;
use super::resolve::{Kind, Target};
use super::roots::Workspace;

/// How many names are proposed.
const MAX_NAMES: usize = 3;

/// How many names of a folder are compared.
const MAX_COMPARED: usize = 10_000;

impl Workspace {
    /// Returns at most three places whose names are close to the first missing one, nearest first.
    ///
    /// A name that differs in case or in how its accents are composed comes before one with other letters.
    pub fn nearest_names(&self, target: &Target) -> Vec<Place> {
        let Kind::Missing { parent, .. } = &target.kind else {
            return Vec::new();
        };
        let wanted = target.place.path.segments().nth(parent.path.segments().count());
        let (Some(wanted), Some(names)) = (wanted, self.names_in(parent)) else {
            return Vec::new();
        };
        let folded = fold(wanted);
        let mut near: Vec<(usize, &str)> = names
            .iter()
            .filter(|(name, _)| !is_store(name))
            .map(|(name, _)| (distance(&folded, &fold(name)), name))
            .filter(|&(distance, _)| distance <= folded.chars().count() / 3)
            .collect();
        near.sort_unstable();
        near.iter()
            .take(MAX_NAMES)
            .filter_map(|(_, name)| {
                Some(Place { root: parent.root.clone(), path: parent.path.child(name)? })
            })
            .collect()
    }

    fn names_in(&self, folder: &Place) -> Option<Names> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let root = self.root(&folder.root)?;
        let dir = open_beneath(root.dir(), &folder.path, flags, Mode::empty()).ok()?;
        Names::read(dir, MAX_COMPARED, &|| false).ok()
    }
}

fn distance(a: &str, b: &str) -> usize {
    // The lengths alone tell most names apart.
    let (n_a, n_b) = (a.chars().count(), b.chars().count());
    match n_a.abs_diff(n_b) {
        far if far > n_a / 3 => far,
        _ => strsim::damerau_levenshtein(a, b),
    }
}

/// Folds a name to what a person would call the same: no case and no combining accents.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '\u{300}'..='\u{36F}'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Laid;

    #[test]
    fn near_names_are_proposed_nearest_first() {
        let laid = Laid::with(&[
            ("src/Parser.rs", ""),
            ("src/parse.rs", ""),
            ("src/lexer.rs", ""),
            ("cafe\u{301}.txt", ""),
            (".git/HEAD", ""),
        ]);
        let near = |text: &str| {
            let target = laid.workspace.resolve(text).unwrap();
            let places = laid.workspace.nearest_names(&target);
            places.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(near("src/parser.rs"), ["src/Parser.rs", "src/parse.rs"]);
        assert_eq!(near("scr/parser.rs"), ["src"]);
        assert_eq!(near("caf\u{e9}.txt"), ["cafe\u{301}.txt"]);
        assert_eq!(near(".gti"), [""; 0]);
        assert_eq!(near("src/zebra"), [""; 0]);
        assert_eq!(near("src/lexer.rs"), [""; 0]);
    }
}
