//! Whether matrices are those that a recipe was made for: what keeps its kernels inside them.

use tilewright_core::{DType, Error, ErrorKind, Layout, Scales};
use tilewright_kernels::{Alignment, Recipe, Request};

/// A matrix on a device, as far as a kernel depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) dtype: DType,
    pub(super) layout: Layout,
    /// The power of two that divides the address of element (0, 0).
    pub(super) alignment: u64,
    /// The index of element (0, 0) in its memory, and how many elements that has.
    pub(super) origin: usize,
    pub(super) elements: usize,
}

/// Whether the recipe may run on these as A, B and C: the types, layouts and alignments of its own request, and room for all
/// matrices of its batch.
///
/// # Errors
/// `unsupported` for a recipe of an exhibit and for matrices with other layouts, `dtype-mismatch` for other elements,
/// `out-of-bounds` and `aliased` for a batch.
pub(super) fn check(recipe: &Recipe, [a, b, c]: [Operand; 3]) -> Result<(), Error> {
    let Some(request) = recipe.request() else {
        let what = format!("a product by {}", recipe.kernel().name);
        return Err(unsupported(what, "its recipe is that of an exhibit".into()));
    };
    let Request { problem, batch, dtype, .. } = request;
    let Alignment { a: align_a, b: align_b, c: align_c } = request.alignment;
    let output = request.variant().output();
    for (what, found, (dtype, layout, alignment, stride)) in [
        ("A", a, (*dtype, problem.a(), align_a, batch.a)),
        ("B", b, (*dtype, problem.b(), align_b, batch.b)),
        ("C", c, (output, problem.c(), align_c, batch.c)),
    ] {
        if dtype != found.dtype {
            return Err(ErrorKind::DTypeMismatch { what, expected: dtype, found: found.dtype }.into());
        }
        if layout != found.layout {
            let why = format!("the recipe was made for {layout:?}, and it has {:?}", found.layout);
            return Err(unsupported(format!("this matrix as {what}"), why));
        }
        if !layout.is_empty() && found.alignment < alignment {
            let why = format!(
                "the recipe was made for addresses that {alignment} divides, and only {} does",
                found.alignment
            );
            return Err(unsupported(format!("this matrix as {what}"), why));
        }
        holds(&found, batch.count, stride)?;
    }
    apart(&c, batch.count, batch.c)
}

/// Whether arg results of the recipe may be written there.
///
/// # Errors
/// As [`check`]; `unsupported` for a recipe that has none.
pub(super) fn check_arg(recipe: &Recipe, found: Operand) -> Result<(), Error> {
    let Some(request) = recipe.request().filter(|request| request.arg) else {
        let what = format!("an arg result of {}", recipe.kernel().name);
        return Err(unsupported(what, "its recipe was made without".into()));
    };
    let (what, expected, layout) = ("the arg result", DType::I32, request.arg_layout());
    if found.dtype != expected {
        return Err(ErrorKind::DTypeMismatch { what, expected, found: found.dtype }.into());
    }
    if layout != found.layout {
        let why = format!("the recipe was made for {layout:?}, and it has {:?}", found.layout);
        return Err(unsupported(format!("this matrix as {what}"), why));
    }
    let stride = isize::try_from(layout.rows * layout.cols).unwrap_or(isize::MAX);
    holds(&found, request.batch.count, stride)
}

/// Whether the recipe's bias is this one: there where it was asked for, and only there.
///
/// # Errors
/// `unsupported` for none where there has to be one, the other way round, and for elements at other distances; `dtype-mismatch` for other elements,
/// `result-mismatch` for more or fewer of them, `out-of-bounds` for memory that does not hold them.
pub(super) fn check_bias(recipe: &Recipe, found: Option<Operand>) -> Result<(), Error> {
    let Some(request) = recipe.request() else { return Ok(()) };
    let (stride, found) = match (request.epilogue.bias, found) {
        (None, None) => return Ok(()),
        (Some(stride), Some(found)) => (stride, found),
        (Some(_), None) => {
            let what = "this product without a bias".into();
            return Err(unsupported(what, "its recipe was made with one".into()));
        }
        (None, Some(_)) => {
            let what = "this product with a bias".into();
            return Err(unsupported(what, "its recipe was made without".into()));
        }
    };
    let (what, expected) = ("the bias", request.variant().output());
    if found.dtype != expected {
        return Err(ErrorKind::DTypeMismatch { what, expected, found: found.dtype }.into());
    }
    let layout = request.problem.bias_layout(found.layout)?;
    if layout.cols > 1 && layout.col_stride != stride {
        let why = format!("the recipe was made for elements {stride} apart, not {}", layout.col_stride);
        return Err(unsupported(format!("this matrix as {what}"), why));
    }
    holds(&found, 1, 0)
}

