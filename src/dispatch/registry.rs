//! The registry: an immutable list of tools, replaced whole when it changes.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::tool::{Spec, Tool};

/// The groups that `tools` in the settings may name, whether or not this build fills them.
const TOOLSETS: &[&str] = &["core", "lisp", "project", "system", "net"];

/// The tools of a session, in the order in which they are listed.
#[derive(Clone)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    by_name: HashMap<String, usize>,
}

/// Two tools have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("duplicate_tool: two tools are named `{name}`")]
pub struct DuplicateTool {
    /// The name.
    pub name: String,
}

/// A selection names something that is neither a tool nor a toolset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is neither a tool nor a toolset; the tools are {} and the toolsets {}", tools.join(", "), TOOLSETS.join(", "))]
pub struct UnknownSelection {
    /// What was named.
    pub name: String,
    /// The tools that there are.
    pub tools: Vec<String>,
}

impl Registry {
    /// Returns a registry of `tools`.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self, DuplicateTool> {
        let mut by_name = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.iter().enumerate() {
            let name = tool.spec().name.clone();
            if by_name.insert(name.clone(), index).is_some() {
                return Err(DuplicateTool { name });
            }
        }
        Ok(Self { tools, by_name })
    }

    /// Returns a registry of the tools that `selection` names, each a tool's or a toolset's name.
    pub fn select(&self, selection: &[String]) -> Result<Self, UnknownSelection> {
        let fits = |spec: &Spec, name: &String| spec.name == *name || spec.toolset == name;
        for name in selection {
            if !TOOLSETS.contains(&name.as_str()) && !self.by_name.contains_key(name) {
                return Err(UnknownSelection { name: name.clone(), tools: self.names() });
            }
        }
        let tools = self.tools.iter();
        let chosen: Vec<_> = tools
            .filter(|tool| selection.iter().any(|name| fits(tool.spec(), name)))
            .cloned()
            .collect();
        let by_name = chosen
            .iter()
            .enumerate()
            .map(|(at, tool)| (tool.spec().name.clone(), at))
            .collect();
        Ok(Self { tools: chosen, by_name })
    }

    /// Returns the tool of a name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.by_name.get(name).and_then(|&at| self.tools.get(at))
    }

    /// Returns what each tool is, in order.
    pub fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.tools.iter().map(|tool| tool.spec())
    }

    /// Returns the names, in order.
    pub fn names(&self) -> Vec<String> {
        self.specs().map(|spec| spec.name.clone()).collect()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
