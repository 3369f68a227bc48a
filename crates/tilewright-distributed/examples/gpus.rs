//! NCCL and the closure on the GPUs of this machine, against one GPU: `gpus N [DEVICE...]`, of which there is one unless they are named.
//!
//! Each line says what was found; the program fails where bits differ.

use std::time::Instant;
use tilewright::{
    Backend, DType, DynMatrix, Error, ErrorKind, Layout, SemiringId,
    cuda::{Engine, Nccl},
    paths::{Device as _, OnGpu},
};
use tilewright_distributed::{Closure, DistMatrix, Grid, best_grid, default_block, devices};

/// Bytes of the panel that a GPU sends to itself.
const PANEL: usize = 256 << 20;
/// How often times are taken.
const ROUNDS: usize = 5;

fn main() -> Result<(), Error> {
    let words: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let n = words.first().copied().unwrap_or(1024);
    let ordinals = words.get(1..).filter(|named| !named.is_empty()).unwrap_or(&[0]);
    let gpus = ordinals.iter().map(|&ordinal| Engine::open(ordinal)).collect::<Result<Vec<_>, _>>()?;
    alone(&gpus[0])?;
    let plain = OnGpu::open(Backend::Cuda)?;
    for dtype in [DType::I32, DType::F32] {
        compare(n, dtype, &gpus, &plain)?;
    }
    Ok(())
}

/// A communicator of one rank: it joins, sends to itself and is left.
fn alone(gpu: &Engine) -> Result<(), Error> {
    let nccl = Nccl::find(gpu)?;
    let began = Instant::now();
    let communicator = nccl.join(gpu, &nccl.new_id()?, 1, 0)?;
    let joined = began.elapsed().as_secs_f64();
    let bytes: Vec<u8> = (0..PANEL).map(|at| (at % 251) as u8).collect();
    let layout = Layout::row_major(1, PANEL);
    let source = tilewright::MatRef::new(&bytes, layout)?;
    let mut panel = gpu.upload(source)?;
    gpu.synchronize()?;
    let began = Instant::now();
    communicator.broadcast(&mut panel, PANEL, 0)?;
    gpu.synchronize_while(|| communicator.check())?;
    let seconds = began.elapsed().as_secs_f64();
    communicator.check()?;
    if panel.to_matrix()?.as_slice() != bytes {
        return Err(differs("a panel that was sent"));
    }
    println!("NCCL {}: joined alone in {joined:.3} s, {PANEL} bytes sent in {seconds:.6} s", nccl.version());
    Ok(())
}

fn weights(n: usize, dtype: DType) -> impl Fn(usize, usize) -> i32 {
    let most = if dtype == DType::I32 { 1 << 10 } else { 1 << 12 };
    move |i, j| {
        let hash = (i as u32).wrapping_mul(0x9e37_79b9) ^ (j as u32).wrapping_mul(0x85eb_ca6b);
        1 + (hash.wrapping_mul(hash | 1) >> 8) as i32 % most + (n % 2) as i32
    }
}

/// Both closures in turns. Sums are whole, so that the bits are equal.
fn compare(n: usize, dtype: DType, gpus: &[Engine], plain: &OnGpu) -> Result<(), Error> {
    let (weight, shape) = (weights(n, dtype), best_grid(gpus.len(), (n, n, n)));
    let of = |i: usize, j: usize| if i == j { 0 } else { weight(i, j) };
    let whole: DynMatrix = match dtype {
        DType::I32 => tilewright::Matrix::from_fn(n, n, of)?.into(),
        _ => tilewright::Matrix::from_fn(n, n, |i, j| of(i, j) as f32)?.into(),
    };
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut expected = whole.as_ref().to_matrix()?;
        if plain.close(SemiringId::MinPlus, expected.as_mut(), &Default::default())?.is_some() {
            return Err(differs("a cycle"));
        }
        one.push(plain.times().seconds + plain.times().transfer_seconds);
        let all = devices::run(gpus, |group, device| {
            let grid = Grid::new(group, shape)?;
            let mut d = DistMatrix::zeros(&grid, dtype, n, n, default_block(n))?;
            d.fill(|at, mut part| {
                let (rows, cols) = (at.rows.len(), at.cols.len());
                part.copy_from(whole.as_ref().window(at.rows.start, at.cols.start, rows, cols)?)
            })?;
            group.exchange(&[0])?;
            let began = Instant::now();
            Closure { device: Some(device), ..Closure::new(SemiringId::MinPlus) }.run(&mut d)?;
            let seconds = began.elapsed().as_secs_f64();
            let mut is_equal = true;
            d.visit(|at, part| {
                let (rows, cols) = (at.rows.len(), at.cols.len());
                let same = expected.as_ref().window(at.rows.start, at.cols.start, rows, cols)?;
                is_equal &= (0..rows).all(|i| (0..cols).all(|j| part.bytes(i, j) == same.bytes(i, j)));
                Ok(())
            })?;
            Ok((seconds, is_equal, device.transport()))
        });
        for found in all {
            let (seconds, is_equal, transport) = found?;
            if !is_equal {
                return Err(differs("a closure on several GPUs"));
            }
            if round == 0 {
                println!("{n} {dtype}: bits equal, by {}", transport.name());
            }
            many.push(seconds);
        }
    }
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{n} {dtype} on {} GPUs as {shape}: {:.4} s; plain on one: {:.4} s (least of {ROUNDS}, copies and looks at the weights included)",
        gpus.len(),
        least(&many),
        least(&one)
    );
    Ok(())
}

fn differs(what: &str) -> Error {
    let (why, hint) = ("it differs from what is expected".to_owned(), "report it".into());
    ErrorKind::Unsupported { what: what.to_owned(), why, hint }.into()
}
