//! One state of the search: what is open, what was changed, and what it cost.

use super::super::lexer::Delim;
use super::align::Alignment;
use super::region::{Item, ItemKind};
use super::role::Role;
use super::shape::Home;

/// What a result did that its reader should know, as flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// A form lost what stood below it.
    pub(super) body_left: bool,
    /// Something is still open that the indentation says is closed.
    pub(super) overhang: bool,
    /// A change lies outside the edited lines.
    pub(super) outside: bool,
    /// An opener was put in or taken out.
    pub(super) opener: bool,
    /// A closer was put in or taken out in the middle of a line, and the old text does not bear it out.
    pub(super) midline: bool,
}

/// An opener that is open in some state; states share those that they have in common.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The entry around it, by index; past the last one where there is none.
    pub(super) parent: u32,
    pub(super) delim: Delim,
    /// Where it stands in the texts.
    pub(super) home: Home,
    /// Its screen column, as the text would be and as it was before the edit.
    pub(super) col: usize,
    pub(super) old_col: usize,
    /// The column of its second element on its line, as the text would be and as it was.
    pub(super) second: Option<usize>,
    pub(super) old_second: Option<usize>,
    /// The column of its last element that is first on a line.
    pub(super) child: Option<usize>,
    /// How many elements it has, up to four.
    pub(super) n: u8,
    /// The 0-based line of the opener.
    pub(super) line: usize,
    /// Whether it begins a line of a body: two columns in, or at top level.
    pub(super) in_body: bool,
    /// Which element of its holder it is, up to the fourth.
    pub(super) nth_of_holder: u8,
    /// Whether it is first on its line.
    pub(super) first: bool,
    /// Whether its holder has round delimiters.
    pub(super) in_round: bool,
    /// Whether its holder defines something that takes arguments.
    pub(super) in_definition: bool,
    /// Whether it begins with a name that defines.
    pub(super) defines: bool,
    /// Whether it is quoted.
    pub(super) quoted: bool,
    /// Whether it was there before the edit.
    pub(super) known: bool,
    /// The gap in which its closer stood before, where that gap is known.
    pub(super) closes: Option<usize>,
}

/// What was done last in the gap that a state has reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Kept,
    Deleted(Delim),
    Inserted,
}

/// One way to read the region up to some item.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) cost: u32,
    /// The cost, and what it will cost at least to end as it should.
    pub(super) rank: u32,
    /// The innermost open entry, by index.
    pub(super) stack: u32,
    pub(super) depth: i32,
    /// The last change, by index.
    pub(super) edits: u32,
    /// How many places were changed.
    pub(super) n_sites: u16,
    /// Equal for equal results.
    pub(super) hash: u64,
    /// Whether a datum stands already in another form than before.
    pub(super) contradicted: bool,
    /// Openers put in less openers taken out in this gap.
    pub(super) openers: i16,
    /// By how many columns this line's rest has moved.
    pub(super) shift: i16,
    pub(super) last: Last,
    /// The columns, new and old, of the leftmost form that an added closer closed on this line.
    pub(super) closed: Option<(usize, usize)>,
    pub(super) marks: Marks,
}

/// Who held a line before the edit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// It stood at top level.
    Nobody,
    /// An opener that is still there.
    By(Home),
    /// An opener that is gone.
    Gone,
}

impl Held {
    /// Translates an opener of the old region into the new one.
    pub(super) fn translate(home: Option<Home>, alignment: &Alignment) -> Self {
        match home {
            None => Self::Nobody,
            Some(Home::Here(old)) => match alignment.new_of.get(old).copied().flatten() {
                Some(new) => Self::By(Home::Here(new)),
                None => Self::Gone,
            },
            Some(home @ (Home::Before(_) | Home::Made)) => Self::By(home),
        }
    }
}

impl Entry {
    /// Whether it could well end after an item in the middle of a line, with its holder going on.
    pub(super) fn splits(&self, last: &Item, next: Option<&Item>, gap: usize) -> bool {
        if self.closes == Some(gap) {
            return true;
        }
        if self.line != last.end_line {
            return self.delim == Delim::Round && last.role != Role::Keyword;
        }
        let before_list = next.is_some_and(|next| {
            matches!(next.kind, ItemKind::Open(_)) && (next.lead == next.col || next.quoted)
        });
        let square = self.delim == Delim::Square;
        let alone = match self.nth_of_holder {
            1 => before_list || square || !self.in_round,
            2 => before_list || square && self.in_round && !self.first || self.in_definition,
            // A call without arguments, as far as its head tells.
            3 => self.in_definition || self.delim == Delim::Round && !self.first,
            _ => square && last.role == Role::Name,
        };
        !self.in_body && (self.n >= 2 || self.quoted || alone)
    }
}

impl State {
    /// Adds a token of the result to what tells two results apart.
    pub(super) fn emit(&mut self, token: u64) {
        const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
        self.hash = (self.hash.rotate_left(5) ^ token).wrapping_mul(MIX);
    }
}
