//! What is known of a whole function before its blocks are walked through.

use std::collections::{HashMap, HashSet};

use super::value::{ALL_ZEROS, Value};
use crate::parse::ast::{Instruction, Operand, StateSpace, Statement};
use crate::program::{
    grammar::{Lowering, Split},
    layout::{self, Layout, ModuleName},
};
use crate::ptx_isa::Type;

/// Where shared memory begins, modulo every alignment that matters: the system has the first 1024 bytes.
const SHARED_START: u64 = 1024;
/// Alignment of dynamic shared memory.
const DYNAMIC_ALIGN: u64 = 16;

/// The statements of a function, and what its names are.
pub struct Body<'b, 'a> {
    pub statements: &'b [Statement<'a>],
    /// Their opcodes.
    pub splits: &'b [Option<Split<'a>>],
    /// Shared variables, with the trailing zeros of their addresses.
    pub variables: HashMap<&'a str, u32>,
    /// At how many places each register is written.
    writes: HashMap<&'a str, u32>,
    /// 16-bit registers that something uses as integers.
    widened: HashSet<&'a str>,
}

impl<'b, 'a> Body<'b, 'a> {
    pub fn new(statements: &'b [Statement<'a>], splits: &'b [Option<Split<'a>>], layout: &Layout) -> Self {
        let mut body = Self {
            statements,
            splits,
            variables: HashMap::new(),
            writes: HashMap::new(),
            widened: HashSet::new(),
        };
        let mut used = HashSet::new();
        for (statement, split) in statements.iter().zip(splits) {
            let (Statement::Instruction(inst), Some(split)) = (statement, split) else { continue };
            let (to, sources) = destination(inst);
            for name in to.into_iter().flat_map(registers) {
                *body.writes.entry(name).or_default() += 1;
            }
            for source in sources {
                used.extend(registers(source));
                if !keeps_halves(split, source) {
                    body.widened.extend(registers(source));
                }
            }
            used.extend(to.into_iter().flat_map(registers));
        }
        body.place_variables(layout, &used);
        body
    }

    /// Gives the shared variables that are used their addresses: in the order of their declarations, dynamic memory last.
    fn place_variables(&mut self, layout: &Layout, used: &HashSet<&'a str>) {
        let mut end = SHARED_START;
        let mut place = |bytes: u64, align: u64| {
            let start = end.next_multiple_of(align.max(1));
            end = start.saturating_add(bytes);
            start.trailing_zeros().min(ALL_ZEROS)
        };
        let known = |name: &&'a str| match layout.names.get(*name) {
            Some(&ModuleName::Shared(index)) => Some((index, *name)),
            _ => None,
        };
        let mut of_module: Vec<(u32, &'a str)> = used.iter().filter_map(known).collect();
        of_module.sort_unstable();
        for &(index, name) in of_module.iter().filter(|variable| variable.0 != 0) {
            let variable = &layout.shared[index as usize];
            self.variables.insert(name, place(variable.bytes, variable.align));
        }
        for statement in self.statements {
            let Statement::Variable(variable) = statement else { continue };
            if variable.space == StateSpace::Shared && used.contains(variable.name) {
                let bytes = layout::bytes_of(variable).unwrap_or(0);
                self.variables.insert(variable.name, place(bytes, layout::align_of(variable)));
            }
        }
        for &(_, name) in of_module.iter().filter(|variable| variable.0 == 0) {
            self.variables.insert(name, place(0, layout.shared[0].align.max(DYNAMIC_ALIGN)));
        }
    }

    /// Whether a register is written at one place only.
    pub fn is_single(&self, name: &str) -> bool {
        self.writes.get(name) == Some(&1)
    }

    /// Whether nothing writes it, as special registers.
    pub fn is_given(&self, name: &str) -> bool {
        !self.writes.contains_key(name)
    }

    pub fn is_widened(&self, name: &str) -> bool {
        self.widened.contains(name)
    }
}

/// The operand that an instruction writes, and those that it reads.
pub fn destination<'b, 'a>(inst: &'b Instruction<'a>) -> (Option<&'b Operand<'a>>, &'b [Operand<'a>]) {
    match inst.operands.split_first() {
        // Those that write memory, or jump, begin with an address or a label.
        Some((to, sources)) if !matches!(to, Operand::Address(_) | Operand::Immediate(_)) => {
            (Some(to), sources)
        }
        _ => (None, &inst.operands),
    }
}

/// Whether an instruction takes 16-bit registers as they are: floats, copies and stores do; integers become words first.
fn keeps_halves(split: &Split<'_>, source: &Operand<'_>) -> bool {
    let is_half = |ty: &Type| ty.bits() == 16;
    let is_float = |ty: &Type| matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2);
    match split.lowering() {
        Lowering::Mov | Lowering::Store | Lowering::StoreAsync => {
            matches!(source, Operand::Vector(_)) || split.types.iter().all(is_half)
        }
        _ => split.types.iter().any(is_float),
    }
}

/// The registers of an operand.
pub fn registers<'b, 'a>(operand: &'b Operand<'a>) -> Box<dyn Iterator<Item = &'a str> + 'b> {
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Negated(name) | Operand::Offset(name, _) => {
            Box::new(std::iter::once(*name))
        }
        Operand::Pair(one, other) => Box::new([*one, *other].into_iter()),
        Operand::Vector(all) | Operand::Address(all) | Operand::List(all) => {
            Box::new(all.iter().flat_map(registers))
        }
        Operand::VectorPair(all, predicate) => {
            Box::new(all.iter().flat_map(registers).chain(std::iter::once(*predicate)))
        }
        Operand::Element(name, _) => Box::new(std::iter::once(*name)),
        Operand::Immediate(_) => Box::new(std::iter::empty()),
    }
}

/// What each block leaves in a register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions<'a>(HashMap<&'a str, Vec<Definition>>);

/// The value that a register has behind a block that writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    pub block: usize,
    /// Trailing zeros.
    pub zeros: u32,
    /// The number, if it is one.
    pub number: Option<u32>,
}

impl<'a> Definitions<'a> {
    pub fn insert(&mut self, name: &'a str, block: usize, value: &Value<'a>) {
        let definition = Definition { block, zeros: value.all_zeros(), number: value.number() };
        self.0.entry(name).or_default().push(definition);
    }

    /// The definitions by all blocks but `except`.
    pub fn of(&self, name: &str, except: Option<usize>) -> impl Iterator<Item = &Definition> {
        let all = self.0.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().filter(move |definition| Some(definition.block) != except)
    }

    /// Trailing zeros of whatever the register may hold; hopeful where no block has been looked at.
    pub fn zeros(&self, name: &str, except: Option<usize>) -> u32 {
        let is_known = self.0.contains_key(name);
        let least = self.of(name, except).map(|definition| definition.zeros).min();
        least.unwrap_or(if is_known || self.0.is_empty() { ALL_ZEROS } else { 0 })
    }
}
