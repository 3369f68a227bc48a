//! Whole numbers that lie close together, in narrower types: the results of the definition, bit for bit, and narrow where the data allow it
//! and nowhere else.

use super::rig::{Array, execute};
use std::collections::HashMap;
use tilewright_core::{
    Element, Layout, MatMut, MatRef, MaxPlus, MinPlus, Problem, Semiring, SemiringId, Update, reference,
};
use tilewright_kernels::{Batch, Buffer, Recipe, Request, find};

/// A type under min-plus or max-plus.
trait Subject: Semiring<Elem: Element, Out = <Self as Semiring>::Elem> {
    const ID: SemiringId;
    /// The bits that data may exclude: those of both narrower types, or of one.
    const ALL: i32;
    const ABSENT: Self::Elem;
    fn of(x: i64) -> Self::Elem;
    /// A float that is no whole number, an infinity of the other sign, and one of the same sign or a NaN; an integer for each.
    fn odd(which: usize) -> Self::Elem;
}

macro_rules! subjects {
    ($($semiring:ident $t:ident $all:literal $absent:expr, $odd:expr;)*) => {$(
        impl Subject for $semiring<$t> {
            const ID: SemiringId = SemiringId::$semiring;
            const ALL: i32 = $all;
            const ABSENT: $t = $absent;
            fn of(x: i64) -> $t { x as $t }
            fn odd(which: usize) -> $t { $odd[which] }
        }
    )*};
}
subjects! {
    MinPlus f32 1 f32::INFINITY, [0.5, f32::NEG_INFINITY, f32::NAN];
    MaxPlus f32 1 f32::NEG_INFINITY, [-0.5, f32::INFINITY, f32::NAN];
    MaxPlus i32 1 i32::MIN, [(1 << 28) - 1, 1 - (1 << 28), i32::MIN];
    MinPlus i64 3 i64::MAX, [(1 << 59) - 1, 1 - (1 << 59), i64::MAX];
    MaxPlus f64 3 f64::NEG_INFINITY, [1e300, f64::INFINITY, f64::NAN];
}

/// Elements of an operand.
#[derive(Clone, Copy, Debug)]
struct Values {
    least: i64,
    span: i64,
    /// One element in so many is absent; 0 for none, 1 for all.
    absent_in: u64,
    /// One of the subject's odd elements, somewhere.
    odd: Option<usize>,
}

const fn values(least: i64, span: i64, absent_in: u64) -> Values {
    Values { least, span, absent_in, odd: None }
}

/// What the data exclude: 1 for 16 bits, 2 for 32.
struct Case {
    values: [Values; 2],
    excluded: i32,
}

const fn case(a: Values, b: Values, excluded: i32) -> Case {
    Case { values: [a, b], excluded }
}

/// Windows up to the last that fits, and the first that does not.
const CASES: [Case; 16] = [
    case(values(-1000, 2000, 0), values(-1000, 2000, 0), 0),
    case(values(1 << 20, 32_767, 0), values(-70_000, 32_767, 0), 0),
    case(values(1 << 20, 32_767, 0), values(-70_000, 32_768, 0), 1),
    case(values(0, 16_383, 50), values(5, 16_383, 0), 0),
    case(values(0, 16_384, 50), values(5, 16_383, 0), 1),
    case(values(0, 0, 1), values(7, 32_766, 3), 0),
    case(values(0, 0, 1), values(0, 0, 1), 0),
    case(values(-20, 65_534, 0), values(3, 0, 0), 0),
    case(values(-20, 65_535, 0), values(3, 0, 0), 1),
    case(values(0, 100, 0), Values { odd: Some(0), ..values(0, 100, 0) }, 3),
    case(Values { odd: Some(1), ..values(0, 100, 0) }, values(0, 100, 0), 3),
    case(Values { odd: Some(2), ..values(0, 100, 0) }, values(0, 100, 0), 0),
    // For the types of 64 bits alone.
    case(values(1 << 40, (1 << 30) - 1, 0), values(-(1 << 50), (1 << 30) - 1, 0), 1),
    case(values(1 << 40, 1 << 30, 0), values(-(1 << 50), (1 << 30) - 1, 0), 3),
    case(values(-(1 << 45), (1 << 29) - 1, 9), values(0, (1 << 29) - 1, 0), 1),
    case(values(-(1 << 45), (1 << 29) + 1, 9), values(0, (1 << 29) - 1, 0), 3),
];
/// The cases for types of 32 bits.
const SMALL: usize = 12;

