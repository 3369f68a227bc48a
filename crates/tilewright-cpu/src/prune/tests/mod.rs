//! Whatever the scale, results have the bits of the definition.

mod cost;
mod data;
mod time;

use crate::{
    compute::{Call, with_all_terms},
    isa::Isa,
    kernel::Vectorised,
    op::Scalar,
    options::Options,
    prune::{Account, Job, Model, is_one_block},
};
use core::fmt::Debug;
use half::{bf16, f16};
use proptest::{prelude::*, sample::select};
use tilewright_core::{
    Layout, MatMut, MatRef, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, MinTimes, Semiring, Update, reference,
};

/// What the elements of a matrix are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// Whole numbers of any magnitude in the domain of each type.
    Any,
    /// Few of them.
    Few,
    Uniform,
    Normal,
    Constant,
    /// In order along the terms.
    Sorted,
    Reversed,
    /// Near zero: subnormal if they are floats.
    Tiny,
}

const DATA: [Data; 8] = [
    Data::Any,
    Data::Few,
    Data::Uniform,
    Data::Normal,
    Data::Constant,
    Data::Sorted,
    Data::Reversed,
    Data::Tiny,
];

/// Elements from random numbers, and rarely something special.
trait Draw: Copy + Debug {
    /// Element of a line, `place` of which come before it: a part of one.
    fn draw(random: u64, data: Data, place: f64) -> Self {
        let uniform = random as i64 as f64 / i64::MAX as f64;
        // The sum of four numbers is nearly normal.
        let normal = (0..4).map(|i| f64::from((random >> (16 * i)) as i16)).sum::<f64>() / f64::from(1 << 17);
        match data {
            Data::Any => Self::whole(random),
            Data::Few => Self::few(random),
            Data::Uniform => Self::of(Some(uniform), false),
            Data::Normal => Self::of(Some(normal), false),
            Data::Constant => Self::of(Some(0.375), false),
            Data::Sorted => Self::of(Some(place), false),
            Data::Reversed => Self::of(Some(1.0 - place), false),
            Data::Tiny => Self::tiny(uniform),
        }
    }
    fn whole(random: u64) -> Self;
    fn few(random: u64) -> Self;
    fn tiny(x: f64) -> Self;
    fn special(random: u64) -> Self;
    /// From a random number: what an old C may hold.
    fn old(random: u64) -> Self;
    /// From a number between -1 and 1; absent without one. With `max`, its mirror under max-plus.
    fn of(x: Option<f64>, max: bool) -> Self;
    fn bits(self) -> u64;
}

macro_rules! draw {
    ($($t:ident, $bits:expr, $unit:expr, $tiny:expr, $special:expr, $old:expr;)*) => {$(
        impl Draw for $t {
            fn whole(random: u64) -> Self { (random as i64 >> if size_of::<$t>() == 2 { 52 } else { 36 }) as $t }
            fn few(random: u64) -> Self { (random % 5) as $t }
            fn tiny(x: f64) -> Self { (x as $t) * $tiny }
            fn special(random: u64) -> Self {
                let special: [$t; 4] = $special;
                special[(random >> 32) as usize % 4]
            }
            fn old(random: u64) -> Self { $old(random) }
            fn of(x: Option<f64>, max: bool) -> Self {
                let x = x.map_or(Self::TOP, |x| (x * $unit) as $t);
                if max { mirrored(x) } else { x }
            }
            fn bits(self) -> u64 { $bits(self) }
        }
    )*};
}
draw! {
    f32, |x: f32| x.to_bits().into(), 1.0, Self::MIN_POSITIVE, [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0],
        |random| if random % 9 == 0 { Self::special(random) } else { Self::whole(random) };
    f64, f64::to_bits, 1.0, Self::MIN_POSITIVE, [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0],
        |random| if random % 9 == 0 { Self::special(random) } else { Self::whole(random) };
    i16, |x: i16| x as u64, 4000.0, 1, [i16::MAX, (1 << 12) - 1, 1 - (1 << 12), 0], |random| random as Self;
    i32, |x: i32| x as u64, 1e8, 1, [i32::MAX, (1 << 28) - 1, 1 - (1 << 28), i32::MAX], |random| random as Self;
    i64, |x: i64| x as u64, 1e17, 1, [i64::MAX, (1 << 59) - 1, 1 - (1 << 59), 0], |random| random as Self;
}

