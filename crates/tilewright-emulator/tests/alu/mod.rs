//! The scalar semantics through their public interface, with instructions written as in PTX.
#![allow(clippy::unwrap_used)]

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod coverage;
mod integer;
mod machine;
mod matrix;
mod ptx;
mod video;