/// The shape of a product, and how its matrices lie.
#[derive(Clone, Copy)]
struct Shape {
    size: [usize; 3],
    transposed: [bool; 3],
    products: usize,
    /// Whether all products have the same A.
    shares_a: bool,
    accumulate: bool,
    multiprocessors: u32,
}

const SHAPES: [Shape; 3] = [
    Shape {
        size: [65, 67, 33],
        transposed: [false; 3],
        products: 1,
        shares_a: false,
        accumulate: true,
        multiprocessors: 132,
    },
    Shape {
        size: [70, 35, 100],
        transposed: [true, true, false],
        products: 3,
        shares_a: true,
        accumulate: false,
        multiprocessors: 132,
    },
    // Three tiles of C on one multiprocessor, which is more than it takes at a time; computed as its transpose.
    Shape {
        size: [200, 130, 200],
        transposed: [false, true, true],
        products: 1,
        shares_a: false,
        accumulate: false,
        multiprocessors: 1,
    },
];

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn elements<S: Subject>(&mut self, count: usize, values: Values) -> Vec<S::Elem> {
        let mut all: Vec<_> = (0..count)
            .map(|at| match values.absent_in {
                0 => self.number::<S>(at, values),
                some if self.below(some) == 0 => S::ABSENT,
                _ => self.number::<S>(at, values),
            })
            .collect();
        if let Some(which) = values.odd {
            all[self.below(count as u64) as usize] = S::odd(which);
        }
        all
    }

    /// Both ends of the window are there.
    fn number<S: Subject>(&mut self, at: usize, values: Values) -> S::Elem {
        let inside =
            if at < 16 { [0, values.span][at % 2] } else { self.below(values.span as u64 + 1) as i64 };
        S::of(values.least + inside)
    }
}

fn layout(rows: usize, cols: usize, transposed: bool) -> Layout {
    if transposed { Layout::col_major(rows, cols) } else { Layout::row_major(rows, cols) }
}

fn bytes<T: Element>(elements: &[T]) -> Vec<u8> {
    // SAFETY: elements are plain bytes without padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }.to_vec()
}

fn place(buffer: Buffer) -> Option<usize> {
    match buffer {
        Buffer::A => Some(0),
        Buffer::B => Some(1),
        Buffer::C => Some(2),
        Buffer::Workspace(index) => Some(3 + index),
        Buffer::Input | Buffer::Output | Buffer::Bias | Buffer::ScaleA | Buffer::ScaleB => None,
    }
}

fn recipe<S: Subject>(shape: &Shape) -> Recipe {
    let [m, n, k] = shape.size;
    let [a, b, c] = shape.transposed;
    let problem = Problem::new(layout(m, k, a), layout(k, n, b), layout(m, n, c)).expect("shapes fit");
    let mut request = Request::new(problem, S::ID, S::Elem::DTYPE);
    request.narrow = Some(true);
    request.gpu.multiprocessors = shape.multiprocessors;
    request.batch = match shape.products {
        1 => Batch::ONE,
        count => {
            let a = if shape.shares_a { 0 } else { m * k };
            Batch { count, a: a as isize, b: (k * n) as isize, c: (m * n) as isize }
        }
    };
    if shape.accumulate {
        request.joining = tilewright_core::Joining::Accumulate;
    }
    find("simt").expect("known").recipe(&request).expect("accepted")
}

