//! Closures and products on the GPUs of this machine, against one GPU: `gpus N ROUNDS BLOCK [DEVICE...] [RxC] [TASK...]`. There is one device unless they are named,
//! and the best grid. Tasks are `closure`, `in-order` and `product`; all of them unless some are named.
//!
//! Each line says what was found; the program fails where bits differ. Seconds are those of the devices, from the first kernel on to the last, without copies from and to the host.

use std::time::Instant;
use tilewright::{
    Backend, DType, DynMatrix, Error, ErrorKind, Layout, Matrix, Options, SemiringId,
    cuda::{DeviceProduct, Engine, Nccl, NcclId},
    paths::{Device as _, OnGpu},
};
use tilewright_distributed::{
    Closure, DistMatrix, Grid, Group, Order, Shape, best_grid, default_block_of_gpus,
    devices::{self, Device, Span, Work},
};

/// Bytes of the panel whose way is timed.
const PANEL: usize = 256 << 20;
/// How often it is sent.
const SENT: usize = 8;
const SEMIRING: SemiringId = SemiringId::MinPlus;

/// What is measured.
#[derive(Clone, Copy)]
struct Case<'c> {
    weights: &'c DynMatrix,
    block: usize,
    rounds: usize,
    gpus: &'c [Engine],
    shape: Shape,
}

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let n = numbers.first().copied().unwrap_or(1024);
    let rounds = numbers.get(1).copied().unwrap_or(3);
    let block =
        numbers.get(2).copied().filter(|block| *block > 0).unwrap_or_else(|| default_block_of_gpus(n));
    let ordinals = numbers.get(3..).filter(|named| !named.is_empty()).unwrap_or(&[0]);
    let gpus = ordinals.iter().map(|&ordinal| Engine::open(ordinal)).collect::<Result<Vec<_>, _>>()?;
    let grid = words.iter().find_map(|word| word.parse::<Shape>().ok());
    let shape = grid.unwrap_or_else(|| best_grid(gpus.len(), (n, n, n)));
    panels(&gpus)?;
    let weights = random(n)?;
    let case = Case { weights: &weights, block, rounds, gpus: &gpus, shape };
    let is_asked = |task: &str| words.iter().any(|word| word == task);
    let is_any = !["closure", "in-order", "product"].into_iter().any(is_asked);
    let orders = [("in-order", Order::InOrder), ("closure", Order::LookAhead)];
    let orders: Vec<_> = orders.into_iter().filter(|(task, _)| is_any || is_asked(task)).collect();
    if !orders.is_empty() {
        closures(case, orders.into_iter().map(|(_, order)| order).collect())?;
    }
    if is_any || is_asked("product") { products(case) } else { Ok(()) }
}

/// A communicator of all GPUs: they join, and each of them sends a panel to all.
fn panels(gpus: &[Engine]) -> Result<(), Error> {
    let bytes: Vec<u8> = (0..PANEL).map(|at| (at % 251) as u8).collect();
    let one = |group: &dyn Group, device: &Device| {
        let gpu = device.engine();
        let nccl = Nccl::find(gpu)?;
        let began = Instant::now();
        let id = if group.rank() == 0 { nccl.new_id()? } else { NcclId([0; 128]) };
        let told = group.exchange(&id.0)?;
        let id = NcclId(std::array::from_fn(|at| told[at]));
        let communicator = nccl.join(gpu, &id, group.size(), group.rank())?;
        let joined = began.elapsed().as_secs_f64();
        let of_rank_0 = if group.rank() == 0 { bytes.clone() } else { vec![0; PANEL] };
        let mut panel = gpu.upload(tilewright::MatRef::new(&of_rank_0, Layout::row_major(1, PANEL))?)?;
        gpu.synchronize()?;
        group.exchange(&[0])?;
        let mut seconds = [0.0; 2];
        for (seconds, count) in seconds.iter_mut().zip([1, SENT]) {
            let start = gpu.mark()?;
            for at in 0..count {
                communicator.broadcast(&mut panel, PANEL, at % group.size())?;
            }
            let end = gpu.mark()?;
            end.wait_while(|| communicator.check())?;
            *seconds = end.seconds_since(&start)? / count as f64;
        }
        if panel.to_matrix()?.as_slice() != bytes {
            return Err(differs("a panel that was sent"));
        }
        Ok((nccl.version(), joined, seconds))
    };
    let all: Result<Vec<_>, Error> = devices::run(gpus, one).into_iter().collect();
    if let Some((version, joined, [first, later])) = all?.into_iter().next() {
        println!(
            "NCCL {version}: {} ranks joined in {joined:.3} s; {PANEL} bytes to all in {first:.6} s, and later in {later:.6} s, {:.1} GB/s",
            gpus.len(),
            PANEL as f64 / later / 1e9,
        );
    }
    Ok(())
}

