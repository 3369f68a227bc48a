//! The table of the built-in semirings: what to call for each, its element type and an instruction set.

#[cfg(target_arch = "x86_64")]
use crate::ordered::{Ordered, SelectOrdered};
use crate::{
    bits::OnBits,
    compute::{Compute, OnVectors},
    isa::Isa,
    join,
    kernel::{Groups, InPlaceTiles, Kernel, Narrow, Prune, Tiles, Vectorised},
    lanes::{self, Lanes, PairLanes, PlainPairs},
    log_plus,
    narrow::Integer,
    op::{Dot, Op, Scalar, SelectBottleneck, SelectOp, SelectProduct, SelectSum, Sum},
    pack::{self, Absent, Load, NoNan, Same, Widen},
    pairs,
    prune::{self, Between, Pruning},
    rounded::{SelectBf16Sum, SelectF16Sum},
    scan,
    tile::{self, Copying, InPlace, Packed, TileFn},
    winners::{self, Winners},
};
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
use crate::{dots, options::Dots};
use core::{
    any::{Any, TypeId},
    convert::identity,
};
use half::{bf16, f16};
use tilewright_core::{
    E4m3, E5m2, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, OrAnd, PlusTimes, Semiring,
};

/// What computes a built-in semiring on vectors. Never inlined, as the kernels, so that they are compiled here and not again in every
/// crate that multiplies.
trait Engine: Vectorised {
    fn engine() -> &'static dyn Compute<Self>;
}

