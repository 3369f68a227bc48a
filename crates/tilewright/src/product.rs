//! Products of matrices whose element type is known at compile time.

#[cfg(feature = "cuda")]
mod on_device;

use crate::{
    backend::Backend,
    choice,
    options::{Options, Report},
    plan::Results,
};
use core::fmt;
use std::time::Instant;
use tilewright_core::{
    Cancel, DynRef, Epilogue, Error, Factors, Finish, Granularity, MatMut, MatRef, Matrix, NO_ARG, Problem,
    Ring, Scales, Semiring, Update, domain, reference,
};

/// The product `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]` of an m x k and a k x n matrix over the semiring `S`.
///
/// Nothing is computed until one of the finishing methods is called, and each may be called repeatedly.
///
/// ```
/// use tilewright::{Layout, MatRef, PlusTimes, Product};
/// let a = [1.0, 2.0, 3.0, 4.0];
/// let a = MatRef::new(&a, Layout::row_major(2, 2))?;
/// let c = Product::<PlusTimes<f64>>::new(a, a.t())?.threads(1).compute()?;
/// assert_eq!(c.as_slice(), [5.0, 11.0, 11.0, 25.0]);
/// # Ok::<(), tilewright::Error>(())
/// ```
///
/// Any [`Semiring`] will do, the user's own included:
///
/// ```
/// use tilewright::{Matrix, Product, Semiring};
/// #[derive(Clone, Copy)]
/// struct Modulo7;
/// impl Semiring for Modulo7 {
///     type Elem = u8;
///     type Acc = u8;
///     type Out = u8;
///     const NAME: &'static str = "modulo-7";
///     const ZERO: u8 = 0;
///     const ONE: u8 = 1;
///     fn add(x: u8, y: u8) -> u8 { (x + y) % 7 }
///     fn mul_add(acc: u8, a: u8, b: u8) -> u8 { (acc + a * b) % 7 }
///     fn finish(acc: u8) -> u8 { acc }
///     fn resume(out: u8) -> u8 { out }
/// }
/// let a = Matrix::from_fn(3, 3, |i, j| (i + j) as u8)?;
/// let c = Product::<Modulo7>::new(a.as_ref(), a.as_ref())?.compute()?;
/// assert_eq!(c.as_slice(), [5, 1, 4, 1, 0, 6, 4, 6, 1]);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub struct Product<'a, S: Semiring> {
    a: MatRef<'a, S::Elem>,
    b: MatRef<'a, S::Elem>,
    epilogue: Epilogue<DynRef<'a>>,
    scales: Scales<DynRef<'a>>,
    options: Options<'a>,
}

impl<S: Semiring> Clone for Product<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S: Semiring> Copy for Product<'_, S> {}

impl<'a, S: Semiring> Product<'a, S> {
    /// The product of A (m x k) and B (k x n), any strides: views, or references to whatever becomes one.
    ///
    /// ```
    /// use tilewright::{MatRef, Matrix, PlusTimes, Product};
    /// let a = Matrix::from([[1.0, 2.0], [3.0, 4.0]]);
    /// let x = [5.0, 6.0];
    /// let y = Product::<PlusTimes<f64>>::new(&a, MatRef::column(&x))?.compute()?;
    /// assert_eq!(y.into_vec(), [17.0, 39.0]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `inner-mismatch` when A has not as many columns as B has rows.
    pub fn new(a: impl Into<MatRef<'a, S::Elem>>, b: impl Into<MatRef<'a, S::Elem>>) -> Result<Self, Error> {
        let (a, b) = (a.into(), b.into());
        let c = tilewright_core::Layout::row_major(a.rows(), b.cols());
        Problem::new(a.layout(), b.layout(), c)?;
        let (epilogue, scales, options) = (Epilogue::default(), Scales::NONE, Options::default());
        Ok(Self { a, b, epilogue, scales, options })
    }

