//! Kernels that read copies of A and B: transposed, and filled up to multiples of the tile.

use super::FLOAT;
use crate::{
    argument::{Argument, Buffer},
    encoding::Encoding,
    kernel::{
        Family, Kernel, Make,
        launch::{Launch, Recipe},
        rung::{Checks, Size, arguments},
    },
    pack,
    refusal::Refusal,
    request::Request,
};

pub(crate) const REGISTER_TILE: Kernel = Kernel {
    name: "register-tile",
    family: Family::Ladder,
    summary: "8 x 8 outputs per thread straight from global memory; inputs padded and transposed first",
    teaches: "registers as the first level of reuse, and preparing data so that the inner loop needs no guard",
    file: "register_tile.cu",
    source: include_str!("../../kernels/register_tile.cu"),
    variants: FLOAT,
    make: Make::Product(recipe),
};

pub(crate) const SHARED_REGISTER_TILE: Kernel = Kernel {
    name: "shared-register-tile",
    family: Family::Ladder,
    summary: "64 x 64 outputs per block, 8 x 8 per thread, 4 steps of k in shared memory per barrier pair",
    teaches: "both levels of reuse together: the block shares loads, the thread reuses operands",
    file: "shared_register_tile.cu",
    source: include_str!("../../kernels/shared_register_tile.cu"),
    variants: FLOAT,
    make: Make::Product(recipe),
};

/// Rows and columns of C per block, and terms per step; the copies are padded to them.
const TILE: u32 = 64;
const TILE_K: u32 = 32;

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    let size = checks.single()?;
    checks.unit_rows("C", request.problem.c())?;
    let up = |x: u32, tile: u32| x.next_multiple_of(tile);
    let padded = Size { m: up(size.m, TILE), n: up(size.n, TILE), k: up(size.k, TILE_K) };
    if !pack::fits(u64::from(padded.m) + u64::from(padded.n), padded.k, 1) {
        let found = format!("they are {}x{} and {}x{}", size.m, size.k, size.k, size.n);
        return checks.refuse("operands small enough to copy".into(), found, "use simt");
    }
    let workspaces =
        [padded.m, padded.n].map(|side| pack::bytes(request.variant(), Encoding::Numbers, side, padded.k));
    checks.workspaces(&workspaces)?;
    let grid = [padded.n / TILE, padded.m / TILE, 1];

    let mut arguments = arguments(request, size);
    for argument in &mut arguments {
        argument.value = match argument.name {
            "A" => Argument::Pointer(Buffer::Workspace(0)),
            "B" => Argument::Pointer(Buffer::Workspace(1)),
            "K" => Argument::i32(padded.k as i32),
            "lda" => Argument::i64(padded.m.into()),
            "ldb" => Argument::i64(padded.n.into()),
            _ => continue,
        };
    }
    let program = kernel.program(request.variant(), &[]);
    let packed = |buffer, layout, workspace, side| {
        let copy = Some(pack::Copy { workspace, side, batch: 0 });
        pack::Operand { buffer, layout, batch: 0, copy }
    };
    let operands = [
        packed(Buffer::A, request.problem.a(), 0, padded.m),
        packed(Buffer::B, request.problem.b().t(), 1, padded.n),
    ];
    let launches = [
        pack::pack(
            request,
            operands,
            pack::Style { encoding: Encoding::Numbers, found: None, predicate: None },
        ),
        Launch::new(program, kernel.entry(), grid, [8, 8, 1], arguments),
    ];
    for launch in &launches {
        checks.grid(launch.grid())?;
    }
    // Without a term there is nothing to copy.
    let launches = launches.into_iter().filter(|l| !l.grid().contains(&0)).collect();
    Ok(Recipe {
        workspaces: workspaces.to_vec(),
        details: vec![
            ("tile", format!("{TILE}x{TILE}")),
            ("outputs per thread", "64".into()),
            ("padded", format!("{}x{}x{}", padded.m, padded.n, padded.k)),
        ],
        ..Recipe::product(kernel, request, launches)
    })
}
