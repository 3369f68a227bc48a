//! Tilewright and the libraries it is compared with.

use crate::{
    Result,
    blas::{self, Blas, Gemm},
    case::{Case, Group, Stored},
    contender::{Contender, InProcess},
    field::Field,
    matrices::Operands,
    numpy::NumPy,
    rounds::{Effort, check, measure},
    statistics::Summary,
};
use tilewright::{
    Layout, MatMut, MinPlus, PlusTimes, Semiring, Update,
    cpu::{self, Options},
};
use tropical_gemm::{KernelDispatch, Transpose, TropicalMinPlus, TropicalScalar, TropicalSemiring};

/// Name of our column.
pub const TILEWRIGHT: &str = "Tilewright";
/// Name of our own other type, for scale: it is no competitor.
pub const TILEWRIGHT_I32: &str = "Tilewright i32";

/// The libraries that can compute a case.
pub type Contenders<'a> = Vec<Box<dyn Contender + 'a>>;
/// Checks the result of the library of that name.
pub type Check<'a> = &'a dyn Fn(&str, &[f64]) -> Result<()>;

/// Measures one case with every library that can compute it.
///
/// # Errors
/// When a library fails, or computes a wrong result.
pub fn measure_case(
    case: &Case,
    threads: usize,
    effort: Effort,
    numpy: Option<&mut NumPy>,
) -> Result<Vec<(String, Summary)>> {
    with_contenders(case, threads, numpy, |contenders, check| measure(contenders, check, effort))
}

/// Calls `f` with every library that can compute the case, Tilewright first.
///
/// # Errors
/// When the operands cannot be made, and what `f` returns.
pub fn with_contenders<R>(
    case: &Case,
    threads: usize,
    numpy: Option<&mut NumPy>,
    f: impl FnOnce(Contenders<'_>, Check<'_>) -> Result<R>,
) -> Result<R> {
    match case.group {
        Group::PlusTimesF32 => plus_times::<f32, R>(case, threads, numpy, f),
        Group::PlusTimesF64 => plus_times::<f64, R>(case, threads, numpy, f),
        Group::MinPlusF32 => min_plus(case, &Operands::<f32>::of(case)?, threads, f),
        Group::MinPlusF64 => min_plus(case, &Operands::<f64>::of(case)?, threads, f),
        Group::MinPlusI32 => min_plus(case, &Operands::<i32>::of(case)?, threads, f),
        Group::MinPlusI32Close => min_plus(case, &Operands::<i16>::of(case)?.widened()?, threads, f),
        Group::MinPlusI16 => min_plus_i16(case, threads, f),
    }
}

/// Tilewright, over any semiring.
pub fn tilewright<'a, S>(
    name: &'static str,
    case: &Case,
    operands: &'a Operands<S::Elem>,
    threads: usize,
) -> Box<dyn Contender + 'a>
where
    S: Semiring<Elem: Field, Out: Field>,
{
    let (m, n) = (case.m, case.n);
    Box::new(InProcess::new(name, m * n, move |c: &mut [S::Out]| {
        let c = MatMut::new(c, Layout::row_major(m, n))?;
        let options = Options { threads, ..Options::default() };
        cpu::multiply::<S>(c, operands.a.view(), operands.b.view(), &Update::Replace, &options)?;
        Ok(())
    }))
}

/// An element type of the plus-times libraries.
trait Float: Field + faer::traits::ComplexField {
    type Ours: Semiring<Elem = Self, Out = Self>;
    const EPSILON: f64;
    const ZERO: Self;
    const ONE: Self;
    /// `matrixmultiply::sgemm` or `dgemm`.
    const MATRIXMULTIPLY: MatrixMultiply<Self>;
    /// `cblas_sgemm` or `cblas_dgemm` of a library.
    fn blas(library: &Blas) -> Gemm<Self>;
}

type MatrixMultiply<T> = unsafe fn(
    usize,
    usize,
    usize,
    T,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    *mut T,
    isize,
    isize,
);

impl Float for f32 {
    type Ours = PlusTimes<Self>;
    const EPSILON: f64 = f32::EPSILON as f64;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MATRIXMULTIPLY: MatrixMultiply<Self> = matrixmultiply::sgemm;
    fn blas(library: &Blas) -> Gemm<Self> {
        library.sgemm()
    }
}

