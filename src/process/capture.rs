//! What a process writes, as text: bounded where it comes out, decoded across the cuts of its pieces.
//!
//! The first characters are kept and the rest are counted. Bytes that are no UTF-8 become replacement
//! characters, as many as `String::from_utf8_lossy` makes of the whole.

/// The text of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Capture {
    text: String,
    n_chars: usize,
    n_dropped: u64,
    /// The begin of a character whose rest has not come yet.
    begun: Vec<u8>,
}

/// The most characters that are kept of one stream.
const CAPTURE_CHARS: usize = 1_048_576;

/// What was taken from a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The characters that were kept.
    pub text: String,
    /// How many characters that followed were dropped.
    pub n_dropped: u64,
}

impl Capture {
    /// Adds what came out.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        if self.begun.is_empty() {
            return self.decode(piece);
        }
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        self.decode(&bytes);
    }

    /// Ends the stream: a character that was begun and never ended is a replacement character.
    pub(super) fn finish(&mut self) {
        if !std::mem::take(&mut self.begun).is_empty() {
            self.keep("\u{fffd}");
        }
    }

    /// Takes what was kept; the next characters are counted anew.
    pub(super) fn take(&mut self) -> Taken {
        self.n_chars = 0;
        Taken {
            text: std::mem::take(&mut self.text),
            n_dropped: std::mem::take(&mut self.n_dropped),
        }
    }

    fn decode(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.keep(chunk.valid());
            let bad = chunk.invalid();
            if chunks.peek().is_none() && is_begun(bad) {
                self.begun = bad.to_owned();
            } else if !bad.is_empty() {
                self.keep("\u{fffd}");
            }
        }
    }

    fn keep(&mut self, text: &str) {
        let room = CAPTURE_CHARS - self.n_chars;
        let (kept, dropped) = match text.char_indices().nth(room) {
            None => (text, ""),
            Some((at, _)) => text.split_at_checked(at).unwrap_or((text, "")),
        };
        self.text.push_str(kept);
        self.n_chars += if dropped.is_empty() { kept.chars().count() } else { room };
        self.n_dropped += u64::try_from(dropped.chars().count()).unwrap_or(u64::MAX);
    }
}

/// Returns whether bytes that are no character could become one with more of them.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(pieces: &[&[u8]]) -> Taken {
        let mut capture = Capture::default();
        for piece in pieces {
            capture.feed(piece);
        }
        capture.finish();
        capture.take()
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), Just(0xe2), Just(0x82), Just(0xac), Just(0xf0), Just(0x9f)],
                0..60,
            ),
            cut in 0usize..60,
        ) {
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            prop_assert_eq!(&captured(&[head, tail]).text, &whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(captured(&single).text, whole);
        }
    }

    #[test]
    fn the_first_characters_are_kept_and_the_rest_counted() {
        let piece = "é".repeat(CAPTURE_CHARS / 2 + 1);
        let taken = captured(&[piece.as_bytes(), piece.as_bytes(), b"\xff"]);
        assert_eq!(taken.text.chars().count(), CAPTURE_CHARS);
        assert_eq!(taken.n_dropped, 3);
    }

    #[test]
    fn what_is_taken_makes_room() {
        let mut capture = Capture::default();
        capture.feed(&vec![b'a'; CAPTURE_CHARS + 1]);
        assert_eq!(capture.take().n_dropped, 1);
        capture.feed(b"b");
        assert_eq!(capture.take(), Taken { text: "b".to_owned(), n_dropped: 0 });
    }
}
