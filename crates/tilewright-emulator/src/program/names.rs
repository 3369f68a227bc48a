//! Scopes: which register, label or variable a name means at some place of a function.

use std::collections::HashMap;

use super::instruction::{Place, Slot, Width};
use crate::ptx_isa::Type;

/// What a name in a function stands for.
#[derive(Clone, Copy, Debug)]
pub enum Local {
    /// A virtual register.
    Register(Register),
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
    pub fn declare_range(&mut self, prefix: &'a str, ty: Type, count: u32) {
        if let Some(scope) = self.open.last_mut() {
            scope.ranges.push((prefix, Range { ty, count }));
        }
    }

    /// What `name` means here.
    pub fn find(&mut self, name: &'a str, registers: &mut Registers) -> Option<Local> {
        for scope in self.open.iter_mut().rev() {
            if let Some(&local) = scope.names.get(name) {
                return Some(local);
            }
            if let Some(range) = scope.range_of(name) {
                let slot = registers.add(Width::of(range.ty)?, Pinned::No);
                let local = Local::Register(Register { slot, bits: range.ty.bits() });
                scope.names.insert(name, local);
                return Some(local);
            }
        }
        None
    }
}

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