/// Runs a case; the number of products without PTX, where there is no compiler.
fn check<S: Subject>(shape: &Shape, case: &Case, random: &mut Random) -> usize {
    let [m, n, k] = shape.size;
    let count = shape.products;
    let a = random.elements::<S>(m * k * if shape.shares_a { 1 } else { count }, case.values[0]);
    let b = random.elements::<S>(k * n * count, case.values[1]);
    let c = random.elements::<S>(m * n * count, values(-3, 40_000, 5));
    let mut wanted = c.clone();
    let update = if shape.accumulate { Update::<S>::Accumulate } else { Update::Replace };
    for t in 0..count {
        let a_at = if shape.shares_a { 0 } else { t * m * k };
        let [la, lb, lc] = [(m, k), (k, n), (m, n)];
        let [ta, tb, tc] = shape.transposed;
        let a = MatRef::with_origin(&a, layout(la.0, la.1, ta), a_at).expect("it has room");
        let b = MatRef::with_origin(&b, layout(lb.0, lb.1, tb), t * k * n).expect("it has room");
        let c = MatMut::with_origin(&mut wanted, layout(lc.0, lc.1, tc), t * m * n).expect("it has room");
        reference::multiply::<S>(c, a, b, &update).expect("admitted");
    }
    let array = |name, bytes| Array { name, bytes, origin: 0 };
    let mut arrays = vec![array("A", bytes(&a)), array("B", bytes(&b)), array("C", bytes(&c))];
    let recipe = recipe::<S>(shape);
    if !execute(&recipe, &mut arrays, &place) {
        return 1;
    }
    let decision = i32::from_le_bytes(arrays[3].bytes[..4].try_into().expect("four bytes"));
    assert_eq!(decision & S::ALL, case.excluded & S::ALL, "{:?} on {}", case.values, S::Elem::DTYPE);
    let size = size_of::<S::Elem>();
    let (found, wanted) = (&arrays[2].bytes, bytes(&wanted));
    let wrong = found.chunks(size).zip(wanted.chunks(size)).position(|(found, wanted)| found != wanted);
    assert_eq!(wrong, None, "{} on {}, {:?}, {:?}", S::ID, S::Elem::DTYPE, case.values, recipe.details());
    0
}

fn every_case<S: Subject>(shapes: &[Shape]) {
    let mut random = Random(7);
    let cases = if S::ALL == 1 { SMALL } else { CASES.len() };
    let mut without = 0;
    for shape in shapes {
        for case in &CASES[..cases] {
            without += check::<S>(shape, case, &mut random);
        }
    }
    eprintln!("{} on {}: {without} products without PTX", S::ID, S::Elem::DTYPE);
}

#[test]
fn floats_that_are_whole_and_close() {
    every_case::<MinPlus<f32>>(&SHAPES);
}

#[test]
fn integers_that_are_close() {
    every_case::<MaxPlus<i32>>(&SHAPES[..1]);
}

#[test]
fn integers_of_64_bits_that_are_close() {
    every_case::<MinPlus<i64>>(&SHAPES[2..]);
}

#[test]
fn doubles_that_are_whole_and_close() {
    every_case::<MaxPlus<f64>>(&SHAPES[1..2]);
}

/// Terms of floats are computed in pairs where no element has the other sign, and from the tile on where all sums of a warp are on the better side
/// of zero: with elements that allow it from the first tile on, late, and never.
#[test]
fn sums_that_settle() {
    every_sign::<MinPlus<f32>>(1.0);
    every_sign::<MaxPlus<f32>>(-1.0);
}

