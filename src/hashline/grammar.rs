//! Patch text → [`Patch`]: the language of `grammar/hashline.ebnf`.
//!
//! A line is read by itself: what it is follows from its first characters. Every problem is collected,
//! each once: a broken op swallows its payload, so that one slip is one problem. What the grammar cannot
//! say (line 0, a range that runs backwards, a row that no file can hold) is checked afterwards.
//! Nothing is guessed: a line that is almost an op is refused with the way to write it.

use super::anchor::Anchor;
use super::patch::{Op, Patch, Section, Target};
use super::problem::Problem;
use crate::code::Code;
use crate::text::{LineNo, clip_line};

/// Why text is no patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No section at all.
    #[error("the patch is empty; it begins with \"@@ PATH\"")]
    Empty,
    /// Something stands before the first header.
    #[error("the patch begins with \"@@ PATH\", not with {0:?}")]
    NoHeader(String),
    /// A header without a path.
    #[error("\"@@\" names no path; write \"@@ PATH\"")]
    NoPath,
    /// A header whose blank is missing.
    #[error("a blank is missing after \"@@\"; write \"@@ PATH\"")]
    NoBlank,
    /// A section without ops.
    #[error("the section of {0:?} has no ops")]
    NoOps(String),
    /// An insert without payload.
    #[error("\"{0}\" has no payload; each row to insert follows on its own line, after \"~\"")]
    NoPayload(String),
    /// A payload row where no op is open.
    #[error("a \"~\" row belongs to the op above it, and there is none")]
    NoOp,
    /// A payload row below a delete.
    #[error("\"-\" takes no payload; to replace the lines use \"=\"")]
    DeletePayload,
    /// A sign or `~` behind blanks.
    #[error(
        "{0:?} stands behind blanks; a sign stands in the first column, and a row of content is written after \"~\""
    )]
    Indented(String),
    /// A Markdown fence.
    #[error(
        "a fence is no part of a patch; leave it out, or write it after \"~\" if it is content"
    )]
    Fence,
    /// A line that is no op.
    #[error("{0:?} is no op; a row of content is written after \"~\"")]
    Text(String),
    /// An anchor followed by its row's content.
    #[error("an anchor ends with its two digits; leave out what follows in {0:?}")]
    Content(String),
    /// A range where one line is named.
    #[error("an insert takes one anchor, not a range; write \"{0}\"")]
    RangeForInsert(String),
    /// One anchor where a range is asked for.
    #[error("a range needs both ends; write \"{0}\"")]
    OneEnd(String),
    /// An anchor that cannot be read.
    #[error("{0:?} is no anchor; an anchor is LINE:HH, the digits of HH in lower case")]
    Anchor(String),
    /// A range that cannot be read.
    #[error("{0:?} is no range; a range is A:HH..B:HH without blanks")]
    Range(String),
    /// Line 0.
    #[error("there is no line 0; lines count from 1, and a bare \"<\" inserts at the top")]
    LineZero,
    /// A line number past every file.
    #[error("line {0} is past the end of any file")]
    Huge(String),
    /// A range that runs backwards.
    #[error("the range {0}..{1} runs backwards")]
    Reversed(LineNo, LineNo),
    /// A payload row that would not be a line of its own.
    #[error(
        "a payload row cannot hold a NUL byte or end with a carriage return; its line ending is taken from its place in the file"
    )]
    Row,
}

impl Fault {
    /// Returns whether the grammar itself excludes the text; the others are found after the parse stage.
    pub fn is_syntax(&self) -> bool {
        match self {
            Self::LineZero | Self::Huge(_) | Self::Reversed(..) | Self::Row => false,
            Self::Empty
            | Self::NoHeader(_)
            | Self::NoPath
            | Self::NoBlank
            | Self::NoOps(_)
            | Self::NoPayload(_)
            | Self::NoOp
            | Self::DeletePayload
            | Self::Indented(_)
            | Self::Fence
            | Self::Text(_)
            | Self::Content(_)
            | Self::RangeForInsert(_)
            | Self::OneEnd(_)
            | Self::Anchor(_)
            | Self::Range(_) => true,
        }
    }

    /// Returns the code of the refusal.
    pub fn code(&self) -> Code {
        if matches!(self, Self::Huge(_)) { Code::OutOfRange } else { Code::BadPatch }
    }
}

/// Reads a patch.
///
/// Errors: every fault, in patch order, as problems. Cost: linear.
pub fn parse(input: &str) -> Result<Patch, Vec<Problem>> {
    faults(input).map_err(|faults| {
        faults.into_iter().map(|(line, fault)| Problem::patch(line, fault)).collect()
    })
}

/// Reads a patch; every fault carries its 1-based line of the patch.
pub fn faults(input: &str) -> Result<Patch, Vec<(usize, Fault)>> {
    let mut parser = Parser::default();
    for (index, raw) in input.split('\n').enumerate() {
        parser.line(index + 1, raw.strip_suffix('\r').unwrap_or(raw));
    }
    parser.finish()
}

