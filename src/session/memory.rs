//! [`Session`]: the memory of one conversation behind a lock, with the name it is known by.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::read_state::ReadState;
use crate::protocol::Effect;

/// Names a session: 1 to 64 letters, digits, `-`, `_` and `.`, not beginning with a dot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Takes a name, or nothing if it is not of the form.
    pub fn new(name: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = (1..=64).contains(&name.len()) && !name.starts_with('.');
        (fits && name.chars().all(plain)).then(|| Self(Arc::from(name)))
    }

    /// Returns the session that single calls belong to; it remembers nothing.
    pub fn one_call() -> Self {
        Self(Arc::from("one-call"))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One conversation's memory, shared by everything that serves it.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    state: Mutex<ReadState>,
}

impl Session {
    /// Returns a session that remembers `state`.
    pub fn new(id: SessionId, state: ReadState) -> Self {
        Self { id, state: Mutex::new(state) }
    }

    /// Returns the session's name.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Folds effects in, in order.
    pub fn fold(&self, effects: &[Effect]) {
        self.with_state(|state| effects.iter().for_each(|effect| state.fold(effect)));
    }

    /// Looks at the memory. `look` should be short: calls that run beside wait for it.
    pub fn look<T>(&self, look: impl FnOnce(&ReadState) -> T) -> T {
        self.with_state(|state| look(state))
    }

    fn with_state<T>(&self, act: impl FnOnce(&mut ReadState) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
