//! What makes a semiring, on every triple of a set of ordinary and nasty elements.

use std::fmt::Debug;
use tilewright_core::*;

/// Elements, and how to compare them.
trait Samples: Element + Debug {
    /// Zero, one, ties, extremes; no NaN.
    fn samples() -> Vec<Self>;
    fn is_nan(self) -> bool;
    fn bits(self) -> u64;
}

macro_rules! floats {
    ($($t:ident, $from:expr;)*) => {$(
        impl Samples for $t {
            fn samples() -> Vec<Self> {
                // Whole powers of two, so that ⊗ is exact and hence associative.
                let whole = [-0.0, 0.0, 1.0, -1.0, 2.0, 0.5, -4.0, 64.0].map($from);
                [&whole[..], &[$t::INFINITY, $t::NEG_INFINITY]].concat()
            }
            fn is_nan(self) -> bool { $t::is_nan(self) }
            fn bits(self) -> u64 { self.to_bits().into() }
        }
    )*};
}
floats! {
    f16, f16::from_f64;
    bf16, bf16::from_f64;
    f32, |x| x as f32;
    f64, |x| x;
}

macro_rules! small_floats {
    ($($t:ident)*) => {$(
        impl Samples for $t {
            fn samples() -> Vec<Self> {
                [-0.0, 0.0, 1.0, -1.0, 2.0, 0.5, -4.0, 64.0].map($t::from_f32).to_vec()
            }
            fn is_nan(self) -> bool { $t::is_nan(self) }
            fn bits(self) -> u64 { self.to_bits().into() }
        }
    )*};
}
small_floats!(E4m3 E5m2);

macro_rules! integers {
    ($($t:ident, $edge:expr;)*) => {$(
        impl Samples for $t {
            fn samples() -> Vec<Self> {
                let negative = [1, 7, $edge - 1].map(|x| $t::wrapping_sub(0, x));
                [&[0, 1, 2, 5, 100, $edge - 1, $edge, $t::MAX, $t::MIN][..], &negative].concat()
            }
            fn is_nan(self) -> bool { false }
            fn bits(self) -> u64 { self as u64 }
        }
    )*};
}
integers! {
    i8, 1 << 5;
    i16, 1 << 12;
    i32, 1 << 28;
    i64, 1 << 59;
    u8, 1 << 6;
}

impl Samples for bool {
    fn samples() -> Vec<Self> {
        vec![false, true]
    }
    fn is_nan(self) -> bool {
        false
    }
    fn bits(self) -> u64 {
        self.into()
    }
}

fn product<S: Semiring>(a: S::Elem, b: S::Elem) -> S::Acc {
    S::mul_add(S::ZERO, a, b)
}

fn admitted<S: Semiring<Elem: Samples>>() -> Vec<S::Elem> {
    S::Elem::samples().into_iter().filter(|&x| S::admits(x)).collect()
}

/// Calls `f` with every triple.
fn triples<T: Copy>(items: &[T], mut f: impl FnMut(T, T, T)) {
    for &x in items {
        for &y in items {
            items.iter().for_each(|&z| f(x, y, z));
        }
    }
}

/// Sums are the same when their elements are.
fn same<S: Semiring<Out: Samples>>(x: S::Acc, y: S::Acc) -> bool {
    let (x, y) = (S::finish(x), S::finish(y));
    x.bits() == y.bits() || x.is_nan() && y.is_nan()
}

