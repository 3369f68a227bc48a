//! The scalar semantics through their public interface, with instructions written as in PTX.

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod coverage;
mod integer;
mod machine;
mod matrix;
mod npz;
mod ptx;
mod tensor;
mod video;
