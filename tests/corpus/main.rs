//! The corpora: one readable text file a case, each a named and filterable test.
//!
//! `KILLICK_BLESS=1` rewrites what a case expects with what was seen; look at the diff before keeping it.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test binary without the test attribute: fixtures are files of the source tree"
)]

mod balance;
mod document;
mod fixture;
mod forms;
mod grant;
mod hashline;
mod indent;
mod interactive;
mod lexer;
mod repair;
mod settings;

use libtest_mimic::{Arguments, Trial};

/// Every area: its folder under `tests/fixtures` and what runs one case of it.
const AREAS: &[(&str, Run)] = &[
    ("lexer", lexer::run),
    ("balance", balance::run),
    ("grant", grant::run),
    ("hashline", hashline::run),
    ("settings/valid", settings::valid),
    ("settings/invalid", settings::invalid),
    ("repair", repair::run),
    ("forms", forms::run),
    ("indent", indent::run),
    ("interactive", interactive::run),
];

/// Runs one case and leaves its complaints with the fixture.
type Run = fn(&mut fixture::Fixture) -> Result<(), String>;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let trials = AREAS.iter().flat_map(|&(area, run)| {
        let paths = fixture::paths(area);
        assert!(!paths.is_empty(), "tests/fixtures/{area} holds no case");
        paths.into_iter().map(move |path| {
            let name = path.with_extension("").to_string_lossy().replace('/', "::");
            Trial::test(name, move || {
                let mut fixture = fixture::Fixture::load(&path)?;
                run(&mut fixture)?;
                fixture.finish().map_err(Into::into)
            })
        })
    });
    let trials = trials.chain(document::trials()).chain(grant::trials());
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