    /// Follows the product by a bias and an activation: `C = activation(alpha A B + beta C + bias)`, for plus-times on floats.
    ///
    /// The bias has an element of C's type for each column of C. All is computed in the type of the sums, and rounded once.
    ///
    /// ```
    /// use tilewright::{Activation, Epilogue, MatRef, Matrix, PlusTimes, Product};
    /// let (x, w) = (Matrix::from([[1.0f32, -1.0]]), Matrix::from([[2.0, 1.0], [1.0, 3.0]]));
    /// let bias = [0.5f32, 1.0];
    /// let epilogue = Epilogue { bias: Some(MatRef::row(&bias).into()), activation: Activation::Relu };
    /// let y = Product::<PlusTimes<f32>>::new(&x, &w)?.epilogue(epilogue)?.compute()?;
    /// assert_eq!(y, Matrix::from([[1.5, 0.0]]));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` for another semiring and for integers; `dtype-mismatch` and `result-mismatch` for a bias of another type or length.
    pub fn epilogue(mut self, epilogue: Epilogue<DynRef<'a>>) -> Result<Self, Error> {
        let c = tilewright_core::Layout::row_major(self.a.rows(), self.b.cols());
        let problem = Problem::new(self.a.layout(), self.b.layout(), c)?;
        Finish::<S>::new(&Update::Replace, epilogue, &problem)?;
        self.epilogue = epilogue;
        Ok(self)
    }

    /// Multiplies A and B by scales first, those of floats of 8 bits: one number for all, for each row of A and column of B, or for blocks of 128 terms of
    /// one or of 128 of them. Their shapes tell which: see [`Scales`].
    ///
    /// ```
    /// use tilewright::{E4m3, MatRef, Matrix, PlusTimes, Product, Scales};
    /// let a = Matrix::from([[1.0, 2.0], [3.0, 4.0]].map(|row| row.map(E4m3::from_f32)));
    /// let (of_rows, of_b) = ([10.0f32, 0.5], [2.0f32]);
    /// let scales = Scales { a: Some(MatRef::column(&of_rows).into()), b: Some(MatRef::row(&of_b).into()) };
    /// let c = Product::<PlusTimes<E4m3>>::new(&a, &a)?.scales(scales)?.compute()?;
    /// assert_eq!(c, Matrix::from([[140.0, 200.0], [15.0, 22.0]]));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// `unsupported` for other semirings and elements; `dtype-mismatch` for scales that are not f32, and `result-mismatch` for other shapes.
    pub fn scales(mut self, scales: Scales<DynRef<'a>>) -> Result<Self, Error> {
        let c = tilewright_core::Layout::row_major(self.a.rows(), self.b.cols());
        let problem = Problem::new(self.a.layout(), self.b.layout(), c)?;
        if !scales.is_none() {
            scales.singles::<S>()?;
            Factors::new(scales, &problem)?;
        }
        self.scales = scales;
        Ok(self)
    }

