//! The instructions of a kernel with what they read and write, in straight pieces.

use std::collections::HashSet;
use tilewright_emulator::parse::ast::{FunctionKind, Instruction, Module, Operand, Statement};

/// A function in pieces that are entered at their beginning alone.
pub struct Function<'a> {
    pub pieces: Vec<Piece<'a>>,
}

/// Instructions without a label between them, and no branch before the last.
#[derive(Default)]
pub struct Piece<'a> {
    pub label: Option<&'a str>,
    pub steps: Vec<Step<'a>>,
}

/// An instruction.
pub struct Step<'a> {
    pub ptx_line: u32,
    pub opcode: &'a str,
    /// Whether a predicate may take lanes out.
    pub is_guarded: bool,
    /// Registers that it writes.
    pub writes: Vec<&'a str>,
    /// Registers of addresses.
    pub places: Vec<&'a str>,
    /// Other registers that it reads, its guard among them.
    pub reads: Vec<&'a str>,
    /// Where it may go.
    pub target: Option<&'a str>,
}

impl<'a> Step<'a> {
    /// The word before the first dot.
    pub fn base(&self) -> &'a str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    /// Whether one of the words behind dots is this.
    pub fn has(&self, word: &str) -> bool {
        self.opcode.split('.').skip(1).any(|part| part == word)
    }

    fn new(instruction: &Instruction<'a>) -> Self {
        let mut step = Self {
            ptx_line: instruction.line,
            opcode: instruction.opcode,
            is_guarded: instruction.guard.is_some(),
            writes: Vec::new(),
            places: Vec::new(),
            reads: instruction.guard.iter().map(|guard| guard.predicate).collect(),
            target: None,
        };
        let writes_first = !WRITES_NOTHING.contains(&step.base());
        for (number, operand) in instruction.operands.iter().enumerate() {
            match operand {
                Operand::Name(label) if step.base() == "bra" => step.target = Some(label),
                operand if number == 0 && writes_first => step.walk(operand, To::Written),
                operand => step.walk(operand, To::Read),
            }
        }
        step
    }

    fn walk(&mut self, operand: &Operand<'a>, to: To) {
        let list = match to {
            To::Written => &mut self.writes,
            To::Place => &mut self.places,
            To::Read => &mut self.reads,
        };
        match operand {
            Operand::Name(name)
            | Operand::Not(name)
            | Operand::Negated(name)
            | Operand::Offset(name, _)
            | Operand::Element(name, _) => list.push(name),
            Operand::Pair(one, other) => list.extend([*one, *other]),
            Operand::Immediate(_) => {}
            Operand::VectorPair(parts, name) => {
                list.push(name);
                parts.iter().for_each(|part| self.walk(part, to));
            }
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| self.walk(part, to));
            }
            Operand::Address(parts) => parts.iter().for_each(|part| self.walk(part, To::Place)),
        }
    }
}

/// Whether warps of a block meet here. Those of a cluster meet elsewhere, and lanes of a warp need nobody.
pub fn is_block_barrier(opcode: &str) -> bool {
    let mut words = opcode.split('.');
    let is_barrier = matches!(words.next(), Some("bar" | "barrier"));
    is_barrier && matches!(words.next(), Some("cta" | "sync" | "red" | "arrive"))
}

/// The lines of the PTX whose instructions have a guard.
pub fn guarded(functions: &[Function<'_>]) -> HashSet<u32> {
    let steps = functions.iter().flat_map(|function| &function.pieces).flat_map(|piece| &piece.steps);
    steps.filter(|step| step.is_guarded).map(|step| step.ptx_line).collect()
}

#[derive(Clone, Copy)]
enum To {
    Written,
    Place,
    Read,
}

/// Opcodes whose first operand is read.
const WRITES_NOTHING: &[&str] = &[
    "st",
    "red",
    "bra",
    "brx",
    "bar",
    "barrier",
    "ret",
    "exit",
    "membar",
    "fence",
    "prefetch",
    "prefetchu",
    "cp",
    "trap",
    "call",
    "mbarrier",
    "stmatrix",
    "sust",
    "nanosleep",
    "griddepcontrol",
    "applypriority",
    "discard",
];

/// The entry of this name, and all functions that may be called.
pub fn functions<'a>(module: &Module<'a>, entry: &str) -> Vec<Function<'a>> {
    let is_wanted = |kind: FunctionKind, name: &str| kind == FunctionKind::Device || name == entry;
    let wanted = module.functions.iter().filter(|function| is_wanted(function.kind, function.name));
    wanted.filter_map(|function| Some(Function { pieces: pieces(function.body.as_ref()?) })).collect()
}

fn pieces<'a>(body: &[Statement<'a>]) -> Vec<Piece<'a>> {
    let mut pieces = vec![Piece::default()];
    for statement in body {
        let is_over =
            pieces.last().is_some_and(|piece| piece.steps.last().is_some_and(|s| s.base() == "bra"));
        match statement {
            Statement::Label(name) => pieces.push(Piece { label: Some(name), steps: Vec::new() }),
            Statement::Instruction(instruction) => {
                if is_over {
                    pieces.push(Piece::default());
                }
                if let Some(piece) = pieces.last_mut() {
                    piece.steps.push(Step::new(instruction));
                }
            }
            _ => {}
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warps_of_a_block_meet_at_its_barriers() {
        for opcode in [
            "bar.sync",
            "bar.red.popc.u32",
            "bar.arrive",
            "bar.cta.sync",
            "barrier.sync",
            "barrier.cta.arrive",
        ] {
            assert!(is_block_barrier(opcode), "{opcode}");
        }
        for opcode in
            ["bar.warp.sync", "barrier.cluster.arrive", "barrier.cluster.wait.aligned", "mbarrier.init"]
        {
            assert!(!is_block_barrier(opcode), "{opcode}");
        }
    }
}
