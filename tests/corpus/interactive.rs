//! `interactive/`: shell lines, and the interactive program that each would start first.
//!
//! `add` and `allow` hold names of the settings, one a line. A line of `lines` is `VERDICT: LINE`, where the
//! verdict is `run` or the program's name, and `␤` in a line stands for a newline.

use std::fmt::Write as _;

use killick::process::{Interactive, interactive};

use crate::fixture::Fixture;

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let names = |section: &str| -> Vec<String> {
        let content = fixture.section(section).map(|section| section.content.lines());
        content.into_iter().flatten().map(str::to_owned).collect()
    };
    let words = Interactive { add: names("add"), allow: names("allow") };
    let mut seen = String::new();
    for row in fixture.need("lines")?.lines() {
        let (_, line) = row.split_once(": ").ok_or_else(|| format!("no verdict: {row:?}"))?;
        let found = interactive(&line.replace('␤', "\n"), &words);
        let _ = writeln!(seen, "{}: {line}", found.as_deref().unwrap_or("run"));
    }
    fixture.check("lines", "", Some(&seen));
    Ok(())
}
