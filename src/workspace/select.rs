//! What the pattern of find and search means: a file, a folder's files, or the files that a glob matches.
//!
//! An existing path is itself, whatever characters its name has; only then is a text a pattern. Whether
//! nothing found is an error is the caller's question.

use crate::path::Place;

use super::forbidden::is_store;
use super::glob::{Matcher, Pattern, PatternError, is_wild};
use super::resolve::{Kind, PathError, Target};
use super::roots::Workspace;
use super::walk::{Bounds, Entry, Listing};

/// What a pattern means.
#[derive(Clone, Debug)]
pub enum Selection {
    /// One file, named.
    File(Target),
    /// What stands there is neither file nor folder.
    Other(Target),
    /// All files below a folder that match.
    Below(Scan),
    /// The pattern has wildcards, and the folder that it begins in does not exist.
    Nothing(Place),
    /// The pattern has no wildcard and nothing stands there.
    Missing(Target),
}

/// A walk to be made.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The folder where it begins.
    pub start: Place,
    matcher: Matcher,
}

/// Why a pattern means nothing.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// Its path cannot be resolved.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It is no pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl Workspace {
    /// Returns what `text` means to find and search.
    pub fn select(&self, text: &str) -> Result<Selection, SelectError> {
        match self.resolve(text) {
            Ok(target) => match target.kind {
                Kind::File(_) => return Ok(Selection::File(target)),
                Kind::Other => return Ok(Selection::Other(target)),
                Kind::Folder => return Ok(below(target, Matcher::everything())),
                Kind::Missing { .. } if !has_meaning(text) => {
                    return Ok(Selection::Missing(target));
                }
                Kind::Missing { .. } => {}
            },
            Err(error) if !has_meaning(text) => return Err(error.into()),
            Err(_) => {}
        }
        let pattern = Pattern::parse(text)?;
        match (self.resolve(&pattern.prefix), pattern.rest) {
            (Ok(target), None) => Ok(plain(target)),
            (Ok(target), Some(matcher)) if target.kind == Kind::Folder => {
                Ok(below(target, matcher))
            }
            (Ok(target), Some(_)) => Ok(Selection::Nothing(target.place)),
            (Err(PathError::NotAFolder { file }), Some(_)) => {
                Ok(Selection::Nothing(self.meant(&pattern.prefix).unwrap_or(file)))
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    /// Returns the files of a selection, sorted, and what is to be said about them.
    ///
    /// Cost: reads the folders that can hold a match; of files only the names.
    pub fn find(&self, selection: &Selection, bounds: &Bounds<'_>) -> Listing {
        match selection {
            Selection::File(target) => one(target, bounds),
            Selection::Below(scan) => self.walk(&scan.start, &scan.matcher, bounds),
            Selection::Other(_) | Selection::Nothing(_) | Selection::Missing(_) => {
                Listing::default()
            }
        }
    }
}

fn has_meaning(text: &str) -> bool {
    is_wild(text) || text.contains('\\')
}

fn below(target: Target, matcher: Matcher) -> Selection {
    Selection::Below(Scan { start: target.place, matcher })
}

fn plain(target: Target) -> Selection {
    match target.kind {
        Kind::File(_) => Selection::File(target),
        Kind::Folder => below(target, Matcher::everything()),
        Kind::Other => Selection::Other(target),
        Kind::Missing { .. } => Selection::Missing(target),
    }
}

/// Lists one named file, as a walk would: never what lies in a repository's store.
fn one(target: &Target, bounds: &Bounds<'_>) -> Listing {
    let mut listing = Listing::default();
    let places = [&target.spelled, &target.place];
    if places.iter().any(|place| place.path.segments().any(is_store)) {
        return listing;
    }
    if !(bounds.admit)(&target.place) {
        listing.notes.n_outside_scope = 1;
        return listing;
    }
    let link = (target.place != target.spelled).then(|| target.place.clone());
    listing.files.push(Entry { place: target.spelled.clone(), target: link });
    listing
}
