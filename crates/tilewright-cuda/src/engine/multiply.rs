//! Products of matrices that stay on the device, by the kernel that is the fastest.

use super::in_place::MOST_ALIGNMENT;
use super::product::{Beside, With};
use super::{Engine, Prepared};
use crate::device::{DeviceMut, DeviceRef, DynDeviceMatrix};
use tilewright_core::{
    Activation, Epilogue, Error, Joining, Layout, Math, Problem, Scales, SemiringId, Value,
};
use tilewright_kernels::{Alignment, Batch, Kernel, Request, Selection, UserSemiring, Variant, select};

/// What is to be computed between matrices on a device.
///
/// ```
/// use tilewright_core::{Joining, SemiringId, Value};
/// use tilewright_cuda::DeviceProduct;
/// let shorter = DeviceProduct::new(SemiringId::MinPlus).joining(Joining::Accumulate);
/// let blend = DeviceProduct::new(SemiringId::PlusTimes).joining(Joining::<Value>::scale(0.5, 2.0));
/// assert_ne!(shorter, blend);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceProduct {
    semiring: SemiringId,
    own: Option<UserSemiring>,
    joining: Joining<Value>,
    math: Math,
    epilogue: Epilogue<isize>,
    scales: Scales<Layout>,
    batch: Batch,
    arg: bool,
}

impl DeviceProduct {
    /// `C = A ⊗ B`, once.
    pub const fn new(semiring: SemiringId) -> Self {
        Self {
            semiring,
            own: None,
            joining: Joining::Replace,
            math: Math::Full,
            epilogue: Epilogue { bias: None, activation: Activation::None },
            scales: Scales::NONE,
            batch: Batch::ONE,
            arg: false,
        }
    }

    /// `C = A ⊗ B`, once, over a semiring of the user's, which has no factors.
    ///
    /// ```
    /// use tilewright_core::{DType, Layout, MatRef};
    /// use tilewright_cuda::{DeviceProduct, Engine};
    /// use tilewright_kernels::UserSemiring;
    /// # let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// # let engine = Engine::emulated(gpu.into())?;
    /// let widest = UserSemiring::of_expressions(&"add=max(x,y); mul=min(x,y); zero=-inf".parse()?, DType::F32)?;
    /// let l = Layout::row_major(2, 2);
    /// let roads = engine.upload(MatRef::new(&[9.0f32, 3.0, 1.0, 9.0], l)?)?;
    /// let mut steps = engine.zeros::<f32>(l)?;
    /// match engine.multiply(&DeviceProduct::with_own(widest), &roads, &roads, &mut steps) {
    ///     Ok(_) => assert_eq!(steps.to_matrix()?.as_slice(), [9.0, 3.0, 1.0, 9.0]),
    ///     Err(error) => assert!(error.is_unavailable()), // no NVRTC
    /// }
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    pub fn with_own(own: UserSemiring) -> Self {
        let Variant { semiring, own, .. } = own.variant();
        Self { own, ..Self::new(semiring) }
    }

    /// The same, joined with the old C.
    #[must_use]
    pub const fn joining(self, joining: Joining<Value>) -> Self {
        Self { joining, ..self }
    }

    /// The same with another arithmetic of plus-times on f32.
    #[must_use]
    pub const fn math(self, math: Math) -> Self {
        Self { math, ..self }
    }

    /// The same, followed by an activation and, where it is [given](Engine::multiply_with_bias), a bias, for plus-times on floats. The bias is told here by the distance of
    /// its elements, which [`Engine::multiply_with_bias`] finds by itself.
    #[must_use]
    pub const fn epilogue(self, epilogue: Epilogue<isize>) -> Self {
        Self { epilogue, ..self }
    }

    /// The same with A and B multiplied by scales that lie so, matrices of f32 of which [`Scales`] tells what their shapes mean: plus-times on floats of 8 bits alone has them, one
    /// product at a time. [`Engine::multiply_with`] takes this from its scales.
    #[must_use]
    pub const fn scales(self, scales: Scales<Layout>) -> Self {
        Self { scales, ..self }
    }

    /// The same for several A, B and C: those that are given are the first ones, and the batch says how far it is to the next in the
    /// same memory.
    #[must_use]
    pub const fn batch(self, batch: Batch) -> Self {
        Self { batch, ..self }
    }

    /// The same with the winning terms, for semirings that select one: see [`Engine::multiply_with_arg`].
    #[must_use]
    pub const fn with_arg(self) -> Self {
        Self { arg: true, ..self }
    }
}

