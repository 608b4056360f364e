//! Any text is a patch or has faults; every fault has a place, and reading is total.
#![no_main]

use killick::hashline::grammar::{faults, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let n_lines = text.split('\n').count();
    match faults(text) {
        Ok(patch) => assert!(patch.sections.iter().all(|section| !section.ops.is_empty())),
        Err(faults) => assert!(faults.iter().all(|(line, _)| (1..=n_lines).contains(line))),
    }
    assert_eq!(parse(text).is_ok(), faults(text).is_ok());
});
