//! A grant: what a session holds. It only shrinks.
//!
//! A grant is kept as the list of what narrowed it, and covers what every one of them covers. So the law
//! `covers(meet(a, b), p) = covers(a, p) && covers(b, p)` holds exactly, whatever the patterns are; no
//! two patterns are ever intersected. Which tools run is not decided here.
//!
//! Invariant: no operation on a grant adds to what it covers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::authority::capability::Capability;
use crate::authority::command::{CommandLine, CommandScope, Uncovered};
use crate::authority::entry::{Entry, Pattern, Scope};
use crate::authority::explain::Denial;
use crate::authority::host::{Host, HostScope};
use crate::authority::scope::PathScope;
use crate::path::Place;

/// What a session may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    narrowings: Vec<Arc<Narrowing>>,
}

/// One list of entries, and where it was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Narrowing {
    pub(super) origin: Option<Arc<str>>,
    held: BTreeMap<Capability, Extent>,
}

/// How much of a capability one list holds: all of it, or any of the patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    AnyOf(Vec<Pattern>),
}

/// What a call would touch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Demand {
    /// The capability.
    pub capability: Capability,
    /// The part of it.
    pub resource: Resource,
}

/// Which part of a capability a call needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// All of it; a scope never suffices.
    Whole,
    /// Any part of it; the tool then asks [`Grant::admits`] point by point.
    Some,
    /// One place.
    Path(Place),
    /// One port of one host.
    Host(Host),
    /// Every command of a line.
    Command(CommandLine),
}

impl Grant {
    /// Returns the grant that covers everything.
    pub const fn everything() -> Self {
        Self { narrowings: Vec::new() }
    }

    /// Returns the grant that covers nothing that is gated.
    pub fn none() -> Self {
        Self::from_entries(&[])
    }

    /// Returns the grant of exactly these entries; no name implies another.
    pub fn from_entries(entries: &[Entry]) -> Self {
        Self::of(Narrowing { origin: None, held: held(entries) })
    }

    /// Returns the grant of exactly these entries, which a denial then names by `origin`.
    pub fn from_layer(origin: &str, entries: &[Entry]) -> Self {
        Self::of(Narrowing { origin: Some(Arc::from(origin)), held: held(entries) })
    }

    fn of(narrowing: Narrowing) -> Self {
        Self { narrowings: vec![Arc::new(narrowing)] }
    }

