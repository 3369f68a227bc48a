//! Semirings that only their users know: not commutative, of odd sizes, of several types.

use crate::common::{self, Form, Placed, Random, isas};
use std::fmt::Debug;
use tilewright_core::*;
use tilewright_cpu::{Options, multiply, multiply_arg};

/// Multiplies and compares with the definition, in several shapes and forms, on several threads.
fn agrees<S: Semiring<Out: PartialEq + Debug>>(mut draw: impl FnMut(&mut Random) -> S::Elem) {
    let shapes =
        [(1, 1, 1), (4, 4, 4), (5, 7, 9), (13, 30, 8), (3, 5, 1500), (2, 3, 0), (0, 3, 3), (130, 131, 128)];
    for (m, n, k) in shapes {
        for form in [Form::PLAIN, Form::BY_COLUMNS, Form::SPREAD, Form::REVERSED] {
            let mut r = Random::new((m * n + k) as u64);
            let poison = draw(&mut r);
            let a = Placed::new(m, k, form, poison).filled(|| draw(&mut r));
            let b = Placed::new(k, n, form, poison).filled(|| draw(&mut r));
            let mut c = Placed::new(m, n, form, S::finish(S::ZERO));
            let mut expected = c.clone();
            let isa = r.pick(&isas());
            let options = Options { threads: 1 + r.below(4), isa: Some(isa), ..Options::default() };
            // The second product meets the result of the first.
            for update in [Update::<S>::Replace, Update::Accumulate] {
                multiply(c.view_mut(), a.view(), b.view(), &update, &options).unwrap();
                reference::multiply(expected.view_mut(), a.view(), b.view(), &update).unwrap();
                assert!(c.data == expected.data, "{} {m}x{n}x{k} {form:?}", S::NAME);
                if !S::laws().selective_add {
                    continue;
                }
                let mut arg = Placed::new(m, n, form, 7u32);
                let mut expected_arg = arg.clone();
                multiply_arg(c.view_mut(), arg.view_mut(), a.view(), b.view(), &update, &options).unwrap();
                let (to, to_arg) = (expected.view_mut(), expected_arg.view_mut());
                reference::multiply_arg(to, to_arg, a.view(), b.view(), &update).unwrap();
                assert!(c.data == expected.data, "{} {m}x{n}x{k} {form:?}, arg", S::NAME);
                assert!(arg.data == expected_arg.data, "{} {m}x{n}x{k} {form:?}, arg", S::NAME);
            }
        }
    }
}

/// Implements a semiring whose elements, sums and results are of one type.
macro_rules! semiring {
    ($name:ident of $t:ty, zero $zero:expr, one $one:expr, add $add:expr, mul $mul:expr, laws $laws:expr) => {
        #[derive(Clone, Copy)]
        struct $name;
        impl Semiring for $name {
            type Elem = $t;
            type Acc = $t;
            type Out = $t;
            const NAME: &'static str = stringify!($name);
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            fn add(x: $t, y: $t) -> $t {
                $add(x, y)
            }
            fn mul_add(acc: $t, a: $t, b: $t) -> $t {
                Self::add(acc, $mul(a, b))
            }
            fn finish(acc: $t) -> $t {
                acc
            }
            fn resume(out: $t) -> $t {
                out
            }
            fn laws() -> Laws {
                $laws
            }
        }
    };
}

/// 2x2 matrices, row by row: ⊗ does not commute.
type Square = [i64; 4];
semiring!(Squares of Square, zero [0; 4], one [1, 0, 0, 1],
    add |x: Square, y: Square| core::array::from_fn(|i| x[i].wrapping_add(y[i])),
    mul |x: Square, y: Square| core::array::from_fn(|i| {
        let (row, col) = (i / 2 * 2, i % 2);
        x[row].wrapping_mul(y[col]).wrapping_add(x[row + 1].wrapping_mul(y[col + 2]))
    }),
    laws Laws::default());

#[test]
fn products_of_squares_keep_their_order() {
    agrees::<Squares>(|r| [0; 4].map(|_| r.bits() as i64));
}

/// Affine maps `x -> p x + q` under composition: not even ⊕ commutes, so terms must stay in order.
type Affine = [u64; 2];
semiring!(Maps of Affine, zero [1, 0], one [1, 1],
    add |x: Affine, y: Affine| [x[0].wrapping_mul(y[0]), x[1].wrapping_mul(y[0]).wrapping_add(y[1])],
    mul |x: Affine, y: Affine| [x[0] | 1, y[1] ^ x[1].rotate_left(9)],
    laws Laws::default());