impl Engine {
    /// Computes a product of matrices on this device, with any strides; nothing is transferred. The kernel is the one that is the fastest by its
    /// estimate, or that `tilewright tune` has found; without NVRTC it is the plain program that comes with the catalogue. Returns before the
    /// device has finished. What was chosen and compiled is kept: the same product with other addresses costs a look-up. What is returned can be run again on
    /// the same layouts.
    ///
    /// Elements are not looked at: those that the semiring does not contain, such as negative numbers in max-times, have results without a
    /// meaning.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, DeviceRef, Engine};
    /// # let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// # let engine = Engine::emulated(gpu.into())?;
    /// let l = Layout::row_major(3, 3);
    /// let roads = engine.upload(MatRef::new(&[0, 3, 99, 3, 0, 4, 99, 4, 0], l)?)?;
    /// let mut distance = engine.zeros::<i32>(l)?;
    /// engine.multiply(&DeviceProduct::new(SemiringId::MinPlus), &roads, &roads, &mut distance)?;
    /// assert_eq!(distance.to_matrix()?.as_slice(), [0, 3, 7, 3, 0, 4, 7, 4, 0]);
    /// // The first row alone, of the transpose.
    /// let row = DeviceRef::from(&distance).t().window(0, 0, 1, 3)?;
    /// let mut steps = engine.zeros::<i32>(Layout::row_major(1, 3))?;
    /// engine.multiply(&DeviceProduct::new(SemiringId::MinPlus), row, &roads, &mut steps)?;
    /// assert_eq!(steps.to_matrix()?.as_slice(), [0, 3, 7]);
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch` for shapes, `dtype-mismatch` where A and B differ or C cannot hold the result, `unsupported` for
    /// matrices of another engine and for what no kernel computes, `out-of-bounds` and `aliased` for a batch that the memory does not hold,
    /// and all that [`Engine::prepare`] and a launch can fail with.
    pub fn multiply<'a>(
        &self,
        product: &DeviceProduct,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
    ) -> Result<Prepared, Error> {
        let (a, b, c) = (a.into(), b.into(), c.into());
        let prepared = self.prepare_product(product, (a, b, c.as_ref()))?;
        prepared.run_on(a, b, c)?;
        Ok(prepared)
    }

    /// As [`Engine::multiply`], with the smallest `k` whose term each result is, or -1 for none: 32-bit integers by rows, those of a batch one matrix after
    /// another.
    ///
    /// ```
    /// use tilewright_core::{Layout, MatRef, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, Engine};
    /// # let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// # let engine = Engine::emulated(gpu.into())?;
    /// let l = Layout::row_major(3, 3);
    /// let roads = engine.upload(MatRef::new(&[0, 3, 99, 3, 0, 4, 99, 4, 0], l)?)?;
    /// let (mut distance, mut via) = (engine.zeros::<i32>(l)?, engine.zeros::<i32>(l)?);
    /// let product = DeviceProduct::new(SemiringId::MinPlus);
    /// match engine.multiply_with_arg(&product, &roads, &roads, &mut *distance, &mut via) {
    ///     Ok(_) => assert_eq!(via.to_matrix()?.as_slice(), [0, 0, 1, 0, 1, 1, 1, 1, 2]),
    ///     Err(error) => assert!(error.is_unavailable()), // no NVRTC
    /// }
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::multiply`]; `unsupported` for a semiring that selects no term, one of the user's, and factors.
    pub fn multiply_with_arg<'a>(
        &self,
        product: &DeviceProduct,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
        arg: &mut DynDeviceMatrix,
    ) -> Result<Prepared, Error> {
        let (a, b, c) = (a.into(), b.into(), c.into());
        let prepared = self.prepare_product(&product.with_arg(), (a, b, c.as_ref()))?;
        prepared.run_all(a, b, c, Beside { with: With::default(), arg: Some(arg) })?;
        Ok(prepared)
    }

    /// As [`Engine::multiply`], with a bias: an element of C's type is added to all of its column before the [activation](DeviceProduct::epilogue), in each product of a
    /// batch. The bias is a matrix of one row or of one column.
    ///
    /// ```
    /// use tilewright_core::{Activation, Epilogue, Layout, MatRef, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, Engine};
    /// # let gpu = tilewright_arch::Device::find("a6000").unwrap();
    /// # let engine = Engine::emulated(gpu.into())?;
    /// let (l, row) = (Layout::row_major(2, 2), Layout::row_major(1, 2));
    /// let x = engine.upload(MatRef::new(&[1.0f32, 2.0, 3.0, -4.0], l)?)?;
    /// let bias = engine.upload(MatRef::new(&[0.5f32, -20.0], row)?)?;
    /// let mut y = engine.zeros::<f32>(l)?;
    /// let epilogue = Epilogue { bias: None, activation: Activation::Relu };
    /// let product = DeviceProduct::new(SemiringId::PlusTimes).epilogue(epilogue);
    /// match engine.multiply_with_bias(&product, &x, &x, &mut y, &bias) {
    ///     Ok(_) => assert_eq!(y.to_matrix()?.as_slice(), [7.5, 0.0, 0.0, 2.0]),
    ///     Err(error) => assert!(error.is_unavailable()), // no NVRTC
    /// }
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::multiply`]; `unsupported` outside of plus-times on floats, `dtype-mismatch` and `result-mismatch` for a bias of another type or length.
    pub fn multiply_with_bias<'a>(
        &self,
        product: &DeviceProduct,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
        bias: impl Into<DeviceRef<'a>>,
    ) -> Result<Prepared, Error> {
        self.multiply_with(product, a, b, c, With { bias: Some(bias.into()), scales: Scales::NONE })
    }

    /// As [`Engine::multiply`], with a bias as [`Engine::multiply_with_bias`] takes it, and with scales of A and B, whose shapes tell what they are for:
    /// see [`Scales`].
    ///
    /// ```
    /// use tilewright_core::{E4m3, Layout, MatRef, Scales, SemiringId};
    /// use tilewright_cuda::{DeviceProduct, Engine, With};
    /// # let engine = Engine::emulated(tilewright_arch::Gpu::default())?;
    /// let (l, column) = (Layout::row_major(2, 2), Layout::row_major(2, 1));
    /// let x = engine.upload(MatRef::new(&[1.0, 2.0, 3.0, -4.0].map(E4m3::from_f32), l)?)?;
    /// let of_rows = engine.upload(MatRef::new(&[10.0f32, 0.5], column)?)?;
    /// let mut y = engine.zeros::<f32>(l)?;
    /// let scales = Scales { a: Some((&of_rows).into()), b: None };
    /// match engine.multiply_with(&DeviceProduct::new(SemiringId::PlusTimes), &x, &x, &mut y, With { bias: None, scales }) {
    ///     Ok(_) => assert_eq!(y.to_matrix()?.as_slice(), [70.0, -60.0, -4.5, 11.0]),
    ///     Err(error) => assert!(error.is_unavailable()), // no NVRTC
    /// }
    /// # Ok::<(), tilewright_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Engine::multiply_with_bias`]; `unsupported` for scales outside of plus-times on floats of 8 bits, and on GPUs without tensor cores for these; `dtype-mismatch` for
    /// scales that are not f32, and `result-mismatch` for other shapes.
    pub fn multiply_with<'a>(
        &self,
        product: &DeviceProduct,
        a: impl Into<DeviceRef<'a>>,
        b: impl Into<DeviceRef<'a>>,
        c: impl Into<DeviceMut<'a>>,
        with: With<'a>,
    ) -> Result<Prepared, Error> {
        let (a, b, c) = (a.into(), b.into(), c.into());
        let problem = Problem::new(a.layout(), b.layout(), c.as_ref().layout())?;
        let stride = |bias: DeviceRef<'_>| Ok::<_, Error>(problem.bias_layout(bias.layout())?.col_stride);
        let bias = with.bias.map(stride).transpose()?;
        let scales = with.scales.map(|one| one.layout());
        let product = product.epilogue(Epilogue { bias, ..product.epilogue }).scales(scales);
        let prepared = self.prepare_product(&product, (a, b, c.as_ref()))?;
        prepared.run_all(a, b, c, Beside { with, arg: None })?;
        Ok(prepared)
    }

    fn prepare_product(
        &self,
        product: &DeviceProduct,
        (a, b, c): (DeviceRef<'_>, DeviceRef<'_>, DeviceRef<'_>),
    ) -> Result<Prepared, Error> {
        let request = self.request_of(product, a, b, c)?;
        self.prepare_chosen(&self.chosen(request, None)?)
    }

    /// What is asked for by a product of these matrices.
    pub(super) fn request_of(
        &self,
        product: &DeviceProduct,
        a: DeviceRef<'_>,
        b: DeviceRef<'_>,
        c: DeviceRef<'_>,
    ) -> Result<Request, Error> {
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        let semiring = product.own.is_none().then_some(product.semiring);
        let name = product.own.map_or(product.semiring.name(), |own| own.name());
        product.epilogue.check(semiring, name, c.dtype())?;
        product.scales.check(semiring, name, a.dtype())?;
        product.scales.of(&problem)?;
        let [a_to, b_to, c_to] = [a, b, c].map(|matrix| matrix.alignment().min(MOST_ALIGNMENT));
        let request = Request { own: product.own, ..Request::new(problem, product.semiring, a.dtype()) };
        Ok(Request {
            joining: product.joining,
            math: product.math,
            epilogue: product.epilogue,
            scales: product.scales,
            batch: product.batch,
            alignment: Alignment { a: a_to, b: b_to, c: c_to },
            gpu: self.gpu(),
            arg: product.arg,
            arg_by_rows: product.arg,
            ..request.giving(c.dtype())?
        })
    }

    /// The fastest recipe whose code can be had, of one kernel or of all.
    ///
    /// # Errors
    /// As [`select`].
    pub fn select(&self, request: Request, kernel: Option<&'static Kernel>) -> Result<Selection, Error> {
        select(&self.tuned(request), kernel, &|program| self.can_make(program))
    }
}
