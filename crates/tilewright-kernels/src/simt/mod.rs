//! The production kernel for any semiring whose elements have 4 or 8 bytes.

mod choice;
mod cost;
mod menu;
mod operand;
#[cfg(test)]
mod tests;

use crate::{
    kernel::{Family, Kernel, Make, Variant},
    ladder::Checks,
    launch::{Argument, ArgumentValue, Buffer, Launch, Recipe},
    pad,
    program::{Program, Source},
    refusal::Refusal,
    request::{Request, Scalar},
};
use choice::{choose, shared_memory};
use cost::{Candidate, Work};
use menu::Tile;
use operand::Operand;
use tilewright_core::{DType, Layout, SemiringId};

pub(crate) const SIMT: Kernel = Kernel {
    name: "simt",
    family: Family::Production,
    summary: "any sizes, strides and transposes; asynchronous copies, deterministic split of k, batches",
    teaches: "everything together: tiles chosen by a cost model, copies ahead of the arithmetic, guards at edges only",
    file: "simt.cu",
    source: include_str!("../../kernels/simt.cu"),
    variants: &[
        Variant::new(SemiringId::PlusTimes, DType::F32),
        Variant::new(SemiringId::PlusTimes, DType::F64),
        Variant::new(SemiringId::PlusTimes, DType::I32),
    ],
    make: Make::Product(recipe),
};

/// The tiles that `simt` chooses from, each as rows and columns of C per block, terms per step, and rows and columns of C
/// per thread.
///
/// ```
/// use tilewright_core::DType;
/// assert!(tilewright_kernels::simt_tiles(DType::F32).contains(&[128, 128, 8, 16, 8]));
/// ```
pub fn simt_tiles(dtype: DType) -> Vec<[u32; 5]> {
    menu::tiles(dtype).iter().map(Tile::id).collect()
}

const REDUCE: Source =
    Source { file: "split_k_reduce.cu", text: include_str!("../../kernels/split_k_reduce.cu") };
/// Elements of C per block of the reduction.
const REDUCE_BLOCK: u64 = 256;

/// Tiles that run at the same time form patches of this many tiles in height: see the kernel.
const GROUP: u32 = 8;
/// Blocks along y and z that every GPU takes.
const MOST_BATCHES: usize = 65_535;

/// Both kernels wait for the one before them where the hardware lets them start early.
fn starts_early(request: &Request) -> bool {
    request.target.compute_capability >= (9, 0)
}

fn recipe(kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
    let checks = Checks { kernel, request };
    checks.sizes()?;
    let plan = Plan::new(request);
    let (chosen, rejected) = choose(request, &plan.work, [plan.a, plan.b]).map_err(|rejected| {
        let why: Vec<_> = rejected.iter().map(|r| format!("{}: {}", r.candidate, r.reason)).collect();
        Refusal {
            kernel: kernel.name,
            needs: "one of its tiles".into(),
            found: why.join("; "),
            hint: "leave the choice of the tile to the kernel".into(),
        }
    })?;
    let mut recipe = Recipe { rejected, ..Recipe::product(kernel, request, Vec::new()) };
    if !request.problem.c().is_empty() && request.batch.count > 0 {
        plan.fill(&mut recipe, request, &chosen);
        for launch in &recipe.launches {
            checks.grid(launch.grid)?;
        }
    }
    Ok(recipe)
}

/// A product as the kernel sees it: C has neighbouring columns if it has neighbours at all.
struct Plan {
    a: Operand,
    b: Operand,
    c: Layout,
    c_alignment: u64,
    /// Which buffer is A and which is B: exchanged when C is computed as its transpose.
    buffers: [Buffer; 2],
    work: Work,
}

impl Plan {
    fn new(request: &Request) -> Self {
        let (problem, batch, align) = (&request.problem, request.batch, request.alignment);
        let a = Operand { layout: problem.a(), alignment: align.a, batch: batch.a };
        let b = Operand { layout: problem.b().t(), alignment: align.b, batch: batch.b };
        let c = problem.c();
        // C^T = B^T A^T: ⊗ commutes in every semiring of the catalogue.
        let transposed = c.col_stride != 1 && c.row_stride == 1;
        let (a, b, c, buffers) = if transposed {
            (b, a, c.t(), [Buffer::B, Buffer::A])
        } else {
            (a, b, c, [Buffer::A, Buffer::B])
        };
        let work = Work {
            m: c.rows as u32,
            n: c.cols as u32,
            k: problem.k() as u32,
            batch: batch.count,
            dtype: request.dtype,
            multiprocessors: request.target.multiprocessors,
            writes_vectors: c.col_stride == 1
                && c.row_stride % Tile::vector(request.dtype) as isize == 0
                && align.c.is_multiple_of(16),
        };
        Self { a, b, c, c_alignment: align.c, buffers, work }
    }

