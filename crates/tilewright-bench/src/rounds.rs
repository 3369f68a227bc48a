//! Warm-up, check, and rounds in which the contenders take turns.

use crate::{
    Result, case::Case, contender::Contender, field::Field, libraries::Check, matrices::Operands,
    statistics::Summary,
};
use std::{
    thread,
    time::{Duration, Instant},
};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds that every contender gets.
    pub least_rounds: usize,
    /// Rounds after which nothing more is learnt.
    pub most_rounds: usize,
    /// Time after which no further round starts once the least number is reached.
    pub row: Duration,
    /// A contender that has used more than this, in three rounds or more, sits out the rest.
    pub contender: Duration,
    /// A sample repeats the product until it takes about this long.
    pub sample: Duration,
    /// Rest before each turn, in which the threads of the one before stop waiting for work.
    pub rest: Duration,
}

impl Effort {
    /// For published numbers.
    pub const FULL: Self = Self {
        least_rounds: 7,
        most_rounds: 41,
        row: Duration::from_secs(4),
        contender: Duration::from_secs(30),
        sample: Duration::from_millis(4),
        rest: Duration::ZERO,
    };
    /// For a first look.
    pub const QUICK: Self = Self {
        least_rounds: 3,
        most_rounds: 7,
        row: Duration::from_millis(500),
        contender: Duration::from_secs(3),
        sample: Duration::from_millis(1),
        rest: Duration::ZERO,
    };

    /// The same for contenders with this many threads.
    ///
    /// Some pools wait actively for more work, OpenBLAS's for some 25 ms: on the processors that the next
    /// contender needs.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        let rest = if threads > 1 { Duration::from_millis(30) } else { Duration::ZERO };
        Self { rest, ..self }
    }
}

const FEWEST: usize = 3;

struct Turn<'a> {
    contender: Box<dyn Contender + 'a>,
    repetitions: u32,
    seconds: Vec<f64>,
    used: f64,
}

/// Measures all contenders in turns; names and times in the order given.
///
/// # Errors
/// When one fails, or computes a wrong result.
pub fn measure<'a>(
    contenders: Vec<Box<dyn Contender + 'a>>,
    check: Check<'_>,
    effort: Effort,
) -> Result<Vec<(String, Summary)>> {
    let mut turns = Vec::new();
    for mut contender in contenders {
        contender.run(1)?;
        let result = contender.result()?;
        check(contender.name(), &result)?;
        let once = contender.run(1)?;
        let repetitions = (effort.sample.as_secs_f64() / once).clamp(1.0, 10_000.0).ceil() as u32;
        turns.push(Turn { contender, repetitions, seconds: Vec::new(), used: 0.0 });
    }
    let start = Instant::now();
    for round in 0..effort.most_rounds {
        if round >= effort.least_rounds && start.elapsed() > effort.row {
            break;
        }
        for turn in &mut turns {
            if round >= FEWEST && turn.used > effort.contender.as_secs_f64() {
                continue;
            }
            thread::sleep(effort.rest);
            if turn.repetitions > 1 {
                turn.contender.run(1)?;
            }
            let seconds = turn.contender.run(turn.repetitions)?;
            turn.used += seconds * f64::from(turn.repetitions);
            turn.seconds.push(seconds);
        }
    }
    let summary = |t: Turn<'_>| Some((t.contender.name().to_owned(), Summary::of(t.seconds)?));
    Ok(turns.into_iter().filter_map(summary).collect())
}

/// Checks some elements of a result against sums computed here, one term after another.
///
/// Min-plus must agree exactly, plus-times within `2 k eps` of the elements' type: no term exceeds 1.
pub fn check<T: Field>(
    case: &Case,
    operands: &Operands<T>,
    sum: impl Fn(&mut dyn Iterator<Item = (T, T)>) -> f64,
    epsilon: f64,
) -> impl Fn(&str, &[f64]) -> Result<()> {
    let places: Vec<(usize, usize)> = (0..97).map(|p| (p * 7919 % case.m, p * 104_729 % case.n)).collect();
    let expected: Vec<f64> = places
        .iter()
        .map(|&(i, j)| {
            let (a, b) = (operands.a.view(), operands.b.view());
            sum(&mut (0..case.k).filter_map(|p| a.get(i, p).zip(b.get(p, j))))
        })
        .collect();
    let (case, bound) = (*case, 2.0 * case.k as f64 * epsilon);
    move |name, result| {
        for (&(i, j), expected) in places.iter().zip(&expected) {
            let found = result[i * case.n + j];
            let error = (found - expected).abs();
            if error > bound || error.is_nan() {
                return Err(format!("{name}, {case}: C[{i}, {j}] is {found}, not {expected}").into());
            }
        }
        Ok(())
    }
}
