//! Whether a closer too many may be an opener too few: the two are the same text.
//!
//! A datum that stayed and had more openers before it has lost one. Of what is new only some places look
//! as if one could have stood there.

use super::propose::View;
use super::region::{Item, ItemKind};
use super::role::Role;

/// Returns whether an opener before a datum that stayed is gone.
pub(super) fn opener_was_lost(view: &View) -> bool {
    let items = &view.new.items;
    let alignment = &view.alignment;
    data(items).enumerate().any(|(datum, at)| {
        let old = alignment.old_of[at].filter(|_| alignment.same[datum]);
        old.is_some_and(|old| openers_before(&view.old.items, old) > openers_before(items, at))
    })
}

/// Returns whether a datum that replaced another lacks an opener that the other had before it.
fn replaced_lacks_opener(view: &View) -> bool {
    let items = &view.new.items;
    data(items).any(|at| {
        view.alignment.old_of[at]
            .is_some_and(|old| openers_before(&view.old.items, old) > openers_before(items, at))
    })
}

/// Returns whether the one name that changed had an opener before it, and arguments, and now has none.
pub(super) fn renamed_lacks_opener(view: &View) -> bool {
    let items = &view.new.items;
    let n_changed = view.alignment.same.iter().filter(|same| !**same).count();
    let named = |at: usize| {
        let called = items.get(at + 1).is_some_and(|next| next.line == items[at].line);
        let old = view.alignment.old_of[at].map(|old| &view.old.items[old]);
        called && items[at].role == Role::Name && old.is_some_and(|old| old.role == Role::Name)
    };
    n_changed == 1
        && data(&view.old.items).count() == view.alignment.same.len()
        && data(items).zip(&view.alignment.same).any(|(at, same)| !same && named(at))
        && replaced_lacks_opener(view)
}

/// Returns whether an opener may be missing before a datum that is new, or before a closer.
pub(super) fn opener_may_be_lost(view: &View) -> bool {
    let items = &view.new.items;
    let hollow = |at: usize| {
        matches!(items[at].kind, ItemKind::Close(_)) && items[at].spaced && !items[at].first
    };
    if replaced_lacks_opener(view) || (0..items.len()).any(hollow) {
        return true;
    }
    data(items)
        .enumerate()
        .any(|(datum, at)| !view.alignment.same[datum] && looks_bare(items, at, view))
}

/// Returns whether a new line begins with a bare name and its arguments, as no line beside it does.
pub(super) fn line_lacks_its_opener(view: &View) -> bool {
    let items = &view.new.items;
    let bare = |at: &usize| {
        let item = &items[*at];
        item.first && item.kind == ItemKind::Datum && item.role != Role::Other
    };
    data(items).enumerate().any(|(datum, at)| {
        let item = &items[at];
        let called = items.get(at + 1).is_some_and(|next| {
            next.line == item.line && !matches!(next.kind, ItemKind::Close(_))
        });
        let alike =
            |other: usize| other != at && bare(&other) && items[other].lead == item.lead;
        let heads = item.role == Role::Name || item.role == Role::Quoted && item.quoted;
        let lacking = heads && bare(&at) && called && !(0..items.len()).any(alike);
        !view.alignment.same[datum] && (lacking || ends_early(items, at, view))
    })
}

/// Whether a datum begins a line's form that ends within the line, where one form stands on a line.
fn ends_early(items: &[Item], at: usize, view: &View) -> bool {
    let opens = |at: usize| {
        let item = &items[at];
        item.first && item.lead == item.col && matches!(item.kind, ItemKind::Open(_))
    };
    let opener = at.checked_sub(1).filter(|&opener| opens(opener));
    let Some(opener) = opener.filter(|&opener| in_body(items, opener, view)) else {
        return false;
    };
    let mut depth = 0usize;
    for item in items[opener..].iter().take_while(|item| item.line == items[at].line) {
        match item.kind {
            _ if depth == 0 && item.span.start > items[opener].span.start => {
                return !matches!(item.kind, ItemKind::Close(_));
            }
            ItemKind::Open(_) => depth += 1,
            ItemKind::Close(_) => depth -= 1,
            ItemKind::Datum => {}
        }
    }
    false
}

fn data(items: &[Item]) -> impl Iterator<Item = usize> {
    (0..items.len()).filter(|&at| items[at].kind == ItemKind::Datum)
}

fn openers_before(items: &[Item], at: usize) -> usize {
    let openers = items[..at].iter().rev();
    openers.take_while(|item| matches!(item.kind, ItemKind::Open(_))).count()
}

/// Whether a new datum looks as if an opener could have stood before it.
fn looks_bare(items: &[Item], at: usize, view: &View) -> bool {
    let before = at.checked_sub(1).map(|before| &items[before]);
    let Some(opener) = before.filter(|before| matches!(before.kind, ItemKind::Open(_))) else {
        return match items[at].role {
            Role::FunctionQuoted => false,
            // A function's quote within a quoted list would be odd.
            Role::Quoted => {
                items.get(at + 1).is_none_or(|next| next.role != Role::FunctionQuoted)
            }
            Role::Name | Role::ListTaker | Role::Definer | Role::Keyword | Role::Other => true,
        };
    };
    if opener.first {
        return !in_body(items, at - 1, view) || begins_clause(items, at);
    }
    let taker = at.checked_sub(2).map(|before| items[before].role);
    opener.lead < opener.col
        || matches!(taker, Some(Role::ListTaker | Role::Keyword | Role::Name))
            && !matches!(items[at].role, Role::ListTaker)
}

/// Whether the list that a datum begins ends behind it, with more on its line: `(key) (value)`.
fn begins_clause(items: &[Item], at: usize) -> bool {
    let closer = items[at + 1..].iter().find(|item| item.kind != ItemKind::Datum);
    let nth = items[at + 1..].iter().position(|item| item.kind != ItemKind::Datum);
    let after = nth.and_then(|nth| items.get(at + nth + 2));
    closer.is_some_and(|closer| {
        matches!(closer.kind, ItemKind::Close(_))
            && closer.line == items[at].line
            && after.is_some_and(|after| {
                after.line == closer.line && !matches!(after.kind, ItemKind::Close(_))
            })
    })
}

/// Whether a line that begins with an opener stands where bodies stand: two columns into an earlier form.
fn in_body(items: &[Item], opener: usize, view: &View) -> bool {
    let lead = items[opener].lead;
    let two_in = |col: usize| col + 2 == lead;
    lead == 0
        || view.before.frames.iter().any(|frame| two_in(frame.col))
        || items[..opener]
            .iter()
            .any(|item| matches!(item.kind, ItemKind::Open(_)) && two_in(item.col))
}
