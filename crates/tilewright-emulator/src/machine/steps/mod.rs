//! What instructions do, but for accesses to memory: the loop over them, jumps, calls and exchanges.

pub mod branches;
pub mod calls;
pub mod exchange;
pub mod interpret;
pub mod printf;
pub mod rare;
pub mod specials;
