//! Kernels of a module: what is known of them, and what a program sets.

use std::ffi::{CString, c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use tilewright_arch::{ClusterLimit, KernelResources, SharedMemoryOptIn};
use tilewright_emulator::EntryNeeds;

use super::Module;
use crate::abi::Handle;
use crate::call::{Call, put};
use crate::code::Code;
use crate::context::Context;
use crate::objects;

/// A kernel of a module.
#[derive(Debug)]
pub(crate) struct Function {
    pub module: Arc<Module>,
    pub entry: String,
    /// The same for C.
    name: CString,
    pub needs: EntryNeeds,
    /// The dynamic shared memory that it may be launched with.
    max_dynamic_shared: AtomicU32,
    /// Whether clusters may be larger than every device with clusters has them.
    may_exceed_portable_clusters: AtomicBool,
    /// The part of the first-level cache that it prefers as shared memory; -1 for none.
    carveout: AtomicU32,
}

impl objects::Kind for Function {
    fn owner(&self) -> Option<Handle> {
        Some(self.module.context.id)
    }
}

/// `CUfunction_attribute`.
mod attribute {
    use std::ffi::c_int;

    pub const MAX_THREADS: c_int = 0;
    pub const STATIC_SHARED: c_int = 1;
    pub const CONSTANT: c_int = 2;
    pub const LOCAL: c_int = 3;
    pub const REGISTERS: c_int = 4;
    pub const PTX_VERSION: c_int = 5;
    pub const BINARY_VERSION: c_int = 6;
    pub const CACHE_MODE_CA: c_int = 7;
    pub const MAX_DYNAMIC_SHARED: c_int = 8;
    pub const CARVEOUT: c_int = 9;
    pub const NON_PORTABLE_CLUSTERS: c_int = 14;
    /// Those of clusters end here.
    pub const LAST: c_int = 15;
}

impl Function {
    pub(super) fn new(module: Arc<Module>, entry: &str, needs: EntryNeeds) -> Self {
        let most = module.context.device.gpu.limits.shared_memory_per_block;
        let dynamic = u64::from(most).saturating_sub(needs.shared_bytes) as u32;
        Self {
            module,
            entry: entry.into(),
            name: CString::new(entry).unwrap_or_default(),
            needs,
            max_dynamic_shared: AtomicU32::new(dynamic),
            may_exceed_portable_clusters: AtomicBool::new(false),
            carveout: AtomicU32::new(u32::MAX),
        }
    }

    /// The dynamic shared memory that it may be launched with.
    pub fn max_dynamic_shared(&self) -> u32 {
        self.max_dynamic_shared.load(SeqCst)
    }

    /// The largest clusters that it may be launched with.
    pub fn cluster_limit(&self) -> ClusterLimit {
        match self.may_exceed_portable_clusters.load(SeqCst) {
            true => ClusterLimit::NonPortable,
            false => ClusterLimit::Portable,
        }
    }

    /// The largest block.
    pub fn max_threads(&self) -> u32 {
        let limits = &self.module.context.device.gpu.limits;
        let required = self.needs.required_threads.map(|[x, y, z]| x * y * z);
        let compiled_for = self.needs.max_threads.or(required).unwrap_or(u64::MAX);
        u64::from(limits.max_threads_per_block).min(compiled_for) as u32
    }

    /// Registers of a thread: an estimate, held to what lets the largest block run, as an assembler would.
    pub fn registers(&self) -> u32 {
        const LEAST: u32 = 8;
        let limits = &self.module.context.device.gpu.limits;
        let most = match self.needs.max_threads.is_some() || self.needs.required_threads.is_some() {
            true => limits.registers_per_block / self.max_threads().max(1) / 8 * 8,
            false => u32::MAX,
        };
        self.needs.registers.min(limits.max_registers_per_thread).min(most).max(LEAST)
    }

    /// Registers that it surely takes. Of the kernels of this project and some hundred tests `ptxas` 13.0 gave none less than 5/8 of the
    /// [estimate](Self::registers), but for kernels that it was told to hold to fewer.
    pub fn least_registers(&self) -> u32 {
        (self.registers() * 5).div_ceil(8)
    }

    /// What an occupancy calculation needs of it.
    pub fn resources(&self) -> KernelResources {
        KernelResources {
            registers_per_thread: self.registers(),
            static_shared_memory: u32::try_from(self.needs.shared_bytes).unwrap_or(u32::MAX),
            max_threads_per_block: self.max_threads(),
            shared_memory_opt_in: SharedMemoryOptIn::Bytes(self.max_dynamic_shared()),
            ..KernelResources::default()
        }
    }

    fn attribute(&self, which: c_int) -> Option<c_int> {
        let capability = self.module.context.device.gpu.capability();
        let number = |value: u64| c_int::try_from(value).unwrap_or(c_int::MAX);
        Some(match which {
            attribute::MAX_THREADS => number(self.max_threads().into()),
            attribute::STATIC_SHARED => number(self.needs.shared_bytes),
            attribute::CONSTANT => number(self.needs.constant_bytes),
            attribute::LOCAL => number(self.needs.local_bytes.into()),
            attribute::REGISTERS => number(self.registers().into()),
            attribute::PTX_VERSION | attribute::BINARY_VERSION => number(capability.number().into()),
            attribute::CACHE_MODE_CA => 0,
            attribute::MAX_DYNAMIC_SHARED => number(self.max_dynamic_shared().into()),
            attribute::CARVEOUT => self.carveout.load(SeqCst).cast_signed(),
            attribute::NON_PORTABLE_CLUSTERS => self.may_exceed_portable_clusters.load(SeqCst).into(),
            10..=attribute::LAST => 0,
            _ => return None,
        })
    }
}

/// `cuFuncGetAttribute`.
pub(crate) unsafe fn get_attribute(out: *mut c_int, which: c_int, handle: Handle) -> Call {
    Context::current()?;
    let value = objects::get::<Function>(handle)?.attribute(which).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, value) }
}

