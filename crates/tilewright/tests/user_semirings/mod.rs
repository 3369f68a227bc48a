//! Semirings that users bring, on the kernels of a backend, beside the definition and the processor.
#![allow(dead_code)] // Each test program uses its part.

use crate::support::{Makers, compare, layouts, numbers};
use tilewright::{
    Backend, BatchMut, BatchProduct, BatchRef, Error, ErrorKind, ExpressionProduct, Layout, MatMut, MatRef,
    Matrix, Options, Product, Semiring, Update,
    cuda::Nvrtc,
    expressions::{Cell, Expressions},
    semiring::Cuda,
};

/// Whether there is a compiler, or a line that says that a test needs it.
pub fn compiles() -> bool {
    match Nvrtc::find() {
        Ok(_) => true,
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none_or(|value| value == "0") => {
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_NVRTC is set, and {error}"),
    }
}

/// One product over a text by a backend, by the processor and by the definition, with guards around C.
fn same<T: Cell>(
    backend: Backend,
    text: &str,
    (m, n, k): (usize, usize, usize),
    which: [usize; 3],
    joins: bool,
    element: fn(i64) -> T,
) {
    let semiring: Expressions = text.parse().unwrap();
    let [(la, oa), (lb, ob), (lc, oc)] =
        [layouts(m, k)[which[0]], layouts(k, n)[which[1]], layouts(m, n)[which[2]]];
    let room = |rows: usize, cols: usize| 4 * (rows + 4) * (cols + 4);
    let (a, b) = (numbers(room(m, k), 1, element), numbers(room(k, n), 2, element));
    let a = MatRef::with_origin(&a, la, oa).unwrap();
    let b = MatRef::with_origin(&b, lb, ob).unwrap();
    let old = numbers(room(m, n), 3, element);
    let mut wanted = old.clone();
    semiring.multiply(MatMut::with_origin(&mut wanted, lc, oc).unwrap(), a, b, joins).unwrap();
    for backend in [backend, Backend::Cpu] {
        let mut found = old.clone();
        let product = ExpressionProduct::new(&semiring, a, b).unwrap();
        let product = if joins { product.accumulate() } else { product };
        let c = MatMut::with_origin(&mut found, lc, oc).unwrap();
        let report = product.write_to(c.into(), &Options { backend, ..Options::default() }).unwrap();
        assert_eq!(report.backend, backend);
        let bits = |all: &[T]| all.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>();
        assert!(bits(&found) == bits(&wanted), "{text} on {} {m} x {n} x {k}, {which:?}", T::DTYPE);
    }
}

/// Small numbers, some of them -0, infinite and NaN.
fn odd(x: i64) -> f64 {
    match x {
        0 => -0.0,
        5 => f64::INFINITY,
        9 => f64::NAN,
        x => x as f64 / 2.0,
    }
}

/// Texts have the bits of the definition and of the processor: edges of tiles, all kinds of layouts, no terms, sums that are split, C joined.
pub fn texts_have_the_bits_of_the_definition(backend: Backend) {
    if !compiles() {
        return;
    }
    let shortest = "add=fminf(x,y); mul=x+y; zero=inf; one=0";
    for (size, which, joins) in [
        ((33, 31, 65), [0, 0, 0], false),
        ((65, 130, 40), [1, 2, 1], true),
        ((5, 6, 3000), [3, 1, 4], true),
        ((7, 9, 0), [0, 0, 0], true),
        ((64, 128, 64), [4, 3, 5], false),
    ] {
        same::<f32>(backend, shortest, size, which, joins, |x| odd(x) as f32);
    }
    same::<f64>(backend, shortest, (33, 70, 41), [0, 1, 0], true, odd);
    let widest = "add=x>y ? x : y; mul=x<y ? x : y; zero=-inf; one=inf";
    same::<i32>(backend, widest, (20, 65, 33), [1, 0, 3], true, |x| x as i32);
    // Integers that no float is, and the extreme ones.
    let least = "add=max(x,y); mul=min(min(x,y),-2147483647); zero=-2147483648";
    same::<i32>(
        backend,
        least,
        (9, 33, 20),
        [0, 5, 0],
        false,
        |x| if x % 3 == 0 { i32::MIN } else { x as i32 },
    );
    let large = "add=min(x,y); mul=max(max(x,y),9007199254740993); zero=inf";
    same::<i64>(backend, large, (9, 33, 20), [5, 0, 0], true, |x| 9_007_199_254_740_990 + x);
    let wrapping = "add=x+y; mul=x*y; zero=0; one=1";
    same::<i64>(backend, wrapping, (9, 33, 300), [0, 5, 0], true, |x| (x << 61) | x);
    // ⊗ does not commute, and C is computed as its transpose.
    let last = "add=max(x,y); mul=y!=0 ? x : 0; zero=0; where=x>=0";
    same::<i32>(backend, last, (34, 18, 20), [0, 1, 1], false, |x| x.max(0) as i32);
}

/// Every operation of expressions, in laws that hold.
pub fn every_operation_has_the_bits_of_the_processor(backend: Backend) {
    if !compiles() {
        return;
    }
    let text = "add=(x<y && x!=y) || !(x>=y) ? y*2/2 : fabsf(x)>1e30 ? fmaxf(x,y) : -(-x); \
                mul=x<=y && x==y ? min(x,y)*2 : x+y-1+1; zero=-inf";
    same::<f32>(backend, text, (34, 33, 20), [0, 0, 0], true, |x| x as f32);
    same::<f64>(backend, text, (17, 9, 20), [0, 0, 0], false, |x| x as f64);
    // Division by 0 and by -1, and what wraps, among integers.
    let text =
        "add=max(x,y); mul=x/(y-y)+x/(0-1)+y*-1 == 0-(x+y) ? min(abs(x),-(-y)) : 77; zero=0; where=x>=0";
    same::<i32>(backend, text, (34, 33, 20), [0, 0, 0], true, |x| x.max(0) as i32);
    same::<i64>(backend, text, (9, 33, 20), [0, 0, 0], true, |x| x.max(0));
}

/// A semiring of one type, with its CUDA expressions.
macro_rules! semiring {
    ($name:ident, $t:ty, $zero:expr, $one:expr, $add:expr, $mul:expr, $cuda_add:literal, $cuda_mul:literal) => {
        #[derive(Clone, Copy)]
        pub struct $name;
        impl Semiring for $name {
            type Elem = $t;
            type Acc = $t;
            type Out = $t;
            const NAME: &'static str = stringify!($name);
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            const CUDA: Option<Cuda<Self>> = Some(Cuda::new($cuda_add, $cuda_mul));
            fn add(x: $t, y: $t) -> $t {
                let add: fn($t, $t) -> $t = $add;
                add(x, y)
            }
            fn mul_add(acc: $t, a: $t, b: $t) -> $t {
                let mul: fn($t, $t) -> $t = $mul;
                Self::add(acc, mul(a, b))
            }
            fn finish(acc: $t) -> $t {
                acc
            }
            fn resume(out: $t) -> $t {
                out
            }
            fn admits(x: $t) -> bool {
                x >= <$t>::default()
            }
        }
    };
}
semiring!(Reliable, f32, 0.0, 1.0, f32::max, |a, b| a * b, "fmaxf(x, y)", "x * y");
semiring!(Shifted, f64, f64::INFINITY, 0.0, f64::min, |a, b| a + b, "x < y ? x : y", "x + y");
// The first term that is not 0 is the sum: the order of terms matters.
semiring!(First, i32, 0, 1, |x, y| if x != 0 { x } else { y }, |a, b| a * b, "x != 0 ? x : y", "x * y");
semiring!(Lies, f32, 0.0, 1.0, f32::max, |a, b| a * b, "fmaxf(x, y)", "x * y + (x == 7.0f)");
semiring!(Mistaken, f32, 0.0, 1.0, f32::max, |a, b| a * b, "fmaxf(x, z)", "x * y");
semiring!(NoZero, f32, 1.0, 1.0, f32::max, |a, b| a * b, "fmaxf(x, y)", "x * y");

/// Semirings of Rust agree with the definition, also in batches, and where the order of terms matters.
pub fn cuda_expressions_agree_with_the_functions_in_rust(backend: Backend) {
    if !compiles() {
        return;
    }
    let floats: Makers<f32, f32> = (|x| x.max(0) as f32, |x| x as f32);
    for (size, which) in [((33, 31, 65), [0, 0, 0]), ((5, 6, 3000), [1, 3, 1])] {
        compare::<Reliable>(backend, size, which, &Update::Accumulate, floats).unwrap();
    }
    let doubles: Makers<f64, f64> = (|x| x.max(0) as f64, |x| x as f64);
    compare::<Shifted>(backend, (20, 33, 40), [0, 1, 0], &Update::Replace, doubles).unwrap();
    let ints: Makers<i32, i32> = (|x| x.max(0) as i32, |x| x as i32);
    for (size, which) in [((5, 6, 3000), [0, 0, 0]), ((65, 40, 70), [1, 2, 1])] {
        compare::<First>(backend, size, which, &Update::Accumulate, ints).unwrap();
    }
    let (l, a, mut c) = (Layout::row_major(3, 3), numbers(45, 1, floats.0), [9.0; 45]);
    let batch = BatchRef::new(&a, l, 5, 9).unwrap();
    let product = BatchProduct::<Reliable>::new(batch, batch).unwrap();
    let product = product.options(Options { backend, ..Options::default() });
    product.write_to(&mut BatchMut::new(&mut c, l, 5, 9).unwrap()).unwrap();
    let last = MatRef::new(&a[36..], l).unwrap();
    let wanted = Product::<Reliable>::new(last, last).unwrap().backend(Backend::Reference).compute().unwrap();
    assert_eq!(c[36..], *wanted.as_slice());
}

/// What is wrong with CUDA expressions is said before C is touched.
pub fn wrong_cuda_expressions_are_refused(backend: Backend) {
    if !compiles() {
        return;
    }
    fn refused<S: Semiring<Elem = f32, Out = f32>>(backend: Backend) -> Error {
        let a = Matrix::filled(2, 2, 0.5).unwrap();
        let mut c = Matrix::filled(2, 2, 3.0).unwrap();
        let error = Product::<S>::new(&a, &a).unwrap().backend(backend).write_to(&mut c).unwrap_err();
        assert_eq!(c.as_slice(), [3.0; 4]);
        error
    }
    let lies = refused::<Lies>(backend).to_string();
    assert!(lies.contains("where acc = 0, a = 7, b = 0") && lies.contains("is 1 by them and 0"), "{lies}");
    let error = refused::<Mistaken>(backend);
    let ErrorKind::Compilation { log, .. } = error.kind() else { panic!("{error}") };
    assert!(log.contains("ADD(1): error") && log.contains("\"z\" is undefined"), "{log}");
    // The line and the place in it.
    assert!(log.contains("fmaxf(x, z)") && log.lines().any(|line| line.trim() == "^"), "{log}");
    let error = refused::<NoZero>(backend).to_string();
    assert!(error.contains("0, joined with ZERO"), "{error}");
}
