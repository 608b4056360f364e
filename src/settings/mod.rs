//! What the user wrote: one table of keys, and the layers of text that set them.
//!
//! Pure: text in, values out. Finding and reading the files, asking whether a project is trusted and
//! knowing which capabilities and tools exist are the caller's work; every value keeps the place where it
//! was written, so that the caller's own complaints can point there.

mod keys;
mod layer;
mod problem;
mod raw;
mod reference;
mod site;
mod addition;
mod typed;

pub use addition::{NotAdded, add};
pub use keys::{KEYS, Key, Kind, Merge, Setter, Setting, Whole};
pub use layer::{
    Entries, Inert, Layer, Narrowing, Origin, Settings, Sourced, Trust, TrustedLayers, merge,
};
pub use problem::{Problem, ProblemKind};
pub use raw::{Raw, read};
pub use reference::{example, reference, schema};
pub use site::{Site, Spanned};
pub use typed::{Access, Extra, Lists, Reader, Sandbox, Tools};