/// Laws that every semiring keeps, and those that it claims, on sums that partial products make.
fn claimed<S: Semiring<Elem: Samples, Out: Samples, Acc: Debug>>() {
    let elements = admitted::<S>();
    let mut sums: Vec<S::Acc> = Vec::new();
    for &a in &elements {
        for &b in &elements {
            let sum = product::<S>(a, b);
            if !sums.iter().any(|&s| same::<S>(s, sum)) && sums.len() < 40 {
                sums.push(sum);
            }
        }
    }
    let laws = S::laws();
    let name = S::NAME;
    for &x in &sums {
        assert!(same::<S>(S::add(S::ZERO, x), x) && same::<S>(S::add(x, S::ZERO), x), "{name}: zero + {x:?}");
        assert!(same::<S>(S::resume(S::finish(x)), x), "{name}: {x:?} is not kept");
        assert!(!laws.idempotent_add || same::<S>(S::add(x, x), x), "{name}: {x:?} + {x:?}");
    }
    triples(&sums, |x, y, z| {
        let sum = S::add(x, y);
        if laws.exact_add {
            assert!(same::<S>(S::add(sum, z), S::add(x, S::add(y, z))), "{name}: {x:?} + {y:?} + {z:?}");
            assert!(same::<S>(sum, S::add(y, x)), "{name}: {x:?} + {y:?}");
        }
        if laws.selective_add {
            // Compared as they are and not as elements: a sum *is* one of its operands.
            assert!(sum == x || sum == y, "{name}: {x:?} + {y:?}");
            assert!(x != y || sum == x, "{name}: {x:?} + {y:?}");
        }
    });
    for &a in &elements {
        let kept = product::<S>(S::ONE, a);
        assert!(same::<S>(kept, product::<S>(a, S::ONE)), "{name}: one times {a}");
        for &b in &elements {
            let commutes = same::<S>(product::<S>(a, b), product::<S>(b, a));
            assert!(!laws.commutative_mul || commutes, "{name}: {a} * {b}");
        }
    }
}

/// Laws that tie ⊗ to ⊕, where an element is a sum: identity, annihilation, associativity, distributivity.
fn full<S: Semiring<Elem = T, Acc = T, Out = T>, T: Samples>() {
    let name = S::NAME;
    let elements = admitted::<S>();
    let zero = S::finish(S::ZERO);
    for &x in &elements {
        assert!(same::<S>(product::<S>(S::ONE, x), x), "{name}: one times {x}");
        assert!(same::<S>(product::<S>(zero, x), S::ZERO), "{name}: zero times {x}");
        assert!(same::<S>(product::<S>(x, zero), S::ZERO), "{name}: {x} times zero");
    }
    triples(&elements, |x, y, z| {
        let (xy, yz) = (product::<S>(x, y), product::<S>(y, z));
        assert!(same::<S>(product::<S>(xy, z), product::<S>(x, yz)), "{name}: {x} * {y} * {z}");
        let (sum, terms) = (product::<S>(x, S::add(y, z)), S::add(xy, product::<S>(x, z)));
        assert!(same::<S>(sum, terms), "{name}: {x} * ({y} + {z})");
        let (sum, terms) = (product::<S>(S::add(x, y), z), S::add(product::<S>(x, z), yz));
        assert!(same::<S>(sum, terms), "{name}: ({x} + {y}) * {z}");
    });
}

/// Terms that are NaN are absent.
fn ignores_nan<S: Semiring<Elem = T, Acc = T, Out = T>, T: Samples>(nan: T) {
    for &x in &admitted::<S>() {
        for acc in [S::ZERO, S::finish(S::ZERO), x] {
            for (a, b) in [(nan, x), (x, nan), (nan, nan)] {
                assert_eq!(S::mul_add(acc, a, b), acc, "{}: {acc} + {a} * {b}", S::NAME);
            }
        }
        assert_eq!(S::add(x, nan), x);
        assert!(S::admits(nan));
    }
}

macro_rules! on {
    ($test:ident: $($semiring:ident of $($t:ty)*;)*) => {
        $($($test::<$semiring<$t>>();)*)*
    };
}

#[test]
fn claimed_laws_hold() {
    on! { claimed:
        PlusTimes of f16 bf16 E4m3 E5m2 f32 f64 i8 i16 i32 i64 u8;
        MinPlus of f16 bf16 f32 f64 i16 i32 i64;
        MaxPlus of f16 bf16 f32 f64 i16 i32 i64;
        MaxTimes of f32 f64;
        MinTimes of f32 f64;
        MaxMin of f32 f64 i32 u8;
        MinMax of f32 f64 i32 u8;
        LogPlus of f32 f64;
    }
    claimed::<OrAnd>();
    claimed::<PlusTimes<f16, f32>>();
    claimed::<PlusTimes<bf16, f32>>();
    claimed::<PlusTimes<E4m3, bf16>>();
    claimed::<PlusTimes<E5m2, f16>>();
}

