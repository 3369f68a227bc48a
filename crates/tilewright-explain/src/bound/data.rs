//! Which integer arithmetic is work, and which only finds addresses and counts loops.

use super::code::{Function, Step};
use std::collections::HashSet;

/// Lines of the PTX whose results reach what is stored, or decide by floats, and depend on what was loaded.
///
/// The assembler folds what makes addresses and counts loops into other instructions, or moves it out of loops. What makes data of data it cannot.
pub fn lines(functions: &[Function<'_>]) -> HashSet<u32> {
    functions.iter().flat_map(of_function).collect()
}

fn of_function(function: &Function<'_>) -> Vec<u32> {
    let steps: Vec<&Step<'_>> = function.pieces.iter().flat_map(|piece| &piece.steps).collect();
    let mut wanted: HashSet<&str> = HashSet::new();
    let mut loaded: HashSet<&str> = HashSet::new();
    loop {
        let before = (wanted.len(), loaded.len());
        // What is wanted goes against the order of the code, and what was loaded with it: few rounds are enough.
        for step in steps.iter().rev() {
            if is_root(step) || step.writes.iter().any(|register| wanted.contains(register)) {
                wanted.extend(&step.reads);
            }
        }
        for step in &steps {
            if is_load(step) || step.reads.iter().any(|register| loaded.contains(register)) {
                loaded.extend(&step.writes);
            }
        }
        if (wanted.len(), loaded.len()) == before {
            break;
        }
    }
    let makes_data = |step: &&&Step<'_>| {
        step.writes.iter().any(|register| wanted.contains(register))
            && step.reads.iter().any(|register| loaded.contains(register))
    };
    steps.iter().filter(makes_data).map(|step| step.ptx_line).collect()
}

/// Whether what it reads is wanted whatever becomes of its result.
fn is_root(step: &Step<'_>) -> bool {
    match step.base() {
        "st" | "red" | "atom" | "stmatrix" | "sust" | "call" => true,
        "setp" => step.has("f32") || step.has("f64"),
        "wmma" => step.has("store"),
        _ => false,
    }
}

fn is_load(step: &Step<'_>) -> bool {
    match step.base() {
        "ld" | "ldu" => !step.has("param"),
        "atom" | "tex" | "suld" | "ldmatrix" | "wmma" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::code::functions;
    use tilewright_emulator::parse::parse;

    #[test]
    fn what_is_stored_is_data_and_what_finds_it_is_not() {
        let ptx = ".version 9.0 .target sm_90 .address_size 64 .visible .entry k(.param .u64 p) {\n\
            .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<2>;\n\
            ld.param.u64 %d1, [p];\n\
            mov.u32 %r1, %tid.x;\n\
            mul.wide.u32 %d2, %r1, 4;\n\
            add.s64 %d3, %d1, %d2;\n\
            ld.global.u32 %r2, [%d3];\n\
            mul.lo.s32 %r3, %r2, %r2;\n\
            add.s32 %r4, %r1, 1;\n\
            st.global.u32 [%d3], %r3;\n\
            ret; }";
        let module = parse(ptx).expect("it is PTX");
        assert_eq!(lines(&functions(&module, "k")), HashSet::from([8]));
    }
}
