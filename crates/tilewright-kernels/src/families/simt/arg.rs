//! Arg results: the product tracks in which tile of k each result became what it is, and a launch of their own looks for the terms there.

use super::{Candidate, Operand, Plan};
use crate::{
    argument::{Argument, Buffer, NamedArgument},
    encoding::Encoding,
    kernel::{
        launch::{Launch, Recipe, Role},
        rung::Checks,
    },
    pack,
    program::{Program, Source},
    refusal::Refusal,
    request::{Form, Request},
};
use tilewright_core::{Joining, Layout};

const ARG: Source = Source { file: "arg.cu", text: include_str!("arg.cu") };
const THREADS: u32 = 256;
/// Columns of C that a block looks for.
const PANEL: u32 = 1024;
/// Rows of C from which on it pays to copy B so that the terms of a column lie beside each other.
const MANY: u32 = 64;

/// Arg results have a meaning where a term is selected, and as it is.
pub(super) fn check(checks: &Checks<'_>) -> Result<(), Refusal> {
    let Request { semiring, own, joining, .. } = checks.request;
    let needs = "no arg result".to_owned();
    match joining {
        _ if !checks.request.arg => Ok(()),
        _ if own.is_some() => {
            let (needs, found) = ("a built-in semiring for arg results".into(), "one of a user's".into());
            checks.refuse(needs, found, "compute on the processor")
        }
        _ if !semiring.is_selective() => {
            checks.refuse(needs, format!("one of {semiring}"), "choose a semiring that selects")
        }
        Joining::Scale { .. } => checks.refuse(needs, "scaled results".into(), "replace C or accumulate"),
        _ => Ok(()),
    }
}

/// Adds the launches that look for the terms.
pub(super) fn find(plan: &Plan, recipe: &mut Recipe, request: &Request, chosen: &Candidate) {
    let mut operands = [plan.a, plan.b];
    let mut buffers = plan.buffers;
    let mut packed = [false; 2];
    for i in 0..2 {
        let others = [plan.work.n, plan.work.m][i];
        if others >= MANY && request.form == Form::Specialised {
            packed[i] = lay_terms_beside(recipe, request, &mut operands[i], &mut buffers[i]);
        }
    }
    let constants =
        [("CHUNK", chosen.tile.k), ("PACKED_A", packed[0].into()), ("PACKED_B", packed[1].into())];
    let [(a_row, a_col), (b_col, b_row)] = operands.map(|o| (o.layout.row_stride, o.layout.col_stride));
    let (i32, i64) = (|x: u32| Argument::i32(x as i32), |x: isize| Argument::i64(x as i64));
    let (work, pointer) = (&plan.work, Argument::Pointer);
    for first in (0..work.batch).step_by(super::MOST_BATCHES) {
        let batches = (work.batch - first).min(super::MOST_BATCHES) as u32;
        let arguments = [
            ("A", pointer(buffers[0])),
            ("B", pointer(buffers[1])),
            ("C", pointer(Buffer::C)),
            ("where", pointer(Buffer::Output)),
            ("M", i32(work.m)),
            ("N", i32(work.n)),
            ("K", i32(work.k)),
            ("a_row", i64(a_row)),
            ("a_col", i64(a_col)),
            ("b_row", i64(b_row)),
            ("b_col", i64(b_col)),
            ("c_row", i64(plan.c.row_stride)),
            ("c_col", i64(plan.c.col_stride)),
            ("a_batch", i64(operands[0].batch)),
            ("b_batch", i64(operands[1].batch)),
            ("c_batch", i64(request.batch.c)),
            ("first_batch", i32(first as u32)),
        ];
        let mut program = Program::of(ARG, request.variant(), Encoding::Numbers, &constants);
        program.name += &format!(".{}.{}{}", chosen.tile.k, constants[1].1, constants[2].1);
        recipe.launches.push(Launch {
            role: Role::Join,
            starts_early: request.starts_early(),
            ..Launch::new(
                program,
                "arg",
                [work.m.saturating_mul(work.n.div_ceil(PANEL)), batches, 1],
                [THREADS, 1, 1],
                arguments.map(|(name, value)| NamedArgument { name, value }).to_vec(),
            )
        });
    }
}

/// Copies an operand whose neighbouring terms lie apart, if there is room.
fn lay_terms_beside(
    recipe: &mut Recipe,
    request: &Request,
    operand: &mut Operand,
    buffer: &mut Buffer,
) -> bool {
    let Layout { rows, cols, col_stride, .. } = operand.layout;
    let (sides, terms) = (rows as u32, cols as u32);
    let pitch = terms.next_multiple_of(pack::TILE);
    let bytes = pack::bytes(request.variant(), Encoding::Numbers, pitch, sides);
    let taken: u64 = recipe.workspaces.iter().sum();
    let pays = terms > 1 && col_stride != 1;
    if !pays
        || request.batch.count != 1
        || !pack::fits(pitch.into(), sides, 1)
        || taken + bytes > request.workspace
    {
        return false;
    }
    let workspace = recipe.workspaces.len();
    recipe.workspaces.push(bytes);
    // Terms take the place of rows.
    let of = |copy| pack::Operand { buffer: *buffer, layout: operand.layout.t(), batch: 0, copy };
    let copies = [of(Some(pack::Copy { workspace, side: pitch, batch: 0 })), of(None)];
    let style = pack::Style { encoding: Encoding::Numbers, found: None, predicate: None };
    recipe.launches.push(pack::pack(request, copies, style));
    *buffer = Buffer::Workspace(workspace);
    operand.layout = Layout { row_stride: pitch as isize, col_stride: 1, ..operand.layout };
    true
}
