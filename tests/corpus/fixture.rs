//! The format of a case: sections, each opened by a fence line `=== NAME ARGUMENT…`.
//!
//! What stands before the first fence says what the case shows. A first line `fence ###` declares another
//! fence, for contents that hold `===` themselves. A section's content is its lines, each with its
//! newline; `(no final newline)` at the end of a fence line takes the last newline away.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// One section of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The first word after the fence.
    pub(crate) name: String,
    /// The rest of the fence line.
    pub(crate) argument: String,
    /// The lines below it.
    pub(crate) content: String,
}

/// A case, read from its file.
#[derive(Debug)]
pub(crate) struct Fixture {
    path: PathBuf,
    fence: String,
    preface: String,
    pub(crate) sections: Vec<Section>,
    complaints: Vec<String>,
    blessed: bool,
}

const NO_NEWLINE: &str = "(no final newline)";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Returns the cases below an area's folder, relative to `tests/fixtures`, sorted.
pub(crate) fn paths(area: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(area)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "txt") {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

impl Fixture {
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(root().join(path)).map_err(|error| error.to_string())?;
        let mut fence = "===".to_owned();
        let mut preface = String::new();
        let mut sections: Vec<Section> = Vec::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let bare = line.trim_end_matches('\n');
            if let Some(declared) = bare.strip_prefix("fence ").filter(|_| index == 0) {
                fence = declared.to_owned();
                continue;
            }
            match bare.strip_prefix(&*fence).and_then(|rest| rest.strip_prefix(' ')) {
                Some(title) => {
                    let (name, argument) = title.split_once(' ').unwrap_or((title, ""));
                    sections.push(Section {
                        name: name.to_owned(),
                        argument: argument.to_owned(),
                        content: String::new(),
                    });
                }
                None => match sections.last_mut() {
                    Some(section) => section.content.push_str(line),
                    None => preface.push_str(line),
                },
            }
        }
        for section in &mut sections {
            if let Some(rest) = section.argument.strip_suffix(NO_NEWLINE) {
                section.argument = rest.trim_end().to_owned();
                section.content.pop();
            }
        }
        Ok(Self {
            path: path.to_owned(),
            fence,
            preface,
            sections,
            complaints: Vec::new(),
            blessed: false,
        })
    }

    /// Returns the name of the folder that holds the case.
    pub(crate) fn folder(&self) -> String {
        let folder = self.path.parent().and_then(Path::file_name);
        folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the only section of a name, if there is one.
    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns the content of a section that the case must have.
    pub(crate) fn need(&self, name: &str) -> Result<String, String> {
        self.section(name)
            .map(|section| section.content.clone())
            .ok_or_else(|| format!("{}: no section {name}", self.path.display()))
    }

    /// Holds the section `name argument` against what was seen; an absent section counts as absent.
    pub(crate) fn check(&mut self, name: &str, argument: &str, seen: Option<&str>) {
        let at = self.sections.iter().position(|s| s.name == name && s.argument == argument);
        let wanted = at.map(|at| self.sections[at].content.as_str());
        if wanted == seen {
            return;
        }
        if std::env::var_os("KILLICK_BLESS").is_some() {
            self.blessed = true;
            match (at, seen) {
                (Some(at), Some(seen)) => self.sections[at].content = seen.to_owned(),
                (Some(at), None) => drop(self.sections.remove(at)),
                (None, Some(seen)) => self.sections.push(Section {
                    name: name.to_owned(),
                    argument: argument.to_owned(),
                    content: seen.to_owned(),
                }),
                (None, None) => {}
            }
            return;
        }
        let show =
            |text: Option<&str>| text.map_or("(nothing)".to_owned(), |t| format!("{t:?}\n{t}"));
        self.complaints.push(format!(
            "{} {name} {argument}\n--- wanted: {}\n--- seen: {}",
            self.path.display(),
            show(wanted),
            show(seen)
        ));
    }

    /// Writes what was blessed and reports every difference.
    pub(crate) fn finish(self) -> Result<(), String> {
        if self.blessed {
            fs::write(root().join(&self.path), self.render())
                .map_err(|error| error.to_string())?;
        }
        if self.complaints.is_empty() { Ok(()) } else { Err(self.complaints.join("\n\n")) }
    }

    fn render(&self) -> String {
        let mut text = String::new();
        if self.fence != "===" {
            let _ = writeln!(text, "fence {}", self.fence);
        }
        text.push_str(&self.preface);
        for section in &self.sections {
            let open = !section.content.is_empty() && !section.content.ends_with('\n');
            let words = [&*self.fence, &section.name, &section.argument];
            text.push_str(
                &words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "),
            );
            if open {
                let _ = write!(text, " {NO_NEWLINE}");
            }
            text.push('\n');
            text.push_str(&section.content);
            if open {
                text.push('\n');
            }
        }
        text
    }
}
