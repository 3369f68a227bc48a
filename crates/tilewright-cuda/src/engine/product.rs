//! Products of matrices that live on the device, and exhibits between two arrays.

use super::operands::{self, Operand};
use super::plans::Binding;
use super::{Engine, Prepared};
use crate::device::{DeviceMatrix, DeviceMut, DeviceRef, DynDeviceMatrix};
use std::sync::Arc;
use tilewright_core::{Error, ErrorKind, Layout, MatRef, Problem, Scales, SemiringId};
use tilewright_kernels::{Alignment, Buffer, Kernel, Recipe, Request, Showing};

impl Engine {
    /// The request for `A ⊗ B` into C, for this device and these matrices: shapes, strides and alignments.
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch` for shapes, `dtype-mismatch` when C cannot hold the result.
    pub fn request(
        &self,
        semiring: SemiringId,
        a: &DynDeviceMatrix,
        b: &DynDeviceMatrix,
        c: &DynDeviceMatrix,
    ) -> Result<Request, Error> {
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        let alignment = Alignment { a: a.alignment(), b: b.alignment(), c: c.alignment() };
        let request = Request::new(problem, semiring, a.dtype()).giving(c.dtype())?;
        Ok(Request { alignment, gpu: self.gpu(), ..request })
    }

    /// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]` by one kernel of the catalogue. Returns before the device has finished.
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch` for shapes, `unsupported` for what the kernel does not do, `dtype-mismatch` when C
    /// cannot hold the result, and all that [`Engine::prepare`] and a launch can fail with.
    pub fn product(
        &self,
        kernel: &'static Kernel,
        semiring: SemiringId,
        a: &DynDeviceMatrix,
        b: &DynDeviceMatrix,
        c: &mut DynDeviceMatrix,
    ) -> Result<Prepared, Error> {
        let request = self.request(semiring, a, b, c)?;
        let prepared = self.prepare(kernel.recipe(&request)?)?;
        prepared.run(a, b, c)?;
        Ok(prepared)
    }

    /// Runs an exhibit of the gallery: its output for this input.
    ///
    /// # Errors
    /// `result-mismatch` when the input has not the exhibit's length; as [`Engine::prepare`].
    pub fn show(&self, showing: &Showing, input: &[f32]) -> Result<Vec<f32>, Error> {
        let expected = (showing.input(), input.len());
        if expected.0 != expected.1 {
            let (rows, cols, m, n) = (1, expected.1, 1, expected.0);
            return Err(ErrorKind::ResultMismatch { what: "the input", rows, cols, m, n }.into());
        }
        let input = self.upload(MatRef::new(input, Layout::row_major(1, input.len()))?)?;
        let output = self.zeros::<f32>(Layout::row_major(1, showing.output()))?;
        let prepared = self.prepare(showing.recipe().clone())?;
        let of = |role, matrix: &DeviceMatrix<f32>| (role, matrix.address(), matrix.bytes());
        // SAFETY: the exhibit names the lengths of its arrays, both are this engine's, and `to_matrix` waits for the work.
        unsafe { prepared.launch(&[of(Buffer::Input, &input), of(Buffer::Output, &output)])? };
        Ok(output.to_matrix()?.into_vec())
    }
}

impl Prepared {
    /// Runs the recipe on matrices of the types and with the layouts that it was made for. Returns before the device has finished.
    ///
    /// # Errors
    /// `unsupported` for matrices of another engine or with other layouts, `dtype-mismatch` for other elements, `out-of-bounds`
    /// and `aliased` for a batch that they do not hold, `device` when a launch fails.
    pub fn run(
        &self,
        a: &DynDeviceMatrix,
        b: &DynDeviceMatrix,
        c: &mut DynDeviceMatrix,
    ) -> Result<(), Error> {
        self.run_on(a.into(), b.into(), c.into())
    }

    /// As [`Prepared::run`], for a recipe whose request asks for arg results. They are written to a matrix of 32-bit integers that has the
    /// layout [`Request::arg_layout`] and holds all of a batch; [`NO_ARG`](tilewright_core::NO_ARG) is -1.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_with_arg(
        &self,
        a: &DynDeviceMatrix,
        b: &DynDeviceMatrix,
        c: &mut DynDeviceMatrix,
        arg: &mut DynDeviceMatrix,
    ) -> Result<(), Error> {
        self.run_all(a.into(), b.into(), c.into(), Beside { with: With::default(), arg: Some(arg) })
    }

    /// As [`Prepared::run`], for a recipe whose request asks for a bias.
    ///
    /// # Errors
    /// As [`Prepared::run`]; for a bias of another type, length or distance of elements, too.
    pub fn run_with_bias(
        &self,
        a: &DynDeviceMatrix,
        b: &DynDeviceMatrix,
        c: &mut DynDeviceMatrix,
        bias: &DynDeviceMatrix,
    ) -> Result<(), Error> {
        let with = With { bias: Some(DeviceRef::from(bias)), scales: Scales::NONE };
        self.run_with(a.into(), b.into(), c.into(), with)
    }

    /// As [`Prepared::run_on`], for a recipe whose request asks for a bias or for scales.
    ///
    /// # Errors
    /// As [`Prepared::run_with_bias`]; for scales of another type, shape or distances, too.
    pub fn run_with(
        &self,
        a: DeviceRef<'_>,
        b: DeviceRef<'_>,
        c: DeviceMut<'_>,
        with: With<'_>,
    ) -> Result<(), Error> {
        self.run_all(a, b, c, Beside { with, arg: None })
    }

    /// As [`Prepared::run`], on parts of matrices.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_on(&self, a: DeviceRef<'_>, b: DeviceRef<'_>, c: DeviceMut<'_>) -> Result<(), Error> {
        self.run_all(a, b, c, Beside::default())
    }

    pub(super) fn run_all(
        &self,
        a: DeviceRef<'_>,
        b: DeviceRef<'_>,
        c: DeviceMut<'_>,
        beside: Beside<'_>,
    ) -> Result<(), Error> {
        let bindings = bindings(self.engine(), self.recipe(), (a, b, c.as_ref()), beside)?;
        // SAFETY: the matrices have the layouts, alignments and types of the request that the recipe was made for, hold all of its
        // batch, and belong to this engine: their memory is freed only after the work in its stream.
        unsafe { self.launch(&bindings) }
    }
}

/// What a product reads besides A and B.
#[derive(Clone, Copy, Debug, Default)]
pub struct With<'a> {
    /// An element for each column of C: a row or a column.
    pub bias: Option<DeviceRef<'a>>,
    /// Scales of A and B.
    pub scales: Scales<DeviceRef<'a>>,
}

/// What a product may have besides A, B and C.
#[derive(Default)]
pub(super) struct Beside<'a> {
    pub with: With<'a>,
    pub arg: Option<&'a mut DynDeviceMatrix>,
}

/// Where A, B, C, the bias, the scales and the arg result lie, if the recipe was made for them.
///
/// # Errors
/// As [`Prepared::run`].
pub(super) fn bindings(
    engine: &Engine,
    recipe: &Recipe,
    (a, b, c): (DeviceRef<'_>, DeviceRef<'_>, DeviceRef<'_>),
    Beside { with: With { bias, scales }, arg }: Beside<'_>,
) -> Result<Vec<Binding>, Error> {
    let arg: Option<DeviceRef<'_>> = arg.map(|arg| DeviceRef::from(&*arg));
    let operands = [("A", Buffer::A, a), ("B", Buffer::B, b), ("C", Buffer::C, c)];
    operands::check(recipe, operands.map(|(_, _, matrix)| operand(matrix)))?;
    operands::check_bias(recipe, bias.map(operand))?;
    operands::check_scales(recipe, scales.map(operand))?;
    if let Some(arg) = arg {
        operands::check_arg(recipe, operand(arg))?;
    }
    let others = [
        ("the bias", Buffer::Bias, bias),
        ("scales of A", Buffer::ScaleA, scales.a),
        ("scales of B", Buffer::ScaleB, scales.b),
        ("the arg result", Buffer::Output, arg),
    ];
    let others = others.into_iter().filter_map(|(what, buffer, matrix)| Some((what, buffer, matrix?)));
    let operands = operands.into_iter().chain(others);
    let bind = |(what, buffer, matrix): (&str, _, DeviceRef<'_>)| {
        if !Arc::ptr_eq(matrix.matrix().stream(), engine.stream()) {
            let (what, why) = (format!("this matrix as {what}"), "it belongs to another engine".into());
            return Err(ErrorKind::Unsupported { what, why, hint: "upload it to this one".into() }.into());
        }
        Ok((buffer, matrix.address(), matrix.matrix().bytes()))
    };
    operands.map(bind).collect()
}

fn operand(matrix: DeviceRef<'_>) -> Operand {
    Operand {
        dtype: matrix.dtype(),
        layout: matrix.layout(),
        alignment: matrix.alignment(),
        origin: matrix.origin(),
        elements: matrix.matrix().bytes() / matrix.dtype().size(),
    }
}