    /// Computes on this backend; [`Backend::Auto`] unless called.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = backend;
        self
    }

    /// Uses at most this many threads; 0, the default, takes as many as the product can occupy.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Ends early when another thread says so; see [`Options::cancel`].
    ///
    /// ```
    /// use tilewright::{Cancel, Matrix, MinPlus, Product};
    /// let a = Matrix::filled(2000, 2000, 1.0)?;
    /// let stop = Cancel::new();
    /// let result = std::thread::scope(|threads| {
    ///     threads.spawn(|| stop.cancel());
    ///     Product::<MinPlus<f32>>::new(&a, &a)?.cancel(&stop).compute()
    /// });
    /// assert!(result.is_ok_and(|c| c[(0, 0)] == 2.0) || stop.is_cancelled());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    #[must_use]
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.options.cancel = Some(cancel);
        self
    }

    /// Replaces all choices at once.
    #[must_use]
    pub fn options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    /// `A ⊗ B` as a new row-major m x n matrix. With `k = 0` every element is the semiring's zero.
    ///
    /// # Errors
    /// `outside-domain` for an element that `S` does not admit, `unavailable` when the backend is missing,
    /// `environment` when a variable such as `TILEWRIGHT_FORCE_ISA` is wrong, `out-of-memory`, `cancelled`.
    pub fn compute(&self) -> Result<Matrix<S::Out>, Error> {
        let mut c = self.zeros()?;
        self.write_to(c.as_mut())?;
        Ok(c)
    }

    /// `A ⊗ B`, and for each element the smallest `k` whose term it is, or [`NO_ARG`] when no term is better
    /// than the semiring's zero.
    ///
    /// ```
    /// use tilewright::{Layout, MatRef, MaxPlus, Product};
    /// let a = MatRef::new(&[1, 5, 2], Layout::row_major(1, 3))?;
    /// let b = MatRef::new(&[4, 1, 4], Layout::row_major(3, 1))?;
    /// let (c, arg) = Product::<MaxPlus<i32>>::new(a, b)?.compute_with_arg()?;
    /// assert_eq!((c.as_slice(), arg.as_slice()), (&[6][..], &[1][..]));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Product::compute`]; `unsupported` when ⊕ is not selective or `k >= u32::MAX`.
    pub fn compute_with_arg(&self) -> Result<(Matrix<S::Out>, Matrix<u32>), Error> {
        let mut c = self.zeros()?;
        let mut arg = Matrix::filled(self.a.rows(), self.b.cols(), NO_ARG)?;
        self.run(c.as_mut(), Some(arg.as_mut()), &Update::Replace)?;
        Ok((c, arg))
    }

    /// `C = A ⊗ B` into an m x n matrix of any strides; what C held is not read.
    ///
    /// ```
    /// use tilewright::{Layout, MatMut, MatRef, PlusTimes, Product};
    /// let a = MatRef::new(&[1, 2, 3, 4], Layout::row_major(2, 2))?;
    /// let mut c = [0; 4];
    /// let transposed = MatMut::new(&mut c, Layout::col_major(2, 2))?;
    /// Product::<PlusTimes<i32>>::new(a, a)?.write_to(transposed)?;
    /// assert_eq!(c, [7, 15, 10, 22]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Product::compute`]; `result-mismatch` when C is not m x n. C is untouched on error, other than `out-of-memory` and
    /// `cancelled`, which leave it undefined.
    pub fn write_to<'c>(&self, c: impl Into<MatMut<'c, S::Out>>) -> Result<Report, Error>
    where
        S::Out: 'c,
    {
        self.run(c.into(), None, &Update::Replace)
    }

    /// `C = C ⊕ A ⊗ B`.
    ///
    /// ```
    /// use tilewright::{Layout, MatRef, Matrix, MinPlus, Product};
    /// let a = MatRef::new(&[2.0, 9.0], Layout::row_major(2, 1))?;
    /// let mut c = Matrix::filled(2, 2, 12.0)?;
    /// Product::<MinPlus<f64>>::new(a, a.t())?.accumulate_into(&mut c)?;
    /// assert_eq!(c.as_slice(), [4.0, 11.0, 11.0, 12.0]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Product::write_to`].
    pub fn accumulate_into<'c>(&self, c: impl Into<MatMut<'c, S::Out>>) -> Result<Report, Error>
    where
        S::Out: 'c,
    {
        self.run(c.into(), None, &Update::Accumulate)
    }

    /// The general form: C, and the arg result where one is wanted, for any [`Update`].
    ///
    /// With [`Update::Accumulate`] the arg result is [`NO_ARG`] where the old element of C stays.
    ///
    /// # Errors
    /// As [`Product::write_to`] and [`Product::compute_with_arg`]; an [`Update::Scale`] has no arg result.
    pub fn run(
        &self,
        c: MatMut<'_, S::Out>,
        arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        self.options.check_cancelled()?;
        if arg.is_some() {
            self.scales.check_absent("an arg result")?;
        }
        let (a, b) = (self.a, self.b);
        let results = if arg.is_some() { Results::ProductAndArg } else { Results::Product };
        let choice = choice::choose::<S>(&self.options, a.layout(), b.layout(), results)?;
        match (choice.backend, arg) {
            (Backend::Reference, arg) => {
                let start = Instant::now();
                self.by_definition(c, arg, update)?;
                Ok(Report::here(Backend::Reference, "reference".into(), 1, start))
            }
            #[cfg(feature = "cuda")]
            (Backend::Cuda, arg) => self.on_gpu(&choice, c, arg, update),
            #[cfg(feature = "emulator")]
            (Backend::Emulator, arg) => self.on_emulator(c, arg, update),
            // `choose` has refused a backend that was not compiled in.
            (_, arg) => Ok(Report { why: choice.why, ..self.here(c, arg, update)? }),
        }
    }

    /// The product by this processor.
    fn here(
        &self,
        c: MatMut<'_, S::Out>,
        arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        let Self { epilogue, scales, .. } = *self;
        let options = tilewright_cpu::Options { epilogue, scales, ..self.options.cpu() };
        let (a, b, start) = (self.a, self.b, Instant::now());
        let report = match arg {
            None => tilewright_cpu::multiply(c, a, b, update, &options)?,
            Some(arg) => tilewright_cpu::multiply_arg(c, arg, a, b, update, &options)?,
        };
        Ok(Report::here(Backend::Cpu, report.kernel.into(), report.threads, start))
    }

    /// The product by the definition, some rows at a time: between them it tells progress, and may end.
    fn by_definition(
        &self,
        mut c: MatMut<'_, S::Out>,
        mut arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
    ) -> Result<(), Error> {
        let (a, b) = (self.a, self.b);
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        if let Some(arg) = &arg {
            problem.check_arg(arg.layout(), update)?;
        }
        domain::check::<S>(a, b)?;
        let (m, n, k) = (problem.m(), problem.n(), problem.k());
        let terms = n.saturating_mul(k);
        let mut at_a_time = (TERMS_AT_A_TIME / terms.max(1)).max(ROWS_AT_A_TIME);
        if !self.scales.is_none() {
            at_a_time = at_a_time.next_multiple_of(Granularity::BLOCK);
        }
        // Without columns there is nothing to visit, however many rows there are.
        for row in (0..if n == 0 { 0 } else { m }).step_by(at_a_time) {
            self.options.check_cancelled()?;
            let rows = at_a_time.min(m - row);
            let (a, c) = (a.window(row, 0, rows, k)?, c.reborrow().window(row, 0, rows, n)?);
            match &mut arg {
                None => {
                    let scales = self.scales.of_rows(row, rows, &problem)?;
                    reference::multiply_scaled(c, a, b, update, self.epilogue, scales)?;
                }
                Some(arg) => {
                    let arg = arg.reborrow().window(row, 0, rows, n)?;
                    reference::multiply_arg(c, arg, a, b, update)?;
                }
            }
            if let Some(progress) = self.options.progress {
                progress(rows.saturating_mul(terms) as u64);
            }
        }
        Ok(())
    }

    /// All terms at once, for backends that do not count.
    #[cfg(feature = "cuda")]
    fn tell_progress(&self) {
        if let Some(progress) = self.options.progress {
            let (m, k, n) = (self.a.rows() as u64, self.a.cols() as u64, self.b.cols() as u64);
            progress(m.saturating_mul(k).saturating_mul(n));
        }
    }

    pub(crate) fn zeros(&self) -> Result<Matrix<S::Out>, Error> {
        Matrix::filled(self.a.rows(), self.b.cols(), S::finish(S::ZERO))
    }
}

