//! The thread of a job: bytes from the pipes into the captures, the input into its pipe, word from the
//! supervisor into the state.
//!
//! It never blocks on one of them. When the supervisor goes away without a last word, because the command
//! killed it, what it stood above is ended from here.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::capture::Capture;
use super::job::{Phase, Shared, State};
use super::strays;
use super::wire::{self, Exit, Order, Refused, Report};

/// How long what a command left in its pipes is read after its end.
const DRAIN: Duration = Duration::from_millis(100);

/// How long a supervisor may take to end everything, before it is killed itself.
const OBEDIENCE: Duration = Duration::from_secs(4);

/// How much is read at a time.
const PIECE_BYTES: usize = 64 << 10;

/// The ends of a command's pipes that killick holds, the socket to its supervisor, and the supervisor.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) shared: Arc<Shared>,
    pub(super) supervisor: Child,
    pub(super) socket: UnixStream,
    pub(super) wake: OwnedFd,
    pub(super) input: Input,
    pub(super) stdout: Source,
    pub(super) stderr: Source,
    pub(super) times: Times,
}

/// When something is due.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// The command is ended, if it still runs.
    until: Option<Instant>,
    /// What others may still write to its pipes is waited for no longer; and how it ended.
    drained: Option<(Instant, Exit, usize)>,
    /// A supervisor that was told to end everything is killed.
    obeyed: Option<Instant>,
}

impl Times {
    /// Returns that a command is ended at a time, if one is said.
    pub(super) fn until(until: Option<Instant>) -> Self {
        Self { until, ..Self::default() }
    }
}

/// What is still to be written to the command, and where; closed once it is written.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) pipe: Option<OwnedFd>,
    pub(super) unsent: Vec<u8>,
    pub(super) n_sent: usize,
}

/// A stream of the command and where it is captured.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) pipe: Option<OwnedFd>,
    pub(super) capture: fn(&mut State) -> &mut Capture,
}

/// What became of a stream at a read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    More,
    NothingNow,
    Closed,
}

/// How a command came to its end.
enum End {
    Refused(Refused),
    Gone,
    /// The supervisor has gone without a last word.
    Lost,
}

impl Pump {
    /// Moves bytes until nothing of the command is left.
    pub(super) fn run(mut self) {
        let mut exit = None;
        let end = self.serve(&mut exit);
        let is_lost = matches!(end, End::Lost);
        if is_lost {
            let _killed = self.supervisor.kill();
            // Its socket closes before its children change their parent; with its end they have.
            strays::bury(&mut self.supervisor);
            strays::end();
        }
        self.drain();
        let mut state = self.shared.lock();
        state.stdout.finish();
        state.stderr.finish();
        drop(state);
        self.shared.set(match end {
            End::Refused(refused) => Phase::Refused(refused),
            End::Gone | End::Lost => Phase::Gone(exit),
        });
        if !is_lost {
            // Nobody need wait for the end of a supervisor that has nothing left to look after.
            strays::bury(&mut self.supervisor);
        }
    }

