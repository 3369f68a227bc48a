//! The kernel that closes a diagonal block of best paths. It is no product: products pass on what it finds.

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    kernel::{Family, Kernel, Make, Variant},
    launch::{Launch, Recipe},
    program::Program,
    refusal::Refusal,
};
use tilewright_core::{DType, Layout, SemiringId, for_each_pair};

/// Rows and columns of the largest block.
pub const CLOSURE_SIDE: usize = 64;

const THREADS: u32 = 256;

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
    summary: "the best paths inside a block of at most 64 vertices, in place",
    teaches: "a loop whose steps depend on each other: registers, one barrier a step, latency that nothing hides",
    file: "closure.cu",
    source: include_str!("closure.cu"),
    variants: VARIANTS,
    make: Make::Closure,
};

/// How the best paths inside a block are found, in place: `D[i,j] = ⊕` over all paths from `i` to `j` within the block, those without an edge included. Elements
/// must be in the semiring's domain and no NaN, and the diagonal no worse than the semiring's one.
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
        Program::new(&CLOSURE, variant, &[]),
        CLOSURE.entry(),
        [1, 1, 1],
        [THREADS, 1, 1],
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
        assert!(refused(MinPlus, F32, 65, 65).contains("at most 64 rows; there are 65 rows"));
        assert!(refused(MinPlus, F32, 3, 4).contains("3 rows and 4 columns"));
        assert!(refused(SemiringId::PlusTimes, F32, 3, 3).contains("plus-times.f32 is asked for"));
        assert_eq!(launches().len(), VARIANTS.len());
    }
}
