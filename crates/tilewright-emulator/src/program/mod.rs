//! Decoded programs: what the machine executes.

mod allocate;
mod blocks;
mod constants;
mod decode;
mod dominators;
mod error;
mod flags;
mod function;
mod grammar;
mod graph;
mod image;
pub(crate) mod instruction;
mod layout;
mod lines;
mod locals;
mod lower;
mod merge;
mod names;
mod places;
mod products;
mod readable;
mod sites;

pub use error::ProgramError;
pub use image::{EntryNeeds, Program};
pub use layout::{Parameter, Symbol};
pub use lines::SourceLine;

pub(crate) use blocks::NO_RECONVERGENCE;
pub(crate) use constants::Line;
pub(crate) use decode::FIRST_REGION;
pub(crate) use function::Function;
pub(crate) use layout::{Constancy, SharedVariable, address};
pub(crate) use locals::{LOCAL_LIMIT, LocalPlace};
pub(crate) use readable::readable;
pub use readable::{demangled, kernel_name};
