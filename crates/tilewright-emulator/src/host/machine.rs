//! A machine with a loaded program.

use bytemuck::Pod;

use super::{context::Context, error::MemoryError, launch::Launch, pointer::DevicePointer};
use crate::machine::{LaunchError, Observer, Report, Texture, Watch};
use crate::program::{Program, Symbol};

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
    program: Program,
    context: Context,
}

impl Machine {
    /// A machine with this program; its variables have their initial values.
    pub fn new(program: Program) -> Self {
        let context = Context::of_program(&program);
        Self { program, context }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Allocates zeroed device memory, aligned to 256 bytes as `cudaMalloc` does.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`] for 64 GiB and more, [`MemoryError::Exhausted`] if this process has no room for it.
    pub fn allocate(&mut self, bytes: u64) -> Result<DevicePointer, MemoryError> {
        self.context.allocate(bytes)
    }

    /// Allocates as [`Machine::allocate`] does; findings call the memory by `name`.
    ///
    /// # Errors
    /// As for [`Machine::allocate`].
    pub fn allocate_named(&mut self, name: &str, bytes: u64) -> Result<DevicePointer, MemoryError> {
        self.context.allocate_named(name, bytes)
    }

    /// Frees an allocation. Its addresses are not given out again for long, so that a later use is found.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if `pointer` is not the start of an allocation.
    pub fn free(&mut self, pointer: DevicePointer) -> Result<(), MemoryError> {
        self.context.free(pointer)
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
        self.context.bytes_mut(pointer, source.len() as u64)?.copy_from_slice(source);
        Ok(())
    }

    /// Copies `count` values from `pointer`.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if they are not inside the allocation.
    pub fn download<T: Pod>(&mut self, pointer: DevicePointer, count: usize) -> Result<Vec<T>, MemoryError> {
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        let source = self.context.bytes(pointer, bytes)?;
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
        self.write(DevicePointer::from_address(at), values)
    }

    /// Copies `count` values from the start of a device symbol (`cudaMemcpyFromSymbol`).
    ///
    /// # Errors
    /// As for [`Machine::write_symbol`].
    pub fn read_symbol<T: Pod>(&mut self, name: &str, count: usize) -> Result<Vec<T>, MemoryError> {
        let at = self.symbol(name)?.address;
        self.download(DevicePointer::from_address(at), count)
    }

    /// Makes a texture; the result is its handle, to be passed as `cudaTextureObject_t`.
    pub fn texture(&mut self, texture: Texture) -> u64 {
        self.context.texture(texture)
    }

    /// Binds a texture to a `.texref` variable.
    ///
    /// # Errors
    /// [`MemoryError::NoSymbol`].
    pub fn bind_texture(&mut self, name: &str, texture: Texture) -> Result<(), MemoryError> {
        let address = self.symbol(name)?.address;
        self.context.bind_texture(address, texture);
        Ok(())
    }

    /// Executes a kernel.
    ///
    /// # Errors
    /// A [`LaunchError`] if the kernel cannot start. One that starts and then fails has its reason in [`Report::error`], with everything
    /// that was counted and found until then.
    pub fn launch(&mut self, entry: &str, launch: &Launch) -> Result<Report, LaunchError> {
        self.context.launch(&self.program, entry, launch, Watch::default())
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
        self.context.launch(
            &self.program,
            entry,
            launch,
            Watch { observer: Some(observer), ..Watch::default() },
        )
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
        self.context.launch(&self.program, entry, launch, watch)
    }
}