/// Whether the recipe's scales are these: there where they were asked for, and only there.
///
/// # Errors
/// `unsupported` for none where there have to be some, the other way round, and for another layout; `dtype-mismatch` for other elements, `out-of-bounds` for memory that does not
/// hold them.
pub(super) fn check_scales(recipe: &Recipe, found: Scales<Operand>) -> Result<(), Error> {
    let Some(Request { scales, .. }) = recipe.request() else { return Ok(()) };
    for (what, layout, found) in [("scales of A", scales.a, found.a), ("scales of B", scales.b, found.b)] {
        let (layout, found) = match (layout, found) {
            (None, None) => continue,
            (Some(layout), Some(found)) => (layout, found),
            (Some(_), None) => {
                let what = format!("this product without {what}");
                return Err(unsupported(what, "its recipe was made with them".into()));
            }
            (None, Some(_)) => {
                let what = format!("this product with {what}");
                return Err(unsupported(what, "its recipe was made without".into()));
            }
        };
        if found.dtype != DType::F32 {
            return Err(ErrorKind::DTypeMismatch { what, expected: DType::F32, found: found.dtype }.into());
        }
        if layout != found.layout {
            let why = format!("the recipe was made for {layout:?}, and it has {:?}", found.layout);
            return Err(unsupported(format!("this matrix as {what}"), why));
        }
        holds(&found, 1, 0)?;
    }
    Ok(())
}

/// Whether all `count` matrices, `stride` elements from one to the next, are inside the memory of the first.
fn holds(found: &Operand, count: usize, stride: isize) -> Result<(), Error> {
    let Some(last) = count.checked_sub(1) else { return Ok(()) };
    let Operand { layout, origin, elements, .. } = *found;
    layout.check_bounds(elements, origin)?;
    let way = isize::try_from(last).ok().and_then(|last| last.checked_mul(stride));
    match way.map(|way| origin.checked_add_signed(way)) {
        Some(Some(origin)) => layout.check_bounds(elements, origin),
        _ if layout.is_empty() => Ok(()),
        _ => Err(ErrorKind::OutOfBounds { layout, origin, len: elements }.into()),
    }
}

/// Whether no element of C belongs to two products.
fn apart(c: &Operand, count: usize, stride: isize) -> Result<(), Error> {
    let Layout { rows, cols, row_stride, col_stride } = c.layout;
    if c.layout.span()?.is_none() || count < 2 {
        return Ok(());
    }
    // Matrices may interlock: each stride goes beyond all that the smaller ones reach.
    let mut ways = [(row_stride, rows), (col_stride, cols), (stride, count)]
        .map(|(stride, extent)| (stride.unsigned_abs(), extent));
    ways.sort_unstable();
    let mut reach = 0_usize;
    let is_apart = ways.iter().filter(|(_, extent)| *extent > 1).all(|&(stride, extent)| {
        let is_beyond = stride > reach;
        reach = reach.saturating_add(stride.saturating_mul(extent - 1));
        is_beyond
    });
    if is_apart { Ok(()) } else { Err(ErrorKind::Aliased { layout: c.layout }.into()) }
}

