//! One running command and its killick side: a thread that moves bytes, and what it has seen so far.
//!
//! The thread owns the pipes, the socket to the supervisor and the supervisor itself; it ends when nothing
//! is left of the command. Whoever waits, waits on the state, so nobody can hold a call by holding a pipe.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::capture::{Capture, Taken};
use super::confine::Enforced;
use super::wire::{Exit, Refused};

/// How often a waiting call looks whether it was withdrawn.
const TICK: Duration = Duration::from_millis(20);

/// How long is waited for the answer to how many processes run.
const COUNT_WAIT: Duration = Duration::from_secs(2);

/// How long is waited for a command that is being ended, its supervisor's patience included.
const END_WAIT: Duration = Duration::from_secs(8);

/// How far a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It has ended, and what it had written has been read; so many processes that it started have not.
    Left(Exit, usize),
    /// Nothing of it is left.
    Gone(Option<Exit>),
    /// It was never started.
    Refused(Refused),
}

impl Phase {
    /// Returns whether the command itself has ended.
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Starting | Self::Running)
    }

    /// Returns how the command ended, if it has and that is known.
    pub fn exit(&self) -> Option<Exit> {
        match self {
            Self::Left(exit, _) => Some(*exit),
            Self::Gone(exit) => *exit,
            Self::Starting | Self::Running | Self::Refused(_) => None,
        }
    }

    /// Returns whether something of it may still run.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Left(..))
    }
}

/// What has been seen of a command.
#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) enforced: Option<Enforced>,
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    /// What the thread was asked to do and has not done.
    pub(super) is_end_wanted: bool,
    /// How often it was asked how many processes run, and has not passed that on.
    pub(super) n_counts_wanted: usize,
    /// How many answers to that came.
    n_counted: u64,
    /// Whether it was ended because its time was over.
    pub(super) is_timed_out: bool,
}

/// What the waiting side and the thread share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn new() -> Self {
        let state = State {
            phase: Phase::Starting,
            enforced: None,
            stdout: Capture::default(),
            stderr: Capture::default(),
            is_end_wanted: false,
            n_counts_wanted: 0,
            n_counted: 0,
            is_timed_out: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes how many processes run.
    pub(super) fn counted(&self, n_left: usize) {
        let mut state = self.lock();
        state.n_counted += 1;
        if let Phase::Left(_, known) = &mut state.phase {
            *known = n_left;
        }
        drop(state);
        self.changed.notify_all();
    }

    pub(super) fn set(&self, phase: Phase) {
        self.lock().phase = phase;
        self.changed.notify_all();
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The command has ended.
    Ended,
    /// The time has passed.
    TimedOut,
    /// The caller wants no more.
    Stopped,
}

/// A command that was started. Dropping it ends everything that is left of it.
#[derive(Debug)]
pub struct Job {
    /// The command, as it was written.
    pub line: String,
    /// When it was started.
    pub started: Instant,
    shared: Arc<Shared>,
    wake: OwnedFd,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Job {
    pub(super) fn new(
        line: String,
        shared: Arc<Shared>,
        wake: OwnedFd,
        thread: JoinHandle<()>,
    ) -> Self {
        let thread = Mutex::new(Some(thread));
        Self { line, started: Instant::now(), shared, wake, thread }
    }

    /// Returns how far the command is.
    pub fn phase(&self) -> Phase {
        self.shared.lock().phase.clone()
    }

    /// Returns how far the command is, with how many processes run now where that belongs to it.
    pub fn phase_now(&self) -> Phase {
        let mut state = self.shared.lock();
        if !matches!(state.phase, Phase::Left(..)) {
            return state.phase.clone();
        }
        state.n_counts_wanted += 1;
        let n_counted = state.n_counted;
        drop(state);
        self.wake();
        let is_told = |state: &State| match state.phase {
            // Where none is left the end of all of it comes next.
            Phase::Left(_, n_left) => state.n_counted > n_counted && n_left > 0,
            Phase::Starting | Phase::Running | Phase::Gone(_) | Phase::Refused(_) => true,
        };
        let _waited = self.wait_until(Instant::now() + COUNT_WAIT, &|| false, is_told);
        self.phase()
    }

    /// Returns whether the command was ended because its time was over.
    pub fn is_timed_out(&self) -> bool {
        self.shared.lock().is_timed_out
    }

    /// Returns what holds the command, if it is confined.
    pub fn enforced(&self) -> Option<Enforced> {
        self.shared.lock().enforced.clone()
    }

    /// Takes what the command has written since the last time: standard output and standard error.
    pub fn take(&self) -> (Taken, Taken) {
        let mut state = self.shared.lock();
        (state.stdout.take(), state.stderr.take())
    }

    /// Waits until the command has ended, `until` has passed or `is_stopped` says so.
    pub fn wait(&self, until: Instant, is_stopped: &dyn Fn() -> bool) -> Waited {
        self.wait_for(until, is_stopped, Phase::has_ended)
    }

    /// Waits until the command runs or cannot.
    pub fn wait_for_start(&self, until: Instant, is_stopped: &dyn Fn() -> bool) -> Waited {
        self.wait_for(until, is_stopped, |phase| *phase != Phase::Starting)
    }

    fn wait_for(
        &self,
        until: Instant,
        is_stopped: &dyn Fn() -> bool,
        is_enough: impl Fn(&Phase) -> bool,
    ) -> Waited {
        self.wait_until(until, is_stopped, |state| is_enough(&state.phase))
    }

    fn wait_until(
        &self,
        until: Instant,
        is_stopped: &dyn Fn() -> bool,
        is_enough: impl Fn(&State) -> bool,
    ) -> Waited {
        let mut state = self.shared.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if is_enough(&state) {
                return Waited::Ended;
            } else if is_stopped() {
                return Waited::Stopped;
            } else if left.is_zero() {
                return Waited::TimedOut;
            }
            let waited = self.shared.changed.wait_timeout(state, left.min(TICK));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the command and all that it started; returns when nothing is left, or the system keeps it.
    pub fn end(&self) {
        self.ask_to_end();
        let _waited =
            self.wait_for(Instant::now() + END_WAIT, &|| false, |phase| !phase.is_live());
    }

    pub(super) fn ask_to_end(&self) {
        self.shared.lock().is_end_wanted = true;
        self.wake();
    }

    fn wake(&self) {
        // A full pipe wakes the thread as well.
        let _woken = rustix::io::write(self.wake.as_fd(), &[0]);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if !self.phase().is_live() {
            // Its thread has but its supervisor's end to wait for.
            return;
        }
        self.ask_to_end();
        // A thread that panicked has nothing left to end: the supervisor sees its socket close.
        let _joined = thread.map(JoinHandle::join);
    }
}
