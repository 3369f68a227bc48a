//! The launches of a log-plus product.

use super::{
    FINISHED, LOG_PLUS, LOOKED_AT, Looks, MOST_BATCHES, PACKED, PRODUCT, Plan, RESIDENT, Rectangle,
    SCRATCHES, Scratch,
    division::{padded_side, padded_terms},
};
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    kernel::launch::{Launch, Recipe, Role},
    program::{Program, Source},
    refusal::Refusal,
    request::{Alignment, Batch, Request},
};
use tilewright_core::{DType, Layout, Problem, SemiringId, semiring::Logarithm};

const SCALES: Source = Source { file: "log_plus_scales.cu", text: include_str!("log_plus_scales.cu") };
const EXPONENTIALS: Source =
    Source { file: "log_plus_exponentials.cu", text: include_str!("log_plus_exponentials.cu") };
const THREADS: u32 = 256;

impl Plan<'_> {
    pub(super) fn scales(&self, here: Rectangle, Looks { parts, terms }: Looks) -> Launch {
        let groups = self.sides.map(|side| side.div_ceil(LOOKED_AT));
        let arguments = [
            self.operands(),
            named([("parts_a", Scratch::Parts.of(0)), ("parts_b", Scratch::Parts.of(1))].map(pointer)),
            self.sizes(),
            self.strides(),
            self.batches(here),
            named([("k_part", i32(terms))]),
        ];
        let grid = [groups[0] + groups[1], parts, along_z(here.batches)];
        self.launch(Role::Pack, SCALES, "log_plus_scales", &[], grid, arguments.concat())
    }

    /// The factors of a rectangle; those of A only where they are not there yet.
    pub(super) fn exponentials(&self, here: Rectangle, is_new_row: bool, looks: Looks) -> Launch {
        let pitches = here.sides.map(padded_side);
        let terms = padded_terms(self.terms);
        let groups =
            [if is_new_row { pitches[0] } else { 0 }, pitches[1]].map(|pitch| pitch.div_ceil(PACKED));
        let tiles = terms.div_ceil(PACKED);
        let blocks = u64::from(groups[0] + groups[1]) * here.batches as u64;
        let wanted = u64::from(RESIDENT * self.request.gpu.multiprocessors).div_ceil(blocks);
        let tiles_each = tiles.div_ceil((wanted as u32).clamp(1, tiles));
        let buffers = [
            ("parts_a", Scratch::Parts.of(0)),
            ("parts_b", Scratch::Parts.of(1)),
            ("scales_a", Scratch::Scales.of(0)),
            ("scales_b", Scratch::Scales.of(1)),
            ("packed_a", Scratch::Factors.of(0)),
            ("packed_b", Scratch::Factors.of(1)),
        ];
        let arguments = [
            self.operands(),
            named(buffers.map(pointer)),
            self.sizes(),
            named([("first_row", i32(here.first[0])), ("first_col", i32(here.first[1]))]),
            named([("pitch_a", i32(if is_new_row { pitches[0] } else { 0 })), ("pitch_b", i32(pitches[1]))]),
            named([("terms", i32(terms))]),
            self.strides(),
            self.batches(here),
            named([("parts", i32(looks.parts)), ("tiles", i32(tiles_each))]),
        ];
        let grid = [groups[0] + groups[1], tiles.div_ceil(tiles_each), along_z(here.batches)];
        self.launch(Role::Pack, EXPONENTIALS, "log_plus_exponentials", &[], grid, arguments.concat())
    }

    /// The scaled sums, by the kernel for plus-times.
    pub(super) fn product(&self, recipe: &mut Recipe, here: Rectangle) -> Result<(), Refusal> {
        let [m, n] = here.sides.map(padded_side);
        let k = padded_terms(self.terms);
        let l = [(m, k), (k, n), (m, n)].map(|(rows, cols)| [rows as usize, cols as usize]);
        let layouts = [Layout::col_major(l[0][0], l[0][1]), Layout::row_major(l[1][0], l[1][1])];
        let failed = |error: tilewright_core::Error| Refusal {
            kernel: recipe.kernel.name,
            needs: "a product of the factors".into(),
            found: error.to_string(),
            hint: "split the product".into(),
        };
        let problem =
            Problem::new(layouts[0], layouts[1], Layout::row_major(l[2][0], l[2][1])).map_err(failed)?;
        let step = |i: usize| {
            if self.steps[i] == 0 { 0 } else { layouts[i].rows as isize * layouts[i].cols as isize }
        };
        let taken: u64 = recipe.workspaces[..SCRATCHES].iter().sum();
        let inner = Request {
            batch: Batch { count: here.batches, a: step(0), b: step(1), c: m as isize * n as isize },
            alignment: Alignment::ALLOCATION,
            gpu: self.request.gpu,
            tile: self.request.tile,
            splits: self.request.splits,
            pack: Some([false, false]),
            workspace: self.request.workspace.saturating_sub(taken),
            form: self.request.form,
            ..Request::new(problem, SemiringId::PlusTimes, self.request.dtype)
        };
        let found = PRODUCT.recipe(&inner)?;
        recipe.seconds += found.seconds;
        for (i, &bytes) in found.workspaces.iter().enumerate() {
            match recipe.workspaces.get_mut(SCRATCHES + i) {
                Some(known) => *known = bytes.max(*known),
                None => recipe.workspaces.push(bytes),
            }
        }
        let moved = |buffer| match buffer {
            Buffer::A => Scratch::Factors.of(0),
            Buffer::B => Scratch::Factors.of(1),
            Buffer::C => Scratch::Sums.of(0),
            Buffer::Workspace(i) => Buffer::Workspace(SCRATCHES + i),
            other => other,
        };
        recipe.launches.extend(found.launches.into_iter().map(|mut launch| {
            for argument in &mut launch.arguments {
                if let Argument::Pointer(buffer) = &mut argument.value {
                    *buffer = moved(*buffer);
                }
            }
            launch
        }));
        (recipe.details, recipe.rejected) = (found.details, found.rejected);
        Ok(())
    }

    /// Results from scaled sums, as far as these can be trusted; without a role of its own, all of them from their terms.
    pub(super) fn finish(&self, here: Rectangle, after: Option<Role>) -> Launch {
        let [rows, cols] = here.sides.map(padded_side);
        let is_scaled = after.is_some();
        // Without scaled sums they are not read.
        let scratch = |scratch: Scratch, operand| if is_scaled { scratch.of(operand) } else { Buffer::C };
        let buffers = [
            ("C", Buffer::C),
            ("sums", scratch(Scratch::Sums, 0)),
            ("scales_a", scratch(Scratch::Scales, 0)),
            ("scales_b", scratch(Scratch::Scales, 1)),
        ];
        let step = |i: usize| if self.steps[i] == 0 { 0 } else { 2 * i64::from(self.sides[i]) };
        let (least, cut_off) = limits(self.request.dtype, self.terms);
        let arguments = [
            self.operands(),
            named(buffers.map(pointer)),
            self.sizes(),
            named([("first_row", i32(here.first[0])), ("first_col", i32(here.first[1]))]),
            named([("rows", i32(here.sides[0])), ("cols", i32(here.sides[1]))]),
            self.strides(),
            named([("c_row", i64(self.c.row_stride)), ("c_col", i64(self.c.col_stride))]),
            named([
                ("a_batch", i64(self.steps[0])),
                ("b_batch", i64(self.steps[1])),
                ("c_batch", i64(self.request.batch.c)),
            ]),
            named([("sums_row", i64(cols as isize)), ("sums_batch", i64(rows as isize * cols as isize))]),
            named(
                [("scales_a_batch", step(0)), ("scales_b_batch", step(1))]
                    .map(|(n, x)| (n, Argument::i64(x))),
            ),
            named([("first_batch", i32(here.first_batch as u32)), ("batches", i32(here.batches as u32))]),
            named([("least", least), ("cut_off", cut_off)]),
            named([("joins", i32(self.request.joining.reads_c().into()))]),
        ];
        let tiles = [0, 1].map(|i| here.sides[i].div_ceil(FINISHED[i]));
        let grid = [tiles[0].saturating_mul(tiles[1]), 1, along_z(here.batches)];
        let source = Source { file: LOG_PLUS.file, text: LOG_PLUS.source };
        let mut launch = self.launch(
            after.unwrap_or(Role::Product),
            source,
            "log_plus",
            &[("SCALED", is_scaled.into())],
            grid,
            arguments.concat(),
        );
        if !is_scaled {
            launch.program.name += ".from-terms";
        }
        launch
    }

    fn launch(
        &self,
        role: Role,
        source: Source,
        entry: &'static str,
        constants: &[(&str, u32)],
        grid: [u32; 3],
        arguments: Vec<NamedArgument>,
    ) -> Launch {
        let program = Program::of(source, self.request.variant(), Encoding::Numbers, constants);
        let launch = Launch::new(program, entry, grid, [THREADS, 1, 1], arguments);
        Launch { role, starts_early: self.request.starts_early(), ..launch }
    }

    fn operands(&self) -> Vec<NamedArgument> {
        named([("A", self.buffers[0]), ("B", self.buffers[1])].map(pointer))
    }

    fn sizes(&self) -> Vec<NamedArgument> {
        named([("M", self.sides[0]), ("N", self.sides[1]), ("K", self.terms)].map(|(name, x)| (name, i32(x))))
    }

    fn strides(&self) -> Vec<NamedArgument> {
        let [a, b] = self.lines;
        let strides = [
            ("a_row", a.row_stride),
            ("a_col", a.col_stride),
            ("b_row", b.col_stride),
            ("b_col", b.row_stride),
        ];
        named(strides.map(|(name, x)| (name, i64(x))))
    }

    /// Which products an operand is prepared for.
    fn batches(&self, here: Rectangle) -> Vec<NamedArgument> {
        let count = |i| i32(self.copies(i, here.batches) as u32);
        named([
            ("a_batch", i64(self.steps[0])),
            ("b_batch", i64(self.steps[1])),
            ("batches_a", count(0)),
            ("batches_b", count(1)),
            ("first_batch", i32(here.first_batch as u32)),
        ])
    }
}

/// The least scaled sum that lost terms leave as it is, and how far from the largest term all others together have no weight.
fn limits(dtype: DType, terms: u32) -> (Argument, Argument) {
    let k = terms as usize;
    let cut_off = |roundoff: f64| roundoff.ln() - f64::from(terms.max(1)).ln();
    match dtype {
        DType::F64 => (Argument::f64(f64::least_sum(k)), Argument::f64(cut_off(f64::UNIT_ROUNDOFF))),
        _ => (Argument::f32(f32::least_sum(k)), Argument::f32(cut_off(f32::UNIT_ROUNDOFF) as f32)),
    }
}

fn along_z(batches: usize) -> u32 {
    batches.min(MOST_BATCHES) as u32
}

fn named<const N: usize>(values: [(&'static str, Argument); N]) -> Vec<NamedArgument> {
    values.map(|(name, value)| NamedArgument { name, value }).to_vec()
}

fn pointer((name, buffer): (&'static str, Buffer)) -> (&'static str, Argument) {
    (name, Argument::Pointer(buffer))
}

fn i32(x: u32) -> Argument {
    Argument::i32(x as i32)
}

fn i64(x: isize) -> Argument {
    Argument::i64(x as i64)
}
