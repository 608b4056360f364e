//! Once a day, what is older than `session.keep_days` is removed from killick's own files.
//!
//! Off the way of any call: after the one of `killick call`, beside those of `killick mcp`.

use crate::store::{Store, StoreError, purge};

const DAY_MS: u64 = 86_400_000;

/// The file that says when it was last done.
const STAMP: &str = "purged";

/// Keeps killick's own files from growing for ever.
#[derive(Clone, Debug)]
pub struct Tidy {
    pub(super) stores: Vec<Store>,
    pub(super) keep_days: u32,
}

impl Tidy {
    /// Purges what is too old, if that was not done within the last day.
    pub fn run(&self, now: jiff::Timestamp) -> Result<(), StoreError> {
        let now_unix_ms = u64::try_from(now.as_millisecond()).unwrap_or(0);
        for store in &self.stores {
            let top = store.make_folder(&[])?;
            let stamp = top.read(STAMP, 64)?.unwrap_or_default();
            let last: u64 = String::from_utf8_lossy(&stamp).trim().parse().unwrap_or(0);
            if now_unix_ms < last.saturating_add(DAY_MS) {
                continue;
            }
            top.write(STAMP, now_unix_ms.to_string().as_bytes())?;
            purge(store, now_unix_ms, self.keep_days)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_things_go_once_a_day_and_new_ones_stay() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().join("s")).unwrap();
        let workspace = store.workspace(std::path::Path::new("/w"));
        workspace.make_session("old").unwrap().write("log.jsonl", b"").unwrap();
        let tidy = Tidy { stores: vec![store], keep_days: 30 };
        let now = jiff::Timestamp::now();
        let later = |days: i64| now + jiff::SignedDuration::from_hours(24 * days);
        tidy.run(later(1)).unwrap();
        assert_eq!(workspace.sessions().unwrap(), ["old"]);
        tidy.run(later(40)).unwrap();
        assert!(workspace.sessions().unwrap().is_empty());
        workspace.make_session("older").unwrap().write("log.jsonl", b"").unwrap();
        tidy.run(later(40)).unwrap();
        assert_eq!(workspace.sessions().unwrap(), ["older"], "not twice a day");
    }
}