impl Float for f64 {
    type Ours = PlusTimes<Self>;
    const EPSILON: f64 = f64::EPSILON;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const MATRIXMULTIPLY: MatrixMultiply<Self> = matrixmultiply::dgemm;
    fn blas(library: &Blas) -> Gemm<Self> {
        library.dgemm()
    }
}

fn plus_times<T: Float, R>(
    case: &Case,
    threads: usize,
    numpy: Option<&mut NumPy>,
    f: impl FnOnce(Contenders<'_>, Check<'_>) -> Result<R>,
) -> Result<R> {
    let operands = Operands::<T>::of(case)?;
    let sum = |terms: &mut dyn Iterator<Item = (T, T)>| terms.map(|(a, b)| a.value() * b.value()).sum();
    let check = check(case, &operands, sum, T::EPSILON);
    let mut all: Contenders<'_> = vec![
        tilewright::<T::Ours>(TILEWRIGHT, case, &operands, threads),
        gemm(case, &operands, threads),
        faer(case, &operands, threads),
        matrixmultiply(case, &operands),
    ];
    for library in blas::found() {
        all.push(library.contender(T::blas(library), [T::ZERO, T::ONE], case, &operands, threads)?);
    }
    if let Some(numpy) = numpy {
        all.push(Box::new(numpy.open(case, &operands)?));
    }
    f(all, &check)
}

fn gemm<'a, T: Float>(case: &Case, x: &'a Operands<T>, threads: usize) -> Box<dyn Contender + 'a> {
    let Case { m, n, k, .. } = *case;
    let ((ar, ac), (br, bc)) = (x.a.strides(), x.b.strides());
    let parallelism = match threads {
        1 => gemm::Parallelism::None,
        _ => gemm::Parallelism::Rayon(threads),
    };
    Box::new(InProcess::new("gemm", m * n, move |c: &mut [T]| {
        let (c, a, b) = (c.as_mut_ptr(), x.a.ptr(), x.b.ptr());
        let (zero, one, cr) = (T::ZERO, T::ONE, n as isize);
        // SAFETY: the strides are those of the operands and of C, which is row-major and not read.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                c,
                1,
                cr,
                false,
                a,
                ac,
                ar,
                b,
                bc,
                br,
                zero,
                one,
                false,
                false,
                false,
                parallelism,
            );
        }
        Ok(())
    }))
}

fn faer<'a, T: Float>(case: &Case, x: &'a Operands<T>, threads: usize) -> Box<dyn Contender + 'a> {
    let Case { m, n, k, .. } = *case;
    let ((ar, ac), (br, bc)) = (x.a.strides(), x.b.strides());
    let parallelism = match threads {
        1 => faer::Par::Seq,
        _ => faer::Par::rayon(threads),
    };
    Box::new(InProcess::new("faer", m * n, move |c: &mut [T]| {
        let c = faer::MatMut::from_row_major_slice_mut(c, m, n);
        // SAFETY: shapes and strides are those of the operands.
        let (a, b) = unsafe {
            let a = faer::MatRef::from_raw_parts(x.a.ptr(), m, k, ar, ac);
            (a, faer::MatRef::from_raw_parts(x.b.ptr(), k, n, br, bc))
        };
        faer::linalg::matmul::matmul(c, faer::Accum::Replace, a, b, T::ONE, parallelism);
        Ok(())
    }))
}

/// Its thread count comes from `MATMUL_NUM_THREADS`, which it reads once in a process.
fn matrixmultiply<'a, T: Float>(case: &Case, x: &'a Operands<T>) -> Box<dyn Contender + 'a> {
    let Case { m, n, k, .. } = *case;
    let ((ar, ac), (br, bc)) = (x.a.strides(), x.b.strides());
    Box::new(InProcess::new("matrixmultiply", m * n, move |c: &mut [T]| {
        let (c, a, b) = (c.as_mut_ptr(), x.a.ptr(), x.b.ptr());
        // SAFETY: shapes and strides are those of the operands and of C, which is row-major.
        unsafe {
            (T::MATRIXMULTIPLY)(m, k, n, T::ONE, a, ar, ac, b, br, bc, T::ZERO, c, n as isize, 1);
        }
        Ok(())
    }))
}

