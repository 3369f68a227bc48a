//! What is to be computed, and what is moved for it.

use super::{
    element::{self, Element},
    operand::{self, Operand},
    product::Product,
};
use crate::{
    argument::Argument,
    demand::Moved,
    estimate,
    request::Request,
    scaling::{Place, Scaling},
};
use tilewright_arch::Gpu;

/// Part of the peak bandwidth of memory that copies and products reach.
const BANDWIDTH: f64 = 0.86;
/// How much longer a byte of C takes than one that is read.
const WRITTEN: f64 = 1.11;
/// How much faster parts are moved, which partly stay in the second-level cache.
const CACHED: f64 = 0.5;

/// What is to be computed, by a kernel for which C has its neighbours along rows.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub products: usize,
    pub element: Element,
    pub scaling: Scaling,
    pub gpu: Gpu,
    /// Whether rows of A, and of B, are whole lines of the cache.
    pub aligned: [bool; 2],
    /// Bytes of an element of C, and C as TMA writes it, if it can.
    pub result: u32,
    pub boxes: Option<Argument>,
    /// Bytes of A and B, and of C, of all products.
    loaded: f64,
    stored: f64,
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
            scaling: product.scaling,
            gpu: request.gpu,
            aligned: product.lines.map(|lines| lines.are_aligned()),
            result: product.c.bytes as u32,
            boxes: operand::result(
                &product.c,
                element::output(request.variant().output()),
                request.batch.count,
            ),
            loaded: a + b,
            stored: moved(&product.c),
            copied,
        }
    }

    /// Instructions on f32 that a sum takes in a step, at least: it is added to those before, with a scale for each column of a scaled one as well.
    pub fn adds_up(&self) -> u32 {
        match (self.element.promotes, self.scaling.place()) {
            (false, _) => 0,
            (true, Place::ByColumns) => 2,
            (true, _) => 1,
        }
    }

    /// Cycles in which a warp adds one sum of a stage to its own; 0 where sums stay in the tensor cores. With a scale for each column it takes a multiplication more, and for every second
    /// sum a shuffle, of which a multiprocessor issues one in a cycle, not four.
    pub fn promoting(&self) -> f64 {
        match (self.element.promotes, self.scaling.place()) {
            (false, _) => 0.0,
            (true, Place::ByColumns) => 4.0,
            (true, _) => 1.0,
        }
    }

    /// Seconds in which memory moves A, B and C.
    pub fn moving(&self) -> f64 {
        estimate::moving(&self.gpu, (self.loaded + WRITTEN * self.stored) / BANDWIDTH)
    }

    /// Bytes that are moved at least: parts of sums are not counted.
    pub fn moved(&self) -> Moved {
        Moved { loaded: self.loaded, stored: self.stored, copied: self.copied }
    }

    /// Bytes of operands that come from the second-level cache, where a row of A comes once for each of so many columns of tiles, and a column of B once for each of
    /// so many rows.
    pub fn taken(&self, columns: u32, rows: u32) -> f64 {
        let lines = f64::from(columns) * f64::from(self.m) + f64::from(rows) * f64::from(self.n);
        lines * f64::from(self.k) * f64::from(self.element.bytes) * self.products as f64
    }

    /// Seconds of the launches before and after the one that multiplies: copies, and the joining of so many bytes of parts.
    pub fn around(&self, part_bytes: u64) -> f64 {
        let moved = |bytes: f64| match bytes {
            0.0 => 0.0,
            _ => estimate::LAUNCH_SECONDS + estimate::moving(&self.gpu, 2.0 * bytes / BANDWIDTH),
        };
        moved(self.copied) + moved(part_bytes as f64 * CACHED)
    }
}