    /// Adds the launches of a candidate: packing, the product, and joining its parts.
    fn fill(&self, recipe: &mut Recipe, request: &Request, chosen: &Candidate) {
        let work = &self.work;
        let packed_k = work.k.next_multiple_of(pad::TILE);
        let mut buffers = self.buffers;
        let mut operands = [self.a, self.b];
        for i in 0..2 {
            if chosen.packed[i] {
                let side = (operands[i].layout.rows as u32).next_multiple_of(chosen.tile.block[i]);
                let workspace = recipe.workspaces.len();
                recipe
                    .workspaces
                    .push(u64::from(side) * u64::from(packed_k.max(1)) * request.dtype.size() as u64);
                if packed_k > 0 {
                    recipe.launches.push(pad::pad(
                        request,
                        buffers[i],
                        operands[i].layout.t(),
                        workspace,
                        [packed_k, side],
                    ));
                }
                buffers[i] = Buffer::Workspace(workspace);
                operands[i].layout =
                    Layout { row_stride: 1, col_stride: side as isize, ..operands[i].layout };
            }
        }
        let product = Product {
            operands,
            buffers,
            // Terms that packing added are zeros on both sides.
            k: if chosen.packed == [true, true] { packed_k } else { work.k },
            k_split: chosen.k_split(work.k),
            edges: self.has_edges(chosen),
        };
        for first in (0..work.batch).step_by(MOST_BATCHES) {
            let batches = (work.batch - first).min(MOST_BATCHES) as u32;
            self.launch(recipe, request, chosen, &product, first, batches);
        }
        recipe.details = self.details(chosen, &product);
    }

    /// Whether any tile of A or B sticks out of its operand.
    fn has_edges(&self, chosen: &Candidate) -> bool {
        let Work { m, n, k, .. } = self.work;
        let [tile_m, tile_n] = chosen.tile.block;
        let whole_k = k % chosen.tile.k == 0 || chosen.packed == [true, true];
        !(whole_k && (chosen.packed[0] || m % tile_m == 0) && (chosen.packed[1] || n % tile_n == 0))
    }

