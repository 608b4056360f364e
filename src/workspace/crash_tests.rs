//! The crash law: whatever call fails or is the last, all files are old or all are new, and nothing else is left.

use super::disk::RealDisk;
use super::fault_disk::{Fault, FaultDisk, Renames};
use super::transaction_tests::{Bench, names, origin};
use super::*;
use proptest::prelude::*;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What is done to a file.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Replace,
    Create,
    Delete,
    InPlace,
}

const KINDS: [Kind; 4] = [Kind::Replace, Kind::Create, Kind::Delete, Kind::InPlace];

type Tree = BTreeMap<String, Option<Vec<u8>>>;

fn tree(folder: &Path) -> Tree {
    let read = |name: &String| fs::read(folder.join(name)).ok();
    names(folder).into_iter().map(|name| (name.clone(), read(&name))).collect()
}

fn old(index: usize) -> String {
    format!("old {index}\n").repeat(900)
}

fn new(index: usize) -> String {
    format!("the new {index}\n").repeat(500 + 300 * (index % 3))
}

/// Lays out files and returns the changes to them.
fn lay_out(bench: &Bench, kinds: &[Kind]) -> Vec<Change> {
    let changes = kinds.iter().enumerate().map(|(index, kind)| {
        let path = match kind {
            Kind::Create => format!("made{}/deep/{index}", index % 2),
            Kind::Replace | Kind::Delete | Kind::InPlace => format!("f{index}"),
        };
        let (before, after) = (old(index), new(index));
        match kind {
            Kind::Create => return bench.change(&path, None, Some(&after)),
            Kind::Replace | Kind::Delete | Kind::InPlace => {
                fs::write(bench.files.join(&path), &before).unwrap();
            }
        }
        match kind {
            Kind::InPlace => {
                let link = bench.files.join(format!("link{index}"));
                fs::hard_link(bench.files.join(&path), link).unwrap();
            }
            Kind::Create | Kind::Replace | Kind::Delete => {}
        }
        let after = match kind {
            Kind::Delete => None,
            Kind::Create | Kind::Replace | Kind::InPlace => Some(&*after),
        };
        bench.change(&path, Some(&before), after)
    });
    changes.collect()
}

fn commit(
    bench: &Bench,
    changes: Vec<Change>,
    disk: &dyn Disk,
) -> Result<Committed, CommitError> {
    Transaction::new(origin("write"), changes).commit(&bench.context(disk))
}

/// The trees before and after the changes.
fn both(kinds: &[Kind]) -> (Tree, Tree) {
    let bench = Bench::new();
    let changes = lay_out(&bench, kinds);
    let before = tree(&bench.files);
    bench.commit(changes).unwrap();
    (before, tree(&bench.files))
}

fn pending(bench: &Bench) -> Vec<String> {
    let folder = bench.store.store().folder(&["pending"]).unwrap();
    let mut names = folder.map_or(Vec::new(), |folder| folder.names().unwrap());
    names.retain(|name| name.strip_suffix(".tmp").is_none());
    names
}

/// Tries a fault at every call of a commit, then recovers; returns how many calls a commit makes.
fn law(kinds: &[Kind], fault: Fault, renames: Renames) -> usize {
    let (before, after) = both(kinds);
    let mut at = 1;
    loop {
        let what = format!("{kinds:?} {fault:?} {renames:?} at {at}");
        let bench = Bench::new();
        let changes = lay_out(&bench, kinds);
        let disk = FaultDisk::new(fault, at, renames);
        let committed = commit(&bench, changes, &disk);
        if !disk.struck() {
            committed.unwrap();
            return at;
        }
        if let (Fault::Fail(_), Err(error)) = (fault, &committed) {
            assert_eq!(tree(&bench.files), before, "{what}: {error:?}");
            assert_eq!(pending(&bench), [""; 0], "{what}: {error:?}");
        }
        let recovered = recover(&RealDisk, &bench.store).unwrap();
        assert!(recovered.iter().all(|one| one.foreign.is_empty()), "{what}: {recovered:?}");
        let expected = if committed.is_ok() { [&after, &after] } else { [&before, &after] };
        let now = tree(&bench.files);
        assert!(expected.contains(&&now), "{what}: {committed:?}\n{:?}", now.keys());
        assert_eq!(pending(&bench), [""; 0], "{what}");
        assert_eq!(recover(&RealDisk, &bench.store).unwrap(), [], "{what}");
        at += 1;
    }
}

