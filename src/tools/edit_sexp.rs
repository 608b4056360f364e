//! `edit_sexp`: replaces or deletes a Lisp form as a form. The form that is given is the proof.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::balance::Policy;
use super::drafts::{self, DIFF_CHARS, DIFF_ROWS, Written};
use super::forms;
use super::kit::{Kit, demand};
use crate::authority::Capability;
use crate::code::Code;
use crate::hashline::rewrite;
use crate::path::Place;
use crate::syntax::{self, Dialect, Form, NodeId, NodeKind, Prefix, Span, Tree};
use crate::text::{Snapshot, unified};
use crate::tool::args::Schema;
use crate::tool::{Failure, Outcome, Paging, Prepared, Reach, Running, Spec, Tool};
use crate::workspace::Target;

struct EditSexp {
    kit: Arc<Kit>,
    spec: Spec,
}

/// Makes the tool.
pub(super) fn tool(kit: &Arc<Kit>) -> Arc<dyn Tool> {
    let schema = Schema::new()
        .text("path", "Lisp file to edit; it need not have been read.")
        .text(
            "match_form",
            "The form to replace; white space and comments do not count, atoms must be equal.",
        )
        .text("new_form", "The form in its place; empty deletes.")
        .optional_text("within", "Only inside this top-level form, such as defun foo.")
        .optional_flag("replace_all", "Every match, not exactly one. Default false.")
        .optional_flag("dry_run", "Only show what would change. Default false.")
        .build();
    let spec = Spec {
        name: "edit_sexp".to_owned(),
        description:
            "Replace a form of Lisp source as a form, or delete it. Its lines are indented by \
            convention; everything else keeps its bytes."
                .to_owned(),
        schema,
        toolset: "lisp",
        reach: Reach::Writes,
        paging: Paging::Clamp,
    };
    Arc::new(EditSexp { kit: Arc::clone(kit), spec })
}

#[derive(Debug, Deserialize)]
struct Args {
    path: String,
    match_form: String,
    new_form: String,
    within: Option<String>,
    #[serde(default)]
    replace_all: bool,
    #[serde(default)]
    dry_run: bool,
}

impl Tool for EditSexp {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared, Failure> {
        let args: Args = super::parsed(arguments)?;
        let target = self.kit.writable(&args.path)?;
        let dialect = forms::dialect(&self.kit, &target.place)?;
        one_form("match_form", &args.match_form, dialect)?;
        if !is_blank(&args.new_form) {
            new_form(&args.new_form, dialect)?;
        }
        let kit = Arc::clone(&self.kit);
        let demands = vec![demand(Capability::FileEdit, &target.place)];
        Ok(Prepared::new(demands, move |running| edit(&kit, target, &args, dialect, running)))
    }
}

/// Returns whether a new form deletes: comments alone do not, or a form that was to be commented out would go.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn one_form<'t>(
    name: &str,
    text: &'t str,
    dialect: &'static Dialect,
) -> Result<Form<'t>, Failure> {
    Form::parse(text, dialect).map_err(|error| {
        Failure::new(Code::BadArg, format!("`{name}` must be one form: {error}."))
    })
}

/// Reads the new form; what stands around it would be lost, so that it must stand alone.
fn new_form<'t>(text: &'t str, dialect: &'static Dialect) -> Result<Form<'t>, Failure> {
    let form = one_form("new_form", text, dialect)?;
    let tree = Tree::new(text, dialect);
    let is_bare = |id: NodeId| {
        matches!(tree.node(id).kind, NodeKind::Prefixed(_))
            && tree.children(id).next().is_none()
    };
    if tree.all().any(is_bare) {
        return Err(Failure::new(
            Code::BadArg,
            "`new_form` must be one form: it is a prefix with nothing behind it.",
        ));
    }
    if form.text() == text.trim() {
        return Ok(form);
    }
    Err(Failure::new(
        Code::BadArg,
        "`new_form` must be the form alone: a comment beside it would be lost. Put it inside the form, or \
         use `edit`.",
    ))
}

fn edit(
    kit: &Kit,
    target: Target,
    args: &Args,
    dialect: &'static Dialect,
    running: &Running,
) -> Result<Outcome, Failure> {
    let now = kit.load(&Capability::FileEdit, &target)?;
    let text = edited(kit, &target.place, now.text(), args, dialect)?;
    let after = Snapshot::new(text.as_bytes()).map_err(|error| {
        Failure::new(
            Code::BadArg,
            format!("`new_form` is no text that a file may hold: {error}."),
        )
    })?;
    if args.dry_run {
        let diff = unified(&now, &after, DIFF_ROWS, DIFF_CHARS);
        let said = format!("(dry run: nothing was written)\n{diff}");
        return Ok(Outcome::success(said).detail("diff", diff));
    }
    let draft = rewrite(target.place.clone(), now, &after);
    let written = Written { label: "edit", targets: &[target], effects: Vec::new() };
    drafts::write_balanced(kit, running, written, vec![draft], Policy::Reject)
}