    /// One launch of the product, and one that joins the parts if there are several.
    fn launch(
        &self,
        recipe: &mut Recipe,
        request: &Request,
        chosen: &Candidate,
        product: &Product,
        first: usize,
        batches: u32,
    ) {
        let Work { m, n, .. } = self.work;
        let size = i64::from(m) * i64::from(n);
        let last = Destination {
            buffer: Buffer::C,
            strides: [self.c.row_stride as i64, self.c.col_stride as i64],
            batch: request.batch.c as i64,
            split: 0,
            scale: [request.alpha, request.beta],
            alignment: self.c_alignment,
        };
        let target = if chosen.splits == 1 {
            last
        } else {
            let parts = size * i64::from(chosen.splits);
            if first == 0 {
                let bytes = parts as u64 * self.work.batch as u64 * request.dtype.size() as u64;
                recipe.workspaces.push(bytes);
            }
            let (semiring, dtype) = (request.semiring, request.dtype);
            Destination {
                buffer: Buffer::Workspace(recipe.workspaces.len() - 1),
                strides: [n.into(), 1],
                batch: parts,
                split: size,
                scale: [Scalar::one(semiring, dtype), Scalar::zero(semiring, dtype)],
                alignment: 256,
            }
        };
        recipe.launches.push(self.product(recipe.kernel, request, chosen, product, &target, first, batches));
        if chosen.splits > 1 {
            recipe.launches.push(self.reduction(request, chosen, &target, &last, first, batches));
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one launch, described by all of the plan")]
    fn product(
        &self,
        kernel: &'static Kernel,
        request: &Request,
        chosen: &Candidate,
        product: &Product,
        target: &Destination,
        first: usize,
        batches: u32,
    ) -> Launch {
        let Work { m, n, dtype, .. } = self.work;
        let Candidate { tile, copies, splits, .. } = *chosen;
        let vector = i64::from(Tile::vector(dtype));
        let whole = |stride: i64| stride % vector == 0;
        let vectors = target.strides[1] == 1
            && whole(target.strides[0])
            && whole(target.batch)
            && whole(target.split)
            && target.alignment.is_multiple_of(16);
        let constants = [
            ("TILE_M", tile.block[0]),
            ("TILE_N", tile.block[1]),
            ("TILE_K", tile.k),
            ("WARP_M", tile.warp[0]),
            ("WARP_N", tile.warp[1]),
            ("THREAD_M", tile.thread[0]),
            ("THREAD_N", tile.thread[1]),
            ("SLICES", tile.slices),
            ("STAGES", tile.stages),
            ("BLOCKS", tile.resident),
            ("PREFETCH", tile.prefetch as u32),
            ("COPY_A", copies[0] as u32),
            ("COPY_B", copies[1] as u32),
            ("EDGES", product.edges.into()),
            ("STORE_VECTORS", vectors.into()),
            ("GROUP", GROUP),
        ];
        let [a, b] = product.operands.map(|o| (o.layout.row_stride as i64, o.layout.col_stride as i64));
        let pointer = ArgumentValue::Pointer;
        let (i32, i64) = (|x: u32| ArgumentValue::I32(x as i32), ArgumentValue::I64);
        let arguments = [
            ("A", pointer(product.buffers[0])),
            ("B", pointer(product.buffers[1])),
            ("C", pointer(target.buffer)),
            ("M", i32(m)),
            ("N", i32(n)),
            ("K", i32(product.k)),
            ("a_row", i64(a.0)),
            ("a_col", i64(a.1)),
            ("b_row", i64(b.1)),
            ("b_col", i64(b.0)),
            ("c_row", i64(target.strides[0])),
            ("c_col", i64(target.strides[1])),
            ("a_batch", i64(product.operands[0].batch as i64)),
            ("b_batch", i64(product.operands[1].batch as i64)),
            ("c_batch", i64(target.batch)),
            ("c_split", i64(target.split)),
            ("k_split", i32(product.k_split)),
            ("first_batch", i32(first as u32)),
            ("alpha", target.scale[0].into()),
            ("beta", target.scale[1].into()),
        ];
        let shape = tile.id().map(|x| x.to_string());
        let options = [copies[0] as u32, copies[1] as u32, product.edges.into(), vectors.into()];
        let options: String = options.iter().map(u32::to_string).collect();
        let mut program = Program::new(kernel, request.variant(), &constants);
        program.name = format!("{}.{}.{options}", program.name, shape.join("x"));
        Launch {
            dynamic_shared_memory: shared_memory(chosen, &self.work),
            starts_early: starts_early(request),
            ..Launch::new(
                program,
                kernel.entry(),
                [m.div_ceil(tile.block[0]).saturating_mul(n.div_ceil(tile.block[1])), splits, batches],
                [tile.threads(), 1, 1],
                arguments.map(|(name, value)| Argument { name, value }).to_vec(),
            )
        }
    }

    fn reduction(
        &self,
        request: &Request,
        chosen: &Candidate,
        parts: &Destination,
        last: &Destination,
        first: usize,
        batches: u32,
    ) -> Launch {
        let Work { m, n, .. } = self.work;
        let arguments = [
            ("parts", ArgumentValue::Pointer(parts.buffer)),
            ("C", ArgumentValue::Pointer(Buffer::C)),
            ("M", ArgumentValue::I32(m as i32)),
            ("N", ArgumentValue::I32(n as i32)),
            ("splits", ArgumentValue::I32(chosen.splits as i32)),
            ("c_row", ArgumentValue::I64(last.strides[0])),
            ("c_col", ArgumentValue::I64(last.strides[1])),
            ("c_batch", ArgumentValue::I64(last.batch)),
            ("first_batch", ArgumentValue::I32(first as i32)),
            ("alpha", last.scale[0].into()),
            ("beta", last.scale[1].into()),
        ];
        let blocks = (u64::from(m) * u64::from(n)).div_ceil(REDUCE_BLOCK);
        Launch {
            starts_early: starts_early(request),
            ..Launch::new(
                Program::of(REDUCE, request.variant(), &[]),
                "split_k_reduce",
                [u32::try_from(blocks).unwrap_or(u32::MAX), batches, 1],
                [REDUCE_BLOCK as u32, 1, 1],
                arguments.map(|(name, value)| Argument { name, value }).to_vec(),
            )
        }
    }

    fn details(&self, chosen: &Candidate, product: &Product) -> Vec<(&'static str, String)> {
        let Candidate { tile, splits, packed, .. } = chosen;
        let packed = match packed {
            [false, false] => "nothing",
            [true, false] => "A",
            [false, true] => "B",
            [true, true] => "A and B",
        };
        vec![
            ("tile", format!("{}x{}, {} terms a step", tile.block[0], tile.block[1], tile.k)),
            ("outputs per thread", (tile.thread[0] * tile.thread[1]).to_string()),
            ("slices of the block", tile.slices.to_string()),
            ("stages", tile.stages.to_string()),
            ("parts of k", splits.to_string()),
            ("packed first", packed.into()),
            ("edge tiles", if product.edges { "guarded" } else { "none" }.into()),
        ]
    }
}

/// The product's operands after packing.
struct Product {
    operands: [Operand; 2],
    buffers: [Buffer; 2],
    k: u32,
    k_split: u32,
    edges: bool,
}

/// Where results go: C, or the parts of a split sum.
#[derive(Clone, Copy)]
struct Destination {
    buffer: Buffer,
    strides: [i64; 2],
    batch: i64,
    split: i64,
    scale: [Scalar; 2],
    alignment: u64,
}
