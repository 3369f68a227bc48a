//! The launches of a candidate: packing, the product in turns, and joining its parts.

use super::{
    MOST_BATCHES, Plan, arg, arithmetic::Arithmetic, choice::shared_memory, cost::Candidate, menu::Tile,
    operand::Operand, predicate_arguments, reduce::Parts, work::Work,
};
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    kernel::{
        Kernel,
        launch::{Launch, Recipe},
    },
    pack,
    predicate::{Decided, Found, Predicate},
    program::{Program, Source},
    request::{Form, Request},
    variant::Variant,
};
use tilewright_core::Layout;

impl Plan {
    /// Adds the launches of a candidate: packing, the product, and joining its parts.
    pub(super) fn fill(
        &self,
        recipe: &mut Recipe,
        request: &Request,
        chosen: &Candidate,
        decided: Option<(Predicate, Decided)>,
    ) -> Product {
        let encoding = chosen.arithmetic.encoding;
        let work = &self.work.in_encoding(encoding);
        let mut workspaces =
            Workspaces { all: &mut recipe.workspaces, next: if decided.is_some() { 2 } else { 0 } };
        let mut buffers = self.buffers;
        let mut operands = [self.a, self.b];
        let mut packing = [0, 1].map(|i| {
            let Operand { layout, batch, .. } = operands[i];
            pack::Operand { buffer: buffers[i], layout, batch, copy: None }
        });
        for i in (0..2).filter(|&i| chosen.packed[i]) {
            let side = chosen.side(work, i);
            let bytes = pack::bytes(request.variant(), encoding, side, work.k);
            let workspace = workspaces.take(bytes.saturating_mul(work.operands[i] as u64));
            let batch = if work.operands[i] > 1 { pack::words_of(side, work.k) as isize } else { 0 };
            packing[i].copy = Some(pack::Copy { workspace, side, batch });
            buffers[i] = Buffer::Workspace(workspace);
            let layout = Layout { row_stride: 1, col_stride: side as isize, ..operands[i].layout };
            operands[i] = Operand { layout, batch, ..operands[i] };
        }
        // Without terms there is nothing to look at.
        let looks = chosen.arithmetic.looks && work.k > 0;
        let packers = pack::blocks(request, &packing, encoding);
        let looked =
            looks.then(|| Found { workspace: workspaces.take(u64::from(packers) * 4), finders: packers });
        // The choice kept it below the limit.
        let parts = (chosen.division.split_tiles() > 0)
            .then(|| workspaces.take(chosen.division.part_bytes(work, &chosen.tile) as u64));
        if work.k > 0 && chosen.packed != [false, false] {
            let found = looked.map(|found| found.workspace);
            recipe.launches.push(pack::pack(
                request,
                packing,
                pack::Style { encoding, found, predicate: decided },
            ));
        }
        let decision =
            decided.map(|(predicate, by)| (predicate, Found { workspace: by.decision, finders: 1 }));
        let product = Product {
            operands,
            buffers,
            // Terms that packing added are zeros on both sides.
            k: if chosen.packed == [true, true] { work.k.next_multiple_of(chosen.tile.k) } else { work.k },
            edges: request.form == Form::Plain || chosen.has_edges(work),
            predicates: match looked {
                Some(found) => predicates(decided).map(|predicate| Some((predicate, found))).to_vec(),
                None => vec![decision],
            },
            decision,
            parts: parts.map_or(Buffer::C, Buffer::Workspace), // not written to without parts
        };
        for first in (0..work.batch).step_by(MOST_BATCHES) {
            let batches = (work.batch - first).min(MOST_BATCHES) as u32;
            self.launch(recipe, request, chosen, &product, first, batches);
        }
        if request.arg {
            arg::find(self, recipe, request, chosen);
        }
        product
    }

