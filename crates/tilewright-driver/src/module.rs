//! Modules, and the functions and variables in them.

pub(crate) mod kernel;

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex};

use tilewright_emulator::{Program, ProgramError};

use crate::abi::{Address, Handle};
use crate::call::{Call, locked, put, text};
use crate::code::Code;
use crate::context::Context;
use crate::image::{self, Refusal};
use crate::{objects, settings};
pub(crate) use kernel::Function;

/// A loaded module.
#[derive(Debug)]
pub(crate) struct Module {
    pub context: Arc<Context>,
    pub program: Arc<Program>,
    functions: Mutex<HashMap<String, Handle>>,
}

impl objects::Kind for Module {
    fn owner(&self) -> Option<Handle> {
        Some(self.context.id)
    }
}

/// `CUjit_option`.
const JIT_ERROR_LOG: c_uint = 5;
const JIT_ERROR_LOG_BYTES: c_uint = 6;

/// Options of a load, as the program gives them.
#[derive(Clone, Copy)]
pub(crate) struct JitOptions {
    pub count: c_uint,
    pub options: *const c_uint,
    pub values: *mut *mut c_void,
}

impl JitOptions {
    pub const NONE: Self = Self { count: 0, options: std::ptr::null(), values: std::ptr::null_mut() };

    /// Writes a text into the log for errors, if there is one.
    unsafe fn log(self, text: &str) {
        if self.options.is_null() || self.values.is_null() {
            return;
        }
        let value = |which| {
            // SAFETY: the caller's promise: there are `count` of both.
            (0..self.count as usize).find_map(|at| unsafe {
                (self.options.add(at).read_unaligned() == which).then(|| self.values.add(at).read_unaligned())
            })
        };
        if let (Some(log), Some(room)) = (value(JIT_ERROR_LOG), value(JIT_ERROR_LOG_BYTES)) {
            let room = c_int::try_from(room.addr()).unwrap_or(c_int::MAX);
            // A log that cannot be written changes nothing.
            // SAFETY: the caller's promise: there is so much room.
            let _ = unsafe { crate::call::put_text(log.cast(), room, text) };
        }
    }
}

/// `cuModuleLoadData` and its like.
///
/// # Safety
/// The image must be whole, and the options what the C interface asks for.
pub(crate) unsafe fn load(out: *mut Handle, image: *const c_void, options: JitOptions) -> Call {
    let context = Context::current()?;
    if out.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    let loaded = unsafe { image::ptx(image, context.device.gpu.capability()) };
    let loaded = loaded.and_then(|ptx| load_ptx(&context, &ptx));
    let handle = loaded.map_err(|refusal| {
        settings::say(&refusal.why);
        // SAFETY: the caller's promise.
        unsafe { options.log(&refusal.why) };
        refusal.code
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

fn load_ptx(context: &Arc<Context>, ptx: &str) -> Result<Handle, Refusal> {
    let program = context.device.memory().emulated.load(ptx);
    let program = program.map_err(|error| {
        let code = match error {
            ProgramError::NoRoom { .. } => Code::OUT_OF_MEMORY,
            _ => Code::INVALID_PTX,
        };
        Refusal { code, why: error.to_string() }
    })?;
    let (context, functions) = (context.clone(), Mutex::default());
    let handle = objects::new_handle();
    objects::insert(handle, Arc::new(Module { context, program: Arc::new(program), functions }));
    Ok(handle)
}

/// `cuModuleLoad`: from a file.
pub(crate) unsafe fn load_file(out: *mut Handle, path: *const c_char) -> Call {
    let context = Context::current()?;
    // SAFETY: the caller's promise.
    let path = unsafe { text(path) }?;
    let image = std::fs::read(path).map_err(|_| Code::FILE_NOT_FOUND)?;
    let loaded = image::ptx_of_bytes(&image, context.device.gpu.capability());
    let handle = loaded.and_then(|ptx| load_ptx(&context, &ptx)).map_err(|refusal| {
        settings::say(&refusal.why);
        refusal.code
    })?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuModuleUnload`: when no kernel runs on the device any more.
pub(crate) fn unload(handle: Handle) -> Call {
    Context::current()?;
    let module = objects::remove::<Module>(handle)?;
    objects::remove_each(locked(&module.functions).drain().map(|(_, function)| function));
    module.context.device.memory().emulated.unload(&module.program);
    Ok(())
}

/// `cuModuleGetFunction`.
pub(crate) unsafe fn get_function(out: *mut Handle, handle: Handle, name: *const c_char) -> Call {
    Context::current()?;
    let module = objects::get::<Module>(handle)?;
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) }?;
    let mut known = locked(&module.functions);
    let function = match known.get(name) {
        Some(&function) => function,
        None => {
            let needs = module.program.needs(name).ok_or(Code::NOT_FOUND)?;
            let function = objects::new_handle();
            objects::insert(function, Arc::new(Function::new(module.clone(), name, needs)));
            known.insert(name.into(), function);
            function
        }
    };
    // SAFETY: the caller's promise.
    unsafe { put(out, function) }
}

/// `cuModuleGetFunctionCount`.
pub(crate) unsafe fn function_count(out: *mut c_uint, handle: Handle) -> Call {
    Context::current()?;
    let count = objects::get::<Module>(handle)?.program.entries().count();
    // SAFETY: the caller's promise.
    unsafe { put(out, count as c_uint) }
}

/// `cuModuleGetLoadingMode`: at once.
pub(crate) unsafe fn loading_mode(out: *mut c_int) -> Call {
    // SAFETY: the caller's promise.
    unsafe { put(out, 1) }
}

/// `cuModuleGetGlobal`: either result may be left out.
pub(crate) unsafe fn get_global(
    address: *mut Address,
    bytes: *mut usize,
    handle: Handle,
    name: *const c_char,
) -> Call {
    Context::current()?;
    let module = objects::get::<Module>(handle)?;
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) }?;
    let symbol = module.program.symbols().iter().find(|symbol| symbol.name == name);
    let symbol = symbol.ok_or(Code::NOT_FOUND)?;
    if !address.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(address, symbol.address) }?;
    }
    if !bytes.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(bytes, symbol.bytes as usize) }?;
    }
    Ok(())
}

/// `cuLibraryGetModule`.
pub(crate) unsafe fn same_module(out: *mut Handle, handle: Handle) -> Call {
    objects::get::<Module>(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}
