//! Calls, and the parameters of functions.

use super::{Place, Slot};

/// A call.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Whom.
    pub target: CallTarget,
    /// Rows copied from the caller's frame to the callee's, and back.
    pub arguments: Vec<(Place, u32)>,
    /// Rows for the results in the caller's frame.
    pub results: Vec<(Place, u32)>,
}

/// The target of a call.
#[derive(Clone, Copy, Debug)]
pub enum CallTarget {
    /// A function of the program.
    Function(u32),
    /// A function whose number is in a register.
    Indirect(Slot),
    /// A function that the machine implements.
    System(System),
}

/// Functions that a kernel may call and no PTX defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the function of the same spelling")]
pub enum System {
    Vprintf,
    AssertFail,
    Malloc,
    Free,
}

/// A value in the rows of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct RowsSite {
    /// First row of the parameter.
    pub first: Place,
    /// Byte offset into the parameter.
    pub offset: u32,
    /// Bytes of the value.
    pub bytes: u32,
    /// The register.
    pub value: Slot,
}
