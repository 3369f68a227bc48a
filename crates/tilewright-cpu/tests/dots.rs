//! Integers of 8 and 16 bits by each kind of instruction for dot products: the bits are those of the definition.

use crate::common::{self, Case, Form, Join, Palette, Subject, check, isas, rows, rows_mut};
use tilewright_core::*;
use tilewright_cpu::{Dots, Isa, Options, multiply, plan};

/// What processors of this architecture may have.
const ALL: &[Dots] = match cfg!(target_arch = "aarch64") {
    true => &[Dots::Plain, Dots::DotProd],
    false => &[Dots::Plain, Dots::Vnni, Dots::Amx],
};

/// Each instruction set with each kind of instruction.
fn ways() -> impl Iterator<Item = (Isa, Dots)> {
    isas().into_iter().flat_map(|isa| ALL.iter().map(move |&dots| (isa, dots)))
}

/// Every height and width around those of tiles: of vectors, and with 64 terms and more of AMX.
fn every_tile<S: Subject>() {
    for (isa, dots) in ways() {
        for (m, n) in (1..=34).flat_map(|m| (1..=35).map(move |n| (m, n))) {
            // Of few rows or columns there are no tiles of AMX.
            let k = if m.min(n) < 16 { (m + n) % 11 } else { 64 + (7 * m + 5 * n) % 70 };
            let c = [Form::PLAIN, Form::SPREAD, Form::BY_COLUMNS, Form::REVERSED][(m + n) % 4];
            let join = [Join::Replace, Join::Accumulate][(m + n / 2) % 2];
            check::<S>(&Case { dots, c, join, palette: Palette::Wild, ..Case::new(isa, m, n, k) });
        }
    }
}

#[test]
fn every_tile_of_bytes() {
    every_tile::<PlusTimes<i8>>();
    every_tile::<PlusTimes<u8>>();
}

#[test]
fn every_tile_of_halves() {
    every_tile::<PlusTimes<i16>>();
}

/// Lengths around multiples of groups of terms and around blocks, of lines that are side by side and of those that are apart.
fn every_length<S: Subject>() {
    let lengths = (0..=9).chain(60..=70).chain(125..=131).chain([511, 1023, 1025, 2047, 2049, 4100]);
    let forms = [Form::PLAIN, Form::BY_COLUMNS, Form::SPREAD, Form::REVERSED];
    for ((isa, dots), k) in lengths.flat_map(|k| ways().map(move |way| (way, k))) {
        for (i, a) in forms.into_iter().enumerate() {
            let b = forms[(i + k) % 4];
            let join = [Join::Replace, Join::Accumulate, Join::Scale(3, -2)][k % 3];
            for (m, n) in [(3, 18), (17, 21)] {
                check::<S>(&Case { dots, a, b, join, palette: Palette::Spread, ..Case::new(isa, m, n, k) });
            }
        }
    }
}

#[test]
fn every_length_of_bytes() {
    every_length::<PlusTimes<i8>>();
    every_length::<PlusTimes<u8>>();
}

#[test]
fn every_length_of_halves() {
    every_length::<PlusTimes<i16>>();
}

/// Several blocks of columns and terms, panels of rows, and threads.
#[test]
fn large_products() {
    for (isa, dots) in ways() {
        for (m, n, k, threads) in [(150, 700, 300, 3), (500, 100, 2500, 2), (40, 1100, 1100, 1)] {
            let case = Case { dots, threads, palette: Palette::Wild, ..Case::new(isa, m, n, k) };
            check::<PlusTimes<i8>>(&case);
            check::<PlusTimes<u8>>(&Case { b: Form::BY_COLUMNS, ..case });
            check::<PlusTimes<i16>>(&Case { a: Form::BY_COLUMNS, ..case });
        }
    }
}

/// Sums of the largest products, in `side` rows and columns.
fn sums<S: Semiring<Out = i32>>(way: (Isa, Dots), side: usize, [x, y]: [S::Elem; 2], k: usize) -> i32 {
    let (a, b, mut c) = (vec![x; side * k], vec![y; k * side], vec![0; side * side]);
    let options = Options { dots: way.1, ..common::on(way.0) };
    let to = rows_mut(&mut c, side, side);
    multiply::<S>(to, rows(&a, side, k), rows(&b, k, side), &Update::Replace, &options).unwrap();
    assert!(c.iter().all(|&sum| sum == c[0]), "{way:?}");
    c[0]
}

#[test]
fn sums_wrap() {
    for (way, side) in ways().flat_map(|way| [1, 16].map(|side| (way, side))) {
        // 2^17 products of 2^14.
        assert_eq!(sums::<PlusTimes<i8>>(way, side, [-128; 2], 1 << 17), i32::MIN, "{way:?}");
        assert_eq!(sums::<PlusTimes<i8>>(way, side, [-128, 127], 5000), -16256 * 5000, "{way:?}");
        let wrapped = |x: i64, k: i64| (x * k) as i32;
        assert_eq!(sums::<PlusTimes<u8>>(way, side, [255; 2], 70_000), wrapped(65_025, 70_000), "{way:?}");
        assert_eq!(sums::<PlusTimes<i16>>(way, side, [i16::MIN; 2], 5), wrapped(1 << 30, 5), "{way:?}");
        assert_eq!(sums::<PlusTimes<i16>>(way, side, [i16::MIN; 2], 2), i32::MIN, "{way:?}");
    }
}

/// What a plan names is no more than what was allowed, and VNNI, or SDOT and UDOT, where they are there.
#[test]
fn plans_name_the_instructions() {
    for (isa, dots) in ways() {
        let options = Options { dots, ..common::on(isa) };
        let named = |m: usize, n: usize, k: usize| {
            let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
            let problem = Problem::new(layouts[0], layouts[1], layouts[2]).unwrap();
            plan::<PlusTimes<i8>>(&problem, &Update::Replace, &options).unwrap().kernel
        };
        let (small, large) = (named(8, 8, 8), named(100, 100, 100));
        let there = match isa {
            _ if isa.has_vnni() => dots.min(Dots::Vnni),
            _ if isa.has_dotprod() => dots.min(Dots::DotProd),
            _ => Dots::Plain,
        };
        assert_eq!(small.dots, there, "{small}");
        assert!(large.dots >= there && large.dots <= dots, "{large}");
        let words = ["", " by dotprod", " by vnni", " by amx"][large.dots as usize];
        assert!(large.to_string().ends_with(&format!("{}x{}{words}", large.tile.0, large.tile.1)), "{large}");
    }
}
