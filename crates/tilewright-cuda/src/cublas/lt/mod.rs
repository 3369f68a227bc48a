//! cuBLASLt: a product in each of the ways that the library's heuristics name for it.

mod element;

pub use element::LtElement;

use super::gemm::Gemm;
use super::{CublasMath, check, of_engine, unsupported};
use crate::device::{DeviceMatrix, DeviceMemory};
use crate::engine::Engine;
use crate::ffi::cublaslt::{self as ffi, Code, Suggestion, Type};
use std::ffi::{c_int, c_void};
use std::ptr;
use tilewright_core::{DType, Element, Error, ErrorKind, Problem, SemiringId};
use tilewright_toolchain::locate::{self, Component, Environment, Location, Memo};
use tilewright_toolchain::table::MissingFunction;

const NAME: &str = "cuBLASLt";
/// `CUBLAS_STATUS_NOT_SUPPORTED`: it has no algorithm for the product.
const NOT_SUPPORTED: Code = 15;

/// cuBLASLt, opened for an engine: it works in the engine's stream.
#[derive(Debug)]
pub struct CublasLt {
    engine: Engine,
    library: &'static Library,
    handle: ffi::Handle,
    math: CublasMath,
}

struct Library {
    functions: ffi::Functions,
    location: Location,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.location.fmt(f)
    }
}

/// An object of the library, destroyed when dropped.
#[derive(Debug)]
struct Object<T> {
    pointer: *mut T,
    destroy: unsafe extern "C" fn(*mut T) -> Code,
}

impl<T> Object<T> {
    /// What `create` makes.
    fn new(
        create: impl FnOnce(*mut *mut T) -> Code,
        destroy: unsafe extern "C" fn(*mut T) -> Code,
    ) -> Result<Self, Error> {
        let mut pointer = ptr::null_mut();
        check(create(&mut pointer), "describing a product to cuBLASLt")?;
        Ok(Self { pointer, destroy })
    }

    fn set<V>(
        &self,
        set: unsafe extern "C" fn(*mut T, c_int, *const c_void, usize) -> Code,
        attribute: c_int,
        value: V,
    ) -> Result<(), Error> {
        // SAFETY: the object is alive, and so is the value, of its size; the library refuses a size that is not the attribute's.
        let code = unsafe { set(self.pointer, attribute, (&raw const value).cast(), size_of::<V>()) };
        check(code, "describing a product to cuBLASLt")
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: made by the library in `new`, and used nowhere else. A failure could not be handled.
        unsafe { (self.destroy)(self.pointer) };
    }
}

/// A product of matrices with these layouts, and the algorithms for it that the library's heuristics name, the one it thinks best of first.
#[derive(Debug)]
pub struct LtProduct<'a> {
    library: &'a CublasLt,
    /// Of operands and results.
    dtypes: [DType; 2],
    problem: Problem,
    alignments: [u64; 3],
    call: Gemm,
    operation: Object<ffi::Operation>,
    stored: [Object<ffi::Stored>; 3],
    algorithms: Vec<Suggestion>,
    workspace: DeviceMemory,
}

impl CublasLt {
    /// Finds the library and opens it for `engine`, with this arithmetic.
    ///
    /// # Errors
    /// `unavailable` where it is not installed, `device` when it fails.
    pub fn open(engine: &Engine, math: CublasMath) -> Result<Self, Error> {
        super::needs_a_gpu(engine, "cuBLASLt")?;
        Self::with_library(engine, math, Self::library()?)
    }

    fn with_library(engine: &Engine, math: CublasMath, library: &'static Library) -> Result<Self, Error> {
        // Its calls take the context that is current.
        let _entered = engine.stream().context.enter()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        check(unsafe { (library.functions.cublasLtCreate)(&mut handle) }, "opening cuBLASLt")?;
        Ok(Self { engine: engine.clone(), library, handle, math })
    }

    /// Where the library is, without opening it for a device.
    ///
    /// # Errors
    /// `unavailable` where it is not installed.
    pub fn locate() -> Result<Location, Error> {
        Self::library().map(|library| library.location.clone())
    }

