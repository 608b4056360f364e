//! Hashline: lines addressed by number and proved by content. Text in, text out; no file is touched here.

pub mod anchor;
