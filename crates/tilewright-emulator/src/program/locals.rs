//! Local variables: each has a region of a thread's local addresses to itself, so that the address alone says which one a pointer was
//! made from, as in the other memories. Their storage is packed.

use super::{instruction::Class, layout::address};

/// A local variable of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// The name. Compilers put all arrays of a function into one, `__local_depot`.
    pub name: String,
    /// Bytes.
    pub bytes: u32,
    /// Where it lies in the storage of one level of recursion.
    pub offset: u32,
}

/// The local variables of a program.
#[derive(Clone, Debug, Default)]
pub struct Locals {
    variables: Vec<LocalVariable>,
    /// Bytes of the storage of one level.
    bytes: u32,
    /// log2 of the bytes of a variable's region.
    region_shift: u32,
}

/// Local memory of a thread in bytes, all levels of recursion together: the hardware's limit.
pub const LOCAL_LIMIT: u64 = 512 << 10;

/// What a local address means.
#[derive(Clone, Copy, Debug)]
pub struct LocalPlace<'a> {
    /// The variable that it was made from.
    pub variable: &'a LocalVariable,
    /// The address of its first byte.
    pub start: u64,
    /// Where that lies in the storage of all levels.
    pub offset: u64,
}

impl Locals {
    /// The variables of a program that may be active at as many levels as fit, in `bytes` at each.
    pub fn new(variables: Vec<LocalVariable>, bytes: u32) -> Self {
        let levels = (LOCAL_LIMIT / u64::from(bytes.max(1))).max(1);
        let regions = levels * variables.len().max(1) as u64;
        let region_shift = (address::WINDOW_BYTES / regions).max(2).ilog2();
        Self { variables, bytes, region_shift }
    }

    /// Bytes of the storage of one level of recursion.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The address of a variable at a level of recursion.
    pub fn address(&self, level: u32, variable: u32) -> u64 {
        let region = u64::from(level) * self.variables.len() as u64 + u64::from(variable);
        // In the middle, so that negative indices stay inside the region too.
        (region << self.region_shift) + (1 << (self.region_shift - 1))
    }

    /// What the address means, in bounds of its variable or not.
    pub fn find(&self, at: u64) -> Option<LocalPlace<'_>> {
        let region = at >> self.region_shift;
        let count = self.variables.len() as u64;
        let level = region.checked_div(count)?;
        let variable = &self.variables[(region % count) as usize];
        let start = self.address(u32::try_from(level).ok()?, (region % count) as u32);
        let offset = level * u64::from(self.bytes) + u64::from(variable.offset);
        (offset + u64::from(variable.bytes) <= LOCAL_LIMIT).then_some(LocalPlace { variable, start, offset })
    }
}

/// Numbers the variables of a function among those of the program, and moves them to `offset`.
pub fn place(
    all: &mut Vec<LocalVariable>,
    mine: &[LocalVariable],
    code: &mut [super::instruction::Inst],
    offset: u32,
) {
    for inst in code.iter_mut().filter(|inst| inst.op.class() == Class::Local) {
        inst.aux += all.len() as u32;
    }
    all.extend(
        mine.iter().map(|variable| LocalVariable { offset: variable.offset + offset, ..variable.clone() }),
    );
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn variables(bytes: &[u32]) -> Vec<LocalVariable> {
        let mut offset = 0;
        let variable = |&bytes: &u32| {
            offset += bytes;
            LocalVariable { name: format!("v{bytes}"), bytes, offset: offset - bytes }
        };
        bytes.iter().map(variable).collect()
    }

    #[test]
    fn pointers_that_run_away_stay_with_their_variable() {
        for sizes in [&[64, 16, 4096][..], &[LOCAL_LIMIT as u32], &[16; 40]] {
            let locals = Locals::new(variables(sizes), sizes.iter().sum());
            let levels = LOCAL_LIMIT as u32 / locals.bytes();
            for level in [0, levels - 1] {
                for (number, &bytes) in sizes.iter().enumerate() {
                    let start = locals.address(level, number as u32);
                    for at in [start, start - u64::from(bytes), start + 2 * u64::from(bytes) - 1] {
                        let place = locals.find(at).unwrap();
                        assert_eq!((place.start, place.variable.bytes), (start, bytes));
                        assert!(at < address::WINDOW_BYTES);
                    }
                }
            }
            let last = sizes.len() as u32 - 1;
            assert!(locals.find(locals.address(levels, last)).is_none(), "the stack ends");
        }
        // Where there is room, as far as a thread can have memory.
        let locals = Locals::new(variables(&[64, 16]), 80);
        assert!(1 << locals.region_shift >= 64 << 10);
    }
}
