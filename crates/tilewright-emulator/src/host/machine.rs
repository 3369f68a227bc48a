//! A machine with a loaded program.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};
use std::time::Instant;

use bytemuck::Pod;

use super::{arguments::Argument, error::MemoryError, launch::Launch};
use crate::check::{BlockOrder, GlobalShadow};
use crate::machine::{self, Heap, LaunchError, Observer, Races, Report, Texture, Textures, Watch};
use crate::memory::{Access, Budget, GlobalMemory, SharedLayout};
use crate::program::{Constancy, Program, Symbol, address, instruction::Space};

/// Most shared memory of a block on any device: 227 KiB.
const SHARED_LIMIT: u64 = 227 << 10;

/// An address in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevicePointer(u64);

impl DevicePointer {
    /// The pointer with this address, such as that of a [`Symbol`].
    pub fn from_address(address: u64) -> Self {
        Self(address)
    }

    /// The address, as the kernel sees it.
    pub fn address(self) -> u64 {
        self.0
    }

    /// The pointer `bytes` further on.
    #[must_use]
    pub fn offset(self, bytes: i64) -> Self {
        Self(self.0.wrapping_add_signed(bytes))
    }
}

/// A device with one module.
///
/// Every allocation lies far from every other, so that an index that runs out of one array never lands in another unnoticed.
///
/// ```
/// use tilewright_emulator::{Launch, Machine, Program};
///
/// let program = Program::new(
///     ".version 9.0 .target sm_90 .address_size 64
///      .visible .entry twice(.param .u64 p) {
///          .reg .u64 %rd<4>; .reg .u32 %r<3>;
///          ld.param.u64 %rd1, [p];
///          mov.u32 %r1, %tid.x;
///          mul.wide.u32 %rd2, %r1, 4;
///          add.s64 %rd3, %rd1, %rd2;
///          ld.global.u32 %r2, [%rd3];
///          shl.b32 %r2, %r2, 1;
///          st.global.u32 [%rd3], %r2;
///          ret;
///      }",
/// )?;
/// let mut machine = Machine::new(program);
/// let data = machine.upload(&[1u32, 2, 3, 4])?;
/// let report = machine.launch("twice", &Launch::new([1, 1, 1], [4, 1, 1]).arg(data))?;
/// assert!(report.is_clean());
/// assert_eq!(machine.download::<u32>(data, 4)?, [2, 4, 6, 8]);
/// assert_eq!(report.counters.global_load.sectors, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Machine {
    pub(super) program: Program,
    pub(super) memory: GlobalMemory,
    textures: Textures,
    heap: Heap,
    allocations: u32,
    next_texture: u64,
}

