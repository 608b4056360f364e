//! The commands of one session: how they are started, and those that run on beside its calls.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::pipe::{PipeFlags, pipe_with};

use super::confine::Confinement;
use super::job::{Job, Shared};
use super::pump::{Input, Pump, Source};
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
        let (near, far) = UnixStream::pair()?;
        let (input, to_input) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from_stdout, stdout) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from_stderr, stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        for own in [&to_input, &from_stdout, &from_stderr] {
            rustix::io::ioctl_fionbio(own, true)?;
        }
        #[expect(clippy::disallowed_methods, reason = "this is where supervisors are started")]
        let mut command = Command::new(&self.killick);
        command
            .arg(SUPERVISE)
            .env_clear()
            .envs(start.environment)
            .current_dir(start.directory)
            .stdin(Stdio::from(OwnedFd::from(far)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let supervisor = strays::spawn(&mut command)?;
        // The command holds the supervisor's end of the socket; while it does, nobody is seen to go away.
        drop(command);
        let program = Program {
            name: start.shell,
            // A line that begins with a dash is no option.
            arguments: vec!["-c".to_owned(), "--".to_owned(), start.line.clone()],
            confinement: start.confinement,
        };
        // A supervisor that has gone already is told of by its socket.
        let files = [input.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let _sent = wire::send(&near, &Order::Start(program), &files);
        let shared = Arc::new(Shared::new());
        let pump = Pump {
            shared: Arc::clone(&shared),
            supervisor,
            socket: near,
            wake: woken,
            input: Input { pipe: Some(to_input), unsent: start.input, n_sent: 0 },
            stdout: Source { pipe: Some(from_stdout), capture: |state| &mut state.stdout },
            stderr: Source { pipe: Some(from_stderr), capture: |state| &mut state.stderr },
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

impl Drop for Jobs {
    fn drop(&mut self) {
        // All are asked before the first is waited for.
        for job in self.table().jobs.values() {
            job.ask_to_end();
        }
    }
}
