//! Words of the field, with what they mean, for the first screen.

use tilewright_arch::Part;
use tilewright_explain::{Explanation, Operation, Space};

/// A word, its meaning, and which kernels need it.
type Word = (&'static str, &'static str, fn(&Explanation) -> bool);

const WORDS: &[Word] = &[
    ("race", "two threads access one place, one of them writes, and nothing says who comes first.", |e| {
        e.findings.iter().any(|f| f.kind.is_race())
    }),
    ("warp", "32 threads, its lanes, that execute each instruction together.", |_| true),
    ("request", "one load or store by a warp: up to 32 addresses at once.", |_| true),
    (
        "sector",
        "32 bytes, the least that global memory moves. What nobody wanted of it moves for nothing.",
        |e| e.accesses().any(|a| a.sectors().is_some()),
    ),
    (
        "bank",
        "one of 32 columns of shared memory and of L1, each a word wide. In one pass (a wavefront) a bank serves one word.",
        |e| e.accesses().any(|a| a.space == Space::Shared) || is_bound_by_banks(e),
    ),
    (
        "atomic",
        "reads, changes and writes an address as one. Lanes that meet in an address take turns.",
        |e| e.accesses().any(|a| a.operation == Operation::Atomic),
    ),
];

fn is_bound_by_banks(e: &Explanation) -> bool {
    e.bound.as_ref().is_some_and(|bound| bound.part == Part::L1Data)
}

/// The words that these kernels need.
pub fn of(explanations: &[&Explanation]) -> Vec<(&'static str, &'static str)> {
    let needed = |word: &&Word| explanations.iter().any(|e| word.2(e));
    WORDS.iter().filter(needed).map(|&(word, meaning, _)| (word, meaning)).collect()
}
