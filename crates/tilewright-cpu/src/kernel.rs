//! What the driver calls to compute in a semiring: micro-kernels, packing, and the trait of semirings that have them on vectors.

use crate::{
    blocking::{Heights, Line, ROW_OF_A},
    isa::Isa,
    join::JoinFn,
    narrow::Codes,
    op::Scalar,
    options::{Dots, KernelName},
    pack::{self, PackFn, Same},
    prune::Pruning,
    scan,
    tile::{self, TileFn},
    winners::Winners,
};
use core::any::type_name;
use tilewright_core::Semiring;

/// Micro-kernels for tiles of any number of vectors up to the widest, and of these heights.
pub struct Tiles<P: 'static, A: 'static> {
    /// `of[v - 1]` has those for `v` vectors: of one row, two, and so on, and last of the tallest.
    of: &'static [&'static [TileFn<P, A>]],
    pub heights: Heights,
}

impl<P, A> Clone for Tiles<P, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P, A> Copy for Tiles<P, A> {}

impl<P, A> Tiles<P, A> {
    /// Micro-kernels of these numbers of rows, for each number of vectors the same ones.
    pub const fn new<const HEIGHTS: usize>(
        of: &'static [&'static [TileFn<P, A>]],
        rows: &[[usize; HEIGHTS]],
    ) -> Self {
        let (low, tall) = (HEIGHTS - 1, rows[0][HEIGHTS - 1]);
        let mut v = 0;
        while v < rows.len() {
            let mut r = 0;
            while r < HEIGHTS {
                assert!(rows[v][r] == if r < low { r + 1 } else { tall });
                r += 1;
            }
            v += 1;
        }
        Self { of, heights: Heights { low, tall } }
    }

    /// The one for `rows` rows, a height that there is, by `vectors` vectors.
    #[inline(always)]
    pub fn get(&self, vectors: usize, rows: usize) -> TileFn<P, A> {
        let Heights { low, tall } = self.heights;
        debug_assert!(rows <= low || rows == tall);
        self.of[vectors - 1][(rows - 1).min(low)]
    }

    /// Vectors of the widest.
    #[inline(always)]
    pub fn vectors(&self) -> usize {
        self.of.len()
    }
}

/// What packed elements hold, and how they are multiplied.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    /// Terms in an element.
    pub terms: usize,
    /// Whether lines begin with an element for what sums begin with.
    pub begins: bool,
    /// Lines have a multiple of so many elements for terms.
    pub unit: usize,
    /// Bytes of a line in a block, roughly.
    pub line: usize,
    /// Which instructions multiply them.
    pub dots: Dots,
}

impl Groups {
    /// A term.
    pub const ONE: Self = Self { terms: 1, begins: false, unit: 1, line: ROW_OF_A, dots: Dots::Plain };
    /// Two terms of 16 bits.
    pub const PAIR: Self = Self { terms: 2, ..Self::ONE };

    /// A line in a block.
    pub fn line(self) -> Line {
        Line { bytes: self.line, unit: self.unit, before: usize::from(self.begins) }
    }

    /// Elements of a line of so many terms.
    pub fn elements(self, terms: usize) -> usize {
        terms.div_ceil(self.terms).next_multiple_of(self.unit) + usize::from(self.begins)
    }
}

/// Everything the driver needs to compute in one semiring on one instruction set.
///
/// `E` are the elements of A and B, `P` packed elements, `A` partial sums.
pub struct Kernel<E: 'static, P: 'static, A: 'static> {
    /// Elements in a vector.
    pub lanes: usize,
    /// What packed elements hold.
    pub groups: Groups,
    /// How packed elements of A and of B are written, where they are narrowed.
    pub codes: Codes,
    /// For packed operands.
    pub packed: Tiles<P, A>,
    /// For operands in place, where elements need no change to be computed with.
    pub in_place: Option<InPlaceTiles<P, A>>,
    /// Pack A, and B.
    pub pack: [PackFn<E, P>; 2],
    /// For tiles that tell which term won.
    pub arg: Option<Winners<P, A>>,
    /// Joins sums of further terms with those of earlier ones, where terms may be split.
    pub join: Option<JoinFn<A>>,
}

impl<E, P, A> Kernel<E, P, A> {
    /// Rows and columns of the largest tile for packed operands.
    pub fn tile(&self) -> (usize, usize) {
        (self.packed.heights.tall, self.packed.vectors() * self.lanes)
    }

