//! Hashline cases: a script of what the session read, what changed, and the patches that were sent.
//!
//! Sections, in order of the file: `file PATH` (the content, read whole), `unread PATH`, `search PATH`
//! (known whole, no row shown), `write PATH` (another program's change), `read PATH [A..B]`, `reply`,
//! `patch [relocate] [literal]`, `replace PATH [all]` (old, a line `----`, new). A content with the word
//! `escaped` has its line ends as `\n` and `\r\n`, its own being layout. `{{3}}` is the anchor of line 3 as
//! `file` had it, `{{now:3}}` as it is, `{{bad:3}}` one that is wrong. `says [N]` is the whole answer of
//! the Nth call; `expect PATH` what calls made of a file; none means that its bytes did not change.

use std::collections::BTreeMap;

use killick::code::Code;
use killick::hashline::seen::{Scope, Seen, Shift, Sight};
use killick::hashline::{
    Echoes, Occurrences, Options, Patch, Plan, Problem, Refusal, Relocation, Subject, apply,
    grammar, replace, report, resolve,
};
use killick::path::{Place, RelPath};
use killick::text::{LineNo, Snapshot};

use crate::fixture::{Fixture, Section};

/// A file of the case.
struct File {
    first: Snapshot,
    outside: Snapshot,
    now: Snapshot,
    seen: Seen,
    at_reply: Seen,
    since: Vec<Shift>,
    escaped: bool,
}

/// The state that the sections build.
#[derive(Default)]
struct Case {
    files: BTreeMap<String, File>,
    in_reply: bool,
    n_calls: usize,
}

/// Runs one case.
pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let mut case = Case::default();
    for section in fixture.sections.clone() {
        let answer = case.section(&section)?;
        if let Some(answer) = answer {
            case.n_calls += 1;
            let nth = if case.n_calls == 1 { String::new() } else { case.n_calls.to_string() };
            fixture.check("says", &nth, Some(&(answer + "\n")));
        }
    }
    for (path, file) in &case.files {
        let changed = file.now.bytes() != file.outside.bytes();
        let argument = if file.escaped { format!("{path} escaped") } else { path.clone() };
        let text = file.now.text();
        let shown = if file.escaped { escape(text) } else { text.to_owned() };
        fixture.check("expect", &argument, changed.then_some(&*shown));
    }
    Ok(())
}

fn place(path: &str) -> Place {
    Place::in_workspace(RelPath::parse(path).unwrap())
}

fn sight(snapshot: &Snapshot, scope: Scope, rows: Option<(usize, usize)>) -> Sight {
    let mut sight = Sight {
        digest: snapshot.digest(),
        lines: snapshot.line_digests().clone(),
        scope,
        whole: Vec::new(),
        clipped: Vec::new(),
    };
    if let Some((first, last)) = rows {
        for line in (first..=last.min(snapshot.n_lines())).map(|n| LineNo::from_index(n - 1)) {
            if snapshot.line(line).unwrap().chars().count() > 500 && first != last {
                sight.clipped.push(line);
            } else {
                sight.whole.push((line, line));
            }
        }
    }
    sight
}

impl Case {
    fn section(&mut self, section: &Section) -> Result<Option<String>, String> {
        let words: Vec<&str> = section.argument.split(' ').filter(|w| !w.is_empty()).collect();
        let is_word = |word: &&str| matches!(*word, "escaped" | "all") || word.contains("..");
        let n_path = words.iter().take_while(|word| !is_word(word)).count();
        let path = &*words[..n_path].join(" ");
        let words = &words[n_path.min(words.len())..];
        let content = || {
            let text = &section.content;
            let text = if words.contains(&"escaped") { unescape(text) } else { text.clone() };
            let text = long_lines(&text);
            Snapshot::new(text.as_bytes()).map_err(|error| error.to_string())
        };
        match section.name.as_str() {
            "file" | "unread" | "search" => {
                let first = content()?;
                let mut seen = Seen::default();
                match section.name.as_str() {
                    "file" => {
                        seen.saw(&sight(&first, Scope::Whole, Some((1, first.n_lines()))));
                    }
                    "search" => seen.saw(&sight(&first, Scope::Whole, None)),
                    _ => {}
                }
                let file = File {
                    outside: first.clone(),
                    now: first.clone(),
                    first,
                    at_reply: Seen::default(),
                    seen,
                    since: Vec::new(),
                    escaped: words.contains(&"escaped"),
                };
                self.files.insert(path.to_owned(), file);
            }
            "write" => {
                let file = self.files.get_mut(path).ok_or("no such file")?;
                file.now = content()?;
                file.outside = file.now.clone();
            }
            "read" => {
                let file = self.files.get_mut(path).ok_or("no such file")?;
                let rows = match words.first().and_then(|range| range.split_once("..")) {
                    Some((first, last)) => (first.parse().unwrap(), last.parse().unwrap()),
                    None => (1, file.now.n_lines()),
                };
                file.seen.saw(&sight(&file.now, Scope::Whole, Some(rows)));
            }
            "reply" => {
                self.in_reply = true;
                for file in self.files.values_mut() {
                    file.at_reply = file.seen.clone();
                    file.since.clear();
                }
            }
            "patch" => {
                let words: Vec<&str> = section.argument.split(' ').collect();
                let text = if words.contains(&"escaped") {
                    unescape(&section.content)
                } else {
                    section.content.clone()
                };
                let options = Options {
                    relocation: if words.contains(&"relocate") {
                        Relocation::Follow
                    } else {
                        Relocation::Refuse
                    },
                    echoes: if words.contains(&"literal") {
                        Echoes::Literal
                    } else {
                        Echoes::Refuse
                    },
                };
                let outcome = self.patch(&self.expand(&text), options);
                return Ok(Some(self.finish(outcome)));
            }
            "replace" => {
                let (old, new) =
                    section.content.split_once("----\n").ok_or("replace needs a line ----")?;
                let cut = |text: &str| {
                    if words.contains(&"escaped") {
                        unescape(text)
                    } else {
                        text.strip_suffix('\n').unwrap_or(text).to_owned()
                    }
                };
                let occurrences =
                    if words.contains(&"all") { Occurrences::All } else { Occurrences::One };
                let file = self.files.get(path).ok_or("no such file")?;
                let outcome = replace(
                    &place(path),
                    &file.now,
                    &file.seen,
                    &cut(old),
                    &cut(new),
                    occurrences,
                );
                return Ok(Some(self.finish(outcome)));
            }
            "says" | "expect" => {}
            other => return Err(format!("unknown section {other}")),
        }
        Ok(None)
    }

