//! The elements of a row of A that may be needed, best first.

use super::{
    STEP,
    metric::{FAR, Metric},
    order::{Order, better, worst},
};
use crate::{lanes::Below, op::By};
use core::ptr::copy_nonoverlapping;

/// In place of a distance: an element that no term can win with, because it is absent.
pub const ABSENT: u8 = 255;

/// What part of a row is sorted whole, however far its elements are, if no more are there.
const SHORT: usize = 8;
/// What part of a row may be near: if more are, it is left unsorted, because nearly all of its terms are needed anyway.
const MOST: f32 = 0.75;

/// Numbers of near elements that may be written in vain.
pub const SPARE: usize = 16;

/// Memory for sorted rows.
pub struct Room<P> {
    pub terms: *mut P,
    pub places: *mut u32,
    pub bounds: *mut P,
}

impl<P> Clone for Room<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Room<P> {}

impl<P> Room<P> {
    /// The bytes that so many elements take, in whole steps.
    pub fn bytes(elements: usize) -> [usize; 3] {
        let (steps, size) = (elements.div_ceil(STEP), size_of::<P>());
        [steps * STEP * size, steps * STEP * size_of::<u32>(), steps * size]
    }

    /// At the addresses of so many bytes.
    pub fn at([terms, places, bounds]: [*mut u8; 3]) -> Self {
        Self { terms: terms.cast(), places: places.cast(), bounds: bounds.cast() }
    }

    /// What follows so many steps.
    #[inline(always)]
    pub unsafe fn from(&self, steps: usize) -> Self {
        // SAFETY: the caller guarantees that there is so much room.
        unsafe {
            let (terms, places) = (self.terms.add(steps * STEP), self.places.add(steps * STEP));
            Self { terms, places, bounds: self.bounds.add(steps) }
        }
    }

    /// Copies so many steps.
    pub unsafe fn copy(&self, steps: usize, to: &Self) {
        // SAFETY: the caller guarantees them, and room for as many.
        unsafe {
            copy_nonoverlapping(self.terms, to.terms, steps * STEP);
            copy_nonoverlapping(self.places, to.places, steps * STEP);
            copy_nonoverlapping(self.bounds, to.bounds, steps);
        }
    }
}

/// Memory for a row to sort: the distance of each element, the near ones, with [`SPARE`] more, and the sorted row.
pub struct Sorting<P> {
    pub codes: *mut u8,
    pub near: *mut u32,
    pub room: Room<P>,
}

/// How far a row is sorted.
#[derive(Clone, Copy)]
pub struct Sorted {
    pub steps: usize,
    /// Whether all elements that can win are among them.
    pub whole: bool,
}

