//! Holding each change against the disk, under the lock: what is there, whether it may change, and how.
//!
//! Nothing is written here. All files are looked at, side by side, so that a refusal names every one that is
//! in the way.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::disk::{Content, Disk, Found, Meta, find};
use super::journal::{FileRecord, FolderRecord, Way};
use super::publish::KEEP_BYTES;
use super::root::{Access, Root};
use super::stage::side_by_side;
use super::transaction::{Change, CommitError, Expected, Parents, Problem, ProblemKind};
use crate::path::{Place, RelPath, RootName};
use crate::text::Digest;

/// Folders that are open, and those that are still missing, outermost first.
#[derive(Debug, Default)]
pub(super) struct Folders {
    open: HashMap<(RootName, RelPath), Arc<OwnedFd>>,
    pub(super) missing: Vec<(Arc<Root>, RelPath)>,
}

/// One change that holds.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) root: Arc<Root>,
    pub(super) parent: RelPath,
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) record: FileRecord,
    pub(super) after: Option<Vec<u8>>,
    pub(super) before: Option<Vec<u8>>,
    pub(super) like: Option<Meta>,
    pub(super) new_mode: Option<u32>,
}

/// Why a change does not hold, or could not be looked at.
enum Halt {
    Problem(ProblemKind),
    Error(CommitError),
}

impl From<ProblemKind> for Halt {
    fn from(kind: ProblemKind) -> Self {
        Self::Problem(kind)
    }
}

impl From<CommitError> for Halt {
    fn from(error: CommitError) -> Self {
        Self::Error(error)
    }
}

/// Returns a folder below a root, as the journal names it.
pub(super) fn folder_record(root: &Root, path: &RelPath) -> FolderRecord {
    FolderRecord {
        root: root.name().as_str().to_owned(),
        root_path: root.path().to_owned(),
        path: path.clone(),
    }
}

/// Verifies every change; `temp` names what is staged for the n-th, `modes` the permissions of new files.
pub(super) fn verify(
    disk: &dyn Disk,
    changes: Vec<Change>,
    modes: &HashMap<Place, u32>,
    temp: impl Fn(usize) -> String,
) -> Result<(Vec<Target>, Folders), CommitError> {
    let mut folders = Folders::default();
    let mut targets = Vec::new();
    let mut problems = Vec::new();
    let found = look(disk, &changes, &mut folders);
    for (index, (change, found)) in changes.into_iter().zip(found).enumerate() {
        let place = change.place();
        let new_mode = modes.get(&place).copied();
        let target = found
            .and_then(|found| target(disk, change, found, &mut folders, temp(index), new_mode));
        match target {
            Ok(target) => targets.push(target),
            Err(Halt::Problem(kind)) => problems.push(Problem { place, kind }),
            Err(Halt::Error(error)) => return Err(error),
        }
    }
    if problems.is_empty() {
        Ok((targets, folders))
    } else {
        Err(CommitError::Refused(problems))
    }
}

/// Opens the folder of every change, then looks at what stands at each target.
fn look(
    disk: &dyn Disk,
    changes: &[Change],
    folders: &mut Folders,
) -> Vec<Result<Found, Halt>> {
    let dirs = changes.iter().map(|change| (change, folder(disk, change, folders)));
    let dirs: Vec<_> = dirs.collect();
    let found = side_by_side(disk.lanes(), &dirs, |(change, dir)| match dir {
        Ok(Some((dir, name))) => find(disk, dir.as_fd(), name, KEEP_BYTES)
            .map_err(|source| change.io("read", source)),
        Ok(None) | Err(_) => Ok(Found::Nothing),
    });
    let both = dirs.into_iter().zip(found);
    both.map(|((_, dir), found)| dir.and_then(|_| Ok(found?))).collect()
}

/// Opens the folder of a change's target; nothing where it is to be made.
fn folder<'change>(
    disk: &dyn Disk,
    change: &'change Change,
    folders: &mut Folders,
) -> Result<Option<(Arc<OwnedFd>, &'change str)>, Halt> {
    if change.root.access() == Access::Read {
        return Err(ProblemKind::ReadOnly.into());
    }
    let (Some(parent), Some(name)) = (change.path.parent(), change.path.file_name()) else {
        return Err(ProblemKind::IsDirectory.into());
    };
    match folders.open(disk, &change.root, &parent) {
        Ok(dir) => Ok(Some((dir, name))),
        Err(error) => no_parent(disk, change, &parent, folders, error).map(|()| None),
    }
}