    fn patch(&self, text: &str, options: Options) -> Result<Plan, Refusal> {
        let patch: Patch = grammar::parse(text)?;
        let files = patch
            .into_files(|path| {
                let place = place(path);
                if self.files.contains_key(place.path.as_str()) {
                    Ok(place)
                } else {
                    Err(place)
                }
            })
            .map_err(|missing| {
                let problem = |(_, place)| {
                    Problem::said(Code::NotFound, Some(place), "nothing exists there")
                };
                Refusal::from(missing.into_iter().map(problem).collect::<Vec<_>>())
            })?;
        let subjects: Vec<Subject<'_>> = files
            .iter()
            .map(|patch| {
                let file = &self.files[patch.place.path.as_str()];
                let seen = if self.in_reply { &file.at_reply } else { &file.seen };
                Subject { patch, now: &file.now, seen, since: &file.since }
            })
            .collect();
        resolve(&subjects, options)
    }

    /// Writes what a plan says, folds what was seen, and returns the answer.
    fn finish(&mut self, outcome: Result<Plan, Refusal>) -> String {
        match outcome {
            Ok(plan) => {
                let mut texts = Vec::new();
                for draft in apply(plan) {
                    let file = self.files.get_mut(draft.place.path.as_str()).unwrap();
                    texts.push(report::success(&draft, report::Verb::Edited));
                    if draft.is_unchanged() {
                        continue;
                    }
                    let now = Snapshot::new(&draft.bytes).unwrap();
                    assert_eq!(now.line_digests(), &draft.lines, "digests of the draft");
                    assert_eq!(now.digest(), draft.digest, "digest of the draft");
                    for (index, content) in now.iter().enumerate() {
                        assert_eq!(draft.line(LineNo::from_index(index)), Some(content));
                    }
                    file.now = now;
                    file.seen.edited(draft.shift());
                    file.seen.saw(&draft.sight());
                    if self.in_reply {
                        file.since.push(draft.shift());
                    }
                }
                texts.join("\n")
            }
            Err(refusal) => {
                for (place, sight) in &refusal.sights {
                    self.files.get_mut(place.path.as_str()).unwrap().seen.saw(sight);
                }
                report::refusal(&refusal)
            }
        }
    }

    /// Puts in anchors for `{{…}}`, of the file whose section it stands in.
    fn expand(&self, text: &str) -> String {
        let mut file: Option<&File> = None;
        let mut out = String::new();
        for line in text.split_inclusive('\n') {
            if let Some(path) = line.strip_prefix("@@ ") {
                let path = place(path.trim()).path;
                file = self.files.get(path.as_str());
            }
            let mut rest = line;
            while let Some((before, after)) = rest.split_once("{{") {
                let (word, after) = after.split_once("}}").unwrap();
                out.push_str(before);
                out.push_str(&anchor(file.or(self.files.values().next()).unwrap(), word));
                rest = after;
            }
            out.push_str(rest);
        }
        out
    }
}

fn anchor(file: &File, word: &str) -> String {
    let (which, number) = word.split_once(':').unwrap_or(("", word));
    let line = LineNo::new(number.parse().unwrap()).unwrap();
    let snapshot = if which == "now" { &file.now } else { &file.first };
    let check = snapshot.line_digest(line).map_or(0, killick::text::LineDigest::check);
    let check = if which == "bad" { check ^ 1 } else { check };
    format!("{line}:{check:02x}")
}

/// Reads `\n`, `\r`, `\t`, `\\` and `\u{…}`; line ends of the text itself are layout.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().filter(|&c| c != '\n');
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let hex: String = chars.by_ref().skip(1).take_while(|&c| c != '}').collect();
                out.push(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap());
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '\u{FEFF}' => out.push_str("\\u{FEFF}"),
            c => out.push(c),
        }
    }
    if !out.ends_with('\n') && !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Writes out `<<x*600>>` as six hundred x, so that long lines stay readable.
fn long_lines(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<<") {
        let parsed = after.split_once(">>").and_then(|(word, after)| {
            let (unit, times) = word.split_once('*')?;
            Some((unit.repeat(times.parse().ok()?), after))
        });
        let (long, after) = parsed.unwrap_or(("<<".to_owned(), after));
        out.push_str(before);
        out.push_str(&long);
        rest = after;
    }
    out + rest
}
