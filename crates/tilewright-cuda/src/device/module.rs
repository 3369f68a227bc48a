//! Compiled code on a device: modules, their kernels, and what the driver says of them.

use super::context::Context;
use super::stream::Stream;
use crate::ffi::driver::{self as ffi, function_attribute as attribute};
use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use tilewright_arch::{
    Blocks, DynamicSharedMemory, GlobalCaching, GridLaunch, KernelResources, SharedMemoryOptIn,
};
use tilewright_core::{Error, ErrorKind};

/// Code that the driver has loaded.
#[derive(Debug)]
pub(crate) struct Module {
    context: Arc<Context>,
    handle: ffi::Module,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a cubin, or PTX that ends with a zero byte, which the driver compiles. `name` is for messages.
    ///
    /// # Safety
    /// The image must be whole: the driver believes the sizes in it.
    pub(crate) unsafe fn load(context: &Arc<Context>, name: &str, image: &[u8]) -> Result<Arc<Self>, Error> {
        const LOG: usize = 8192;
        let mut log = vec![0_u8; LOG];
        let mut options = [ffi::JIT_ERROR_LOG, ffi::JIT_ERROR_LOG_SIZE];
        // The size is passed by value in place of a pointer.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG)];
        let mut handle = ptr::null_mut();
        let entered = context.enter()?;
        // SAFETY: the caller's promise for the image; there is room for `LOG` bytes of log.
        let code = unsafe {
            (entered.functions.cuModuleLoadDataEx)(
                &mut handle,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        context.check(code, || {
            let log = String::from_utf8_lossy(log.split(|&byte| byte == 0).next().unwrap_or_default());
            let separator = if log.is_empty() { "" } else { ": " };
            format!("loading {name} on {}{separator}{}", context.info.name, log.trim())
        })?;
        Ok(Arc::new(Self { context: Arc::clone(context), handle }))
    }

    /// The kernel `entry`.
    pub(crate) fn function(self: &Arc<Self>, entry: &str) -> Result<Function, Error> {
        let name = c_string(entry)?;
        let mut handle = ptr::null_mut();
        let entered = self.context.enter()?;
        // SAFETY: the module lives, and the name ends with a zero.
        let code =
            unsafe { (entered.functions.cuModuleGetFunction)(&mut handle, self.handle, name.as_ptr()) };
        self.context.check(code, || format!("looking for the kernel {entry}"))?;
        drop(entered);
        Ok(Function { module: Arc::clone(self), handle })
    }

    /// Address and bytes of a `__constant__` or `__device__` variable.
    pub(crate) fn variable(&self, symbol: &str) -> Result<(ffi::Address, usize), Error> {
        let name = c_string(symbol)?;
        let (mut address, mut size) = (0, 0);
        let entered = self.context.enter()?;
        // SAFETY: the module lives, both pointers are valid for a write, and the name ends with a zero.
        let code = unsafe {
            (entered.functions.cuModuleGetGlobal_v2)(&mut address, &mut size, self.handle, name.as_ptr())
        };
        self.context.check(code, || format!("looking for the variable {symbol}"))?;
        Ok((address, size))
    }

    /// Sets a `__constant__` or `__device__` variable, in the order of the stream.
    pub(crate) fn set(&self, stream: &Stream, symbol: &str, bytes: &[u8]) -> Result<(), Error> {
        let (address, size) = self.variable(symbol)?;
        if bytes.len() > size {
            let what = format!("{} bytes for the variable {symbol}", bytes.len());
            let why = format!("it has {size}");
            return Err(ErrorKind::Unsupported { what, why, hint: "".into() }.into());
        }
        let entered = self.context.enter()?;
        // SAFETY: the range is inside the variable. The bytes are ordinary memory, which the driver has copied when it returns.
        let code = unsafe {
            (entered.functions.cuMemcpyHtoDAsync_v2)(
                address,
                bytes.as_ptr().cast(),
                bytes.len(),
                stream.handle(),
            )
        };
        self.context.check(code, || format!("setting the variable {symbol}"))
    }

    /// Copies a variable to the host, as far as there is room, and waits.
    pub(crate) fn get(&self, stream: &Stream, symbol: &str, bytes: &mut [u8]) -> Result<(), Error> {
        let (address, size) = self.variable(symbol)?;
        let entered = self.context.enter()?;
        let count = bytes.len().min(size);
        // SAFETY: the range is inside the variable and writable on the host, where any bytes will do.
        let code = unsafe {
            (entered.functions.cuMemcpyDtoHAsync_v2)(
                bytes.as_mut_ptr().cast(),
                address,
                count,
                stream.handle(),
            )
        };
        self.context.check(code, || format!("reading the variable {symbol}"))?;
        stream.synchronize()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // A launch returns before its kernel has run. A failure was told where somebody waited.
            // SAFETY: the context is current.
            unsafe { (entered.functions.cuCtxSynchronize)() };
            // SAFETY: loaded in `load`; functions keep their module alive, and no kernel of it runs any more.
            unsafe { (entered.functions.cuModuleUnload)(self.handle) };
        }
    }
}

/// Blocks of a cluster that every GPU with clusters takes without being asked before.
const PORTABLE_CLUSTER: u32 = 8;

/// A kernel of a module.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    module: Arc<Module>,
    handle: ffi::Function,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// What the driver says of a compiled kernel. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionAttributes {
    /// Registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block.
    pub static_shared_memory: u32,
    /// `__constant__` variables of its module.
    pub constant_memory: u32,
    /// Local memory of a thread: arrays that are indexed at run time, and spilled registers.
    pub local_memory: u32,
    /// The largest block.
    pub max_threads: u32,
    /// The dynamic shared memory it may be launched with.
    pub max_dynamic_shared_memory: u32,
}

