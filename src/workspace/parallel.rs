//! Work on numbered items side by side, with results that depend on no thread.
//!
//! Items are claimed in ascending order and every claimed item is finished, so what comes back is always
//! a gapless run from the first item on, in order, wherever it stopped.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads work at most.
const MAX_WORKERS: usize = 8;

/// Below this many items one thread does them; to start another would cost more.
const FEW: usize = 4;

/// Runs `work` on items `0..n` until `leave` gives none, and returns the results of items `0..k` in order.
///
/// `leave` is asked before each claim, and `work` gets its answer. Where it looks at totals that `work`
/// adds to, all that it sees comes from items before the one that is claimed next. `scratch` makes what
/// one thread reuses.
pub(super) fn in_order<S, L, R: Send>(
    n: usize,
    leave: impl Fn() -> Option<L> + Sync,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, L, usize) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut scratch = scratch();
        let mut done = Vec::new();
        while let Some(leave) = leave() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= n {
                break;
            }
            done.push((index, work(&mut scratch, leave, index)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..n_workers(n))
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, worker).ok())
            .collect();
        let mut done = worker();
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn n_workers(n_items: usize) -> usize {
    if n_items < FEW {
        return 1;
    }
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_WORKERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_order_and_without_gaps() {
        let all = in_order(1000, || Some(()), || (), |(), (), index| index * 2);
        assert_eq!(all, (0..1000).map(|index| index * 2).collect::<Vec<_>>());
        let seen = AtomicUsize::new(0);
        let some = in_order(
            1000,
            || (seen.load(Ordering::SeqCst) < 100).then_some(()),
            || (),
            |(), (), index| {
                seen.fetch_add(1, Ordering::SeqCst);
                index
            },
        );
        assert!(some.len() >= 100);
        assert_eq!(some, (0..some.len()).collect::<Vec<_>>());
        assert!(in_order(0, || Some(()), || (), |(), (), index| index).is_empty());
    }
}
