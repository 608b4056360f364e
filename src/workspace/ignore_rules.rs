//! Which entries a repository ignores: `.ignore`, `.gitignore` and `.git/info/exclude`, folder by folder.
//!
//! The rules hold outside a repository too, and a repository inside another starts its `.gitignore` rules
//! anew. `.ignore` files win over `.gitignore` files, those over `info/exclude`; within a kind the deepest
//! file wins. The person's global excludes are not read, so that results do not depend on who asks. Rule
//! files that are symlinks are not followed, as in git. Lines that are no rules are passed over.

use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Mode};

use crate::path::RelPath;

use super::beneath::open_beneath;
use super::load::READ;

/// How much of a rule file is read.
const MAX_RULE_BYTES: u64 = 1 << 20;

/// The rules that hold in one folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    dot_ignore: Chain,
    gitignore: Chain,
    exclude: Chain,
}

type Chain = Option<Arc<Layer>>;

/// The rules of one file, and of the files of its kind above it.
#[derive(Debug)]
struct Layer {
    rules: Gitignore,
    /// How many bytes of a path the folder takes, its `/` included.
    folder_len: usize,
    above: Chain,
}

/// Which files of rules a folder holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub(super) dot_ignore: bool,
    pub(super) gitignore: bool,
    pub(super) store: bool,
}

impl Held {
    /// Looks which files of rules an open folder holds.
    pub(super) fn look(dir: BorrowedFd<'_>) -> Self {
        let holds =
            |name: &str| rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        Self {
            dot_ignore: holds(".ignore"),
            gitignore: holds(".gitignore"),
            store: holds(".git"),
        }
    }
}

impl Rules {
    /// Returns the rules inside the open folder at `path`, where these hold around it.
    pub(super) fn within(&self, dir: BorrowedFd<'_>, path: &str, held: Held) -> Self {
        let mut rules = self.clone();
        if held.store {
            rules.gitignore = None;
            rules.exclude = layer(dir, path, ".git/info/exclude", None);
        }
        if held.gitignore {
            rules.gitignore = layer(dir, path, ".gitignore", rules.gitignore);
        }
        if held.dot_ignore {
            rules.dot_ignore = layer(dir, path, ".ignore", rules.dot_ignore);
        }
        rules
    }

    /// Returns whether the entry at `path`, whose folder is not ignored, is ignored.
    pub(super) fn ignore(&self, path: &str, is_folder: bool) -> bool {
        self.verdict(path, is_folder).unwrap_or(false)
    }

    /// Returns whether an entry is ignored, or nothing where no rule speaks of it.
    pub(super) fn verdict(&self, path: &str, is_folder: bool) -> Option<bool> {
        [&self.dot_ignore, &self.gitignore, &self.exclude]
            .into_iter()
            .find_map(|chain| judge(chain, path, is_folder))
    }
}

fn judge(chain: &Chain, path: &str, is_folder: bool) -> Option<bool> {
    let mut layer = chain.as_ref();
    while let Some(here) = layer {
        let below = path.get(here.folder_len..).unwrap_or_default();
        match here.rules.matched(Path::new(below), is_folder) {
            Match::None => layer = here.above.as_ref(),
            Match::Ignore(_) => return Some(true),
            Match::Whitelist(_) => return Some(false),
        }
    }
    None
}

fn layer(dir: BorrowedFd<'_>, path: &str, file: &str, above: Chain) -> Chain {
    let Some(rules) = read(dir, file).and_then(|text| parse(&text)) else {
        return above;
    };
    let folder_len = if path.is_empty() { 0 } else { path.len() + 1 };
    Some(Arc::new(Layer { rules, folder_len, above }))
}

fn read(dir: BorrowedFd<'_>, file: &str) -> Option<Vec<u8>> {
    let path = RelPath::parse(file).ok()?;
    let file = std::fs::File::from(open_beneath(dir, &path, READ, Mode::empty()).ok()?);
    let stat = rustix::fs::fstat(file.as_fd()).ok()?;
    if super::meta::file_type(&stat) != rustix::fs::FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_RULE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn parse(bytes: &[u8]) -> Option<Gitignore> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    // Paths come without the folder that holds the rules, which `.` stands for.
    let mut builder = GitignoreBuilder::new(".");
    for line in bytes.split(|&byte| byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line) {
            drop(builder.add_line(None, line.strip_suffix('\r').unwrap_or(line)));
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
