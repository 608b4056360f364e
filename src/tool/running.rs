//! A call while it runs: its deadline, its cancellation, and the point from which it cannot be stopped.
//!
//! The working side holds a [`Running`] on a blocking thread; the dispatcher holds the [`Watch`]. A call
//! that was stopped cannot begin to commit, and one that commits cannot be stopped: so a caller that is
//! told «timeout» knows that nothing was written, and a write that happened is always reported.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Where time comes from.
#[derive(Clone, Copy, Debug)]
pub struct Clock(fn() -> jiff::Timestamp);

impl Clock {
    /// Returns the system's clock.
    pub fn system() -> Self {
        Self(jiff::Timestamp::now)
    }

    /// Returns a clock that `now` is read from, for tests.
    pub fn from_fn(now: fn() -> jiff::Timestamp) -> Self {
        Self(now)
    }

    /// Returns the time.
    pub fn now(self) -> jiff::Timestamp {
        (self.0)()
    }
}

/// The call was stopped before it could begin to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Working; the clock runs from here.
    Working { since: Instant },
    /// Waiting for a lock; the clock stands.
    Waiting,
    /// Writing, or telling what was written; cannot be stopped.
    Committing,
    /// Stopped; may not begin to write.
    Abandoned,
}

#[derive(Debug)]
struct State {
    stage: Stage,
    spent: Duration,
}

#[derive(Debug)]
struct Shared {
    budget: Duration,
    state: Mutex<State>,
    changed: Notify,
    token: CancellationToken,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, stage: Stage) -> Result<(), Stopped> {
        let mut state = self.state();
        match state.stage {
            Stage::Abandoned => return Err(Stopped),
            Stage::Working { since } => state.spent += since.elapsed(),
            Stage::Waiting | Stage::Committing => {}
        }
        state.stage = stage;
        drop(state);
        self.changed.notify_one();
        Ok(())
    }
}

/// The working side of a call.
#[derive(Clone, Debug)]
pub struct Running {
    shared: Arc<Shared>,
    clock: Clock,
}

impl Running {
    /// Returns whether the call should end soon: it was withdrawn or passed its deadline.
    pub fn is_stopped(&self) -> bool {
        self.shared.token.is_cancelled()
    }

    /// Returns the time.
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// Stops the clock until [`Self::resume`]: what follows is waiting, not work.
    pub fn pause(&self) {
        // A call that was stopped finds out when it tries to write.
        let _ = self.shared.enter(Stage::Waiting);
    }

    /// Lets the clock run again.
    pub fn resume(&self) {
        let _ = self.shared.enter(Stage::Working { since: Instant::now() });
    }

    /// Passes the point of no return: from here to its outcome the call cannot be stopped.
    ///
    /// Errors: [`Stopped`] if the call was stopped before; then it may not write.
    pub fn commit(&self) -> Result<(), Stopped> {
        self.shared.enter(Stage::Committing)
    }
}

/// The dispatcher's side of a call.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
}

/// Why a call was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It passed its deadline.
    Deadline,
    /// Its caller withdrew it.
    Withdrawn,
}

impl Watch {
    /// Starts the clock of a call that may work for `budget` and that `token` withdraws.
    pub fn start(budget: Duration, token: &CancellationToken, clock: Clock) -> (Self, Running) {
        let state =
            State { stage: Stage::Working { since: Instant::now() }, spent: Duration::ZERO };
        let shared = Arc::new(Shared {
            budget,
            state: Mutex::new(state),
            changed: Notify::new(),
            token: token.child_token(),
        });
        (Self { shared: Arc::clone(&shared) }, Running { shared, clock })
    }

    /// Waits until the call has been stopped; a call that commits is waited for.
    pub async fn stopped(&self) -> Stop {
        loop {
            let left = self.left();
            let withdrawn = self.shared.token.is_cancelled();
            if withdrawn || left.is_zero() {
                let stop = if withdrawn { Stop::Withdrawn } else { Stop::Deadline };
                if self.abandon() {
                    return stop;
                }
                self.shared.changed.notified().await;
                continue;
            }
            tokio::select! {
                () = self.shared.token.cancelled() => {}
                () = self.shared.changed.notified() => {}
                () = tokio::time::sleep(left) => {}
            }
        }
    }

    /// Returns whether the call has passed the point of no return.
    pub fn has_begun_to_write(&self) -> bool {
        self.shared.state().stage == Stage::Committing
    }

    /// Returns how much of the budget is left, or a long time while the clock stands.
    fn left(&self) -> Duration {
        const FAR: Duration = Duration::from_hours(1);
        let state = self.shared.state();
        match state.stage {
            Stage::Working { since } => {
                self.shared.budget.saturating_sub(state.spent + since.elapsed())
            }
            Stage::Waiting | Stage::Committing => FAR,
            Stage::Abandoned => Duration::ZERO,
        }
    }

    /// Stops the call unless it is writing.
    fn abandon(&self) -> bool {
        let mut state = self.shared.state();
        if state.stage == Stage::Committing {
            return false;
        }
        state.stage = Stage::Abandoned;
        drop(state);
        self.shared.token.cancel();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(budget_ms: u64) -> (Watch, Running, CancellationToken) {
        let token = CancellationToken::new();
        let (watch, running) =
            Watch::start(Duration::from_millis(budget_ms), &token, Clock::system());
        (watch, running, token)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_past_its_deadline_may_not_begin_to_write() {
        let (watch, running, _token) = start(50);
        assert_eq!(watch.stopped().await, Stop::Deadline);
        assert!(running.is_stopped());
        assert_eq!(running.commit(), Err(Stopped));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_writes_is_waited_for() {
        let (watch, running, token) = start(50);
        running.commit().unwrap();
        token.cancel();
        let waited = tokio::time::timeout(Duration::from_mins(1), watch.stopped()).await;
        assert!(waited.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_does_not_count() {
        let (watch, running, _token) = start(50);
        running.pause();
        let waited = tokio::time::timeout(Duration::from_mins(1), watch.stopped()).await;
        assert!(waited.is_err());
        running.resume();
        assert_eq!(watch.stopped().await, Stop::Deadline);
    }
}