/// Elements are multiplied by `sign`, so that the same come late and early in either order.
fn every_sign<S: Subject<Elem = f32>>(sign: f32) {
    let shape = Shape { size: [65, 35, 200], ..SHAPES[0] };
    let [m, n, k] = shape.size;
    let mut random = Random(3);
    let mut names = Vec::new();
    let recipes = [[64, 128, 32, 8, 8, 1], [64, 128, 32, 8, 8, 2]].map(|tile| {
        [[false; 2], [true; 2]].map(|pack| {
            let problem = Problem::new(layout(m, k, false), layout(k, n, false), layout(m, n, false))
                .expect("shapes fit");
            let mut request = Request::new(problem, S::ID, f32::DTYPE);
            (request.tile, request.narrow, request.pack) = (Some(tile), Some(false), Some(pack));
            let recipe = find("simt").expect("known").recipe(&request).expect("accepted");
            names.extend(recipe.launches().iter().map(|launch| launch.program().name().to_owned()));
            recipe
        })
    });
    for part in [".settles.64x", ".pairs.guarded.", ".settles.fallback."] {
        assert!(names.iter().any(|name| name.contains(part)), "{part}: {names:?}");
    }
    // The lowest and the highest element, one that is odd, and the term from which on elements may be lower than -0.0.
    for (low, high, odd, late) in [
        (0.0, 4.0, None, 0),
        (0.0, 4.0, Some(f32::NEG_INFINITY), 0),
        (-0.0, 1e38, None, 0),
        (-4.0, -0.0, Some(f32::INFINITY), 0),
        (-4.0, 4.0, None, 0),
        (-4.0, 4.0, None, 70),
        (-3e38, 3e38, None, 33),
        (-4.0, 0.0, Some(f32::INFINITY), 100),
        (-4.0, 4.0, Some(f32::NEG_INFINITY), 64),
        (-4.0, 4.0, Some(f32::NAN), 64),
        (-4.0, -1.0, Some(f32::NAN), 0),
        (0.0, 4.0, Some(f32::NAN), 0),
    ] {
        let mut draw = |count: usize, term: &dyn Fn(usize) -> usize| -> Vec<f32> {
            let mut number = |i: usize| {
                let part = random.below(1 << 20) as f32 / (1 << 20) as f32;
                let x = low * (1.0 - part) + high * part;
                if term(i) < late { x.max(-0.0) } else { x }
            };
            let mut all: Vec<f32> = (0..count).map(&mut number).collect();
            if let Some(odd) = odd {
                (all[3], all[count / 3], all[count - 1]) = (odd, -odd, f32::INFINITY);
            }
            all.iter().map(|x| sign * x).collect()
        };
        let (a, b) = (draw(m * k, &|i| i % k), draw(k * n, &|i| i / n));
        let mut wanted = vec![0.0_f32; m * n];
        let view = |x, rows, cols| MatRef::new(x, Layout::row_major(rows, cols)).expect("it has room");
        let c = MatMut::new(&mut wanted, Layout::row_major(m, n)).expect("it has room");
        reference::multiply::<S>(c, view(&a, m, k), view(&b, k, n), &Update::Replace).expect("admitted");
        for recipe in recipes.iter().flatten() {
            let array = |name, bytes| Array { name, bytes, origin: 0 };
            let mut arrays = vec![
                array("A", bytes(&a)),
                array("B", bytes(&b)),
                array("C", vec![0xff; size_of_val(&wanted[..])]),
            ];
            if execute(recipe, &mut arrays, &place) {
                assert_eq!(arrays[2].bytes, bytes(&wanted), "from {low} to {high}, {odd:?}, from {late} on");
            }
        }
    }
}

#[test]
fn a_narrower_type_stands_before_that_of_all_data() {
    let mut roles = HashMap::new();
    for launch in recipe::<MinPlus<i64>>(&SHAPES[0]).launches() {
        roles.entry((launch.entry(), launch.is_for_some())).and_modify(|n| *n += 1).or_insert(1);
    }
    assert_eq!(
        (roles[&("simt", true)], roles[&("simt", false)], roles[&("scan", false)]),
        (2, 1, 1),
        "{roles:?}"
    );
}
