//! A product on tensor cores: its operands, and the launches before and after the one that multiplies.

use super::{
    element::{self, Element},
    operand::{Copied, Lines, Operand},
};
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    finish::Finish,
    kernel::launch::{Launch, Role},
    program::{Program, Source},
    request::Request,
    scaling::Scaling,
    variant::Variant,
};

const COPY: Source = Source { file: "tensor_copy.cu", text: include_str!("tensor_copy.cu") };
const JOIN: Source = Source { file: "tensor_join.cu", text: include_str!("tensor_join.cu") };
/// Threads of a block that copies or joins, and blocks of these that a multiprocessor holds.
const HELPER_THREADS: u32 = 256;
const HELPER_RESIDENT: u64 = 8;
/// From so many parts on, several threads share those of an element: so many.
const MANY_PARTS: u32 = 16;
const JOINING: u32 = 8;

/// A product as kernels see it: C has its neighbours along rows.
pub(crate) struct Product {
    /// A and B, a row for each row of A or column of B.
    pub operands: [Operand; 2],
    pub c: Operand,
    /// What is read, of copies where there are any.
    pub lines: [Lines; 2],
    pub copies: [Option<Copied>; 2],
    pub element: Element,
    pub products: usize,
    /// What follows the sums.
    pub finish: Finish,
    /// What sums are multiplied by.
    pub scaling: Scaling,
}

impl Product {
    pub fn new(request: &Request, element: Element) -> Self {
        let (problem, batch, align) = (&request.problem, request.batch, request.alignment);
        let output = element::output(request.variant().output());
        let operand = |layout, alignment, batch, buffer, bytes: u32| Operand {
            layout,
            alignment,
            batch,
            buffer,
            bytes: bytes.into(),
        };
        let a = operand(problem.a(), align.a, batch.a, Buffer::A, element.bytes);
        let b = operand(problem.b().t(), align.b, batch.b, Buffer::B, element.bytes);
        let c = operand(problem.c(), align.c, batch.c, Buffer::C, output.bytes());
        // C^T = B^T A^T. The elements of a single row may lie apart: they are rows of C^T.
        let is_row = c.layout.rows == 1 && c.layout.col_stride != 1;
        let is_transposed = request.is_computed_by_columns() || is_row;
        let (operands, c) = match is_transposed {
            true => ([b, a], Operand { layout: c.layout.t(), ..c }),
            false => ([a, b], c),
        };
        let mut workspaces = 0;
        let [a, b] = operands.map(|operand| match operand.lines(batch.count, element.across) {
            Some(lines) => (lines, None),
            None => {
                workspaces += 1;
                let (lines, copied) = operand.copied(batch.count, element.across, workspaces - 1);
                (lines, Some(copied))
            }
        });
        Self {
            operands,
            c,
            lines: [a.0, b.0],
            copies: [a.1, b.1],
            element,
            products: batch.count,
            finish: Finish::of(request, is_transposed),
            scaling: Scaling::of(request, is_transposed),
        }
    }

    /// What follows in a launch that multiplies: nothing where it computes parts, which are joined first.
    pub fn finish_of(&self, is_split: bool) -> Finish {
        if is_split { Finish::default() } else { self.finish }
    }