    /// One launch of the product for each turn, and one that joins the parts if there are any.
    fn launch(
        &self,
        recipe: &mut Recipe,
        request: &Request,
        chosen: &Candidate,
        product: &Product,
        first: usize,
        batches: u32,
    ) {
        for &predicate in &product.predicates {
            recipe.launches.push(self.product(
                recipe.kernel,
                request,
                chosen,
                product,
                predicate,
                first,
                batches,
            ));
        }
        if chosen.division.split_tiles() > 0 {
            recipe.launches.push(self.reduction(request, chosen, product, first, batches));
        }
    }

    /// Whether C can be written in vectors.
    fn writes_vectors(&self, request: &Request, encoding: Encoding) -> bool {
        let vector = Tile::vector(request.variant()) as isize;
        request.form == Form::Specialised
            && !request.arg
            && encoding == Encoding::Numbers
            && request.variant().output() == request.variant().accumulator()
            && self.c.col_stride == 1
            && [self.c.row_stride, request.batch.c, self.c.cols as isize].iter().all(|x| x % vector == 0)
            && self.c_alignment.is_multiple_of(16)
    }

    #[expect(clippy::too_many_arguments, reason = "one launch, described by all of the plan")]
    fn product(
        &self,
        kernel: &'static Kernel,
        request: &Request,
        chosen: &Candidate,
        product: &Product,
        predicate: Option<(Predicate, Found)>,
        first: usize,
        batches: u32,
    ) -> Launch {
        let Work { m, n, .. } = self.work;
        let Candidate { tile, arithmetic, copies, division, .. } = *chosen;
        let Arithmetic { encoding, looks, .. } = arithmetic;
        // The fallback takes elements of any sign: one term at a time, at least until the sums settle.
        let is_for_all = !looks || predicate.is_some_and(|(predicate, _)| predicate.own == 0);
        let settles = arithmetic.settles && is_for_all;
        let pairs = arithmetic.pairs && (settles || !(looks && is_for_all));
        let vectors = self.writes_vectors(request, encoding);
        let is_plain = request.form == Form::Plain;
        let copy_step = match tile.copy_step[usize::from(!vectors)] {
            _ if settles => 0,
            step if pairs => step / 2 * 2,
            step => step,
        };
        let unrolled = if arithmetic.whole { tile.k } else { tile.unrolled };
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
            ("PREFETCH", if pairs { 0 } else { tile.prefetch as u32 }),
            ("PAIRS", pairs.into()),
            ("COPY_STEP", copy_step),
            ("UNROLLED", if is_plain { 1 } else { unrolled / (1 + u32::from(pairs)) }),
            ("SETTLES", settles.into()),
            ("TURN", predicate.is_some().into()),
            ("COPY_A", copies[0] as u32),
            ("COPY_B", copies[1] as u32),
            ("EDGES", product.edges.into()),
            ("STORE_VECTORS", vectors.into()),
            ("TRACKS", request.arg.into()),
        ];
        let [a, b] = product.operands.map(|o| (o.layout.row_stride as i64, o.layout.col_stride as i64));
        let pointer = Argument::Pointer;
        let (i32, i64) = (|x: u32| Argument::i32(x as i32), Argument::i64);
        let arguments = [
            ("A", pointer(product.buffers[0])),
            ("B", pointer(product.buffers[1])),
            ("C", pointer(Buffer::C)),
            ("parts", pointer(product.parts)),
            ("M", i32(m)),
            ("N", i32(n)),
            ("K", i32(product.k)),
            ("a_row", i64(a.0)),
            ("a_col", i64(a.1)),
            ("b_row", i64(b.1)),
            ("b_col", i64(b.0)),
            ("c_row", i64(self.c.row_stride as i64)),
            ("c_col", i64(self.c.col_stride as i64)),
            ("a_batch", i64(product.operands[0].batch as i64)),
            ("b_batch", i64(product.operands[1].batch as i64)),
            ("c_batch", i64(request.batch.c as i64)),
            ("whole", i32(division.whole)),
            ("k_split", i32(division.k_split)),
            ("first_batch", i32(first as u32)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
            ("where", pointer(if request.arg { Buffer::Output } else { Buffer::C })),
        ];
        let arguments = arguments.into_iter().chain(predicate_arguments(predicate));
        let source = Source { file: kernel.file, text: kernel.source };
        let is_transposed = self.buffers[0] == Buffer::B;
        let own = request.own.map(|own| if is_transposed { own.exchanged() } else { own });
        let mut program = Program::of(source, Variant { own, ..request.variant() }, encoding, &constants);
        program.name += match (pairs, settles) {
            (_, true) => ".settles",
            (true, _) => ".pairs",
            _ => "",
        };
        program.name += match predicate {
            Some((predicate, _)) if looks => predicate.suffix(),
            Some(_) => ".predicated",
            None => "",
        };
        program.name += if request.arg { ".arg" } else { "" };
        program.name += &if is_plain {
            ".plain".to_owned()
        } else {
            let shape = tile.id().map(|x| x.to_string());
            let options = [copies[0] as u32, copies[1] as u32, product.edges.into(), vectors.into()];
            format!(".{}.{}", shape.join("x"), options.map(|option| option.to_string()).concat())
        };
        // For the preprocessor: the pragmas of tuned tiles are as if nothing else could stand in their place.
        program.config += &format!("#define PLAIN {}\n", u32::from(is_plain));
        Launch {
            starts_early: request.starts_early(),
            parts: if division.whole == 0 { division.parts } else { 1 },
            is_for_some: predicate.is_some_and(|(predicate, _)| predicate.is_for_some()),
            ..Launch::new(
                program,
                kernel.entry(),
                [division.blocks(), batches, 1],
                [tile.threads(), 1, 1],
                arguments.map(|(name, value)| NamedArgument { name, value }).collect(),
            )
            .with_dynamic_shared_memory(shared_memory(chosen, request))
        }
    }

