//! What instructions do, but for accesses to memory: the loop over them, jumps and calls, barriers and exchanges.

pub mod barriers;
pub mod branches;
pub mod calls;
pub mod exchange;
pub mod interpret;
pub mod printf;
pub mod rare;
pub mod specials;
