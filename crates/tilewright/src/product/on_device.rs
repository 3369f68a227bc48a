//! Products by the kernels of a GPU, and what follows where these fail.

use super::Product;
use crate::{
    backend::Backend,
    choice::Choice,
    device::{self, Beside, Device, Failure},
    options::Report,
};
use tilewright_core::{Error, MatMut, Semiring, Update};

/// C, and the arg result where one is wanted.
type Results<'a, S> = (MatMut<'a, <S as Semiring>::Out>, Option<MatMut<'a, u32>>);

impl<S: Semiring> Product<'_, S> {
    /// The product by the GPU, or by this processor where nobody asked for the GPU and it fails.
    pub(super) fn on_gpu(
        &self,
        choice: &Choice,
        c: MatMut<'_, S::Out>,
        arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        let kernel = |c: MatMut<'_, S::Out>, arg: Option<MatMut<'_, u32>>| {
            self.run_kernel(Device::Present, c, arg, update)
        };
        let report = self.or_here(choice, c, arg, update, kernel)?;
        if report.backend == Backend::Cuda {
            self.tell_progress();
        }
        Ok(report)
    }

    #[cfg(feature = "emulator")]
    pub(super) fn on_emulator(
        &self,
        c: MatMut<'_, S::Out>,
        arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        self.run_kernel(Device::Emulated, c, arg, update).map_err(|failure| failure.error)
    }

    /// What `kernel` computes; if it fails and nobody asked for it, what this processor does, as long as the old C is there to be
    /// read or does not matter.
    fn or_here(
        &self,
        choice: &Choice,
        c: MatMut<'_, S::Out>,
        arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
        kernel: impl FnOnce(MatMut<'_, S::Out>, Option<MatMut<'_, u32>>) -> Result<Report, Failure>,
    ) -> Result<Report, Error> {
        let mut results = (c, arg);
        let there = |(c, arg): &mut Results<'_, S>| kernel(c.reborrow(), arg.as_mut().map(MatMut::reborrow));
        let here = |(c, arg): &mut Results<'_, S>| {
            self.here(c.reborrow(), arg.as_mut().map(MatMut::reborrow), update)
        };
        choice.carry_out(&mut results, update.reads_c(), there, here)
    }

    fn run_kernel(
        &self,
        device: Device,
        c: MatMut<'_, S::Out>,
        arg: Option<MatMut<'_, u32>>,
        update: &Update<S>,
    ) -> Result<Report, Failure> {
        let beside = Beside { epilogue: self.epilogue, scales: self.scales };
        device::multiply(device, c, arg, (self.a, self.b), update, beside, &self.options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{choice::Otherwise, device::Target, product::tests::matrix};
    use tilewright_core::{ErrorKind, MinPlus};

    /// A GPU that was chosen for its speed, or asked for.
    fn gpu(otherwise: Otherwise) -> Choice {
        Choice { backend: Backend::Cuda, why: "it is faster".into(), otherwise }
    }

    fn full() -> Error {
        ErrorKind::OutOfMemory { what: "the device", bytes: 1 }.into()
    }

    #[test]
    fn where_the_gpu_fails_the_processor_computes_and_says_why() {
        let (a, b) = (matrix(13, 7), matrix(7, 9));
        let product = Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref()).unwrap();
        for update in [Update::Replace, Update::Accumulate] {
            let (mut c, mut wanted) = (matrix(13, 9), matrix(13, 9));
            product.backend(Backend::Reference).run(wanted.as_mut(), None, &update).unwrap();
            let fails = |_: MatMut<'_, f32>, _: Option<MatMut<'_, u32>>| Err(full().into());
            let report = product.or_here(&gpu(Otherwise::Here), c.as_mut(), None, &update, fails).unwrap();
            assert_eq!((report.backend, c.as_ref()), (Backend::Cpu, wanted.as_ref()));
            assert!(
                report.why.to_string().starts_with("it is faster; the processor computed it"),
                "{}",
                report.why
            );
            assert!(report.why.to_string().contains("the device"), "{}", report.why);
        }
    }

    #[test]
    fn a_gpu_that_was_asked_for_fails_by_itself() {
        let a = matrix(4, 4);
        let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
        let mut c = matrix(4, 4);
        let fails = |_: MatMut<'_, f32>, _: Option<MatMut<'_, u32>>| Err(full().into());
        let error =
            product.or_here(&gpu(Otherwise::Nowhere), c.as_mut(), None, &Update::Replace, fails).unwrap_err();
        assert_eq!((error.code(), c.as_ref()), ("out-of-memory", a.as_ref()));
    }

    #[test]
    fn a_c_that_was_overwritten_is_computed_anew_only_where_it_is_not_read() {
        let a = matrix(4, 4);
        let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
        let half_written = |mut c: MatMut<'_, f32>, _: Option<MatMut<'_, u32>>| {
            c.fill(f32::NAN);
            Err(Failure { error: full(), c: Target::Lost })
        };
        let mut c = matrix(4, 4);
        product.or_here(&gpu(Otherwise::Here), c.as_mut(), None, &Update::Replace, half_written).unwrap();
        assert_eq!(c.as_ref(), product.compute().unwrap().as_ref());
        let lost =
            product.or_here(&gpu(Otherwise::Here), c.as_mut(), None, &Update::Accumulate, half_written);
        assert_eq!(lost.unwrap_err().code(), "out-of-memory");
    }

    /// As on a machine whose GPU is chosen and cannot be opened. Where there is one, it computes.
    #[test]
    fn an_automatic_choice_never_fails_for_want_of_a_gpu() {
        let a = matrix(9, 9);
        let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap();
        let (mut c, update) = (matrix(9, 9), Update::Replace);
        let present = |c: MatMut<'_, f32>, arg: Option<MatMut<'_, u32>>| {
            product.run_kernel(Device::Present, c, arg, &update)
        };
        let report = product.or_here(&gpu(Otherwise::Here), c.as_mut(), None, &update, present).unwrap();
        assert_eq!(c.as_ref(), product.backend(Backend::Reference).compute().unwrap().as_ref());
        assert_eq!(
            report.backend == Backend::Cpu,
            report.why.to_string().contains("the processor computed it")
        );
    }
}