#[test]
fn terms_are_added_in_order() {
    agrees::<Maps>(|r| [r.bits(), r.bits()]);
}

/// The first path that exists, with its first and its last letter: ⊕ selects by place and not by value.
type Path = Option<(char, char)>;
semiring!(FirstPath of Path, zero None, one Some(('<', '>')),
    add |x: Path, y: Path| x.or(y),
    mul |x: Path, y: Path| Some((x?.0, y?.1)),
    laws { let mut laws = Laws::default(); laws.selective_add = true; laws.idempotent_add = true; laws });

#[test]
fn the_first_path_wins() {
    agrees::<FirstPath>(|r| {
        let letter = |r: &mut Random| char::from(b'a' + r.below(26) as u8);
        (r.below(4) == 0).then(|| (letter(r), letter(r)))
    });
}

/// The best score and in how many ways it is reached.
type Ways = (i32, u64);
semiring!(CountBest of Ways, zero (i32::MIN, 0), one (0, 1),
    add |x: Ways, y: Ways| match x.0.cmp(&y.0) {
        std::cmp::Ordering::Less => y,
        std::cmp::Ordering::Greater => x,
        std::cmp::Ordering::Equal => (x.0, x.1.wrapping_add(y.1)),
    },
    mul |x: Ways, y: Ways| (x.0.saturating_add(y.0), x.1.wrapping_mul(y.1)),
    laws Laws::default());

#[test]
fn ways_are_counted() {
    agrees::<CountBest>(|r| (r.below(3) as i32, 1 + r.below(2) as u64));
}

/// Colours, three bytes each: lighter wins, channel by channel.
type Colour = [u8; 3];
semiring!(Lighter of Colour, zero [0; 3], one [255; 3],
    add |x: Colour, y: Colour| core::array::from_fn(|i| x[i].max(y[i])),
    mul |x: Colour, y: Colour| core::array::from_fn(|i| x[i].min(y[i])),
    laws Laws::default());

#[test]
fn elements_of_three_bytes() {
    agrees::<Lighter>(|r| [0; 3].map(|_| r.bits() as u8));
}

/// More aligned than a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(256))]
struct Aligned(u16);
semiring!(OnPages of Aligned, zero Aligned(0), one Aligned(1),
    add |x: Aligned, y: Aligned| Aligned(x.0.wrapping_add(y.0)),
    mul |x: Aligned, y: Aligned| Aligned(x.0.wrapping_mul(y.0)),
    laws Laws::default());

#[test]
fn elements_aligned_beyond_cache_lines() {
    agrees::<OnPages>(|r| Aligned(r.bits() as u16));
}

/// Larger than the strips that blocks are planned for, in bits of unions and intersections.
type Set = [u64; 700];
semiring!(Sets of Set, zero [0; 700], one [u64::MAX; 700],
    add |x: Set, y: Set| core::array::from_fn(|i| x[i] | y[i]),
    mul |x: Set, y: Set| core::array::from_fn(|i| x[i] & y[i]),
    laws Laws::default());

#[test]
fn elements_of_many_bytes() {
    let mut r = Random::new(3);
    let (m, n, k) = (5, 6, 7);
    let a = Placed::new(m, k, Form::PLAIN, [0; 700]).filled(|| [0; 700].map(|_| r.bits()));
    let b = Placed::new(k, n, Form::SPREAD, [0; 700]).filled(|| [0; 700].map(|_| r.bits()));
    let mut c = Placed::new(m, n, Form::BY_COLUMNS, [9; 700]);
    let mut expected = c.clone();
    let replace = Update::<Sets>::Replace;
    multiply(c.view_mut(), a.view(), b.view(), &replace, &Options::default()).unwrap();
    reference::multiply(expected.view_mut(), a.view(), b.view(), &replace).unwrap();
    assert!(c.data == expected.data);
}

semiring!(Nothing of (), zero (), one (), add |_, _| (), mul |_, _| (), laws Laws::default());

#[test]
fn elements_of_no_bytes() {
    agrees::<Nothing>(|_| ());
}

