//! An error and what caused it, in one line.

use std::error::Error;

/// Returns what failed and every cause of it: `what failed: cause: cause`.
pub fn with_causes(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        line.push_str(": ");
        line.push_str(&next.to_string());
        cause = next.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("failed to {0}")]
    struct Failed(&'static str, #[source] Option<Box<Self>>);

    #[test]
    fn every_cause_follows_what_it_caused() {
        let error = Failed("write", Some(Box::new(Failed("open", None))));
        assert_eq!(with_causes(&error), "failed to write: failed to open");
        assert_eq!(with_causes(&Failed("open", None)), "failed to open");
    }
}
