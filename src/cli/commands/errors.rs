//! `killick errors`: the closed list of codes.

use serde_json::{Map, Value};

use crate::cli::args::Format;
use crate::cli::report::{self, Exit};
use crate::code::Code;

pub(super) fn run(format: Format) -> Exit {
    match format {
        Format::Text => report::data(&table()),
        Format::Json => {
            let codes = Code::ALL.iter().map(|c| (c.as_str().to_owned(), c.meaning().into()));
            report::data(&Value::Object(codes.collect::<Map<_, _>>()).to_string());
        }
    }
    Exit::Done
}

fn table() -> String {
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or(0);
    let row = |code: &Code| format!("{:width$}  {}\n", code.as_str(), code.meaning());
    Code::ALL.iter().map(row).collect()
}
