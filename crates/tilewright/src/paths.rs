//! Best paths between all pairs of vertices: [`Paths`] where the semiring is known at compile time, [`DynPaths`] where it is not.
//!
//! ```
//! use tilewright::{Matrix, MinPlus, paths::Paths};
//! let inf = f64::INFINITY;
//! let roads = Matrix::from([[0.0, 3.0, 9.0], [3.0, 0.0, 4.0], [inf, 4.0, 0.0]]);
//! let (distances, predecessors) = Paths::<MinPlus<f64>>::new(&roads)?.with_predecessors()?;
//! let stops: Vec<usize> = predecessors.route(0, 2).into_iter().flatten().collect();
//! assert_eq!((distances[(0, 2)], stops), (7.0, vec![0, 1, 2]));
//! # Ok::<(), tilewright::Error>(())
//! ```

mod dynamic;
#[cfg(feature = "cuda")]
mod gpu;

pub use dynamic::{DynPaths, Solution, close_dyn};
#[cfg(feature = "cuda")]
pub use gpu::{OnGpu, Times};
pub use tilewright_paths::*;
