//! What bulk copies have brought to shared memory.

use crate::check::Side;

/// A tile that a copy of a tensor has filled.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Addresses.
    pub start: u64,
    pub end: u64,
    /// Bytes of a swizzled line, 16 without a swizzle.
    pub width: u32,
    /// When it was filled.
    pub stamp: u32,
    /// Where its pieces of 16 bytes lie that have come from the tensor, and not from outside of it.
    pub inside: Vec<u64>,
    pub side: Side,
}