/// An element type of the min-plus libraries.
trait Tropical: Field + TropicalScalar + PartialOrd + std::ops::Add<Output = Self> {
    type Ours: Semiring<Elem = Self, Out = Self>;
    type Theirs: TropicalSemiring<Scalar = Self> + KernelDispatch;
}

impl Tropical for f32 {
    type Ours = MinPlus<Self>;
    type Theirs = TropicalMinPlus<Self>;
}
impl Tropical for f64 {
    type Ours = MinPlus<Self>;
    type Theirs = TropicalMinPlus<Self>;
}
impl Tropical for i32 {
    type Ours = MinPlus<Self>;
    type Theirs = TropicalMinPlus<Self>;
}

fn smallest<T: Field + PartialOrd + std::ops::Add<Output = T>>(
    terms: &mut dyn Iterator<Item = (T, T)>,
) -> f64 {
    let least = terms.map(|(a, b)| a + b).reduce(|x, y| if y < x { y } else { x });
    least.map_or(f64::INFINITY, Field::value)
}

fn min_plus<T: Tropical, R>(
    case: &Case,
    operands: &Operands<T>,
    threads: usize,
    f: impl FnOnce(Contenders<'_>, Check<'_>) -> Result<R>,
) -> Result<R> {
    let all: Contenders<'_> = vec![
        tilewright::<T::Ours>(TILEWRIGHT, case, operands, threads),
        Box::new(TropicalGemm::<T>::new(case, operands)),
    ];
    f(all, &check(case, operands, smallest, 0.0))
}

fn min_plus_i16<R>(
    case: &Case,
    threads: usize,
    f: impl FnOnce(Contenders<'_>, Check<'_>) -> Result<R>,
) -> Result<R> {
    let operands = Operands::<i16>::of(case)?;
    let wide = Operands::<i32>::of(case)?;
    let (narrow_check, wide_check) =
        (check(case, &operands, smallest, 0.0), check(case, &wide, smallest, 0.0));
    let all: Contenders<'_> = vec![
        tilewright::<MinPlus<i16>>(TILEWRIGHT, case, &operands, threads),
        tilewright::<MinPlus<i32>>(TILEWRIGHT_I32, case, &wide, threads),
    ];
    let check = |name: &str, result: &[f64]| match name {
        TILEWRIGHT_I32 => wide_check(name, result),
        _ => narrow_check(name, result),
    };
    f(all, &check)
}

/// `tropical-gemm` through its entry that takes transposes and leaves the allocation of C to the caller.
///
/// It joins the product to what C holds, which changes nothing from the second call on: min is idempotent.
/// Its thread count is that of rayon's global pool.
struct TropicalGemm<'a, T: Tropical> {
    case: Case,
    operands: &'a Operands<T>,
    c: Vec<T::Theirs>,
}

impl<'a, T: Tropical> TropicalGemm<'a, T> {
    fn new(case: &Case, operands: &'a Operands<T>) -> Self {
        Self { case: *case, operands, c: vec![T::Theirs::tropical_zero(); case.m * case.n] }
    }
}

impl<T: Tropical> Contender for TropicalGemm<'_, T> {
    fn name(&self) -> &str {
        "tropical-gemm"
    }

    fn run(&mut self, repetitions: u32) -> Result<f64> {
        let (Case { m, n, k, .. }, x) = (self.case, self.operands);
        let transpose = |stored| match stored {
            Stored::Plain => Transpose::NoTrans,
            Stored::Transposed => Transpose::Trans,
        };
        let start = std::time::Instant::now();
        for _ in 0..repetitions {
            // SAFETY: shapes and leading dimensions are those of the operands and of C.
            unsafe {
                tropical_gemm::simd::tropical_gemm_dispatch::<T::Theirs>(
                    m,
                    n,
                    k,
                    x.a.ptr(),
                    x.a.leading(),
                    transpose(x.a.stored),
                    x.b.ptr(),
                    x.b.leading(),
                    transpose(x.b.stored),
                    self.c.as_mut_ptr(),
                    n,
                );
            }
            std::hint::black_box(&mut self.c);
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(repetitions))
    }

    fn result(&mut self) -> Result<Vec<f64>> {
        Ok(self.c.iter().map(|x| x.value().value()).collect())
    }
}
