//! killick's own tools, one thin file each: arguments in, a call to the module that does the work, text out.

mod kit;
mod refuse;
mod read;

pub use kit::Kit;

use std::sync::Arc;

use crate::tool::Tool;

/// Makes one tool from what it may use.
type Make = fn(&Arc<Kit>) -> Arc<dyn Tool>;

/// Every tool, in the order in which they are listed.
pub const ALL: &[Make] = &[read::tool];
