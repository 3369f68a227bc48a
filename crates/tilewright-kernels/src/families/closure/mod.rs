//! The kernels of best paths that are no products: one closes a diagonal block, which products pass on; one puts back what they found.

use crate::{
    kernel::{Family, Kernel, Make, Variant},
    launch::{Argument, ArgumentValue, Buffer, Launch, Recipe},
    program::Program,
    refusal::Refusal,
};
use tilewright_core::{
    DType::{Bool, F32, F64, I16, I32, I64},
    Layout, SemiringId,
    SemiringId::{MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd},
};

/// Rows and columns of the largest block.
pub const CLOSURE_SIDE: usize = 128;

/// Threads that close a block, and threads that put back a row.
const THREADS: u32 = 1024;
const ROW_THREADS: u32 = 256;

/// Best paths are those of selective semirings, and of or-and. Floats of 16 bits are left out: sums of several edges in 32 bits would not be those of the
/// processor, which rounds each.
const VARIANTS: [Variant; 21] = [
    Variant::new(MinPlus, F32),
    Variant::new(MinPlus, F64),
    Variant::new(MinPlus, I16),
    Variant::new(MinPlus, I32),
    Variant::new(MinPlus, I64),
    Variant::new(MaxPlus, F32),
    Variant::new(MaxPlus, F64),
    Variant::new(MaxPlus, I16),
    Variant::new(MaxPlus, I32),
    Variant::new(MaxPlus, I64),
    Variant::new(MaxTimes, F32),
    Variant::new(MaxTimes, F64),
    Variant::new(MinTimes, F32),
    Variant::new(MinTimes, F64),
    Variant::new(MaxMin, F32),
    Variant::new(MaxMin, F64),
    Variant::new(MaxMin, I32),
    Variant::new(MinMax, F32),
    Variant::new(MinMax, F64),
    Variant::new(MinMax, I32),
    Variant::new(OrAnd, Bool),
];

static CLOSURE: Kernel = Kernel {
    name: "closure",
    family: Family::Production,
    summary: "the best paths inside a block of at most 128 vertices, in place",
    teaches: "a loop whose steps depend on each other: registers, one barrier a step, latency that nothing hides",
    file: "closure.cu",
    source: include_str!("closure.cu"),
    variants: &VARIANTS,
    make: Make::Closure,
};

/// How the best paths inside a block are found, in place: `D[i,j] = ⊕` over all paths from `i` to `j` within the block, those without an edge included. Elements
/// must be in the semiring's domain and no NaN, and the diagonal no worse than the semiring's one.
///
/// Up to 64 vertices are closed by Floyd and Warshall's loop, more by halves, with the products of R-Kleene between them: sums of floats are joined in the
/// order of that algorithm with blocks of 64.
///
/// The block is [`Buffer::C`]. Where a cycle is better than the semiring's one by more than `slack`, its vertex, counted from 1, is written to the 32-bit
/// integer [`Buffer::Output`], and the block stays as it is; otherwise the integer is not touched.
///
/// ```
/// use tilewright_core::{DType, Layout, SemiringId};
/// let block = Layout::strided(64, 64, 1000, 1);
/// let recipe = tilewright_kernels::closure(SemiringId::MinPlus, DType::F32, block, 0.0)?;
/// assert_eq!(recipe.launches()[0].grid(), [1, 1, 1]);
/// # Ok::<(), tilewright_kernels::Refusal>(())
/// ```
///
/// # Errors
/// A [`Refusal`] for a semiring without best paths, and for a block that is not square or too large.
pub fn closure(
    semiring: SemiringId,
    dtype: tilewright_core::DType,
    block: Layout,
    slack: f64,
) -> Result<Recipe, Refusal> {
    let variant = Variant::new(semiring, dtype);
    CLOSURE.check(variant)?;
    let Layout { rows, cols, row_stride, col_stride } = block;
    if rows != cols || rows > CLOSURE_SIDE {
        return Err(Refusal {
            kernel: CLOSURE.name,
            needs: format!("a square block of at most {CLOSURE_SIDE} rows"),
            found: format!("there are {rows} rows and {cols} columns"),
            hint: "close diagonal blocks, and pass them on by products".into(),
        });
    }
    let arguments = [
        ("D", ArgumentValue::Pointer(Buffer::C)),
        ("N", ArgumentValue::I32(rows as i32)),
        ("d_row", ArgumentValue::I64(row_stride as i64)),
        ("d_col", ArgumentValue::I64(col_stride as i64)),
        ("slack", ArgumentValue::F64(slack)),
        ("gain", ArgumentValue::Pointer(Buffer::Output)),
    ];
    let launch = Launch::new(
        Program::new(&CLOSURE, variant, &[]),
        CLOSURE.entry(),
        [1, 1, 1],
        [THREADS, 1, 1],
        arguments.map(|(name, value)| Argument { name, value }).to_vec(),
    );
    Ok(Recipe::exhibit(&CLOSURE, launch))
}