    /// Returns the grant that covers what both cover.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let mut narrowings = self.narrowings.clone();
        for narrowing in &other.narrowings {
            if !narrowings.contains(narrowing) {
                narrowings.push(Arc::clone(narrowing));
            }
        }
        Self { narrowings }
    }

    /// Returns whether the grant covers a demand.
    pub fn covers(&self, demand: &Demand) -> bool {
        self.narrowings.iter().all(|narrowing| narrowing.covers(demand))
    }

    /// Returns nothing if the grant covers the demand, else why not.
    pub fn check(&self, demand: &Demand) -> Result<(), Box<Denial>> {
        match self.narrowings.iter().find(|narrowing| !narrowing.covers(demand)) {
            None => Ok(()),
            Some(narrowing) => Err(Box::new(Denial {
                demand: demand.clone(),
                held_in_part: self.is_held(&demand.capability),
                uncovered: narrowing.uncovered(demand),
                holds: self.holdings(),
                narrowed_by: narrowing.origin.clone(),
            })),
        }
    }

    /// Returns whether the grant covers one place under a capability.
    pub fn admits(&self, capability: &Capability, place: &Place) -> bool {
        self.narrowings.iter().all(|narrowing| narrowing.admits(capability, place))
    }

    /// Returns whether the grant may cover something at or below a folder under a capability.
    pub fn reaches(&self, capability: &Capability, folder: &Place) -> bool {
        self.narrowings.iter().all(|narrowing| narrowing.reaches(capability, folder))
    }

    /// Returns whether the capability is held in full.
    pub fn is_whole(&self, capability: &Capability) -> bool {
        self.narrowings
            .iter()
            .all(|narrowing| matches!(narrowing.held.get(capability), Some(Extent::Whole)))
    }

    /// Returns, for each list that does not hold all of a capability, its scopes of paths, if it holds any.
    pub(super) fn path_scopes(
        &self,
        capability: &Capability,
    ) -> impl Iterator<Item = Option<Vec<&PathScope>>> {
        self.narrowings.iter().filter_map(|narrowing| match narrowing.held.get(capability) {
            None => Some(None),
            Some(Extent::Whole) => None,
            Some(Extent::AnyOf(scopes)) => Some(Some(paths(scopes).collect())),
        })
    }

    /// Returns whether some part of the capability is held, as far as the lists alone tell.
    pub fn is_held(&self, capability: &Capability) -> bool {
        self.narrowings.iter().all(|narrowing| narrowing.held.contains_key(capability))
    }

    /// Returns whether the capability is held in part only.
    pub fn is_scoped(&self, capability: &Capability) -> bool {
        self.is_held(capability) && !self.is_whole(capability)
    }

    /// Returns whether the grant lacks reading, writing, editing or the shell's network in full.
    pub fn is_restricted(&self) -> bool {
        use Capability::{FileEdit, FileRead, FileWrite, ProcessNetwork};
        [FileRead, FileWrite, FileEdit, ProcessNetwork].iter().any(|c| !self.is_whole(c))
    }

    /// Returns what is held, as entries are written, in the order of the documentation.
    ///
    /// A capability that several lists scope shows as `NAME(A | B) within (C)`.
    pub fn holdings(&self) -> Vec<String> {
        let servers = self.narrowings.first().into_iter().flat_map(|first| first.held.keys());
        let servers = servers.filter(|capability| matches!(capability, Capability::Mcp(_)));
        let known = Capability::NAMED.iter().chain(servers);
        known.filter(|c| self.is_held(c)).flat_map(|c| self.holding(c)).collect()
    }

    fn holding(&self, capability: &Capability) -> Vec<String> {
        let scoped = self.narrowings.iter().filter_map(|n| match n.held.get(capability) {
            Some(Extent::AnyOf(scopes)) => Some(scopes.as_slice()),
            Some(Extent::Whole) | None => None,
        });
        let scoped: Vec<&[Pattern]> = scoped.collect();
        match *scoped.as_slice() {
            [] => vec![capability.to_string()],
            [scopes] => scopes.iter().map(|scope| format!("{capability}({scope})")).collect(),
            _ => {
                let lists: Vec<_> = scoped.into_iter().map(any_of).collect();
                vec![format!("{capability}{}", lists.join(" within "))]
            }
        }
    }

    /// Returns the origins of the lists that narrowed this grant, in the order of the layers.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.narrowings.iter().filter_map(|narrowing| narrowing.origin.as_deref())
    }

    /// Returns the origins of the lists that hold less than all of a capability.
    pub fn narrowed_by(&self, capability: &Capability) -> impl Iterator<Item = &str> {
        let narrower = self.narrowings.iter().filter(move |narrowing| {
            !matches!(narrowing.held.get(capability), Some(Extent::Whole))
        });
        narrower.filter_map(|narrowing| narrowing.origin.as_deref())
    }
}

fn any_of(scopes: &[Pattern]) -> String {
    let scopes: Vec<_> = scopes.iter().map(Pattern::as_str).collect();
    format!("({})", scopes.join(" | "))
}

/// Returns the union of a list's entries by capability.
fn held(entries: &[Entry]) -> BTreeMap<Capability, Extent> {
    let mut held = BTreeMap::new();
    for entry in entries {
        let extent =
            held.entry(entry.capability.clone()).or_insert_with(|| Extent::AnyOf(Vec::new()));
        match (extent, &entry.scope) {
            (Extent::Whole, _) => {}
            (extent @ Extent::AnyOf(_), Scope::Whole) => *extent = Extent::Whole,
            (Extent::AnyOf(scopes), Scope::Part(scope)) => {
                if !scopes.contains(scope) {
                    scopes.push(scope.clone());
                }
            }
        }
    }
    held
}