fn mixed(n_files: usize) -> Vec<Kind> {
    KINDS.iter().copied().cycle().take(n_files).collect()
}

const FAULTS: [Fault; 4] =
    [Fault::Fail(Errno::IO), Fault::Fail(Errno::NOSPC), Fault::Stop, Fault::PowerCut];

#[test]
fn one_file_of_each_kind_is_old_or_new_after_a_fault_at_any_call() {
    for kind in KINDS {
        for fault in FAULTS {
            let n_calls = law(&[kind], fault, Renames::All);
            assert!(n_calls > 15, "{kind:?} {fault:?}: {n_calls} calls");
        }
    }
}

#[test]
fn several_files_are_all_old_or_all_new_after_a_fault_at_any_call() {
    for n_files in [2, 3, 4, 7] {
        for fault in FAULTS {
            law(&mixed(n_files), fault, Renames::All);
        }
    }
}

#[test]
fn twenty_files_are_all_old_or_all_new_after_a_fault_at_any_call() {
    for fault in [Fault::Fail(Errno::IO), Fault::Stop] {
        law(&mixed(20), fault, Renames::All);
    }
}

#[test]
fn the_law_holds_where_the_file_system_has_only_plain_renames() {
    for fault in FAULTS {
        law(&mixed(4), fault, Renames::Plain);
    }
}

/// Stops a commit at every call, and its recovery at every call, and recovers again.
fn law_of_recovery(kinds: &[Kind], fault: Fault, renames: Renames) {
    let (before, after) = both(kinds);
    for at in 1.. {
        for then_at in 1.. {
            let bench = Bench::new();
            let changes = lay_out(&bench, kinds);
            let disk = FaultDisk::new(Fault::Stop, at, renames);
            let _stopped = commit(&bench, changes, &disk);
            if !disk.struck() {
                return;
            }
            let disk = FaultDisk::new(fault, then_at, renames);
            let _recovered = recover(&disk, &bench.store);
            recover(&RealDisk, &bench.store).unwrap();
            let now = tree(&bench.files);
            let what = format!("{kinds:?} {fault:?} {renames:?} at {at} then {then_at}");
            assert!(now == before || now == after, "{what}: {:?}", now.keys());
            assert_eq!(pending(&bench), [""; 0], "{what}");
            if !disk.struck() {
                break;
            }
        }
    }
}

#[test]
fn a_recovery_that_is_stopped_at_any_call_is_finished_by_the_next() {
    for kinds in [[Kind::Replace, Kind::Create], [Kind::Delete, Kind::InPlace]] {
        law_of_recovery(&kinds, Fault::Stop, Renames::All);
        law_of_recovery(&kinds, Fault::Fail(Errno::IO), Renames::All);
        law_of_recovery(&kinds, Fault::Stop, Renames::Plain);
    }
}

const FOREIGN: &str = "somebody else's\n";

#[test]
fn bytes_that_somebody_else_writes_at_any_call_of_a_commit_survive() {
    let kinds = [Kind::Replace, Kind::Create, Kind::Delete];
    for renames in [Renames::All, Renames::Plain] {
        for (victim, path) in ["f0", "made1/deep/1", "f2"].into_iter().enumerate() {
            let mut n_refused = 0;
            for at in 1.. {
                let bench = Bench::new();
                let changes = lay_out(&bench, &kinds);
                let target = bench.files.join(path);
                let last = std::sync::atomic::AtomicUsize::new(0);
                let disk = FaultDisk::watched(
                    renames,
                    Box::new(|count| {
                        last.store(count, std::sync::atomic::Ordering::Relaxed);
                        if count == at {
                            // The folder of a new file may not be there yet: then nobody writes.
                            let _written = fs::write(&target, FOREIGN);
                        }
                    }),
                );
                let committed = commit(&bench, changes, &disk);
                if last.load(std::sync::atomic::Ordering::Relaxed) < at {
                    break;
                }
                let what = format!("{renames:?} {victim} at {at}: {committed:?}");
                let wrote = fs::read_to_string(&target).is_ok_and(|text| text == FOREIGN);
                assert!(wrote || victim == 1, "{what}");
                let survivors = names(&bench.files);
                assert!(survivors.iter().all(|name| !name.contains(".killick")), "{what}");
                if let Err(error) = &committed {
                    assert!(matches!(error, CommitError::Refused(_)), "{what}");
                    assert_eq!(pending(&bench), [""; 0], "{what}");
                    n_refused += 1;
                }
            }
            assert!(n_refused > 10, "{renames:?} {victim}: {n_refused}");
        }
    }
}

