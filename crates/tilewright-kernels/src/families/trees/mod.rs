//! The stop before the last of best paths.

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    kernel::{
        Family, Kernel, Make,
        launch::{Launch, Recipe},
    },
    refusal::Refusal,
    variant::Variant,
};
use tilewright_core::{
    DType::{self, F32, F64},
    SemiringId::{self, MaxPlus, MaxTimes, MinPlus, MinTimes},
};

const THREADS: u32 = 256;
/// Rows in which a thread looks for edges of its column.
const ROWS: u32 = 256;

/// Semirings in which a worse part makes a path worse. Integers are left out: paths are often equal, and the processor tells them apart by their edges.
const VARIANTS: [Variant; 8] = [
    Variant::new(MinPlus, F32),
    Variant::new(MinPlus, F64),
    Variant::new(MaxPlus, F32),
    Variant::new(MaxPlus, F64),
    Variant::new(MaxTimes, F32),
    Variant::new(MaxTimes, F64),
    Variant::new(MinTimes, F32),
    Variant::new(MinTimes, F64),
];

static TREES: Kernel = Kernel {
    name: "trees",
    family: Family::Production,
    summary: "the stop before the last of the best paths between all vertices",
    teaches: "sparse lists made on the device, and a row that stays in the cache",
    file: "trees.cu",
    source: include_str!("trees.cu"),
    variants: &VARIANTS,
    make: Make::Closure,
};

/// How the stop before the last of all best paths is found, in three launches with a sum on the host in between. Weights of edges `W` are
/// [`Buffer::A`], weights of best paths `D` are [`Buffer::C`], `n x n` each, by rows; integers have 32 bits.
#[derive(Clone, Debug)]
pub struct TreeRecipes {
    /// Counts the edges that are best paths: [`TreeRecipes::strips`] rows of `n` integers in [`Buffer::Output`].
    pub count: Recipe,
    /// Lists them in [`Buffer::B`]; [`Buffer::Input`] holds as many integers, where those of a column and a strip of rows begin.
    pub list: Recipe,
    /// Rows of counts.
    pub strips: usize,
    /// Bytes of an edge.
    pub edge_bytes: usize,
    variant: Variant,
    n: u32,
}

/// The most vertices whose edges can be counted.
const MOST: usize = 1 << 20;

impl TreeRecipes {
    /// For `n` vertices.
    ///
    /// # Errors
    /// A [`Refusal`] for a semiring and type that the kernel does not know, and for too many vertices.
    pub fn new(semiring: SemiringId, dtype: DType, n: usize) -> Result<Self, Refusal> {
        let variant = Variant::new(semiring, dtype);
        TREES.check(variant)?;
        if n > MOST || n == 0 {
            return Err(Refusal {
                kernel: TREES.name,
                needs: format!("between 1 and {MOST} vertices"),
                found: format!("there are {n}"),
                hint: "find them on the processor".into(),
            });
        }
        let strips = n.div_ceil(ROWS as usize);
        let n = n as u32;
        let grid = [n.div_ceil(THREADS), strips as u32, 1];
        let rows = NamedArgument { name: "rows", value: Argument::i32(ROWS as i32) };
        let pointer = |name, buffer| NamedArgument { name, value: Argument::Pointer(buffer) };
        Ok(Self {
            count: recipe(variant, n, "count", grid, &[rows.clone(), pointer("counts", Buffer::Output)]),
            list: recipe(
                variant,
                n,
                "list",
                grid,
                &[rows, pointer("starts", Buffer::Input), pointer("edges", Buffer::B)],
            ),
            strips,
            edge_bytes: 2 * dtype.size(),
            variant,
            n,
        })
    }

    /// Finds the stops, of so many edges: `n` rows of `n` integers in [`Buffer::Output`], -1 where there is none, and a row that says for which
    /// sources another look is needed. The first `n` integers of [`Buffer::Input`] say where the edges to each vertex begin.
    pub fn grow(&self, edges: u32) -> Recipe {
        let pointer = |name, buffer| NamedArgument { name, value: Argument::Pointer(buffer) };
        let rest = [
            NamedArgument { name: "edge_count", value: Argument::i32(edges as i32) },
            pointer("starts", Buffer::Input),
            pointer("edges", Buffer::B),
            pointer("P", Buffer::Output),
        ];
        recipe(self.variant, self.n, "grow", [self.n, 1, 1], &rest)
    }
}

fn recipe(variant: Variant, n: u32, entry: &'static str, grid: [u32; 3], rest: &[NamedArgument]) -> Recipe {
    let mut arguments = vec![
        NamedArgument { name: "W", value: Argument::Pointer(Buffer::A) },
        NamedArgument { name: "D", value: Argument::Pointer(Buffer::C) },
        NamedArgument { name: "N", value: Argument::i32(n as i32) },
    ];
    arguments.extend_from_slice(rest);
    Recipe::exhibit(&TREES, Launch::new(TREES.program(variant, &[]), entry, grid, [THREADS, 1, 1], arguments))
}

/// A launch of every program.
pub(crate) fn launches() -> Vec<Launch> {
    let recipes = VARIANTS.iter().filter_map(|v| TreeRecipes::new(v.semiring, v.dtype, 1).ok());
    recipes.flat_map(|recipes| recipes.count.launches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_rare_and_sums_are_strict() {
        let refused = |semiring, dtype| TreeRecipes::new(semiring, dtype, 5).unwrap_err().to_string();
        assert!(refused(MinPlus, DType::I32).contains("min-plus.i32 is asked for"));
        assert!(refused(SemiringId::MaxMin, F32).contains("max-min.f32 is asked for"));
        assert!(
            TreeRecipes::new(MinPlus, F32, MOST + 1).unwrap_err().to_string().contains("there are 1048577")
        );
        let recipes = TreeRecipes::new(MinPlus, F64, 257).unwrap();
        assert_eq!((recipes.strips, recipes.edge_bytes), (2, 16));
        assert_eq!(recipes.grow(9).launches()[0].grid(), [257, 1, 1]);
        assert_eq!(launches().len(), VARIANTS.len());
    }
}
