//! Refusals of the file tools: what the workspace found, in the words of the error contract.
//!
//! One place for them, so that every tool says the same of the same fault. Each names the next step.

use std::error::Error;

use crate::authority::{Capability, Demand, Grant, Resource};
use crate::code::Code;
use crate::path::Place;
use crate::tool::Failure;
use crate::workspace::{Forbidden, LoadError, PathError, PatternError};

/// Refuses a path that means no place.
pub(super) fn path(error: PathError) -> Failure {
    match error {
        PathError::Nul => {
            Failure::new(Code::BadArg, "the path holds a NUL byte; no file has such a name.")
        }
        PathError::Escape { path, link } => {
            let through =
                link.map_or(String::new(), |link| format!(" through the symlink {link}"));
            Failure::new(
                Code::PathEscape,
                format!(
                    "{path} leads out of the workspace{through}; use a path below the workspace, or have \
                     the folder added to workspace.extra in the user's settings."
                ),
            )
        }
        PathError::SymlinkLoop { path } => Failure::new(
            Code::Io,
            format!(
                "{path} leads through more than 40 symlinks, most likely in a circle; name the file itself."
            ),
        ),
        PathError::NotUtf8 { link } => Failure::new(
            Code::Io,
            format!(
                "the symlink {link} leads to a name that is not UTF-8, which killick cannot show or take."
            ),
        ),
        PathError::NotAFolder { file } => Failure::new(
            Code::NotFound,
            format!(
                "{file} is a file, so nothing lies below it; find lists the paths that there are."
            ),
        ),
        PathError::Io { verb, path, source } => io(verb, &path.to_string(), &source),
    }
}

/// Refuses a text that is no pattern.
pub(super) fn pattern(error: &PatternError) -> Failure {
    Failure::new(Code::BadArg, format!("the pattern is no glob: {error}."))
}

/// Refuses a place that the file tools keep away from.
pub(super) fn forbidden(place: &Place, why: Forbidden) -> Failure {
    let what = match why {
        Forbidden::Repository => {
            "is in a repository's own store, which no file tool writes; use git itself"
        }
        Forbidden::Settings => {
            "is killick's settings, which no file tool writes; ask the user to change them"
        }
        Forbidden::LocalSettings => {
            "is the user's own settings of this project, closed to every file tool; ask the user"
        }
        Forbidden::State => {
            "is killick's own state, closed to every file tool; choose another path"
        }
        Forbidden::TrustedProgram => {
            "is a program that a trusted setting runs, which no file tool writes; ask the user"
        }
    };
    Failure::new(Code::ForbiddenPath, format!("{place} {what}."))
}

/// Refuses a file that cannot be read. `near` are names like the one that was not found.
pub(super) fn load(error: LoadError, near: &[String]) -> Failure {
    match error {
        LoadError::NotFound(place) => not_found(&place, near),
        LoadError::IsDirectory(place) => is_directory(&place),
        LoadError::NotRegular(place) => not_regular(&place),
        LoadError::TooLarge { place, len, limit_bytes } => Failure::new(
            Code::TooLarge,
            format!(
                "{place} has {len} bytes, over the limit of {limit_bytes}; use search with this path to look \
                 into it."
            ),
        ),
        LoadError::NotText { place, why } => Failure::new(
            Code::NotText,
            format!("{place} is not text: {why}; killick reads and edits UTF-8 text only."),
        ),
        LoadError::Swapped(place) => Failure::new(
            Code::Conflict,
            format!("the way to {place} was changed while the call ran; make the call again."),
        ),
        LoadError::Io { verb, place, source } => io(verb, &place.to_string(), &source),
    }
}

/// Refuses a path at which nothing stands.
pub(super) fn not_found(place: &Place, near: &[String]) -> Failure {
    missing(place, near, "find lists the paths that there are.")
}

/// Refuses a path at which nothing stands; `next` says what to do where no name comes near.
pub(super) fn missing(place: &Place, near: &[String], next: &str) -> Failure {
    let next = if near.is_empty() {
        next.to_owned()
    } else {
        format!("names like it in that folder: {}.", near.join(", "))
    };
    Failure::new(Code::NotFound, format!("{place} does not exist; {next}"))
}

/// Refuses a folder where a file is wanted.
pub(super) fn is_directory(place: &Place) -> Failure {
    Failure::new(
        Code::IsDirectory,
        format!(
            "{place} is a folder; name a file, or use list_dir or find to see what it holds."
        ),
    )
}

/// Refuses a path that asks for a folder where a file is to be made.
pub(super) fn names_a_folder(path: &str) -> Failure {
    Failure::new(
        Code::IsDirectory,
        format!(
            "{path} ends in a slash and so names a folder; name the file that is to be made."
        ),
    )
}

/// Refuses a pipe, a device or a socket.
pub(super) fn not_regular(place: &Place) -> Failure {
    Failure::new(
        Code::NotText,
        format!(
            "{place} is a pipe, a device or a socket, not a regular file; it was not opened."
        ),
    )
}

/// Refuses with what the system said.
pub(super) fn io(verb: &str, path: &str, source: &dyn Error) -> Failure {
    Failure::new(Code::Io, format!("failed to {verb} {path}: {source}."))
}

/// Refuses a file where a folder is wanted.
pub(super) fn not_a_folder(place: &Place) -> Failure {
    Failure::new(Code::BadArg, format!("{place} is no folder; read shows what a file holds."))
}

/// Refuses a place that the grant does not cover, in the words of the executor.
pub(super) fn denied(capability: &Capability, place: &Place, grant: &Grant) -> Failure {
    let demand =
        Demand { capability: capability.clone(), resource: Resource::Path(place.clone()) };
    let denial =
        grant.check(&demand).err().map_or_else(String::new, |denial| denial.to_string());
    Failure::new(Code::CapabilityDenied, format!("{denial}."))
}
