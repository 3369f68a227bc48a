//! The registers that an executing function sees.

use super::vector::{self, FULL};
use crate::memory::{each_lane, lanes};
use crate::program::{
    Line,
    instruction::{Place, Slot, Width},
};

/// The frame of the executing function and the constants of the program.
///
/// Places were made by the register allocation of the program, which keeps every row inside the frame; the warp grows its storage before
/// a function is entered. That is what the `SAFETY` comments here rest on.
#[derive(Clone, Copy)]
pub struct Frame {
    /// First byte of the frame.
    base: *mut u8,
    constants: *const u8,
}

impl Frame {
    /// The frame at byte `offset` of `storage`.
    ///
    /// # Safety
    /// `storage` must reach `frame_bytes` of the executing function beyond `offset`, and must outlive the frame.
    pub unsafe fn new(storage: &mut [Line], offset: u32, constants: &[Line]) -> Self {
        // SAFETY: the caller promises that the offset is inside.
        let base = unsafe { storage.as_mut_ptr().cast::<u8>().add(offset as usize) };
        Self { base, constants: constants.as_ptr().cast() }
    }

    /// The byte of `storage` at which it begins.
    pub fn offset(&self, storage: &[Line]) -> u32 {
        (self.base as usize - storage.as_ptr() as usize) as u32
    }

    /// The row or mask at `place`.
    #[inline(always)]
    pub fn source<T>(&self, place: Place) -> *const T {
        let offset = place.0;
        // SAFETY: see the type; constants have negative places.
        unsafe {
            if offset >= 0 {
                self.base.add(offset as usize).cast()
            } else {
                self.constants.add((-1 - offset) as usize).cast()
            }
        }
    }

    /// The row or mask to write at `place`.
    #[inline(always)]
    pub fn target<T>(&self, place: Place) -> *mut T {
        debug_assert!(place.0 >= 0 && place != Place::NONE);
        // SAFETY: see the type; destinations are registers.
        unsafe { self.base.add(place.0 as usize).cast() }
    }

    /// The lanes where a predicate holds.
    #[inline(always)]
    pub fn predicate(&self, place: Place) -> u32 {
        // SAFETY: predicates are masks of 32 bits.
        unsafe { *self.source::<u32>(place) }
    }

    /// Writes a predicate in the lanes of `mask`.
    #[inline(always)]
    pub fn set_predicate(&self, place: Place, value: u32, mask: u32) {
        // SAFETY: predicates are masks of 32 bits.
        unsafe {
            let target = self.target::<u32>(place);
            *target = *target & !mask | value & mask;
        }
    }

    /// One lane's value.
    #[inline(always)]
    pub fn lane(&self, slot: Slot, lane: usize) -> u64 {
        // SAFETY: rows have 32 lanes.
        unsafe {
            match slot.width {
                Width::Predicate => u64::from(self.predicate(slot.place) >> lane & 1),
                Width::Word => (*self.source::<u32>(slot.place).add(lane)).into(),
                Width::Double => *self.source::<u64>(slot.place).add(lane),
            }
        }
    }

    /// Writes one lane's value.
    #[inline(always)]
    pub fn set_lane(&self, slot: Slot, lane: usize, value: u64) {
        // SAFETY: rows have 32 lanes.
        unsafe {
            match slot.width {
                Width::Predicate => {
                    self.set_predicate(slot.place, if value & 1 == 1 { FULL } else { 0 }, 1 << lane);
                }
                Width::Word => *self.target::<u32>(slot.place).add(lane) = value as u32,
                Width::Double => *self.target::<u64>(slot.place).add(lane) = value,
            }
        }
    }

    /// All lanes of a number, as 64 bits.
    #[inline(always)]
    pub fn row(&self, slot: Slot) -> [u64; 32] {
        // SAFETY: rows have 32 lanes.
        unsafe {
            match slot.width {
                Width::Double => self.source::<[u64; 32]>(slot.place).read(),
                Width::Word => each_lane(&*self.source::<[u32; 32]>(slot.place), u64::from),
                Width::Predicate => std::array::from_fn(|lane| self.lane(slot, lane)),
            }
        }
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub fn set_row(&self, slot: Slot, values: &[u64; 32], mask: u32) {
        // SAFETY: rows have 32 lanes.
        unsafe {
            match slot.width {
                Width::Double => vector::map1(self.target(slot.place), values.as_ptr(), mask, |v: u64| v),
                Width::Word => {
                    vector::map1(self.target(slot.place), values.as_ptr(), mask, |v: u64| v as u32)
                }
                Width::Predicate => lanes(mask).for_each(|lane| self.set_lane(slot, lane, values[lane])),
            }
        }
    }

    /// Writes one value to the lanes of `mask`.
    #[inline(always)]
    pub fn fill(&self, slot: Slot, value: u64, mask: u32) {
        // SAFETY: rows have 32 lanes.
        unsafe {
            match slot.width {
                Width::Double => vector::splat(self.target(slot.place), value, mask),
                Width::Word => vector::splat(self.target(slot.place), value as u32, mask),
                Width::Predicate => {
                    self.set_predicate(slot.place, if value & 1 == 1 { FULL } else { 0 }, mask);
                }
            }
        }
    }
}