    /// The work of so many terms, in those that take the same time one by one.
    pub fn work(&self, terms: f64) -> f64 {
        terms
            / match self.groups.dots {
                Dots::Plain => 1.0,
                Dots::DotProd | Dots::Vnni => self.groups.terms as f64,
                Dots::Amx => 8.0,
            }
    }

    /// Bytes of a buffered sum, with the term that won if the kernel tells.
    pub fn bytes_of_sum(&self) -> usize {
        size_of::<A>() + if self.arg.is_some() { size_of::<u32>() } else { 0 }
    }
}

/// Tiles for operands that are not packed.
pub struct InPlaceTiles<P: 'static, A: 'static> {
    /// A in place, B packed or in the first-level cache.
    pub a: Tiles<P, A>,
    /// Both in place.
    pub both: Tiles<P, A>,
    /// Both in place, shaped as `a`, packing B on the way.
    pub copying: Option<Tiles<P, A>>,
    /// Bytes of B up to which it is always read in place.
    pub small_b: usize,
}

/// How integers are computed in 16 bits where they lie close together.
pub struct Narrow<E: 'static, A: 'static> {
    /// Checks the operands, and finds codes for them; see [`scan::codes`].
    pub codes: scan::FindCodes<E>,
    /// The kernel for a supported instruction set; it needs codes.
    pub kernel: fn(Isa) -> Kernel<E, u32, A>,
}

/// How a product is computed by few terms, where that pays; see [`crate::prune`].
pub struct Prune<E, A> {
    /// Looks at some outputs: the scale to sort rows by, if pruning pays.
    pub scale: scan::FindScale<E>,
    /// The functions for a supported instruction set.
    pub kernel: fn(Isa) -> Pruning<E, A>,
}

/// A built-in semiring that is computed on vectors.
pub trait Vectorised: Semiring {
    /// Elements of the vectors.
    type Lane: Scalar + PartialEq + Send + Sync;
    /// Whether a finished sum has the bits of an element of C, so that C can hold it.
    const IN_C: bool;
    /// The sum that a finished lane stands for.
    fn sum(lane: Self::Lane) -> Self::Acc;
    /// The kernel for a supported instruction set.
    fn kernel(isa: Isa) -> Kernel<Self::Elem, Self::Lane, Self::Lane>;
    /// The kernel for `m x k` and `k x n` integers of 8 or 16 bits by instructions for dot products up to `most`, where the semiring and this processor have one.
    fn dots(
        isa: Isa,
        most: Dots,
        (m, n, k): (usize, usize, usize),
    ) -> Option<Kernel<Self::Elem, Self::Lane, Self::Lane>> {
        let _ = (isa, most, m, n, k);
        None
    }
    /// The kernel for operands in 16 bits, where the semiring has one.
    fn narrow() -> Option<Narrow<Self::Elem, Self::Lane>> {
        None
    }
    /// How it is computed by few terms, where it can be.
    fn prune() -> Option<Prune<Self::Elem, Self::Lane>> {
        None
    }
    /// The kernel that also tells which term won, where ⊕ selects.
    fn arg_kernel(isa: Isa) -> Option<Kernel<Self::Elem, Self::Lane, Self::Lane>>;
}

/// The kernel of any semiring, one element at a time.
pub fn generic<S: Semiring>() -> Kernel<S::Elem, S::Elem, S::Acc> {
    Kernel {
        lanes: tile::GENERIC_LANES,
        groups: Groups::ONE,
        codes: Default::default(),
        packed: const {
            Tiles::new(
                &[&[
                    tile::generic::<S, 1> as TileFn<S::Elem, S::Acc>,
                    tile::generic::<S, 2>,
                    tile::generic::<S, 4>,
                ]],
                &[[1, 2, 4]],
            )
        },
        in_place: None,
        pack: [pack::portable::<S::Elem, S::Elem, Same>; 2],
        arg: None,
        join: None,
    }
}

/// The name of a kernel for `S`.
pub fn name<S: Semiring, P, A>(kernel: &Kernel<S::Elem, P, A>, isa: Isa) -> KernelName {
    let (tile, arg) = (kernel.tile(), kernel.arg.is_some());
    let narrow = kernel.codes != Codes::default();
    let dots = kernel.groups.dots;
    KernelName { arg, narrow, dots, ..KernelName::new(S::NAME, element::<S>(), isa, tile) }
}

/// The name of the element type: for a semiring of a user's the last word of it in Rust.
pub fn element<S: Semiring>() -> &'static str {
    let in_rust = || type_name::<S::Elem>().rsplit(':').next().unwrap_or("?");
    S::BUILT_IN.map_or_else(in_rust, |built_in| built_in.dtype().name())
}
