//! The supervisor: killick re-executed to stand above one shell and all that it starts.
//!
//! It leads a session without a terminal and takes over every process whose parent ends, so that nothing
//! escapes it. It reports how the shell ended and ends everything when it is told to, or when killick goes
//! away. It reads and writes no output: the shell has killick's pipes.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getrlimit, setrlimit,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::confine::{self, Enforced};
use super::family;
use super::stage::STAGE;
use super::wire::{self, Cause, Exit, Order, Program, Refused, Report, Staged};

/// The first argument of a killick that is a supervisor.
pub const SUPERVISE: &str = "__supervise";

/// The program that this process runs, whatever stands under its name by now.
pub(super) const OWN_PROGRAM: &str = "/proc/self/exe";

/// How long processes have between the request to end and their end.
const GRACE: Duration = Duration::from_millis(100);

/// How long is waited for processes that were killed; what the system cannot end is left.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// Something that happened to a supervisor.
enum Event {
    /// A child has ended; whether there are others.
    Ended(Pid, WaitStatus, Others),
    /// No child is left.
    NoneLeft,
    /// killick wants to know how many processes run.
    Count,
    /// killick wants everything to end, or has gone.
    End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Some,
    None,
}

/// Runs the supervisor; the process must have a single thread.
pub fn supervise() -> ExitCode {
    match supervised() {
        Ok(()) => ExitCode::SUCCESS,
        // killick has gone, or what it said is no order: there is nobody to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervised() -> io::Result<()> {
    // Where it cannot be done the program holds what killick was given.
    let _closed = confine::close_inherited();
    let socket = wire::own_socket()?;
    let Some((Order::Start(program), files)) = wire::receive(&socket)? else { return Ok(()) };
    withstand_signals()?;
    rustix::process::setsid()?;
    if let Some(max_files) = program.max_files {
        limit_files(max_files);
    }
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own))?;
    let (shell, enforced) = match program.found().and_then(|found| start(&found, files)) {
        Ok(started) => started,
        Err(refused) => return wire::send(&socket, &Report::Failed(refused), &[]),
    };
    wire::send(&socket, &Report::Started(enforced), &[])?;
    let (events, happened) = channel();
    listen(socket.try_clone()?, events.clone());
    reap(events);
    Supervisor { own, shell, socket, happened }.watch();
    Ok(())
}

