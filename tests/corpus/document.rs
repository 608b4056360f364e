//! The examples of `docs/lisp-source.md`: fenced blocks `DIALECT old`, `DIALECT new` and what comes of it,
//! `DIALECT written`, `DIALECT shown: DOUBT` or `DIALECT refused: REASON`.

use killick::syntax::{Dialect, Repair, check, repair};
use libtest_mimic::Trial;

const DOCUMENT: &str = include_str!("../../docs/lisp-source.md");

struct Block {
    dialect: String,
    title: String,
    text: String,
    line: usize,
}

pub(crate) fn trials() -> Vec<Trial> {
    let blocks = blocks();
    assert!(blocks.len() > 30 && blocks.len().is_multiple_of(3), "{} blocks", blocks.len());
    let mut blocks = blocks.into_iter();
    let mut trials = Vec::new();
    while let (Some(old), Some(new), Some(end)) = (blocks.next(), blocks.next(), blocks.next())
    {
        let name = format!("document::line-{}", old.line);
        trials.push(Trial::test(name, move || run(&old, &new, &end).map_err(Into::into)));
    }
    trials
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (nth, line) in DOCUMENT.split_inclusive('\n').enumerate() {
        match (&mut open, line.trim_end().strip_prefix("```")) {
            (None, Some(info)) => {
                let (dialect, title) = info.split_once(' ').unwrap_or((info, ""));
                let dialect = if dialect == "lisp" { "common-lisp" } else { dialect };
                let (dialect, title) = (dialect.to_owned(), title.to_owned());
                open = Some(Block { dialect, title, text: String::new(), line: nth + 1 });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text.push_str(line),
            (None, None) => {}
        }
    }
    blocks
}

fn run(old: &Block, new: &Block, end: &Block) -> Result<(), String> {
    if old.title != "old" || new.title != "new" {
        return Err("expected blocks old, new and what comes of it".to_owned());
    }
    let dialect = Dialect::named(&old.dialect).ok_or("no such dialect")?;
    let checked = check(Some(&old.text), &new.text, dialect);
    let (title, text) = match repair(&checked, Some(&old.text), &new.text, dialect, &[]) {
        Repair::Refused(reason, _) => (format!("refused: {}", reason.reason()), String::new()),
        Repair::Proposed(candidates) => {
            let best = candidates.first().ok_or("no candidate")?;
            let doubts: Vec<&str> = best.doubts.iter().map(|doubt| doubt.reason()).collect();
            let said = doubts.iter().find(|doubt| end.title == format!("shown: {doubt}"));
            let title = match (doubts.first(), said) {
                (None, _) => "written".to_owned(),
                (Some(_), Some(said)) => format!("shown: {said}"),
                (Some(_), None) => format!("shown: {}", doubts.join(", ")),
            };
            (title, best.text.clone())
        }
    };
    if (&title, &text) == (&end.title, &end.text) {
        Ok(())
    } else {
        Err(format!(
            "line {}: wanted {}\n{}\nseen {title}\n{text}",
            end.line, end.title, end.text
        ))
    }
}