    fn library() -> Result<&'static Library, Error> {
        static FOUND: Memo<&'static Library> = Memo::new();
        FOUND.get(Environment::current(), Self::library_in)
    }

    fn library_in(environment: &Environment) -> Result<&'static Library, Error> {
        let loaded = locate::library(Component::CublasLt, environment)?;
        // SAFETY: a library of this name is cuBLASLt, and loaded libraries are never unloaded.
        let functions =
            unsafe { ffi::Functions::load(loaded.library) }.map_err(|MissingFunction(name)| {
                locate::incomplete(Component::CublasLt, &loaded.location, name)
            })?;
        Ok(Box::leak(Box::new(Library { functions, location: loaded.location })))
    }

    /// The version, such as 130000 for 13.0.0.
    pub fn version(&self) -> u32 {
        // SAFETY: the function has no precondition.
        let version = unsafe { (self.library.functions.cublasLtGetVersion)() };
        u32::try_from(version).unwrap_or(u32::MAX)
    }

    /// `C = A B` for matrices like these: at most so many algorithms, each of which works in at most so many bytes.
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch` for shapes; `dtype-mismatch` for a C that holds no results of plus-times on these elements; `unsupported` for matrices of another engine, with neither rows nor columns
    /// of neighbouring elements, without elements, and where no algorithm is named; `device-memory` where the workspace does not fit; `device` when the
    /// library fails.
    pub fn prepare<T: LtElement, O: Element>(
        &self,
        [a, b]: [&DeviceMatrix<T>; 2],
        c: &DeviceMatrix<O>,
        algorithms: u16,
        workspace: u64,
    ) -> Result<LtProduct<'_>, Error> {
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        of_engine(&self.engine, [a, b], c, NAME)?;
        if !SemiringId::PlusTimes.gives(T::DTYPE, O::DTYPE) {
            let (expected, found) = (T::Output::DTYPE, O::DTYPE);
            return Err(ErrorKind::DTypeMismatch { what: "C", expected, found }.into());
        }
        if problem.c().is_empty() || problem.k() == 0 {
            return Err(unsupported(NAME, "it takes matrices that have elements"));
        }
        let call = Gemm::of(&problem).ok_or_else(|| unsupported(NAME, Gemm::TAKES))?;
        let alignments = [a.alignment(), b.alignment(), c.alignment()];
        let entered = self.engine.stream().context.enter()?;
        let (operation, stored) = (self.operation::<T>(&call)?, self.stored::<T>(&call, O::DTYPE)?);
        let preference = self.preference(call.in_order(alignments), workspace)?;
        let algorithms = self.algorithms(&operation, &stored, &preference, algorithms)?;
        drop(entered);
        if algorithms.is_empty() {
            return Err(unsupported(NAME, "its heuristics name no algorithm"));
        }
        let most = algorithms.iter().map(|one| one.workspace).max().unwrap_or(0);
        let workspace = DeviceMemory::new(self.engine.stream(), "cuBLASLt's workspace", most)?;
        let (library, dtypes) = (self, [T::DTYPE, O::DTYPE]);
        Ok(LtProduct { library, dtypes, problem, alignments, call, operation, stored, algorithms, workspace })
    }

    fn operation<T: LtElement>(&self, call: &Gemm) -> Result<Object<ffi::Operation>, Error> {
        let functions = &self.library.functions;
        let operation = Object::new(
            // SAFETY: the pointer is valid for a write.
            |made| unsafe {
                (functions.cublasLtMatmulDescCreate)(made, T::compute(self.math), T::FACTOR_TYPE)
            },
            functions.cublasLtMatmulDescDestroy,
        )?;
        let set = functions.cublasLtMatmulDescSetAttribute;
        operation.set(set, ffi::OPERATION_A, call.a.operation)?;
        operation.set(set, ffi::OPERATION_B, call.b.operation)?;
        Ok(operation)
    }

    fn stored<T: LtElement>(&self, call: &Gemm, output: DType) -> Result<[Object<ffi::Stored>; 3], Error> {
        let functions = &self.library.functions;
        let [shape_a, shape_b, shape_c] = call.shapes();
        let object = |(rows, cols): (c_int, c_int), pitch: c_int, of: Type| {
            let [rows, cols] = [rows, cols].map(|count| u64::from(count.unsigned_abs()));
            Object::new(
                // SAFETY: the pointer is valid for a write.
                |made| unsafe { (functions.cublasLtMatrixLayoutCreate)(made, of, rows, cols, pitch.into()) },
                functions.cublasLtMatrixLayoutDestroy,
            )
        };
        Ok([
            object(shape_a, call.a.pitch, T::TYPE)?,
            object(shape_b, call.b.pitch, T::TYPE)?,
            object(
                shape_c,
                call.c.pitch,
                if output == T::Output::DTYPE { T::OUTPUT_TYPE } else { T::FACTOR_TYPE },
            )?,
        ])
    }

    fn preference(&self, alignments: [u64; 3], workspace: u64) -> Result<Object<ffi::Preference>, Error> {
        let functions = &self.library.functions;
        let preference = Object::new(
            // SAFETY: the pointer is valid for a write.
            |made| unsafe { (functions.cublasLtMatmulPreferenceCreate)(made) },
            functions.cublasLtMatmulPreferenceDestroy,
        )?;
        let set = functions.cublasLtMatmulPreferenceSetAttribute;
        preference.set(set, ffi::MAX_WORKSPACE, workspace)?;
        // At most 256, as all alignments here. D is C.
        let [a, b, c] = alignments.map(|bytes| bytes as u32);
        let attributes = [ffi::ALIGNMENT_A, ffi::ALIGNMENT_B, ffi::ALIGNMENT_C, ffi::ALIGNMENT_D];
        for (attribute, bytes) in attributes.into_iter().zip([a, b, c, c]) {
            preference.set(set, attribute, bytes)?;
        }
        Ok(preference)
    }

    /// What the heuristics name, without those that they name and refuse.
    fn algorithms(
        &self,
        operation: &Object<ffi::Operation>,
        [a, b, c]: &[Object<ffi::Stored>; 3],
        preference: &Object<ffi::Preference>,
        most: u16,
    ) -> Result<Vec<Suggestion>, Error> {
        let mut suggestions = vec![Suggestion::NONE; most.into()];
        let mut count = 0;
        // SAFETY: all objects are alive, and there is room for as many suggestions as are asked for.
        let code = unsafe {
            (self.library.functions.cublasLtMatmulAlgoGetHeuristic)(
                self.handle,
                operation.pointer,
                a.pointer,
                b.pointer,
                c.pointer,
                c.pointer,
                preference.pointer,
                most.into(),
                suggestions.as_mut_ptr(),
                &mut count,
            )
        };
        if code == NOT_SUPPORTED {
            return Ok(Vec::new());
        }
        check(code, "asking cuBLASLt for algorithms")?;
        suggestions.truncate(usize::try_from(count).unwrap_or(0));
        suggestions.retain(|one| one.status == 0);
        Ok(suggestions)
    }
}

impl Drop for CublasLt {
    fn drop(&mut self) {
        if let Ok(_entered) = self.engine.stream().context.enter() {
            // SAFETY: opened in `open`. A failure could not be handled.
            unsafe { (self.library.functions.cublasLtDestroy)(self.handle) };
        }
    }
}

impl LtProduct<'_> {
    /// The number of algorithms: at least one.
    pub fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// The bytes that an algorithm works in; none where there are fewer algorithms.
    pub fn workspace(&self, algorithm: usize) -> Option<u64> {
        self.algorithms.get(algorithm).map(|one| one.workspace as u64)
    }

    /// `C = A B` by an algorithm, counted from 0. Returns before the device has finished.
    ///
    /// # Errors
    /// `unsupported` for matrices of another engine, of another type, with other layouts or less alignment than those that it was prepared for, and for an
    /// algorithm that there is not; `device` when the library fails.
    pub fn run<T: LtElement, O: Element>(
        &self,
        algorithm: usize,
        a: &DeviceMatrix<T>,
        b: &DeviceMatrix<T>,
        c: &mut DeviceMatrix<O>,
    ) -> Result<(), Error> {
        let engine = &self.library.engine;
        of_engine(engine, [a, b], c, NAME)?;
        let aligned =
            [a.alignment(), b.alignment(), c.alignment()].iter().zip(self.alignments).all(|(&x, y)| x >= y);
        let layouts = [self.problem.a(), self.problem.b(), self.problem.c()];
        if self.dtypes != [T::DTYPE, O::DTYPE] || [a.layout(), b.layout(), c.layout()] != layouts || !aligned
        {
            return Err(unsupported(NAME, "it was prepared for other matrices"));
        }
        let Some(algorithm) = self.algorithms.get(algorithm) else {
            return Err(unsupported(NAME, "its heuristics name fewer algorithms"));
        };
        let [address_a, address_b, address_c] = self.call.in_order([a.address(), b.address(), c.address()]);
        let [stored_a, stored_b, stored_c] = &self.stored;
        let [one, zero] = T::ONE_AND_ZERO;
        let _entered = engine.stream().context.enter()?;
        // SAFETY: all objects are alive; the matrices have the layouts that they describe, on this device, and C is D; the workspace is as large as any
        // algorithm needs; the scalars are read before the call returns.
        let code = unsafe {
            (self.library.library.functions.cublasLtMatmul)(
                self.library.handle,
                self.operation.pointer,
                (&raw const one).cast(),
                address_a,
                stored_a.pointer,
                address_b,
                stored_b.pointer,
                (&raw const zero).cast(),
                address_c,
                stored_c.pointer,
                address_c,
                stored_c.pointer,
                &algorithm.algorithm,
                self.workspace.address(),
                self.workspace.bytes(),
                engine.stream().handle(),
            )
        };
        check(code, "multiplying with cuBLASLt")
    }
}

#[cfg(test)]
mod tests;