macro_rules! draw_halves {
    ($($t:ident)*) => {$(
        impl Draw for $t {
            fn whole(random: u64) -> Self { Self::from_f32((random as i64 >> 48) as f32) }
            fn few(random: u64) -> Self { Self::from_f32((random % 5) as f32) }
            fn tiny(x: f64) -> Self { Self::from_f32(x as f32 * Self::MIN_POSITIVE.to_f32()) }
            fn special(random: u64) -> Self { Self::from_f32(f32::special(random)) }
            fn old(random: u64) -> Self { Self::from_f32(f32::old(random)) }
            fn of(x: Option<f64>, max: bool) -> Self { Self::from_f32(f32::of(x, max)) }
            fn bits(self) -> u64 { self.to_bits().into() }
        }
    )*};
}
draw_halves! { f16 bf16 }

/// What to compute, and with which scale.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: (usize, usize, usize),
    scale: f64,
    /// What A and B are like.
    data: [Data; 2],
    special: bool,
    by_columns: [bool; 2],
    joins: bool,
    /// Whether it tells which terms won, where a pruned product does.
    arg: bool,
    /// Whether it stops where that pays.
    stops: bool,
    room: usize,
    threads: usize,
    isa: Isa,
    seed: u64,
}

fn cases() -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        4 => (1..40usize, 1..80usize, 1..200usize),
        1 => (1..131usize, 1..131usize, 1..131usize),
        1 => (1..14usize, 1..40usize, 900..2300usize),
    ];
    let scale = select(vec![0.0, 1e-30, 1e-7, 1e-6, 1e-5, 0.3, 1.0, 7.7, 1e9, 1e30, f64::INFINITY]);
    let isas: Vec<_> = Isa::ALL.iter().copied().filter(|isa| isa.is_supported()).collect();
    let how = (
        any::<[bool; 2]>(),
        any::<[bool; 3]>(),
        select(vec![0, 500, 1 << 20]),
        1..3_usize,
        select(isas),
        any::<u64>(),
    );
    let data = [select(DATA.to_vec()), select(DATA.to_vec())];
    (shape, scale, data, any::<bool>(), how).prop_map(
        |(shape, scale, data, special, (by_columns, [joins, arg, stops], room, threads, isa, seed))| Case {
            shape,
            scale,
            data,
            special,
            by_columns,
            joins,
            arg,
            stops,
            room,
            threads,
            isa,
            seed,
        },
    )
}

/// The result has the bits of the definition, whichever terms the scale leaves. `map` brings elements into the domain.
fn check<S>(case: Case, map: fn(S::Elem) -> S::Elem)
where
    S: Vectorised<Elem: Draw + Send + Sync, Out = <S as Semiring>::Elem>,
{
    let Case { shape: (m, n, k), scale, data, special, by_columns, stops, room, threads, isa, .. } = case;
    let mut state = case.seed | 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd)
    };
    // Lines of terms, and how they lie in memory.
    let mut operand = |lines: usize, data, by_lines| {
        let layout = if by_lines { Layout::row_major(lines, k) } else { Layout::col_major(lines, k) };
        let mut elements = vec![S::Elem::of(None, false); lines * k];
        for (i, p) in (0..lines).flat_map(|i| (0..k).map(move |p| (i, p))) {
            let is_special = special && random() >> 60 == 0;
            let x = S::Elem::draw(random(), data, p as f64 / k as f64);
            elements[layout.offset(i, p) as usize] =
                map(if is_special { S::Elem::special(random()) } else { x });
        }
        (elements, layout)
    };
    let (a, a_layout) = operand(m, data[0], !by_columns[0]);
    let (b, b_layout) = operand(n, data[1], by_columns[1]);
    let (mut c, c_layout) =
        ((0..m * n).map(|_| S::Elem::old(random())).collect::<Vec<_>>(), Layout::row_major(m, n));
    let (a, b) = (MatRef::new(&a, a_layout).unwrap(), MatRef::new(&b, b_layout.t()).unwrap());
    let kernel = &(S::prune().expect("few terms").kernel)(isa);
    let is_one_block = is_one_block((m, n, k), kernel.cols, size_of::<S::Lane>());
    let arg = case.arg && !case.joins && is_one_block && kernel.between.is_none();
    let (mut expected, mut winners, mut found) = (c.clone(), vec![7; m * n], vec![7; m * n]);
    let update = if case.joins { Update::Accumulate } else { Update::Replace };
    let to = MatMut::new(&mut expected, c_layout).unwrap();
    if arg {
        let to_arg = MatMut::new(&mut winners, c_layout).unwrap();
        reference::multiply_arg::<S>(to, to_arg, a, b, &update).unwrap();
    } else {
        reference::multiply::<S>(to, a, b, &update).unwrap();
    }
    let options = &Options { threads, ..Options::default() };
    let to = MatMut::new(&mut c, c_layout).unwrap();
    let to_arg = arg.then(|| MatMut::new(&mut found, c_layout).unwrap());
    let mut call =
        Call::<S> { c: to, arg: to_arg, a, b, update: &update, epilogue: None, options, isa, codes: None };
    // Where nothing is at stake, it stops as soon as it does not pay.
    let stake = if stops { (0, 0, 0) } else { (usize::MAX, usize::MAX, 1) };
    let account = Account::new(Model::new(stake, size_of::<S::Lane>(), false));
    let outcome = Job { room, ..call.few_terms(kernel, scale, account) }.run().unwrap();
    assert!(stops || outcome.unpruned.is_empty());
    for part in outcome.unpruned {
        with_all_terms(call.part(part).unwrap()).unwrap();
    }
    let wrong = (0..m * n).find(|&i| c[i].bits() != expected[i].bits());
    let of = |i: usize| format!("{:?}, not {:?}", c[i], expected[i]);
    assert!(wrong.is_none(), "{} {wrong:?}: {}", S::NAME, of(wrong.unwrap()));
    let wrong = (0..m * n).find(|&i| found[i] != winners[i]);
    let of = |i: usize| format!("{}, not {}, of {:?}", found[i], winners[i], c[i]);
    assert!(wrong.is_none(), "{} {wrong:?}: won by {}", S::NAME, of(wrong.unwrap()));
}