    fn serve(&mut self, exit: &mut Option<Exit>) -> End {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let Ok(has_word) = self.wait() else { return End::Lost };
            self.obey();
            self.input.push();
            self.stdout.pull(&self.shared, &mut piece);
            self.stderr.pull(&self.shared, &mut piece);
            self.keep_time();
            if !has_word {
                continue;
            }
            match wire::receive(&self.socket) {
                Ok(Some((Report::Started(enforced), _))) => {
                    self.shared.lock().enforced = enforced;
                    self.shared.set(Phase::Running);
                }
                Ok(Some((Report::Failed(refused), _))) => return End::Refused(refused),
                Ok(Some((Report::Exited(how, n_left), _))) => {
                    *exit = Some(how);
                    if n_left > 0 {
                        self.times.drained = Some((Instant::now() + DRAIN, how, n_left));
                    }
                }
                Ok(Some((Report::Counted(n_left), _))) => self.shared.counted(n_left),
                Ok(Some((Report::Gone, _))) => return End::Gone,
                Ok(None) | Err(_) => return End::Lost,
            }
        }
    }

    /// Passes on what the holder of the job wants. A supervisor that has gone is told of by its socket.
    fn obey(&mut self) {
        let wanted = {
            let mut state = self.shared.lock();
            (state.is_end_wanted, std::mem::take(&mut state.n_counts_wanted))
        };
        for _ in 0..wanted.1 {
            let _sent = wire::send(&self.socket, &Order::Count, &[]);
        }
        if wanted.0 && self.times.obeyed.is_none() {
            let _sent = wire::send(&self.socket, &Order::End, &[]);
            self.times.obeyed = Some(Instant::now() + OBEDIENCE);
        }
    }

    /// Does what is due.
    fn keep_time(&mut self) {
        let now = Instant::now();
        let is_closed = self.stdout.pipe.is_none() && self.stderr.pipe.is_none();
        if let Some((_, how, n_left)) =
            self.times.drained.take_if(|(at, ..)| is_closed || now >= *at)
        {
            self.drain();
            self.shared.set(Phase::Left(how, n_left));
        }
        if self.times.until.take_if(|at| now >= *at).is_some() {
            let mut state = self.shared.lock();
            state.is_timed_out = true;
            state.is_end_wanted = true;
            drop(state);
            self.obey();
        }
        if self.times.obeyed.is_some_and(|at| now >= at) {
            // Its end is heard on the socket; one that was stopped is not heard otherwise.
            let _killed = self.supervisor.kill();
            self.times.obeyed = Some(now + OBEDIENCE);
        }
    }

    /// Waits until there is something to do; returns whether the supervisor has said something.
    fn wait(&self) -> io::Result<bool> {
        let mut asked = vec![
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(&self.wake, PollFlags::IN),
        ];
        asked.extend(self.input.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        for source in [&self.stdout, &self.stderr] {
            asked.extend(source.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        }
        let Times { until, drained, obeyed } = &self.times;
        let due = [*until, drained.map(|(at, ..)| at), *obeyed].into_iter().flatten().min();
        let patience = due.map(|at| at.saturating_duration_since(Instant::now()));
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        match poll(&mut asked, patience.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let is_ready = |n: usize| asked.get(n).is_some_and(|fd| !fd.revents().is_empty());
        if is_ready(1) {
            let _taken = rustix::io::read(self.wake.as_fd(), &mut [0; 64][..]);
        }
        Ok(is_ready(0))
    }

    /// Reads what is in the pipes, for a bounded time: somebody may go on writing.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        let mut piece = vec![0; PIECE_BYTES];
        while Instant::now() < until {
            let read = [
                self.stdout.pull(&self.shared, &mut piece),
                self.stderr.pull(&self.shared, &mut piece),
            ];
            if !read.contains(&Read::More) {
                return;
            }
        }
    }
}

impl Input {
    /// Writes what fits, and closes the pipe behind the last byte or when nobody reads it.
    fn push(&mut self) {
        while let Some(pipe) = &self.pipe {
            let unsent = self.unsent.get(self.n_sent..).unwrap_or_default();
            if unsent.is_empty() {
                self.close();
                return;
            }
            match rustix::io::write(pipe, unsent) {
                Ok(n) => self.n_sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.close(),
            }
        }
    }

    fn close(&mut self) {
        self.pipe = None;
        self.unsent = Vec::new();
        self.n_sent = 0;
    }
}

impl Source {
    /// Reads one piece into the capture, if there is one.
    fn pull(&mut self, shared: &Shared, piece: &mut [u8]) -> Read {
        let Some(pipe) = &self.pipe else { return Read::Closed };
        match read_some(pipe.as_fd(), piece) {
            Ok(0) => {
                self.pipe = None;
                Read::Closed
            }
            Ok(n) => {
                let mut state = shared.lock();
                (self.capture)(&mut state).feed(piece.get(..n).unwrap_or_default());
                Read::More
            }
            Err(Errno::AGAIN) => Read::NothingNow,
            Err(_) => {
                self.pipe = None;
                Read::Closed
            }
        }
    }
}

fn read_some(pipe: BorrowedFd<'_>, piece: &mut [u8]) -> Result<usize, Errno> {
    rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut *piece))
}
