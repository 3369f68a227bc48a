//! What most steps of the ladder have in common: row-major operands, one tile of C per block.

use crate::{
    argument::{Argument, Buffer, NamedArgument},
    kernel::{
        Kernel,
        launch::{Launch, Recipe},
    },
    refusal::Refusal,
    request::{Batch, Request},
};
use tilewright_core::Layout;

/// A kernel that computes a tile of C per block, with the parameters of [`arguments`].
pub(crate) struct Rung {
    /// Rows of C, columns of C and terms per step.
    pub tile: [u32; 3],
    /// Threads along x and y.
    pub block: [u32; 2],
    /// Which way the x axis of the grid runs.
    pub grid_x: Axis,
    /// Which sizes are accepted.
    pub sizes: Sizes,
    /// Elements that one access moves: rows must start at multiples of it.
    pub vector: u32,
    /// Constants of the program, besides the semiring.
    pub constants: &'static [(&'static str, u32)],
}

/// A direction in C.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Rows,
    Columns,
}

/// Sizes that a kernel accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sizes {
    Any,
    MultiplesOfTile,
}

impl Rung {
    pub(crate) fn recipe(&self, kernel: &'static Kernel, request: &Request) -> Result<Recipe, Refusal> {
        let checks = Checks { kernel, request };
        let size = checks.row_major()?;
        if self.sizes == Sizes::MultiplesOfTile {
            checks.multiples(self.tile)?;
        }
        checks.vectors(self.vector)?;

        let [tile_m, tile_n, tile_k] = self.tile;
        let (rows, columns) = (size.m.div_ceil(tile_m), size.n.div_ceil(tile_n));
        let grid = match self.grid_x {
            Axis::Rows => [rows, columns, 1],
            Axis::Columns => [columns, rows, 1],
        };
        checks.grid(grid)?;
        let launch = Launch::new(
            kernel.program(request.variant(), self.constants),
            kernel.entry(),
            grid,
            [self.block[0], self.block[1], 1],
            arguments(request, size),
        );
        let outputs = tile_m * tile_n / (self.block[0] * self.block[1]);
        Ok(Recipe {
            details: vec![
                ("tile", format!("{tile_m}x{tile_n}, {tile_k} terms a step")),
                ("outputs per thread", outputs.to_string()),
            ],
            ..Recipe::product(kernel, request, vec![launch])
        })
    }
}

/// Sizes that fit the kernels' 32-bit parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub m: u32,
    pub n: u32,
    pub k: u32,
}

/// `A, B, C, M, N, K, lda, ldb, ldc, alpha, beta`: the parameters of kernels on row-major operands.
pub(crate) fn arguments(request: &Request, size: Size) -> Vec<NamedArgument> {
    let leading = |l: Layout| Argument::i64(l.row_stride as i64);
    let problem = &request.problem;
    [
        ("A", Argument::Pointer(Buffer::A)),
        ("B", Argument::Pointer(Buffer::B)),
        ("C", Argument::Pointer(Buffer::C)),
        ("M", Argument::i32(size.m as i32)),
        ("N", Argument::i32(size.n as i32)),
        ("K", Argument::i32(size.k as i32)),
        ("lda", leading(problem.a())),
        ("ldb", leading(problem.b())),
        ("ldc", leading(problem.c())),
        ("alpha", request.alpha().into()),
        ("beta", request.beta().into()),
    ]
    .map(|(name, value)| NamedArgument { name, value })
    .to_vec()
}

/// Preconditions, each with its refusal.
pub(crate) struct Checks<'a> {
    pub kernel: &'static Kernel,
    pub request: &'a Request,
}