/// Terms by the definition between two looks at whether to go on: some ten milliseconds.
const TERMS_AT_A_TIME: usize = 1 << 24;
/// As many rows at least: for each of these parts, B is looked through again.
const ROWS_AT_A_TIME: usize = 16;

impl<S: Ring> Product<'_, S> {
    /// `C = alpha A B + beta C`. With `beta = 0` the old C is not read, whatever it holds.
    ///
    /// ```
    /// use tilewright::{Layout, MatRef, Matrix, PlusTimes, Product};
    /// let a = MatRef::new(&[1.0f32, 2.0], Layout::row_major(1, 2))?;
    /// let mut c = Matrix::filled(1, 1, 100.0)?;
    /// Product::<PlusTimes<f32>>::new(a, a.t())?.scale_into(2.0, 0.5, c.as_mut())?;
    /// assert_eq!(c.as_slice(), [60.0]);
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Product::write_to`].
    pub fn scale_into<'c>(
        &self,
        alpha: S::Acc,
        beta: S::Acc,
        c: impl Into<MatMut<'c, S::Out>>,
    ) -> Result<Report, Error>
    where
        S::Out: 'c,
    {
        self.run(c.into(), None, &Update::scale(alpha, beta))
    }
}

impl<S: Semiring> fmt::Debug for Product<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Product")
            .field("semiring", &S::NAME)
            .field("a", &self.a.layout())
            .field("b", &self.b.layout())
            .field("epilogue", &self.epilogue.name())
            .field("scales", &self.scales.name())
            .field("options", &self.options)
            .finish()
    }
}

#[cfg(test)]
mod tests;