macro_rules! full_on {
    ($($semiring:ident of $($t:ty)*;)*) => {
        $($(full::<$semiring<$t>, $t>();)*)*
    };
}

#[test]
fn all_laws_hold_where_sums_are_exact() {
    full_on! {
        PlusTimes of i32 i64;
        MinPlus of f16 bf16 f32 f64;
        MaxPlus of f16 bf16 f32 f64;
        MaxTimes of f32 f64;
        MinTimes of f32 f64;
        MaxMin of f32 f64 i32 u8;
        MinMax of f32 f64 i32 u8;
        MinPlus of i16 i32 i64;
        MaxPlus of i16 i32 i64;
    }
    full::<OrAnd, bool>();
}

#[test]
fn nan_is_absent() {
    ignores_nan::<MinPlus<f16>, f16>(f16::NAN);
    ignores_nan::<MaxPlus<bf16>, bf16>(bf16::NAN);
    ignores_nan::<MinPlus<f32>, f32>(f32::NAN);
    ignores_nan::<MaxPlus<f64>, f64>(-f64::NAN);
    ignores_nan::<MaxTimes<f32>, f32>(f32::NAN);
    ignores_nan::<MinTimes<f64>, f64>(f64::NAN);
    ignores_nan::<MaxMin<f32>, f32>(-f32::NAN);
    ignores_nan::<MinMax<f64>, f64>(f64::NAN);
}

/// Matrices over a semiring are a semiring: `(A B) C = A (B C)`, `A (B + C) = A B + A C`, `A I = A`.
#[test]
fn products_of_matrices_are_associative_and_distributive() {
    fn all<S: Semiring<Elem = T, Acc = T, Out = T>, T: Samples>(from: &[T]) {
        let mut state = 1u64;
        let mut draw = |rows, cols| {
            Matrix::from_fn(rows, cols, |_, _| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                from[(state >> 33) as usize % from.len()]
            })
            .unwrap()
        };
        let times = |x: &Matrix<T>, y: &Matrix<T>| {
            let mut z = Matrix::filled(x.rows(), y.cols(), T::DEFAULT).unwrap();
            reference::multiply::<S>(z.as_mut(), x.as_ref(), y.as_ref(), &Update::Replace).unwrap();
            z
        };
        let plus = |x: &Matrix<T>, y: &Matrix<T>| {
            let at = |m: &Matrix<T>, i, j| m.as_ref().get(i, j).unwrap();
            Matrix::from_fn(x.rows(), x.cols(), |i, j| S::finish(S::add(at(x, i, j), at(y, i, j)))).unwrap()
        };
        for _ in 0..50 {
            let (a, b, c, d) = (draw(3, 5), draw(5, 4), draw(4, 2), draw(5, 4));
            let (left, right) = (times(&times(&a, &b), &c), times(&a, &times(&b, &c)));
            assert!(left.as_ref() == right.as_ref(), "{}: {a:?} {b:?} {c:?}", S::NAME);
            let (left, right) = (times(&a, &plus(&b, &d)), plus(&times(&a, &b), &times(&a, &d)));
            assert!(left.as_ref() == right.as_ref(), "{}: {a:?} {b:?} {d:?}", S::NAME);
            let one = Matrix::from_fn(5, 5, |i, j| if i == j { S::ONE } else { S::ZERO }).unwrap();
            assert!(times(&a, &one).as_ref() == a.as_ref(), "{}: {a:?}", S::NAME);
        }
    }
    let inf = f32::INFINITY;
    all::<PlusTimes<i32>, _>(&[0, 1, -3, i32::MAX, i32::MIN]);
    all::<MinPlus<f32>, _>(&[0.0, 1.0, -3.0, 7.5, inf, -inf]);
    all::<MaxPlus<f32>, _>(&[0.0, 1.0, -3.0, 7.5, inf, -inf]);
    all::<MinPlus<i16>, _>(&[0, 1, -3, 1000, i16::MAX]);
    all::<MaxPlus<i64>, _>(&[0, 1, -3, 1000, i64::MIN]);
    all::<MaxTimes<f32>, _>(&[0.0, 0.5, 1.0, 4.0, inf]);
    all::<MinTimes<f32>, _>(&[0.0, 0.5, 1.0, 4.0, inf]);
    all::<MaxMin<i32>, _>(&[0, 1, -3, i32::MAX, i32::MIN]);
    all::<MinMax<f32>, _>(&[0.0, 1.0, -3.0, inf, -inf]);
    all::<OrAnd, _>(&[false, false, true]);
}