    fn reduction(
        &self,
        request: &Request,
        chosen: &Candidate,
        product: &Product,
        first: usize,
        batches: u32,
    ) -> Launch {
        let Candidate { tile, division, arithmetic, .. } = chosen;
        let parts = Parts {
            memory: Argument::Pointer(product.parts),
            tile: tile.block,
            whole: division.whole,
            tiles: division.split_tiles(),
            count: division.parts,
            c: self.c,
            finish: self.finish,
            encoding: arithmetic.encoding,
            decision: product.decision,
            first,
            batches,
        };
        parts.join(request)
    }
}

/// The product's operands after packing.
pub(super) struct Product {
    operands: [Operand; 2],
    buffers: [Buffer; 2],
    /// In words.
    k: u32,
    pub edges: bool,
    /// When the launches compute; always where nothing is found out.
    predicates: Vec<Option<(Predicate, Found)>>,
    /// When the parts are joined: where this candidate computes, whichever of its launches does.
    decision: Option<(Predicate, Found)>,
    parts: Buffer,
}

/// Workspaces of one of several candidates. One of them computes, so that they share the memory.
struct Workspaces<'a> {
    all: &'a mut Vec<u64>,
    next: usize,
}

impl Workspaces<'_> {
    /// The number of the next one.
    fn take(&mut self, bytes: u64) -> usize {
        if self.next == self.all.len() {
            self.all.push(0);
        }
        self.all[self.next] = self.all[self.next].max(bytes);
        self.next += 1;
        self.next - 1
    }
}

/// The launches of a product whose packing looks at the elements: two terms at a time where they allow it, and one that is right for all.
fn predicates(decided: Option<(Predicate, Decided)>) -> [Predicate; 2] {
    let earlier = decided.map_or(0, |(predicate, _)| predicate.earlier);
    [Predicate { earlier, own: Predicate::PAIRS }, Predicate { earlier: earlier | Predicate::PAIRS, own: 0 }]
}
