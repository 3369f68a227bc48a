//! A launch that names the host's arrays, on a machine of its own.
//!
//! A machine holds one module, and a recipe may use several: between its launches the arrays live on the host, and each launch gets
//! copies.

use bytemuck::Pod;
use tilewright_kernels::{ArgumentValue, Buffer};

use super::{
    arguments::Argument,
    error::MemoryError,
    launch::Launch,
    machine::{DevicePointer, Machine},
};
use crate::machine::{AddressMode, Texels, Texture};
use crate::program::Program;

/// An array of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostArray<'a> {
    /// What findings call it.
    pub name: &'a str,
    /// Its contents.
    pub bytes: &'a [u8],
    /// The byte that pointers to it point to: its first one, or that of element (0, 0) where strides are negative.
    pub origin: usize,
}

/// An argument that names arrays by their place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StagedArgument {
    /// The address of an array's origin.
    Pointer(usize),
    /// A texture over an array of 32-bit elements.
    Texture(usize),
    /// A value, as it lies in memory.
    Bytes(Vec<u8>),
}

impl StagedArgument {
    /// The argument of a recipe; `place` finds a buffer in the list of arrays. `None` for a buffer that is not there.
    pub fn of_recipe(value: ArgumentValue, place: &dyn Fn(Buffer) -> Option<usize>) -> Option<Self> {
        Some(match value {
            ArgumentValue::Pointer(buffer) => Self::Pointer(place(buffer)?),
            ArgumentValue::Texture(buffer) => Self::Texture(place(buffer)?),
            ArgumentValue::I32(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::I64(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::F32(x) => Self::Bytes(x.to_le_bytes().into()),
            ArgumentValue::F64(x) => Self::Bytes(x.to_le_bytes().into()),
        })
    }
}

/// A machine that is ready for one launch.
///
/// ```
/// use tilewright_emulator::{HostArray, Launch, Program, Stage, StagedArgument};
/// # let ptx = ".version 9.0 .target sm_90 .address_size 64
/// #     .visible .entry first(.param .u64 p, .param .u32 x) {
/// #         .reg .u64 %rd<2>; .reg .u32 %r<2>;
/// #         ld.param.u64 %rd1, [p];
/// #         ld.param.u32 %r1, [x];
/// #         st.global.u32 [%rd1], %r1;
/// #         ret;
/// #     }";
/// // `first` stores its second argument at its first.
/// let bytes = vec![0; 8];
/// let arguments = [StagedArgument::Pointer(0), StagedArgument::Bytes(7_u32.to_le_bytes().into())];
/// let array = HostArray { name: "output", bytes: &bytes, origin: 4 };
/// let mut stage = Stage::new(Program::new(ptx)?, Launch::new([1; 3], [1; 3]), &arguments, &[array])?;
/// assert!(stage.machine.launch("first", &stage.launch)?.is_clean());
/// assert_eq!(stage.read::<u32>(0, 2)?, [0, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stage {
    /// The machine, with a copy of each array in its memory.
    pub machine: Machine,
    /// Where each array begins.
    pub pointers: Vec<DevicePointer>,
    /// The launch, with its arguments.
    pub launch: Launch,
}

impl Stage {
    /// A machine with copies of the arrays, and `launch` with these arguments behind those that it has.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`] for an array of 64 GiB and more, [`MemoryError::Outside`] for an argument that names none.
    pub fn new(
        program: Program,
        launch: Launch,
        arguments: &[StagedArgument],
        arrays: &[HostArray<'_>],
    ) -> Result<Self, MemoryError> {
        let mut machine = Machine::new(program);
        let mut pointers = Vec::with_capacity(arrays.len());
        for array in arrays {
            let pointer = machine.allocate_named(array.name, array.bytes.len() as u64)?;
            machine.write(pointer, array.bytes)?;
            pointers.push(pointer);
        }
        let mut stage = Self { machine, pointers, launch };
        for argument in arguments {
            let argument = stage.argument(argument, arrays)?;
            stage.launch.arguments.push(argument);
        }
        Ok(stage)
    }

    fn argument(
        &mut self,
        argument: &StagedArgument,
        arrays: &[HostArray<'_>],
    ) -> Result<Argument, MemoryError> {
        Ok(match argument {
            StagedArgument::Pointer(index) => {
                let origin = array(arrays, *index)?.origin;
                self.pointer(*index)?.offset(origin as i64).into()
            }
            StagedArgument::Texture(index) => {
                let texture = texture(array(arrays, *index)?.bytes);
                self.machine.texture(texture).into()
            }
            StagedArgument::Bytes(bytes) => Argument::bytes(bytes),
        })
    }

    /// The first `count` values of an array, as they are now.
    ///
    /// # Errors
    /// [`MemoryError::Outside`] if there are not so many, or no such array.
    pub fn read<T: Pod>(&mut self, array: usize, count: usize) -> Result<Vec<T>, MemoryError> {
        let pointer = self.pointer(array)?;
        self.machine.download(pointer, count)
    }

    fn pointer(&self, index: usize) -> Result<DevicePointer, MemoryError> {
        self.pointers.get(index).copied().ok_or(MemoryError::Outside { address: 0, bytes: 0 })
    }
}

fn array<'a, 'b>(arrays: &'b [HostArray<'a>], index: usize) -> Result<&'b HostArray<'a>, MemoryError> {
    arrays.get(index).ok_or(MemoryError::Outside { address: 0, bytes: 0 })
}

/// A buffer of 32-bit texels: as on the device, indices outside read zero.
fn texture(bytes: &[u8]) -> Texture {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word: u32, &byte| word << 8 | u32::from(byte));
    let texels: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
    let count = texels.len();
    Texture {
        texels: Texels::Words(texels),
        address_mode: AddressMode::Border,
        ..Texture::new([count, 1, 1], &[])
    }
}
