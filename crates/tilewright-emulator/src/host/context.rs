//! Memory that several programs share, and what runs on it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64},
};
use std::time::Instant;

use super::{arguments::Argument, error::MemoryError, launch::Launch, pointer::DevicePointer};
use crate::check::{BlockOrder, GlobalShadow};
use crate::machine::{self, BlockOrderPolicy, Heap, LaunchError, Races, Report, Texture, Textures, Watch};
use crate::memory::{Access, Budget, GlobalMemory, SharedLayout};
use crate::program::{Constancy, FIRST_REGION, Program, ProgramError, address};

/// Most shared memory of a block on any device: 227 KiB.
const SHARED_LIMIT: u64 = 227 << 10;

/// Regions that each device has to itself.
const DEVICE_REGIONS: u64 = 1 << 18;

/// What the programs of a device share: memory, which lives across launches, textures and the heap of kernels.
///
/// Every allocation lies far from every other, so that an index that runs out of one array never lands in another unnoticed.
///
/// ```
/// use tilewright_emulator::{Context, Launch, Watch};
///
/// let entry = |name: &str, instruction: &str| format!(
///     ".version 9.0 .target sm_90 .address_size 64
///      .visible .entry {name}(.param .u64 p) {{
///          .reg .u64 %rd<2>; .reg .u32 %r<2>;
///          ld.param.u64 %rd1, [p];
///          ld.global.u32 %r1, [%rd1];
///          {instruction} %r1, %r1, 3;
///          st.global.u32 [%rd1], %r1;
///          ret;
///      }}");
/// let mut context = Context::new(0);
/// let (add, multiply) = (context.load(&entry("add", "add.u32"))?, context.load(&entry("multiply", "mul.lo.u32"))?);
/// let number = context.allocate_named("number", 4)?;
/// let launch = Launch::new([1; 3], [1; 3]).arg(number);
/// assert!(context.launch(&add, "add", &launch, Watch::default())?.is_clean());
/// assert!(context.launch(&multiply, "multiply", &launch, Watch::default())?.is_clean());
/// assert_eq!(context.bytes(number, 4)?, [9, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Context {
    memory: GlobalMemory,
    textures: Textures,
    heap: Heap,
    allocations: u64,
    next_texture: u64,
    /// What cooperative launches meet at, once there was one.
    grid_workspace: Option<u64>,
}

impl Context {
    /// Devices whose addresses differ.
    pub const DEVICES: u8 = 128;

    /// The context of device number `device`. Addresses of devices with other numbers modulo [`Context::DEVICES`] are others, and none of
    /// them is an address of this process: these end at 2^47.
    pub fn new(device: u8) -> Self {
        let first = 1 << (47 - address::REGION_SHIFT);
        Self::with_regions(
            first + u64::from(device % Self::DEVICES) * DEVICE_REGIONS,
            DEVICE_REGIONS as usize,
        )
    }

    /// The number of the device whose context an address belongs to; `None` for addresses of this process.
    pub fn device_of(address: u64) -> Option<u8> {
        let region = (address >> address::REGION_SHIFT).checked_sub(1 << (47 - address::REGION_SHIFT))?;
        u8::try_from(region / DEVICE_REGIONS).ok().filter(|&device| device < Self::DEVICES)
    }

    /// At most `most` regions, from number `first` on.
    fn with_regions(first: u64, most: usize) -> Self {
        let (textures, heap) = Default::default();
        Self {
            memory: GlobalMemory::new(first, most),
            textures,
            heap,
            allocations: 0,
            next_texture: 1,
            grid_workspace: None,
        }
    }

    /// A context for one program that was placed in the first regions.
    pub(super) fn of_program(program: &Program) -> Self {
        let mut context = Self::with_regions(FIRST_REGION, DEVICE_REGIONS as usize);
        context.place(program);
        context
    }

    /// Reads a PTX module, and gives its variables memory and their initial values.
    ///
    /// # Errors
    /// As for [`Program::new`]; [`ProgramError::NoRoom`] where this context has no addresses left for its variables.
    pub fn load(&mut self, ptx: &str) -> Result<Program, ProgramError> {
        let behind = self.memory.free_regions(0).unwrap_or(FIRST_REGION);
        let mut program = Program::placed(ptx, behind)?;
        let variables = program.variables.len();
        let first = self.memory.free_regions(variables).ok_or(ProgramError::NoRoom { variables })?;
        if first != behind && variables > 0 {
            program = Program::placed(ptx, first)?;
        }
        self.place(&program);
        Ok(program)
    }

