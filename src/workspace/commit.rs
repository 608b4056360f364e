//! From verified changes to changes that stand: staged, in the journal, published, marked done.
//!
//! Each stage takes the one before it by value. Up to the journal's second record an error removes what was
//! staged; after it an error takes back what was published; after the mark nothing can fail any more.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;

use super::disk::Disk;
use super::journal::{Journal, Phase, Record, Way};
use super::publish::{Failure, Slot};
use super::recover::{self, Recovery};
use super::stage::{Carried, side_by_side, stage_like, stage_new};
use super::transaction::{
    CommitError, Committed, CommittedFile, Context, Fate, Problem, ProblemKind,
};
use super::verify::{Folders, Target, folder_record};
use crate::path::Place;
use crate::store::{Blobs, StoreError};

/// Changes that hold, under the lock, with nothing written yet.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) record: Record,
    pub(super) targets: Vec<Target>,
    pub(super) folders: Folders,
}

/// Work of the staging stage that can be done side by side.
enum Job {
    /// Syncs the journal's record.
    Settle,
    /// Stages the new content of a file.
    Stage(usize),
}

impl Verified {
    /// Makes folders, stages and syncs every file, then replaces the record: publishing may begin.
    pub(super) fn stage(mut self, context: &Context<'_>) -> Result<Staged, CommitError> {
        let journal = Journal { disk: context.disk, workspace: context.store };
        journal.announce(&self.record)?;
        let mut slots = Vec::new();
        if let Err(error) = self.stage_all(context, &journal, &mut slots) {
            // No file has changed. What cannot be removed now is in the record for recovery to remove.
            let _removed = recover::abandon(&journal, &self.record);
            return Err(error);
        }
        let after = self.targets.into_iter().map(|target| target.after).collect();
        Ok(Staged { record: self.record, slots, after })
    }

    fn stage_all(
        &mut self,
        context: &Context<'_>,
        journal: &Journal<'_>,
        slots: &mut Vec<Slot>,
    ) -> Result<(), CommitError> {
        if !self.folders.missing.is_empty() {
            // A folder that is made must be in a record that outlasts a loss of power.
            journal.settle(&self.record)?;
        }
        self.make_folders(context.disk)?;
        for target in &self.targets {
            let dir = self
                .folders
                .open(context.disk, &target.root, &target.parent)
                .map_err(|source| target.io("open the folder of", source))?;
            slots.push(Slot {
                place: target.place.clone(),
                dir,
                name: target.name.clone(),
                record: target.record.clone(),
            });
        }
        self.run_jobs(context, journal, slots)?;
        for (file, slot) in self.record.files.iter_mut().zip(slots.iter()) {
            file.way = slot.record.way;
        }
        self.record.phase = Phase::Staged;
        Ok(journal.replace(&self.record)?)
    }

    fn make_folders(&mut self, disk: &dyn Disk) -> Result<(), CommitError> {
        for (root, path) in std::mem::take(&mut self.folders.missing) {
            let place = Place { root: root.name().clone(), path: path.clone() };
            let fail = |source| CommitError::io("make the folder", place.clone(), source);
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            let dir = self.folders.open(disk, &root, &parent).map_err(fail)?;
            match disk.mkdir(dir.as_fd(), name) {
                Ok(()) => disk.sync(dir.as_fd()).map_err(fail)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let made = folder_record(&root, &path);
                    self.record.made.retain(|folder| *folder != made);
                }
                Err(error) => return Err(fail(error)),
            }
        }
        Ok(())
    }

    fn run_jobs(
        &self,
        context: &Context<'_>,
        journal: &Journal<'_>,
        slots: &mut [Slot],
    ) -> Result<(), CommitError> {
        let jobs: Vec<Job> =
            std::iter::once(Job::Settle).chain((0..slots.len()).map(Job::Stage)).collect();
        let shared: &[Slot] = slots;
        let done = side_by_side(context.disk.lanes(), &jobs, |job| match *job {
            Job::Settle => {
                journal.settle(&self.record).map(|()| None).map_err(CommitError::from)
            }
            Job::Stage(index) => {
                self.stage_one(context, shared, index).map(|way| Some((index, way)))
            }
        });
        for result in done {
            if let Some((index, way)) = result?
                && let Some(slot) = slots.get_mut(index)
            {
                slot.record.way = way;
            }
        }
        Ok(())
    }

    fn stage_one(
        &self,
        context: &Context<'_>,
        slots: &[Slot],
        index: usize,
    ) -> Result<Way, CommitError> {
        let (Some(target), Some(slot)) = (self.targets.get(index), slots.get(index)) else {
            return Ok(Way::Delete);
        };
        let fail = |source| target.io("write beside", source);
        let Some(after) = &target.after else { return Ok(Way::Delete) };
        let carried = match (target.record.way, &target.like) {
            (Way::Create, _) => {
                stage_new(context.disk, slot, after, target.new_mode).map_err(fail)?;
                Carried::Whole
            }
            (Way::Exchange, Some(like)) => {
                stage_like(context.disk, slot, after, like).map_err(fail)?
            }
            (Way::InPlace, _) | (Way::Exchange, None) => Carried::Less,
            (Way::Delete, _) => Carried::Whole,
        };
        match carried {
            Carried::Whole => Ok(target.record.way),
            Carried::Less => Self::keep_both(context, target, after),
        }
    }

    /// Keeps both contents of a file that is written in place, so that a torn write is known again.
    fn keep_both(
        context: &Context<'_>,
        target: &Target,
        after: &[u8],
    ) -> Result<Way, CommitError> {
        let blobs = Blobs::new(context.store.store());
        let (Some(old), Some(new)) = (target.record.before, target.record.after) else {
            return Ok(Way::InPlace);
        };
        let Some(before) = &target.before else {
            let problem = Problem { place: target.place.clone(), kind: ProblemKind::TooLarge };
            return Err(CommitError::Refused(vec![problem]));
        };
        context.disk.put_blob(&blobs, old, before)?;
        context.disk.put_blob(&blobs, new, after)?;
        Ok(Way::InPlace)
    }
}