/// Tables of every register tile of an instruction set, as `{vectors: rows rows ...}`. The largest is the one
/// whose accumulators leave room for a row of B and an element of A;
/// wide tiles have as many rows and vectors as multiply-add leaves room for.
/// Of packed operands two low tiles take little longer than one of a height that is missing. In place there
/// are all heights: where rows of A are few, B is most of what is read, and would be read twice. There are no more than eight, because rows that are a multiple
/// of 4 KiB apart share a set of the first-level cache, which has eight ways on AMD's processors.
macro_rules! tables {
    ($tile:ident, $({$v:literal: $($r:literal)*})*, in_place $({$pv:literal: $($pr:literal)*})*, wide $({$wv:literal: $($wr:literal)*})*, arg $({$av:literal: $($ar:literal)*})*) => {
        mod $tile {
            use super::{Integer, Lanes, Op, PairLanes, Scalar, SelectOp, TileFn, Tiles, pairs, tile, winners};

            pub fn tiles<V: Lanes<T: Scalar>, O: Op<V>, F: tile::FindA<V::T>>() -> Tiles<V::T, V::T> {
                const { Tiles::new(&[$(&[$(tile::$tile::<V, O, F, $r, $v> as TileFn<V::T, V::T>),*]),*], &[$([$($r),*]),*]) }
            }

            pub fn in_place_tiles<V: Lanes<T: Scalar>, O: Op<V>>() -> Tiles<V::T, V::T> {
                const { Tiles::new(&[$(&[$(tile::$tile::<V, O, tile::InPlace<V::T>, $pr, $pv> as TileFn<V::T, V::T>),*]),*], &[$([$($pr),*]),*]) }
            }

            pub fn wide_tiles<V: Lanes<T: Scalar>, O: Op<V>, F: tile::FindA<V::T>>() -> Tiles<V::T, V::T> {
                const { Tiles::new(&[$(&[$(tile::$tile::<V, O, F, $wr, $wv> as TileFn<V::T, V::T>),*]),*], &[$([$($wr),*]),*]) }
            }

            pub fn pair_tiles<V: PairLanes, E: Integer>() -> Tiles<u32, E> {
                const { Tiles::new(&[$(&[$(pairs::$tile::tile::<V, E, $r, $v> as TileFn<u32, E>),*]),*], &[$([$($r),*]),*]) }
            }

            pub fn arg_tiles<V: Lanes<T: Scalar>, O: SelectOp<V>>() -> Tiles<V::T, V::T> {
                const { Tiles::new(&[$(&[$(winners::$tile::compute::<V, O, $ar, $av> as TileFn<V::T, V::T>),*]),*], &[$([$($ar),*]),*]) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
tables!(avx512, {1: 1 2 3 4 5 6 12} {2: 1 2 3 4 5 6 12},
    in_place {1: 1 2 3 4 5 6 7 8} {2: 1 2 3 4 5 6 7 8} {3: 1 2 3 4 5 6 7 8},
    wide {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6} {3: 1 2 3 4 5 6} {4: 1 2 3 4 5 6}, arg {1: 1 2 3 4 5 6 12} {2: 1 2 3 4 5 6 12});
// Of 4 rows by 3 vectors the compiler keeps the sums in memory, of 6 by 2 in the 16 registers.
#[cfg(target_arch = "x86_64")]
tables!(avx2, {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6}, in_place {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6},
    wide {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6}, arg {1: 1 2 3 4 5} {2: 1 2 3 4 5});
// 18 sums keep four pipelines busy for the four cycles of a multiply-add. With more of them the compiler moves
// so many terms ahead of the selections that sums leave the 32 registers. Three vectors share each element of A,
// because spreading it over a vector costs as much as an operation on it. Multiply-add takes an element of A
// without spreading it, has nothing to move ahead, and leaves room for more rows.
#[cfg(target_arch = "aarch64")]
tables!(neon, {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6} {3: 1 2 3 4 5 6}, in_place {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6} {3: 1 2 3 4 5 6},
    wide {1: 1 2 3 4 5 6 7 8} {2: 1 2 3 4 5 6 7 8} {3: 1 2 3 4 5 6 7 8}, arg {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6} {3: 1 2 3 4 5 6});
tables!(portable, {1: 1 2 4}, in_place {1: 1 2 4}, wide {1: 1 2 4}, arg {1: 1 2 4});

/// How sums of some terms are joined with those of others. There are few of them, so that every instruction set has the same.
macro_rules! join {
    ($lane:ident, $op:ident $(<$max:literal>)?) => {
        Some(join::join::<lanes::portable::$lane, $op<lanes::portable::$lane $(, $max)?>> as join::JoinFn<_>)
    };
}

/// The kernel of a semiring on one instruction set: its vectors, operation and packing.
macro_rules! on {
    ($isa:ident, $lane:ident, $op:ident $(<$max:literal>)?, $load:ty) => {{
        type V = lanes::$isa::$lane;
        type P = <V as Lanes>::T;
        Kernel {
            lanes: V::LEN,
            groups: Groups::ONE,
            codes: Default::default(),
            packed: $isa::tiles::<V, $op<V $(, $max)?>, Packed<P>>(),
            in_place: None,
            pack: [pack::$isa::<Self::Elem, P, $load>; 2],
            arg: None,
            join: join!($lane, $op $(<$max>)?),
        }
    }};
}

/// As [`on`], for integers of at most 16 bits: a dot product of two terms at a time.
macro_rules! on_pairs {
    // NEON's dot products of 16 bits take as many instructions as products of 32.
    (neon, $($with:tt)*) => {
        on!(neon, $($with)*)
    };
    ($isa:ident, $lane:ident, $op:ident, $load:ty) => {{
        type V = lanes::$isa::$lane;
        Kernel {
            lanes: V::LEN,
            groups: Groups::PAIR,
            codes: Default::default(),
            packed: $isa::tiles::<V, Dot<V, PlainPairs>, Packed<i32>>(),
            in_place: None,
            pack: [pairs::$isa::pack_numbers::<Self::Elem>; 2],
            arg: None,
            join: join!($lane, $op),
        }
    }};
}

/// As [`on`], with operands in place where they need no change: thin products read them once.
macro_rules! on_in_place {
    ($isa:ident, $lane:ident, $op:ident $(<$max:literal>)?, $load:ty) => {{
        type V = lanes::$isa::$lane;
        let tiles = $isa::in_place_tiles::<V, $op<V $(, $max)?>>();
        let in_place = Some(InPlaceTiles { a: tiles, both: tiles, copying: None, small_b: 128 << 10 });
        Kernel { in_place, ..on!($isa, $lane, $op $(<$max>)?, $load) }
    }};
}

/// As [`on`], for max-min and min-max on floats, which AVX2 orders as integers: Zen 3 selects those 1.5 to 2 times as fast.
macro_rules! on_ordered {
    (avx2, $lane:ident, $op:ident <$max:literal>, $load:ty) => {{
        type V = lanes::avx2::$lane;
        type P = <V as Lanes>::T;
        Kernel {
            lanes: V::LEN,
            groups: Groups::ONE,
            codes: Default::default(),
            packed: avx2::tiles::<V, SelectOrdered<$max>, Packed<P>>(),
            in_place: None,
            pack: [pack::avx2::<P, P, Ordered<$max>>; 2],
            arg: None,
            join: join!($lane, $op<$max>),
        }
    }};
    ($($with:tt)*) => {
        on!($($with)*)
    };
}

/// As [`on`], for ordinary multiplication of floats, which is so cheap that loads count: tiles are wide, and
/// small operands are read in place.
macro_rules! on_wide {
    ($isa:ident, $lane:ident, $op:ident, $load:ty) => {{
        type V = lanes::$isa::$lane;
        type P = <V as Lanes>::T;
        Kernel {
            packed: $isa::wide_tiles::<V, $op<V>, Packed<P>>(),
            in_place: Some(InPlaceTiles {
                a: $isa::wide_tiles::<V, $op<V>, InPlace<P>>(),
                both: $isa::in_place_tiles::<V, $op<V>>(),
                copying: Some($isa::wide_tiles::<V, $op<V>, Copying<P>>()),
                small_b: 32 << 10,
            }),
            ..on!($isa, $lane, $op, $load)
        }
    }};
}

/// As [`on`], telling which term won.
macro_rules! arg_on {
    ($isa:ident, $lane:ident, $op:ident <$max:literal>, $load:ty) => {{
        type V = lanes::$isa::$lane;
        type P = <V as Lanes>::T;
        Some(Kernel {
            lanes: V::LEN,
            groups: Groups::ONE,
            codes: Default::default(),
            packed: $isa::arg_tiles::<V, $op<V, $max>>(),
            in_place: None,
            pack: [pack::$isa::<Self::Elem, P, $load>; 2],
            arg: Some(Winners { group: winners::group::<V>(), find: winners::$isa::find::<V, $op<V, $max>> }),
            join: join!($lane, $op<$max>),
        })
    }};
}

/// The kernel for integers that lie close together; operation and packing are always the same.
macro_rules! pairs_on {
    ($isa:ident, $lane:ident, $op:ident <$max:literal>, $load:ty) => {{
        type V = lanes::$isa::Pairs;
        type E = <lanes::$isa::$lane as Lanes>::T;
        Kernel {
            lanes: V::LEN,
            groups: Groups::PAIR,
            codes: Default::default(),
            packed: $isa::pair_tiles::<V, E>(),
            in_place: None,
            pack: [pairs::$isa::pack::<E>; 2],
            arg: None,
            join: join!($lane, $op<$max>),
        }
    }};
}

/// What prunes products.
macro_rules! prune_on {
    ($isa:ident, $lane:ident, $op:ident <$max:literal>, $load:ty) => {{
        type V = lanes::$isa::$lane;
        type P = <V as Lanes>::T;
        prune::$isa::pruning::<Self::Elem, lanes::$isa::Bytes, V, $op<V, $max>, $max>(
            pack::$isa::<Self::Elem, P, $load>,
        )
    }};
}

/// One of the above for whichever instruction set `$at` is.
macro_rules! dispatch {
    ($at:expr, $on:ident, $lane:ident, $op:ident $(<$max:literal>)?, $load:ty) => {
        match $at {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => $on!(avx512, $lane, $op $(<$max>)?, $load),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => $on!(avx2, $lane, $op $(<$max>)?, $load),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => $on!(neon, $lane, $op $(<$max>)?, $load),
            _ => $on!(portable, $lane, $op $(<$max>)?, $load),
        }
    };
}

/// What computes a semiring.
macro_rules! engine {
    () => {
        &OnVectors
    };
    ($engine:ident) => {
        &$engine
    };
}

macro_rules! vectorised {
    ($($s:ty: $lane:ident of $t:ty, $op:ident $(<$max:literal>)?, $load:ty, $place:ident, $sum:expr, $on:ident, $args:ident
        $(, dots $dots:ident)? $(, narrowed<$larger:literal>)? $(, pruned<$most:literal> $look:ty)? $(, by $engine:ident)?;)*) => {
        $(impl Vectorised for $s {
            type Lane = $t;
            const IN_C: bool = matches!(Place::$place, Place::InC);
            #[inline(always)]
            fn sum(lane: $t) -> Self::Acc { $sum(lane) }
            #[inline(never)]
            fn kernel(isa: Isa) -> Kernel<Self::Elem, $t, $t> {
                dispatch!(isa, $on, $lane, $op $(<$max>)?, $load)
            }
            #[inline(never)]
            fn arg_kernel(isa: Isa) -> Option<Kernel<Self::Elem, $t, $t>> {
                $args!(isa, $lane, $op $(<$max>)?, $load)
            }
            $(#[inline(never)]
            #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
            fn dots(isa: Isa, most: Dots, size: (usize, usize, usize)) -> Option<Kernel<Self::Elem, $t, $t>> {
                dots::$dots(isa, most, size)
            })?
            $(#[inline(never)]
            fn narrow() -> Option<Narrow<Self::Elem, $t>> {
                Some(Narrow {
                    codes: scan::codes::<Self, $larger>,
                    kernel: |isa| dispatch!(isa, pairs_on, $lane, SelectSum<$larger>, Same),
                })
            })?
            $(#[inline(never)]
            fn prune() -> Option<Prune<Self::Elem, $t>> {
                Some(Prune {
                    scale: scan::scale::<Self::Elem, $t, $look, $most>,
                    kernel: |isa| Pruning {
                        between: (!Self::IN_C).then_some(Between {
                            load: <$look as Load<Self::Elem, $t>>::load,
                            store: |sum| Self::finish(Self::sum(sum)),
                        }),
                        ..dispatch!(isa, prune_on, $lane, $op<$most>, $load)
                    },
                })
            })?
        }
        impl Engine for $s {
            #[inline(never)]
            fn engine() -> &'static dyn Compute<Self> {
                engine!($($engine)?)
            }
        })*

        /// What computes `S` on vectors, when `S` is one of the built-in semirings.
        pub fn find<S: Semiring>() -> Option<&'static dyn Compute<S>> {
            $(if TypeId::of::<S>() == TypeId::of::<$s>() {
                let engine: &dyn Any = &<$s>::engine();
                return engine.downcast_ref::<&'static dyn Compute<S>>().copied();
            })*
            log_plus::find::<S>()
        }
    };
}

/// Where partial sums can be kept.
enum Place {
    /// In C: they have the size and, when finished, the bits of its elements.
    InC,
    /// In a buffer: they are of another type.
    Apart,
}

macro_rules! tells {
    ($isa:expr, $lane:ident, $op:ident <$max:literal>, $load:ty) => {
        dispatch!($isa, arg_on, $lane, $op<$max>, $load)
    };
}
macro_rules! tells_f16 {
    ($isa:expr, $lane:ident, $op:ident <$max:literal>, $load:ty) => {
        dispatch!($isa, arg_on, $lane, SelectF16Sum<$max>, $load)
    };
}
macro_rules! tells_bf16 {
    ($isa:expr, $lane:ident, $op:ident <$max:literal>, $load:ty) => {
        dispatch!($isa, arg_on, $lane, SelectBf16Sum<$max>, $load)
    };
}
macro_rules! tells_or_and {
    ($isa:expr, $lane:ident, $op:ident, $load:ty) => {
        // Of 0 and 1, or is the larger and and the smaller.
        dispatch!($isa, arg_on, $lane, SelectBottleneck<true>, $load)
    };
}
macro_rules! tells_none {
    ($isa:expr, $($rest:tt)*) => {{
        let _ = $isa;
        None
    }};
}

// On the halves of min-plus and max-plus: terms are sums in f32, which round to the same half-precision value
// as the exact ones, f32 having more than twice the digits. Rounding is monotonic, so the best rounded term is
// the rounded best one. Which term won depends on rounding: of those that round to the same number it is the first.
// Where elements have two types of results, both are named: whether implementations overlap is decided without knowing defaults of other crates.
vectorised! {
    PlusTimes<f16, f16>: F32 of f32, Sum, Widen, Apart, identity, on, tells_none;
    PlusTimes<bf16, bf16>: F32 of f32, Sum, Widen, Apart, identity, on, tells_none;
    PlusTimes<f16, f32>: F32 of f32, Sum, Widen, InC, identity, on, tells_none;
    PlusTimes<bf16, f32>: F32 of f32, Sum, Widen, InC, identity, on, tells_none;
    PlusTimes<E4m3, f32>: F32 of f32, Sum, Widen, InC, identity, on, tells_none;
    PlusTimes<E4m3, f16>: F32 of f32, Sum, Widen, Apart, identity, on, tells_none;
    PlusTimes<E4m3, bf16>: F32 of f32, Sum, Widen, Apart, identity, on, tells_none;
    PlusTimes<E5m2, f32>: F32 of f32, Sum, Widen, InC, identity, on, tells_none;
    PlusTimes<E5m2, f16>: F32 of f32, Sum, Widen, Apart, identity, on, tells_none;
    PlusTimes<E5m2, bf16>: F32 of f32, Sum, Widen, Apart, identity, on, tells_none;
    PlusTimes<f32>: F32 of f32, Sum, Same, InC, identity, on_wide, tells_none;
    PlusTimes<f64>: F64 of f64, Sum, Same, InC, identity, on_wide, tells_none;
    PlusTimes<i8>: I32 of i32, Sum, Widen, InC, identity, on_pairs, tells_none, dots bytes;
    PlusTimes<i16>: I32 of i32, Sum, Widen, InC, identity, on_pairs, tells_none, dots halves;
    PlusTimes<i32>: I32 of i32, Sum, Same, InC, identity, on_in_place, tells_none;
    PlusTimes<i64>: I64 of i64, Sum, Same, InC, identity, on_in_place, tells_none;
    PlusTimes<u8>: I32 of i32, Sum, Widen, InC, identity, on_pairs, tells_none, dots bytes;
    MinPlus<f16>: F32 of f32, SelectSum<false>, Widen, Apart, f16::from_f32, on, tells_f16, pruned<false> Widen;
    MinPlus<bf16>: F32 of f32, SelectSum<false>, Widen, Apart, bf16::from_f32, on, tells_bf16, pruned<false> Widen;
    MinPlus<f32>: F32 of f32, SelectSum<false>, Same, InC, identity, on_in_place, tells, pruned<false> Same;
    MinPlus<f64>: F64 of f64, SelectSum<false>, Same, InC, identity, on_in_place, tells, pruned<false> Same;
    MinPlus<i16>: I16 of i16, SelectSum<false>, Absent<false>, InC, identity, on, tells, narrowed<false>, pruned<false> Absent<false>;
    MinPlus<i32>: I32 of i32, SelectSum<false>, Absent<false>, InC, identity, on, tells, narrowed<false>, pruned<false> Absent<false>;
    MinPlus<i64>: I64 of i64, SelectSum<false>, Absent<false>, InC, identity, on, tells, narrowed<false>, pruned<false> Absent<false>;
    MaxPlus<f16>: F32 of f32, SelectSum<true>, Widen, Apart, f16::from_f32, on, tells_f16, pruned<true> Widen;
    MaxPlus<bf16>: F32 of f32, SelectSum<true>, Widen, Apart, bf16::from_f32, on, tells_bf16, pruned<true> Widen;
    MaxPlus<f32>: F32 of f32, SelectSum<true>, Same, InC, identity, on_in_place, tells, pruned<true> Same;
    MaxPlus<f64>: F64 of f64, SelectSum<true>, Same, InC, identity, on_in_place, tells, pruned<true> Same;
    MaxPlus<i16>: I16 of i16, SelectSum<true>, Absent<true>, InC, identity, on, tells, narrowed<true>, pruned<true> Absent<true>;
    MaxPlus<i32>: I32 of i32, SelectSum<true>, Absent<true>, InC, identity, on, tells, narrowed<true>, pruned<true> Absent<true>;
    MaxPlus<i64>: I64 of i64, SelectSum<true>, Absent<true>, InC, identity, on, tells, narrowed<true>, pruned<true> Absent<true>;
    MaxTimes<f32>: F32 of f32, SelectProduct<true>, Same, InC, identity, on_in_place, tells, pruned<true> Same;
    MaxTimes<f64>: F64 of f64, SelectProduct<true>, Same, InC, identity, on_in_place, tells, pruned<true> Same;
    MinTimes<f32>: F32 of f32, SelectProduct<false>, Same, InC, identity, on_in_place, tells, pruned<false> Same;
    MinTimes<f64>: F64 of f64, SelectProduct<false>, Same, InC, identity, on_in_place, tells, pruned<false> Same;
    MaxMin<f32>: F32 of f32, SelectBottleneck<true>, NoNan<true>, InC, identity, on_ordered, tells, pruned<true> Same;
    MaxMin<f64>: F64 of f64, SelectBottleneck<true>, NoNan<true>, InC, identity, on, tells, pruned<true> Same;
    MaxMin<i32>: I32 of i32, SelectBottleneck<true>, Same, InC, identity, on, tells, pruned<true> Same;
    MaxMin<u8>: Bytes of u8, SelectBottleneck<true>, Same, InC, identity, on, tells;
    MinMax<f32>: F32 of f32, SelectBottleneck<false>, NoNan<false>, InC, identity, on_ordered, tells, pruned<false> Same;
    MinMax<f64>: F64 of f64, SelectBottleneck<false>, NoNan<false>, InC, identity, on, tells, pruned<false> Same;
    MinMax<i32>: I32 of i32, SelectBottleneck<false>, Same, InC, identity, on, tells, pruned<false> Same;
    MinMax<u8>: Bytes of u8, SelectBottleneck<false>, Same, InC, identity, on, tells;
    OrAnd: Bytes of u8, Sum, Same, InC, |x| x != 0, on, tells_or_and, by OnBits;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::{DType, Element, SemiringId, semiring::Visit};

    struct IsFound;
    impl Visit for IsFound {
        type Output = bool;
        fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) -> bool {
            find::<S>().is_some()
        }
    }

    #[test]
    fn every_built_in_semiring_has_a_kernel() {
        let pairs = SemiringId::ALL.iter().flat_map(|&id| id.dtypes().iter().map(move |&dtype| (id, dtype)));
        for (id, dtype) in pairs {
            for &output in DType::ALL.iter().filter(|&&output| id.gives(dtype, output)) {
                assert!(id.visit_giving(dtype, output, IsFound).unwrap(), "{id} on {dtype} giving {output}");
            }
        }
    }
}
