//! Times of pruned products beside those of all terms, in pairs. For people to read: `cargo test --release -p tilewright-cpu --lib
//! times_beside_all_terms -- --ignored --nocapture`, with `TYPES=f32,i32`, `KIND=absent` for a part of a name and `MOST=140000000` terms in the environment.

use super::{
    Draw,
    data::{DECEIVING, Kind, NATURAL, OF_ITSELF, Product},
};
use crate::{
    compute::{Compute, OnVectors, with_all_terms},
    kernel::Vectorised,
};
use std::{env, time::Instant};
use tilewright_core::MinPlus;

/// Pairs of measurements.
const PAIRS: usize = 15;

fn ratio<S: Vectorised<Elem = T, Out = T>, T: Draw + Sync>(
    kind: &Kind,
    shape: (usize, usize, usize),
    by_columns: [bool; 2],
) -> (f64, f64, bool) {
    let mut product = Product::<T>::new(kind, shape, by_columns, false);
    let codes = product.codes::<S>();
    // The least times: what else runs on the machine disturbs them least.
    let (mut least_few, mut least_all) = (f64::INFINITY, f64::INFINITY);
    let mut was_pruned = false;
    for pair in 0..PAIRS {
        let since = Instant::now();
        let pruned = product.compute::<S, _>(1, codes, |call| OnVectors.compute(call)).unwrap();
        let few = since.elapsed().as_secs_f64();
        let since = Instant::now();
        product.compute::<S, _>(1, codes, with_all_terms).unwrap();
        let all = since.elapsed().as_secs_f64();
        was_pruned = pruned.kernel.pruned;
        // The first pair touches the memory.
        if pair > 0 {
            (least_few, least_all) = (least_few.min(few), least_all.min(all));
        }
    }
    (least_few / least_all, least_all * 1e3, was_pruned)
}

#[test]
#[ignore = "takes minutes, and prints a table"]
fn times_beside_all_terms() {
    let shapes = [(1024, 512, 4096), (512, 512, 512), (24, 128, 4096), (128, 128, 256), (64, 512, 512)];
    let only = env::var("KIND").unwrap_or_default();
    let most: usize = env::var("MOST").ok().and_then(|x| x.parse().ok()).unwrap_or(usize::MAX);
    let types = env::var("TYPES").unwrap_or("f32".into());
    for shape in shapes.into_iter().filter(|s| s.0 * s.1 * s.2 <= most) {
        for kind in NATURAL.iter().chain(OF_ITSELF).chain(DECEIVING).filter(|kind| kind.name.contains(&only))
        {
            for by_columns in [[false; 2], [true, false]] {
                let mut line = format!(
                    "{shape:?} {:34} {:10}",
                    kind.name,
                    if by_columns[0] { "transposed" } else { "" }
                );
                let mut add = |name: &str, (ratio, ms, pruned): (f64, f64, bool)| {
                    let mark = if pruned { 'p' } else { ' ' };
                    line += &format!(" {name} {ratio:6.2}{mark} ({ms:6.2})");
                };
                if types.contains("f32") {
                    add("f32", ratio::<MinPlus<f32>, f32>(kind, shape, by_columns));
                }
                if types.contains("f64") {
                    add("f64", ratio::<MinPlus<f64>, f64>(kind, shape, by_columns));
                }
                if types.contains("i16") {
                    add("i16", ratio::<MinPlus<i16>, i16>(kind, shape, by_columns));
                }
                if types.contains("i32") {
                    add("i32", ratio::<MinPlus<i32>, i32>(kind, shape, by_columns));
                }
                if types.contains("i64") {
                    add("i64", ratio::<MinPlus<i64>, i64>(kind, shape, by_columns));
                }
                println!("{line}");
            }
        }
    }
}
