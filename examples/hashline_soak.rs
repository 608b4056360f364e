//! Random changes by another program between a read and an edit: does an edit ever overwrite a change, or
//! land on another line than the one that was seen? Usage: `hashline_soak [TRIALS] [SEED]`.
//!
//! Every line has an identity beside its text. A change inserts, deletes, replaces, duplicates, moves or
//! modifies blocks, so that identical lines come to stand at the numbers of others. An accepted edit is
//! *wrong* if a line that it touches is not the line that was seen at that number, and *overwrites* if it
//! reads otherwise. A refusal is *needless* if every line stood, itself, at its number.

#![expect(clippy::print_stdout, reason = "an example prints its figures")]

#[path = "soak/world.rs"]
mod world;

use world::{Tally, trial};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let trials: u64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let seed: u64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for n in 0..trials {
        trial(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(n), &mut tally);
    }
    println!("{tally}");
    if !tally.wrong.is_empty() || !tally.overwritten.is_empty() {
        println!("seeds: {:?} {:?}", tally.overwritten, tally.wrong);
        std::process::exit(1);
    }
}
