//! The processor's contenders: instruction sets and numbers of threads.

use super::{
    case::Case,
    measured::{Measured, Outcome, Terms},
};
use std::{
    cell::RefCell,
    time::{Duration, Instant},
};
use tilewright::{
    Backend, Error, Isa, Options, Ran,
    cuda::{Competitor, Timing},
};

/// An instruction set with a number of threads.
#[derive(Clone, Copy)]
pub struct Contender {
    isa: Isa,
    threads: usize,
}

impl Contender {
    /// These instruction sets; where there are none the best one, and with [`Steps::All`] every one on one thread as well.
    pub fn all(named: &[Isa], threads: usize, steps: Steps) -> Result<Vec<Self>, Error> {
        if !named.is_empty() {
            return named.iter().map(|&isa| Ok(Self { isa: Isa::choose(Some(isa))?, threads })).collect();
        }
        let best = Self { isa: Isa::choose(None)?, threads };
        let supported = Isa::ALL.iter().copied().filter(|isa| isa.is_supported());
        let single = supported.map(|isa| Self { isa, threads: 1 });
        Ok(match steps {
            Steps::Best => vec![best],
            Steps::All if threads == 1 => single.collect(),
            Steps::All => single.chain([best]).collect(),
        })
    }

    fn options(&self) -> Options<'static> {
        Options { backend: Backend::Cpu, isa: Some(self.isa), threads: self.threads, ..Options::default() }
    }
}

/// Which steps of the processor's ladder are measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    All,
    Best,
}

/// Checks every contender, and times those that are right, in turn.
///
/// Small products occupy fewer threads than they may; contenders that come to the same are measured once.
pub fn measure(case: &Case, contenders: &[Contender], rounds: usize) -> Result<Vec<Measured>, Error> {
    let mut checked: Vec<Checked> = Vec::new();
    let mut able = Vec::new();
    for contender in contenders {
        let one = check(case, contender)?;
        if checked.iter().any(|known| (known.isa, known.threads) == (one.isa, one.threads)) {
            continue;
        }
        if one.fault.is_none() {
            able.push(*contender);
        }
        checked.push(one);
    }
    let mut timings = time(case, &able, rounds)?.into_iter();
    let mut outcome = |fault: Option<String>| match fault {
        Some(fault) => Some(Outcome::Wrong(fault)),
        None => timings.next().map(Outcome::Timed),
    };
    Ok(checked
        .into_iter()
        .filter_map(|Checked { isa, threads, terms, fault }| {
            let measured = Measured::new(Backend::Cpu, isa.name(), outcome(fault)?);
            Some(Measured { threads: Some(threads), terms, ..measured })
        })
        .collect())
}

/// What one run of a contender showed.
struct Checked {
    isa: Isa,
    /// Those that took part.
    threads: usize,
    terms: Terms,
    /// What is wrong with the result.
    fault: Option<String>,
}

fn check(case: &Case, contender: &Contender) -> Result<Checked, Error> {
    let mut c = case.result()?;
    let report = case.write_to(c.as_mut(), contender.options())?;
    let terms = match report.kernel {
        Ran::Cpu(kernel) if kernel.pruned => Terms::Pruned,
        _ => Terms::All,
    };
    Ok(Checked { isa: contender.isa, threads: report.threads, terms, fault: case.fault(&c)? })
}

fn time(case: &Case, contenders: &[Contender], rounds: usize) -> Result<Vec<Timing>, Error> {
    let (product, c) = (case.product()?, RefCell::new(case.result()?));
    let mut competitors = Vec::new();
    for contender in contenders {
        let (options, product, c) = (contender.options(), &product, &c);
        competitors.push(Competitor {
            name: contender.isa.to_string(),
            run: Box::new(move |_| product.write_to(c.borrow_mut().as_mut(), &options).map(|_| ())),
        });
    }
    race(&mut competitors, rounds)
}

/// The length of a sample; short products are repeated to fill it.
const SAMPLE: Duration = Duration::from_millis(20);
/// After so long no further round starts, once there are three.
const LONGEST: Duration = Duration::from_secs(20);
const FEWEST: usize = 3;

/// Times the competitors in turn: in each round every one fills one sample, and each round begins with another one.
fn race(competitors: &mut [Competitor<'_>], rounds: usize) -> Result<Vec<Timing>, Error> {
    let mut repeats = Vec::new();
    for competitor in competitors.iter_mut() {
        // The first run finds memory and threads cold.
        (competitor.run)(0)?;
        let start = Instant::now();
        (competitor.run)(1)?;
        let once = start.elapsed().as_secs_f64().max(1e-9);
        repeats.push((SAMPLE.as_secs_f64() / once).ceil().clamp(1.0, 1e6) as usize);
    }
    let mut timings: Vec<Timing> =
        competitors.iter().map(|c| Timing { name: c.name.clone(), seconds: Vec::new() }).collect();
    let start = Instant::now();
    for round in 0..rounds {
        if round >= FEWEST && start.elapsed() > LONGEST {
            break;
        }
        for turn in 0..competitors.len() {
            let index = (round + turn) % competitors.len();
            let begin = Instant::now();
            for number in 0..repeats[index] {
                (competitors[index].run)(number)?;
            }
            timings[index].seconds.push(begin.elapsed().as_secs_f64() / repeats[index] as f64);
        }
    }
    for timing in &mut timings {
        timing.seconds.sort_by(f64::total_cmp);
    }
    Ok(timings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Data, Meaning, Order, Size};
    use tilewright::{DType, SemiringId};

    #[test]
    fn contenders_are_timed_in_their_order() {
        let case = Case::new(
            &Meaning::BuiltIn(SemiringId::MinPlus),
            DType::F32,
            Size { m: 33, n: 17, k: 20 },
            Order::Tn,
            Data::Signed,
        )
        .unwrap();
        let contenders = [Isa::Portable, Isa::best()].map(|isa| Contender { isa, threads: 1 });
        let measured = measure(&case, &contenders, 3).unwrap();
        let names: Vec<&str> = measured.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["portable", Isa::best().name()]);
        assert!(measured.iter().all(|m| m.threads == Some(1)));
        for m in &measured {
            let timing = m.timing().unwrap();
            assert!(timing.seconds.len() == 3 && timing.seconds.is_sorted() && timing.median() > 0.0);
        }
    }

    #[test]
    fn every_semiring_and_type_is_measured() {
        for &semiring in SemiringId::ALL {
            for &dtype in semiring.dtypes() {
                let case = Case::new(
                    &Meaning::BuiltIn(semiring),
                    dtype,
                    Size { m: 3, n: 4, k: 5 },
                    Order::Nn,
                    Data::of(semiring),
                )
                .unwrap();
                let contenders = [Contender { isa: Isa::Portable, threads: 1 }];
                let measured = measure(&case, &contenders, 1).unwrap();
                assert!(measured[0].timing().is_some(), "{semiring} on {dtype}");
            }
        }
    }
}
