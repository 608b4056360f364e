//! What a person must confirm although it is granted, and what is exempt from that.
//!
//! Neither grants anything: whoever asks this has held the demand against the grant before. Where it is
//! not known whether a call touches what must be confirmed, it must be confirmed.
//!
//! Invariant: an exemption covers a demand only as a grant of the same entries would.

use std::sync::Arc;

use crate::authority::capability::ScopeKind;
use crate::authority::command::shown;
use crate::authority::entry::{Entry, Pattern, Scope};
use crate::authority::grant::{Demand, Grant, Resource};
use crate::authority::scope::PathScope;

/// Which calls a person must confirm.
#[derive(Clone, Debug)]
pub struct Asks {
    asked: Vec<Asked>,
    exempt: Grant,
    exemptions: Vec<Entry>,
}

/// One entry of what must be confirmed, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The entry.
    pub entry: Entry,
    /// Where it is written.
    pub origin: Arc<str>,
}

impl Asks {
    /// Returns what asks for nothing.
    pub fn nothing() -> Self {
        Self::new(Vec::new(), Vec::new())
    }

    /// Returns what must be confirmed, but for the exemptions.
    pub fn new(asked: Vec<Asked>, exemptions: Vec<Entry>) -> Self {
        Self { asked, exempt: Grant::from_entries(&exemptions), exemptions }
    }

    /// Returns whether nothing at all must be confirmed.
    pub fn is_nothing(&self) -> bool {
        self.asked.is_empty()
    }

    /// Returns the entry for which a demand must be confirmed; nothing if it need not be.
    pub fn must_confirm(&self, demand: &Demand) -> Option<&Asked> {
        let asked = self.asked.iter().find(|asked| touches(&asked.entry, demand))?;
        (!self.is_exempt(demand)).then_some(asked)
    }

    fn is_exempt(&self, demand: &Demand) -> bool {
        match &demand.resource {
            // Any part of it may be touched, so that all of it must be exempt.
            Resource::Some | Resource::Whole => self.exempt.is_whole(&demand.capability),
            Resource::Path(_) | Resource::Host(_) | Resource::Command(_) => {
                self.exempt.covers(demand)
            }
        }
    }

    /// Returns what must be confirmed.
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// Returns what is exempt.
    pub fn exemptions(&self) -> &[Entry] {
        &self.exemptions
    }
}

/// Returns whether a demand touches what an entry names, or may.
fn touches(entry: &Entry, demand: &Demand) -> bool {
    entry.capability == demand.capability
        && match (&entry.scope, &demand.resource) {
            (Scope::Whole, _) | (Scope::Part(_), Resource::Whole | Resource::Some) => true,
            (Scope::Part(Pattern::Path(scope)), Resource::Path(place)) => scope.covers(place),
            (Scope::Part(Pattern::Host(scope)), Resource::Host(host)) => scope.covers(host),
            (Scope::Part(Pattern::Command(scope)), Resource::Command(line)) => {
                line.may_run(scope)
            }
            // A demand of another kind than the scope: what it touches is not known.
            (
                Scope::Part(Pattern::Path(_) | Pattern::Host(_) | Pattern::Command(_)),
                Resource::Path(_) | Resource::Host(_) | Resource::Command(_),
            ) => true,
        }
}

impl Demand {
    /// Returns what is demanded in words, with nothing left out, for whoever confirms it.
    pub fn in_full(&self) -> String {
        match &self.resource {
            Resource::Command(line) => format!("{} on {}", self.capability, line.in_full()),
            Resource::Whole | Resource::Some | Resource::Path(_) | Resource::Host(_) => {
                shown(&self.to_string(), usize::MAX)
            }
        }
    }

