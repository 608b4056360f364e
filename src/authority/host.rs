//! Hosts and the scopes that cover them: one port of one machine, by its name or its address.
//!
//! Names fold case and lose a dot at their end; a name beyond ASCII is written in its `xn--` form. An
//! address is written in its one canonical form: what a resolver may take for an address in octal,
//! hexadecimal or with parts left out is no host here. Nothing is resolved; what a name leads to is the
//! business of whoever connects.
//!
//! Invariant: two hosts are equal exactly if they are one port of one name or of one address.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The greatest length of a host name, without the dot at its end.
const MAX_NAME: usize = 253;

/// The greatest length of one part of a host name.
const MAX_LABEL: usize = 63;

/// One port of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// Canonical; an address of version 6 stands in brackets.
    name: Arc<str>,
    port: u16,
}

/// Why a text names no host, or no scope of hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    /// A character that no host name has.
    #[error(
        "{0:?} is no host: a name has letters, digits, `-`, `_` and dots, and beyond ASCII its `xn--` form"
    )]
    Name(String),
    /// An address in a form that is not the canonical one.
    #[error(
        "{0:?} is no host: an address is four decimal numbers, or one of version 6 in brackets"
    )]
    Address(String),
    /// A port that is no number from 1 to 65535.
    #[error("{0:?} is no port: it is a number from 1 to 65535")]
    Port(String),
    /// A `*` that is neither the whole of it nor the first part of a name.
    #[error(
        "{0:?}: a `*` stands alone for every host, or as `*.` before a name for all below it"
    )]
    Wildcard(String),
}

impl Host {
    /// Returns a port of a host, whose name is brought to its canonical form.
    pub fn new(name: &str, port: u16) -> Result<Self, BadHost> {
        Ok(Self { name: Arc::from(canonical(name)?), port })
    }

    /// Returns the scope that covers this port of this host alone; nothing for port 0, which none names.
    pub fn own_scope(&self) -> Option<HostScope> {
        HostScope::parse(&self.to_string()).ok()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}

fn canonical(text: &str) -> Result<String, BadHost> {
    let wrong_address = || BadHost::Address(text.to_owned());
    if text.contains(['[', ']', ':']) {
        let inner = text.strip_prefix('[').map_or(Some(text), |rest| rest.strip_suffix(']'));
        let address = inner.and_then(|inner| inner.parse::<Ipv6Addr>().ok());
        return address.map(|address| format!("[{address}]")).ok_or_else(wrong_address);
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if ends_in_number(&name) {
        let address = name.parse::<Ipv4Addr>().ok().ok_or_else(wrong_address);
        return address.map(|address| address.to_string());
    }
    let is_name = name.len() <= MAX_NAME && name.split('.').all(is_label);
    if is_name { Ok(name) } else { Err(BadHost::Name(text.to_owned())) }
}

fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_LABEL).contains(&label.len()) && label.bytes().all(is_plain)
}

/// Returns whether a resolver would take the name for an address of version 4.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    is_number || last.starts_with("0x")
}