/// Sorts the elements of a row whose distance from the best is below [`FAR`] units, `scale` of them to a distance of one, by
/// whole units; and all that are there, if these are few. `width` elements of a panel separate its rows.
///
/// The last step is filled up with its last term. Bounds are those of all elements that follow, sorted or not.
///
/// # Safety
/// There must be room for all elements, in whole steps.
#[inline(always)]
pub unsafe fn sort<Q: Below, P: Metric, const MAX: bool>(
    line: &[P],
    by: By,
    scale: f64,
    width: usize,
    memory: &Sorting<P>,
) -> Sorted {
    // SAFETY: places count up to the elements of the line, for which there is room.
    unsafe {
        let &Sorting { codes, near: numbers, room } = memory;
        let order = Order::<P, MAX>::of(by);
        let origin = best_but::<P, MAX>(line, order.top);
        let units = order.units(scale, origin);
        let codes = core::slice::from_raw_parts_mut(codes, line.len());
        let mut absent = 0;
        for (code, &x) in codes.iter_mut().zip(line) {
            let near = if x == order.top { 0 } else { x.code(origin, units) };
            *code = if order.is_absent(x) { ABSENT } else { near };
        }
        for &code in codes.iter() {
            absent += usize::from(code == ABSENT);
        }
        let present = line.len() - absent;
        let limit = if present <= line.len() / SHORT { ABSENT } else { FAR };
        let near = Q::below(codes, limit, numbers);
        let whole = near == present;
        if !whole && near as f32 > MOST * line.len() as f32 {
            return Sorted { steps: 0, whole };
        }
        let mut ends = [0_u32; FAR as usize + 1];
        for i in 0..near {
            ends[usize::from(codes[*numbers.add(i) as usize])] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum - *end;
        }
        for i in 0..near {
            let p = *numbers.add(i) as usize;
            let end = &mut ends[usize::from(codes[p])];
            let to = *end as usize;
            *end += 1;
            room.terms.add(to).write(line[p]);
            room.places.add(to).write((p * width) as u32);
        }
        let steps = near.div_ceil(STEP);
        for to in near..steps * STEP {
            room.terms.add(to).write(*room.terms.add(near - 1));
            room.places.add(to).write(*room.places.add(near - 1));
        }
        for step in 0..steps {
            // Of each step by itself first: one chain through all terms would take longer than the rest of this function.
            let terms = room.terms.add(step * STEP);
            let mut best = *terms;
            for t in 1..STEP {
                best = better::<P, MAX>(best, *terms.add(t));
            }
            room.bounds.add(step).write(best);
        }
        // After the last term of a whole row there is none, and the bound is an element that can be added to others.
        let mut bound =
            if whole && near > 0 { *room.terms.add(near - 1) } else { best_far::<P, MAX>(line, codes) };
        for step in (0..steps).rev() {
            let best = room.bounds.add(step).replace(bound);
            bound = better::<P, MAX>(bound, best);
        }
        Sorted { steps, whole }
    }
}

/// Elements side by side, which makes vectors of them.
const LANES: usize = 32;

/// The best element of a line.
#[inline(always)]
pub fn best_of<P: Metric, const MAX: bool>(line: &[P]) -> P {
    best_but::<P, MAX>(line, worst::<P, MAX>())
}

/// The best element of a line that is not `left`.
#[inline(always)]
pub fn best_but<P: Metric, const MAX: bool>(line: &[P], left: P) -> P {
    let mut best = [worst::<P, MAX>(); LANES];
    let (chunks, rest) = line.as_chunks::<LANES>();
    for chunk in chunks {
        for l in 0..LANES {
            best[l] = better::<P, MAX>(best[l], unless::<P, MAX>(chunk[l], left));
        }
    }
    for &x in rest {
        best[0] = better::<P, MAX>(best[0], unless::<P, MAX>(x, left));
    }
    best.into_iter().fold(worst::<P, MAX>(), better::<P, MAX>)
}

/// An element, or one that is worse than any if it is `left`.
#[inline(always)]
fn unless<P: Metric, const MAX: bool>(x: P, left: P) -> P {
    if x == left { worst::<P, MAX>() } else { x }
}

/// The best element that is not sorted.
#[inline(always)]
fn best_far<P: Metric, const MAX: bool>(line: &[P], codes: &[u8]) -> P {
    let mut best = [worst::<P, MAX>(); LANES];
    let ((chunks, rest), (chunk_codes, rest_codes)) = (line.as_chunks::<LANES>(), codes.as_chunks::<LANES>());
    for (chunk, codes) in chunks.iter().zip(chunk_codes) {
        for l in 0..LANES {
            best[l] = better::<P, MAX>(best[l], far::<P, MAX>(chunk[l], codes[l]));
        }
    }
    for (&x, &code) in rest.iter().zip(rest_codes) {
        best[0] = better::<P, MAX>(best[0], far::<P, MAX>(x, code));
    }
    best.into_iter().fold(worst::<P, MAX>(), better::<P, MAX>)
}

/// An element that is not sorted, or one that is worse than any.
#[inline(always)]
fn far<P: Metric, const MAX: bool>(x: P, code: u8) -> P {
    if code == FAR { x } else { worst::<P, MAX>() }
}
