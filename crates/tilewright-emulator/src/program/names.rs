//! Scopes: which register, label or variable a name means at some place of a function.

use std::collections::HashMap;

use super::instruction::{Place, Slot, Width};
use crate::ptx_isa::Type;

/// What a name in a function stands for.
#[derive(Clone, Copy, Debug)]
pub enum Local {
    /// A virtual register.
    Register(Register),
    /// A vector variable: several registers in a row.
    Vector(Vector),
    /// A shared variable.
    Shared(u32),
    /// A global or constant variable declared inside the function.
    Address(u64),
    /// A local variable: its number in the function.
    Stack(u32),
    /// A parameter of the entry: offset into the parameter block.
    EntryParam(u32),
    /// A parameter of a function or of a call: rows.
    Rows(Rows),
}

/// A virtual register: its number is a [`Place`] until storage is assigned.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Number and storage.
    pub slot: Slot,
    /// Declared width in bits.
    pub bits: u32,
}

/// The registers of a `.v2`, `.v4` or `.v8` variable; a `.b128` register is two of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// The first.
    pub first: Register,
    /// How many.
    pub count: u32,
}

impl Vector {
    /// Declares `count` registers of type `ty` in a row; `None` if `ty` has no registers.
    fn new(registers: &mut Registers, ty: Type, count: u32) -> Option<Self> {
        let (ty, count) = if ty == Type::B128 { (Type::B64, 2 * count) } else { (ty, count) };
        let width = Width::of(ty)?;
        let slot = registers.add(width, Pinned::No);
        for _ in 1..count {
            registers.add(width, Pinned::No);
        }
        Some(Self { first: Register { slot, bits: ty.bits() }, count })
    }

    /// Register `index`.
    pub fn element(self, index: u32) -> Register {
        let Slot { place, width } = self.first.slot;
        let place = Place(place.0 + index.min(self.count - 1) as i32);
        Register { slot: Slot { place, width }, ..self.first }
    }
}

/// Consecutive words that hold a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The first.
    pub first: Place,
    /// How many.
    pub words: u32,
}

/// A range of registers, `%r<30>`.
#[derive(Clone, Copy, Debug)]
struct Range {
    ty: Type,
    /// Elements of each, 1 for plain registers.
    vector: u32,
    count: u32,
}

/// The storage classes of virtual registers, by number.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Width of each.
    pub widths: Vec<Width>,
    /// Whether it has a fixed place for the whole function.
    pub pinned: Vec<Pinned>,
}

/// Whether a virtual register is a parameter row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// Storage for the whole function.
    Yes,
    /// Storage while alive.
    No,
}

impl Registers {
    /// A new virtual register.
    pub fn add(&mut self, width: Width, pinned: Pinned) -> Slot {
        let place = Place(self.widths.len() as i32);
        self.widths.push(width);
        self.pinned.push(pinned);
        Slot { place, width }
    }

    /// What a declared name of `vector` elements of type `ty` stands for; `None` if there are no such registers.
    pub fn declare(&mut self, ty: Type, vector: u32) -> Option<Local> {
        if vector == 1 && ty != Type::B128 {
            let slot = self.add(Width::of(ty)?, Pinned::No);
            return Some(Local::Register(Register { slot, bits: ty.bits() }));
        }
        Vector::new(self, ty, vector).map(Local::Vector)
    }

    /// Rows of a parameter of `bytes` bytes.
    pub fn add_rows(&mut self, bytes: u64) -> Rows {
        let words = bytes.div_ceil(4).max(1) as u32;
        let first = Place(self.widths.len() as i32);
        for _ in 0..words {
            self.add(Width::Word, Pinned::Yes);
        }
        Rows { first, words }
    }
}

/// One `{ }`.
#[derive(Debug, Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Local>,
    ranges: Vec<(&'a str, Range)>,
    /// The number of the scope, for labels.
    number: u32,
}

/// The open scopes of a function.
#[derive(Debug)]
pub struct Scopes<'a> {
    open: Vec<Scope<'a>>,
    opened: u32,
}

impl<'a> Scopes<'a> {
    /// The outermost scope.
    pub fn new() -> Self {
        Self { open: vec![Scope::default()], opened: 0 }
    }

    /// Numbers scopes from the start again, for a second pass over the same text.
    pub fn restart(&mut self) {
        self.opened = 0;
    }

    /// `{`.
    pub fn enter(&mut self) {
        self.opened += 1;
        self.open.push(Scope { number: self.opened, ..Scope::default() });
    }

    /// `}`.
    pub fn leave(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// Numbers of the open scopes, innermost first.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.open.iter().rev().map(|scope| scope.number)
    }

    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, name: &'a str, local: Local) {
        if let Some(scope) = self.open.last_mut() {
            scope.names.insert(name, local);
        }
    }

    /// Declares `prefix0` to `prefix(count-1)`; registers come into being when they are used.
    pub fn declare_range(&mut self, prefix: &'a str, ty: Type, vector: u32, count: u32) {
        if let Some(scope) = self.open.last_mut() {
            scope.ranges.push((prefix, Range { ty, vector, count }));
        }
    }

    /// What `name` means here.
    pub fn find(&mut self, name: &'a str, registers: &mut Registers) -> Option<Local> {
        for scope in self.open.iter_mut().rev() {
            if let Some(&local) = scope.names.get(name) {
                return Some(local);
            }
            if let Some(range) = scope.range_of(name) {
                let local = registers.declare(range.ty, range.vector)?;
                scope.names.insert(name, local);
                return Some(local);
            }
        }
        let (vector, element) = name.rsplit_once('.')?;
        let index = ELEMENTS.iter().position(|names| names.contains(&element))? as u32;
        match self.find(vector, registers)? {
            Local::Vector(vector) if index < vector.count => Some(Local::Register(vector.element(index))),
            _ => None,
        }
    }
}

/// What the elements of a vector variable are called.
const ELEMENTS: [[&str; 2]; 4] = [["x", "r"], ["y", "g"], ["z", "b"], ["w", "a"]];

impl Scope<'_> {
    fn range_of(&self, name: &str) -> Option<Range> {
        self.ranges.iter().rev().find_map(|&(prefix, range)| {
            let number = name.strip_prefix(prefix)?;
            let leading_zero = number.len() > 1 && number.starts_with('0');
            let number: u32 = number.parse().ok()?;
            (number < range.count && !leading_zero).then_some(range)
        })
    }
}
