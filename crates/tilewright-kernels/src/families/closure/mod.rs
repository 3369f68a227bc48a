//! The kernels of best paths that are no products: one closes a diagonal block, which products pass on; one puts back what they found.

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    kernel::{
        Family, Kernel, Make,
        launch::{Launch, LocalMemory, Recipe},
    },
    refusal::Refusal,
    variant::Variant,
};
use tilewright_core::{DType, Layout, SemiringId, for_each_pair};

/// Rows and columns of the largest block.
pub const CLOSURE_SIDE: usize = 128;

/// Threads that close a block, and threads that put back a row.
const THREADS: u32 = 512;
const ROW_THREADS: u32 = 256;

macro_rules! variants {
    ($($id:ident { paths: $(($dtype:ident $semiring:ty))*; products: $(($other:ident $rest:ty))*; })*) => {
        /// Floats of 16 bits have no best paths here either: sums of several edges in 32 bits would not be those of the processor,
        /// which rounds each.
        const VARIANTS: &[Variant] = &[$($(Variant::new(SemiringId::$id, DType::$dtype),)*)*];
    };
}
for_each_pair!(variants!());

static CLOSURE: Kernel = Kernel {
    name: "closure",
    family: Family::Production,
    summary: "the best paths inside a block of at most 128 vertices, in place",
    teaches: "a loop whose steps depend on each other: registers, one barrier a step, latency that nothing hides",
    file: "closure.cu",
    source: include_str!("closure.cu"),
    variants: VARIANTS,
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
pub fn closure(semiring: SemiringId, dtype: DType, block: Layout, slack: f64) -> Result<Recipe, Refusal> {
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
        ("D", Argument::Pointer(Buffer::C)),
        ("N", Argument::i32(rows as i32)),
        ("d_row", Argument::i64(row_stride as i64)),
        ("d_col", Argument::i64(col_stride as i64)),
        ("slack", Argument::f64(slack)),
        ("gain", Argument::Pointer(Buffer::Output)),
    ];
    let launch = Launch::new(
        CLOSURE.program(variant, &[]),
        CLOSURE.entry(),
        [1, 1, 1],
        [THREADS, 1, 1],
        arguments.map(|(name, value)| NamedArgument { name, value }).to_vec(),
    );
    // From compute capability 10.0 on the assembler puts a quarter of doubles aside while the others are closed.
    let launch = Launch { local_memory: LocalMemory::Declared, ..launch };
    Ok(Recipe::exhibit(&CLOSURE, launch))
}

/// How both strips of a step are copied into a matrix whose rows are `row_stride` elements apart: [`Buffer::A`] holds the `p` x `r` elements of the one on the
/// right, which go to [`Buffer::B`], and behind them the `r` x `p` of the one below, which go to [`Buffer::C`].
///
/// # Errors
/// A [`Refusal`] for a semiring without best paths, and for strips of more than 2³¹ rows or columns.
pub fn put_back(
    semiring: SemiringId,
    dtype: DType,
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
        ("from", Argument::Pointer(Buffer::A)),
        ("right", Argument::Pointer(Buffer::B)),
        ("down", Argument::Pointer(Buffer::C)),
        ("P", Argument::i32(p)),
        ("R", Argument::i32(r)),
        ("d_row", Argument::i64(row_stride as i64)),
    ];
    let launch = Launch::new(
        CLOSURE.program(variant, &[]),
        "put_back",
        [rows, 1, 1],
        [ROW_THREADS, 1, 1],
        arguments.map(|(name, value)| NamedArgument { name, value }).to_vec(),
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
        use {DType::F32, SemiringId::MinPlus};
        assert!(refused(MinPlus, F32, 129, 129).contains("at most 128 rows; there are 129 rows"));
        assert!(refused(MinPlus, F32, 3, 4).contains("3 rows and 4 columns"));
        assert!(refused(SemiringId::PlusTimes, F32, 3, 3).contains("plus-times.f32 is asked for"));
        assert_eq!(launches().len(), VARIANTS.len());
    }
}
