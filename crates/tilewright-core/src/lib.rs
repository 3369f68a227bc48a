//! What a matrix product over a semiring is.
//!
//! `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`, for matrices of any size and stride ([`Layout`], [`MatRef`], [`MatMut`])
//! over any [`Semiring`]. This crate holds the vocabulary and the definition of the right answer
//! ([`mod@reference`]); other crates compute it fast and are compared with it.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod convert;
pub mod domain;
pub mod expressions;
pub mod reference;
pub mod semiring;

mod batch;
mod cancel;
mod dtype;
mod dynamic;
mod epilogue;
mod error;
mod float8;
mod hint;
mod index;
mod layout;
mod math;
mod matrix;
mod problem;
mod scales;
mod show;
mod update;
mod value;
mod view;
mod visible;

pub use batch::{BatchMut, BatchRef};
pub use cancel::Cancel;
pub use dtype::{DType, Element};
pub use dynamic::{DynMatrix, DynMut, DynRef};
pub use epilogue::{Activation, Epilogue, Finish};
pub use error::{Error, ErrorKind, extents};
pub use float8::{E4m3, E5m2};
pub use half::{bf16, f16};
pub use hint::{Hint, Setting, Words};
pub use layout::Layout;
pub use math::Math;
pub use matrix::Matrix;
pub use problem::Problem;
pub use reference::NO_ARG;
pub use scales::{Factors, Granularity, Scales};
pub use semiring::{
    Laws, LogPlus, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes, Ring, Semiring,
    SemiringId,
};
pub use update::{Factor, Joining, Update};
pub use value::{Extremes, Value};
pub use view::{MatMut, MatRef};
pub use visible::{visible, visible_lines};