    fn place(&mut self, program: &Program) {
        for variable in &program.variables {
            let access = match variable.constant {
                Constancy::Constant => Access::ReadOnly,
                Constancy::Writable => Access::ReadWrite,
            };
            let contents = variable.initialised.then(|| variable.contents.clone());
            self.memory.reserve(variable.region, variable.name.clone(), variable.bytes, access, contents);
        }
    }

    /// Frees the variables of a program that this context has loaded.
    pub fn unload(&mut self, program: &Program) {
        for symbol in program.symbols() {
            self.memory.free(symbol.address);
            self.textures.0.remove(&symbol.address);
        }
    }

    /// Allocates zeroed device memory, aligned to 256 bytes as `cudaMalloc` does.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`] for 64 GiB and more, [`MemoryError::Exhausted`] if this process has no room for it.
    pub fn allocate(&mut self, bytes: u64) -> Result<DevicePointer, MemoryError> {
        self.allocate_named(&format!("allocation {}", self.allocations), bytes)
    }

    /// Allocates as [`Context::allocate`] does; findings call the memory by `name`.
    ///
    /// # Errors
    /// As for [`Context::allocate`].
    pub fn allocate_named(&mut self, name: &str, bytes: u64) -> Result<DevicePointer, MemoryError> {
        let limit = address::REGION_BASE;
        if bytes >= limit {
            return Err(MemoryError::TooLarge { bytes, limit });
        }
        self.allocations += 1;
        let at = self.memory.allocate(name.into(), bytes, Access::ReadWrite);
        at.map(DevicePointer::from_address).ok_or(MemoryError::Exhausted { bytes })
    }

    /// What findings call an allocation from here on.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if `pointer` is not the start of an allocation.
    pub fn rename(&mut self, pointer: DevicePointer, name: &str) -> Result<(), MemoryError> {
        let address = pointer.address();
        let outside = MemoryError::Outside { address, bytes: 0 };
        self.memory.object(address).filter(|object| object.start == address).ok_or(outside.clone())?;
        self.memory.rename(address, name.into()).ok_or(outside)
    }

    /// Frees an allocation. Its addresses are not given out again for long, so that a later use is found.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if `pointer` is not the start of an allocation.
    pub fn free(&mut self, pointer: DevicePointer) -> Result<(), MemoryError> {
        let address = pointer.address();
        self.memory.free(address).ok_or(MemoryError::Outside { address, bytes: 0 })
    }

    /// Bytes of all allocations and variables.
    pub fn allocated(&self) -> u64 {
        self.memory.allocated()
    }

    /// The allocation or variable that holds the byte at `pointer`: where it starts, and its bytes.
    pub fn allocation(&self, pointer: DevicePointer) -> Option<(DevicePointer, u64)> {
        let object = self.memory.object(pointer.address())?;
        let is_inside = pointer.address().wrapping_sub(object.start) < object.bytes;
        is_inside.then(|| (DevicePointer::from_address(object.start), object.bytes))
    }

    /// Lets kernels reach memory of this process at its own addresses, as mapped and managed memory.
    ///
    /// # Safety
    /// The memory must stay readable and writable until it is [unmapped](Self::unmap), and its address be exposed.
    pub unsafe fn map(&mut self, name: &str, address: u64, bytes: u64) {
        self.memory.map(address, bytes, name.into());
    }

    /// Takes back what [`Context::map`] did for the memory that starts at `address`.
    pub fn unmap(&mut self, address: u64) {
        self.memory.unmap(address);
    }

    /// `bytes` bytes at `pointer`.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if they are not inside one allocation.
    pub fn bytes(&mut self, pointer: DevicePointer, bytes: u64) -> Result<&[u8], MemoryError> {
        let outside = MemoryError::Outside { address: pointer.address(), bytes };
        self.memory.slice(pointer.address(), bytes).ok_or(outside)
    }