impl FunctionAttributes {
    /// What an occupancy calculation needs of it.
    pub fn resources(&self) -> KernelResources {
        KernelResources {
            registers_per_thread: self.registers,
            static_shared_memory: self.static_shared_memory,
            max_threads_per_block: self.max_threads,
            barriers: 1,
            shared_memory_opt_in: SharedMemoryOptIn::Bytes(self.max_dynamic_shared_memory),
            global_caching: GlobalCaching::Off,
        }
    }
}

/// When a kernel may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// After the one before it in the stream.
    InOrder,
    /// While that one still runs: it waits for its results by itself.
    Early,
}

impl Function {
    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.module
    }

    pub(crate) fn attributes(&self) -> Result<FunctionAttributes, Error> {
        let get = |which| self.attribute(which);
        Ok(FunctionAttributes {
            registers: get(attribute::REGISTERS)?,
            static_shared_memory: get(attribute::STATIC_SHARED)?,
            constant_memory: get(attribute::CONSTANT)?,
            local_memory: get(attribute::LOCAL)?,
            max_threads: get(attribute::MAX_THREADS)?,
            max_dynamic_shared_memory: get(attribute::DYNAMIC_SHARED)?,
        })
    }

    fn attribute(&self, which: c_int) -> Result<u32, Error> {
        let context = &self.module.context;
        let entered = context.enter()?;
        let mut value = 0;
        // SAFETY: the pointer is valid for a write, and the function lives.
        let code = unsafe { (entered.functions.cuFuncGetAttribute)(&mut value, which, self.handle) };
        context.check(code, || "asking for a kernel's attributes".into())?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Allows launches with this much dynamic shared memory.
    pub(crate) fn allow_dynamic_shared_memory(&self, bytes: u32) -> Result<(), Error> {
        let context = &self.module.context;
        let entered = context.enter()?;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the function lives.
        let code =
            unsafe { (entered.functions.cuFuncSetAttribute)(self.handle, attribute::DYNAMIC_SHARED, value) };
        context.check(code, || {
            let most = context.info.shared_memory_per_block_opt_in;
            format!("allowing {bytes} bytes of dynamic shared memory, of {most} that a block can have")
        })
    }

    /// Allows clusters of so many blocks, where not every GPU with clusters takes them.
    pub(crate) fn allow_cluster(&self, blocks: u32) -> Result<(), Error> {
        if blocks <= PORTABLE_CLUSTER {
            return Ok(());
        }
        let context = &self.module.context;
        let entered = context.enter()?;
        // SAFETY: the function lives.
        let code = unsafe { (entered.functions.cuFuncSetAttribute)(self.handle, attribute::ANY_CLUSTER, 1) };
        context.check(code, || format!("allowing clusters of {blocks} blocks"))
    }

    /// Blocks that a multiprocessor holds at once.
    pub(crate) fn blocks_per_multiprocessor(
        &self,
        threads: u32,
        dynamic_shared_memory: u32,
    ) -> Result<u32, Error> {
        let context = &self.module.context;
        let entered = context.enter()?;
        let mut blocks = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the pointer is valid for a write, and the function lives.
        let code = unsafe {
            (entered.functions.cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                &mut blocks,
                self.handle,
                threads,
                dynamic_shared_memory as usize,
            )
        };
        context.check(code, || format!("asking for the occupancy of blocks of {threads} threads"))?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// The block size with the highest occupancy, and the blocks that fill the device with it.
    pub(crate) fn best_block(&self, dynamic: DynamicSharedMemory, most: u32) -> Result<(u32, u32), Error> {
        thread_local! {
            static DYNAMIC: Cell<DynamicSharedMemory> = const { Cell::new(DynamicSharedMemory::Fixed(0)) };
        }
        /// The driver calls this while it searches, in the same thread, and hands nothing through.
        unsafe extern "C" fn bytes(threads: c_int) -> usize {
            DYNAMIC.get().bytes(threads.unsigned_abs()) as usize
        }
        DYNAMIC.set(dynamic);
        let context = &self.module.context;
        let entered = context.enter()?;
        let (mut grid, mut block) = (0, 0);
        let most = c_int::try_from(most).unwrap_or(c_int::MAX);
        // SAFETY: both pointers are valid for a write, and the function lives.
        let code = unsafe {
            (entered.functions.cuOccupancyMaxPotentialBlockSize)(
                &mut grid,
                &mut block,
                self.handle,
                Some(bytes),
                0,
                most,
            )
        };
        context.check(code, || "asking for the best block size".into())?;
        Ok((block.unsigned_abs(), grid.unsigned_abs()))
    }

    /// Dynamic shared memory that each of `blocks` blocks can have when a multiprocessor holds them at once.
    pub(crate) fn available_dynamic_shared_memory(&self, blocks: u32, threads: u32) -> Result<u64, Error> {
        let context = &self.module.context;
        let entered = context.enter()?;
        let mut bytes = 0;
        let number = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
        // SAFETY: the pointer is valid for a write, and the function lives.
        let code = unsafe {
            (entered.functions.cuOccupancyAvailableDynamicSMemPerBlock)(
                &mut bytes,
                self.handle,
                number(blocks),
                number(threads),
            )
        };
        context.check(code, || {
            format!("asking for the shared memory of {blocks} blocks of {threads} threads")
        })?;
        Ok(bytes as u64)
    }

    /// Puts a launch into a stream of the context that `stream` is of, by its handle.
    ///
    /// # Safety
    /// The handle must be that of such a stream. Each of `arguments` must point to a value of the kernel's parameter at its place, addresses among them must be valid
    /// for what the kernel does, and stay so until the stream has done the work.
    pub(crate) unsafe fn launch(
        &self,
        stream: &Stream,
        order: ffi::Stream,
        what: &Arc<str>,
        grid: &GridLaunch,
        start: Start,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let entered = stream.context.enter()?;
        let early = (start == Start::Early).then(ffi::early_start);
        let cooperative = (grid.blocks == Blocks::Cooperative).then(ffi::cooperative);
        let mut attributes: Vec<_> =
            [early, grid.cluster.map(ffi::cluster), cooperative].into_iter().flatten().collect();
        let config = ffi::LaunchConfig {
            gridDimX: grid.grid[0],
            gridDimY: grid.grid[1],
            gridDimZ: grid.grid[2],
            blockDimX: grid.block[0],
            blockDimY: grid.block[1],
            blockDimZ: grid.block[2],
            sharedMemBytes: grid.dynamic_shared_memory,
            hStream: order,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: the caller's promise; the driver copies configuration and arguments before it returns.
        let code = unsafe {
            (entered.functions.cuLaunchKernelEx)(
                &config,
                self.handle,
                arguments.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        stream.context.check(code, || self.describe(what, grid))?;
        stream.note(what);
        Ok(())
    }

    /// What was asked for, and what there is.
    fn describe(&self, what: &str, grid: &GridLaunch) -> String {
        let (info, [gx, gy, gz], [bx, by, bz]) = (&self.module.context.info, grid.grid, grid.block);
        let kernel = self.attributes().map_or(String::new(), |a| {
            format!(
                "; it takes {} registers a thread and {} bytes of static shared memory, and blocks of at most {} threads",
                a.registers, a.static_shared_memory, a.max_threads
            )
        });
        format!(
            "launching {what} with a grid of {gx} x {gy} x {gz} blocks of {bx} x {by} x {bz} threads and {} bytes of dynamic \
             shared memory{kernel}; {} has {} registers a multiprocessor and {} bytes of shared memory a block",
            grid.dynamic_shared_memory,
            info.name,
            info.registers_per_multiprocessor,
            info.shared_memory_per_block_opt_in,
        )
    }
}

/// A texture over an array of f32, fetched by index.
#[derive(Debug)]
pub(crate) struct Texture {
    stream: Arc<Stream>,
    pub(crate) handle: ffi::Texture,
}

impl Texture {
    /// # Safety
    /// `bytes` bytes from `address` on must be device memory that outlives the texture.
    pub(crate) unsafe fn new(
        stream: &Arc<Stream>,
        address: ffi::Address,
        bytes: usize,
    ) -> Result<Self, Error> {
        let (resource, texture) = ffi::linear_texture(address, bytes);
        let mut handle = 0;
        let entered = stream.context.enter()?;
        // SAFETY: the pointers are valid, and so is the memory, by the caller's promise.
        let code =
            unsafe { (entered.functions.cuTexObjectCreate)(&mut handle, &resource, &texture, ptr::null()) };
        stream.context.check(code, || format!("creating a texture over {bytes} bytes"))?;
        Ok(Self { stream: Arc::clone(stream), handle })
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        // Kernels in the stream may still fetch from it.
        let _ = self.stream.synchronize();
        if let Ok(entered) = self.stream.context.enter() {
            // SAFETY: created in `new`, and nothing uses it any more.
            unsafe { (entered.functions.cuTexObjectDestroy)(self.handle) };
        }
    }
}

fn c_string(name: &str) -> Result<CString, Error> {
    CString::new(name).map_err(|_| {
        let what = format!("the name {name:?}");
        ErrorKind::Unsupported { what, why: "it contains a zero byte".into(), hint: "".into() }.into()
    })
}