/// Lets none of the signals end it that its program could send by mistake, as in `kill $PPID`.
///
/// Each gets a handler, which programs that are started later do not inherit. The handler for the end of a
/// child also undoes that killick was started with that signal ignored, which would hide how any ended.
fn withstand_signals() -> io::Result<()> {
    for signal in [SIGCHLD, SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Gives the program the limit that killick was started with.
fn limit_files(max_files: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // It was lower before, so it can be lowered.
    let _lowered = setrlimit(Resource::Nofile, Rlimit { current: Some(max_files), maximum });
}

/// Starts the program in a group of its own, confined where it is to be.
fn start(program: &Program, files: Vec<OwnedFd>) -> Result<(Pid, Option<Enforced>), Refused> {
    let fail = |error| Refused::by_system(&error);
    let Ok([input, output, errors]) = <[OwnedFd; 3]>::try_from(files) else {
        return Err(fail(io::ErrorKind::InvalidData.into()));
    };
    let outputs = (Stdio::from(output), Stdio::from(errors));
    if program.confinement.is_some() {
        let (near, far) = UnixStream::pair().map_err(fail)?;
        #[expect(clippy::disallowed_methods, reason = "this is where stages are started")]
        let mut command = Command::new(OWN_PROGRAM);
        command.arg(STAGE).env_clear().current_dir(program.folder());
        let stage = spawn(command, far.into(), outputs).map_err(fail)?;
        return Ok((stage, Some(confined(&near, program, &input)?)));
    }
    let mut command = program.command();
    command.current_dir(program.folder());
    Ok((spawn(command, input, outputs).map_err(fail)?, None))
}

fn spawn(
    mut command: Command,
    input: OwnedFd,
    (output, errors): (Stdio, Stdio),
) -> io::Result<Pid> {
    command.stdin(Stdio::from(input)).stdout(output).stderr(errors);
    let child = command.process_group(0).spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Tells the stage what to become and to what it is held, and waits until it is that.
fn confined(
    stage: &UnixStream,
    program: &Program,
    input: &OwnedFd,
) -> Result<Enforced, Refused> {
    let fail = |error| Refused::by_system(&error);
    wire::send(stage, program, &[input.as_fd()]).map_err(fail)?;
    let enforced = match wire::receive(stage).map_err(|_broken| lost())? {
        Some((Staged::Confined(enforced), _)) => enforced,
        Some((Staged::Failed(refused), _)) => return Err(refused),
        None => return Err(lost()),
    };
    match wire::receive(stage).map_err(|_broken| lost())? {
        Some((Staged::Failed(refused), _)) => Err(refused),
        Some((Staged::Confined(_), _)) | None => Ok(enforced),
    }
}

fn lost() -> Refused {
    let words = "the sandbox ended before it was complete".to_owned();
    Refused { cause: Cause::Unconfined, words }
}

/// Turns what killick says into events; its silence for good is the order to end.
fn listen(socket: UnixStream, events: Sender<Event>) {
    std::thread::spawn(move || {
        while let Ok(Some((Order::Count, _))) = wire::receive(&socket) {
            if events.send(Event::Count).is_err() {
                return;
            }
        }
        // Nothing but an order to end is left to be said. The watch may have ended.
        let _told = events.send(Event::End);
    });
}

/// Takes the end of every child, the shell's and those of processes whose parents have ended.
fn reap(events: Sender<Event>) {
    std::thread::spawn(move || {
        let mut ended = rustix::process::wait(WaitOptions::empty());
        while let Ok(Some((pid, status))) = ended {
            ended = rustix::process::wait(WaitOptions::NOHANG);
            let others = if ended.is_ok() { Others::Some } else { Others::None };
            if events.send(Event::Ended(pid, status, others)).is_err() {
                return;
            }
            if matches!(ended, Ok(None)) {
                ended = rustix::process::wait(WaitOptions::empty());
            }
        }
        let _told = events.send(Event::NoneLeft);
    });
}

struct Supervisor {
    own: Pid,
    shell: Pid,
    socket: UnixStream,
    happened: Receiver<Event>,
}

impl Supervisor {
    /// Waits until nothing is left of what was started.
    fn watch(&self) {
        while let Ok(event) = self.happened.recv() {
            match event {
                Event::Ended(pid, status, others) => self.ended(pid, status, others),
                Event::NoneLeft => break,
                Event::Count => self.count(),
                Event::End => {
                    self.end_all();
                    break;
                }
            }
        }
        // killick may have gone.
        let _told = wire::send(&self.socket, &Report::Gone, &[]);
    }

    fn ended(&self, pid: Pid, status: WaitStatus, others: Others) {
        if pid != self.shell {
            return;
        }
        let n_left = match others {
            Others::None => 0,
            Others::Some => family::below(self.own).len(),
        };
        // If killick has gone, the event of its going comes next.
        let _told = wire::send(&self.socket, &Report::Exited(exit(status), n_left), &[]);
    }

    fn count(&self) {
        // If killick has gone, the event of its going comes next.
        let n_left = family::below(self.own).len();
        let _told = wire::send(&self.socket, &Report::Counted(n_left), &[]);
    }

    /// Asks the shell's group to end, then ends whatever is left, however it tried to escape.
    fn end_all(&self) {
        let group = self.shell.as_raw_nonzero().get();
        // The number of a group without members may be another's by now.
        if family::below(self.own).iter().any(|process| process.group == group) {
            let _ignored = rustix::process::kill_process_group(self.shell, Signal::TERM);
        }
        if self.none_left_within(GRACE) {
            return;
        }
        let started = Instant::now();
        while started.elapsed() < LAST_WAIT {
            for process in family::freeze(self.own) {
                family::signal(&process, Signal::KILL);
            }
            if self.none_left_within(Duration::from_millis(20)) {
                return;
            }
        }
    }

    fn none_left_within(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            match self.happened.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended(pid, status, others)) => self.ended(pid, status, others),
                Ok(Event::Count) => self.count(),
                Ok(Event::End) => {}
                Ok(Event::NoneLeft) | Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}

fn exit(status: WaitStatus) -> Exit {
    match status.terminating_signal() {
        Some(signal) => Exit::Signal(signal),
        None => Exit::Code(status.exit_status().unwrap_or_default()),
    }
}