fn target(
    disk: &dyn Disk,
    change: Change,
    found: Found,
    folders: &mut Folders,
    temp: String,
    new_mode: Option<u32>,
) -> Result<Target, Halt> {
    let (Some(parent), Some(name)) = (change.path.parent(), change.path.file_name()) else {
        return Err(ProblemKind::IsDirectory.into());
    };
    let name = name.to_owned();
    let content = content(&change, found)?;
    let way = match &content {
        None => Way::Create,
        Some(content) => way(disk, &change, folders, &parent, &name, &content.meta)?,
    };
    let kept = content.as_ref().is_some_and(|content| content.bytes.is_some());
    if way == Way::InPlace && !kept {
        return Err(ProblemKind::TooLarge.into());
    }
    let record = FileRecord {
        at: folder_record(&change.root, &change.path),
        before: content.as_ref().map(|content| content.digest),
        after: change.after.as_deref().map(Digest::of),
        mode: content.as_ref().map(|content| content.meta.mode).or(new_mode).unwrap_or(0),
        way,
        temp,
        kept,
    };
    let place = change.place();
    let (like, before) =
        content.map_or((None, None), |content| (Some(content.meta), content.bytes));
    let (root, after) = (change.root, change.after);
    Ok(Target { root, parent, name, place, record, after, before, like, new_mode })
}

/// Returns what stands at the target, if it is what the change expects.
fn content(change: &Change, found: Found) -> Result<Option<Content>, Halt> {
    match (change.expected, found) {
        (_, Found::Folder) => Err(ProblemKind::IsDirectory.into()),
        (_, Found::Other) => Err(ProblemKind::NotRegular.into()),
        (Expected::Absent, Found::Nothing) => Ok(None),
        (Expected::Content(digest), Found::File(content)) if content.digest == digest => {
            Ok(Some(content))
        }
        (Expected::Absent, Found::File(_))
        | (Expected::Content(_), Found::Nothing | Found::File(_)) => {
            Err(ProblemKind::Conflict.into())
        }
    }
}

/// Decides what a folder that does not open means; it returns normally if the folder is to be made.
fn no_parent(
    disk: &dyn Disk,
    change: &Change,
    parent: &RelPath,
    folders: &mut Folders,
    error: io::Error,
) -> Result<(), Halt> {
    let planned = if is_missing(&error) {
        match (change.expected, change.parents) {
            (Expected::Content(_), _) => return Err(ProblemKind::Conflict.into()),
            (Expected::Absent, Parents::MustExist) => {
                return Err(ProblemKind::ParentMissing.into());
            }
            (Expected::Absent, Parents::Make) => folders.plan(disk, &change.root, parent),
        }
    } else {
        Err(error)
    };
    planned.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOTDIR | Errno::LOOP) => ProblemKind::ParentNotFolder.into(),
        Some(_) | None => change.io("open the folder of", error).into(),
    })
}

fn is_missing(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOENT)
}

/// Decides how a file that is there is published, if it may be.
fn way(
    disk: &dyn Disk,
    change: &Change,
    folders: &mut Folders,
    parent: &RelPath,
    name: &str,
    meta: &Meta,
) -> Result<Way, Halt> {
    // A mode without a write bit is the user's word, which the system does not hold root to.
    if meta.mode & 0o222 == 0 {
        return Err(ProblemKind::ReadOnly.into());
    }
    let dir = folders
        .open(disk, &change.root, parent)
        .map_err(|source| change.io("open the folder of", source))?;
    match disk.may_write(dir.as_fd(), name) {
        Ok(true) => {}
        Ok(false) => return Err(ProblemKind::NotPermitted.into()),
        // A program that runs cannot be opened for writing, but it can be replaced.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::TXTBSY) => {}
        Err(source) => return Err(change.io("look at", source).into()),
    }
    if change.after.is_none() {
        return Ok(Way::Delete);
    }
    let may_stage = disk
        .may_write(dir.as_fd(), ".")
        .map_err(|source| change.io("look at the folder of", source))?;
    Ok(if meta.n_links > 1 || !may_stage { Way::InPlace } else { Way::Exchange })
}

impl Folders {
    /// Opens a folder, once.
    pub(super) fn open(
        &mut self,
        disk: &dyn Disk,
        root: &Root,
        path: &RelPath,
    ) -> io::Result<Arc<OwnedFd>> {
        let key = (root.name().clone(), path.clone());
        if let Some(dir) = self.open.get(&key) {
            return Ok(dir.clone());
        }
        let dir = Arc::new(disk.open_dir(root.dir(), path)?);
        self.open.insert(key, dir.clone());
        Ok(dir)
    }

    /// Notes that `path` must be made, with every folder above it that is missing too.
    fn plan(&mut self, disk: &dyn Disk, root: &Arc<Root>, path: &RelPath) -> io::Result<()> {
        let known = |(r, p): &(Arc<Root>, RelPath)| r.name() == root.name() && p == path;
        if self.missing.iter().any(known) {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            match self.open(disk, root, &parent) {
                Ok(_) => {}
                Err(error) if is_missing(&error) => self.plan(disk, root, &parent)?,
                Err(error) => return Err(error),
            }
        }
        self.missing.push((root.clone(), path.clone()));
        Ok(())
    }
}

impl Target {
    pub(super) fn io(&self, verb: &'static str, source: io::Error) -> CommitError {
        CommitError::io(verb, self.place.clone(), source)
    }
}