/// Random whole numbers as [`weight`] has them, by all threads.
fn random(n: usize) -> Result<DynMatrix, Error> {
    let mut all = vec![0.0; n * n];
    let rows = n.div_ceil(std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    std::thread::scope(|scope| {
        for (part, elements) in all.chunks_mut(rows * n.max(1)).enumerate() {
            scope.spawn(move || {
                for (at, element) in elements.iter_mut().enumerate() {
                    *element = weight(part * rows + at / n, at % n);
                }
            });
        }
    });
    Ok(Matrix::from_vec(all, Layout::row_major(n, n))?.into())
}

/// Random whole numbers, whose sums are exact; zeros on the diagonal.
fn weight(i: usize, j: usize) -> f32 {
    let hash = (i as u32).wrapping_mul(0x9e37_79b9) ^ (j as u32).wrapping_mul(0x85eb_ca6b);
    let random = 1 + (hash.wrapping_mul(hash | 1) >> 8) % (1 << 12);
    if i == j { 0.0 } else { random as f32 }
}

/// What is done on all GPUs.
#[derive(Clone, Copy)]
enum Task {
    Close(Order),
    Square,
}

impl Task {
    fn run<'g>(self, mut d: DistMatrix<'g>, device: &Device) -> Result<DistMatrix<'g>, Error> {
        match self {
            Self::Square => devices::multiply(device, SEMIRING, &d, &d, &Options::default()),
            Self::Close(order) => {
                Closure { device: Some(device), order, ..Closure::new(SEMIRING) }.run(&mut d)?;
                Ok(d)
            }
        }
    }
}

/// Seconds of the devices, and of the host; the result has the bits of `expected`.
fn on_all(case: Case<'_>, expected: &DynMatrix, task: Task, is_last: bool) -> Result<(f64, f64), Error> {
    let Case { weights, block, gpus, shape, .. } = case;
    let n = weights.layout().rows;
    let one = |group: &dyn Group, device: &Device| {
        let device = Device::new(device.engine().clone(), group)?.traced();
        let grid = Grid::new(group, shape)?;
        let mut d = DistMatrix::zeros(&grid, DType::F32, n, n, block)?;
        d.fill(|at, mut part| {
            let (rows, cols) = (at.rows.len(), at.cols.len());
            part.copy_from(weights.as_ref().window(at.rows.start, at.cols.start, rows, cols)?)
        })?;
        group.exchange(&[0])?;
        let began = Instant::now();
        let d = task.run(d, &device)?;
        let seconds = began.elapsed().as_secs_f64();
        let mut is_equal = true;
        d.visit(|at, part| {
            let (rows, cols) = (at.rows.len(), at.cols.len());
            let same = expected.as_ref().window(at.rows.start, at.cols.start, rows, cols)?;
            let (part, same) = (part.typed::<f32>(), same.typed::<f32>());
            is_equal &= (0..rows).all(|i| (0..cols).all(|j| bits(part, i, j) == bits(same, i, j)));
            Ok(())
        })?;
        if !is_equal {
            return Err(differs("a result of several GPUs"));
        }
        let spans = device.trace().map_or(Ok(Vec::new()), |trace| trace.of_all(group))?;
        if is_last && group.rank() == 0 {
            show(&spans);
        }
        let end = spans.iter().map(|span| span.end).fold(0.0, f64::max);
        let start = spans.iter().map(|span| span.start).fold(end, f64::min);
        Ok((end - start, seconds))
    };
    let all: Result<Vec<_>, Error> = devices::run(gpus, one).into_iter().collect();
    Ok(all?.into_iter().fold((0.0, 0.0), |a, b| (f64::max(a.0, b.0), f64::max(a.1, b.1))))
}

