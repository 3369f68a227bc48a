//! Products whose C has few columns, or few rows: one launch that keeps a row's sums in registers and reads the long operand once.

use super::{MOST_BATCHES, Plan, cost::launching, operand::Operand, work::Work};
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    kernel::launch::{Launch, Recipe},
    program::{Program, Source},
    request::{Form, Request},
    variant::Variant,
};
use tilewright_core::Layout;

const THIN: Source = Source { file: "thin.cu", text: include_str!("thin.cu") };
const THREADS: u32 = 128;
/// Columns of C at most: their sums are in a thread's registers.
const MOST_COLUMNS: u32 = 32;
/// Columns of which a thread computes two rows.
const NARROW: u32 = 8;
/// Reads of a thread that are under way together.
const AT_ONCE: u32 = 8;

/// Cycles of a multiprocessor for a term of a row of each thread, of elements of 4 bytes, beside those for each column; measured on an H200.
const TERM: f64 = 35.0;
const COLUMN: f64 = 3.0;
/// Part of the arithmetic peak at most.
const RATE: f64 = 0.8;
/// Cycles of an H200 in which the block computes nothing: from asking for a chunk until it has arrived.
const ARRIVES: f64 = 3000.0;

/// A product as this kernel sees it: C has few columns.
pub(super) struct Thin {
    a: Operand,
    b: Operand,
    c: Layout,
    buffers: [Buffer; 2],
    /// Columns of C that a thread has sums for, and terms that a block copies together.
    columns: u32,
    chunk: u32,
    work: Work,
}

impl Thin {
    /// `None` where C has too many rows and columns, or something else is asked for.
    pub fn of(plan: &Plan, request: &Request) -> Option<Self> {
        let Plan { a, b, c, buffers, work, .. } = plan;
        let is_asked_otherwise = request.form == Form::Plain
            || request.arg
            || !request.epilogue.is_none()
            || request.narrow == Some(true)
            || request.pack.is_some_and(|asked| asked != [false; 2])
            || request.splits.is_some_and(|asked| asked != 1);
        if is_asked_otherwise || work.m.min(work.n) > MOST_COLUMNS {
            return None;
        }
        let columns = work.m.min(work.n).next_power_of_two().clamp(4, MOST_COLUMNS);
        let chunk = if work.k <= 16 { 16 } else { 32 };
        let thin = match work.n <= work.m {
            true => Self { a: *a, b: *b, c: *c, buffers: *buffers, columns, chunk, work: *work },
            false => Self {
                a: *b,
                b: *a,
                c: c.t(),
                buffers: [buffers[1], buffers[0]],
                columns,
                chunk,
                work: Work { m: work.n, n: work.m, ..*work },
            },
        };
        request.tile.map_or(thin.is_wide(), |asked| asked == thin.tile()).then_some(thin)
    }

    /// What stands for it among the tiles: rows and columns of a block, terms, rows and columns of a thread, slices.
    pub fn tile(&self) -> [u32; 6] {
        tile(self.columns, self.chunk)
    }

    /// Rows of C that a thread computes: of narrow ones several, for each read of B.
    fn rows_of_thread(&self) -> u32 {
        self.tile()[3]
    }

    /// Whether there is a block for every multiprocessor. Where there is none, long sums are split instead.
    fn is_wide(&self) -> bool {
        let Work { m, k, batch, gpu, .. } = &self.work;
        *k <= self.chunk
            || (m.div_ceil(self.rows()) as usize).saturating_mul(*batch) >= gpu.multiprocessors as usize
    }

    /// Rows of C that a block computes.
    fn rows(&self) -> u32 {
        self.tile()[0]
    }

    /// Blocks that share a multiprocessor: registers are limited so that they fit.
    fn resident(&self) -> u32 {
        match (self.columns, self.work.variant.accumulator().size()) {
            (MOST_COLUMNS, 8) => 3,
            (_, 8) => 4,
            (MOST_COLUMNS, _) => 5,
            _ => 7,
        }
    }

