//! Plus-times on bytes by AMX: tiles of 16 rows and 16 columns, of which one instruction adds up 64 terms.
//!
//! Each function configures the tile registers, uses them and gives them back, so that nothing else has to know of them.
//! The compiler has no such registers and leaves them alone: instructions on them are assembly, in the order in which they stand here.

use crate::{
    kernel::Tiles,
    quads::Byte,
    tile::{Start, Tile, TileFn},
};
use core::arch::asm;

/// Rows of a tile register, and its columns of 32 bits.
pub const SIDE: usize = 16;

/// Whether tiles are full enough: of fewer rows, columns or terms VNNI is faster.
pub fn pays((m, n, k): (usize, usize, usize)) -> bool {
    m.min(n) >= SIDE && k >= 4 * SIDE
}

/// The shapes of the tile registers, as the processor reads them.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

/// Writes an instruction on tile registers: loads and stores with a stride in bytes, and products.
macro_rules! tile {
    (load $to:literal, $from:expr, $stride:expr) => {
        asm!(concat!("tileloadd tmm", $to, ", [{} + {}*1]"), in(reg) $from, in(reg) $stride, options(nostack, preserves_flags))
    };
    (store $from:literal, $to:expr, $stride:expr) => {
        asm!(concat!("tilestored [{} + {}*1], tmm", $from), in(reg) $to, in(reg) $stride, options(nostack, preserves_flags))
    };
    (zero $to:literal) => {
        asm!(concat!("tilezero tmm", $to), options(nostack, preserves_flags))
    };
    ($signed:ident: $sum:literal += $a:literal $b:literal) => {
        if $signed {
            asm!(concat!("tdpbssd tmm", $sum, ", tmm", $a, ", tmm", $b), options(nostack, preserves_flags))
        } else {
            asm!(concat!("tdpbuud tmm", $sum, ", tmm", $a, ", tmm", $b), options(nostack, preserves_flags))
        }
    };
}

/// Sums in registers 0 to 3, A in 4 and 5, B in 6 and 7: 32 rows and columns where there are two (`A2`, `B2`) of each.
///
/// # Safety
/// As [`TileFn`], of so many rows, on a processor with AMX.
unsafe fn compute<const SIGNED: bool, const A2: bool, const B2: bool>(t: &Tile<i32, i32>, rows: usize) {
    // SAFETY: the caller guarantees all that is read, written and executed here.
    unsafe {
        let upper = rows.min(SIDE);
        let (high, low) = (upper as u8, (rows - upper) as u8);
        let mut shapes =
            Shapes { palette: 1, start_row: 0, reserved: [0; 14], bytes: [0; 16], rows: [0; 16] };
        shapes.bytes[..8].fill(64);
        shapes.rows[..8].copy_from_slice(&[high, high, low, low, high, low, SIDE as u8, SIDE as u8]);
        if !A2 {
            // Without rows a register has no columns.
            for unused in [2, 3, 5] {
                shapes.bytes[unused] = 0;
            }
        }
        asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, preserves_flags, readonly));
        let c_row = t.c_row * size_of::<i32>() as isize;
        let (c, below) = (t.c, t.c.offset(SIDE as isize * if A2 { t.c_row } else { 0 }));
        if t.start == Start::Zero {
            tile!(zero 0);
            if B2 {
                tile!(zero 1);
            }
            if A2 {
                tile!(zero 2);
            }
            if A2 && B2 {
                tile!(zero 3);
            }
        } else {
            tile!(load 0, c, c_row);
            if B2 {
                tile!(load 1, c.add(SIDE), c_row);
            }
            if A2 {
                tile!(load 2, below, c_row);
            }
            if A2 && B2 {
                tile!(load 3, below.add(SIDE), c_row);
            }
        }
        let (mut a, mut b, b_row) = (t.a, t.b, t.b_k * size_of::<i32>() as isize);
        for _ in 0..t.k / SIDE {
            tile!(load 4, a, 64_usize);
            tile!(load 6, b, b_row);
            tile!(SIGNED: 0 += 4 6);
            if A2 {
                tile!(load 5, a.add(SIDE * SIDE), 64_usize);
                tile!(SIGNED: 2 += 5 6);
            }
            if B2 {
                tile!(load 7, b.add(SIDE), b_row);
                tile!(SIGNED: 1 += 4 7);
            }
            if A2 && B2 {
                tile!(SIGNED: 3 += 5 7);
            }
            (a, b) = (a.add(rows * SIDE), b.offset(SIDE as isize * t.b_k));
        }
        tile!(store 0, c, c_row);
        if B2 {
            tile!(store 1, c.add(SIDE), c_row);
        }
        if A2 {
            tile!(store 2, below, c_row);
        }
        if A2 && B2 {
            tile!(store 3, below.add(SIDE), c_row);
        }
        asm!("tilerelease", options(nomem, nostack, preserves_flags));
    }
}

/// A tile of `R` rows and `V` times 16 columns.
///
/// # Safety
/// As [`TileFn`], on a processor with AMX.
unsafe fn tile<const SIGNED: bool, const R: usize, const V: usize>(t: &Tile<i32, i32>) {
    const { assert!(R > 0 && R <= 2 * SIDE && V > 0 && V <= 2) };
    // SAFETY: as the caller guarantees.
    unsafe {
        match (R > SIDE, V > 1) {
            (false, false) => compute::<SIGNED, false, false>(t, R),
            (false, true) => compute::<SIGNED, false, true>(t, R),
            (true, false) => compute::<SIGNED, true, false>(t, R),
            (true, true) => compute::<SIGNED, true, true>(t, R),
        }
    }
}

macro_rules! tiles {
    ($($r:literal)*) => {
        /// All of them.
        pub fn tiles<E: Byte>() -> Tiles<i32, i32> {
            const SIGNED: Tiles<i32, i32> =
                Tiles::new(&[&[$(tile::<true, $r, 1> as TileFn<i32, i32>),*], &[$(tile::<true, $r, 2> as TileFn<i32, i32>),*]], &[[$($r),*]; 2]);
            const UNSIGNED: Tiles<i32, i32> =
                Tiles::new(&[&[$(tile::<false, $r, 1> as TileFn<i32, i32>),*], &[$(tile::<false, $r, 2> as TileFn<i32, i32>),*]], &[[$($r),*]; 2]);
            if E::A.signed { SIGNED } else { UNSIGNED }
        }
    };
}
tiles!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
