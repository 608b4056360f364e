//! Places that no file tool may touch, whatever the grant: repositories' stores, settings, killick's state.
//!
//! Pure: a place is judged by its canonical spelling, folded as file systems that ignore case or invisible
//! characters would fold it, so that `.GIT` or `.g<zero-width joiner>it` are no way around. Resolving
//! symlinks comes before. A bare repository has no name to go by;
//! `Workspace::is_in_bare_store` looks for one.

use crate::path::Place;

/// The folder of a project's settings.
const SETTINGS_FOLDER: &str = ".killick";

/// Why a place is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// A repository's store, or the file that leads to it.
    Repository,
    /// A settings file of killick's, in any folder.
    Settings,
    /// The settings that are the person's own and no tool may read.
    LocalSettings,
    /// killick's own state.
    State,
    /// A program that a trusted setting names.
    TrustedProgram,
}

/// The places of one session that are forbidden beside those that are so by name.
#[derive(Clone, Debug, Default)]
pub struct Forbids {
    /// Folders of killick's own state, neither read nor written.
    pub state: Vec<Place>,
    /// Folders inside [`Self::state`] that may be read all the same: the spill.
    pub readable: Vec<Place>,
    /// Programs that a trusted setting names, not written.
    pub programs: Vec<Place>,
}

impl Forbids {
    /// Returns why nothing may be written at a canonical place, or nothing where it may.
    pub fn for_write(&self, place: &Place) -> Option<Forbidden> {
        if place.path.segments().any(is_store) {
            return Some(Forbidden::Repository);
        }
        if let Some(settings) = settings(place) {
            return Some(settings);
        }
        // A file in the folder's stead would keep every settings file from being there.
        if place.path.file_name().is_some_and(|name| fold(name) == SETTINGS_FOLDER) {
            return Some(Forbidden::Settings);
        }
        if self.state.iter().any(|folder| is_within(place, folder)) {
            return Some(Forbidden::State);
        }
        let of_program = |program: &Place| is_within(place, program);
        self.programs.iter().any(of_program).then_some(Forbidden::TrustedProgram)
    }

    /// Returns why a canonical place may not be read, or nothing where it may.
    pub fn for_read(&self, place: &Place) -> Option<Forbidden> {
        if settings(place) == Some(Forbidden::LocalSettings) {
            return Some(Forbidden::LocalSettings);
        }
        let inside = |folders: &[Place]| folders.iter().any(|folder| is_within(place, folder));
        (inside(&self.state) && !inside(&self.readable)).then_some(Forbidden::State)
    }
}

/// Returns whether a name is, or may fold to, a repository's store: `.git` in any case, with invisible
/// characters in it, or as the short name that Windows gives it.
pub fn is_store(name: &str) -> bool {
    // Nearly every name is told apart by its first byte.
    if !name.starts_with(['.', 'g', 'G']) && name.is_ascii() {
        return false;
    }
    let folded = fold(name);
    let base = folded.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    matches!(base, ".git" | "git~1")
}

/// Returns whether a name is, or may fold to, the folder of a project's settings.
pub(super) fn is_settings_folder(name: &str) -> bool {
    (name.starts_with('.') || !name.is_ascii()) && fold(name) == SETTINGS_FOLDER
}

/// Returns whether a name in the folder of a project's settings is of those that no tool may read.
pub(super) fn is_local_settings(name: &str) -> bool {
    settings_file(&fold(name)) == Some(Forbidden::LocalSettings)
}

/// Returns whether a place is a settings file of killick's, or lies below where one belongs.
fn settings(place: &Place) -> Option<Forbidden> {
    let mut names = place.path.segments().map(fold).peekable();
    while let Some(folder) = names.next() {
        if folder == SETTINGS_FOLDER
            && let Some(why) = names.peek().and_then(|file| settings_file(file))
        {
            return Some(why);
        }
    }
    None
}

fn settings_file(folded: &str) -> Option<Forbidden> {
    let file = folded.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    match file {
        "settings.local.json" => Some(Forbidden::LocalSettings),
        _ => file
            .strip_prefix("settings")
            .and_then(|rest| rest.strip_suffix(".json"))
            .map(|_| Forbidden::Settings),
    }
}

fn is_within(place: &Place, folder: &Place) -> bool {
    if place.root != folder.root {
        return false;
    }
    let mut segments = place.path.segments();
    folder
        .path
        .segments()
        .all(|wanted| segments.next().is_some_and(|s| fold(s) == fold(wanted)))
}

/// Folds a name as far as any file system may: case, and characters that are not seen.
fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.chars().filter(|&c| !is_ignorable(c)).flat_map(char::to_lowercase).collect()
}

/// Unicode's default-ignorable code points, which HFS+ and case-folding ext4 leave out of a comparison.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::place;
    use super::*;

    #[test]
    fn a_store_is_known_however_it_is_spelled() {
        for name in [".git", ".GIT", ".gIt", ".g\u{200d}it", "\u{feff}.git", "git~1", "GIT~1"] {
            assert!(is_store(name), "{name:?}");
        }
        for name in [".git.", ".git ", ".git . .", ".git::$INDEX_ALLOCATION", "\u{ad}git~1"] {
            assert!(is_store(name), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "x.git", ".git~1", "git~2", ".gi", ""] {
            assert!(!is_store(name), "{name:?}");
        }
    }

    #[test]
    fn what_is_forbidden_to_write_and_to_read() {
        let forbids = Forbids {
            state: vec![place("home/state")],
            readable: vec![place("home/state/spill")],
            programs: vec![place("check.sh")],
        };
        let table = [
            ("src/a.rs", None, None),
            (".git", Some(Forbidden::Repository), None),
            ("sub/.git/config", Some(Forbidden::Repository), None),
            (".killick/settings.json", Some(Forbidden::Settings), None),
            ("a/.killick/settings.team.json", Some(Forbidden::Settings), None),
            (
                ".Killick/Settings.Local.json",
                Some(Forbidden::LocalSettings),
                Some(Forbidden::LocalSettings),
            ),
            (".killick/init.lisp", None, None),
            (".killick", Some(Forbidden::Settings), None),
            ("a/.KILLICK", Some(Forbidden::Settings), None),
            (".killick/settings.json/x", Some(Forbidden::Settings), None),
            (
                ".killick/settings.local.json/x/y",
                Some(Forbidden::LocalSettings),
                Some(Forbidden::LocalSettings),
            ),
            ("settings.json", None, None),
            ("home/state", Some(Forbidden::State), Some(Forbidden::State)),
            ("home/state/audit/1", Some(Forbidden::State), Some(Forbidden::State)),
            ("home/state/spill/1", Some(Forbidden::State), None),
            ("home/stately", None, None),
            ("check.sh", Some(Forbidden::TrustedProgram), None),
            ("CHECK.sh", Some(Forbidden::TrustedProgram), None),
        ];
        for (path, write, read) in table {
            assert_eq!(forbids.for_write(&place(path)), write, "write {path}");
            assert_eq!(forbids.for_read(&place(path)), read, "read {path}");
        }
    }
}