/// The extremes of integers are absent or refused; everything that is admitted can be summed.
#[test]
fn admitted_integers() {
    assert!(MinPlus::<i32>::admits(i32::MAX) && !MinPlus::<i32>::admits(i32::MIN));
    assert!(!MaxPlus::<i32>::admits(i32::MAX) && MaxPlus::<i32>::admits(i32::MIN));
    for x in i16::MIN..=i16::MAX {
        let small = (-(1 << 12) + 1..1 << 12).contains(&x);
        assert_eq!(MinPlus::<i16>::admits(x), small || x == i16::MAX);
        assert_eq!(MaxPlus::<i16>::admits(x), small || x == i16::MIN);
    }
    for edge in [1 << 59, -(1 << 59)] {
        assert!(!MinPlus::<i64>::admits(edge) && MinPlus::<i64>::admits(edge - edge.signum()));
    }
    assert!(MaxTimes::<f32>::admits(-0.0) && MaxTimes::<f32>::admits(f32::NAN));
    assert!(!MinTimes::<f32>::admits(-f32::from_bits(1)));
}

/// As NumPy's `logaddexp`, and ⊗ distributes as far as rounding lets it.
#[test]
fn logarithms_add_as_numpy_adds_them() {
    type S = LogPlus<f64>;
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, y, sum) in [
        (-inf, -inf, -inf),
        (-inf, 3.0, 3.0),
        (inf, inf, inf),
        (inf, -inf, inf),
        (inf, 1e300, inf),
        (1e300, 1e300, 1e300),
        (-1e300, 5.0, 5.0),
        (nan, -inf, nan),
        (inf, nan, nan),
    ] {
        for sum_found in [S::add(x, y), S::add(y, x)] {
            assert!(sum_found == sum || sum.is_nan() && sum_found.is_nan(), "{x} + {y}: {sum_found}");
        }
    }
    // A term of an absent and an infinite element is neither.
    assert!(product::<S>(-inf, inf).is_nan() && S::mul_add(0.0, inf, -inf).is_nan());
    assert_eq!((product::<S>(-inf, 7.0), product::<S>(inf, 7.0)), (-inf, inf));
    triples(&[-700.0, -3.5, -1.0, 0.0, 0.25, 2.0, 90.0], |x, y, z| {
        let close = |x: f64, y: f64| (x - y).abs() <= 4.0 * f64::EPSILON * (1.0 + x.abs().max(y.abs()));
        assert!(close(S::add(S::add(x, y), z), S::add(x, S::add(y, z))), "{x} + {y} + {z}");
        assert!(close(x + S::add(y, z), S::add(x + y, x + z)), "{x} * ({y} + {z})");
        assert!(close(S::add(x, y).exp(), x.exp() + y.exp()) || x.max(y) > 80.0 || x.min(y) < -600.0);
    });
    let columns = [[2.0f32.ln(), 3f32.ln()], [f32::NEG_INFINITY, 0.5f32.ln()]].concat();
    let logs = MatRef::new(&columns, Layout::row_major(2, 2)).unwrap();
    let mut c = Matrix::filled(2, 2, 0.0f32).unwrap();
    reference::multiply::<LogPlus<f32>>(c.as_mut(), logs, logs, &Update::Replace).unwrap();
    let found: Vec<f32> = c.as_slice().iter().map(|x| x.exp()).collect();
    for (x, y) in found.iter().zip([4.0, 7.5, 0.0, 0.25]) {
        assert!((x - y).abs() < 1e-5, "{found:?}");
    }
}
