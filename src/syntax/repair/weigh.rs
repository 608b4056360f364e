//! What each change and each misfit costs, in tenths of "a closer added at the end of a line".
//!
//! The numbers were tuned on the corpus and measured on real source by `examples/repair_accuracy.rs`;
//! change one only with that measurement before and after.

/// Where a change stands on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Nothing but closers follows.
    Trailing,
    /// Something else follows, which could belong to the form around.
    Within,
    /// Something else follows.
    Middle,
    /// Something else follows, and only the head stands before it.
    Head,
}

/// What the text before the edit says about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The place had more, or less, of what is put in or taken out.
    Toward,
    /// It had not.
    Away,
    /// The place is not known from before.
    Unknown,
}

impl Evidence {
    /// What the same text says about the opposite change.
    pub(super) fn against(self) -> Self {
        match self {
            Self::Toward => Self::Away,
            Self::Away => Self::Toward,
            Self::Unknown => Self::Unknown,
        }
    }

    fn weigh(self, cost: u32) -> u32 {
        match self {
            Self::Toward => cost * 2 / 5,
            Self::Away => cost + 15,
            Self::Unknown => cost,
        }
    }
}

/// A closer of another type.
pub(super) const CHANGE: u32 = 11;
/// How many times dearer a change outside the edited lines is.
pub(super) const OUTSIDE: u32 = 3;
/// A line that is not re-indented and no longer stands in the form that held it.
pub(super) const LOST_PARENT: u32 = 20;
/// A datum in another form than the one that held it, though both are still there: the first, and each
/// further one.
pub(super) const CONTRADICTION: u32 = 12;
pub(super) const FURTHER_CONTRADICTION: u32 = 3;
/// A form at top level that does not begin its line.
pub(super) const TOP_LEVEL_INSIDE_LINE: u32 = 12;
/// A closer behind an opener with a blank after it.
pub(super) const CLOSER_OF_EMPTY: u32 = 11;
/// A form still open although the line begins at or left of it.
pub(super) const OVERHANG: u32 = 30;
/// How many of those are counted a line.
pub(super) const MOST_OVER: u32 = 4;
/// What a search expects to pay for each form that is open too many or too few.
pub(super) const PER_MISSING: u32 = 8;
/// How much worse than the best a second result is when the best is clearly better.
pub(super) const CLEARLY: u32 = 10;

pub(super) fn add_closer(spot: Spot, evidence: Evidence, again: bool) -> u32 {
    let base = match (spot, again) {
        (Spot::Trailing, false) => 10,
        (Spot::Trailing, true) => 7,
        (Spot::Within, _) => 11,
        (Spot::Middle, _) => 25,
        (Spot::Head, _) => 45,
    };
    evidence.weigh(base)
}

pub(super) fn drop_closer(spot: Spot, evidence: Evidence) -> u32 {
    let base = match spot {
        Spot::Trailing => 12,
        Spot::Within | Spot::Middle | Spot::Head => 30,
    };
    // A closer too many that the old text had not may as well have lost its opener.
    if evidence == Evidence::Toward { base - 1 } else { evidence.weigh(base) }
}

/// People add openers and forget closers; that an opener is new does not make it wrong.
pub(super) fn drop_opener(evidence: Evidence) -> u32 {
    match evidence {
        Evidence::Toward => 30,
        Evidence::Unknown => 55,
        Evidence::Away => 70,
    }
}

/// An opener where the old text had one more. It was lost.
pub(super) const OPENER_BORNE_OUT: u32 = 10;
/// An opener before a name. Near enough to [`drop_closer`] that neither is clearly better: a lost opener
/// and a closer too many are the same text.
pub(super) const OPENER_LIKELY: u32 = 20;
/// An opener after a quote.
pub(super) const OPENER_QUOTED: u32 = 24;
/// An opener of a type of which there is a closer too many, where a list could well begin.
pub(super) const OPENER_OF_TYPE: u32 = 14;
/// How much dearer an opener is if it is another type of which there is a closer too many.
pub(super) const OPENER_OF_OTHER_TYPE: u32 = 15;
/// An opener before a closer with a blank before it.
pub(super) const OPENER_OF_EMPTY: u32 = 14;

/// A line at top level.
pub(super) fn top_level(lead: usize) -> u32 {
    if lead == 0 { 0 } else { 12 }
}

/// A line right of the opener that holds it, by where the form's other parts stand.
pub(super) fn inside(
    lead: usize,
    col: usize,
    second: Option<usize>,
    child: Option<usize>,
    n_elements: u8,
) -> u32 {
    if n_elements == 0 || child == Some(lead) {
        return 0;
    }
    let usual = lead == col + 1 || lead == col + 2 || second == Some(lead);
    match child {
        None if usual => 0,
        None if lead == col + 4 => 4,
        Some(_) if usual => 3,
        None | Some(_) => 12,
    }
}