/// How both strips of a step are copied into a matrix whose rows are `row_stride` elements apart: [`Buffer::A`] holds the `p` x `r` elements of the one on the
/// right, which go to [`Buffer::B`], and behind them the `r` x `p` of the one below, which go to [`Buffer::C`].
///
/// # Errors
/// A [`Refusal`] for a semiring without best paths, and for strips of more than 2³¹ rows or columns.
pub fn put_back(
    semiring: SemiringId,
    dtype: tilewright_core::DType,
    [p, r]: [usize; 2],
    row_stride: usize,
) -> Result<Recipe, Refusal> {
    let variant = Variant::new(semiring, dtype);
    CLOSURE.check(variant)?;
    let (Ok(rows), Ok(p), Ok(r)) = (u32::try_from(p + r), i32::try_from(p), i32::try_from(r)) else {
        return Err(Refusal {
            kernel: CLOSURE.name,
            needs: "strips of fewer than 2^31 rows and columns".into(),
            found: format!("there are {p} and {r}"),
            hint: "copy them row by row".into(),
        });
    };
    let arguments = [
        ("from", ArgumentValue::Pointer(Buffer::A)),
        ("right", ArgumentValue::Pointer(Buffer::B)),
        ("down", ArgumentValue::Pointer(Buffer::C)),
        ("P", ArgumentValue::I32(p)),
        ("R", ArgumentValue::I32(r)),
        ("d_row", ArgumentValue::I64(row_stride as i64)),
    ];
    let launch = Launch::new(
        Program::new(&CLOSURE, variant, &[]),
        "put_back",
        [rows, 1, 1],
        [ROW_THREADS, 1, 1],
        arguments.map(|(name, value)| Argument { name, value }).to_vec(),
    );
    Ok(Recipe::exhibit(&CLOSURE, launch))
}

/// The launch of every program.
pub(crate) fn launches() -> Vec<Launch> {
    let block = Layout::row_major(CLOSURE_SIDE, CLOSURE_SIDE);
    let recipes = VARIANTS.iter().filter_map(|v| closure(v.semiring, v.dtype, block, 0.0).ok());
    recipes.flat_map(|recipe| recipe.launches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_square_and_small_and_semirings_have_best_paths() {
        let refused = |semiring, dtype, rows, cols| {
            closure(semiring, dtype, Layout::row_major(rows, cols), 0.0).unwrap_err().to_string()
        };
        assert!(refused(MinPlus, F32, 129, 129).contains("at most 128 rows; there are 129 rows"));
        assert!(refused(MinPlus, F32, 3, 4).contains("3 rows and 4 columns"));
        assert!(refused(SemiringId::PlusTimes, F32, 3, 3).contains("plus-times.f32 is asked for"));
        assert_eq!(launches().len(), VARIANTS.len());
    }
}
