//! The Model Context Protocol: killick's tools, served to any client.

mod framing;
mod server;

pub use server::{ServeError, serve_stdio};
