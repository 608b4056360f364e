//! A content that was seen, a content that stands there, and a patch, parted by NUL bytes: resolving and
//! applying never panic, and an accepted patch leaves text whose lines are those that the draft says.
#![no_main]

use killick::hashline::seen::{Scope, Seen, Sight};
use killick::hashline::{
    Echoes, Options, Relocation, Subject, apply, grammar, report, resolve,
};
use killick::path::{Place, RelPath};
use killick::text::{LineNo, Snapshot};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let mut parts = input.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (Ok(first), Ok(now)) =
        (Snapshot::new(part().as_bytes()), Snapshot::new(part().as_bytes()))
    else {
        return;
    };
    let Ok(patch) = grammar::parse(part()) else { return };
    let mut seen = Seen::default();
    seen.saw(&Sight {
        digest: first.digest(),
        lines: first.line_digests().clone(),
        scope: Scope::Whole,
        whole: first.last_line().map(|last| (LineNo::FIRST, last)).into_iter().collect(),
        clipped: Vec::new(),
    });
    let place = |_: &str| Ok::<_, ()>(Place::in_workspace(RelPath::root()));
    let Ok(files) = patch.into_files(place) else { return };
    for relocation in [Relocation::Refuse, Relocation::Follow] {
        let options = Options { relocation, echoes: Echoes::Refuse };
        let subject = Subject { patch: &files[0], now: &now, seen: &seen, since: &[] };
        match resolve(&[subject], options) {
            Ok(plan) => {
                for draft in apply(plan) {
                    let new = Snapshot::new(&draft.bytes).expect("a draft is text");
                    assert_eq!(new.digest(), draft.digest);
                    if !draft.bytes.starts_with("\u{FEFF}".as_bytes()) {
                        assert_eq!(new.line_digests(), &draft.lines);
                    }
                    report::success(&draft, report::Verb::Edited);
                }
            }
            Err(refusal) => assert!(report::refusal(&refusal).ends_with("nothing was written")),
        }
    }
});
