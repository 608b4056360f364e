//! The second reading of a shell's line, by the grammar of `tree-sitter-bash`.
//!
//! It says where the words of each simple command stand, or that the line holds anything but simple
//! commands. It decodes nothing; the reading in `line` is held against it.

use std::ops::Range;

use tree_sitter::{Node, Parser};

/// The deepest nesting that is followed; each `&&` of a row of them is one level.
const MAX_DEPTH: usize = 250;

/// Returns the spans of the words of each simple command, in the order of the line.
pub(super) fn word_spans(line: &str) -> Option<Vec<Vec<Range<usize>>>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(line, None)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut commands = Vec::new();
    gather(root, 0, &mut commands)?;
    Some(commands)
}

fn gather(node: Node<'_>, depth: usize, commands: &mut Vec<Vec<Range<usize>>>) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match node.kind() {
        "program" | "list" | "pipeline" => {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            children.into_iter().try_for_each(|child| gather(child, depth + 1, commands))
        }
        "command" => {
            commands.push(words(node)?);
            Some(())
        }
        "comment" | ";" | "&" | "&&" | "||" | "|" | "\n" => Some(()),
        _ => None,
    }
}

fn words(command: Node<'_>) -> Option<Vec<Range<usize>>> {
    let mut cursor = command.walk();
    let words = command.children(&mut cursor).map(|child| {
        let is_word = matches!(
            child.kind(),
            "command_name"
                | "word"
                | "number"
                | "string"
                | "raw_string"
                | "concatenation"
                | "=="
                | "=~"
        );
        is_word.then(|| child.byte_range())
    });
    words.collect()
}
