//! Machine code that was made elsewhere, on memory that the host describes: for comparing what an assembler made of a kernel.

use super::Engine;
use super::parameters::Parameters;
use crate::device::{DeviceMemory, DriverKind, Module, Start};
use std::sync::{Arc, PoisonError};
use tilewright_arch::GridLaunch;
use tilewright_core::{Error, ErrorKind};
use tilewright_kernels::Argument;
use tilewright_toolchain::Cubin;

/// A launch of a cubin. Memory is named by its index among the arrays that [`Engine::run_code`] is given.
#[derive(Debug, Clone, Copy)]
pub struct CodeLaunch<'a> {
    /// The name in messages.
    pub name: &'a str,
    /// The cubin; where the emulator executes kernels, PTX that ends with a zero byte.
    pub cubin: &'a [u8],
    /// The entry in it.
    pub entry: &'a str,
    /// Grid, blocks, clusters and dynamic shared memory; no clusters leaves them to the kernel.
    pub shape: GridLaunch,
    /// The arguments, in the order of the entry's parameters.
    pub arguments: &'a [Argument<usize>],
    /// Variables of the module to be set before: name and bytes.
    pub symbols: &'a [(String, Vec<u8>)],
}

/// Arrays of bytes on a device, for launches of code that was made elsewhere.
#[derive(Debug)]
pub struct CodeArrays(Vec<DeviceMemory>);

impl CodeArrays {
    /// The address of each array; 0 for one without bytes.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(DeviceMemory::address)
    }

    /// Copies bytes to the start of an array, as far as there is room.
    ///
    /// # Errors
    /// `device` for a launch that has failed.
    pub fn write(&self, index: usize, bytes: &[u8]) -> Result<(), Error> {
        let Some(memory) = self.0.get(index) else { return Ok(()) };
        let count = bytes.len().min(memory.bytes());
        // SAFETY: the slice is readable, and the memory has so many bytes.
        unsafe { memory.write_raw(bytes.as_ptr().cast(), count) }
    }

    /// Copies the arrays to the host, each as far as there is room.
    ///
    /// # Errors
    /// `device` for a launch that has failed.
    pub fn read<'a>(&self, arrays: impl IntoIterator<Item = &'a mut Vec<u8>>) -> Result<(), Error> {
        for (memory, bytes) in self.0.iter().zip(arrays) {
            let count = bytes.len().min(memory.bytes());
            // SAFETY: the slice is writable, the memory has so many bytes, and they are bytes.
            unsafe { memory.read_raw(bytes.as_mut_ptr().cast(), count)? };
        }
        Ok(())
    }
}

/// Code that was made elsewhere, on the device.
#[derive(Debug)]
pub struct CodeModule(Arc<Module>);

impl CodeModule {
    /// The address of a variable in global or constant memory.
    ///
    /// # Errors
    /// `device` where there is none of this name.
    pub fn address(&self, symbol: &str) -> Result<u64, Error> {
        Ok(self.0.variable(symbol)?.0)
    }
}

impl Engine {
    /// Copies arrays to the device. Where kernels are executed in this process, findings call them by their names.
    ///
    /// # Errors
    /// `device-memory` for arrays that do not fit.
    pub fn upload_arrays(&self, arrays: &[(&str, &[u8])]) -> Result<CodeArrays, Error> {
        let upload = |&(name, bytes): &(&str, &[u8])| {
            let memory = DeviceMemory::new(self.stream(), "an array", bytes.len())?;
            memory.name(name);
            // SAFETY: the slice is readable, and the memory has its length.
            unsafe { memory.write_raw(bytes.as_ptr().cast(), bytes.len())? };
            Ok(memory)
        };
        arrays.iter().map(upload).collect::<Result<_, Error>>().map(CodeArrays)
    }

    /// Loads code on the device; `name` is for messages.
    ///
    /// # Safety
    /// It must be what an assembler wrote, or PTX where the emulator executes kernels.
    ///
    /// # Errors
    /// `unsupported` for what is neither.
    pub unsafe fn load_code(&self, name: &str, code: &[u8]) -> Result<CodeModule, Error> {
        let unsupported = |why: String| -> Error {
            let what = format!("launching {name}");
            ErrorKind::Unsupported { what, why, hint: "".into() }.into()
        };
        match self.driver_kind() {
            DriverKind::Gpu => {
                Cubin::parse(code).map_err(|error| unsupported(error.to_string()))?;
            }
            DriverKind::Emulator if code.last() == Some(&0) => {}
            DriverKind::Emulator => {
                return Err(unsupported("the emulator executes PTX that ends with a zero byte".into()));
            }
        }
        // SAFETY: the caller's promise.
        unsafe { Module::load(self.context(), name, code) }.map(CodeModule)
    }

    /// Copies a variable of a module to the host, as far as there is room.
    ///
    /// # Errors
    /// `device` where there is none of this name, and for a launch that has failed.
    pub fn read_variable(&self, module: &CodeModule, symbol: &str, bytes: &mut [u8]) -> Result<(), Error> {
        module.0.get(self.stream(), symbol, bytes)
    }

    /// Loads the code, runs the launch, and waits.
    ///
    /// # Safety
    /// As for [`Engine::load_code`] and [`Engine::run_loaded`].
    ///
    /// # Errors
    /// As for [`Engine::load_code`] and [`Engine::run_loaded`].
    pub unsafe fn run_code(&self, launch: &CodeLaunch<'_>, arrays: &CodeArrays) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let module = unsafe { self.load_code(launch.name, launch.cubin)? };
        // SAFETY: the caller's promise.
        unsafe { self.run_loaded(launch, &module, arrays) }
    }

    /// Runs the launch with code that is loaded, and waits.
    ///
    /// # Safety
    /// The module must be that of the launch's code, its entry must have these parameters, and with these arguments it must stay inside the
    /// arrays.
    ///
    /// # Errors
    /// `unsupported` for an array that there is not, `device` for a launch that fails.
    pub unsafe fn run_loaded(
        &self,
        launch: &CodeLaunch<'_>,
        CodeModule(module): &CodeModule,
        arrays: &CodeArrays,
    ) -> Result<(), Error> {
        let unsupported = |why: String| -> Error {
            let what = format!("launching {}", launch.name);
            ErrorKind::Unsupported { what, why, hint: "".into() }.into()
        };
        let function = module.function(launch.entry)?;
        if launch.shape.dynamic_shared_memory > function.attributes()?.max_dynamic_shared_memory {
            function.allow_dynamic_shared_memory(launch.shape.dynamic_shared_memory)?;
        }
        function.allow_cluster(launch.shape.configuration().cluster_size)?;
        let _whole = self.0.launching.lock().unwrap_or_else(PoisonError::into_inner);
        for (symbol, bytes) in launch.symbols {
            module.set(self.stream(), symbol, bytes)?;
        }
        let place = |index: usize| {
            let array = arrays.0.get(index);
            array
                .map(|array| (array.address(), array.bytes()))
                .ok_or_else(|| unsupported(format!("there is no array with the number {index}")))
        };
        let arguments = launch.arguments.iter().enumerate();
        // SAFETY: the arrays outlive this call.
        let mut parameters = unsafe { Parameters::bind(self.stream(), launch.name, arguments, place)? };
        let name: Arc<str> = launch.name.into();
        // SAFETY: the caller's promise for the parameters and for what the kernel touches; the memory lives until the end.
        unsafe {
            let (order, pointers) = (self.stream().handle(), &mut parameters.pointers());
            function.launch(self.stream(), order, &name, &launch.shape, Start::InOrder, pointers)?
        };
        self.synchronize()
    }
}