fn paths(scopes: &[Pattern]) -> impl Iterator<Item = &PathScope> {
    scopes.iter().filter_map(|pattern| match pattern {
        Pattern::Path(scope) => Some(scope),
        Pattern::Host(_) | Pattern::Command(_) => None,
    })
}

fn hosts(scopes: &[Pattern]) -> impl Iterator<Item = &HostScope> {
    scopes.iter().filter_map(|pattern| match pattern {
        Pattern::Host(scope) => Some(scope),
        Pattern::Path(_) | Pattern::Command(_) => None,
    })
}

fn commands(scopes: &[Pattern]) -> Vec<&CommandScope> {
    let scopes = scopes.iter().filter_map(|pattern| match pattern {
        Pattern::Command(scope) => Some(scope),
        Pattern::Path(_) | Pattern::Host(_) => None,
    });
    scopes.collect()
}

impl Narrowing {
    fn covers(&self, demand: &Demand) -> bool {
        match (&demand.resource, self.held.get(&demand.capability)) {
            (_, None) => false,
            (_, Some(Extent::Whole)) | (Resource::Some, Some(Extent::AnyOf(_))) => true,
            (Resource::Whole, Some(Extent::AnyOf(_))) => false,
            (Resource::Path(place), Some(Extent::AnyOf(scopes))) => {
                paths(scopes).any(|scope| scope.covers(place))
            }
            (Resource::Host(host), Some(Extent::AnyOf(scopes))) => {
                hosts(scopes).any(|scope| scope.covers(host))
            }
            (Resource::Command(line), Some(Extent::AnyOf(scopes))) => {
                line.check(&commands(scopes)).is_ok()
            }
        }
    }

    /// Returns which part of a line is not covered, where the capability is held for some commands.
    fn uncovered(&self, demand: &Demand) -> Option<Uncovered> {
        match (&demand.resource, self.held.get(&demand.capability)) {
            (Resource::Command(line), Some(Extent::AnyOf(scopes))) => {
                line.check(&commands(scopes)).err()
            }
            (Resource::Command(_), Some(Extent::Whole) | None) => None,
            (Resource::Whole | Resource::Some | Resource::Path(_) | Resource::Host(_), _) => {
                None
            }
        }
    }

    fn reaches(&self, capability: &Capability, folder: &Place) -> bool {
        match self.held.get(capability) {
            None => false,
            Some(Extent::Whole) => true,
            Some(Extent::AnyOf(scopes)) => paths(scopes).any(|scope| scope.reaches(folder)),
        }
    }

