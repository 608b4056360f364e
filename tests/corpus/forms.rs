//! Cases `forms/DIALECT/…`: in `source`, forms like `match` become `new`, or go where `new` is empty.
//!
//! `within` names a form at top level. `places` are the lines of what matches, `text` is the result.
//! A case without `match` shows the `outline`.

use std::fmt::Write as _;

use killick::syntax::{
    Form, IndentRules, Tree, balance, delete, find, find_top, outline, replace,
};

use crate::fixture::Fixture;
use crate::lexer::dialect;

pub(crate) fn run(fixture: &mut Fixture) -> Result<(), String> {
    let dialect = dialect(fixture)?;
    let source = fixture.need("source")?;
    let tree = Tree::new(&source, dialect);
    let Some(wanted) = fixture.section("match").map(|section| section.content.clone()) else {
        let mut lines = String::new();
        for entry in outline(&tree) {
            let name = entry.name.as_deref().unwrap_or("-");
            let (start, end) = (entry.lines.start.get(), entry.lines.end.get() - 1);
            let _ = writeln!(lines, "{start}..{end} {} {name}", entry.head);
        }
        fixture.check("outline", "", Some(&lines));
        return Ok(());
    };
    let form = match Form::parse(&wanted, dialect) {
        Ok(form) => form,
        Err(error) => {
            fixture.check("refused", "", Some(&format!("match: {error}\n")));
            return Ok(());
        }
    };
    let within = match fixture.section("within") {
        None => None,
        Some(section) => match find_top(&tree, section.content.trim(), dialect) {
            Ok(entry) => Some(entry.id),
            Err(error) => {
                fixture.check("refused", "", Some(&format!("within: {error}\n")));
                return Ok(());
            }
        },
    };
    let found = find(&tree, &form, within);
    let mut places = String::new();
    for &id in &found {
        let at = tree.node(id).span.start;
        let before = source.get(..at).unwrap_or_default();
        let _ = writeln!(places, "line {}", before.matches('\n').count() + 1);
    }
    fixture.check("places", "", Some(&places));
    let Some(new) = fixture.section("new").map(|section| section.content.clone()) else {
        return Ok(());
    };
    let text = if new.trim().is_empty() {
        delete(&tree, &found)
    } else {
        match Form::parse(&new, dialect) {
            Err(error) => {
                fixture.check("refused", "", Some(&format!("new: {error}\n")));
                return Ok(());
            }
            Ok(new) => {
                let rules = IndentRules::new(dialect);
                let replaced = replace(&tree, &found, &new, dialect, &rules);
                for span in &replaced.spans {
                    let again = Form::parse(span.of(&replaced.text), dialect);
                    let standing = again.map_err(|error| error.to_string())?;
                    if find(&Tree::new(&new_text(&new), dialect), &standing, None).is_empty() {
                        return Err("what stands there is not the new form".to_owned());
                    }
                }
                replaced.text
            }
        }
    };
    if !balance(&text, dialect).is_whole() {
        return Err("the result is not balanced".to_owned());
    }
    fixture.check("text", "", Some(&text));
    Ok(())
}

fn new_text(form: &Form<'_>) -> String {
    form.text().to_owned()
}
