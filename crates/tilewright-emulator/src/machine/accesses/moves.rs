//! Data between memory and the registers of a warp.

use crate::count::{GROUP, Shape};
use crate::machine::lanes::{frame::Frame, vector::FULL};
use crate::memory::{Words, lanes};
use crate::program::instruction::{MemorySite, Slot, Width};

/// The memory of a warp access.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// The first active lane's.
    pub data: *mut u8,
    /// Every lane's address minus the first's; 0 for lanes that sit out.
    pub relative: &'a [u64; 32],
    /// How the lanes lie.
    pub shape: Shape,
    /// Active lanes.
    pub mask: u32,
}

/// What a register has for each lane.
trait Lane: Copy {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl Lane for u32 {
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits as u32
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self.into()
    }
}

impl Lane for u64 {
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }
}

impl Cells<'_> {
    /// An element of a vector. Lanes of vectors follow each other as a whole, their elements do not.
    #[inline(always)]
    unsafe fn element(&self, site: &MemorySite, number: usize) -> Self {
        let apart = site.elements > 1 && self.shape == Shape::Consecutive;
        let shape = if apart { Shape::Scattered } else { self.shape };
        // SAFETY: the caller knows that the access reaches so far.
        Self { data: unsafe { self.data.add(number * site.bytes as usize) }, shape, ..*self }
    }

    /// One lane's.
    #[inline(always)]
    unsafe fn lane(&self, lane: usize) -> *mut u8 {
        // SAFETY: the caller knows that all lanes are inside one object.
        unsafe { self.data.offset(self.relative[lane] as isize) }
    }
}

/// Moves the elements of a load.
///
/// # Safety
/// The cells must be inside an object, aligned, and memory that `W` may access.
#[inline(always)]
pub unsafe fn fetch<W: Words>(site: &MemorySite, cells: &Cells<'_>, frame: Frame) {
    for (element, to) in site.values.iter().enumerate() {
        let Some(to) = *to else { continue };
        // SAFETY: the caller has checked the whole vector.
        unsafe {
            let cells = cells.element(site, element);
            match site.bytes {
                4 => fetch_element::<W, 4>(&cells, frame, to),
                8 => fetch_element::<W, 8>(&cells, frame, to),
                2 => fetch_element::<W, 2>(&cells, frame, to),
                _ => fetch_element::<W, 1>(&cells, frame, to),
            }
        }
    }
}

#[inline(always)]
unsafe fn fetch_element<W: Words, const BYTES: u32>(cells: &Cells<'_>, frame: Frame, to: Slot) {
    // SAFETY: the caller has checked that all lanes are inside and aligned.
    unsafe {
        match to.width {
            _ if cells.shape == Shape::Uniform => frame.fill(to, W::read::<BYTES>(cells.data), cells.mask),
            Width::Word if cells.mask == FULL => fetch_row::<W, BYTES, u32>(cells, frame.target(to.place)),
            Width::Double if cells.mask == FULL => fetch_row::<W, BYTES, u64>(cells, frame.target(to.place)),
            _ => {
                for lane in lanes(cells.mask) {
                    frame.set_lane(to, lane, W::read::<BYTES>(cells.lane(lane)));
                }
            }
        }
    }
}

/// Reads all lanes, group by group: registers and memory do not overlap, which the compiler does not know.
#[inline(always)]
unsafe fn fetch_row<W: Words, const BYTES: u32, T: Lane>(cells: &Cells<'_>, row: *mut T) {
    for first in (0..32).step_by(GROUP) {
        // SAFETY: the caller has checked that all lanes are inside and aligned; rows have 32 lanes.
        unsafe {
            let start = cells.lane(first);
            let mut values = [T::from_bits(0); GROUP];
            match cells.shape {
                Shape::Uniform | Shape::Repeated => values = [T::from_bits(W::read::<BYTES>(start)); GROUP],
                Shape::Consecutive => {
                    for (lane, value) in values.iter_mut().enumerate() {
                        *value = T::from_bits(W::read::<BYTES>(start.add(lane * BYTES as usize)));
                    }
                }
                Shape::Scattered => {
                    for (lane, value) in values.iter_mut().enumerate() {
                        *value = T::from_bits(W::read::<BYTES>(cells.lane(first + lane)));
                    }
                }
            }
            row.add(first).cast::<[T; GROUP]>().write(values);
        }
    }
}

/// Moves the elements of a store.
///
/// # Safety
/// As for [`fetch`], and the memory must be writable.
#[inline(always)]
pub unsafe fn spill<W: Words>(site: &MemorySite, cells: &Cells<'_>, frame: Frame) {
    for (element, from) in site.values.iter().enumerate() {
        let Some(from) = *from else { continue };
        // SAFETY: the caller has checked the whole vector.
        unsafe {
            let cells = cells.element(site, element);
            match site.bytes {
                4 => spill_element::<W, 4>(&cells, frame, from),
                8 => spill_element::<W, 8>(&cells, frame, from),
                2 => spill_element::<W, 2>(&cells, frame, from),
                _ => spill_element::<W, 1>(&cells, frame, from),
            }
        }
    }
}

#[inline(always)]
unsafe fn spill_element<W: Words, const BYTES: u32>(cells: &Cells<'_>, frame: Frame, from: Slot) {
    // SAFETY: the caller has checked that all lanes are inside and aligned.
    unsafe {
        match from.width {
            Width::Word if cells.mask == FULL => spill_row::<W, BYTES, u32>(cells, frame.source(from.place)),
            Width::Double if cells.mask == FULL => {
                spill_row::<W, BYTES, u64>(cells, frame.source(from.place));
            }
            _ => {
                for lane in lanes(cells.mask) {
                    W::write::<BYTES>(cells.lane(lane), frame.lane(from, lane));
                }
            }
        }
    }
}

/// Writes all lanes, in their order: of those that write one place the last stays.
#[inline(always)]
unsafe fn spill_row<W: Words, const BYTES: u32, T: Lane>(cells: &Cells<'_>, row: *const T) {
    for first in (0..32).step_by(GROUP) {
        // SAFETY: the caller has checked that all lanes are inside and aligned; rows have 32 lanes.
        unsafe {
            let values = row.add(first).cast::<[T; GROUP]>().read();
            if cells.shape == Shape::Consecutive {
                let start = cells.lane(first);
                for (lane, value) in values.iter().enumerate() {
                    W::write::<BYTES>(start.add(lane * BYTES as usize), value.bits());
                }
            } else {
                for (lane, value) in values.iter().enumerate() {
                    W::write::<BYTES>(cells.lane(first + lane), value.bits());
                }
            }
        }
    }
}
