//! The commands of one session: how they are started, and those that run on beside its calls.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::pipe::{PipeFlags, pipe_with};

use super::confine::Confinement;
use super::files;
use super::job::{Job, Shared};
use super::pump::{Input, Pump, Source, Times};
use super::strays;
use super::supervise::{OWN_PROGRAM, SUPERVISE};
use super::wire::{self, Order, Program};

/// A command to be run by a shell.
#[derive(Clone, Debug)]
pub struct Start {
    /// The shell's name or path.
    pub shell: String,
    /// The command.
    pub line: String,
    /// The folder that it begins in.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it can read from its standard input.
    pub input: Vec<u8>,
    /// What it is held to; nothing where it is the user's own.
    pub confinement: Option<Confinement>,
    /// How long it may run before it is ended; for ever, if nothing is said.
    pub lifetime: Option<Duration>,
}

/// What of a session's commands runs beside its calls. Dropping it ends all of it.
#[derive(Debug)]
pub struct Jobs {
    killick: PathBuf,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last: u32,
    jobs: BTreeMap<u32, Arc<Job>>,
}

/// The most jobs of a session that are remembered; the oldest that has ended is forgotten for a new one.
const MOST_JOBS: usize = 64;

/// A session has as many live jobs as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MOST_JOBS} jobs of this session are still running")]
pub struct TooMany;

impl Default for Jobs {
    fn default() -> Self {
        Self::supervised_by(PathBuf::from(OWN_PROGRAM))
    }
}

impl Jobs {
    /// Returns no jobs yet; `killick` is the program that is re-executed as supervisor.
    pub fn supervised_by(killick: PathBuf) -> Self {
        Self { killick, table: Mutex::default() }
    }

    /// Starts a command. It ends with the job that is returned, unless that is kept.
    pub fn start(&self, start: Start) -> io::Result<Job> {
        files::raise();
        let until = start.lifetime.map(|lifetime| Instant::now() + lifetime);
        let (near, far) = UnixStream::pair()?;
        let (input, to_input) = standard_input(&start.input)?;
        let (from_stdout, stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from_stderr, stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        for own in [&from_stdout, &from_stderr].into_iter().chain(&to_input) {
            rustix::io::ioctl_fionbio(own, true)?;
        }
        #[expect(clippy::disallowed_methods, reason = "this is where supervisors are started")]
        let mut command = Command::new(&self.killick);
        command
            .arg(SUPERVISE)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(far)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let supervisor = strays::spawn(&mut command)?;
        // The command holds the supervisor's end of the socket; while it does, nobody is seen to go away.
        drop(command);
        let program = Program {
            name: start.shell,
            found: None,
            arguments: arguments(&start.line),
            directory: start.directory.as_os_str().into(),
            environment: start
                .environment
                .iter()
                .map(|(name, value)| (name.as_os_str().into(), value.as_os_str().into()))
                .collect(),
            max_files: files::of_programs(),
            confinement: start.confinement,
        };
        // A supervisor that has gone already is told of by its socket.
        let files = [input.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let _sent = wire::send(&near, &Order::Start(Box::new(program)), &files);
        let shared = Arc::new(Shared::new());
        let pump = Pump {
            shared: Arc::clone(&shared),
            supervisor,
            socket: near,
            wake: woken,
            input: Input { pipe: to_input, unsent: start.input, n_sent: 0 },
            stdout: Source { pipe: Some(from_stdout), capture: |state| &mut state.stdout },
            stderr: Source { pipe: Some(from_stderr), capture: |state| &mut state.stderr },
            times: Times::until(until),
        };
        let thread =
            std::thread::Builder::new().name("job".to_owned()).spawn(move || pump.run())?;
        Ok(Job::new(start.line, shared, wake, thread))
    }

    /// Keeps a job beside the calls and returns its number, which is used once in a session.
    pub fn keep(&self, job: Job) -> Result<u32, TooMany> {
        let mut table = self.table();
        if table.jobs.len() >= MOST_JOBS {
            let ended = table.jobs.iter().find(|(_, job)| !job.phase().is_live());
            let oldest = *ended.ok_or(TooMany)?.0;
            table.jobs.remove(&oldest);
        }
        table.last += 1;
        let number = table.last;
        table.jobs.insert(number, Arc::new(job));
        Ok(number)
    }

    /// Returns the job of a number.
    pub fn get(&self, number: u32) -> Option<Arc<Job>> {
        self.table().jobs.get(&number).cloned()
    }

    /// Returns every job that is remembered, in the order of their numbers.
    pub fn all(&self) -> Vec<(u32, Arc<Job>)> {
        self.table().jobs.iter().map(|(number, job)| (*number, Arc::clone(job))).collect()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns what the program reads from, and where its input is written, if there is any.
///
/// Nothing is no empty pipe: a search takes a pipe for what it is to search.
fn standard_input(input: &[u8]) -> io::Result<(OwnedFd, Option<OwnedFd>)> {
    if input.is_empty() {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        return Ok((openat(CWD, "/dev/null", flags, Mode::empty())?, None));
    }
    let (input, to_input) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((input, Some(to_input)))
}

/// Returns the arguments with which a shell runs a line; one that begins like an option is none.
///
/// `--` stands there only then: what is no shell of POSIX takes it for the line.
fn arguments(line: &str) -> Vec<String> {
    let mut arguments = vec!["-c".to_owned()];
    if line.starts_with(['-', '+']) {
        arguments.push("--".to_owned());
    }
    arguments.push(line.to_owned());
    arguments
}

impl Drop for Jobs {
    fn drop(&mut self) {
        // All are asked before the first is waited for.
        for job in self.table().jobs.values() {
            job.ask_to_end();
        }
    }
}
