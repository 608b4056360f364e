//! What a repair hands out: candidates with what speaks against each, or why there is none.

use super::super::balance::Diagnostic;

/// One change to a text: bytes taken out at a place, and what is put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// Byte offset in the text that the edit made.
    pub offset: usize,
    /// How many bytes are taken out there.
    pub removed: usize,
    /// What is put in.
    pub inserted: String,
}

/// Why a candidate is shown and not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Doubt {
    /// There was no text before the edit, or it was not balanced.
    OldNotWhole,
    /// The number of forms at top level is not what it was.
    FormCount,
    /// Another candidate is about as good.
    CloseSecond,
    /// A form would lose what stands below it, or a line its form.
    BodyLeft,
    /// The indentation says that something still open was closed.
    Indentation,
    /// The edit changed delimiters and nothing else: they may be what was meant.
    DelimitersOnly,
    /// The repair changes lines that the edit did not.
    Outside,
    /// An opener would be put in or taken out, or seems to be missing.
    Opener,
    /// A closer in the middle of a line would change, and the old text does not bear it out.
    MidLine,
    /// A quote would be put in.
    Quote,
    /// The repair changes too many places.
    ManyPlaces,
    /// The repair gives the old text again.
    SameAsOld,
}

impl Doubt {
    /// Returns the doubt as part of a sentence that begins "shown and not written: ".
    pub fn reason(self) -> &'static str {
        match self {
            Self::OldNotWhole => "the file was not balanced before",
            Self::FormCount => "the number of top-level forms would change",
            Self::CloseSecond => "another repair is about as likely",
            Self::BodyLeft => "a form would lose its body",
            Self::Indentation => "the indentation does not agree",
            Self::DelimitersOnly => {
                "the edit changed delimiters alone, which may be what was meant"
            }
            Self::Outside => "it changes lines outside the edit",
            Self::Opener => "an opener may be what is missing or too many",
            Self::MidLine => "it changes a closer in the middle of a line",
            Self::Quote => "it adds a quote",
            Self::ManyPlaces => "it changes many places",
            Self::SameAsOld => "it gives the old text again",
        }
    }
}

/// One repaired text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole text.
    pub text: String,
    /// What was changed to get it, in text order, by offsets in the text that the edit made.
    pub edits: Vec<TextEdit>,
    /// What speaks against writing it unasked, each once; nothing where it is safe.
    pub doubts: Vec<Doubt>,
    pub(super) cost: u32,
}

impl Candidate {
    /// Returns whether it may be written unasked.
    pub fn is_safe(&self) -> bool {
        self.doubts.is_empty()
    }
}

/// Why nothing is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Every line stands at one column: nothing says what belongs to what.
    NoIndentation,
    /// A string, comment or symbol never ends, and nothing says where it should.
    Unterminated,
    /// No change of the edited lines restores the balance at a price that means anything.
    NothingFits,
    /// The edit is too large to be searched.
    TooLarge,
}

impl Refusal {
    /// Returns the reason as part of a sentence that begins "not repaired: ".
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoIndentation => "there is no indentation to go by",
            Self::Unterminated => "a string or comment never ends and has no likely end",
            Self::NothingFits => "no small change of the edited lines restores the balance",
            Self::TooLarge => "the edit is too large to search",
        }
    }
}

/// What can be done about an edit that broke the balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Candidates, the best first; never empty.
    Proposed(Vec<Candidate>),
    /// No candidate is better than chance. The place is that of the fault to show.
    Refused(Refusal, Option<Diagnostic>),
}
