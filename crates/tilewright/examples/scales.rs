//! Products of 8-bit floats with and without scales on the GPU: `cargo run --release -p tilewright --example scales -- [N]...`.
//!
//! Every way is compared with the definition, at odd sizes and with splits of k. All take turns at each size; medians of
//! TFLOP/s. At last every tile of `wgmma`, by itself. Most of the first minutes NVRTC compiles.

use std::{error::Error, time::Duration};
use tilewright::{
    Backend, DType, DynMatrix, DynProduct, E4m3, E5m2, Granularity, Layout, Math, Matrix, Options, Scales,
    SemiringId,
    cuda::{Competitor, DeviceProduct, DeviceRef, Engine, Pace, Repetitions, With},
    kernels::{Request, find, wgmma_tiles},
};

type Pair = [Option<Granularity>; 2];

const PAIRS: [(&str, Pair); 6] = [
    ("none", [None, None]),
    ("1x1", [Some(Granularity::Operand), Some(Granularity::Operand)]),
    ("rows", [Some(Granularity::Row), Some(Granularity::Row)]),
    ("1x128 and 128x128", [Some(Granularity::RowBlock), Some(Granularity::Block)]),
    ("128x128", [Some(Granularity::Block), Some(Granularity::Block)]),
    ("1x128", [Some(Granularity::RowBlock), Some(Granularity::RowBlock)]),
];

const PACE: Pace = Pace {
    warm_up: Duration::from_millis(200),
    sample: Duration::from_millis(20),
    samples: 7,
    repetitions: Repetitions::Overlap,
};

struct Random(u64);

impl Random {
    /// Between -1 and 1.
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Scales of both operands; those of B by their columns.
fn scales(
    [a, b]: Pair,
    [m, n, k]: [usize; 3],
    random: &mut Random,
) -> Result<Scales<Matrix<f32>>, tilewright::Error> {
    let mut of = |one: Granularity, side, is_b: bool| {
        let [rows, cols] = one.shape(side, k);
        let (rows, cols) = if is_b { (cols, rows) } else { (rows, cols) };
        Matrix::from_fn(rows, cols, |_, _| 1.5 + random.next())
    };
    Ok(Scales {
        a: a.map(|one| of(one, m, false)).transpose()?,
        b: b.map(|one| of(one, n, true)).transpose()?,
    })
}

fn check(
    size: [usize; 3],
    pair: Pair,
    [dtype, output]: [DType; 2],
    math: Math,
) -> Result<bool, Box<dyn Error>> {
    let [m, n, k] = size;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut operand = |rows, cols| -> Result<DynMatrix, tilewright::Error> {
        Ok(match dtype {
            DType::E4m3 => Matrix::from_fn(rows, cols, |_, _| E4m3::from_f32(random.next()))?.into(),
            _ => Matrix::from_fn(rows, cols, |_, _| E5m2::from_f32(random.next()))?.into(),
        })
    };
    let (a, b) = (operand(m, k)?, operand(k, n)?);
    let scales = scales(pair, size, &mut random)?;
    let options = Options { backend: Backend::Cuda, math, ..Options::default() };
    let product = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref())?.giving(output)?;
    let product = product.scales(scales.as_ref().map(|one| one.as_ref().into()))?.options(options);
    let outcome = product.compute()?;
    let verdict = product.verify(outcome.c.as_ref(), None)?;
    let is_right = verdict.passed && outcome.report.backend == Backend::Cuda;
    if !is_right {
        println!(
            "WRONG: {size:?} {pair:?} {dtype} {output} {math}: {verdict:?} by {}",
            outcome.report.kernel
        );
    }
    Ok(is_right)
}