    fn admits(&self, capability: &Capability, place: &Place) -> bool {
        match self.held.get(capability) {
            None => false,
            Some(Extent::Whole) => true,
            Some(Extent::AnyOf(scopes)) => paths(scopes).any(|scope| scope.covers(place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::command::{Shell, StartsIn};
    use crate::path::{RelPath, RootName};
    use proptest::prelude::*;

    const ENTRIES: &[&str] = &[
        "file/read",
        "file/read(src/**)",
        "file/read(src)",
        "file/read(**/*.rs)",
        "file/read(/docs/**)",
        "file/write",
        "file/write(s*)",
        "file/write({src,docs}/**)",
        "process/exec",
        "process/exec(a *)",
        "process/exec(b x)",
        "process/exec(* x)",
        "process/exec(./r *)",
        "net/fetch",
        "net/fetch(*.example.org)",
        "net/fetch(a.example.org:80)",
        "net/fetch(*:443)",
        "mcp/a",
    ];

    fn grants() -> impl Strategy<Value = Grant> {
        let list = prop::sample::subsequence(ENTRIES.to_vec(), 0..=ENTRIES.len());
        let list = list.prop_map(|texts| {
            let entries: Vec<_> = texts.iter().map(|t| Entry::parse(t).unwrap()).collect();
            Grant::from_entries(&entries)
        });
        prop_oneof![1 => Just(Grant::everything()), 1 => Just(Grant::none()), 6 => list]
    }

    fn demands() -> impl Strategy<Value = Demand> {
        let roots = prop_oneof![
            3 => Just(RootName::workspace()),
            1 => Just(RootName::absolute("/docs")),
        ];
        let place = (roots, "(src|src-old|docs|s)(/[ab](\\.rs|\\.md)?){0,2}")
            .prop_map(|(root, path)| Place { root, path: RelPath::parse(&path).unwrap() });
        let line = "(a|b|\\./r|cd)( x| y|)((;| && | [|] |\n)(a|b|evil|\\./r)( x|)|>x| [$]x|)";
        let line = (line, any::<bool>()).prop_map(|(text, is_elsewhere)| CommandLine {
            shell: Shell::Configured,
            text: text.into(),
            starts_in: if is_elsewhere {
                StartsIn::Elsewhere("/d".into())
            } else {
                StartsIn::Workspace
            },
        });
        let host = ("(a[.]|b[.]c[.]|)example[.](org|net)", prop::sample::select(vec![80, 443]))
            .prop_map(|(name, port)| Host::new(&name, port).unwrap());
        let resource = prop_oneof![
            4 => place.prop_map(Resource::Path),
            4 => line.prop_map(Resource::Command),
            4 => host.prop_map(Resource::Host),
            1 => Just(Resource::Some),
            1 => Just(Resource::Whole),
        ];
        let names = prop::sample::select(vec![
            "file/read",
            "file/write",
            "process/exec",
            "net/fetch",
            "mcp/a",
        ]);
        (names, resource).prop_map(|(name, resource)| Demand {
            capability: Capability::parse(name).unwrap(),
            resource,
        })
    }

    proptest! {
        #[test]
        fn a_meet_covers_what_both_cover(a in grants(), b in grants(), p in demands()) {
            prop_assert_eq!(a.meet(&b).covers(&p), a.covers(&p) && b.covers(&p));
            prop_assert_eq!(a.meet(&b).covers(&p), b.meet(&a).covers(&p));
        }

        #[test]
        fn meets_associate_and_repeat_without_effect(
            a in grants(), b in grants(), c in grants(), p in demands()
        ) {
            let left = a.meet(&b).meet(&c);
            let right = a.meet(&b.meet(&c));
            prop_assert_eq!(left.covers(&p), right.covers(&p));
            prop_assert_eq!(&a.meet(&a), &a);
            prop_assert_eq!(&a.meet(&Grant::everything()), &a);
            prop_assert!(!a.meet(&Grant::none()).covers(&p));
        }

        #[test]
        fn a_denial_is_given_exactly_when_nothing_covers(a in grants(), p in demands()) {
            prop_assert_eq!(a.check(&p).is_ok(), a.covers(&p));
            if let Resource::Path(place) = &p.resource {
                prop_assert_eq!(a.admits(&p.capability, place), a.covers(&p));
            }
        }
    }

    #[test]
    fn every_gate_is_opened_by_its_own_name_alone() {
        let mut all = Capability::NAMED.to_vec();
        all.push(Capability::mcp("a"));
        all.push(Capability::mcp("ab"));
        let entry = |c: &Capability| Entry { capability: c.clone(), scope: Scope::Whole };
        for one in &all {
            let only = Grant::from_entries(&[entry(one)]);
            let others: Vec<_> = all.iter().filter(|c| *c != one).map(entry).collect();
            let others = Grant::from_entries(&others);
            for asked in &all {
                let demand = Demand { capability: asked.clone(), resource: Resource::Whole };
                assert_eq!(only.covers(&demand), asked == one, "{one}: {asked}");
                assert_eq!(others.covers(&demand), asked != one, "all but {one}: {asked}");
            }
        }
    }

    #[test]
    fn a_session_is_restricted_when_one_of_the_four_is_not_whole() {
        let grant = |texts: &[&str]| {
            let entries: Vec<_> = texts.iter().map(|t| Entry::parse(t).unwrap()).collect();
            Grant::from_entries(&entries)
        };
        let four = ["file/read", "file/write", "file/edit", "process/network"];
        assert!(!grant(&four).is_restricted());
        assert!(!Grant::everything().is_restricted());
        for left_out in 0..four.len() {
            let mut some = four.to_vec();
            some.remove(left_out);
            assert!(grant(&some).is_restricted());
        }
        assert!(grant(&["file/read(**)", four[1], four[2], four[3]]).is_restricted());
    }
}