const BLANK: [char; 2] = [' ', '\t'];

/// How many characters of a refused line a fault quotes.
const SHOWN_CHARS: usize = 60;

/// What the parser has read so far.
#[derive(Default)]
struct Parser {
    sections: Vec<Section>,
    faults: Vec<(usize, Fault)>,
    open: Open,
    /// Whether the section at hand has had an op, well formed or not.
    tried: bool,
    /// Whether the line before was refused as text, so that a run of them is one fault.
    in_text: bool,
}

/// What a payload row would belong to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Open {
    /// Before the first header.
    #[default]
    Nothing,
    /// A section without an op yet.
    Section,
    /// The last op of the last section.
    Op,
    /// Something that was refused; what belongs to it is not looked at.
    Broken,
}

impl Parser {
    fn line(&mut self, number: usize, line: &str) {
        let rest = line.trim_start_matches(BLANK);
        if rest.is_empty() {
            return;
        }
        let was_text = std::mem::take(&mut self.in_text);
        let mut chars = line.chars();
        if let Some(after) = line.strip_prefix("@@") {
            return self.header(number, after);
        }
        match chars.next() {
            Some('~') => self.payload(number, chars.as_str()),
            Some(sign @ ('+' | '<' | '-' | '=')) => self.op(number, line, sign, chars.as_str()),
            _ => {
                self.in_text = true;
                if !was_text {
                    self.text(number, line, rest);
                }
            }
        }
    }

    fn header(&mut self, number: usize, after: &str) {
        self.close_section();
        let path = after.trim_matches(BLANK);
        self.tried = false;
        self.open = Open::Section;
        if path.is_empty() || path.starts_with('\r') {
            self.refuse(number, Fault::NoPath);
            self.tried = true;
        } else if !after.starts_with(BLANK) {
            self.refuse(number, Fault::NoBlank);
            self.tried = true;
        }
        let ops = Vec::new();
        self.sections.push(Section { path: path.to_owned(), patch_line: number, ops });
    }

    fn payload(&mut self, number: usize, row: &str) {
        let op = self.sections.last_mut().and_then(|section| section.ops.last_mut());
        match (self.open, op) {
            (Open::Broken, _) => {}
            (Open::Nothing, _) => self.no_header(number, "~"),
            (Open::Section, _) | (Open::Op, None) => {
                self.tried = true;
                self.refuse(number, Fault::NoOp);
            }
            (Open::Op, Some(op)) if matches!(op.target, Target::Delete(..)) => {
                self.refuse(number, Fault::DeletePayload);
            }
            (Open::Op, Some(op)) => {
                op.payload.push(row.to_owned());
                if row.contains('\0') || row.ends_with('\r') {
                    self.faults.push((number, Fault::Row));
                }
            }
        }
    }

    fn op(&mut self, number: usize, line: &str, sign: char, after: &str) {
        self.close_op();
        let text = after.trim_matches(BLANK);
        let Some(section) = self.sections.last_mut() else {
            return self.no_header(number, line);
        };
        self.tried = true;
        match target(sign, text) {
            Ok((target, fault)) => {
                section.ops.push(Op { target, payload: Vec::new(), patch_line: number });
                self.open = Open::Op;
                self.faults.extend(fault.map(|fault| (number, fault)));
            }
            Err(fault) => self.refuse(number, fault),
        }
    }

    fn text(&mut self, number: usize, line: &str, rest: &str) {
        let shown = || clip_line(line, SHOWN_CHARS).shown.into_owned();
        let indented = line.len() > rest.len()
            && (rest.starts_with(['~', '+', '<', '-', '=']) || rest.starts_with("@@"));
        if rest.starts_with("```") {
            self.faults.push((number, Fault::Fence));
        } else if indented {
            self.tried = true;
            self.refuse(number, Fault::Indented(shown()));
        } else if self.sections.is_empty() {
            self.no_header(number, line);
        } else if self.open != Open::Broken {
            self.tried = true;
            self.refuse(number, Fault::Text(shown()));
        }
    }

    /// Refuses what stands before the first header, once.
    fn no_header(&mut self, number: usize, line: &str) {
        if self.open == Open::Nothing {
            let shown = clip_line(line, SHOWN_CHARS).shown.into_owned();
            self.refuse(number, Fault::NoHeader(shown));
        }
    }

    fn refuse(&mut self, number: usize, fault: Fault) {
        self.faults.push((number, fault));
        self.open = Open::Broken;
    }

