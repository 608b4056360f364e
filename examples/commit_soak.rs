//! Several processes that change the same files for a while: `commit_soak SECONDS [PROCESSES [FILES]]`.
//!
//! Every process adds its numbered line to one file after another through a transaction that expects the
//! content it has read, and tries again when somebody else was first. At the end every line that was
//! accepted must be in its file, once, and no file may be torn. Prints the counts; exits 1 on a loss.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it lays out files, starts processes and prints what it saw"
)]

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use killick::path::{RelPath, RootName};
use killick::store::Store;
use killick::text::Digest;
use killick::workspace::{
    Access, Change, CommitError, Context, Expected, Forever, Origin, Parents, RealDisk, Root,
    Transaction,
};

type Anything = Box<dyn Error>;

fn main() -> Result<ExitCode, Anything> {
    let words: Vec<String> = std::env::args().collect();
    if words.get(1).is_some_and(|word| word == "--writer") {
        let [_, _, folder, writer, n_files, seconds] = words.as_slice() else {
            return Err("a writer takes FOLDER NUMBER FILES SECONDS".into());
        };
        write(Path::new(folder), writer.parse()?, n_files.parse()?, seconds.parse()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let number = |at: usize, default: usize| {
        words.get(at).map_or(Ok(default), |word| word.parse::<usize>())
    };
    supervise(number(1, 10)?, number(2, 8)?, number(3, 50)?)
}

fn supervise(seconds: usize, n_writers: usize, n_files: usize) -> Result<ExitCode, Anything> {
    let folder = std::env::temp_dir().join(format!("killick-soak-{}", std::process::id()));
    fs::create_dir_all(folder.join("ws"))?;
    for file in 0..n_files {
        fs::write(folder.join(format!("ws/f{file}")), "")?;
    }
    let mut writers = Vec::new();
    for writer in 0..n_writers {
        let words = [writer.to_string(), n_files.to_string(), seconds.to_string()];
        let mut command = Command::new(std::env::current_exe()?);
        writers.push(command.arg("--writer").arg(&folder).args(words).spawn()?);
    }
    for writer in &mut writers {
        if !writer.wait()?.success() {
            return Err("a writer failed".into());
        }
    }
    let lost = judge(&folder, n_writers, n_files)?;
    fs::remove_dir_all(&folder)?;
    Ok(if lost { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Adds lines until the time is over, and keeps a list of those that were accepted.
fn write(folder: &Path, writer: usize, n_files: usize, seconds: u64) -> Result<(), Anything> {
    let root = Arc::new(Root::open(RootName::workspace(), &folder.join("ws"), Access::Write)?);
    let store = Store::open(folder.join("state"))?.workspace(root.path());
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut accepted = String::new();
    let (mut number, mut n_conflicts) = (0usize, 0usize);
    while Instant::now() < end {
        let name = format!("f{}", (number * 7 + writer) % n_files);
        let line = format!("{writer}.{number}");
        let before = fs::read(folder.join("ws").join(&name))?;
        let change = Change {
            root: Arc::clone(&root),
            path: RelPath::parse(&name)?,
            expected: Expected::Content(Digest::of(&before)),
            after: Some([before.as_slice(), line.as_bytes(), b"\n"].concat()),
            parents: Parents::MustExist,
        };
        let origin = Origin { session: format!("writer-{writer}"), label: "write".to_owned() };
        let context =
            Context { store: &store, disk: &RealDisk, patience: &Forever, now_unix_ms: 0 };
        match Transaction::new(origin, vec![change]).commit(&context) {
            Ok(_) => {
                let _ = writeln!(accepted, "{name} {line}");
                number += 1;
            }
            Err(CommitError::Refused(_)) => n_conflicts += 1,
            Err(error) => return Err(error.into()),
        }
    }
    fs::write(folder.join(format!("accepted-{writer}")), accepted)?;
    println!("writer {writer}: {number} accepted, {n_conflicts} conflicts");
    Ok(())
}

/// Compares what was accepted with what is there.
fn judge(folder: &Path, n_writers: usize, n_files: usize) -> Result<bool, Anything> {
    let mut wanted: HashMap<PathBuf, Vec<String>> = HashMap::new();
    for writer in 0..n_writers {
        for line in fs::read_to_string(folder.join(format!("accepted-{writer}")))?.lines() {
            let (file, line) = line.split_once(' ').ok_or("a torn list")?;
            wanted.entry(folder.join("ws").join(file)).or_default().push(line.to_owned());
        }
    }
    let n_accepted: usize = wanted.values().map(Vec::len).sum();
    let mut is_lost = false;
    for (path, mut lines) in wanted {
        let mut there: Vec<String> =
            fs::read_to_string(&path)?.lines().map(str::to_owned).collect();
        lines.sort();
        there.sort();
        if lines != there {
            is_lost = true;
            println!("{}: {} accepted, {} there", path.display(), lines.len(), there.len());
        }
    }
    let left = fs::read_dir(folder.join("ws"))?.count() - n_files;
    println!("{n_accepted} accepted edits, lost or torn: {is_lost}, other files left: {left}");
    Ok(is_lost || left > 0)
}
