//! The launch that adds up the parts of sums, which lie tile by tile.

use super::predicate_arguments;
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    finish::Finish,
    kernel::launch::{Launch, Role},
    predicate::{Found, Predicate},
    program::{Program, Source},
    request::Request,
};
use tilewright_core::Layout;

const REDUCE: Source = Source { file: "split_k_reduce.cu", text: include_str!("split_k_reduce.cu") };
const THREADS: u32 = 256;

/// Parts of the sums of those tiles of C that do not come first.
pub(crate) struct Parts {
    /// What points to them.
    pub memory: Argument,
    /// Rows and columns of a tile.
    pub tile: [u32; 2],
    /// Tiles without parts, and with them.
    pub whole: u32,
    pub tiles: u32,
    /// Of a tile.
    pub count: u32,
    /// C, with neighbours along rows if it has any.
    pub c: Layout,
    pub finish: Finish,
    pub encoding: Encoding,
    pub decision: Option<(Predicate, Found)>,
    /// The first product, and how many.
    pub first: usize,
    pub batches: u32,
}

impl Parts {
    /// Adds them in the order of k.
    pub fn join(&self, request: &Request) -> Launch {
        let (i32, i64) = (|x: u32| Argument::i32(x as i32), |x: isize| Argument::i64(x as i64));
        let arguments = [
            ("parts", self.memory.clone()),
            ("C", Argument::Pointer(Buffer::C)),
            ("M", i32(self.c.rows as u32)),
            ("N", i32(self.c.cols as u32)),
            ("whole", i32(self.whole)),
            ("splits", i32(self.count)),
            ("c_row", i64(self.c.row_stride)),
            ("c_col", i64(self.c.col_stride)),
            ("c_batch", i64(request.batch.c)),
            ("first_batch", i32(self.first as u32)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        let arguments = arguments.into_iter().chain(predicate_arguments(self.decision));
        let arguments = arguments.chain(self.finish.arguments());
        let [m, n] = self.tile;
        let elements = u64::from(self.tiles) * u64::from(m * n) * u64::from(self.batches);
        // Measured on an H200: enough threads to have the reads of all of its multiprocessors under way.
        let [count, groups] = match elements {
            65_536.. => [4, 1],
            _ => [1, (self.count / 8).clamp(1, 16).next_power_of_two()],
        };
        let constants = [
            ("TILE_M", m),
            ("TILE_N", n),
            ("COUNT", count),
            ("GROUPS", groups),
            ("TURN", self.decision.is_some().into()),
        ];
        let constants = [&constants[..], &self.finish.constants()].concat();
        let mut program = Program::of(REDUCE, request.variant(), self.encoding, &constants);
        let suffix = if self.decision.is_some() { ".predicated" } else { "" };
        program.name = format!("{}{suffix}.{m}x{n}.{count}.{groups}{}", program.name, self.finish.suffix());
        Launch {
            role: Role::Join,
            is_for_some: self.decision.is_some_and(|(predicate, _)| predicate.is_for_some()),
            starts_early: request.starts_early(),
            ..Launch::new(
                program,
                "split_k_reduce",
                [self.tiles, m * n * groups / (THREADS * count), self.batches],
                [THREADS, 1, 1],
                arguments.map(|(name, value)| NamedArgument { name, value }).collect(),
            )
        }
    }
}