/// `cuFuncSetAttribute`.
pub(crate) fn set_attribute(handle: Handle, which: c_int, value: c_int) -> Call {
    Context::current()?;
    let function = objects::get::<Function>(handle)?;
    let limits = &function.module.context.device.gpu.limits;
    match which {
        attribute::MAX_DYNAMIC_SHARED => {
            let bytes = u32::try_from(value).map_err(|_| Code::INVALID_VALUE)?;
            let all = u64::from(bytes) + function.needs.shared_bytes;
            if all > limits.shared_memory_per_block_optin.into() {
                return Err(Code::INVALID_VALUE);
            }
            function.max_dynamic_shared.store(bytes, SeqCst);
        }
        attribute::CARVEOUT if (-1..=100).contains(&value) => {
            function.carveout.store(value.cast_unsigned(), SeqCst);
        }
        attribute::NON_PORTABLE_CLUSTERS if (0..=1).contains(&value) => {
            function.may_exceed_portable_clusters.store(value == 1, SeqCst);
        }
        _ => return Err(Code::INVALID_VALUE),
    }
    Ok(())
}

/// `cuFuncSetBlockShape`: launches say it again, but for those of CUDA 3, which are not there. PyCUDA calls it before every launch.
pub(crate) fn set_block_shape(handle: Handle, shape: [c_int; 3]) -> Call {
    Context::current()?;
    objects::get::<Function>(handle)?;
    if shape.iter().all(|&extent| extent > 0) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// `cuFuncSetCacheConfig` and `cuFuncSetSharedMemConfig`: wishes that change nothing here.
pub(crate) fn set_config(handle: Handle, _config: c_int) -> Call {
    Context::current()?;
    objects::get::<Function>(handle).map(drop)
}

/// `cuFuncGetModule`.
pub(crate) unsafe fn get_module(out: *mut Handle, handle: Handle) -> Call {
    let function = objects::get::<Function>(handle)?;
    let module =
        objects::all::<Module>().into_iter().find(|(_, module)| Arc::ptr_eq(module, &function.module));
    let (module, _) = module.ok_or(Code::INVALID_HANDLE)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, module) }
}

/// `cuFuncGetParamInfo`: where an argument lies and how large it is.
pub(crate) unsafe fn parameter(handle: Handle, index: usize, offset: *mut usize, bytes: *mut usize) -> Call {
    let function = objects::get::<Function>(handle)?;
    let parameters = function.module.program.parameters(&function.entry).unwrap_or_default();
    let parameter = parameters.get(index).ok_or(Code::INVALID_VALUE)?;
    if !bytes.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(bytes, parameter.bytes) }?;
    }
    // SAFETY: the caller's promise.
    unsafe { put(offset, parameter.offset) }
}

/// `cuFuncIsLoaded`: always.
pub(crate) unsafe fn is_loaded(out: *mut c_int, handle: Handle) -> Call {
    objects::get::<Function>(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, 1) }
}

/// `cuKernelGetFunction`: a kernel of a library is a function of the module that the library is.
pub(crate) unsafe fn same_function(out: *mut Handle, handle: Handle) -> Call {
    objects::get::<Function>(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) }
}

/// `cuFuncLoad`: it is.
pub(crate) fn check_function(handle: Handle) -> Call {
    objects::get::<Function>(handle).map(drop)
}

/// `cuFuncGetName`: a text that lives as long as the function.
pub(crate) unsafe fn get_name(out: *mut *const c_char, handle: Handle) -> Call {
    let function = objects::get::<Function>(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, function.name.as_ptr()) }
}
