//! Which opener holds what in the old region, and which openers are left open at its end.

use super::region::{Frame, Item, ItemKind};

use super::super::lexer::Delim;

/// Where an opener stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Before the region: the frame of this index, outermost first.
    Before(usize),
    /// In the region: the item of this index.
    Here(usize),
    /// The repair put it there.
    Made,
}

/// The structure of a region as it is written.
#[derive(Debug)]
pub(super) struct Shape {
    /// For each item, the opener that holds it; nothing at top level.
    pub(super) parent: Vec<Option<Home>>,
    /// For each item that is an opener, the column of its second element on its line.
    pub(super) second: Vec<Option<usize>>,
    /// For each item that is an opener, how many data of the region stand before its closer.
    pub(super) closed: Vec<Option<usize>>,
    /// The same for each opener that was open before the region.
    pub(super) frame_closed: Vec<Option<usize>>,
    /// What is open at the end, outermost first.
    pub(super) end: Vec<(Delim, Home)>,
    /// How many forms at top level begin in the region.
    pub(super) n_top: usize,
    /// How many closers meet nothing, or an opener of another type.
    pub(super) n_faults: usize,
}

/// Reads the structure of a region that begins inside `frames`.
pub(super) fn shape(frames: &[Frame], items: &[Item]) -> Shape {
    let mut open: Vec<(Delim, Home)> = frames
        .iter()
        .enumerate()
        .map(|(nth, frame)| (frame.delim, Home::Before(nth)))
        .collect();
    let mut n_elements = vec![0usize; items.len()];
    let mut shape = Shape {
        parent: Vec::with_capacity(items.len()),
        second: vec![None; items.len()],
        closed: vec![None; items.len()],
        frame_closed: vec![None; frames.len()],
        end: Vec::new(),
        n_top: 0,
        n_faults: 0,
    };
    let mut n_data = 0;
    for (at, item) in items.iter().enumerate() {
        let holder = open.last().map(|&(_, home)| home);
        shape.parent.push(holder);
        if let ItemKind::Close(delim) = item.kind {
            let top = open.pop();
            shape.n_faults += usize::from(top.is_none_or(|(opener, _)| opener != delim));
            match top {
                Some((_, Home::Here(opener))) => shape.closed[opener] = Some(n_data),
                Some((_, Home::Before(frame))) => shape.frame_closed[frame] = Some(n_data),
                Some((_, Home::Made)) | None => {}
            }
            continue;
        }
        n_data += usize::from(item.kind == ItemKind::Datum);
        match holder {
            Some(Home::Here(holder)) => {
                n_elements[holder] += 1;
                if n_elements[holder] == 2 && items[holder].line == item.line {
                    shape.second[holder] = Some(item.lead);
                }
            }
            Some(Home::Before(_) | Home::Made) => {}
            None => shape.n_top += 1,
        }
        if let ItemKind::Open(delim) = item.kind {
            open.push((delim, Home::Here(at)));
        }
    }
    shape.end = open;
    shape
}
