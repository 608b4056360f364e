//! Laws of the module, held against random texts.

use proptest::prelude::*;

use super::*;

/// Text made of what decides.
fn text() -> impl Strategy<Value = String> {
    "([ab1 ]|[ab1 ]|\\(|\\(|\\)|\\)|\n|\n  |\n    |\\[|\\]|\\{|\\}|;|\"|'|#|\\||\\\\|\\?|,|é){0,50}"
}

/// A balanced text of nested forms on lines of their own.
fn whole() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![Just("a".to_owned()), Just("bc".to_owned()), Just("\"(\"".to_owned())];
    let form = leaf.prop_recursive(4, 24, 4, |inner| {
        (prop::collection::vec(inner, 1..4), prop_oneof![Just(" "), Just("\n  ")])
            .prop_map(|(parts, gap)| format!("({})", parts.join(gap)))
    });
    prop::collection::vec(form, 1..4).prop_map(|forms| forms.join("\n") + "\n")
}

/// What a reader sees but delimiters, and the quotes that a repair may add taken out.
fn data(text: &str, dialect: &'static Dialect) -> String {
    Lexer::new(text, dialect)
        .filter(|token| !matches!(token.kind, TokenKind::Open(_) | TokenKind::Close(_)))
        .map(|token| token.span.of(text))
        .collect()
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !"()[]{}\"".contains(*c)).collect()
}

/// Holds the laws of a repair against one edit.
fn hold(old: Option<&str>, new: &str, dialect: &'static Dialect) -> Result<(), TestCaseError> {
    let checked = check(old, new, dialect);
    let hunk = Hunk::between(old.unwrap_or_default(), new);
    if checked.verdict != Verdict::Broken {
        return Ok(());
    }
    let Repair::Proposed(candidates) = repair(&checked, old, new, dialect, &[hunk]) else {
        return Ok(());
    };
    prop_assert!(!candidates.is_empty());
    for candidate in &candidates {
        let mut made = new.to_owned();
        for edit in candidate.edits.iter().rev() {
            made.replace_range(edit.offset..edit.offset + edit.removed, &edit.inserted);
        }
        prop_assert_eq!(&made, &candidate.text);
        prop_assert_ne!(&made, new);
        prop_assert_eq!(bare(&made), bare(new));
        let again = check(old, &made, dialect);
        prop_assert_ne!(again.verdict, Verdict::Broken, "{:?}", made);
        let quoted = candidate.doubts.contains(&Doubt::Quote);
        if !quoted {
            prop_assert_eq!(data(&made, dialect), data(new, dialect));
        }
        if candidate.is_safe() {
            prop_assert_eq!(again.verdict, Verdict::Whole);
            let before = checked.before.as_ref().map(|before| before.n_top_forms);
            prop_assert_eq!(Some(again.after.n_top_forms), before);
            prop_assert_eq!(candidate.text.matches('\n').count(), new.matches('\n').count());
            let lines = candidate.text.lines().zip(new.lines()).enumerate();
            for (nth, (a, b)) in lines {
                prop_assert!(a == b || hunk.new.holds(nth));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_repair_restores_the_balance_and_keeps_all_else(old in text(), new in text()) {
        for dialect in Dialect::ALL {
            hold(Some(&old), &new, dialect)?;
            hold(None, &new, dialect)?;
        }
    }

    #[test]
    fn a_repair_of_a_damaged_text_holds_the_same_laws(
        old in whole(),
        at in 0usize..200,
        mark in prop_oneof![Just(""), Just("("), Just(")"), Just("]"), Just("\""), Just(" x)")],
    ) {
        let at = at.min(old.len());
        let mut new = old.clone();
        if mark.is_empty() && at < old.len() {
            new.remove(at);
        } else {
            new.insert_str(at, mark);
        }
        for dialect in Dialect::ALL {
            hold(Some(&old), &new, dialect)?;
        }
    }

    #[test]
    fn hunks_that_do_not_fit_the_texts_do_no_harm(
        old in text(),
        new in text(),
        lines in prop::collection::vec((0usize..9, 0usize..9, 0usize..9, 0usize..9), 1..4),
    ) {
        let hunks: Vec<Hunk> = lines
            .into_iter()
            .map(|(a, b, c, d)| Hunk {
                old: LineRange::from_indices(a, b),
                new: LineRange::from_indices(c, d),
            })
            .collect();
        for dialect in Dialect::ALL {
            let checked = check(Some(&old), &new, dialect);
            if let Repair::Proposed(found) = repair(&checked, Some(&old), &new, dialect, &hunks) {
                prop_assert!(!found.is_empty());
            }
        }
    }

    #[test]
    fn the_tree_and_the_balance_agree(text in text()) {
        for dialect in Dialect::ALL {
            let tree = Tree::new(&text, dialect);
            let broken = tree.all().any(|id| match tree.node(id).kind {
                NodeKind::Stray(_) | NodeKind::Unclosed(_) => true,
                NodeKind::List(delim) => {
                    let open = tree.node(id).head.of(&text).len();
                    let span = tree.text_of(id);
                    span.len() <= open || !span.ends_with(delim.closer())
                }
                NodeKind::Prefixed(_) | NodeKind::Atom | NodeKind::String => false,
            });
            if balance(&text, dialect).is_whole() {
                prop_assert!(!broken, "{:?}", text);
            }
        }
    }

    #[test]
    fn indentation_moves_lines_and_changes_nothing_else(text in text()) {
        for dialect in Dialect::ALL {
            let all = LineRange::from_indices(0, text.matches('\n').count() + 1);
            let rules = IndentRules::new(dialect);
            let seen = reindent(&text, dialect, &rules, all);
            let tokens = |text: &str| {
                Lexer::new(text, dialect)
                    .filter(|token| token.kind != TokenKind::Blank)
                    .map(|token| token.span.of(text).to_owned())
                    .collect::<Vec<_>>()
            };
            prop_assert_eq!(tokens(&seen), tokens(&text));
            prop_assert_eq!(reindent(&seen, dialect, &rules, all), seen);
        }
    }

    #[test]
    fn what_is_deleted_is_gone_and_the_rest_stays_balanced(text in whole()) {
        let dialect = Dialect::SCHEME;
        let tree = Tree::new(&text, dialect);
        let Ok(form) = Form::parse("a", dialect) else { return Ok(()) };
        let found = find(&tree, &form, None);
        let rest = delete(&tree, &found);
        prop_assert!(balance(&rest, dialect).is_whole());
        prop_assert!(find(&Tree::new(&rest, dialect), &form, None).is_empty());
    }
}
