//! killick's own files: folders 0700, files 0600, made on the first write only, bounded and purgeable.
//!
//! The state folder is given by the caller. Nothing here knows a user's file; workspace writes its journal
//! records through a folder handle that is minted here.
//!
//! ```text
//! STATE/pending/ID.json|ID.done            transactions that are not finished, of every workspace
//! STATE/blobs/AB/…  STATE/lines/AB/…       contents and their line digests, by digest
//! STATE/locks/NAME                         where a folder cannot be locked itself
//! STATE/spill/SESSION/N.txt                output that a result had no room for
//! STATE/trust.json
//! STATE/workspaces/KEY/sessions/NAME/  …/journal/ID.json  …/audit/DAY.jsonl
//! ```

mod error;
mod folder;
mod state;
mod blobs;
mod lines;
mod log;
mod audit;
mod spill;
mod trust;
mod config;
mod purge;

pub use audit::{Audit, Chain};
pub use blobs::Blobs;
pub use config::{read_settings, settings_folder};
pub use error::StoreError;
pub use folder::{FileInfo, Folder};
pub use lines::Lines;
pub use log::Log;
pub use purge::{Purged, purge};
pub use spill::Spill;
pub use state::{Store, WorkspaceStore};
pub use trust::{Trust, TrustRecord};
