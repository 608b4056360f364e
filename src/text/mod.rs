//! Bytes as text: snapshots of a file's content, their lines and digests, cuts of text for display, and errors as words.
//!
//! Pure: nothing here opens a file or knows where bytes came from.

mod span;
mod scan;
mod snapshot;
mod clip;
mod diff;
mod causes;

pub use causes::with_causes;
pub use clip::{Clamped, Clipped, clamp, clip_line, clip_window, count, show_control};
pub use diff::{Change, LineDiff, Sides, unified, unified_changes};
pub use scan::{Ending, LineSpan, NotText};
pub use snapshot::{Digest, Digester, LineDigest, Snapshot};
pub use span::{ByteOffset, LineNo};