    /// Which operands are copied.
    pub fn copied_names(&self) -> &'static str {
        match self.copies.map(|copy| copy.is_some()) {
            [false, false] => "nothing",
            [true, false] => "A",
            [false, true] => "B",
            [true, true] => "A and B",
        }
    }

    /// Copies the operands that kernels cannot read where they are.
    pub fn copy(&self, request: &Request) -> Launch {
        let (i32, i64) = (|x: u64| Argument::i32(x as i32), |x: isize| Argument::i64(x as i64));
        let arguments = |which: usize, names: [&'static str; 10]| {
            let from = Argument::Pointer(self.operands[which].buffer);
            let Some(copy) = self.copies[which] else {
                let none =
                    [from.clone(), from, i32(0), i32(0), i64(0), i64(0), i64(0), i32(0), i32(0), i32(0)];
                return named(names.into_iter().zip(none));
            };
            let to = Argument::Pointer(self.lines[which].buffer);
            let (rows, cols) = (i32(copy.from.rows as u64), i32(copy.from.cols as u64));
            let strides = [copy.from.row_stride, copy.from.col_stride, copy.batch].map(i64);
            let [row, col, batch] = strides;
            let [pieces, products, turns] = [copy.pieces, copy.products, copy.turns.into()].map(i32);
            named(names.into_iter().zip([from, to, rows, cols, row, col, batch, pieces, products, turns]))
        };
        let mut all = arguments(
            0,
            [
                "A",
                "copied_a",
                "a_rows",
                "a_cols",
                "a_row",
                "a_col",
                "a_batch",
                "a_pieces",
                "a_products",
                "turns_a",
            ],
        );
        all.extend(arguments(
            1,
            [
                "B",
                "copied_b",
                "b_rows",
                "b_cols",
                "b_row",
                "b_col",
                "b_batch",
                "b_pieces",
                "b_products",
                "turns_b",
            ],
        ));
        let pieces = self.copies.iter().flatten().map(|copy| copy.bytes() / 16).max().unwrap_or(0);
        self.helper(
            request,
            Role::Pack,
            // Whatever becomes of the sums.
            Program::of(COPY, Variant { result: None, ..request.variant() }, Encoding::Numbers, &[]),
            pieces,
            all,
        )
    }

    /// A launch before or after the product, whose threads take one piece after another.
    fn helper(
        &self,
        request: &Request,
        role: Role,
        program: Program,
        pieces: u64,
        arguments: Vec<NamedArgument>,
    ) -> Launch {
        let most = HELPER_RESIDENT * u64::from(request.gpu.multiprocessors);
        let blocks = pieces.div_ceil(HELPER_THREADS.into()).min(most) as u32;
        let entry = program.file().trim_end_matches(".cu");
        Launch {
            role,
            starts_early: request.starts_early(),
            ..Launch::new(program, entry, [blocks, 1, 1], [HELPER_THREADS, 1, 1], arguments)
        }
    }

    /// Adds up the parts of the sums.
    pub fn join(&self, request: &Request, parts: u32, sums: usize) -> Launch {
        let i32 = |x: u32| Argument::i32(x as i32);
        let [m, n] = [self.c.layout.rows, self.c.layout.cols].map(|side| side as u32);
        let arguments = [
            ("sums", Argument::Pointer(Buffer::Workspace(sums))),
            ("C", Argument::Pointer(Buffer::C)),
            ("row_stride", Argument::i64(self.c.layout.row_stride as i64)),
            ("batch_stride", Argument::i64(self.c.batch as i64)),
            ("m", i32(m)),
            ("n", i32(n)),
            ("batches", i32(self.products as u32)),
            ("parts", i32(parts)),
            ("alpha", request.alpha().into()),
            ("beta", request.beta().into()),
        ];
        let arguments = arguments.into_iter().chain(self.finish.arguments());
        let groups = if parts < MANY_PARTS { 1 } else { JOINING };
        let pieces = u64::from(m) * u64::from(n.div_ceil(4)) * self.products as u64;
        let constants = [&[("GROUPS", groups)][..], &self.finish.constants()].concat();
        let mut program = Program::of(JOIN, request.variant(), Encoding::Numbers, &constants);
        program.name = format!("{}.{groups}{}", program.name, self.finish.suffix());
        self.helper(request, Role::Join, program, pieces * u64::from(groups), named(arguments))
    }
}

pub(crate) fn named(arguments: impl IntoIterator<Item = (&'static str, Argument)>) -> Vec<NamedArgument> {
    arguments.into_iter().map(|(name, value)| NamedArgument { name, value }).collect()
}
