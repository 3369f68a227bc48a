//! Plus-times on integers of 8 and 16 bits by instructions that multiply and add several terms: AVX-512 VNNI, AVX-VNNI, AMX, SDOT and UDOT.

#[cfg(target_arch = "aarch64")]
use crate::lanes::{SignedQuads, UnsignedQuads, neon};
#[cfg(target_arch = "x86_64")]
use crate::{
    amx,
    lanes::{FusedPairs, FusedQuads, avx2, avx512},
    pairs,
};
use crate::{
    isa::Isa,
    join::{self, JoinFn},
    kernel::{Groups, Kernel, Tiles},
    lanes::{DotBy, Lanes, portable},
    op::{Dot, Sum},
    options::Dots,
    pack::PackFn,
    quads::{self, Byte},
    tile::{self, Packed, TileFn},
};

/// Every register tile of vectors, as in [`crate::built_in`].
macro_rules! tiles {
    ($name:ident, $vector:ty, $({$v:literal: $($r:literal)*})*) => {
        fn $name<D: DotBy<$vector>>() -> Tiles<i32, i32> {
            const {
                let tiles = &[$(&[$(tile::$name::<$vector, Dot<$vector, D>, Packed<i32>, $r, $v> as TileFn<i32, i32>),*] as &[_]),*];
                Tiles::new(tiles, &[$([$($r),*]),*])
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
tiles!(avx512_vnni, avx512::I32, {1: 1 2 3 4 5 6 12} {2: 1 2 3 4 5 6 12});
#[cfg(target_arch = "x86_64")]
tiles!(avx2_vnni, avx2::I32, {1: 1 2 3 4 5 6} {2: 1 2 3 4 5 6});
// An element of A takes no instruction to spread, as in wide tiles of floats.
#[cfg(target_arch = "aarch64")]
tiles!(neon_dotprod, neon::I32, {1: 1 2 3 4 8} {2: 1 2 3 4 8} {3: 1 2 3 4 8});

/// A kernel for packed operands.
fn kernel<E>(
    lanes: usize,
    groups: Groups,
    packed: Tiles<i32, i32>,
    pack: [PackFn<E, i32>; 2],
) -> Kernel<E, i32, i32> {
    let join: JoinFn<i32> = join::join::<portable::I32, Sum<portable::I32>>;
    let codes = Default::default();
    Kernel { lanes, groups, codes, packed, in_place: None, pack, arg: None, join: Some(join) }
}

/// Bytes, four at a time.
#[cfg(target_arch = "x86_64")]
pub fn bytes<E: Byte>(isa: Isa, most: Dots, size: (usize, usize, usize)) -> Option<Kernel<E, i32, i32>> {
    if most >= Dots::Amx && isa == Isa::Avx512 && amx::pays(size) && Isa::has_amx() {
        let pack = [quads::avx512::pack_tiles::<E> as PackFn<E, i32>, quads::avx512::pack_plain::<E>];
        return Some(kernel(amx::SIDE, quads::TILES, amx::tiles::<E>(), pack));
    }
    match isa {
        _ if most < Dots::Vnni || !isa.has_vnni() => None,
        Isa::Avx512 => {
            let pack = [quads::avx512::pack_a::<E> as PackFn<E, i32>, quads::avx512::pack_b::<E>];
            Some(kernel(avx512::I32::LEN, quads::FOURS, avx512_vnni::<FusedQuads>(), pack))
        }
        Isa::Avx2 => {
            let pack = [quads::avx2::pack_a::<E> as PackFn<E, i32>, quads::avx2::pack_b::<E>];
            Some(kernel(avx2::I32::LEN, quads::FOURS, avx2_vnni::<FusedQuads>(), pack))
        }
        _ => None,
    }
}

/// Bytes, four at a time.
#[cfg(target_arch = "aarch64")]
pub fn bytes<E: Byte>(isa: Isa, most: Dots, _: (usize, usize, usize)) -> Option<Kernel<E, i32, i32>> {
    let tiles = if E::A.signed { neon_dotprod::<SignedQuads>() } else { neon_dotprod::<UnsignedQuads>() };
    let pack = quads::neon::pack::<E> as PackFn<E, i32>;
    let there = most >= Dots::DotProd && isa.has_dotprod();
    there.then(|| kernel(neon::I32::LEN, quads::neon::FOURS, tiles, [pack; 2]))
}

/// Integers of 16 bits, two at a time. NEON has no instruction for them.
#[cfg(target_arch = "aarch64")]
pub fn halves(_: Isa, _: Dots, _: (usize, usize, usize)) -> Option<Kernel<i16, i32, i32>> {
    None
}

/// Integers of 16 bits, two at a time.
#[cfg(target_arch = "x86_64")]
pub fn halves(isa: Isa, most: Dots, _: (usize, usize, usize)) -> Option<Kernel<i16, i32, i32>> {
    let groups = Groups { dots: Dots::Vnni, ..Groups::PAIR };
    match isa {
        _ if most < Dots::Vnni || !isa.has_vnni() => None,
        Isa::Avx512 => {
            let pack = pairs::avx512::pack_numbers::<i16> as PackFn<i16, i32>;
            Some(kernel(avx512::I32::LEN, groups, avx512_vnni::<FusedPairs>(), [pack; 2]))
        }
        Isa::Avx2 => {
            let pack = pairs::avx2::pack_numbers::<i16> as PackFn<i16, i32>;
            Some(kernel(avx2::I32::LEN, groups, avx2_vnni::<FusedPairs>(), [pack; 2]))
        }
        _ => None,
    }
}
