//! Data between memory and the registers of a warp.

use super::{frame::Frame, vector};
use crate::memory::{Shape, Words, lanes};
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

impl Cells<'_> {
    /// The same lanes, `bytes` further on.
    #[inline(always)]
    unsafe fn element(&self, bytes: usize) -> Self {
        // SAFETY: the caller knows that the access reaches so far.
        Self { data: unsafe { self.data.add(bytes) }, ..*self }
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
    // Vectors are consecutive as a whole, their elements are not.
    let apart = site.elements > 1 && cells.shape == Shape::Consecutive;
    let shape = if apart { Shape::Scattered } else { cells.shape };
    for (element, to) in site.values.iter().enumerate() {
        let Some(to) = *to else { continue };
        // SAFETY: the caller has checked the whole vector.
        unsafe {
            let cells = Cells { shape, ..cells.element(element * site.bytes as usize) };
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
        if cells.shape == Shape::Uniform {
            frame.fill(to, W::read::<BYTES>(cells.data), cells.mask);
        } else if to.width == Width::Word && cells.mask == vector::FULL {
            let target = frame.target::<u32>(to.place);
            if cells.shape == Shape::Consecutive && BYTES == 4 {
                for lane in 0..32 {
                    *target.add(lane) = W::read::<BYTES>(cells.data.add(4 * lane)) as u32;
                }
            } else {
                for lane in 0..32 {
                    *target.add(lane) = W::read::<BYTES>(cells.lane(lane)) as u32;
                }
            }
        } else {
            for lane in lanes(cells.mask) {
                frame.set_lane(to, lane, W::read::<BYTES>(cells.lane(lane)));
            }
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
            let cells = cells.element(element * site.bytes as usize);
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
    for lane in lanes(cells.mask) {
        // SAFETY: the caller has checked that all lanes are inside and aligned.
        unsafe { W::write::<BYTES>(cells.lane(lane), frame.lane(from, lane)) };
    }
}
