//! Warp-wide matrix instructions: `mma.sync` and `wmma`.

use super::Type;

/// Which fragment of `D = A x B + C`. C and D have one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// m x k.
    A,
    /// k x n.
    B,
    /// m x n.
    C,
}

/// `mma.sync` fixes which lane holds which element; `wmma` leaves it open and uses a layout of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixFamily {
    /// `mma.sync`.
    Mma,
    /// `wmma.load`, `wmma.mma`, `wmma.store`.
    Wmma,
}

/// Row or column major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    /// `.row`.
    Row,
    /// `.col`.
    Col,
}

/// How products are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixArithmetic {
    /// Multiply and add.
    MultiplyAdd,
    /// `.xor.popc` on single bits.
    XorPopc,
    /// `.and.popc` on single bits.
    AndPopc,
}

/// Whether integer accumulators wrap or clamp (`.satfinite`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Modulo 2^32.
    Wrap,
    /// Clamped to the range of s32.
    Saturate,
}

/// One matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixOp {
    /// Which instruction family, and so which fragment layout.
    pub family: MatrixFamily,
    /// Rows of A and D.
    pub m: u16,
    /// Columns of B and D.
    pub n: u16,
    /// Columns of A, rows of B.
    pub k: u16,
    /// Element types.
    pub a: Type,
    /// Element type of B.
    pub b: Type,
    /// Element type of C.
    pub c: Type,
    /// Element type of D.
    pub d: Type,
    /// Layout of A (`m8n8k4` with f16 has all four combinations; otherwise row).
    pub a_major: Major,
    /// Layout of B.
    pub b_major: Major,
    /// How products combine.
    pub arithmetic: MatrixArithmetic,
    /// What integer overflow does.
    pub overflow: Overflow,
}

impl MatrixOp {
    /// Whether it is four products in one instruction: `mma.sync.m8n8k4` of f16.
    pub fn is_of_quads(&self) -> bool {
        (self.family, self.a, self.m, self.n, self.k) == (MatrixFamily::Mma, Type::F16, 8, 8, 4)
    }
}
