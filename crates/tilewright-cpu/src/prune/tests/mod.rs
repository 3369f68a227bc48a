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
    prune::{Account, Job, Model},
};
use core::fmt::Debug;
use proptest::{prelude::*, sample::select};
use tilewright_core::{Layout, MatMut, MatRef, MaxPlus, MinPlus, Update, reference};

/// Elements from a random number: any, or of few values, and rarely something special.
trait Draw: Copy + Debug {
    fn draw(random: u64, few: bool, special: bool) -> Self;
    /// From a random number: what an old C may hold.
    fn old(random: u64) -> Self;
    /// From a number between -1 and 1; absent without one. With `max`, its mirror under max-plus.
    fn of(x: Option<f64>, max: bool) -> Self;
    fn bits(self) -> u64;
}

macro_rules! draw {
    ($($t:ident, $bits:expr, $unit:expr, $special:expr, $old:expr;)*) => {$(
        impl Draw for $t {
            fn draw(random: u64, few: bool, special: bool) -> Self {
                let special_one: [$t; 4] = $special;
                match random >> 58 {
                    place @ 0..4 if special => special_one[place as usize],
                    _ if few => (random % 5) as $t,
                    // Within the domain of each type.
                    _ => (random as i64 >> if size_of::<$t>() == 2 { 52 } else { 36 }) as $t,
                }
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
    f32, |x: f32| x.to_bits().into(), 1.0, [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0], |random| Self::draw(random, false, true);
    f64, f64::to_bits, 1.0, [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0], |random| Self::draw(random, false, true);
    i16, |x: i16| x as u64, 4000.0, [i16::MAX, (1 << 12) - 1, 1 - (1 << 12), 0], |random| random as Self;
    i32, |x: i32| x as u64, 1e8, [i32::MAX, (1 << 28) - 1, 1 - (1 << 28), i32::MAX], |random| random as Self;
    i64, |x: i64| x as u64, 1e17, [i64::MAX, (1 << 59) - 1, 1 - (1 << 59), 0], |random| random as Self;
}

/// What to compute, and with which scale.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: (usize, usize, usize),
    scale: f64,
    few: bool,
    special: bool,
    by_columns: [bool; 2],
    joins: bool,
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
        1 => (1..14usize, 1..40usize, 900..2300usize),
    ];
    let scale = select(vec![0.0, 1e-30, 1e-7, 1e-6, 1e-5, 0.3, 1.0, 7.7, 1e9, 1e30, f64::INFINITY]);
    let isas: Vec<_> = Isa::ALL.iter().copied().filter(|isa| isa.is_supported()).collect();
    let how = (
        any::<[bool; 2]>(),
        any::<(bool, bool)>(),
        select(vec![0, 500, 1 << 20]),
        select(isas),
        any::<u64>(),
    );
    (shape, scale, any::<(bool, bool)>(), how).prop_map(
        |(shape, scale, (few, special), (by_columns, (joins, stops), room, isa, seed))| Case {
            shape,
            scale,
            few,
            special,
            by_columns,
            joins,
            stops,
            room,
            threads: 1,
            isa,
            seed,
        },
    )
}

/// The result has the bits of the definition, whichever terms the scale leaves. `max` mirrors the elements.
fn check<S>(case: Case, mirror: fn(S::Lane) -> S::Lane)
where
    S: Vectorised<Elem = <S as Vectorised>::Lane, Out = <S as Vectorised>::Lane, Lane: Draw>,
{
    let Case { shape: (m, n, k), scale, few, special, by_columns, joins, stops, room, threads, isa, seed } =
        case;
    let mut state = seed | 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 33
    };
    let mut matrix = |rows, cols, special, by_columns, mirror: fn(S::Lane) -> S::Lane| {
        let elements: Vec<_> =
            (0..rows * cols).map(|_| mirror(S::Lane::draw(random(), few, special))).collect();
        (elements, if by_columns { Layout::col_major(rows, cols) } else { Layout::row_major(rows, cols) })
    };
    let (a, a_layout) = matrix(m, k, special, by_columns[0], mirror);
    let (b, b_layout) = matrix(k, n, special, by_columns[1], mirror);
    let (mut c, c_layout) =
        ((0..m * n).map(|_| S::Lane::old(random())).collect::<Vec<_>>(), Layout::row_major(m, n));
    let (a, b) = (MatRef::new(&a, a_layout).unwrap(), MatRef::new(&b, b_layout).unwrap());
    let mut expected = c.clone();
    let update = if joins { Update::Accumulate } else { Update::Replace };
    reference::multiply::<S>(MatMut::new(&mut expected, c_layout).unwrap(), a, b, &update).unwrap();
    let kernel = &(S::prune().expect("few terms").kernel)(isa);
    let options = &Options { threads, ..Options::default() };
    let to = MatMut::new(&mut c, c_layout).unwrap();
    let mut call =
        Call::<S> { c: to, arg: None, a, b, update: &update, epilogue: None, options, isa, codes: None };
    // Where nothing is at stake, it stops as soon as it does not pay.
    let stake = if stops { (0, 0, 0) } else { (usize::MAX, usize::MAX, 1) };
    let account = Account::new(Model::new(stake, size_of::<S::Lane>(), false));
    let outcome = Job { room, ..call.few_terms(kernel, scale, account) }.run().unwrap();
    assert!(stops || outcome.unpruned.is_empty());
    for part in outcome.unpruned {
        with_all_terms(call.part(part).unwrap()).unwrap();
    }
    let wrong = (0..m * n).find(|&i| c[i].bits() != expected[i].bits());
    assert!(wrong.is_none(), "{wrong:?}: {:?}, not {:?}", c[wrong.unwrap()], expected[wrong.unwrap()]);
}

fn mirrored<T: Scalar + PartialEq + core::ops::Neg<Output = T>>(x: T) -> T {
    if T::HAS_LIMITS && x == T::TOP { T::BOTTOM } else { -x }
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
            few: false,
            special: true,
            by_columns: [false; 2],
            joins: false,
            stops: seed == 2,
            room,
            threads: 3,
            isa: Isa::best(),
            seed,
        };
        check::<MinPlus<f32>>(case, |x| x);
        check::<MaxPlus<i64>>(case, mirrored);
    }
}