/// A pattern of hosts: `NAME`, `*.NAME` or `*`, and `:PORT` after it for one port alone.
///
/// `*.NAME` is every name below `NAME`, at any depth, and not `NAME` itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostScope {
    source: Arc<str>,
    names: Names,
    ports: Ports,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Names {
    All,
    Only(String),
    /// The name with the dot before it.
    Below(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    All,
    Only(u16),
}

impl HostScope {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, BadHost> {
        let source = text.trim();
        let is_v6 = source.ends_with(']');
        let (name, ports) = match source.rsplit_once(':').filter(|_| !is_v6) {
            None => (source, Ports::All),
            Some((name, port)) => (name, Ports::Only(parse_port(port)?)),
        };
        let names = match (name, name.strip_prefix("*.")) {
            ("*", _) => Names::All,
            (_, Some(parent)) => Names::Below(format!(".{}", parent_name(source, parent)?)),
            (name, None) if name.contains('*') => return Err(wildcard(source)),
            (name, None) => Names::Only(canonical(name)?),
        };
        Ok(Self { source: Arc::from(source), names, ports })
    }

    /// Returns whether the pattern covers a host.
    pub fn covers(&self, host: &Host) -> bool {
        let is_named = match &self.names {
            Names::All => true,
            Names::Only(name) => *name == *host.name,
            Names::Below(parent) => host.name.ends_with(parent.as_str()),
        };
        let is_port = match self.ports {
            Ports::All => true,
            Ports::Only(port) => port == host.port,
        };
        is_named && is_port
    }

    /// Returns the pattern as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

/// Returns the name after `*.`; an address has nothing below it.
fn parent_name(source: &str, parent: &str) -> Result<String, BadHost> {
    let name = canonical(parent).map_err(|cause| match cause {
        BadHost::Name(_) if parent.contains('*') => wildcard(source),
        BadHost::Address(_) => wildcard(source),
        BadHost::Name(_) | BadHost::Port(_) | BadHost::Wildcard(_) => cause,
    })?;
    let is_address = name.starts_with('[') || ends_in_number(&name);
    if is_address { Err(wildcard(source)) } else { Ok(name) }
}

fn wildcard(source: &str) -> BadHost {
    BadHost::Wildcard(source.to_owned())
}

fn parse_port(text: &str) -> Result<u16, BadHost> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let port = text.parse().ok().filter(|_| is_plain);
    port.ok_or_else(|| BadHost::Port(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn covers(pattern: &str, name: &str, port: u16) -> bool {
        HostScope::parse(pattern).unwrap().covers(&Host::new(name, port).unwrap())
    }

    #[test]
    fn a_name_folds_case_and_loses_the_dot_at_its_end() {
        for name in ["example.org", "EXAMPLE.Org", "example.org.", "Example.ORG."] {
            assert!(covers("example.org", name, 443), "{name}");
            assert!(covers("Example.Org.", name, 80), "{name}");
        }
        for name in ["example.org.evil.net", "evilexample.org", "a.example.org", "example.or"] {
            assert!(!covers("example.org", name, 443), "{name}");
        }
    }

    #[test]
    fn a_star_and_a_dot_are_every_depth_below_a_name_and_not_the_name() {
        for name in
            ["a.example.org", "a.b.c.example.org", "A.EXAMPLE.ORG.", "xn--e1a.example.org"]
        {
            assert!(covers("*.example.org", name, 443), "{name}");
        }
        for name in ["example.org", "evil-example.org", "a.example.org.net"] {
            assert!(!covers("*.example.org", name, 443), "{name}");
        }
        assert!(covers("*", "192.0.2.1", 1) && covers("*:443", "::1", 443));
        assert!(!covers("*:443", "example.org", 80));
    }

    #[test]
    fn a_port_narrows_and_none_is_every_port() {
        assert!(covers("example.org:8080", "example.org", 8080));
        assert!(!covers("example.org:8080", "example.org", 443));
        assert!(covers("*.example.org:8080", "a.example.org", 8080));
        assert!(covers("[::1]:80", "::1", 80) && !covers("[::1]:80", "::1", 81));
    }

    #[test]
    fn an_address_has_one_form_and_no_trick_makes_another_of_it() {
        assert!(covers("127.0.0.1", "127.0.0.1", 80) && covers("127.0.0.1", "127.0.0.1.", 80));
        assert!(covers("[2001:DB8:0::1]", "[2001:db8::1]", 80));
        assert!(!covers("127.0.0.1", "::ffff:127.0.0.1", 80));
        for trick in [
            "0177.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "127.0.0.01",
            "127.0.0.0x1",
            "1.2.3.4.5",
            "0x7f000001",
            "a.1",
            "[127.0.0.1]",
            "[::1",
            "::1]",
            "fe80::1%eth0",
            "256.0.0.1",
        ] {
            assert!(matches!(Host::new(trick, 80), Err(BadHost::Address(_))), "{trick}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in
            ["", ".", "a..b", ".a", "a b", "a/b", "user@a", "exämple.org", "a%2eb", "a\0b", "*"]
        {
            assert!(matches!(Host::new(text, 80), Err(BadHost::Name(_))), "{text:?}");
        }
        assert!(Host::new(&"a".repeat(64), 80).is_err());
        assert!(Host::new(&"a.".repeat(127), 80).is_ok());
        for (text, says) in [
            ("a.*.org", "`*.` before a name"),
            ("*.*.org", "`*.` before a name"),
            ("*a.org", "`*.` before a name"),
            ("*.1.2.3", "`*.` before a name"),
            ("a:0", "no port"),
            ("a:+80", "no port"),
            ("a:080", "no port"),
            ("a:70000", "no port"),
            ("a:", "no port"),
            ("", "no host"),
            ("http://a", "no port"),
        ] {
            let error = HostScope::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_canonical_name_is_its_own_canonical_name(text in "[a-zA-Z0-9.:\\[\\]_x-]{0,20}") {
            if let Ok(name) = canonical(&text) {
                prop_assert_eq!(canonical(&name), Ok(name));
            }
        }

        #[test]
        fn a_host_is_covered_by_its_own_words(text in "[a-z0-9.:]{1,12}", port in 1u16..) {
            if let Ok(host) = Host::new(&text, port) {
                prop_assert!(HostScope::parse(&host.to_string()).unwrap().covers(&host));
            }
        }
    }
}
