//! Results on a GPU in memory of the library's own, for libraries that write to no array of theirs: they get it by DLPack.

use crate::errors::{OrRaise, exception};
use dlpark::{
    DlpackFlags, Managed, ManagedTensorBase,
    ffi::{DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned},
    metadata::Dynamic,
    python::{DlpackExporter, ExportRequest, export_dlpack},
};
use pyo3::prelude::*;
use std::sync::Arc;
use tilewright::{
    DType, Error, ErrorKind, Layout,
    cuda::{DynDeviceMatrix, Engine},
};

/// An array on a GPU that `from_dlpack` of another library takes over without a copy.
#[pyclass(frozen, module = "tilewright._native")]
pub struct Lent(Arc<Memory>);

struct Memory {
    engine: Engine,
    elements: DynDeviceMatrix,
    shape: Vec<i64>,
}

/// Whoever had it may have work under way in streams that are not known here.
impl Drop for Memory {
    fn drop(&mut self) {
        // A device that has failed frees nothing either.
        let _ = self.engine.synchronize_all();
    }
}

impl Lent {
    /// An array of this shape, row by row.
    ///
    /// # Errors
    /// `out-of-memory` and `device-memory` where there is not so much.
    pub fn new(engine: &Engine, shape: &[usize], dtype: DType) -> Result<Self, Error> {
        let what = "a result on the device";
        let too_many = || Error::from(ErrorKind::OutOfMemory { what, bytes: u64::MAX });
        let length = shape.iter().try_fold(1_usize, |length, &extent| length.checked_mul(extent));
        let length = length.filter(|length| isize::try_from(*length).is_ok()).ok_or_else(too_many)?;
        let elements = engine.zeros_dyn(dtype, Layout::row_major(1, length))?;
        let shape = shape.iter().map(|&extent| i64::try_from(extent).map_err(|_| too_many()));
        let shape = shape.collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Memory { engine: engine.clone(), elements, shape })))
    }

    fn tensor<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let memory = &self.0;
        let wrong = |error: &dyn std::fmt::Display| {
            Python::attach(|py| exception(py, "unsupported", &format!("a result by DLPack: {error}"), None))
        };
        let prepared =
            Dynamic::compact(&memory.shape[..]).prepare_as::<M>().map_err(|error| wrong(&error))?;
        let mut tensor = prepared.initialize(Arc::clone(memory));
        let address = std::ptr::without_provenance_mut(memory.elements.address() as usize);
        tensor.set_device(self.device()).set_data(address).set_dtype(described(memory.elements.dtype()));
        // SAFETY: the tensor keeps the memory, which holds elements of this type for the whole shape, row by row.
        Ok(unsafe { tensor.finish() })
    }
}

#[pymethods]
impl Lent {
    fn __dlpack_device__(&self) -> (u32, i32) {
        self.device().into()
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        export_dlpack(self, py, ExportRequest::parse(stream, max_version, dl_device, copy)?)
    }
}

impl DlpackExporter for Lent {
    fn device(&self) -> DLDevice {
        DLDevice::cuda(i32::try_from(self.0.engine.device().ordinal).unwrap_or(i32::MAX))
    }

    fn flags(&self) -> DlpackFlags {
        DlpackFlags::empty()
    }

    /// Whatever stream it is taken in waits for what the engine has been asked for.
    fn prepare_export(&self, py: Python<'_>, request: &ExportRequest<'_>) -> PyResult<()> {
        use dlpark::python::CudaStreamRequest::{LegacyDefault, NoSync, Omitted, PerThreadDefault, Pointer};
        let stream = match request.cuda_stream()? {
            NoSync => return Ok(()),
            Omitted | LegacyDefault => 1,
            PerThreadDefault => 2,
            Pointer(stream) => stream,
        };
        // SAFETY: the protocol has a consumer give a stream of this device.
        unsafe { self.0.engine.let_wait(stream) }.or_raise(py)
    }

    fn export_legacy(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.tensor()
    }

    fn export_versioned(&self, _: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.tensor()
    }
}

/// The type as DLPack describes it.
fn described(dtype: DType) -> DLDataType {
    use dlpark::ffi::DLDataTypeCode as Code;
    let code = match dtype {
        DType::Bool => Code::BOOL,
        DType::Bf16 => Code::BFLOAT,
        DType::E4m3 => Code::FLOAT8_E4M3FN,
        DType::E5m2 => Code::FLOAT8_E5M2,
        dtype if dtype.is_float() => Code::FLOAT,
        DType::U8 => Code::UINT,
        _ => Code::INT,
    };
    DLDataType::scalar(code, 8 * dtype.size() as u8)
}
