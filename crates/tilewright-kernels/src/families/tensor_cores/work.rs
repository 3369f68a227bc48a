//! What is to be computed, and the ways to compute it.

use super::{Element, Product, TensorCores, operand::Operand, result};
use crate::{argument::Argument, estimate, request::Request};
use tilewright_arch::Gpu;

/// Part of the peak bandwidth of memory that copies and products reach.
const BANDWIDTH: f64 = 0.86;
/// How much longer a byte of C takes than one that is read.
const WRITTEN: f64 = 1.11;
/// Terms that a part has at least, in bytes.
const LEAST_PART: u32 = 512;
/// How much faster parts are moved, which partly stay in the second-level cache.
const CACHED: f64 = 0.5;

/// One way to compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate<Tile> {
    pub tile: Tile,
    /// Parts of the terms that are summed apart.
    pub parts: u32,
}

/// What is to be computed, by a kernel for which C has its neighbours along rows.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub products: usize,
    pub element: Element,
    pub gpu: Gpu,
    /// Whether rows of A, and of B, are whole lines of the cache.
    pub aligned: [bool; 2],
    /// Bytes of an element of C, and C as TMA writes it, if it can.
    pub result: u32,
    pub boxes: Option<Argument>,
    /// Bytes of A, B and C, of all products, those of C by what they take longer.
    memory: f64,
    /// Bytes that are copied before.
    copied: f64,
}

impl Work {
    pub fn new(request: &Request, product: &Product, k: u32, copied: f64) -> Self {
        let moved = |operand: &Operand| {
            let products = if operand.batch == 0 { 1 } else { request.batch.count };
            operand.layout.rows as f64 * operand.layout.cols as f64 * products as f64 * operand.bytes as f64
        };
        let [a, b] = product.operands.each_ref().map(moved);
        Self {
            m: product.c.layout.rows as u32,
            n: product.c.layout.cols as u32,
            k,
            products: request.batch.count,
            element: product.element,
            gpu: request.gpu,
            aligned: product.lines.map(|lines| lines.are_aligned()),
            result: product.c.bytes as u32,
            boxes: result(&product.c, super::output(request.variant().output()), request.batch.count),
            memory: a + b + WRITTEN * moved(&product.c),
            copied,
        }
    }

    /// Bytes of all parts of sums; 0 where sums are whole.
    pub fn part_bytes(&self, parts: u32) -> u64 {
        let pitch = u64::from(self.n).next_multiple_of(4);
        let elements = u64::from(self.m) * pitch * self.products as u64;
        if parts == 1 { 0 } else { elements.saturating_mul(4 * u64::from(parts)) }
    }

    /// Seconds in which memory moves A, B and C.
    pub fn moving(&self) -> f64 {
        estimate::moving(&self.gpu, self.memory / BANDWIDTH)
    }

    /// Seconds of all launches of a candidate.
    fn seconds<F: TensorCores>(&self, candidate: &Candidate<F::Tile>) -> f64 {
        let moved = |bytes: f64| match bytes {
            0.0 => 0.0,
            _ => estimate::LAUNCH_SECONDS + estimate::moving(&self.gpu, 2.0 * bytes / BANDWIDTH),
        };
        moved(self.copied)
            + F::seconds(self, candidate)
            + moved(self.part_bytes(candidate.parts) as f64 * CACHED)
    }

    /// Every tile that fits, whole and in as many parts as fill the GPU, or in as many as are asked for; the fastest first.
    pub fn ranked<F: TensorCores>(&self, asked: Option<u32>) -> Vec<(f64, Candidate<F::Tile>)> {
        let mut all = Vec::new();
        for tile in F::TILES.iter().copied().filter(|tile| F::fits(self, tile)) {
            let filling = F::at_a_time(self, &tile) / F::tiles(self, &tile).max(1);
            let mut parts = asked.map_or(vec![1, filling as u32], |parts| vec![parts]);
            parts.iter_mut().for_each(|parts| *parts = self.without_empty_parts(*parts));
            parts.dedup();
            all.extend(parts.into_iter().map(|parts| Candidate { parts, tile }));
        }
        let mut all: Vec<_> = all.into_iter().map(|one| (self.seconds::<F>(&one), one)).collect();
        all.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        all
    }

    /// At most so many parts, each of some steps, as there are where all but the last have equally many.
    fn without_empty_parts(&self, parts: u32) -> u32 {
        let steps = self.k.div_ceil(self.element.terms());
        let parts = parts.clamp(1, (self.k / (LEAST_PART / self.element.bytes)).max(1));
        steps.div_ceil(steps.div_ceil(parts))
    }
}
