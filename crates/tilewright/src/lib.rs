//! Dense matrix products over any semiring: `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]`.
//!
//! # Eleven things to do
//!
//! **Multiply numbers.** A [`Product`] names its semiring, and takes matrices or views:
//!
//! ```
//! use tilewright::{Matrix, PlusTimes, Product};
//! let a = Matrix::from([[1.0, 2.0], [3.0, 4.0]]);
//! let c = Product::<PlusTimes<f64>>::new(&a, &a)?.compute()?;
//! assert_eq!(c, Matrix::from([[7.0, 10.0], [15.0, 22.0]]));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Multiply over another semiring**, and learn which term won. Two steps by road, and the town between them:
//!
//! ```
//! use tilewright::{MinPlus, Product};
//! let inf = f32::INFINITY;
//! let roads = [[0.0, 3.0, inf], [3.0, 0.0, 4.0], [inf, 4.0, 0.0]];
//! let (distance, via) = Product::<MinPlus<f32>>::new(&roads, &roads)?.compute_with_arg()?;
//! assert_eq!((distance[(0, 2)], via[(0, 2)]), (7.0, 1));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Look at data as it lies**: transposed, in part, in reverse, with gaps. A [`Layout`] is a shape and strides, and a [`MatRef`] a
//! view; nothing is copied.
//!
//! ```
//! use tilewright::{Layout, MatRef, PlusTimes, Product};
//! let samples: Vec<f32> = (0..40).map(|x| x as f32).collect();
//! let all = MatRef::new(&samples, Layout::strided(5, 6, 8, 1))?; // 6 of 8 columns
//! let part = all.window(1, 2, 3, 4)?.reverse_rows();
//! let gram = Product::<PlusTimes<f32>>::new(part.t(), part)?.compute()?;
//! assert_eq!((gram.rows(), gram[(0, 0)]), (4, 26.0 * 26.0 + 18.0 * 18.0 + 10.0 * 10.0));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Join the product with what is there**: written, added by ⊕, or scaled as in BLAS.
//!
//! ```
//! use tilewright::{Matrix, PlusTimes, Product};
//! let a = Matrix::from([[1, 2], [3, 4]]);
//! let mut c = Matrix::filled(2, 2, 1)?;
//! let product = Product::<PlusTimes<i32>>::new(&a, &a)?;
//! product.accumulate_into(&mut c)?;
//! product.scale_into(10, 1, &mut c)?;
//! assert_eq!(c, Matrix::from([[78, 111], [166, 243]]));
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Multiply a vector**, and write to a slice. A vector is a matrix of one column:
//!
//! ```
//! use tilewright::{MatMut, MatRef, Matrix, MaxPlus, Product};
//! let (a, x, mut y) = (Matrix::from([[1, 2, 3], [4, 5, 6]]), [30, 20, 10], [0; 2]);
//! Product::<MaxPlus<i32>>::new(&a, MatRef::column(&x))?.write_to(MatMut::column(&mut y))?;
//! assert_eq!(y, [31, 34]);
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Multiply many small matrices** at once; see [`BatchProduct`], and [`StackProduct`] for arrays of any number of dimensions.
//!
//! ```
//! use tilewright::{BatchMut, BatchProduct, BatchRef, Layout, PlusTimes};
//! let (l, a, mut c) = (Layout::row_major(2, 2), [1, 2, 3, 4, /**/ 0, 1, 1, 0], [0; 8]);
//! let batch = BatchRef::new(&a, l, 2, 4)?;
//! BatchProduct::<PlusTimes<i64>>::new(batch, batch)?.write_to(&mut BatchMut::new(&mut c, l, 2, 4)?)?;
//! assert_eq!(c, [7, 10, 15, 22, /**/ 1, 0, 0, 1]);
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Take matrices from files**, with types that are known at run time, and compare the result with the definition; see `files` and
//! [`DynProduct`].
//!
//! ```
//! # #[cfg(feature = "files")] {
//! use tilewright::{DynProduct, SemiringId, files};
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("roads.csv");
//! std::fs::write(&path, "0,3,inf\n3,0,4\ninf,4,0\n").unwrap();
//! let roads = files::read(&files::Spec::parse(path)?, &files::ReadOptions::default())?;
//! let product = DynProduct::new(SemiringId::MinPlus, roads.as_ref(), roads.as_ref())?;
//! let outcome = product.compute()?;
//! assert!(product.verify(outcome.c.as_ref(), None)?.passed);
//! # }
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Choose where to compute**, and see what was done. Without a choice a large product goes to the GPU, if there is one.
//!
//! ```
//! use tilewright::{Backend, Matrix, PlusTimes, Product};
//! let (a, mut c) = (Matrix::filled(100, 100, 0.5f32)?, Matrix::filled(100, 100, 0.0)?);
//! let product = Product::<PlusTimes<f32>>::new(&a, &a)?.backend(Backend::Cpu).threads(1);
//! let report = product.write_to(&mut c)?;
//! println!("{} in {} s", report.kernel, report.seconds);
//! match product.backend(Backend::Cuda).write_to(&mut c) {
//!     Ok(report) => assert_eq!(report.backend, Backend::Cuda),
//!     Err(error) => assert!(error.is_unavailable(), "{error}"), // no GPU, or no feature `cuda`
//! }
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Keep matrices on a GPU.** They are paid for once; products, also of parts and transposes, transfer nothing. `cuda::Engine` makes
//! them:
//!
//! ```
//! # #[cfg(feature = "cuda")] {
//! use tilewright::{Layout, Matrix, SemiringId, cuda::{DeviceMut, DeviceProduct, DeviceRef, Engine}};
//! match Engine::shared() {
//!     Ok(engine) => {
//!         let roads = engine.upload(Matrix::from([[0.0f32, 3.0], [1.0, 0.0]]).as_ref())?;
//!         let mut steps = engine.zeros::<f32>(Layout::row_major(4, 2))?;
//!         let (from, to) = (DeviceRef::from(&roads).t(), DeviceMut::from(&mut steps).window(2, 0, 2, 2)?);
//!         engine.multiply(&DeviceProduct::new(SemiringId::MinPlus), from, &roads, to)?;
//!         assert_eq!(steps.to_matrix()?[(2, 1)], 1.0);
//!     }
//!     Err(error) => assert!(error.is_unavailable(), "{error}"), // no GPU
//! }
//! # }
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **Bring a semiring of your own.** It runs on this processor, one element at a time, and with its [operations in CUDA
//! C++](semiring::Cuda) on GPUs; one that is given by [its text](ExpressionProduct) runs on both:
//!
//! ```
//! use tilewright::{Laws, Product, Semiring, semiring::Cuda};
//! /// The most reliable way: probabilities multiply, the best one counts.
//! #[derive(Clone, Copy)]
//! struct Reliable;
//! impl Semiring for Reliable {
//!     type Elem = f64;
//!     type Acc = f64;
//!     type Out = f64;
//!     const NAME: &'static str = "reliable";
//!     const ZERO: f64 = 0.0;
//!     const ONE: f64 = 1.0;
//!     const CUDA: Option<Cuda<Self>> = Some(Cuda::new("fmax(x, y)", "x * y"));
//!     fn add(x: f64, y: f64) -> f64 { x.max(y) }
//!     fn mul_add(acc: f64, a: f64, b: f64) -> f64 { acc.max(a * b) }
//!     fn finish(acc: f64) -> f64 { acc }
//!     fn resume(out: f64) -> f64 { out }
//!     fn laws() -> Laws { Laws::SELECTIVE }
//! }
//! let links = [[1.0, 0.5], [0.5, 1.0]];
//! assert_eq!(Product::<Reliable>::new(&links, &links)?.compute()?[(0, 1)], 0.5);
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! **End a product from another thread** by [`Cancel`]:
//!
//! ```
//! use tilewright::{Backend, Cancel, Matrix, MinPlus, Product};
//! let (a, stop) = (Matrix::filled(3000, 3000, 1.0)?, Cancel::new());
//! let error = std::thread::scope(|threads| {
//!     threads.spawn(|| stop.cancel());
//!     let product = Product::<MinPlus<f32>>::new(&a, &a)?.backend(Backend::Reference);
//!     Ok::<_, tilewright::Error>(product.cancel(&stop).compute().unwrap_err())
//! })?;
//! assert_eq!(error.code(), "cancelled");
//! # Ok::<(), tilewright::Error>(())
//! ```
//!
//! A [plan] says beforehand how a product would be computed, and why not otherwise.
//!
//! # Features
//!
//! | feature | default | what it brings |
//! |---|---|---|
//! | `cuda` | yes | [`Backend::Cuda`], plans for GPUs; nothing of CUDA is needed to build |
//! | `ptx` | yes | programs for GPUs and emulator where there is no NVRTC; brings `cuda` |
//! | `files` | yes | `files`: `.npy`, `.npz`, `.csv`, `.mtx`, `.safetensors` |
//! | `paths` | yes | `paths`: best paths between all pairs of vertices, predecessors and routes |
//! | `emulator` | no | [`Backend::Emulator`]: the GPU's kernels on this processor, with checks; brings `cuda` |
//! | `cublas` | no | `cuda::Cublas` and `cuda::CublasLt`, to measure against; brings `cuda` |
//! | `ndarray`, `nalgebra`, `faer` | no | [views](convert) of the matrices of these crates, and views for them, without copies |
//!
//! For this processor alone: `tilewright = { version = "0.1", default-features = false }`.
//!
//! # Debug builds
//!
//! Cargo compiles dependencies without optimisation where a program's `Cargo.toml` does not say otherwise. A product then takes some 80 times as long: (min, +)
//! of 512 x 512 matrices in `f32` 341 ms instead of 4.3 (one thread of a 2-core AMD EPYC, 2026-11-25). These lines keep your own code quick to compile, and the kernels fast:
//!
//! ```toml
//! [profile.dev.package]
//! tilewright = { opt-level = 3 }
//! tilewright-core = { opt-level = 3 }
//! tilewright-cpu = { opt-level = 3 }
//! tilewright-paths = { opt-level = 3 }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;
mod batch;
mod choice;
#[cfg(feature = "cuda")]
mod device;
mod dynamic;
mod expression_product;
mod options;
#[cfg(feature = "paths")]
pub mod paths;
pub mod plan;
mod product;
mod series;
pub mod stack;
mod verify;

pub use backend::Backend;
pub use batch::BatchProduct;
pub use dynamic::{DynProduct, Outcome};
pub use expression_product::ExpressionProduct;
pub use options::{Options, Ran, Report, Why};
pub use product::Product;
pub use stack::{StackMut, StackProduct, StackRef};
pub use tilewright_core::*;
pub use tilewright_cpu::{self as cpu, Isa};
#[cfg(feature = "cuda")]
pub use tilewright_cuda as cuda;
#[cfg(feature = "emulator")]
pub use tilewright_emulator as emulator;
#[cfg(feature = "files")]
pub use tilewright_files as files;
#[cfg(feature = "cuda")]
pub use tilewright_kernels as kernels;
pub use verify::{Mismatch, Verification};
