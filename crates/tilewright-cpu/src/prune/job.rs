//! A pruned product: operands, C, and the account that may stop it.

use super::{Account, Pruning, STEP};
use crate::{
    narrow::Code,
    options::Options,
    pack::{Lines, Strips},
    shared::Shared,
};
use core::ops::Range;
use tilewright_core::{Layout, MatRef};

/// A product to compute.
pub struct Job<'a, E, P> {
    pub kernel: &'a Pruning<E, P>,
    /// Units per distance to sort rows by.
    pub scale: f64,
    pub a: MatRef<'a, E>,
    pub b: MatRef<'a, E>,
    pub c: *mut E,
    pub layout: Layout,
    /// Where the winners go, if they are asked for: then there is one block of terms, and C is not joined.
    pub arg: Option<Shared<u32>>,
    /// Whether sums are joined with C.
    pub joins: bool,
    /// Elements of sorted rows to keep at a time.
    pub room: usize,
    pub account: Account,
    pub options: &'a Options<'a>,
}

// SAFETY: a job reads A and B, and its regions write disjoint parts of C.
unsafe impl<E: Send + Sync, P> Sync for Job<'_, E, P> {}

impl<E: Copy, P: Copy> Job<'_, E, P> {
    /// What an element of C is computed with.
    ///
    /// # Safety
    /// It must be readable.
    #[inline(always)]
    pub unsafe fn load(&self, c: *const E) -> P {
        // SAFETY: as the caller guarantees. Elements that need no change are of one type.
        unsafe { self.kernel.between.map_or_else(|| c.cast::<P>().read(), |between| (between.load)(*c)) }
    }

    /// Writes an element of C.
    ///
    /// # Safety
    /// It must be writable.
    #[inline(always)]
    pub unsafe fn store(&self, x: P, c: *mut E) {
        // SAFETY: as above.
        unsafe {
            match self.kernel.between {
                None => c.cast::<P>().write(x),
                Some(between) => c.write((between.store)(x)),
            }
        }
    }

    /// Packs rows of A one after another, each filled up to whole steps with its last term.
    ///
    /// # Safety
    /// The rows must lie inside A, and there must be room.
    pub unsafe fn pack_a(&self, rows: &Range<usize>, terms: &Range<usize>, to: *mut P) {
        let whole = terms.len().next_multiple_of(STEP);
        // SAFETY: as the caller guarantees. What are terms to the packing are rows here.
        unsafe {
            let lines = Lines::of(self.a, terms, rows, Code::default());
            (self.kernel.pack)(&lines, Strips { width: whole, unit: whole }, to);
        }
    }
}
