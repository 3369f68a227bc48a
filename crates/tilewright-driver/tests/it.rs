//! All tests of this crate, in one program.

mod devices;
mod layouts;
mod program;
mod rig;
mod tensor_maps;
mod withstand;
