//! Bulk copies: those of the Tensor Memory Accelerator.

use super::{AtomicOp, MemorySite, Slot};
use crate::ptx_isa::Type;

/// `cp.async.bulk`, `cp.reduce.async.bulk` and their forms of tensors.
#[derive(Clone, Debug)]
pub struct BulkSite {
    /// Where the data go.
    pub direction: Direction,
    /// The side in shared memory; where both are, the destination.
    pub shared: MemorySite,
    /// The other side: global memory, or the source in shared memory; of a tensor, its map.
    pub far: MemorySite,
    /// What is moved.
    pub extent: Extent,
    /// The mbarrier that is told of the bytes; a copy without one belongs to a group.
    pub barrier: Option<MemorySite>,
    /// What is done with what is there already.
    pub reduction: Option<Reduction>,
    /// The blocks of the cluster that are written to.
    pub blocks: Option<Slot>,
}

/// Where the data of a bulk copy go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To shared memory.
    Load,
    /// From shared memory to global memory.
    Store,
}

/// What a bulk copy moves.
#[derive(Clone, Debug)]
pub enum Extent {
    /// So many bytes.
    Bytes(Slot),
    /// The box of a tensor map at these coordinates, with offsets in im2col mode.
    Box {
        /// Coordinates.
        coordinates: Vec<Slot>,
        /// Offsets.
        offsets: Vec<Slot>,
        /// Whether the map must be one of im2col mode.
        im2col: bool,
    },
}

/// `tensormap.replace` and its fences.
#[derive(Clone, Debug)]
pub struct MapSite {
    /// The map.
    pub map: MemorySite,
    /// What is done.
    pub kind: MapKind,
}

/// What is done with a tensor map in memory.
#[derive(Clone, Debug)]
pub enum MapKind {
    /// A field becomes this value.
    Replace {
        /// The field.
        field: MapField,
        /// The dimension, of fields that have one for each.
        dimension: usize,
        /// The value.
        value: Slot,
    },
    /// It is copied from shared memory, and released.
    Copy {
        /// Where from.
        from: MemorySite,
    },
    /// It is acquired: copies see what has become of it.
    Acquire,
}

/// A field of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX field of the same spelling")]
pub enum MapField {
    GlobalAddress,
    Rank,
    BoxDim,
    GlobalDim,
    GlobalStride,
    ElementStride,
    Elemtype,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
}

/// What is done with what is there already.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// The operation.
    pub op: AtomicOp,
    /// The type of the elements; that of the map if it is not said.
    pub ty: Option<Type>,
}