/// Bytes in, wide sums inside, floats out.
#[derive(Clone, Copy)]
struct MeanSquare;
impl Semiring for MeanSquare {
    type Elem = (u8, i8);
    type Acc = (i128, u32);
    type Out = f32;
    const NAME: &'static str = "mean-square";
    const ZERO: Self::Acc = (0, 0);
    const ONE: Self::Elem = (1, 1);
    fn add(x: Self::Acc, y: Self::Acc) -> Self::Acc {
        (x.0 + y.0, x.1 + y.1)
    }
    fn mul_add(acc: Self::Acc, a: Self::Elem, b: Self::Elem) -> Self::Acc {
        Self::add(acc, (i128::from(a.0) * i128::from(b.1) - i128::from(a.1), 1))
    }
    fn finish(acc: Self::Acc) -> f32 {
        acc.0 as f32 / acc.1.max(1) as f32
    }
    fn resume(out: f32) -> Self::Acc {
        (out as i128, 1)
    }
    const ACCEPTS: Option<&'static str> = Some("pairs that differ");
    fn admits(x: Self::Elem) -> bool {
        i16::from(x.0) != i16::from(x.1)
    }
}

#[test]
fn sums_and_results_of_other_types() {
    agrees::<MeanSquare>(|r| (r.below(100) as u8, -1 - r.below(100) as i8));
    let pairs = [(1, 0), (3, 3)];
    let mut c = [5.0];
    let (a, b) = (common::rows(&pairs, 1, 2), common::rows(&pairs, 2, 1));
    let to = common::rows_mut(&mut c, 1, 1);
    let error = multiply::<MeanSquare>(to, a, b, &Update::Replace, &Options::default()).unwrap_err();
    assert_eq!((error.code(), c), ("outside-domain", [5.0]));
    assert!(error.to_string().contains("A[0, 1]"), "{error}");
}

/// How often each product occurs: sums of 128 KiB, of which a stack holds a few.
#[derive(Clone, Copy)]
struct Histogram;
impl Semiring for Histogram {
    type Elem = u16;
    type Acc = [u32; 1 << 15];
    type Out = u64;
    const NAME: &'static str = "histogram";
    const ZERO: Self::Acc = [0; 1 << 15];
    const ONE: u16 = 1;
    fn add(mut x: Self::Acc, y: Self::Acc) -> Self::Acc {
        x.iter_mut().zip(&y).for_each(|(x, y)| *x += y);
        x
    }
    fn mul_add(mut acc: Self::Acc, a: u16, b: u16) -> Self::Acc {
        acc[usize::from(a.wrapping_mul(b) >> 1)] += 1;
        acc
    }
    fn finish(acc: Self::Acc) -> u64 {
        acc.iter().zip(1..).map(|(&count, i)| u64::from(count) * i).sum()
    }
    fn resume(_: u64) -> Self::Acc {
        Self::ZERO
    }
}

#[test]
fn sums_larger_than_registers_and_stack() {
    let mut r = Random::new(4);
    let (m, n, k) = (70, 9, 3);
    let a = Placed::new(m, k, Form::BY_COLUMNS, 0).filled(|| r.bits() as u16);
    let b = Placed::new(k, n, Form::SPREAD, 0).filled(|| r.bits() as u16);
    let expected = |i, j| -> u64 {
        let product = |p| u64::from(a.at(i, p).wrapping_mul(b.at(p, j)) >> 1) + 1;
        (0..k).map(product).sum()
    };
    for threads in [1, 4] {
        let mut c = Placed::new(m, n, Form::PLAIN, 9);
        let options = Options { threads, ..Options::default() };
        multiply(c.view_mut(), a.view(), b.view(), &Update::<Histogram>::Replace, &options).unwrap();
        assert!((0..m).all(|i| (0..n).all(|j| c.at(i, j) == expected(i, j))));
    }
}

/// Elements of which the stack holds a few.
type Page = [u8; 1 << 17];
semiring!(Pages of Page, zero [0; 1 << 17], one [1; 1 << 17],
    add |x: Page, y: Page| { let mut x = x; x.iter_mut().zip(&y).for_each(|(x, y)| *x |= y); x },
    mul |x: Page, y: Page| { let mut x = x; x.iter_mut().zip(&y).for_each(|(x, y)| *x &= y); x },
    laws Laws::default());

#[test]
fn elements_larger_than_the_stack() {
    let (a, b) = (vec![[3; 1 << 17]; 17 * 2], vec![[6; 1 << 17]; 2 * 3]);
    let mut c = vec![[9; 1 << 17]; 17 * 3];
    for layout in [Layout::row_major(17, 2), Layout::col_major(17, 2)] {
        let a = MatRef::new(&a, layout).unwrap();
        let (to, b) = (common::rows_mut(&mut c, 17, 3), common::rows(&b, 2, 3));
        multiply(to, a, b, &Update::<Pages>::Replace, &Options::default()).unwrap();
        assert!(c.iter().all(|x| x.iter().all(|&x| x == 2)));
    }
}