fn race(engine: &Engine, n: usize, math: Math) -> Result<(), Box<dyn Error>> {
    let mut random = Random(7);
    let operand = Matrix::from_fn(n, n, |_, _| E4m3::from_f32(random.next()))?;
    let (a, b) = (engine.upload(operand.as_ref())?, engine.upload(operand.as_ref().t())?);
    let product = DeviceProduct::new(SemiringId::PlusTimes).math(math);
    let mut ready = Vec::new();
    for (name, pair) in PAIRS {
        let scales = scales(pair, [n; 3], &mut random)?.try_map(|one| engine.upload(one.as_ref()))?;
        let mut c = engine.zeros_dyn(DType::Bf16, Layout::row_major(n, n))?;
        let with = With { bias: None, scales: scales.as_ref().map(DeviceRef::from) };
        let prepared = engine.multiply_with(&product, &a, &b, &mut c, with)?;
        ready.push((name, scales, c, prepared));
    }
    let details: Vec<_> = ready
        .iter()
        .map(|(_, _, _, prepared)| {
            let recipe = prepared.recipe();
            let tile = recipe
                .details()
                .iter()
                .find(|(what, _)| *what == "tile")
                .map_or("", |(_, tile)| tile.as_str());
            (format!("{} {tile}", recipe.kernel().name), recipe.seconds())
        })
        .collect();
    let mut competitors: Vec<_> = ready
        .iter_mut()
        .map(|(name, scales, c, prepared)| {
            let (a, b, scales, prepared) = (&a, &b, &*scales, &*prepared);
            let run = move |_| {
                let with = With { bias: None, scales: scales.as_ref().map(DeviceRef::from) };
                prepared.run_with(a.into(), b.into(), (&mut *c).into(), with)
            };
            Competitor { name: (*name).into(), run: Box::new(run) }
        })
        .collect();
    let timings = engine.race(&mut competitors, PACE)?;
    for (timing, (kernel, estimate)) in timings.iter().zip(details) {
        let rate = 2.0 * (n as f64).powi(3) / 1e12;
        println!(
            "{n:>6} {math:>5} {:<18} {:>8.1} TFLOP/s (spread {:.1} %; the model said {:.1}) {kernel}",
            timing.name,
            rate / timing.median(),
            100.0 * timing.spread(),
            rate / estimate,
        );
    }
    Ok(())
}

/// Every tile of `wgmma` without scales and with those of blocks, by itself.
fn tiles(engine: &Engine, n: usize, math: Math) -> Result<(), Box<dyn Error>> {
    let mut random = Random(7);
    let operand = Matrix::from_fn(n, n, |_, _| E4m3::from_f32(random.next()))?;
    let (a, b) = (engine.upload(operand.as_ref())?, engine.upload(operand.as_ref().t())?);
    let mut c = engine.zeros_dyn(DType::Bf16, Layout::row_major(n, n))?;
    for (name, pair) in [PAIRS[0], PAIRS[3]] {
        let scales = scales(pair, [n; 3], &mut random)?.try_map(|one| engine.upload(one.as_ref()))?;
        let request = engine.request(SemiringId::PlusTimes, &a, &b, &c)?;
        let request = Request { math, scales: scales.as_ref().map(|one| one.layout()), ..request };
        for tile in wgmma_tiles() {
            let request = Request { tile: Some(tile), splits: Some(1), ..request };
            let Ok(recipe) = find("wgmma")?.recipe(&request) else { continue };
            let (estimate, prepared) = (recipe.seconds(), engine.prepare(recipe)?);
            let run = |_| {
                let with = With { bias: None, scales: scales.as_ref().map(DeviceRef::from) };
                prepared.run_with((&a).into(), (&b).into(), (&mut c).into(), with)
            };
            let timing = engine.race(&mut [Competitor { name: name.into(), run: Box::new(run) }], PACE)?;
            let us = 1e6 * timing[0].median();
            println!(
                "{n:>6} {math:>5} {name:<18} {tile:?} {us:>8.1} us; the model said {:.1}",
                1e6 * estimate
            );
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![4096, 8192];
    }
    let engine = Engine::shared()?;
    println!("{}", engine.device().name);
    for (dtype, output, math) in [
        (DType::E4m3, DType::Bf16, Math::Full),
        (DType::E4m3, DType::Bf16, Math::Fast),
        (DType::E5m2, DType::F32, Math::Full),
    ] {
        for size in [[1000, 520, 1027], [64, 64, 20_000]] {
            let mut right = 0;
            for (_, pair) in PAIRS {
                right += usize::from(check(size, pair, [dtype, output], math)?);
            }
            println!("{dtype} {output} {math} {size:?}: {right} of {} are right", PAIRS.len());
            if right < PAIRS.len() {
                return Err("wrong results".into());
            }
        }
        if dtype == DType::E4m3 {
            sizes.iter().try_for_each(|&n| race(&engine, n, math))?;
        }
    }
    [2048, 4096].into_iter().try_for_each(|n| {
        tiles(&engine, n, Math::Full)?;
        tiles(&engine, n, Math::Fast)
    })
}
