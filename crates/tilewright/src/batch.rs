//! Many products of one shape.

#[cfg(feature = "cuda")]
use crate::device::{self, Device};
use crate::{
    backend::Backend,
    choice,
    options::{Options, Ran, Report},
    plan::Results,
    product::Product,
};
use std::time::Instant;
use tilewright_core::{
    BatchMut, BatchRef, DynRef, Epilogue, Error, ErrorKind, Finish, Layout, MatRef, Problem, Ring, Semiring,
    Update, domain,
};

/// The products `C_t = A_t ⊗ B_t` of equally many, equally shaped matrices over the semiring `S`.
///
/// ```
/// use tilewright::{BatchMut, BatchProduct, BatchRef, Layout, MaxPlus};
/// let l = Layout::row_major(1, 1);
/// let (a, b) = ([1, 2, 3], [10]);
/// let mut c = [0; 3];
/// let a = BatchRef::new(&a, l, 3, 1)?;
/// let b = BatchRef::new(&b, l, 3, 0)?; // one matrix, three times
/// BatchProduct::<MaxPlus<i32>>::new(a, b)?.write_to(&mut BatchMut::new(&mut c, l, 3, 1)?)?;
/// assert_eq!(c, [11, 12, 13]);
/// # Ok::<(), tilewright::Error>(())
/// ```
pub struct BatchProduct<'a, S: Semiring> {
    a: BatchRef<'a, S::Elem>,
    b: BatchRef<'a, S::Elem>,
    epilogue: Epilogue<DynRef<'a>>,
    options: Options<'a>,
}

impl<'a, S: Semiring> BatchProduct<'a, S> {
    /// The products of m x k and k x n matrices.
    ///
    /// # Errors
    /// `inner-mismatch` when an A has not as many columns as a B has rows.
    pub fn new(a: BatchRef<'a, S::Elem>, b: BatchRef<'a, S::Elem>) -> Result<Self, Error> {
        let c = Layout::row_major(a.layout().rows, b.layout().cols);
        Problem::new(a.layout(), b.layout(), c)?;
        Ok(Self { a, b, epilogue: Epilogue::default(), options: Options::default() })
    }

    /// Follows each product by the same bias and activation: see [`Product::epilogue`].
    ///
    /// # Errors
    /// As [`Product::epilogue`].
    pub fn epilogue(mut self, epilogue: Epilogue<DynRef<'a>>) -> Result<Self, Error> {
        let c = Layout::row_major(self.a.layout().rows, self.b.layout().cols);
        let problem = Problem::new(self.a.layout(), self.b.layout(), c)?;
        Finish::<S>::new(&Update::Replace, epilogue, &problem)?;
        self.epilogue = epilogue;
        Ok(self)
    }

    /// Replaces the choices of backend, threads and progress.
    #[must_use]
    pub fn options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    /// `C_t = A_t ⊗ B_t`.
    ///
    /// # Errors
    /// As [`Product::write_to`]; `batch-mismatch` when A, B and C are not equally many.
    pub fn write_to(&self, c: &mut BatchMut<'_, S::Out>) -> Result<Report, Error> {
        self.run(c, &Update::Replace)
    }

    /// `C_t = C_t ⊕ A_t ⊗ B_t`.
    ///
    /// # Errors
    /// As [`BatchProduct::write_to`].
    pub fn accumulate_into(&self, c: &mut BatchMut<'_, S::Out>) -> Result<Report, Error> {
        self.run(c, &Update::Accumulate)
    }

