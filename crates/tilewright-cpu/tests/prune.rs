//! Products that are computed by few terms have the bits of the definition.

use crate::common::{Random, isas, rows, rows_mut};
use std::fmt::Debug;
use tilewright_core::{
    BatchMut, BatchRef, Layout, MatMut, MatRef, MaxPlus, MinPlus, Problem, Semiring, Update, bf16, f16,
    reference,
};
use tilewright_cpu::{Isa, Options, Report, multiply, multiply_arg, multiply_batch, plan};

/// Large enough to be pruned, with remainders of everything.
pub const SHAPE: (usize, usize, usize) = (195, 278, 1100);

/// An element type that is pruned.
pub trait Subject: Copy + Debug + PartialEq + Sync + Send + 'static {
    const SPECIAL: [Self; 3];
    /// From a number in -1..1.
    fn of(x: f64) -> Self;
    fn negated(self) -> Self;
}

macro_rules! subjects {
    ($($t:ident: |$x:ident| $of:expr, $special:expr;)*) => {$(
        impl Subject for $t {
            const SPECIAL: [Self; 3] = $special;
            fn of($x: f64) -> Self { $of as $t }
            fn negated(self) -> Self { if self == Self::SPECIAL[0] { !Self::SPECIAL[0] } else { -self } }
        }
    )*};
}
subjects! {
    i16: |x| x * 4e3, [i16::MAX, 0, 1 << 11];
    i32: |x| x * 1e8, [i32::MAX, 0, 1 << 27];
    i64: |x| x * 1e17, [i64::MAX, 0, 1 << 57];
}
impl Subject for f32 {
    const SPECIAL: [Self; 3] = [Self::INFINITY, Self::NAN, 1e30];
    fn of(x: f64) -> Self {
        x as Self
    }
    fn negated(self) -> Self {
        -self
    }
}
impl Subject for f64 {
    const SPECIAL: [Self; 3] = [Self::INFINITY, Self::NAN, 1e300];
    fn of(x: f64) -> Self {
        x * 1e-200
    }
    fn negated(self) -> Self {
        -self
    }
}

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl Subject for $t {
            const SPECIAL: [Self; 3] = [Self::INFINITY, Self::NAN, Self::MAX];
            fn of(x: f64) -> Self {
                Self::from_f64(x)
            }
            fn negated(self) -> Self {
                -self
            }
        }
    )*};
}
halves! { f16 bf16 }

