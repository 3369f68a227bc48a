//! The stop before the last of best paths, on the device.

use super::{Engine, Prepared};
use crate::device::{DeviceMatrix, DynDeviceMatrix};
use std::sync::Arc;
use tilewright_core::{Error, ErrorKind, Layout, Matrix, SemiringId};
use tilewright_kernels::{Buffer, Recipe, TreeRecipes};

/// Where one in so many elements is an edge that is a best path, lists of them are no gain.
const DENSE: usize = 4;

impl Engine {
    /// The stop before the last of the best path from `i` to `j`, for all `i` and `j`: `n` rows of `n` integers, -1 where there is no path or no
    /// edge on it; and a row that is not 0 for each `i` whose row is not to be relied on, because several paths are equally good or roundings
    /// hide which one is. `w` holds the weights of edges and `d` those of best paths, `n x n` each and dense by rows.
    ///
    /// `None` where nearly every edge is a best path: to look at all of them would take as long as to find the paths.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef, SemiringId};
    /// # let engine = tilewright_cuda::Engine::emulated(tilewright_arch::Device::find("a6000").unwrap().into())?;
    /// let (inf, l) = (f32::INFINITY, Layout::row_major(4, 4));
    /// let roads = [0., 3., 9., inf, inf, 0., 4., inf, 1., inf, 0., inf, inf, inf, inf, 0.];
    /// let best = [0., 3., 7., inf, 5., 0., 4., inf, 1., 4., 0., inf, inf, inf, inf, 0.];
    /// let (w, d) = (engine.upload(MatRef::new(&roads, l)?)?, engine.upload(MatRef::new(&best, l)?)?);
    /// let stops = engine.last_stops(SemiringId::MinPlus, &w, &d)?.unwrap().to_matrix()?;
    /// assert_eq!(stops.as_slice()[..8], [-1, 0, 1, -1, 2, -1, 1, -1]);
    /// assert_eq!(stops.as_slice()[16..], [0; 4]); // all are sure
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` for other shapes and strides, for matrices of another engine, and for semirings and types whose best paths may be
    /// equal without telling; as [`Engine::prepare`].
    pub fn last_stops(
        &self,
        semiring: SemiringId,
        w: &DynDeviceMatrix,
        d: &DynDeviceMatrix,
    ) -> Result<Option<DeviceMatrix<i32>>, Error> {
        let n = d.rows();
        let square = Layout::row_major(n, n);
        for matrix in [w, d] {
            let is_ours = Arc::ptr_eq(matrix.stream(), self.stream());
            if !is_ours || matrix.layout() != square || matrix.dtype() != d.dtype() {
                let (what, why) =
                    ("these matrices as weights", "both must be square, by rows, and this engine's");
                let hint = "upload them row by row".into();
                return Err(ErrorKind::Unsupported { what: what.into(), why: why.into(), hint }.into());
            }
        }
        let recipes = TreeRecipes::new(semiring, d.dtype(), n)?;
        let counts = self.zeros::<i32>(Layout::row_major(recipes.strips, n))?;
        self.run(recipes.count.clone(), w, d, &[(Buffer::Output, &counts)])?;
        let (starts, edges) = starts(&counts.to_matrix()?)?;
        if edges as usize > n * n / DENSE + n {
            return Ok(None);
        }
        let starts = self.upload(starts.as_ref())?;
        let list = self.zeros::<i8>(Layout::row_major(1, (edges as usize * recipes.edge_bytes).max(1)))?;
        self.run(recipes.list.clone(), w, d, &[(Buffer::Input, &starts), (Buffer::B, &list)])?;
        let stops = self.zeros::<i32>(Layout::row_major(n + 1, n))?;
        let memory: [(_, &DynDeviceMatrix); 3] =
            [(Buffer::Input, &starts), (Buffer::B, &list), (Buffer::Output, &stops)];
        self.run(recipes.grow(edges), w, d, &memory)?;
        Ok(Some(stops))
    }

    fn run(
        &self,
        recipe: Recipe,
        w: &DynDeviceMatrix,
        d: &DynDeviceMatrix,
        others: &[(Buffer, &DynDeviceMatrix)],
    ) -> Result<Prepared, Error> {
        let prepared = self.prepare(recipe)?;
        let bindings: Vec<_> = [(Buffer::A, w), (Buffer::C, d)]
            .iter()
            .chain(others)
            .map(|(role, matrix)| (*role, matrix.address(), matrix.bytes()))
            .collect();
        // SAFETY: the weights have the shape of the recipe, the lists hold what was counted, and all is memory of this engine, which frees it
        // after the work in its stream.
        unsafe { prepared.launch(&bindings)? };
        Ok(prepared)
    }
}

/// Where the edges of each column and strip of rows begin, column by column, and how many there are.
fn starts(counts: &Matrix<i32>) -> Result<(Matrix<i32>, u32), Error> {
    let Layout { rows: strips, cols: n, .. } = counts.layout();
    let mut starts = Matrix::filled(strips, n, 0)?;
    let mut next: i64 = 0;
    for column in 0..n {
        for strip in 0..strips {
            starts[(strip, column)] = i32::try_from(next).map_err(|_| too_many())?;
            next += i64::from(counts[(strip, column)]);
        }
    }
    Ok((starts, u32::try_from(next).ok().filter(|&n| i32::try_from(n).is_ok()).ok_or_else(too_many)?))
}

fn too_many() -> Error {
    let (what, why) = ("the best paths of one edge".to_owned(), "there are 2^31 or more".to_owned());
    ErrorKind::Unsupported { what, why, hint: "find them on the processor".into() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_where_those_before_end() {
        let counts = [1, 0, 2, 3, 0, 1];
        let counts = Matrix::from_fn(2, 3, |i, j| counts[3 * i + j]).expect("small");
        let (starts, edges) = starts(&counts).expect("few");
        assert_eq!((starts.as_slice(), edges), (&[0, 4, 4, 1, 4, 6][..], 7));
    }
}
