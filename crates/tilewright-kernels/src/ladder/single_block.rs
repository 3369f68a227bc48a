//! All of A and B in the shared memory of one block.

use super::FLOAT;
use crate::{
    kernel::{
        Family, Kernel, Make,
        launch::{Launch, Recipe},
        rung::{Checks, arguments},
    },
    refusal::Refusal,
    request::Request,
};

pub(crate) const SINGLE_BLOCK: Kernel = Kernel {
    name: "single-block",
    family: Family::Ladder,
    summary: "one block, all of A and B in shared memory, for tiny products",
    teaches: "shared memory as a copy that the host sizes, and why one block is not enough",
    file: "single_block.cu",
    source: include_str!("../../kernels/single_block.cu"),
    variants: FLOAT,
    make: Make::Product(recipe),
};

/// Threads of a block, and shared memory that needs no opting in, on every GPU.
const MOST_THREADS: usize = 1024;
const MOST_BYTES: usize = 48 << 10;

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.row_major()?;
    let (m, n, k) = (size.m as usize, size.n as usize, size.k as usize);
    if m.saturating_mul(n) > MOST_THREADS {
        let found = format!("C is {m}x{n}");
        let needs = format!("at most {MOST_THREADS} elements of C");
        return checks.refuse(needs, found, "use shared-tile-ragged or simt");
    }
    let bytes = (m + n).saturating_mul(k).saturating_mul(request.dtype.size());
    if bytes > MOST_BYTES {
        let found = format!("A and B have {bytes}");
        let needs = format!("operands of at most {MOST_BYTES} bytes together");
        return checks.refuse(needs, found, "use shared-tile-ragged or simt");
    }
    let launch = Launch::new(
        kernel.program(request.variant(), &[]),
        kernel.entry(),
        [1; 3],
        [size.n, size.m, 1],
        arguments(request, size),
    )
    .with_dynamic_shared_memory(bytes as u32);
    Ok(Recipe {
        details: vec![("tile", format!("{m}x{n}, all {k} terms at once"))],
        ..Recipe::product(kernel, request, vec![launch])
    })
}
