//! What kinds of instructions there are: where each has its operands, and where control goes behind it.
//!
//! Whatever goes over the operands of instructions, or over the code, matches on these. A new operation does not compile before it has its
//! class, and a new class not before all of them know it.

use super::op::{Op, Rare};

/// What an operand is to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is read.
    Use,
    /// It is written.
    Define,
    /// It is a row that has a fixed place.
    Row,
}

/// The kind of an instruction; most say what its `aux` is the number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One whose places are all of its operands.
    Plain,
    /// The address of a local variable.
    Local,
    /// The scalar semantics.
    Scalar,
    /// A carry chain.
    Carry,
    /// A vector, whose parts have this role, and one register.
    Pack(Role),
    /// The rows of a parameter, and a register of this role.
    Rows(Role),
    /// Matrices in registers.
    Mma,
    /// Matrices of a warpgroup.
    Wgmma,
    /// A tensor map in memory.
    Map,
    /// An access to memory.
    Access(Access),
    /// A question about an address.
    Space,
    /// A barrier of the block.
    Barrier,
    /// A barrier in memory.
    Mbarrier,
    /// An exchange between the lanes of a warp.
    Warp,
    /// What ends a basic block.
    Flow(Flow),
}

/// The kinds of accesses to memory. The registers of a load are written, those of a store are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `ld`, `st`.
    Plain(Role),
    /// `atom`, `red`.
    Atomic,
    /// `cp.async`.
    Copy,
    /// `cp.async.bulk`: whether shared memory is read or written.
    Bulk(Role),
    /// `ldmatrix`, `stmatrix`.
    Matrices(Role),
    /// `wmma.load`, `wmma.store`.
    Fragment(Role),
    /// `tex`.
    Texture,
    /// `suld`, `sust` and `suq`.
    Surface(Role),
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To a label, if the guard holds.
    Jump,
    /// To one of a table of labels.
    JumpIndexed,
    /// To a function, and on from there.
    Call,
    /// Nowhere.
    End,
    /// Nowhere: the instruction is refused.
    Refusal,
}

impl Op {
    /// The kind of the operation.
    pub fn class(self) -> Class {
        use Op::*;
        match self {
            Enter | Mov32 | Mov64 | MovPred => Class::Plain,
            Add32 | Sub32 | MulLo32 | MulHiS32 | MulHiU32 | MadLo32 => Class::Plain,
            MulWideS32 | MulWideU32 | MadWideS32 | MadWideU32 => Class::Plain,
            And32 | Or32 | Xor32 | Not32 | Neg32 | Shl32 | ShrU32 | ShrS32 => Class::Plain,
            MinS32 | MinU32 | MaxS32 | MaxU32 => Class::Plain,
            Add64 | Sub64 | MulLo64 | MadLo64 => Class::Plain,
            And64 | Or64 | Xor64 | Not64 | Neg64 | Shl64 | ShrU64 | ShrS64 => Class::Plain,
            MinS64 | MinU64 | MaxS64 | MaxU64 => Class::Plain,
            AddF32 | SubF32 | MulF32 | FmaF32 | MinF32 | MaxF32 | NegF32 | AbsF32 => Class::Plain,
            AddF64 | SubF64 | MulF64 | FmaF64 | MinF64 | MaxF64 | NegF64 | AbsF64 => Class::Plain,
            SetpS32(_) | SetpU32(_) | SetpS64(_) | SetpU64(_) | SetpF32(_) | SetpF64(_) => Class::Plain,
            Selp32 | Selp64 | PredAnd | PredOr | PredXor | PredNot => Class::Plain,
            ExtendS32 | ExtendU32 | Truncate | Low8 | Low16 | LowS8 | LowS16 => Class::Plain,
            F32FromS32 | F32FromU32 | Read(_) | WarpSync | Nothing => Class::Plain,
            LocalAddress => Class::Local,
            Scalar => Class::Scalar,
            Load | LoadParam => Class::Access(Access::Plain(Role::Define)),
            Store => Class::Access(Access::Plain(Role::Use)),
            Barrier => Class::Barrier,
            Shuffle | Vote | Match | Redux | Elect => Class::Warp,
            Branch => Class::Flow(Flow::Jump),
            BranchIndexed => Class::Flow(Flow::JumpIndexed),
            Call => Class::Flow(Flow::Call),
            Return | Exit | Trap => Class::Flow(Flow::End),
            Unsupported => Class::Flow(Flow::Refusal),
            Rare(rare) => rare.class(),
        }
    }

    /// Where control goes behind the operation, if it ends a basic block.
    pub fn flow(self) -> Option<Flow> {
        if let Class::Flow(flow) = self.class() { Some(flow) } else { None }
    }

    /// How the operation accesses memory, if it does.
    pub fn access(self) -> Option<Access> {
        if let Class::Access(access) = self.class() { Some(access) } else { None }
    }
}

impl Rare {
    fn class(self) -> Class {
        match self {
            Rare::Carry => Class::Carry,
            Rare::Pack => Class::Pack(Role::Use),
            Rare::Unpack => Class::Pack(Role::Define),
            Rare::ReadRows => Class::Rows(Role::Define),
            Rare::WriteRows => Class::Rows(Role::Use),
            Rare::Atomic => Class::Access(Access::Atomic),
            Rare::CopyAsync => Class::Access(Access::Copy),
            Rare::BulkLoad => Class::Access(Access::Bulk(Role::Define)),
            Rare::BulkStore => Class::Access(Access::Bulk(Role::Use)),
            Rare::BulkCommit | Rare::BulkWait => Class::Plain,
            Rare::LoadMatrix => Class::Access(Access::Matrices(Role::Define)),
            Rare::StoreMatrix => Class::Access(Access::Matrices(Role::Use)),
            Rare::WmmaLoad => Class::Access(Access::Fragment(Role::Define)),
            Rare::WmmaStore => Class::Access(Access::Fragment(Role::Use)),
            Rare::Texture => Class::Access(Access::Texture),
            Rare::SurfaceLoad => Class::Access(Access::Surface(Role::Define)),
            Rare::SurfaceStore => Class::Access(Access::Surface(Role::Use)),
            Rare::Poll => Class::Access(Access::Plain(Role::Define)),
            Rare::Mma => Class::Mma,
            Rare::Wgmma => Class::Wgmma,
            Rare::Map => Class::Map,
            Rare::WgmmaFence | Rare::WgmmaCommit | Rare::WgmmaWait => Class::Plain,
            Rare::IsSpace => Class::Space,
            Rare::Mbarrier => Class::Mbarrier,
            Rare::CommitGroup
            | Rare::WaitGroup
            | Rare::Fence
            | Rare::ProxyFence
            | Rare::InitFence
            | Rare::SetRegisters
            | Rare::ActiveMask
            | Rare::Sleep => Class::Plain,
            Rare::ClusterArrive | Rare::ClusterWait => Class::Plain,
        }
    }
}
