//! Kernels on the emulator; `tilewright.gpu` makes Python's functions of this.

use crate::{
    array::Array,
    errors::{OrRaise, exception, keywords},
    gpu,
    interrupt::{self, Takes},
    options::item,
    owned::Owned,
};
use pyo3::prelude::*;
use std::{collections::HashMap, path::PathBuf, time::Duration};
use tilewright::{DynMatrix, DynMut, DynRef, Error, ErrorKind, Setting, Words, kernels};
use tilewright_explain::{Array as HostArray, Case, Control, Explained, Request};
use tilewright_report::{Document, html, text};

/// Letters of a line of the text.
const WIDTH: usize = 100;

/// A launch, and what it is given.
struct Launch<'py> {
    entry: Option<String>,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    cluster: Option<[u32; 3]>,
    dynamic_shared_memory: Option<u32>,
    /// Numbers as text by the name or the place of the parameter, and the names of arrays.
    arguments: Vec<(String, String)>,
    arrays: HashMap<String, Bound<'py, PyAny>>,
    gpu: Option<String>,
    max_seconds: Option<f64>,
}

impl<'py> Launch<'py> {
    fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self {
            entry: item(given, "entry")?,
            grid: item(given, "grid")?,
            block: item(given, "block")?,
            cluster: item(given, "cluster")?,
            dynamic_shared_memory: item(given, "dynamic_shared_memory")?,
            arguments: given.get_item("arguments")?.extract()?,
            arrays: given.get_item("arrays")?.extract()?,
            gpu: item(given, "gpu")?,
            max_seconds: item(given, "max_seconds")?,
        })
    }
}

/// What came of it: the page, the text, the document of JSON, and the arrays in device memory after the launch.
type Told = (String, String, String, Vec<(String, Owned)>);

/// Runs a kernel of a file, or of the catalogue, and explains it.
#[pyfunction]
pub fn explain_kernel(py: Python<'_>, kernel: PathBuf, launch: &Bound<'_, PyAny>) -> PyResult<Told> {
    let launch = Launch::of(launch)?;
    let gpu = gpu::find(py, launch.gpu.as_deref())?;
    let arrays = launch.arrays.iter().map(|(name, object)| Ok((name.clone(), copied(py, name, object)?)));
    let arrays: HashMap<String, HostArray> = arrays.collect::<PyResult<_>>()?;
    let load = |name: &str| arrays.get(name).cloned().ok_or_else(|| unknown_argument(name));
    let request = Request {
        entry: launch.entry,
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        dynamic_shared_memory: launch.dynamic_shared_memory,
        arguments: launch.arguments,
        ..Request::new(gpu, &load)
    };
    let case = match kernel.extension() {
        Some(_) => Case::of_file(&kernel, &request),
        None => kernels::find(&kernel.to_string_lossy()).and_then(|kernel| Case::of_kernel(kernel, &request)),
    };
    let case = case.or_raise(py)?;
    let max_time = launch.max_seconds.map(Duration::try_from_secs_f64).transpose();
    let max_time =
        max_time.map_err(|error| exception(py, "unsupported", &format!("max_seconds: {error}"), None))?;
    let explained = interrupt::run(py, Takes::Long, |cancel| {
        let (stop, words) = (Some(cancel.flag()), Some(words as Words));
        let control = Control { max_time, stop, words, ..Control::default() };
        case.explain_under(&gpu, &control)
    })?;
    tell(py, explained.or_raise(py)?)
}

/// Settings as keywords of `explain`.
fn words(setting: Setting, value: &str) -> Option<String> {
    match setting {
        Setting::MaxTime => Some("max_seconds".into()),
        other => keywords(other, value),
    }
}

fn tell(py: Python<'_>, explained: Explained) -> PyResult<Told> {
    let Explained { explanation, recording, curves, arrays, .. } = explained;
    let unwritten = |error: serde_json::Error| exception(py, "device", &format!("the report: {error}"), None);
    let exhibit = html::Exhibit { explanation: &explanation, recording: &recording, curves: Some(curves) };
    let page = html::page(&[exhibit]).map_err(unwritten)?;
    let document = serde_json::to_string(&Document::new(&explanation, None)).map_err(unwritten)?;
    let text = text::report(&explanation, WIDTH);
    let arrays = arrays.into_iter().map(|array| Ok((array.name.clone(), given_back(py, array)?)));
    Ok((page, text, document, arrays.collect::<PyResult<_>>()?))
}

/// A copy of an argument, as a launch copies it to a device.
fn copied(py: Python<'_>, name: &str, object: &Bound<'_, PyAny>) -> PyResult<HostArray> {
    let array = Array::of(name, object)?;
    array.refuse_other_booleans(py, name)?;
    if !(1..=2).contains(&array.shape.len()) {
        let message = format!("the argument {name} has {} dimensions", array.shape.len());
        return Err(exception(py, "dimensions", &message, Some("give a vector or a matrix: a.reshape(-1)")));
    }
    // SAFETY: the array keeps its memory as long as this runs, and its elements are of this type.
    let view = unsafe { DynRef::from_raw_parts(array.first, array.dtype, array.layout(true)) };
    Ok(HostArray::from_matrix(name, view))
}

fn given_back(py: Python<'_>, array: HostArray) -> PyResult<Owned> {
    let unknown = || {
        let message = format!("the array {} has elements of type {}", array.name, array.element);
        exception(py, "unsupported", &message, Some("arrays of Python have numbers of numpy's signed types"))
    };
    let (dtype, columns) = (array.element.dtype().ok_or_else(unknown)?, array.columns());
    let mut matrix = DynMatrix::zeros(dtype, array.rows(), columns).or_raise(py)?;
    let mut target: DynMut<'_> = matrix.as_mut();
    for (index, element) in array.bytes.chunks_exact(dtype.size()).enumerate() {
        let bytes = if dtype == tilewright::DType::Bool { &[u8::from(element != [0])] } else { element };
        // SAFETY: every pattern is a number, and a boolean was made 0 or 1.
        unsafe { target.set_bytes(index / columns, index % columns, bytes) };
    }
    Ok(Owned::new(matrix))
}

fn unknown_argument(name: &str) -> Error {
    let (what, why) = (format!("the argument {name}"), "it is neither a number nor an array".into());
    let hint = "give a number, an array, or a text such as 'f32[256,256]:random'".into();
    ErrorKind::Unsupported { what, why, hint }.into()
}

/// The names of the kernels that `explain` knows by name.
///
/// Returns
/// -------
/// list of str
///
/// Examples
/// --------
/// >>> import tilewright
/// >>> "shared-tile" in tilewright.kernel_names()
/// True
#[pyfunction]
pub fn kernel_names() -> Vec<&'static str> {
    kernels::kernels().iter().map(|kernel| kernel.name).collect()
}