fn unsupported(what: String, why: String) -> Error {
    ErrorKind::Unsupported { what, why, hint: "prepare a recipe for it".into() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{Problem, SemiringId};
    use tilewright_kernels::{Batch, find};

    const M: usize = 6;
    const N: usize = 4;
    const K: usize = 8;

    /// A recipe of `simt` for row-major operands.
    fn recipe(batch: Batch) -> Recipe {
        let layouts = [Layout::row_major(M, K), Layout::row_major(K, N), Layout::row_major(M, N)];
        let problem = Problem::new(layouts[0], layouts[1], layouts[2]).expect("shapes fit");
        let request = Request { batch, ..Request::new(problem, SemiringId::PlusTimes, DType::F32) };
        find("simt").expect("known").recipe(&request).expect("accepted")
    }

    fn dense(layout: Layout, count: usize) -> Operand {
        let elements = layout.rows * layout.cols * count;
        Operand { dtype: DType::F32, layout, alignment: 256, origin: 0, elements }
    }

    /// The operands that the recipe was made for.
    fn operands(count: usize) -> [Operand; 3] {
        [Layout::row_major(M, K), Layout::row_major(K, N), Layout::row_major(M, N)].map(|l| dense(l, count))
    }

    fn refused(recipe: &Recipe, change: impl FnOnce(&mut [Operand; 3])) -> &'static str {
        let mut changed = operands(1);
        change(&mut changed);
        check(recipe, changed).expect_err("another matrix").code()
    }

    #[test]
    fn a_recipe_runs_on_the_matrices_that_it_was_made_for() {
        check(&recipe(Batch::ONE), operands(1)).expect("the very ones");
    }

    #[test]
    fn a_recipe_runs_on_no_other_shape_stride_type_or_alignment() {
        let recipe = recipe(Batch::ONE);
        for which in 0..3 {
            // A smaller matrix: the kernel would read and write behind its end.
            let smaller = |layout: Layout| Layout::row_major(layout.rows - 1, layout.cols);
            let change = |o: &mut [Operand; 3]| o[which] = dense(smaller(o[which].layout), 1);
            assert_eq!(refused(&recipe, change), "unsupported");
            // The same elements, transposed.
            let columns = |layout: Layout| Layout::col_major(layout.rows, layout.cols);
            assert_eq!(refused(&recipe, |o| o[which].layout = columns(o[which].layout)), "unsupported");
            // Longer rows, in memory that would hold them.
            let longer = |o: &mut [Operand; 3]| {
                let Layout { rows, cols, .. } = o[which].layout;
                o[which].layout = Layout::strided(rows, cols, cols as isize + 4, 1);
                o[which].elements = 1000;
            };
            assert_eq!(refused(&recipe, longer), "unsupported");
            assert_eq!(refused(&recipe, |o| o[which].alignment = 4), "unsupported");
            for dtype in [DType::F16, DType::I32, DType::F64] {
                assert_eq!(refused(&recipe, |o| o[which].dtype = dtype), "dtype-mismatch");
            }
        }
    }

    #[test]
    fn a_batch_needs_matrices_for_all_of_it() {
        let strides = [(M * K) as isize, (K * N) as isize, (M * N) as isize];
        let batch = |count, [a, b, c]: [isize; 3]| recipe(Batch { count, a, b, c });
        check(&batch(3, strides), operands(3)).expect("room for three");
        check(&batch(3, [0, 0, strides[2]]), operands(3)).expect("the same A and B");
        check(&batch(0, strides), operands(1)).expect("nothing to do");
        // One matrix each, and three products.
        let error = check(&batch(3, strides), operands(1)).expect_err("room for one");
        assert_eq!(error.code(), "out-of-bounds");
        for which in 0..3 {
            let mut short = operands(3);
            short[which].elements -= 1;
            assert_eq!(check(&batch(3, strides), short).expect_err("too short").code(), "out-of-bounds");
            // Backwards from the first, and beyond all memory.
            for stride in [-strides[which], isize::MAX / 2, isize::MIN / 2, isize::MAX] {
                let mut all = strides;
                all[which] = stride;
                assert_eq!(check(&batch(3, all), operands(3)).expect_err("outside").code(), "out-of-bounds");
            }
        }
    }

    #[test]
    fn products_of_a_batch_do_not_share_elements_of_c() {
        for stride in [0, 1, (M * N) as isize - 1] {
            let batch = recipe(Batch { count: 2, a: 0, b: 0, c: stride });
            assert_eq!(check(&batch, operands(2)).expect_err("shared").code(), "aliased");
        }
        // Rows of both in turns.
        let c = dense(Layout::strided(M, N, 2 * N as isize, 1), 2);
        apart(&c, 2, N as isize).expect("no element is shared");
        assert_eq!(apart(&c, 2, N as isize - 1).expect_err("shared").code(), "aliased");
    }

    #[test]
    fn an_exhibit_is_no_product() {
        let showing = find("copy-offset").expect("known").show(&[]).expect("has defaults");
        assert_eq!(check(showing.recipe(), operands(1)).expect_err("an exhibit").code(), "unsupported");
    }
}
