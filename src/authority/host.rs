//! Hosts: one port of one machine, by its name or its address.

use std::fmt;
use std::sync::Arc;

/// One port of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    name: Arc<str>,
    port: u16,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}
