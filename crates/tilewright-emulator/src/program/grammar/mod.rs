//! The instructions of PTX: a row each in [`table`], and an opcode matched with its row.
//!
//! An instruction comes into the emulator as a row here, what it is lowered to (`lower/`), and what that does (`machine/steps`).

mod row;
mod statement;
mod table;

pub use row::{Lowering, Mbarrier};
pub use statement::{Split, resolved};
pub use table::namesakes;