/// Random elements; one in `special_in`, if not 0, is special.
pub fn random<T: Subject>(count: usize, special_in: usize, seed: u64) -> Vec<T> {
    let mut r = Random::new(seed);
    let mut unit = move || {
        let special = special_in > 0 && r.below(special_in) == 0;
        (special.then(|| r.below(3)), (r.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    (0..count).map(|_| unit()).map(|(s, x)| s.map_or(T::of(x), |s| T::SPECIAL[s])).collect()
}

/// What to compute besides the elements.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub by_columns: [bool; 3],
    pub joins: bool,
    pub options: Options<'static>,
}

impl How {
    /// Of A, B and C, by their number.
    fn layout(&self, i: usize, rows: usize, cols: usize) -> Layout {
        match self.by_columns[i] {
            true => Layout::col_major(rows, cols),
            false => Layout::row_major(rows, cols),
        }
    }

    fn update<S: Semiring>(&self) -> Update<S> {
        if self.joins { Update::Accumulate } else { Update::Replace }
    }
}

/// Computes the product, compares some rows of it with the definition, and reports.
pub fn check<S: Semiring<Elem: Subject, Out = <S as Semiring>::Elem>>(
    (m, n, k): (usize, usize, usize),
    a: &[S::Elem],
    b: &[S::Elem],
    how: How,
) -> Report {
    let (a, b) = (MatRef::new(a, how.layout(0, m, k)).unwrap(), MatRef::new(b, how.layout(1, k, n)).unwrap());
    let mut c = random::<S::Elem>(m * n, 0, 7);
    let old = c.clone();
    let (update, c_layout) = (how.update(), how.layout(2, m, n));
    let report = multiply::<S>(MatMut::new(&mut c, c_layout).unwrap(), a, b, &update, &how.options).unwrap();
    let (old, c) = (MatRef::new(&old, c_layout).unwrap(), MatRef::new(&c, c_layout).unwrap());
    for i in (0..m).step_by(13) {
        let mut expected: Vec<_> = (0..n).map(|j| old.get(i, j).unwrap()).collect();
        let row = a.window(i, 0, 1, k).unwrap();
        reference::multiply::<S>(rows_mut(&mut expected, 1, n), row, b, &update).unwrap();
        // By their texts, because NaN is not itself, and zeros have signs.
        for (j, expected) in expected.iter().enumerate() {
            let found = c.get(i, j).unwrap();
            assert_eq!(
                format!("{found:?}"),
                format!("{expected:?}"),
                "({i}, {j}) by {}, {how:?}",
                report.kernel
            );
        }
    }
    report
}

/// As [`check`], with winners: of all of C whether they are the first terms that equal it, by their definition in some rows.
pub fn check_arg<S: Semiring<Elem: Subject, Out = <S as Semiring>::Elem>>(
    (m, n, k): (usize, usize, usize),
    a: &[S::Elem],
    b: &[S::Elem],
    how: How,
) -> Report {
    let (a, b) = (MatRef::new(a, how.layout(0, m, k)).unwrap(), MatRef::new(b, how.layout(1, k, n)).unwrap());
    let (mut c, mut arg) = (random::<S::Elem>(m * n, 0, 7), vec![7; m * n]);
    let old = c.clone();
    let (update, c_layout) = (how.update(), how.layout(2, m, n));
    let (to, to_arg) = (MatMut::new(&mut c, c_layout).unwrap(), MatMut::new(&mut arg, c_layout).unwrap());
    let report = multiply_arg::<S>(to, to_arg, a, b, &update, &how.options).unwrap();
    let (old, c) = (MatRef::new(&old, c_layout).unwrap(), MatRef::new(&c, c_layout).unwrap());
    let arg = MatRef::new(&arg, c_layout).unwrap();
    for i in (0..m).step_by(13) {
        let mut expected: Vec<_> = (0..n).map(|j| old.get(i, j).unwrap()).collect();
        let mut winners = vec![7; n];
        let row = a.window(i, 0, 1, k).unwrap();
        let (to, to_arg) = (rows_mut(&mut expected, 1, n), rows_mut(&mut winners, 1, n));
        reference::multiply_arg::<S>(to, to_arg, row, b, &update).unwrap();
        for j in 0..n {
            let found = format!("{:?} of {:?}", c.get(i, j).unwrap(), arg.get(i, j).unwrap());
            let expected = format!("{:?} of {:?}", expected[j], winners[j]);
            assert_eq!(found, expected, "({i}, {j}) by {}, {how:?}", report.kernel);
        }
    }
    report
}

/// Both semirings over `T`, with so many special elements, as `how` says. Whether they were pruned.
fn both<T: Subject>(special_in: usize, how: How) -> [bool; 2]
where
    MinPlus<T>: Semiring<Elem = T, Out = T>,
    MaxPlus<T>: Semiring<Elem = T, Out = T>,
{
    let (m, n, k) = SHAPE;
    let [a, b] = [random::<T>(m * k, special_in, 1), random(k * n, special_in, 2)];
    let least = check::<MinPlus<T>>(SHAPE, &a, &b, how);
    let least_arg = check_arg::<MinPlus<T>>(SHAPE, &a, &b, how);
    let [a, b] = [a, b].map(|x| x.into_iter().map(T::negated).collect::<Vec<_>>());
    let most = check::<MaxPlus<T>>(SHAPE, &a, &b, how);
    let most_arg = check_arg::<MaxPlus<T>>(SHAPE, &a, &b, how);
    assert!(
        [least_arg, most_arg].iter().all(|report| report.kernel.arg && !(report.kernel.pruned && how.joins))
    );
    [least, most].map(|report| report.kernel.pruned)
}

#[test]
fn random_elements_are_pruned() {
    for isa in isas() {
        for (form, special_in) in [(0, 0), (1, 50), (2, 0), (4, 50), (7, 1000)] {
            for (threads, joins) in [(1, false), (3, form == 2)] {
                let options = Options { threads, isa: Some(isa), ..Options::default() };
                let how = How { by_columns: [0, 1, 2].map(|i| form >> i & 1 == 1), joins, options };
                let floats = [both::<f32>(special_in, how), both::<f64>(special_in, how)];
                let integers = [
                    both::<i16>(special_in, how),
                    both::<i32>(special_in, how),
                    both::<i64>(special_in, how),
                ];
                // Among threads it depends on which rows come first whether pruning goes on.
                let pruned = floats.iter().chain(&integers).all(|pruned| *pruned == [true; 2]);
                assert!(pruned || threads > 1, "{how:?}, {special_in}");
            }
        }
    }
}

/// Where most terms may be the best, computing all of them takes less time; where most are absent, few are needed.
#[test]
fn other_elements() {
    let (m, n, k) = SHAPE;
    let options = Options { threads: 1, ..Options::default() };
    let how = How { by_columns: [false; 3], joins: false, options };
    type Element = fn(usize) -> f32;
    let elements: [(&str, Element, bool); 8] = [
        ("all alike", |_| 2.5, false),
        ("two values", |i| (i * 7919 % 11 % 2) as f32, false),
        ("many values", |i| (i * 7919 % 1009) as f32, true),
        ("all absent", |_| f32::INFINITY, true),
        ("mostly absent", |i| if i * 7919 % 101 == 0 { i as f32 } else { f32::INFINITY }, true),
        ("all NaN", |_| f32::NAN, true),
        ("a gap", |i| if i % 3 == 0 { f32::MIN } else { i as f32 }, false),
        ("infinitely small", |i| if i % 3 == 0 { f32::NEG_INFINITY } else { i as f32 }, false),
    ];
    for (name, element, pruned) in elements {
        let [a, b] = [m * k, k * n].map(|count| (0..count).map(element).collect::<Vec<_>>());
        let report = check::<MinPlus<f32>>(SHAPE, &a, &b, how);
        assert_eq!(report.kernel.pruned, pruned, "{name}");
        check_arg::<MinPlus<f32>>(SHAPE, &a, &b, how);
    }
}

/// What a look at some outputs does not show costs time and nothing else: a few rows unlike all others, and sums that overflow.
#[test]
fn surprises_do_no_harm() {
    let (m, n, k) = SHAPE;
    let how = How { by_columns: [false; 3], joins: false, options: Options::default() };
    let (mut a, b) = (random::<f32>(m * k, 0, 3), random::<f32>(k * n, 0, 4));
    // Every thirteenth row is compared with the definition.
    for (i, x) in [(13, 0.0), (26, f32::INFINITY), (39, f32::NAN), (52, f32::NEG_INFINITY), (65, f32::MAX)] {
        a[i * k..(i + 1) * k].fill(x);
    }
    for (p, x) in a[78 * k..79 * k].iter_mut().enumerate() {
        *x = if p % 2 == 0 { f32::MIN } else { f32::MAX };
    }
    check::<MinPlus<f32>>(SHAPE, &a, &b, how);
    check::<MaxPlus<f32>>(SHAPE, &a, &b, how);
    check_arg::<MinPlus<f32>>(SHAPE, &a, &b, how);
    check_arg::<MaxPlus<f32>>(SHAPE, &a, &b, how);
    let [a, b] = [a, b].map(|x| x.into_iter().map(|x| x * 3e38).collect::<Vec<_>>());
    check::<MinPlus<f32>>(SHAPE, &a, &b, how);
    check::<MaxPlus<f32>>(SHAPE, &a, &b, how);
}

/// Elements of which many sums are equal, each with a winner that is the first of them; by any number of threads.
#[test]
fn ties_are_kept() {
    let (m, n, k) = SHAPE;
    for (isa, distinct) in isas().into_iter().flat_map(|isa| [30, 300, 3000].map(|distinct| (isa, distinct)))
    {
        let mut r = Random::new(distinct as u64);
        let mut whole = |count| (0..count).map(|_| r.below(distinct) as i32).collect::<Vec<_>>();
        let (a, b) = (whole(m * k), whole(k * n));
        let floats = [&a, &b].map(|x| x.iter().map(|&x| x as f32 - 10.0).collect::<Vec<_>>());
        for threads in [1, 3] {
            let options = Options { threads, isa: Some(isa), ..Options::default() };
            let how = How { by_columns: [false; 3], joins: false, options };
            check_arg::<MinPlus<i32>>(SHAPE, &a, &b, how);
            check_arg::<MaxPlus<i32>>(SHAPE, &a, &b, how);
            check_arg::<MinPlus<f32>>(SHAPE, &floats[0], &floats[1], how);
            check_arg::<MaxPlus<f32>>(SHAPE, &floats[0], &floats[1], how);
        }
    }
}

/// Small products are not pruned; the plan tells what may be.
#[test]
fn the_plan_tells() {
    for ((m, n, k), prunes) in [
        ((128, 128, 256), true),
        ((127, 128, 256), false),
        ((128, 127, 256), false),
        ((128, 128, 255), false),
    ] {
        let (mut a, b) = (random::<f64>(m * k, 0, 5), random::<f64>(k * n, 0, 6));
        // Most elements of A are so far from the others that no look says that pruning does not pay.
        a.iter_mut().enumerate().filter(|(at, _)| at % 16 != 0).for_each(|(_, x)| *x += 4.0);
        let options = Options { threads: 1, isa: Some(Isa::best()), ..Options::default() };
        let layouts = [Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n)];
        let problem = Problem::new(layouts[0], layouts[1], layouts[2]).unwrap();
        assert_eq!(plan::<MinPlus<f64>>(&problem, &Update::Replace, &options).unwrap().prunes, prunes);
        let how = How { by_columns: [false; 3], joins: false, options };
        let kernel = check::<MinPlus<f64>>((m, n, k), &a, &b, how).kernel;
        assert_eq!(kernel.pruned, prunes);
        // Of one block of terms winners are pruned alike.
        assert_eq!(check_arg::<MinPlus<f64>>((m, n, k), &a, &b, how).kernel.pruned, prunes);
        assert_eq!(kernel.to_string().ends_with(" pruned"), prunes);
    }
}

/// One block of terms, and several.
#[test]
fn blocks_of_terms() {
    for k in [256, 263, 1024, 4097, 9000] {
        for joins in [false, true] {
            let (m, n) = (128, 160);
            let [a, b] = [random::<i32>(m * k, 99, k as u64), random(k * n, 99, 3)];
            let how = How { by_columns: [false; 3], joins, options: Options::default() };
            check::<MinPlus<i32>>((m, n, k), &a, &b, how);
            check_arg::<MinPlus<i32>>((m, n, k), &a, &b, how);
            let [a, b] = [random::<f64>(m * k, 99, k as u64), random(k * n, 99, 3)];
            check::<MaxPlus<f64>>((m, n, k), &a, &b, how);
        }
    }
}

/// Each product of a batch has a scale of its own, or none.
#[test]
fn batches() {
    let (m, n, k) = (128, 130, 400);
    let mut a = random::<f32>(3 * m * k, 0, 8);
    let b = random::<f32>(3 * k * n, 0, 9);
    a[..m * k].iter_mut().for_each(|x| *x *= 1e-20);
    a[m * k..2 * m * k].fill(1.0);
    let mut c = vec![0.0; 3 * m * n];
    let mut to = BatchMut::new(&mut c, Layout::row_major(m, n), 3, (m * n) as isize).unwrap();
    let a_batch = BatchRef::new(&a, Layout::row_major(m, k), 3, (m * k) as isize).unwrap();
    let b_batch = BatchRef::new(&b, Layout::row_major(k, n), 3, (k * n) as isize).unwrap();
    multiply_batch::<MinPlus<f32>>(&mut to, a_batch, b_batch, &Update::Replace, &Options::default()).unwrap();
    for (i, c) in c.chunks(m * n).enumerate() {
        let mut expected = vec![0.0; n];
        let (row, b) = (rows(&a[i * m * k..][..k], 1, k), rows(&b[i * k * n..][..k * n], k, n));
        reference::multiply::<MinPlus<f32>>(rows_mut(&mut expected, 1, n), row, b, &Update::Replace).unwrap();
        assert_eq!(c[..n], expected);
    }
}