/// Everything staged, synced and in the journal; nothing visible yet.
#[derive(Debug)]
pub(super) struct Staged {
    record: Record,
    slots: Vec<Slot>,
    after: Vec<Option<Vec<u8>>>,
}

impl Staged {
    pub(super) fn publish(
        self,
        context: &Context<'_>,
        recovered: Vec<Recovery>,
    ) -> Result<Committed, CommitError> {
        let journal = Journal { disk: context.disk, workspace: context.store };
        if let Err((error, n_reached)) = self.publish_all(context, &journal) {
            return Err(self.take_back(&journal, n_reached, error));
        }
        // The transaction stands. What fails from here on is left to recovery.
        let _cleaned = journal
            .sync()
            .and_then(|()| self.put_away(context))
            .and_then(|()| recover::finish(&journal, &self.record))
            .and_then(|()| recover::tidy(context, &self.record.id));
        Ok(self.committed(recovered))
    }

    /// Moves the old contents, which were compared as they came out, into the store.
    fn put_away(&self, context: &Context<'_>) -> Result<(), StoreError> {
        let blobs = Blobs::new(context.store.store());
        side_by_side(context.disk.lanes(), &self.slots, |slot| match slot.record.way {
            Way::Exchange | Way::Delete => slot.put_away(context.disk, &blobs),
            Way::Create | Way::InPlace => Ok(()),
        })
        .into_iter()
        .collect()
    }

    /// Publishes every file; an error says how many files were reached.
    fn publish_all(
        &self,
        context: &Context<'_>,
        journal: &Journal<'_>,
    ) -> Result<(), (CommitError, usize)> {
        for (index, slot) in self.slots.iter().enumerate() {
            let after = self.after.get(index).and_then(Option::as_deref).unwrap_or_default();
            slot.publish(context.disk, after).map_err(|failure| match failure {
                Failure::Conflict if slot.record.way == Way::InPlace => (conflict(slot), index),
                Failure::Conflict => (conflict(slot), index + 1),
                Failure::Io { verb, source } => {
                    (CommitError::io(verb, slot.place.clone(), source), index + 1)
                }
            })?;
        }
        let all = self.slots.len();
        self.compare_all(context.disk).map_err(|error| (error, all))?;
        self.sync_folders(context.disk).map_err(|error| (error, all))?;
        journal.mark_done(&self.record.id).map_err(|error| (error.into(), all))
    }

    /// Compares every content that came out with what was expected.
    fn compare_all(&self, disk: &dyn Disk) -> Result<(), CommitError> {
        let compared = side_by_side(disk.lanes(), &self.slots, |slot| slot.compare(disk));
        for (slot, compared) in self.slots.iter().zip(compared) {
            compared.map_err(|failure| match failure {
                Failure::Conflict => conflict(slot),
                Failure::Io { verb, source } => {
                    CommitError::io(verb, slot.place.clone(), source)
                }
            })?;
        }
        Ok(())
    }

    fn sync_folders(&self, disk: &dyn Disk) -> Result<(), CommitError> {
        let mut folders: Vec<&Slot> = Vec::new();
        for slot in self.slots.iter().filter(|slot| slot.record.way != Way::InPlace) {
            if !folders.iter().any(|known| Arc::ptr_eq(&known.dir, &slot.dir)) {
                folders.push(slot);
            }
        }
        side_by_side(disk.lanes(), &folders, |slot| {
            disk.sync(slot.dir()).map_err(|source| {
                CommitError::io("sync the folder of", slot.place.clone(), source)
            })
        })
        .into_iter()
        .collect()
    }

    fn take_back(
        &self,
        journal: &Journal<'_>,
        n_reached: usize,
        error: CommitError,
    ) -> CommitError {
        match recover::roll_back(journal, &self.record, &self.slots, n_reached) {
            Ok(_) => error,
            Err(_) => CommitError::Unfinished {
                places: self.slots.iter().map(|slot| slot.place.clone()).collect(),
                source: Box::new(error),
            },
        }
    }

    fn committed(self, recovered: Vec<Recovery>) -> Committed {
        Committed {
            id: self.record.id,
            files: self
                .slots
                .into_iter()
                .map(|slot| CommittedFile {
                    fate: Fate::of(&slot.record),
                    place: slot.place,
                    before: slot.record.before,
                    after: slot.record.after,
                })
                .collect(),
            made: self.record.made.iter().map(recover::place).collect(),
            recovered,
        }
    }
}

fn conflict(slot: &Slot) -> CommitError {
    CommitError::Refused(vec![Problem {
        place: slot.place.clone(),
        kind: ProblemKind::Conflict,
    }])
}
