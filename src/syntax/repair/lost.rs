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
    data(items).enumerate().any(|(datum, at)| {
        let old = view.alignment.old_of[at].filter(|_| view.alignment.same[datum]);
        old.is_some_and(|old| openers_before(&view.old.items, old) > openers_before(items, at))
    })
}

/// Returns whether an opener may be missing before a datum that is new, or before a closer.
pub(super) fn opener_may_be_lost(view: &View) -> bool {
    let items = &view.new.items;
    let replaced = |at: usize| {
        view.alignment.old_of[at]
            .is_some_and(|old| openers_before(&view.old.items, old) > openers_before(items, at))
    };
    let hollow = |at: usize| {
        matches!(items[at].kind, ItemKind::Close(_)) && items[at].spaced && !items[at].first
    };
    if data(items).any(replaced) || (0..items.len()).any(hollow) {
        return true;
    }
    data(items)
        .enumerate()
        .any(|(datum, at)| !view.alignment.same[datum] && looks_bare(items, at, view))
}

/// Returns whether a new line begins with a bare name and its arguments, as no line beside it does.
pub(super) fn line_lacks_its_opener(view: &View) -> bool {
    let items = &view.new.items;
    let bare = |at: &usize| items[*at].first && items[*at].kind == ItemKind::Datum;
    data(items).enumerate().any(|(datum, at)| {
        let item = &items[at];
        let called = items.get(at + 1).is_some_and(|next| {
            next.line == item.line && !matches!(next.kind, ItemKind::Close(_))
        });
        let alike =
            |other: usize| other != at && bare(&other) && items[other].lead == item.lead;
        !view.alignment.same[datum]
            && bare(&at)
            && called
            && item.role == Role::Name
            && !(0..items.len()).any(alike)
    })
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
        return !in_body(items, at - 1, view);
    }
    let taker = at.checked_sub(2).map(|before| items[before].role);
    opener.lead < opener.col
        || matches!(taker, Some(Role::ListTaker | Role::Keyword | Role::Name))
            && !matches!(items[at].role, Role::ListTaker)
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