#[test]
fn bytes_that_somebody_else_writes_after_a_stop_stay_and_the_rest_agrees() {
    let kinds = mixed(4);
    let (before, after) = both(&kinds);
    for victim in ["f0", "made1/deep/1", "f2", "f3"] {
        for at in 1.. {
            let bench = Bench::new();
            let changes = lay_out(&bench, &kinds);
            let disk = FaultDisk::new(Fault::Stop, at, Renames::All);
            let _stopped = commit(&bench, changes, &disk);
            if !disk.struck() {
                break;
            }
            let target = bench.files.join(victim);
            if fs::write(&target, FOREIGN).is_err() {
                continue;
            }
            let staged =
                pending(&bench).iter().any(|name| name.strip_suffix(".json").is_some());
            let recovered = recover(&RealDisk, &bench.store).unwrap();
            let what = format!("{victim} at {at}: {recovered:?}");
            assert_eq!(fs::read_to_string(&target).unwrap(), FOREIGN, "{what}");
            let mut now = tree(&bench.files);
            let own = |name: &str| name == victim || victim == "f3" && name == "link3";
            let folder = |name: &str| victim.starts_with(name);
            now.retain(|name, _| !own(name) && !folder(name));
            let rest = |tree: &Tree| -> Tree {
                let kept = tree.iter().filter(|(name, _)| !own(name) && !folder(name));
                kept.map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
            };
            assert!(now == rest(&before) || now == rest(&after), "{what} {:?}", now.keys());
            if staged && recovered.iter().any(|one| one.ending == Ending::TakenBack) {
                let named = recovered.iter().flat_map(|one| &one.foreign);
                let named: Vec<_> = named.map(ToString::to_string).collect();
                assert!(named.is_empty() || named == [victim], "{what}");
            }
        }
    }
}

#[test]
fn a_commit_first_recovers_what_another_workspace_left_in_its_way() {
    let kinds = mixed(4);
    for at in 1.. {
        let bench = Bench::new();
        let changes = lay_out(&bench, &kinds);
        let disk = FaultDisk::new(Fault::Stop, at, Renames::All);
        let _stopped = commit(&bench, changes, &disk);
        if !disk.struck() {
            break;
        }
        let other = bench.store.store().workspace(Path::new("/another"));
        let context = Context { store: &other, ..bench.context(&RealDisk) };
        let change = bench.change("unrelated", None, Some("x"));
        let left = pending(&bench).len();
        let committed =
            Transaction::new(origin("write"), vec![change]).commit(&context).unwrap();
        assert_eq!(committed.recovered.len(), left, "at {at}");
        assert_eq!(pending(&bench), [""; 0], "at {at}");
        assert!(names(&bench.files).iter().all(|name| !name.contains(".killick")), "at {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_mix_of_files_is_all_old_or_all_new_after_a_stop_anywhere(
        picks in proptest::collection::vec(0..4_usize, 1..12),
        at in 1..300_usize,
        then_at in 1..200_usize,
    ) {
        let kinds: Vec<Kind> = picks.into_iter().map(|pick| KINDS[pick]).collect();
        let (before, after) = both(&kinds);
        let bench = Bench::new();
        let changes = lay_out(&bench, &kinds);
        let _stopped = commit(&bench, changes, &FaultDisk::new(Fault::PowerCut, at, Renames::All));
        let _again = recover(&FaultDisk::new(Fault::Stop, then_at, Renames::All), &bench.store);
        recover(&RealDisk, &bench.store).unwrap();
        let now = tree(&bench.files);
        prop_assert!(now == before || now == after, "{:?}", now.keys());
    }
}