impl Checks<'_> {
    pub fn refuse<T>(&self, needs: String, found: String, hint: &str) -> Result<T, Refusal> {
        Err(Refusal { kernel: self.kernel.name, needs, found, hint: hint.into() })
    }

    /// One product whose sizes fit the kernels' parameters, with rows of neighbouring elements.
    pub fn row_major(&self) -> Result<Size, Refusal> {
        let size = self.single()?;
        let p = &self.request.problem;
        for (name, l) in [("A", p.a()), ("B", p.b()), ("C", p.c())] {
            self.unit_rows(name, l)?;
        }
        Ok(size)
    }

    /// Rows of neighbouring elements.
    pub fn unit_rows(&self, name: &str, l: Layout) -> Result<(), Refusal> {
        if l.col_stride != 1 && l.cols > 1 {
            let found = format!("neighbours in a row of {name} are {} elements apart", l.col_stride);
            return self.refuse("rows of neighbouring elements".into(), found, "copy it, or use simt");
        }
        Ok(())
    }

    /// One product whose sizes fit the kernels' parameters.
    pub fn single(&self) -> Result<Size, Refusal> {
        if self.request.batch != Batch::ONE {
            let found = format!("a batch of {}", self.request.batch.count);
            return self.refuse("a single product".into(), found, "launch one by one, or use simt");
        }
        self.sizes()
    }

    /// Sizes that fit the kernels' parameters.
    pub fn sizes(&self) -> Result<Size, Refusal> {
        let p = &self.request.problem;
        let mut sizes = [0; 3];
        for (into, (name, size)) in sizes.iter_mut().zip([("M", p.m()), ("N", p.n()), ("K", p.k())]) {
            // Index arithmetic up to the end of the last tile must not overflow.
            const LARGEST: usize = i32::MAX as usize - 1024;
            match u32::try_from(size) {
                Ok(size) if size as usize <= LARGEST => *into = size,
                _ => {
                    let found = format!("{name} is {size}");
                    return self.refuse(format!("{name} of at most {LARGEST}"), found, "split the product");
                }
            }
        }
        let [m, n, k] = sizes;
        Ok(Size { m, n, k })
    }

    /// A batch whose numbers fit the kernels' 32-bit parameters.
    pub fn batch(&self) -> Result<(), Refusal> {
        const MOST: usize = i32::MAX as usize;
        match self.request.batch.count {
            ..=MOST => Ok(()),
            count => {
                let found = format!("a batch of {count}");
                self.refuse(format!("a batch of at most {MOST}"), found, "split the batch")
            }
        }
    }

    /// Workspaces within the limit of the request.
    pub fn workspaces(&self, bytes: &[u64]) -> Result<(), Refusal> {
        let (most, all) =
            (self.request.workspace, bytes.iter().fold(0, |sum: u64, x| sum.saturating_add(*x)));
        if all > most {
            let found = format!("its copies of A and B take {all}");
            return self.refuse(format!("at most {most} bytes of workspace"), found, "use simt");
        }
        Ok(())
    }

    /// Sizes that are multiples of the tile.
    pub fn multiples(&self, tile: [u32; 3]) -> Result<(), Refusal> {
        let p = &self.request.problem;
        for ((name, size), tile) in [("M", p.m()), ("N", p.n()), ("K", p.k())].into_iter().zip(tile) {
            if size % tile as usize != 0 {
                let (needs, found) =
                    (format!("{name} to be a multiple of {tile}"), format!("{name} is {size}"));
                return self.refuse(needs, found, "pad the operands, or use shared-tile-ragged or simt");
            }
        }
        Ok(())
    }

    /// Rows that start at multiples of `vector` elements.
    pub fn vectors(&self, vector: u32) -> Result<(), Refusal> {
        let (p, align) = (&self.request.problem, self.request.alignment);
        let bytes = u64::from(vector) * self.request.dtype.size() as u64;
        for (name, l, address) in [("A", p.a(), align.a), ("B", p.b(), align.b), ("C", p.c(), align.c)] {
            if l.rows > 1 && l.row_stride % vector as isize != 0 {
                let needs = format!("rows that start at multiples of {vector} elements");
                let found = format!("rows of {name} are {} elements apart", l.row_stride);
                return self.refuse(needs, found, "pad the rows, or use block-tile-2d or simt");
            }
            if address % bytes != 0 {
                let found = format!("{name} is aligned to {address}");
                return self.refuse(
                    format!("addresses aligned to {bytes} bytes"),
                    found,
                    "copy it, or use simt",
                );
            }
        }
        Ok(())
    }

    /// A grid within the limits of every GPU.
    pub fn grid(&self, grid: [u32; 3]) -> Result<(), Refusal> {
        const LIMITS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
        for ((axis, blocks), limit) in ["x", "y", "z"].into_iter().zip(grid).zip(LIMITS) {
            if blocks > limit {
                let found = format!("this product takes {blocks}");
                return self.refuse(format!("at most {limit} blocks along {axis}"), found, "use simt");
            }
        }
        Ok(())
    }
}