    /// The estimated time in cycles of the GPU.
    pub fn cycles(&self) -> f64 {
        let Work { m, k, batch, peak, gpu, variant, .. } = &self.work;
        let blocks = f64::from(m.div_ceil(self.rows())) * *batch as f64 / f64::from(gpu.multiprocessors);
        let size = variant.accumulator().size() as f64 / 4.0;
        let columns = f64::from(self.columns);
        let term = (size * (TERM + COLUMN * columns)).max(f64::from(THREADS) * columns / (RATE * peak));
        let computing = blocks.ceil() * f64::from(self.rows_of_thread()) * f64::from(*k) * term;
        let waves = (blocks / f64::from(self.resident())).ceil();
        let waiting = waves * f64::from(k.div_ceil(self.chunk)) * gpu.relative_clock() * ARRIVES;
        launching(gpu) + (computing + waiting).max(self.work.traffic())
    }

    /// The recipe with its launches.
    pub fn filled(&self, mut recipe: Recipe, request: &Request) -> Recipe {
        for first in (0..self.work.batch).step_by(MOST_BATCHES) {
            let batches = (self.work.batch - first).min(MOST_BATCHES) as u32;
            recipe.launches.push(self.launch(request, first as u32, batches));
        }
        recipe.details = vec![
            ("tile", format!("{}x{}, {} terms a step", self.rows(), self.columns, self.chunk)),
            ("outputs per thread", (self.rows_of_thread() * self.columns).to_string()),
            ("arithmetic", "a term at a time".into()),
            ("parts of k", "1".into()),
            ("packed first", "nothing".into()),
            ("program", "for few columns or rows".into()),
        ];
        recipe
    }

    fn launch(&self, request: &Request, first: u32, batches: u32) -> Launch {
        let Self { a, b, c, work, .. } = self;
        // Of B the columns are the side.
        let [a_strides, b_strides] = [a, b].map(|o| [o.layout.row_stride, o.layout.col_stride]);
        let is_along_columns = |[row, col]: [isize; 2]| col.unsigned_abs() <= row.unsigned_abs();
        let along = [is_along_columns(a_strides), is_along_columns([c.row_stride, c.col_stride])];
        let constants = [
            ("COLUMNS_AT_ONCE", self.columns),
            ("CHUNK", self.chunk),
            ("ROWS_OF_THREAD", self.rows_of_thread()),
            ("AT_ONCE", AT_ONCE),
            ("BLOCKS", self.resident()),
            ("ROWS_ALONG_K", along[0].into()),
            ("RESULTS_ALONG_N", along[1].into()),
        ];
        let (pointer, i32) = (Argument::Pointer, |x: u32| Argument::i32(x as i32));
        let i64 = |x: isize| Argument::i64(x as i64);
        let arguments = [
            ("A", pointer(self.buffers[0])),
            ("B", pointer(self.buffers[1])),
            ("C", pointer(Buffer::C)),
            ("M", i32(work.m)),
            ("N", i32(work.n)),
            ("K", i32(work.k)),
            ("a_row", i64(a_strides[0])),
            ("a_col", i64(a_strides[1])),
            ("b_row", i64(b_strides[1])),
            ("b_col", i64(b_strides[0])),
            ("c_row", i64(c.row_stride)),
            ("c_col", i64(c.col_stride)),
            ("a_batch", i64(a.batch)),
            ("b_batch", i64(b.batch)),
            ("c_batch", i64(request.batch.c)),
            ("first_batch", i32(first)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        let is_transposed = self.buffers[0] == Buffer::B;
        let own = request.own.map(|own| if is_transposed { own.exchanged() } else { own });
        let mut program =
            Program::of(THIN, Variant { own, ..request.variant() }, Encoding::Numbers, &constants);
        let along = along.map(|along| u32::from(along).to_string()).concat();
        program.name += &format!(".{}x{}.{along}", self.columns, self.chunk);
        Launch {
            starts_early: request.starts_early(),
            ..Launch::new(
                program,
                "thin",
                [work.m.div_ceil(self.rows()), batches, 1],
                [THREADS, 1, 1],
                arguments.map(|(name, value)| NamedArgument { name, value }).to_vec(),
            )
        }
    }
}

const fn tile(columns: u32, chunk: u32) -> [u32; 6] {
    let rows = if columns <= NARROW { 2 } else { 1 };
    [rows * THREADS, columns, chunk, rows, columns, 1]
}
