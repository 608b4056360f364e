//! What a write over a file leaves when it is stopped: a content whose blocks are old or new, each for itself.
//!
//! Pure. The new bytes are written from the start and the length is set after them, so a stop leaves new
//! blocks, old blocks, and one block in which the end of the new bytes lies upon old ones. A loss of power
//! may keep any of the blocks, and zeros where the file grew.

const BLOCK_BYTES: usize = 4096;

/// Returns whether `now` is what a stopped write of `after` over `before` leaves.
pub(super) fn is_torn(now: &[u8], before: &[u8], after: &[u8]) -> bool {
    let shortest = before.len().min(after.len());
    if now.len() > before.len().max(after.len()) || now.len() < shortest {
        return false;
    }
    now.chunks(BLOCK_BYTES).enumerate().all(|(index, block)| {
        let start = index * BLOCK_BYTES;
        let old = from(before, start);
        let new = from(after, start);
        is_prefix_of(block, old, &[]) || is_prefix_of(block, new, from(old, new.len()))
    }) && ends_at_an_edge(now.len(), before.len(), after.len())
}

/// Returns whether `block` is the bytes of `first`, then of `second`, then zeros, as far as it goes.
fn is_prefix_of(block: &[u8], first: &[u8], second: &[u8]) -> bool {
    let expected = first.iter().chain(second).copied().chain(std::iter::repeat(0));
    block.iter().copied().zip(expected).all(|(seen, wanted)| seen == wanted)
}

fn ends_at_an_edge(now: usize, before: usize, after: usize) -> bool {
    now == before || now == after || now.is_multiple_of(BLOCK_BYTES)
}

fn from(bytes: &[u8], start: usize) -> &[u8] {
    bytes.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(byte: u8, n_bytes: usize) -> Vec<u8> {
        vec![byte; n_bytes]
    }

    #[test]
    fn every_mix_of_whole_blocks_is_a_torn_write() {
        let (before, after) = (content(b'o', 10_000), content(b'n', 13_000));
        for mix in 0..16_u8 {
            for length in [10_000, 12_288, 13_000] {
                let now: Vec<u8> = (0..length)
                    .map(|at| {
                        if mix >> (at / BLOCK_BYTES) & 1 == 1 { &after } else { &before }
                            .get(at)
                            .copied()
                            .unwrap_or(0)
                    })
                    .collect();
                assert!(is_torn(&now, &before, &after), "{mix} {length}");
            }
        }
    }

    #[test]
    fn a_shorter_content_upon_the_old_one_is_a_torn_write() {
        assert!(is_torn(b"new old text", b"the old text", b"new"));
        assert!(!is_torn(b"new bld text", b"the old text", b"new"));
    }

    #[test]
    fn other_bytes_or_another_length_are_no_torn_write() {
        let (before, after) = (content(b'o', 10_000), content(b'n', 13_000));
        let mut foreign = before.clone();
        foreign[5000] = b'x';
        assert!(!is_torn(&foreign, &before, &after));
        assert!(!is_torn(&content(b'n', 9_999), &before, &after));
        assert!(!is_torn(&content(b'n', 13_001), &before, &after));
    }
}
