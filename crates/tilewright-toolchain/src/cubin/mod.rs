//! Machine code as a file: which kernels a cubin holds, and what each takes of a multiprocessor.
//!
//! A cubin is an ELF file. Registers, local memory and launch bounds are in its `.nv.info` sections, shared and constant memory
//! are the sizes of sections. Two generations of the format are read: that of toolkits up to 12 for architectures before
//! Blackwell, where the number of registers and barriers may be in the header of a kernel's `.text` section, and the present one.

mod attributes;
mod elf;
mod log;
mod reuse;

use attributes::{Code, Words, attributes};
use elf::{Elf, Section};
pub use reuse::{COMPILERS as REUSE_COMPILERS, reuse_operands};
use std::fmt;
use tilewright_arch::KernelResources;

/// Every kernel of compute capability 9.0 and later has this much shared memory in front of its own: it belongs to the system.
/// The driver counts it apart, and so do occupancy calculations.
const RESERVED_SHARED_MEMORY: u64 = 1024;

/// A function's symbol type, and the mark of a kernel among functions.
const FUNCTION: u8 = 2;
const ENTRY: u8 = 0x10;

/// What a cubin holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cubin {
    /// The compute capability it is for, such as 86.
    pub architecture: u32,
    /// Bytes of `__constant__` variables, shared by all kernels.
    pub constant_memory: u64,
    /// The kernels, in the order of their names.
    pub kernels: Vec<CompiledKernel>,
}

/// What one compiled kernel takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompiledKernel {
    /// The entry's name, mangled unless it is `extern "C"`.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of static shared memory of a block, without what the system reserves.
    pub static_shared_memory: u32,
    /// Named barriers in use; 16 where the kernel chooses them at run time.
    pub barriers: u32,
    /// Bytes of local memory of a thread: arrays that are indexed at run time, and spilled registers.
    pub local_memory: u32,
    /// What of it is spilled registers, where the assembler's log is at hand.
    pub spills: Option<Spills>,
    /// The first number of `__launch_bounds__`: the largest block.
    pub max_threads: Option<u32>,
    /// The block that is prescribed by `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// Bytes of parameters.
    pub parameters: u32,
}

impl CompiledKernel {
    /// What an occupancy calculation needs of it.
    pub fn resources(&self) -> KernelResources {
        let resources = KernelResources {
            registers_per_thread: self.registers,
            static_shared_memory: self.static_shared_memory,
            barriers: self.barriers,
            ..KernelResources::default()
        };
        let required = self
            .required_block
            .map(|extents| extents.iter().fold(1, |all: u32, &one| all.saturating_mul(one)));
        KernelResources {
            max_threads_per_block: required.or(self.max_threads).unwrap_or(resources.max_threads_per_block),
            ..resources
        }
    }
}

/// Registers that had to be kept in local memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spills {
    /// Bytes that a thread stores.
    pub stores: u32,
    /// Bytes that a thread loads.
    pub loads: u32,
}

/// Bytes that are not a cubin, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCubin(pub(crate) &'static str);

impl fmt::Display for InvalidCubin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a cubin: {}", self.0)
    }
}

impl std::error::Error for InvalidCubin {}

impl Cubin {
    /// Reads a cubin. Any bytes may be given.
    ///
    /// # Errors
    /// [`InvalidCubin`] for bytes that are none.
    ///
    /// ```
    /// use tilewright_toolchain::Cubin;
    /// assert!(Cubin::parse(b"no cubin").is_err());
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidCubin> {
        let elf = Elf::parse(bytes)?;
        let architecture = architecture(&elf);
        let constant_memory = elf.section(".nv.constant3").map_or(0, |section| section.size);
        let entries = elf.symbols.iter().enumerate().filter(|(_, symbol)| {
            symbol.info & 0xf == FUNCTION && symbol.other & ENTRY != 0 && !symbol.name.is_empty()
        });
        let module = elf.section(".nv.info").map_or_else(Vec::new, |section| attributes(section.bytes));
        let mut kernels: Vec<CompiledKernel> = entries
            .map(|(index, symbol)| kernel(&elf, &module, architecture, index, symbol.name))
            .collect::<Option<_>>()
            .ok_or(InvalidCubin("a kernel's sizes are beyond 32 bits"))?;
        kernels.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { architecture, constant_memory, kernels })
    }

    /// Adds what only the assembler's log (`-v`) tells: how much is spilled.
    pub fn with_log(mut self, log: &str) -> Self {
        for (name, spills) in log::spills(log) {
            if let Some(kernel) = self.kernels.iter_mut().find(|kernel| kernel.name == name) {
                kernel.spills = Some(spills);
            }
        }
        self
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&CompiledKernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// The number of `sm_NN`, whose place in the flags depends on the generation of the format.
fn architecture(elf: &Elf<'_>) -> u32 {
    const PRESENT_ABI: u8 = 65;
    if elf.os_abi == PRESENT_ABI { elf.flags >> 8 & 0xff } else { elf.flags & 0xff }
}

/// Puts a kernel together from its sections, its own attributes, and those of the module that name its symbol.
fn kernel(
    elf: &Elf<'_>,
    module: &[(Code, Words)],
    architecture: u32,
    symbol: usize,
    name: &str,
) -> Option<CompiledKernel> {
    let text = elf.section(&format!(".text.{name}"));
    let own =
        elf.section(&format!(".nv.info.{name}")).map_or_else(Vec::new, |section| attributes(section.bytes));
    let mine = |code| own.iter().find(|(known, _)| *known == code).map(|(_, words)| words.as_slice());
    let of_module = |code| {
        let pairs = module.iter().filter(|(known, _)| *known == code).map(|(_, words)| words.as_slice());
        pairs
            .filter_map(|words| Some((*words.first()?, *words.get(1)?)))
            .find(|(index, _)| *index as usize == symbol)
    };
    let first = |code| mine(code).and_then(|words| words.first().copied());
    let per_symbol = |code| of_module(code).map(|(_, value)| value);

    let shared = elf.section(&format!(".nv.shared.{name}")).map_or(0, |section| section.size);
    let reserved = if architecture >= 90 { RESERVED_SHARED_MEMORY } else { 0 };
    Some(CompiledKernel {
        name: name.into(),
        registers: per_symbol(Code::RegisterCount).or(text.map(header_registers)).unwrap_or(0),
        static_shared_memory: u32::try_from(shared.saturating_sub(reserved)).ok()?,
        barriers: first(Code::BarrierCount).or(text.map(header_barriers)).unwrap_or(0),
        local_memory: per_symbol(Code::MinStackSize).max(per_symbol(Code::FrameSize)).unwrap_or(0),
        spills: None,
        // Of three extents only the product counts.
        max_threads: mine(Code::MaxThreads)
            .map(|words| words.iter().fold(1, |all: u32, &one| all.saturating_mul(one))),
        required_block: mine(Code::RequiredThreads).and_then(|words| words.try_into().ok()),
        parameters: first(Code::ParameterSize).unwrap_or(0),
    })
}

/// The upper byte of `sh_info`, in the older format.
fn header_registers(text: &Section<'_>) -> u32 {
    text.info >> 24
}

/// Bits 20 to 26 of `sh_flags`, in the older format.
fn header_barriers(text: &Section<'_>) -> u32 {
    (text.flags >> 20 & 0x7f) as u32
}

#[cfg(test)]
mod tests;