/// What each rank's streams did in all.
fn show(spans: &[Span]) {
    for rank in 0.. {
        let of_rank: Vec<_> = spans.iter().filter(|span| span.rank == rank).collect();
        if of_rank.is_empty() {
            return;
        }
        let mut line = format!("    rank {rank}:");
        for is_for_panels in [true, false] {
            for work in Work::ALL {
                let same = |span: &&&Span| (span.work, span.is_for_panels) == (work, is_for_panels);
                let all: Vec<_> = of_rank.iter().filter(same).collect();
                let seconds: f64 = all.iter().map(|span| span.end - span.start).sum();
                if !all.is_empty() {
                    let lane = if is_for_panels { "panels" } else { "rest" };
                    line += &format!(" {lane}/{} {} in {seconds:.4} s;", work.name(), all.len());
                }
            }
        }
        println!("{line}");
    }
}

fn bits(m: Option<tilewright::MatRef<'_, f32>>, i: usize, j: usize) -> Option<u32> {
    m.and_then(|m| m.get(i, j)).map(f32::to_bits)
}

fn closures(case: Case<'_>, orders: Vec<Order>) -> Result<(), Error> {
    let Case { weights, rounds, gpus, block, shape } = case;
    let plain = OnGpu::open(Backend::Cuda)?;
    let mut one = Vec::new();
    let mut many: Vec<_> = orders.into_iter().map(|order| (order, Vec::new())).collect();
    for round in 0..=rounds {
        let mut expected = weights.as_ref().to_matrix()?;
        if plain.close(SEMIRING, expected.as_mut(), &Default::default())?.is_some() {
            return Err(differs("a cycle"));
        }
        let times = plain.times();
        one.push((times.seconds - times.prepare_seconds, times.seconds + times.transfer_seconds));
        for (order, times) in &mut many {
            times.push(on_all(case, &expected, Task::Close(*order), round == rounds)?);
        }
    }
    say(weights, "closure on one GPU", &one, &one);
    for (order, times) in many {
        say(
            weights,
            &format!("closure on {} GPUs, {shape}, {order:?}, blocks of {block}", gpus.len()),
            &times,
            &one,
        );
    }
    Ok(())
}

fn products(case: Case<'_>) -> Result<(), Error> {
    let Case { weights, rounds, gpus, block, shape } = case;
    let (engine, layout) = (&gpus[0], weights.layout());
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let began = Instant::now();
        let a = engine.upload_dyn(weights.as_ref())?;
        let mut c = engine.zeros_dyn(DType::F32, layout)?;
        engine.synchronize()?;
        let start = engine.mark()?;
        engine.multiply(&DeviceProduct::new(SEMIRING), &a, &a, &mut c)?;
        let seconds = engine.mark()?.seconds_since(&start)?;
        let mut expected = DynMatrix::zeros(DType::F32, layout.rows, layout.cols)?;
        c.copy_to(expected.as_mut())?;
        one.push((seconds, began.elapsed().as_secs_f64()));
        drop((a, c));
        many.push(on_all(case, &expected, Task::Square, round == rounds)?);
    }
    say(weights, "product on one GPU", &one, &one);
    say(weights, &format!("product on {} GPUs, {shape}, blocks of {block}", gpus.len()), &many, &one);
    Ok(())
}

/// The least times but for those of the first of several rounds, which compiles, and how many times as fast as one GPU that is.
fn say(weights: &DynMatrix, what: &str, times: &[(f64, f64)], one: &[(f64, f64)]) {
    let least = |times: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        times.iter().skip(usize::from(times.len() > 1)).map(of).fold(f64::INFINITY, f64::min)
    };
    let (seconds, all) = (least(times, |t| t.0), least(times, |t| t.1));
    println!(
        "n {} {what}: {seconds:.4} s ({:.3}x), with copies from and to the host {all:.4} s",
        weights.layout().rows,
        least(one, |t| t.0) / seconds,
    );
}

fn differs(what: &str) -> Error {
    let (why, hint) = ("it differs from what is expected".to_owned(), "report it".into());
    ErrorKind::Unsupported { what: what.to_owned(), why, hint }.into()
}
