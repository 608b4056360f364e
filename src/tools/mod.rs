//! killick's own tools, one thin file each: arguments in, a call to the module that does the work, text out.

mod kit;
mod sandbox;
mod notes;
mod refuse;
mod read;
mod find;
mod search;
mod write;
mod edit;
mod replace;
mod drafts;
mod balance;
mod accept;
mod undo;
mod list_dir;
mod forms;
mod outline;
mod edit_sexp;
mod commit;
mod console;
mod bash;
mod jobs;

pub use kit::{Kit, Lisp, ShellKit};
pub use sandbox::{Bounds, Extent, SYSTEM, Sandbox, Unbounded, unavailable};

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::code::Code;
use crate::tool::{Failure, Tool};

/// Makes one tool from what it may use.
type Make = fn(&Arc<Kit>) -> Arc<dyn Tool>;

/// Every tool, in the order in which they are listed.
pub const ALL: &[Make] = &[
    read::tool,
    find::tool,
    search::tool,
    write::tool,
    edit::tool,
    replace::tool,
    undo::tool,
    list_dir::tool,
    edit_sexp::tool,
    outline::tool,
    bash::tool,
    jobs::output,
    jobs::kill,
    jobs::list,
];

/// Takes arguments that have been held against the schema as a tool's own type.
///
/// Errors: `internal`, where schema and type disagree, which is killick's fault.
fn parsed<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("the tool's schema and its arguments disagree: {error}."),
        )
    })
}