impl Machine {
    /// A machine with this program; its variables have their initial values.
    pub fn new(program: Program) -> Self {
        let mut memory = GlobalMemory::new();
        for variable in &program.variables {
            let access = match variable.constant {
                Constancy::Constant => Access::ReadOnly,
                Constancy::Writable => Access::ReadWrite,
            };
            let contents = variable.initialised.then(|| variable.contents.clone());
            let at = memory.reserve(variable.name.clone(), variable.bytes, access, contents);
            debug_assert_eq!(at, address::of_region(variable.region));
        }
        Self {
            program,
            memory,
            textures: Textures::default(),
            heap: Heap::default(),
            allocations: 0,
            next_texture: 1,
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Allocates zeroed device memory, aligned to 256 bytes as `cudaMalloc` does.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`] for 64 GiB and more.
    pub fn allocate(&mut self, bytes: u64) -> Result<DevicePointer, MemoryError> {
        self.allocate_named(&format!("allocation {}", self.allocations), bytes)
    }

    /// Allocates as [`Machine::allocate`] does; findings call the memory by `name`.
    ///
    /// # Errors
    /// As for [`Machine::allocate`].
    pub fn allocate_named(&mut self, name: &str, bytes: u64) -> Result<DevicePointer, MemoryError> {
        let limit = address::REGION_BASE;
        if bytes >= limit {
            return Err(MemoryError::TooLarge { bytes, limit });
        }
        self.allocations += 1;
        Ok(DevicePointer(self.memory.allocate(name.into(), bytes, Access::ReadWrite)))
    }

    /// Frees an allocation. Its addresses are never given out again, so that a later use is found.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if `pointer` is not the start of an allocation.
    pub fn free(&mut self, pointer: DevicePointer) -> Result<(), MemoryError> {
        self.memory.free(pointer.0).ok_or(MemoryError::Outside { address: pointer.0, bytes: 0 })
    }

    /// Allocates memory for `values` and copies them there.
    ///
    /// # Errors
    /// As for [`Machine::allocate`].
    pub fn upload<T: Pod>(&mut self, values: &[T]) -> Result<DevicePointer, MemoryError> {
        let pointer = self.allocate(size_of_val(values) as u64)?;
        self.write(pointer, values)?;
        Ok(pointer)
    }

    /// Copies `values` to `pointer`.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if they do not fit into the allocation.
    pub fn write<T: Pod>(&mut self, pointer: DevicePointer, values: &[T]) -> Result<(), MemoryError> {
        let source: &[u8] = bytemuck::cast_slice(values);
        let bytes = source.len() as u64;
        let outside = MemoryError::Outside { address: pointer.0, bytes };
        self.memory.slice_mut(pointer.0, bytes).ok_or(outside)?.copy_from_slice(source);
        Ok(())
    }

    /// Copies `count` values from `pointer`.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if they are not inside the allocation.
    pub fn download<T: Pod>(&mut self, pointer: DevicePointer, count: usize) -> Result<Vec<T>, MemoryError> {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        let outside = MemoryError::Outside { address: pointer.0, bytes };
        let source = self.memory.slice(pointer.0, bytes).ok_or(outside)?;
        let mut values = vec![T::zeroed(); count];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(source);
        Ok(values)
    }

    /// A device symbol: a `__device__` or `__constant__` variable by its (mangled) name.
    ///
    /// # Errors
    /// [`MemoryError::NoSymbol`].
    pub fn symbol(&self, name: &str) -> Result<&Symbol, MemoryError> {
        let symbols = self.program.symbols();
        symbols.iter().find(|symbol| symbol.name == name).ok_or_else(|| MemoryError::NoSymbol {
            name: name.into(),
            known: symbols.iter().map(|symbol| symbol.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// Copies `values` to the start of a device symbol (`cudaMemcpyToSymbol`), constant memory included.
    ///
    /// # Errors
    /// [`MemoryError::NoSymbol`], or [`MemoryError::Outside`] if they do not fit.
    pub fn write_symbol<T: Pod>(&mut self, name: &str, values: &[T]) -> Result<(), MemoryError> {
        let at = self.symbol(name)?.address;
        self.write(DevicePointer(at), values)
    }

    /// Copies `count` values from the start of a device symbol (`cudaMemcpyFromSymbol`).
    ///
    /// # Errors
    /// As for [`Machine::write_symbol`].
    pub fn read_symbol<T: Pod>(&mut self, name: &str, count: usize) -> Result<Vec<T>, MemoryError> {
        let at = self.symbol(name)?.address;
        self.download(DevicePointer(at), count)
    }

    /// Makes a texture; the result is its handle, to be passed as `cudaTextureObject_t`.
    pub fn texture(&mut self, texture: Texture) -> u64 {
        let handle = self.next_texture;
        self.next_texture += 1;
        self.textures.0.insert(handle, texture);
        handle
    }

    /// Binds a texture to a `.texref` variable.
    ///
    /// # Errors
    /// [`MemoryError::NoSymbol`].
    pub fn bind_texture(&mut self, name: &str, texture: Texture) -> Result<(), MemoryError> {
        let address = self.symbol(name)?.address;
        self.textures.0.insert(address, texture);
        Ok(())
    }

    /// Executes a kernel.
    ///
    /// # Errors
    /// A [`LaunchError`] if the kernel cannot start. One that starts and then fails has its reason in [`Report::error`], with everything
    /// that was counted and found until then.
    pub fn launch(&mut self, entry: &str, launch: &Launch) -> Result<Report, LaunchError> {
        self.start(entry, launch, Watch::default())
    }

    /// Executes a kernel as [`Machine::launch`] does, and tells `observer` of every access to global, shared, local and constant
    /// memory. That takes its time.
    ///
    /// # Errors
    /// As for [`Machine::launch`].
    pub fn launch_observed(
        &mut self,
        entry: &str,
        launch: &Launch,
        observer: &dyn Observer,
    ) -> Result<Report, LaunchError> {
        self.start(entry, launch, Watch { observer: Some(observer), ..Watch::default() })
    }

    /// Executes a kernel as [`Machine::launch`] does, and calls `block_done` after every block, possibly from several threads.
    ///
    /// # Errors
    /// As for [`Machine::launch`].
    pub fn launch_with_progress(
        &mut self,
        entry: &str,
        launch: &Launch,
        block_done: &(dyn Fn() + Sync),
    ) -> Result<Report, LaunchError> {
        self.start(entry, launch, Watch { block_done: Some(block_done), ..Watch::default() })
    }

    /// Executes a kernel as [`Machine::launch`] does; `watch` is told what it does, and may end it.
    ///
    /// # Errors
    /// As for [`Machine::launch`].
    pub fn launch_watched(
        &mut self,
        entry: &str,
        launch: &Launch,
        watch: Watch<'_>,
    ) -> Result<Report, LaunchError> {
        self.start(entry, launch, watch)
    }

    fn start(&mut self, entry: &str, launch: &Launch, watch: Watch<'_>) -> Result<Report, LaunchError> {
        self.heap.sweep();
        let function = self.program.entry(entry).ok_or_else(|| LaunchError::NoEntry {
            name: entry.into(),
            known: self.program.entries().collect::<Vec<_>>().join(", "),
        })?;
        if let Some((function, problem)) = self.program.fault(function) {
            return Err(LaunchError::Invalid { function: function.into(), problem: problem.clone() });
        }
        launch.check_extents(function.required_threads, function.max_threads)?;
        let params = self.bind(entry, &launch.arguments)?;
        let static_bytes = self.program.static_shared_bytes(entry).unwrap_or(0);
        let bytes = static_bytes + u64::from(launch.dynamic_shared);
        if bytes > SHARED_LIMIT {
            let largest = self.largest_shared(function, launch.dynamic_shared);
            return Err(LaunchError::SharedMemory { bytes, largest, limit: SHARED_LIMIT });
        }
        let shared = SharedLayout::new(&self.program.shared, &function.shared, launch.dynamic_shared);
        let options = &launch.options;
        let granule_shift = if self.has_narrow_accesses() { 0 } else { 2 };
        let (resident, taken) =
            self.check_memory(function, launch, u64::from(shared.bytes), granule_shift)?;
        let budget = Arc::new(Budget::new(options.memory_limit, taken));
        self.memory.provide();
        let workers = options.workers(launch.blocks());
        let shadow = (options.races == Races::All)
            .then(|| GlobalShadow::new(self.memory.sizes(), granule_shift, workers, budget.clone()));
        let launched = machine::Prepared {
            program: &self.program,
            entry: function,
            grid: launch.grid,
            block: launch.block,
            params,
            shared,
            dynamic_shared: launch.dynamic_shared,
            memory: &self.memory,
            textures: &self.textures,
            heap: &self.heap,
            races: options.races,
            granule_shift,
            shadow,
            blocks: BlockOrder::default(),
            multiprocessors: options.multiprocessors,
            resident,
            watch,
            budget,
            step_limit: options.step_limit,
            time_limit: options.time_limit,
            began: Instant::now(),
            steps: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        };
        Ok(machine::run(&launched, options.order, workers))
    }

    /// The parameter block for `arguments`.
    fn bind(&self, entry: &str, arguments: &[Argument]) -> Result<Vec<u8>, LaunchError> {
        let parameters = self.program.parameters(entry).unwrap_or_default();
        let wrong =
            |index: usize, message: String| LaunchError::Argument { entry: entry.into(), index, message };
        if arguments.len() != parameters.len() {
            let message =
                format!("{} arguments are given, {} are expected", arguments.len(), parameters.len());
            return Err(wrong(arguments.len().min(parameters.len()), message));
        }
        let end = parameters.last().map_or(0, |parameter| parameter.offset + parameter.bytes);
        let mut block = vec![0; end];
        for (index, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
            let bytes = argument.as_bytes();
            if bytes.len() != parameter.bytes {
                let message =
                    format!("{} bytes are given, `{}` has {}", bytes.len(), parameter.name, parameter.bytes);
                return Err(wrong(index, message));
            }
            block[parameter.offset..][..bytes.len()].copy_from_slice(bytes);
        }
        // Reads of words at the end stay inside.
        block.resize(end.next_multiple_of(16), 0);
        Ok(block)
    }

    /// Whether a byte or half word can be accessed by itself.
    fn has_narrow_accesses(&self) -> bool {
        let sites = &self.program.sites;
        let checked = |space: Space| matches!(space, Space::Shared | Space::Global | Space::Generic);
        let narrow = sites.memories.iter().chain(sites.atomics.iter().map(|site| &site.memory));
        narrow.into_iter().any(|site| site.bytes < 4 && checked(site.space))
            || sites.wmmas.iter().any(|site| site.memory.bytes < 4)
    }
}
