//! Times of pruned products beside those of all terms, in pairs. For people to read: `cargo test --release -p tilewright-cpu --lib
//! times_beside_all_terms -- --ignored --nocapture`, with these in the environment: `CASES=max-min,i32` for parts of names, `KIND=absent,normal` for
//! parts of names, `SHAPES=1024x512x4096,64x512x512` for m x n x k, and `PAIRS=15`.

#[path = "../../../benches/clock/mod.rs"]
mod clock;

use super::{
    Draw,
    data::{DECEIVING, Kind, NATURAL, OF_ITSELF, Product},
};
use crate::{
    compute::{Compute, OnVectors, with_all_terms},
    kernel::Vectorised,
};
use core::any::type_name;
use std::env;
use tilewright_core::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, Semiring};

const SHAPES: &str = "1024x512x4096,512x512x512,24x128x4096,128x128x256,64x512x512";

/// How a product is computed.
#[derive(Clone, Copy)]
struct How {
    shape: (usize, usize, usize),
    a_by_columns: bool,
    winners: bool,
    pairs: usize,
}

/// What was measured: the least processor time with pruning beside that of all terms, the latter in milliseconds, and whether it was pruned to the end.
type Measured = (f64, f64, bool);

fn ratio<S: Vectorised<Elem = T, Out = T>, T: Draw + Sync>(
    kind: &Kind,
    how: How,
    max: bool,
    map: fn(T) -> T,
) -> Measured {
    let product = Product::<T>::new(kind, how.shape, [how.a_by_columns, false], max).map(map);
    let mut product = if how.winners { product.with_winners() } else { product };
    let codes = product.codes::<S>().filter(|_| !how.winners);
    // The least times: what else runs on the machine disturbs them least.
    let (mut least_few, mut least_all) = (f64::INFINITY, f64::INFINITY);
    let mut was_pruned = false;
    for pair in 0..how.pairs {
        let since = clock::seconds();
        let pruned = product.compute::<S, _>(1, codes, |call| OnVectors.compute(call)).unwrap();
        let few = clock::seconds() - since;
        let since = clock::seconds();
        product.compute::<S, _>(1, codes, with_all_terms).unwrap();
        let all = clock::seconds() - since;
        was_pruned = pruned.kernel.pruned;
        // The first pair touches the memory.
        if pair > 0 {
            (least_few, least_all) = (least_few.min(few), least_all.min(all));
        }
    }
    (least_few / least_all, least_all * 1e3, was_pruned)
}

/// Magnitudes; 0 where they are absent.
fn magnitude<T: num::Float>(x: T) -> T {
    x.magnitude()
}

mod num {
    /// Floats whose magnitudes can be multiplied.
    pub trait Float {
        fn magnitude(self) -> Self;
    }
    macro_rules! floats {
        ($($t:ident)*) => {$(impl Float for $t {
            fn magnitude(self) -> Self { if self.is_finite() { self.abs() } else { 0.0 } }
        })*};
    }
    floats! { f32 f64 }
}

/// Of a kind of elements.
type Measure = fn(&Kind, How) -> Measured;

/// Semirings and types, by name.
fn cases() -> Vec<(String, Measure)> {
    macro_rules! cases {
        ($($s:ident<$t:ident>, $max:literal, $map:expr;)*) => {
            vec![$((
                format!("{} {}", <$s<$t> as Semiring>::NAME, type_name::<$t>()),
                (|kind, how| ratio::<$s<$t>, $t>(kind, how, $max, $map)) as Measure,
            )),*]
        };
    }
    cases! {
        MinPlus<f32>, false, |x| x;
        MaxPlus<f32>, true, |x| x;
        MinPlus<f64>, false, |x| x;
        MinPlus<i16>, false, |x| x;
        MinPlus<i32>, false, |x| x;
        MinPlus<i64>, false, |x| x;
        MaxTimes<f32>, true, magnitude;
        MaxTimes<f64>, true, magnitude;
        MinTimes<f32>, false, magnitude;
        MaxMin<f32>, true, |x| x;
        MaxMin<f64>, true, |x| x;
        MinMax<f32>, false, |x| x;
        MinMax<i32>, false, |x| x;
    }
}

/// Words of a list in the environment.
fn words(name: &str, without: &str) -> Vec<String> {
    env::var(name).unwrap_or(without.into()).split(',').map(str::to_owned).collect()
}

fn shapes() -> Vec<(usize, usize, usize)> {
    let shape = |word: &String| {
        let sides: Vec<usize> = word.split('x').map(|side| side.parse().unwrap()).collect();
        (sides[0], sides[1], sides[2])
    };
    words("SHAPES", SHAPES).iter().map(shape).collect()
}

#[test]
#[ignore = "takes minutes, and prints a table"]
fn times_beside_all_terms() {
    let named = |name: &str, words: &[String]| words.iter().any(|word| name.contains(word));
    let (some_cases, some_kinds) = (words("CASES", "min-plus f32"), words("KIND", ""));
    let pairs = env::var("PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(15);
    for shape in shapes() {
        for kind in NATURAL.iter().chain(OF_ITSELF).chain(DECEIVING).filter(|k| named(k.name, &some_kinds)) {
            for (name, measure) in cases().into_iter().filter(|(name, _)| named(name, &some_cases)) {
                let measured =
                    [(false, false), (false, true), (true, false)].map(|(winners, a_by_columns)| {
                        let (ratio, ms, pruned) = measure(kind, How { shape, a_by_columns, winners, pairs });
                        format!("{ratio:6.2}{} ({ms:6.2})", if pruned { 'p' } else { ' ' })
                    });
                let [plain, transposed, winners] = measured;
                println!(
                    "{shape:?} {name:14} {:32} {plain} winners {winners} transposed {transposed}",
                    kind.name
                );
            }
        }
    }
}
