//! Two texts, parted by a NUL byte, in every dialect: a repair never panics, is no worse than what stood
//! there before, and a safe one is whole and has as many forms at top level.
#![no_main]

use killick::syntax::{
    Dialect, Hunk, IndentRules, LineRange, Repair, Tree, Verdict, check, outline, reindent, repair,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let (old, new) = input.split_once('\0').unwrap_or(("", input));
    for dialect in Dialect::ALL {
        outline(&Tree::new(new, dialect));
        let all = LineRange::from_indices(0, new.matches('\n').count() + 1);
        reindent(new, dialect, &IndentRules::new(dialect), all);
        let checked = check(Some(old), new, dialect);
        if checked.verdict != Verdict::Broken {
            continue;
        }
        let hunk = Hunk::between(old, new);
        let Repair::Proposed(candidates) = repair(&checked, Some(old), new, dialect, &[hunk])
        else {
            continue;
        };
        for candidate in candidates {
            let again = check(Some(old), &candidate.text, dialect);
            assert_ne!(again.verdict, Verdict::Broken);
            if candidate.is_safe() {
                assert_eq!(again.verdict, Verdict::Whole);
                let before = checked.before.as_ref().map(|before| before.n_top_forms);
                assert_eq!(before, Some(again.after.n_top_forms));
            }
        }
    }
});