    pub(crate) fn run(&self, c: &mut BatchMut<'_, S::Out>, update: &Update<S>) -> Result<Report, Error> {
        let counts = (self.a.count(), self.b.count(), c.count());
        if counts.0 != counts.1 || counts.1 != counts.2 {
            return Err(ErrorKind::BatchMismatch { a: counts.0, b: counts.1, c: counts.2 }.into());
        }
        Problem::new(self.a.layout(), self.b.layout(), c.layout())?;
        let copies = [self.a.stride(), self.b.stride(), 1].map(|next| if next == 0 { 1 } else { counts.0 });
        let layouts = (self.a.layout(), self.b.layout());
        let choice = choice::choose_of::<S>(&self.options, layouts, copies, Results::Product)?;
        if matches!(choice.backend, Backend::Reference | Backend::Cuda | Backend::Emulator) {
            // As on the CPU: all is well, or nothing is written.
            each(self.a).try_for_each(|a| domain::check_operand::<S>("A", a))?;
            each(self.b).try_for_each(|b| domain::check_operand::<S>("B", b))?;
        }
        #[cfg(feature = "cuda")]
        if let Some(device) = Device::of(choice.backend).filter(|_| c.count() > 0) {
            let there = |c: &mut BatchMut<'_, S::Out>| {
                device::multiply_batch(device, c, (self.a, self.b), update, self.epilogue, &self.options)
            };
            return choice.carry_out(c, update.reads_c(), there, |c| self.here(c, update));
        }
        match choice.backend {
            Backend::Cpu => Ok(Report { why: choice.why, ..self.here(c, update)? }),
            backend => Ok(Report { backend, ..self.by_definition(c, update)? }),
        }
    }

    /// The products by this processor.
    fn here(&self, c: &mut BatchMut<'_, S::Out>, update: &Update<S>) -> Result<Report, Error> {
        let start = Instant::now();
        let options = tilewright_cpu::Options { epilogue: self.epilogue, ..self.options.cpu() };
        let report = tilewright_cpu::multiply_batch(c, self.a, self.b, update, &options)?;
        let (kernel, threads) = report.map_or((NONE, 0), |r| (r.kernel.into(), r.threads));
        Ok(Report::here(Backend::Cpu, kernel, threads, start))
    }

    /// The products by the definition, one after another.
    fn by_definition(&self, c: &mut BatchMut<'_, S::Out>, update: &Update<S>) -> Result<Report, Error> {
        let (start, mut kernel) = (Instant::now(), NONE);
        for ((a, b), c) in each(self.a).zip(each(self.b)).zip(c.iter_mut()) {
            let product = Product::<S>::new(a, b)?.options(self.options).epilogue(self.epilogue)?;
            kernel = product.run(c, None, update)?.kernel;
        }
        Ok(Report::here(Backend::Reference, kernel, 1, start))
    }
}

impl<S: Ring> BatchProduct<'_, S> {
    /// `C_t = alpha A_t B_t + beta C_t`.
    ///
    /// # Errors
    /// As [`BatchProduct::write_to`].
    pub fn scale_into(
        &self,
        alpha: S::Acc,
        beta: S::Acc,
        c: &mut BatchMut<'_, S::Out>,
    ) -> Result<Report, Error> {
        self.run(c, &Update::scale(alpha, beta))
    }
}

/// What ran for a batch without products.
pub(crate) const NONE: Ran = Ran::Named("none: an empty batch");

fn each<T>(batch: BatchRef<'_, T>) -> impl Iterator<Item = MatRef<'_, T>> {
    (0..batch.count()).filter_map(move |t| batch.get(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_core::PlusTimes;

    #[test]
    fn backends_agree_and_counts_are_checked() {
        let data: Vec<i32> = (0..24).collect();
        let l = Layout::row_major(2, 2);
        let (a, b) = (BatchRef::new(&data, l, 6, 4).unwrap(), BatchRef::new(&data, l.t(), 6, 4).unwrap());
        let product = BatchProduct::<PlusTimes<i32>>::new(a, b).unwrap();
        let mut fast = [7; 24];
        product.scale_into(2, 3, &mut BatchMut::new(&mut fast, l, 6, 4).unwrap()).unwrap();
        let mut slow = [7; 24];
        let options = Options { backend: Backend::Reference, ..Options::default() };
        let product = product.options(options);
        product.scale_into(2, 3, &mut BatchMut::new(&mut slow, l, 6, 4).unwrap()).unwrap();
        assert_eq!(fast, slow);
        let wrong = product.write_to(&mut BatchMut::new(&mut fast, l, 5, 4).unwrap());
        assert_eq!(wrong.unwrap_err().code(), "batch-mismatch");
    }
}
