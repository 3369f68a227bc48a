//! A way to compute a product: a kernel, and what it leaves open.

use crate::request::Request;

/// A kernel, a tile of it, what is packed, and how sums are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// One of [`crate::simt_tiles`], [`crate::wgmma_tiles`], [`crate::mma_tiles`] or [`crate::dmma_tiles`]. Where C has few columns or rows, also what one thread
    /// of `simt` computes of it: `[128, 16, 16, 1, 16, 1]`. No two kernels share one.
    pub tile: [u32; 6],
    /// Which operands are packed, as the kernel sees them.
    pub pack: [bool; 2],
    /// The parts of every sum; `None` leaves this to the cost model, which may split those of the last wave of blocks alone.
    pub splits: Option<u32>,
}

impl Way {
    /// The request for the same product in this way.
    pub fn ask(self, request: Request) -> Request {
        Request { tile: Some(self.tile), pack: Some(self.pack), splits: self.splits, ..request }
    }
}
