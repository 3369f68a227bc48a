//! Or-and on bits: A and B are packed to a bit for each element, and a word of A decides over 32 terms of a row of C at a time.
//!
//! Terms go by fours. Of four rows of B there are sixteen unions, which are computed once for all rows of A; four bits of A choose one of them. This is
//! the method of Arlazarov, Dinic, Kronrod and Faradzhev, "On economical construction of the transitive closure of a directed graph" (1970).
//! A row of C that has become true everywhere is not looked at again.

mod pack;
mod panel;
mod region;

use crate::{
    compute::{Call, Compute, OnVectors},
    isa::Isa,
    kernel::element,
    options::{KernelName, Report},
    plan::{Outline, Plan},
    shared::Shared,
};
use pack::WORD;
use region::Job;
use tilewright_core::{Error, OrAnd, Semiring};

/// Or-and on bits where that pays, otherwise on bytes.
pub struct OnBits;

impl Compute<OrAnd> for OnBits {
    fn compute(&self, call: Call<'_, OrAnd>) -> Result<Report, Error> {
        let call = call.along_rows();
        let size = (call.a.rows(), call.b.cols(), call.a.cols());
        if !pays(size) {
            return OnVectors.compute(call);
        }
        let Call { mut c, mut arg, a, b, update, options, isa, .. } = call;
        let kernel = name(isa, size.1, arg.is_some());
        let (c, arg) = (Shared::new(&mut c), arg.as_mut().map(Shared::new));
        let threads = Job { a, b, c, arg, joins: update.reads_c(), options, isa }.run()?;
        Ok(Report { isa, kernel, threads })
    }

    fn plan(&self, outline: Outline<'_, OrAnd>) -> Plan {
        let outline = outline.along_rows();
        let p = &outline.problem;
        let size = (p.m(), p.n(), p.k());
        if !pays(size) {
            return OnVectors.plan(outline);
        }
        let kernel = name(outline.isa, size.1, outline.arg);
        region::plan(size, kernel, outline.options)
    }
}

fn name(isa: Isa, n: usize, arg: bool) -> KernelName {
    let tile = (1, WORD * words(n));
    KernelName { arg, bits: true, ..KernelName::new(OrAnd::NAME, element::<OrAnd>(), isa, tile) }
}

/// Words of columns that are computed together, of a product of `n` columns: as few as cover them, from 64 to 512 columns.
fn words(n: usize) -> usize {
    n.div_ceil(WORD).clamp(2, 16).next_power_of_two()
}

/// Whether a product of `m x k` and `k x n` elements takes less time on bits. In cycles, measured on Zen 3: packing and unpacking take a part of
/// a cycle for each element; for 32 terms there are the unions and, for each row, eight of them to look up. On bytes some sixty
/// terms take a cycle.
fn pays((m, n, k): (usize, usize, usize)) -> bool {
    let words = words(n);
    let blocks = n.div_ceil(WORD * words) as f64 * k.div_ceil(WORD) as f64;
    let [m, n, k, words] = [m, n, k, words].map(|count| count as f64);
    let packing = (m * k + k * n) / 8.0 + m * n / 4.0;
    packing + blocks * (20.0 * words + m * (4.0 + words / 4.0)) + 500.0 < m * n * k / 60.0
}