    /// Ends the op at hand: an insert must have had a payload.
    fn close_op(&mut self) {
        let op = self.sections.last().and_then(|section| section.ops.last());
        if let Some(op) = op.filter(|_| self.open == Open::Op)
            && !op.target.is_range()
            && op.payload.is_empty()
        {
            self.faults.push((op.patch_line, Fault::NoPayload(op.target.describe())));
        }
        self.open = if self.sections.is_empty() { self.open } else { Open::Section };
    }

    /// Ends the section at hand: it must have had an op.
    fn close_section(&mut self) {
        self.close_op();
        if let Some(section) = self.sections.last().filter(|_| !self.tried) {
            self.faults.push((section.patch_line, Fault::NoOps(section.path.clone())));
        }
    }

    fn finish(mut self) -> Result<Patch, Vec<(usize, Fault)>> {
        self.close_section();
        if self.sections.is_empty() && self.faults.is_empty() {
            self.faults.push((1, Fault::Empty));
        }
        self.faults.sort_by_key(|(number, _)| *number);
        if self.faults.is_empty() {
            Ok(Patch { sections: self.sections })
        } else {
            Err(self.faults)
        }
    }
}

/// Reads what follows a sign, without the blanks around it; a fault that the grammar cannot exclude comes
/// beside the target, so that what belongs to the op is still read as its own.
fn target(sign: char, text: &str) -> Result<(Target, Option<Fault>), Fault> {
    match (sign, text) {
        ('+', "") => return Ok((Target::End, None)),
        ('<', "") => return Ok((Target::Top, None)),
        _ => {}
    }
    if matches!(sign, '+' | '<') {
        let (anchor, fault) = single(sign, text)?.anchor();
        let target = if sign == '+' { Target::After(anchor) } else { Target::Before(anchor) };
        return Ok((target, fault));
    }
    let (start, end) = range(sign, text)?;
    let ((start, first), (end, second)) = (start.anchor(), end.anchor());
    let reversed = (start.line > end.line).then_some(Fault::Reversed(start.line, end.line));
    let fault = first.or(second).or(reversed);
    Ok((
        if sign == '-' { Target::Delete(start, end) } else { Target::Replace(start, end) },
        fault,
    ))
}

/// An anchor as written: its number may be one that no line has.
struct Mark<'a> {
    digits: &'a str,
    check: u8,
    /// Whether a `|` followed, as in a row.
    bar: bool,
}

impl Mark<'_> {
    /// Returns the anchor; where no line can have its number, line 1 with the fault.
    fn anchor(&self) -> (Anchor, Option<Fault>) {
        let significant = self.digits.trim_start_matches('0');
        let line = significant.parse().ok().and_then(LineNo::new);
        let fault = match line {
            Some(_) => None,
            None if significant.is_empty() => Some(Fault::LineZero),
            None => Some(Fault::Huge(clip_line(significant, 20).shown.into_owned())),
        };
        (Anchor { line: line.unwrap_or(LineNo::FIRST), check: self.check }, fault)
    }

    /// Writes the anchor as a patch has it.
    fn written(&self) -> String {
        format!("{}:{:02x}", self.digits, self.check)
    }
}

/// Reads an anchor from the front of `text`; returns what follows it too.
fn mark(text: &str) -> Option<(Mark<'_>, &str)> {
    let (digits, rest) = text.split_once(':')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hex, rest) = rest.split_at_checked(2)?;
    if !hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let check = u8::from_str_radix(hex, 16).ok()?;
    let barred = rest.strip_prefix('|');
    Some((Mark { digits, check, bar: barred.is_some() }, barred.unwrap_or(rest)))
}

fn quoted(text: &str) -> String {
    clip_line(text, SHOWN_CHARS).shown.into_owned()
}

/// Reads the one anchor of an insert.
fn single(sign: char, text: &str) -> Result<Mark<'_>, Fault> {
    let (mark, rest) = mark(text).ok_or_else(|| Fault::Anchor(quoted(text)))?;
    match rest {
        "" => Ok(mark),
        _ if mark.bar => Err(Fault::Content(quoted(text))),
        _ if rest.starts_with("..") => {
            Err(Fault::RangeForInsert(format!("{sign} {}", mark.written())))
        }
        _ => Err(Fault::Anchor(quoted(text))),
    }
}

/// Reads the two anchors of a range.
fn range(sign: char, text: &str) -> Result<(Mark<'_>, Mark<'_>), Fault> {
    let bad = || Fault::Range(quoted(text));
    let (start, rest) = mark(text).ok_or_else(bad)?;
    if rest.is_empty() {
        let written = start.written();
        return Err(Fault::OneEnd(format!("{sign} {written}..{written}")));
    }
    let Some(rest) = rest.strip_prefix("..") else {
        return Err(if start.bar { Fault::Content(quoted(text)) } else { bad() });
    };
    let (end, rest) = mark(rest).ok_or_else(bad)?;
    match rest {
        "" => Ok((start, end)),
        _ if end.bar => Err(Fault::Content(quoted(text))),
        _ => Err(bad()),
    }
}
