//! Memory for packed operands, kept by each thread from product to product.

use core::{mem::MaybeUninit, ops::Range};
use std::cell::RefCell;
use tilewright_core::{Error, ErrorKind};

/// One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [MaybeUninit<u8>; 64]);

/// Uninitialised memory that grows on demand.
#[derive(Default)]
pub struct Workspace {
    lines: Vec<Line>,
    /// What the first buffer holds, if its user has said so and it is still there.
    pub holds: Option<PackedB>,
}

/// Columns of B, packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedB {
    /// The number of the product, which no other has.
    pub product: u64,
    /// The columns, all terms of them.
    pub cols: Range<usize>,
    /// Columns of a strip.
    pub width: usize,
}

thread_local! {
    static KEPT: RefCell<Vec<Workspace>> = const { RefCell::new(Vec::new()) };
}

/// A thread keeps at most this much of each between products.
const KEEP: usize = 16 << 20;

impl Workspace {
    /// Calls `f` with a workspace of this thread; a nested call gets another.
    pub fn with<R>(f: impl FnOnce(&mut Self) -> R) -> R {
        let mut workspace = KEPT.with_borrow_mut(Vec::pop).unwrap_or_default();
        let result = f(&mut workspace);
        if workspace.lines.capacity() * size_of::<Line>() <= KEEP {
            KEPT.with_borrow_mut(|kept| kept.push(workspace));
        }
        result
    }

    /// As [`Self::reserve`], for what does not care what the memory holds, and overwrites it.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn reserve_anew<const N: usize>(
        &mut self,
        bytes: [usize; N],
        align: usize,
    ) -> Result<[*mut u8; N], Error> {
        self.holds = None;
        self.reserve(bytes, align)
    }

    /// Addresses of `bytes[i]` bytes each, on cache lines of their own and aligned to `align`, valid until the
    /// next call.
    ///
    /// # Errors
    /// `out-of-memory`.
    pub fn reserve<const N: usize>(
        &mut self,
        bytes: [usize; N],
        align: usize,
    ) -> Result<[*mut u8; N], Error> {
        // Elements may be aligned beyond a cache line; both sizes are powers of two.
        let unit = align.div_ceil(size_of::<Line>());
        let (mut begins, mut total) = ([0; N], 0);
        for (begin, bytes) in begins.iter_mut().zip(bytes) {
            *begin = total;
            total += (bytes.div_ceil(size_of::<Line>()) + unit) & !(unit - 1);
        }
        total += unit - 1;
        if total > self.lines.capacity() {
            self.holds = None;
        }
        self.lines.clear();
        if self.lines.try_reserve(total).is_err() {
            let bytes = (total * size_of::<Line>()) as u64;
            return Err(ErrorKind::OutOfMemory { what: "packed operands", bytes }.into());
        }
        let first = self.lines.as_mut_ptr();
        let skipped = first.addr().wrapping_neg() & (unit * size_of::<Line>() - 1);
        let mut addresses = [core::ptr::null_mut(); N];
        for (address, begin) in addresses.iter_mut().zip(begins) {
            // SAFETY: fewer than `unit` lines are skipped, which the total includes.
            *address = unsafe { first.add(skipped / size_of::<Line>() + begin) }.cast();
        }
        Ok(addresses)
    }
}