    /// `bytes` bytes at `pointer`, to be written.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if they are not inside one allocation.
    pub fn bytes_mut(&mut self, pointer: DevicePointer, bytes: u64) -> Result<&mut [u8], MemoryError> {
        let outside = MemoryError::Outside { address: pointer.address(), bytes };
        self.memory.slice_mut(pointer.address(), bytes).ok_or(outside)
    }

    /// Makes a texture; the result is its handle, to be passed as `cudaTextureObject_t`.
    pub fn texture(&mut self, texture: Texture) -> u64 {
        let handle = self.next_texture;
        self.next_texture += 1;
        self.textures.0.insert(handle, texture);
        handle
    }

    /// Forgets a texture; `false` if there is none with this handle.
    pub fn remove_texture(&mut self, handle: u64) -> bool {
        self.textures.0.remove(&handle).is_some()
    }

    /// Binds a texture to the `.texref` variable at `address`.
    pub(super) fn bind_texture(&mut self, address: u64, texture: Texture) {
        self.textures.0.insert(address, texture);
    }

    /// Executes a kernel of a program that this context has loaded; `watch` is told what it does, and may end it.
    ///
    /// # Errors
    /// A [`LaunchError`] if the kernel cannot start. One that starts and then fails has its reason in [`Report::error`], with everything
    /// that was counted and found until then.
    pub fn launch(
        &mut self,
        program: &Program,
        entry: &str,
        launch: &Launch,
        watch: Watch<'_>,
    ) -> Result<Report, LaunchError> {
        self.heap.sweep();
        let function = program.entry(entry).ok_or_else(|| LaunchError::NoEntry {
            name: entry.into(),
            known: program.entries().collect::<Vec<_>>().join(", "),
        })?;
        if let Some((function, problem)) = program.fault(function) {
            return Err(LaunchError::Invalid { function: function.into(), problem: problem.clone() });
        }
        launch.check_extents(function.required_threads, function.max_threads)?;
        let cluster = launch.clusters(function.required_cluster)?;
        let params = bind(program, entry, &launch.arguments)?;
        let static_bytes = program.static_shared_bytes(entry).unwrap_or(0);
        let bytes = static_bytes + u64::from(launch.dynamic_shared);
        if bytes > SHARED_LIMIT {
            let largest = program.largest_shared(function, launch.dynamic_shared);
            return Err(LaunchError::SharedMemory { bytes, largest, limit: SHARED_LIMIT });
        }
        let shared = SharedLayout::new(&program.shared, &function.shared, launch.dynamic_shared);
        let options = &launch.options;
        let granule_shift = if program.has_narrow_accesses() { 0 } else { 2 };
        let (resident, taken) =
            self.memory.check_launch(program, function, launch, u64::from(shared.bytes), granule_shift)?;
        let budget = Arc::new(Budget::new(options.memory_limit, taken));
        let (bytes, limit) = (self.memory.allocated(), options.memory_limit);
        let no_room = || {
            let largest = "and this process does not get them".into();
            LaunchError::MemoryLimit { bytes, largest, limit }
        };
        let grid_workspace = match options.order {
            BlockOrderPolicy::Cooperative => self.grid_workspace()?,
            BlockOrderPolicy::Parallel | BlockOrderPolicy::Deterministic => 0,
        };
        self.memory.provide().ok_or_else(no_room)?;
        let workers = options.workers(launch.blocks());
        let shadow = (options.races >= Races::All)
            .then(|| GlobalShadow::new(self.memory.sizes(), granule_shift, workers, budget.clone()));
        let may_repeat = workers > 1 && options.races >= Races::All;
        let heap = if may_repeat { self.heap.saved() } else { Heap::default() };
        let mut launched = machine::Prepared {
            program,
            entry: function,
            grid: launch.grid,
            block: launch.block,
            cluster,
            explicit_cluster: launch.cluster.or(function.required_cluster).is_some(),
            params,
            shared,
            dynamic_shared: launch.dynamic_shared,
            grid_workspace,
            memory: &self.memory,
            textures: &self.textures,
            own_textures: &launch.textures,
            surfaces: &launch.surfaces,
            heap: &self.heap,
            races: options.races,
            granule_shift,
            shadow,
            blocks: BlockOrder::default(),
            multiprocessors: options.multiprocessors,
            capability: options.capability,
            schedule: options.schedule,
            resident,
            watch,
            budget,
            step_limit: options.step_limit,
            time_limit: options.time_limit,
            began: Instant::now(),
            steps: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            before: may_repeat.then(Mutex::default),
        };
        let report = machine::run(&launched, options.order, workers);
        if !may_repeat || !report.depends_on_order() {
            return Ok(report);
        }
        // Which thread comes to a fault first is a matter of luck where several workers run: one alone finds the same every time.
        launched.undo();
        self.heap.restore(heap);
        if let Some(observer) = watch.observer {
            observer.restart();
        }
        let budget = Arc::new(Budget::new(options.memory_limit, taken));
        let again = machine::Prepared {
            shadow: Some(GlobalShadow::new(self.memory.sizes(), granule_shift, 1, budget.clone())),
            blocks: BlockOrder::default(),
            watch: Watch { block_done: None, ..watch },
            budget,
            began: Instant::now(),
            steps: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            ..launched
        };
        Ok(machine::run(&again, BlockOrderPolicy::Deterministic, 1))
    }
}

