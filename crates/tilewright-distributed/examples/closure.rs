//! How long the closure of random weights takes: `closure N RxC [THREADS [look-ahead|in-order [BLOCK]]]`. Ranks are processes under mpiexec, otherwise threads.

use std::{cell::Cell, time::Instant};
use tilewright::{Error, SemiringId};
use tilewright_distributed::{
    Closure, DistMatrix, Grid, Group, Mpi, Order, Shape, default_block, launched, threads,
};

fn main() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, other: &str| words.get(at).map_or(other.to_owned(), Clone::clone);
    let (n, shape) = (word(0, "1024").parse().unwrap_or(1024), word(1, "1x1").parse::<Shape>()?);
    let order = if word(3, "") == "look-ahead" { Order::LookAhead } else { Order::InOrder };
    let threads = word(2, "0").parse().unwrap_or(0);
    let block = word(4, "").parse().unwrap_or_else(|_| default_block(n));
    let run = |group: &dyn Group| run(group, (n, block), shape, threads, order);
    if launched().is_none() {
        return threads::run(shape.ranks(), run).into_iter().collect();
    }
    let mpi = Mpi::open()?;
    run(mpi.group())?;
    mpi.finish()
}

fn run(
    group: &dyn Group,
    (n, block): (usize, usize),
    shape: Shape,
    threads: usize,
    order: Order,
) -> Result<(), Error> {
    let grid = Grid::new(group, shape)?;
    // Weights from 1 to 2, by a hash of the place.
    let weight = |i: usize, j: usize| {
        let hash = (i as u32).wrapping_mul(0x9e37_79b9) ^ (j as u32).wrapping_mul(0x85eb_ca6b);
        1.0 + (hash.wrapping_mul(hash | 1) >> 8) as f32 / (1 << 24) as f32
    };
    let mut d = DistMatrix::from_fn(&grid, n, n, block, weight)?;
    group.exchange(&[0])?;
    let (start, looked) = (Instant::now(), Cell::new(0.0));
    let first = |step, _| {
        if step == 0 {
            looked.set(start.elapsed().as_secs_f64());
        }
        Ok(())
    };
    let mut closure = Closure { order, before_step: Some(&first), ..Closure::new(SemiringId::MinPlus) };
    closure.options.threads = threads;
    closure.run(&mut d)?;
    let seconds = start.elapsed().as_secs_f64();
    let received = grid.received_by_all()?;
    if group.rank() == 0 {
        println!(
            "{n} {shape} {threads} threads {order:?}: {seconds:.3} s, {:.3} s of it before the first step, {received} bytes received",
            looked.get()
        );
    }
    Ok(())
}