/// Returns the text with the form replaced or deleted.
fn edited(
    kit: &Kit,
    place: &Place,
    text: &str,
    args: &Args,
    dialect: &'static Dialect,
) -> Result<String, Failure> {
    let tree = Tree::new(text, dialect);
    let wanted = one_form("match_form", &args.match_form, dialect)?;
    let within = match &args.within {
        None => None,
        Some(description) => Some(forms::top(&tree, description, dialect, place)?.id),
    };
    let found = syntax::find(&tree, &wanted, within);
    judge(&tree, &found, args, place)?;
    if is_blank(&args.new_form) {
        let text = syntax::delete(&tree, &found);
        let stands = others_stand(&tree, &found, &Tree::new(&text, dialect));
        return if stands { Ok(text) } else { Err(bound_up(place)) };
    }
    let new = new_form(&args.new_form, dialect)?;
    let replaced = syntax::replace(&tree, &found, &new, dialect, &kit.lisp.rules(dialect));
    if stand(&Tree::new(&replaced.text, dialect), &replaced.spans, &new) {
        Ok(replaced.text)
    } else {
        Err(bound_up(place))
    }
}

/// Returns whether the new form reads as itself at each of its places; beside an atom, without a blank
/// between, it would be a part of that.
fn stand(after: &Tree<'_>, spans: &[Span], new: &Form<'_>) -> bool {
    let mut nodes = after.all();
    spans.iter().all(|span| {
        let node = nodes.find(|&id| after.node(id).span == *span);
        node.is_some_and(|id| new.is(after, id))
    })
}

/// Returns whether every form that was not deleted reads as before, and in its order.
fn others_stand(before: &Tree<'_>, deleted: &[NodeId], after: &Tree<'_>) -> bool {
    let mut gone: HashSet<NodeId> =
        deleted.iter().flat_map(|&id| before.within(with_prefixes(before, id))).collect();
    gone.extend(deleted.iter().filter_map(|&id| syntax::tail_dot(before, id)));
    let mut left = after.all();
    before.all().filter(|id| !gone.contains(id)).all(|old| {
        let (old, head) = (before.node(old), before.node(old).head.of(before.text()));
        left.any(|id| {
            after.node(id).kind == old.kind && after.node(id).head.of(after.text()) == head
        })
    })
}

/// Returns the outermost prefixed form that is about this form alone and may go with it: a quote before it,
/// or a feature or metadata. What the form itself is a feature or metadata of must stay, and so must what
/// is discarded together with it.
fn with_prefixes(tree: &Tree<'_>, id: NodeId) -> NodeId {
    let parent = |&id: &NodeId| {
        let parent = tree.node(id).parent?;
        let children: Vec<NodeId> = tree.children(parent).collect();
        let is_about = match tree.node(parent).kind {
            NodeKind::Prefixed(Prefix::Pair) => {
                children.len() > 1 && children.last() == Some(&id)
            }
            NodeKind::Prefixed(Prefix::Quote | Prefix::Discard) => children.len() == 1,
            NodeKind::List(_)
            | NodeKind::Atom
            | NodeKind::String
            | NodeKind::Unclosed(_)
            | NodeKind::Stray(_) => false,
        };
        is_about.then_some(parent)
    };
    std::iter::successors(Some(id), parent).last().unwrap_or(id)
}

fn bound_up(place: &Place) -> Failure {
    Failure::new(
        Code::BadArg,
        format!(
            "in {place} what stands beside the form would run into it or go with it; match the larger form \
             that holds both."
        ),
    )
}

fn judge(tree: &Tree<'_>, found: &[NodeId], args: &Args, place: &Place) -> Result<(), Failure> {
    let scope = args.within.as_ref().map_or_else(String::new, |w| format!(" within {w:?}"));
    match found {
        [] => Err(Failure::new(
            Code::NoSuchForm,
            format!(
                "the form does not occur in {place}{scope}: structure and the text of every atom must be \
                 equal, case included; read the file to see it."
            ),
        )),
        [_] => Ok(()),
        _ if args.replace_all => Ok(()),
        several => {
            let starts: Vec<usize> =
                several.iter().map(|&id| tree.node(id).span.start).collect();
            let places = forms::places(tree.text(), &starts);
            Err(Failure::new(
                Code::AmbiguousForm,
                format!(
                    "the form occurs {} times in {place}{scope}, at {places} (line:column); name the \
                     top-level form with `within`, match a larger form, or send replace_all.",
                    several.len()
                ),
            ))
        }
    }
}
