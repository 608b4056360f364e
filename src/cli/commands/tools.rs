//! `killick tools`: what a model would be offered here.

use serde_json::{Value, json};

use super::Ended;
use crate::app::{App, Options};
use crate::cli::args::Format;
use crate::cli::report::{self, Exit};
use crate::tool::Spec;

pub(super) fn run(options: Options, format: Format) -> Result<Exit, Ended> {
    let registry = App::registry(options)?;
    match format {
        Format::Text => report::data(&registry.specs().map(row).collect::<String>()),
        Format::Json => {
            report::data(&registry.specs().map(described).collect::<Value>().to_string());
        }
    }
    Ok(Exit::Done)
}

/// Writes a tool with its arguments, the optional ones marked, and the first sentence of what it does.
fn row(spec: &Spec) -> String {
    let first = spec.description.split_inclusive(". ").next().unwrap_or_default().trim_end();
    format!("{}({})\n    [{}] {first}\n", spec.name, arguments(&spec.schema), spec.toolset)
}

fn arguments(schema: &Value) -> String {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let names = schema["properties"].as_object().into_iter().flat_map(|map| map.keys());
    let marked = names.map(|name| {
        let mark = if required.iter().any(|r| r == name) { "" } else { "?" };
        format!("{name}{mark}")
    });
    marked.collect::<Vec<_>>().join(", ")
}

fn described(spec: &Spec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "toolset": spec.toolset,
        "parameters": spec.schema,
    })
}