    /// Returns the entry that covers this demand and as little else as an entry can say.
    ///
    /// Nothing where there is none: any part of a capability, a line of several commands, a command whose
    /// words no scope spells, a path with blanks at its ends.
    pub fn own_entry(&self) -> Option<Entry> {
        let part = |pattern| Some(Scope::Part(pattern));
        let scope = match &self.resource {
            Resource::Some => None,
            Resource::Whole => match self.capability.gate().scope {
                ScopeKind::None => Some(Scope::Whole),
                ScopeKind::Path | ScopeKind::Host | ScopeKind::Command => None,
            },
            Resource::Path(place) => {
                let scope = PathScope::of_place(place)?;
                part(Pattern::Path(scope))
            }
            Resource::Host(host) => part(Pattern::Host(host.own_scope()?)),
            Resource::Command(line) => part(Pattern::Command(line.own_scope()?)),
        };
        let entry = Entry { capability: self.capability.clone(), scope: scope? };
        let reads_back = Entry::parse(&entry.to_string()).as_ref() == Ok(&entry);
        (reads_back && Grant::from_entries(std::slice::from_ref(&entry)).covers(self))
            .then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::command::{CommandLine, Shell, StartsIn};
    use crate::authority::{Capability, Host};
    use crate::path::{Place, RelPath, RootName};

    fn asks(asked: &[&str], exempt: &[&str]) -> Asks {
        let entry = |text: &&str| Entry::parse(text).unwrap();
        let asked = asked
            .iter()
            .map(|text| Asked { entry: entry(text), origin: Arc::from("s line 1") });
        Asks::new(asked.collect(), exempt.iter().map(entry).collect())
    }

    fn path(name: &str, path: &str) -> Demand {
        let place = Place::in_workspace(RelPath::parse(path).unwrap());
        let capability = Capability::parse(name).unwrap();
        Demand { capability, resource: Resource::Path(place) }
    }

    fn line(text: &str) -> Demand {
        let line = CommandLine {
            shell: Shell::Configured,
            text: text.into(),
            starts_in: StartsIn::Workspace,
        };
        Demand { capability: Capability::ProcessExec, resource: Resource::Command(line) }
    }

    fn part(name: &str, resource: Resource) -> Demand {
        Demand { capability: Capability::parse(name).unwrap(), resource }
    }

    #[test]
    fn what_is_named_must_be_confirmed_and_nothing_else() {
        let asks = asks(&["file/write(src/**)", "image/eval"], &[]);
        assert!(asks.must_confirm(&path("file/write", "src/a")).is_some());
        assert!(asks.must_confirm(&path("file/write", "doc/a")).is_none());
        assert!(asks.must_confirm(&path("file/edit", "src/a")).is_none());
        assert!(asks.must_confirm(&part("file/write", Resource::Some)).is_some());
        assert!(asks.must_confirm(&part("image/eval", Resource::Whole)).is_some());
        assert!(Asks::nothing().must_confirm(&path("file/write", "src/a")).is_none());
    }

    #[test]
    fn a_line_that_may_run_what_is_named_must_be_confirmed() {
        let asks = asks(&["process/exec(git push *)"], &[]);
        for text in [
            "git push",
            "git push -f",
            "ls && git push",
            "/usr/bin/git push",
            "./git push x",
            "git p$x",
            "git * x",
            "git pu'sh' x",
            "x=1 git push",
            "(git push)",
            "eval x",
            "ls > x",
            "ls\r",
        ] {
            assert!(asks.must_confirm(&line(text)).is_some(), "{text}");
        }
        for text in [
            "git pull",
            "ls",
            "git",
            "push",
            "git pushx",
            "ls git push",
            "ls *",
            "git status *",
        ] {
            assert!(asks.must_confirm(&line(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn an_exemption_covers_what_a_grant_would() {
        let asks = asks(
            &["process/exec", "file/read"],
            &["process/exec(ls *)", "file/read(src/**)", "file/write"],
        );
        assert!(asks.must_confirm(&line("ls -l; ls")).is_none());
        assert!(asks.must_confirm(&line("ls; rm x")).is_some());
        assert!(asks.must_confirm(&line("ls $(rm x)")).is_some());
        assert!(asks.must_confirm(&path("file/read", "src/a")).is_none());
        assert!(asks.must_confirm(&path("file/read", "a")).is_some());
        assert!(asks.must_confirm(&part("file/read", Resource::Some)).is_some());
    }

    #[test]
    fn a_demand_is_told_to_its_end_and_with_its_folder() {
        let long = CommandLine {
            shell: Shell::Configured,
            text: format!("ls {}; rm x\n\u{202e}", "a".repeat(500)).into(),
            starts_in: StartsIn::Elsewhere("/d".into()),
        };
        let demand = part("process/exec", Resource::Command(long));
        let told =
            format!("process/exec on `ls {}; rm x\\n\\u{{202e}}` in /d", "a".repeat(500));
        assert_eq!(demand.in_full(), told);
        assert!(demand.to_string().ends_with("a…` in /d"), "{demand}");
        assert_eq!(path("file/write", "a\nb").in_full(), "file/write on a\\nb");
    }

    #[test]
    fn a_demand_has_an_entry_of_its_own_or_none() {
        let own = |demand: Demand| demand.own_entry().map(|entry| entry.to_string());
        let host = |name| Resource::Host(Host::new(name, 443).unwrap());
        for (demand, entry) in [
            (path("file/write", "src/a.rs"), "file/write(src/a.rs)"),
            (path("file/write", "a*[b]{c}?.rs"), "file/write(a\\*\\[b\\]\\{c\\}\\?.rs)"),
            (path("file/write", "a(b).rs"), "file/write(a(b).rs)"),
            (part("net/fetch", host("Example.org")), "net/fetch(example.org:443)"),
            (part("net/fetch", host("::1")), "net/fetch([::1]:443)"),
            (part("image/eval", Resource::Whole), "image/eval"),
            (line("cargo test 'x'"), "process/exec(cargo test x)"),
        ] {
            assert_eq!(own(demand).as_deref(), Some(entry));
        }
        let elsewhere = CommandLine {
            shell: Shell::Configured,
            text: "a".into(),
            starts_in: StartsIn::Elsewhere("/d".into()),
        };
        assert_eq!(own(part("process/exec", Resource::Command(elsewhere))), None);
        let other =
            Place { root: RootName::absolute("/d"), path: RelPath::parse("x").unwrap() };
        assert_eq!(
            own(part("file/read", Resource::Path(other))).as_deref(),
            Some("file/read(/d/x)")
        );
        for demand in [
            part("file/read", Resource::Some),
            part("file/read", Resource::Whole),
            path("file/read", "a "),
            line("a; b"),
            line("a 'b c'"),
            line("a '*'"),
            line("a *"),
            line("a ''"),
            line("a > b"),
            line("a '$b'"),
        ] {
            assert_eq!(own(demand.clone()), None, "{demand}");
        }
    }
}
