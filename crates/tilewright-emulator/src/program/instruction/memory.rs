//! Instructions that access memory.

use super::Slot;
use crate::alu::Operation;
use crate::ptx_isa::{MatrixOp, Type};

/// A state space as the machine tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Any of the others, by address.
    Generic,
    /// Global memory.
    Global,
    /// Constant memory.
    Const,
    /// Shared memory of the block.
    Shared,
    /// Memory of the thread.
    Local,
    /// Parameters of the entry.
    Param,
    /// Textures.
    Texture,
}

/// How an access orders with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A plain access: races if unordered.
    Weak,
    /// `.volatile`: strong for global memory, no substitute for a barrier in shared memory.
    Volatile,
    /// `.relaxed`, `.acquire`, `.release`, and atomics.
    Strong,
}

/// The threads that a strong access is strong for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.cta`: those of the block.
    Block,
    /// All others too.
    Device,
}

/// A load or store.
#[derive(Clone, Debug)]
pub struct MemorySite {
    /// The space of the instruction.
    pub space: Space,
    /// Bytes of one element.
    pub bytes: u32,
    /// Elements per lane.
    pub elements: u32,
    /// Order.
    pub order: Order,
    /// For whom it is strong.
    pub scope: Scope,
    /// Whether what it loads does nothing but decide branches, as a flag does.
    pub is_flag: bool,
    /// Whether the access also releases what came before (`st.release`, `atom.acq_rel`).
    pub releases: Releases,
    /// Base address, if in a register.
    pub base: Option<Slot>,
    /// Added to the base.
    pub offset: i64,
    /// Registers.
    pub values: Vec<Option<Slot>>,
    /// Row of the access counters.
    pub counter: u32,
    /// What an optimising assembler issues in place of it, if that is something else.
    pub issue: Option<Issue>,
    /// `.nc`: a load through a cache that sees no stores of the kernel.
    pub is_read_only: bool,
}

/// The accesses that an optimising assembler issues in place of one of PTX: it makes one of neighbours, which may be of several
/// iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// What is issued in `executions`; nothing where another instruction does it.
    pub parts: Vec<Part>,
    /// Executions of the PTX instruction.
    pub executions: u32,
}

/// An access that takes the place of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of one lane.
    pub bytes: u32,
    /// How far it begins below the address of the PTX instruction.
    pub below: u32,
    /// How often it is issued.
    pub times: u32,
}

/// Whether an instruction publishes the earlier writes of its thread by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Releases {
    /// No: a fence is needed before it.
    No,
    /// Yes.
    Yes,
}

/// The operation of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the PTX operation of the same spelling")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    Exch,
    Cas,
    And,
    Or,
    Xor,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub struct AtomicSite {
    /// The address, as for a load; `values` are the destinations of `atom`.
    pub memory: MemorySite,
    /// What is done.
    pub op: AtomicOp,
    /// Type of an element. One of 128 bits has two registers, and so two elements in memory.
    pub ty: Type,
    /// Operands of each element: the value, or compare and swap.
    pub operands: Vec<[Option<Slot>; 2]>,
    /// Semantics of floating-point additions, minima and maxima, from the scalar semantics.
    pub eval: Option<Operation>,
    /// Row of the access counters for the loads of its loop, if it is one on the hardware in shared memory.
    pub loads: Option<u32>,
}

/// `wmma.load` and `wmma.store`.
#[derive(Clone, Debug)]
pub struct WmmaSite {
    /// The description for the layout.
    pub op: MatrixOp,
    /// Which fragment.
    pub fragment: crate::ptx_isa::Fragment,
    /// How it lies in memory.
    pub major: crate::ptx_isa::Major,
    /// Elements between rows (or columns).
    pub stride: Option<Slot>,
    /// Type of an element.
    pub ty: Type,
    /// The access.
    pub memory: MemorySite,
}

/// `ldmatrix` and `stmatrix`.
#[derive(Clone, Debug)]
pub struct MatrixRowsSite {
    /// The access; `values` has one register per 8 x 8 matrix.
    pub memory: MemorySite,
    /// `.trans`.
    pub transpose: Transpose,
}

/// Whether a matrix is transposed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transpose {
    /// `.trans`.
    Yes,
    /// As it lies.
    No,
}

/// `cp.async`.
#[derive(Clone, Debug)]
pub struct CopySite {
    /// Where to: the shared address.
    pub to: MemorySite,
    /// Where from: the global address.
    pub from: MemorySite,
    /// Bytes that are really read, the rest is zeros.
    pub source_bytes: Option<Slot>,
    /// If true, nothing is read.
    pub ignore: Option<(Slot, u32)>,
}

/// `tex`, `tld4` and `txq`.
#[derive(Clone, Debug)]
pub struct TextureSite {
    /// What is asked.
    pub kind: TextureKind,
    /// The handle in a register, or the variable's number.
    pub texture: TextureRef,
    /// Dimensions, 1 to 3.
    pub dims: u32,
    /// Whether the first coordinate is a layer.
    pub layered: Layered,
    /// Coordinates.
    pub coords: Vec<Slot>,
    /// Type of the coordinates: f32 or s32.
    pub coord: Type,
    /// The four results.
    pub values: Vec<Option<Slot>>,
    /// Row of the access counters.
    pub counter: u32,
}

/// `suld.b`, `sust.b` and `suq`.
#[derive(Clone, Debug)]
pub struct SurfaceSite {
    /// What is done.
    pub kind: SurfaceKind,
    /// The handle in a register, or the variable's number.
    pub surface: TextureRef,
    /// Whether the first coordinate is a layer.
    pub layered: Layered,
    /// Coordinates; that along x is in bytes.
    pub coords: Vec<Slot>,
    /// What is done outside.
    pub outside: Outside,
    /// Bytes of each value.
    pub bytes: u32,
    /// The values, which lie side by side.
    pub values: Vec<Option<Slot>>,
    /// Row of the access counters.
    pub counter: u32,
}

/// What a surface instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceKind {
    /// `suld.b`.
    Load,
    /// `sust.b`.
    Store,
    /// `suq` of the extent of an axis.
    Extent(u32),
}

/// What an access outside of a surface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It ends the launch on a GPU; here it is a finding.
    Trap,
    /// It goes to the nearest element.
    Clamp,
    /// It reads zeros, and writes nothing.
    Zero,
}

/// What a texture instruction asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureKind {
    /// A texel, or what lies between several: `tex`.
    Sample,
    /// A texel in the direction of a vector: `tex.cube`. The coordinates are those of the vector, and the layers are the faces of the cubes.
    Cube,
    /// This channel of the four neighbours: `tld4`.
    Gather(u32),
    /// The extent of an axis: `txq.width` and its like.
    Extent(u32),
}

/// Whether a texture has layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layered {
    /// `a1d`, `a2d`.
    Yes,
    /// Not.
    No,
}

/// Which texture.
#[derive(Clone, Copy, Debug)]
pub enum TextureRef {
    /// A handle in a register.
    Handle(Slot),
    /// A `.texref` variable, by its address.
    Variable(u64),
}

/// `isspacep`.
#[derive(Clone, Copy, Debug)]
pub struct SpaceSite {
    /// The asked space.
    pub space: Space,
    /// Whether shared memory of other blocks of the cluster counts.
    pub of_cluster: bool,
    /// The address.
    pub address: Slot,
    /// The answer.
    pub dst: Slot,
}
