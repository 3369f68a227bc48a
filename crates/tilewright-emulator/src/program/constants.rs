//! Constants as rows, so that an immediate is read like a register.

use std::collections::HashMap;

use super::instruction::{Place, Slot, Width};

/// A cache line of register storage.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line(pub [u32; 16]);

impl Line {
    /// All bits zero.
    pub const ZERO: Line = Line([0; 16]);
}

/// The rows of all constants of a program.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    lines: Vec<Line>,
    known: HashMap<(Width, u64), Place>,
}

impl Constants {
    /// The operand for `value`.
    pub fn slot(&mut self, width: Width, value: u64) -> Slot {
        let place = match self.known.get(&(width, value)) {
            Some(&place) => place,
            None => {
                let place = Place(-1 - (self.lines.len() * size_of::<Line>()) as i32);
                self.append(width, value);
                self.known.insert((width, value), place);
                place
            }
        };
        Slot { place, width }
    }

    fn append(&mut self, width: Width, value: u64) {
        let (low, high) = (value as u32, (value >> 32) as u32);
        match width {
            Width::Predicate => self.lines.push(Line([if value & 1 == 1 { u32::MAX } else { 0 }; 16])),
            Width::Word => self.lines.extend([Line([low; 16]); 2]),
            Width::Double => {
                self.lines.extend([Line(std::array::from_fn(|i| if i % 2 == 0 { low } else { high })); 4]);
            }
        }
    }

    /// The rows.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}