impl Context {
    /// The place in global memory where the blocks of a cooperative launch meet (`grid.sync()`), zeroed: its own size, and a counter.
    fn grid_workspace(&mut self) -> Result<u64, LaunchError> {
        let bytes = GRID_WORKSPACE.len() as u64;
        let at = match self.grid_workspace {
            Some(at) => at,
            None => {
                let none =
                    LaunchError::MemoryLimit { bytes, largest: "for blocks to meet at".into(), limit: 0 };
                self.memory
                    .allocate("workspace of grid.sync()".into(), bytes, Access::ReadWrite)
                    .ok_or(none)?
            }
        };
        self.grid_workspace = Some(at);
        if let Some(workspace) = self.memory.slice_mut(at, bytes) {
            workspace.copy_from_slice(&GRID_WORKSPACE);
        }
        Ok(at)
    }
}

/// What `cooperative_groups` finds there: its size, and the counter of arrivals.
const GRID_WORKSPACE: [u8; 8] = [8, 0, 0, 0, 0, 0, 0, 0];

/// The parameter block for `arguments`.
fn bind(program: &Program, entry: &str, arguments: &[Argument]) -> Result<Vec<u8>, LaunchError> {
    let parameters = program.parameters(entry).unwrap_or_default();
    let wrong = |index: usize, message: String| LaunchError::Argument { entry: entry.into(), index, message };
    if arguments.len() != parameters.len() {
        let message = format!("{} arguments are given, {} are expected", arguments.len(), parameters.len());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_come_and_go_take_no_more_than_their_addresses() {
        let two = ".version 8.0 .target sm_80 .address_size 64 .global .u32 a = 7; .global .u32 b = 8;";
        let mut context = Context::with_regions(5, 5);
        for _ in 0..20 {
            let program = context.load(two).unwrap();
            for (symbol, value) in program.symbols().iter().zip([7, 8]) {
                let at = DevicePointer::from_address(symbol.address);
                assert_eq!(context.bytes(at, 4).unwrap(), [value, 0, 0, 0]);
                assert!((5..10).contains(&(symbol.address >> address::REGION_SHIFT)));
            }
            context.unload(&program);
        }
        let (first, _second) = (context.load(two).unwrap(), context.load(two).unwrap());
        assert_eq!(context.load(two).unwrap_err(), ProgramError::NoRoom { variables: 2 });
        // Two that are not in a row do not serve: the last region, and an allocation between.
        let last = context.allocate(16).unwrap();
        assert!(context.allocate(16).is_err());
        context.unload(&first);
        context.allocate(16).unwrap();
        context.free(last).unwrap();
        assert!(context.load(two).is_err());
    }

    #[test]
    fn memory_gets_another_name() {
        let mut context = Context::new(0);
        let at = context.allocate(16).unwrap();
        context.rename(at, "weights").unwrap();
        assert_eq!(context.memory.name(at.address()), Some("weights"));
        assert!(context.rename(at.offset(8), "part").is_err());
        context.free(at).unwrap();
        assert!(context.rename(at, "gone").is_err());
    }
}