fn mirrored<T: Scalar + PartialEq + core::ops::Neg<Output = T>>(x: T) -> T {
    if T::HAS_LIMITS && x == T::TOP { T::BOTTOM } else { -x }
}

/// Not below zero, which may be negative.
fn not_negative<T: Scalar + PartialOrd + core::ops::Neg<Output = T>>(x: T) -> T {
    if x < T::NIL { -x } else { x }
}

/// Spread over all values of the type, both ends among them.
fn of_whole_range(x: i32) -> i32 {
    match x {
        0x0fff_ffff => i32::MIN,
        i32::MAX => x,
        _ => x.wrapping_mul(16),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_scale_gives_the_bits_of_the_definition(case in cases()) {
        check::<MinPlus<f32>>(case, |x| x);
        check::<MinPlus<f64>>(case, |x| x);
        check::<MinPlus<i16>>(case, |x| x);
        check::<MinPlus<i32>>(case, |x| x);
        check::<MinPlus<i64>>(case, |x| x);
        check::<MaxPlus<f32>>(case, mirrored);
        check::<MaxPlus<f64>>(case, mirrored);
        check::<MaxPlus<i16>>(case, mirrored);
        check::<MaxPlus<i32>>(case, mirrored);
        check::<MaxPlus<i64>>(case, mirrored);
        check::<MinPlus<f16>>(case, |x| x);
        check::<MaxPlus<f16>>(case, |x| -x);
        check::<MinPlus<bf16>>(case, |x| x);
        check::<MaxPlus<bf16>>(case, |x| -x);
        check::<MaxTimes<f32>>(case, not_negative);
        check::<MaxTimes<f64>>(case, not_negative);
        check::<MinTimes<f32>>(case, not_negative);
        check::<MinTimes<f64>>(case, not_negative);
        check::<MaxMin<f32>>(case, |x| x);
        check::<MaxMin<f64>>(case, |x| x);
        check::<MaxMin<i32>>(case, of_whole_range);
        check::<MinMax<f32>>(case, |x| x);
        check::<MinMax<f64>>(case, |x| x);
        check::<MinMax<i32>>(case, of_whole_range);
    }
}

/// Several threads, with room for a row or a few at a time.
#[test]
fn threads_share_what_room_there_is() {
    for (room, seed) in [(0, 1), (3000, 2), (20_000, 3)] {
        let shape = (70, 131, 700);
        let case = Case {
            shape,
            scale: 1e-6,
            data: [Data::Any; 2],
            special: true,
            by_columns: [false; 2],
            joins: false,
            arg: seed == 1,
            stops: seed == 2,
            room,
            threads: 3,
            isa: Isa::best(),
            seed,
        };
        check::<MinPlus<f32>>(case, |x| x);
        check::<MaxPlus<i64>>(case, mirrored);
        check::<MaxTimes<f32>>(case, not_negative);
        check::<MinMax<i32>>(case, of_whole_range);
    }
}
