//! Exact narrowing: whole numbers that lie close together, in narrower types with the same bits as a result. See `close.cuh`.

use super::{
    Plan,
    choice::ranked,
    cost::{Candidate, skipped},
};
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    kernel::launch::{Launch, Recipe, Role},
    predicate::{Decided, Predicate},
    program::{Program, Source},
    request::{Form, Request},
    variant::Variant,
};
use tilewright_arch::instructions::has_native_dpx;
use tilewright_core::{
    DType,
    SemiringId::{MaxPlus, MinPlus},
};

const SCAN: Source = Source { file: "scan.cu", text: include_str!("scan.cu") };
const THREADS: u32 = 512;
/// Blocks that share a multiprocessor.
const RESIDENT: u32 = 2;
/// Elements that a block looks at together.
const AT_ONCE: u64 = 4096;
/// Bytes of what a block has seen of an operand, and of the decision.
const WINDOW: u64 = 24;
const DECISION: u64 = 32;

/// Part of the time for all data that a narrower type must leave unused, and part of it that may be lost where the data do not allow one.
const GAIN: f64 = 0.2;
const LOSS: f64 = 1.0 / 32.0;

/// A program in a narrower type.
pub(crate) struct Narrower {
    pub plan: Plan,
    pub chosen: Candidate,
    /// The bit by which the data exclude it.
    pub own: u32,
    /// The largest sum of distances.
    largest: u32,
}

/// A narrower type: its words, the type whose tiles and rates it has, its bit, and the largest sum of distances.
type Narrow = (Encoding, DType, u32, u32);

const CLOSE: Narrow = (Encoding::Close, DType::I16, Predicate::CLOSE, u16::MAX as u32);
const NEAR: Narrow = (Encoding::Near, DType::I32, Predicate::NEAR, i32::MAX as u32);

/// The narrower types for a product, the narrowest first.
const fn types(request: &Request) -> &'static [Narrow] {
    match (request.semiring, request.dtype) {
        (MinPlus | MaxPlus, DType::F32 | DType::I32) => &[CLOSE],
        (MinPlus | MaxPlus, DType::F64 | DType::I64) => &[CLOSE, NEAR],
        _ => &[],
    }
}

/// The types in which terms of a variant may be computed: its own, and where it is narrowed the narrowest.
pub(crate) fn computed(variant: Variant, narrowed: bool) -> Vec<Variant> {
    let narrowest = Variant { dtype: CLOSE.1, result: None, ..variant };
    [variant, narrowest].into_iter().take(if narrowed { 2 } else { 1 }).collect()
}

/// The programs in narrower types that stand before the one for all data, which was chosen.
pub(crate) fn narrower(request: &Request, plan: &Plan, chosen: &Candidate) -> Vec<Narrower> {
    let is_possible = has_native_dpx(request.gpu.capability())
        && !request.arg
        && request.form == Form::Specialised
        && plan.work.k > 0;
    if request.narrow == Some(false) || !is_possible {
        return Vec::new();
    }
    let mut all: Vec<_> = types(request).iter().filter_map(|narrow| of(request, *narrow)).collect();
    if request.narrow.is_none() {
        let usual = plan.cycles(chosen);
        all.retain(|narrow| narrow.plan.cycles(&narrow.chosen) <= (1.0 - GAIN) * usual);
        // Packing, the product, and joining its parts.
        let idle = all.iter().map(|narrow| 2 + usize::from(narrow.chosen.division.parts > 1)).sum();
        if skipped(&request.gpu, idle) > LOSS * usual {
            all.clear();
        }
    }
    all
}

/// The best way in a narrower type; both operands are packed.
fn of(request: &Request, (encoding, dtype, own, largest): Narrow) -> Option<Narrower> {
    let request = Request { dtype, tile: None, splits: None, pack: Some([true, true]), ..*request };
    let plan = Plan::new(&request);
    let stands_for = |c: &Candidate| c.arithmetic.encoding.columns() == encoding.columns();
    let mut chosen = ranked(&request, &plan.work, [plan.a, plan.b]).into_iter().find(stands_for)?;
    chosen.arithmetic.encoding = encoding;
    Some(Narrower { plan, chosen, own, largest })
}

/// Adds the launch that looks at the operands, and the workspaces by which it decides.
pub(crate) fn scan(recipe: &mut Recipe, request: &Request, plan: &Plan, narrower: &[Narrower]) -> Decided {
    let elements: u64 = [plan.a, plan.b]
        .iter()
        .zip(plan.work.operands)
        .map(|(o, count)| {
            (o.layout.rows as u64).saturating_mul(o.layout.cols as u64).saturating_mul(count as u64)
        })
        .fold(0, u64::saturating_add);
    let most = RESIDENT * request.gpu.multiprocessors;
    let scanners = elements.div_ceil(AT_ONCE).clamp(1, most.into()) as u32;
    let [decision, seen] = [DECISION, 2 * u64::from(scanners) * WINDOW].map(|bytes| {
        recipe.workspaces.push(bytes);
        recipe.workspaces.len() - 1
    });
    let (i32, i64) = (|x: u32| Argument::i32(x as i32), |x: isize| Argument::i64(x as i64));
    let [a, b] = [plan.a, plan.b];
    let arguments = [
        ("A", Argument::Pointer(plan.buffers[0])),
        ("B", Argument::Pointer(plan.buffers[1])),
        ("windows", Argument::Pointer(Buffer::Workspace(seen))),
        ("M", i32(a.layout.rows as u32)),
        ("N", i32(b.layout.rows as u32)),
        ("K", i32(a.layout.cols as u32)),
        ("a_row", i64(a.layout.row_stride)),
        ("a_col", i64(a.layout.col_stride)),
        ("b_row", i64(b.layout.col_stride)),
        ("b_col", i64(b.layout.row_stride)),
        ("a_batch", i64(a.batch)),
        ("b_batch", i64(b.batch)),
        ("batches", i32(request.batch.count as u32)),
    ];
    let largest = narrower.iter().map(|narrow| narrow.largest).max().unwrap_or(0);
    let mut program = Program::of(SCAN, request.variant(), Encoding::Close, &[("LARGEST", largest)]);
    program.name += if largest == NEAR.3 { ".near" } else { "" };
    recipe.launches.push(Launch {
        role: Role::Scan,
        starts_early: request.starts_early(),
        ..Launch::new(
            program,
            "scan",
            [scanners, 1, 1],
            [THREADS, 1, 1],
            arguments.map(|(name, value)| NamedArgument { name, value }).to_vec(),
        )
    });
    Decided { decision, seen, scanners }
}

/// What a plan says.
pub(crate) fn describe(narrower: &[Narrower]) -> String {
    let bits = |narrow: &Narrower| {
        if narrow.own == Predicate::CLOSE { "16 bits, two columns a word" } else { "32 bits" }
    };
    let types: Vec<_> = narrower.iter().map(bits).collect();
    format!(
        "to {}, with the same result, if the elements are whole numbers that lie close together; the GPU looks at them first, and the floor is that of the type as given",
        types.join(", or to ")
    )
}
