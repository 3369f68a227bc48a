//! Boolean matrix multiplication.

use super::{BuiltIn, Laws, Semiring, SemiringId};

/// `C[i,j] = or_k (A[i,k] and B[k,j])`: reachability. Zero is false, one is true.
#[derive(Clone, Copy, Debug)]
pub struct OrAnd;

impl Semiring for OrAnd {
    type Elem = bool;
    type Acc = bool;
    type Out = bool;
    const NAME: &'static str = SemiringId::OrAnd.name();
    const ZERO: bool = false;
    const ONE: bool = true;
    const BUILT_IN: Option<BuiltIn<Self>> = BuiltIn::new(SemiringId::OrAnd);

    #[inline(always)]
    fn add(x: bool, y: bool) -> bool {
        x | y
    }
    #[inline(always)]
    fn mul_add(acc: bool, a: bool, b: bool) -> bool {
        acc | (a & b)
    }
    #[inline(always)]
    fn finish(acc: bool) -> bool {
        acc
    }
    #[inline(always)]
    fn resume(out: bool) -> bool {
        out
    }
    fn laws() -> Laws {
        Laws::SELECTIVE
    }
}
