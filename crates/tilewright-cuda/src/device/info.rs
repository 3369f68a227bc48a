//! The devices of this machine and what they offer.

use super::driver::Driver;
use crate::ffi::driver::{Device, device_attribute as attribute};
use std::ffi::{CStr, c_char, c_int};
use tilewright_arch::{Architecture, ComputeCapability, Gpu, Limits};
use tilewright_core::{Error, ErrorKind, Hint, Setting};

/// A GPU as the driver describes it. Sizes are in bytes, rates in hertz; 0 where the driver does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its number among the devices that this process may use.
    pub ordinal: usize,
    /// Its product name.
    pub name: String,
    /// Its place on the PCI bus, such as `0000:3b:00.0`.
    pub pci_bus_id: String,
    /// The version of its multiprocessors.
    pub capability: ComputeCapability,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The highest clock rate.
    pub clock_hz: u64,
    /// Global memory.
    pub memory: u64,
    /// The highest rate of the memory bus: two transfers for each cycle of the memory clock.
    pub memory_bytes_per_second: u64,
    /// The second-level cache.
    pub l2_cache: u64,
    /// Shared memory of a multiprocessor.
    pub shared_memory_per_multiprocessor: u32,
    /// Shared memory that a block has without opting in.
    pub shared_memory_per_block: u32,
    /// Shared memory that a block can have by opting in.
    pub shared_memory_per_block_opt_in: u32,
    /// Shared memory that the system takes of each block.
    pub reserved_shared_memory: u32,
    /// Registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads that a multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// Blocks that a multiprocessor holds.
    pub blocks_per_multiprocessor: u32,
}

impl DeviceInfo {
    /// Every device that the driver shows to this process.
    ///
    /// # Errors
    /// `unavailable` where there is none, `device` when the driver fails.
    pub fn all() -> Result<Vec<Self>, Error> {
        let driver = Driver::find()?;
        (0..count(&driver)?).map(|ordinal| Self::read(&driver, ordinal).map(|(_, info)| info)).collect()
    }

    /// The GPU as plans and recipes know it. Rates are those of its data sheet, where the table of devices
    /// has it; what a driver does not tell of a multiprocessor is that of its compute capability, or of the
    /// last one that is known.
    pub fn gpu(&self) -> Gpu {
        let known = Limits::nearest(self.capability);
        let or = |told: u32, known| if told > 0 { told } else { known };
        let limits = Limits {
            max_threads_per_sm: or(self.threads_per_multiprocessor, known.max_threads_per_sm),
            max_blocks_per_sm: or(self.blocks_per_multiprocessor, known.max_blocks_per_sm),
            registers_per_sm: or(self.registers_per_multiprocessor, known.registers_per_sm),
            shared_memory_per_sm: or(self.shared_memory_per_multiprocessor, known.shared_memory_per_sm),
            shared_memory_per_block: or(self.shared_memory_per_block, known.shared_memory_per_block),
            shared_memory_per_block_optin: or(
                self.shared_memory_per_block_opt_in,
                known.shared_memory_per_block_optin,
            ),
            ..known
        };
        let gpu = Gpu {
            name: "",
            architecture: Architecture::of(self.capability),
            multiprocessors: self.multiprocessors,
            clock_hz: self.clock_hz,
            memory_bytes: self.memory,
            memory_bytes_per_second: self.memory_bytes_per_second,
            l2_bytes: self.l2_cache,
            limits,
        };
        let gpu = gpu.with_name(&self.name);
        let Some(listed) = gpu.device().map(Gpu::from) else { return gpu };
        let Gpu { clock_hz, memory_bytes_per_second, l2_bytes, .. } = listed;
        Gpu { clock_hz, memory_bytes_per_second, l2_bytes, ..gpu }
    }

    /// The device with this number.
    pub(crate) fn of(ordinal: usize) -> Result<Self, Error> {
        Self::read(&Driver::find()?, ordinal).map(|(_, info)| info)
    }

    /// The device with this number, and what the driver calls it.
    pub(super) fn read(driver: &Driver, ordinal: usize) -> Result<(Device, Self), Error> {
        let count = count(driver)?;
        if ordinal >= count {
            let why = format!("there are {count} devices, numbered from 0");
            let hint =
                Hint::from("CUDA_VISIBLE_DEVICES says which devices a process has, and in which order")
                    .also(Hint::from(Setting::Devices).say(" lists them"));
            return Err(ErrorKind::Unavailable { what: "the GPU with this number", why, hint }.into());
        }
        let mut device: Device = 0;
        // SAFETY: the pointer is valid for a write, and the number is that of a device.
        driver.check(unsafe { (driver.functions.cuDeviceGet)(&mut device, ordinal as c_int) }, || {
            format!("opening device {ordinal}")
        })?;
        let get = |which| attribute(driver, device, which);
        let mut memory = 0;
        // SAFETY: the pointer is valid for a write.
        let code = unsafe { (driver.functions.cuDeviceTotalMem_v2)(&mut memory, device) };
        driver.check(code, || format!("asking device {ordinal} for its memory"))?;
        let capability = (get(attribute::CAPABILITY_MAJOR), get(attribute::CAPABILITY_MINOR));
        let memory_clock = 1000 * u64::from(get(attribute::MEMORY_CLOCK_KHZ));
        let info = Self {
            ordinal,
            name: text(|buffer, size| {
                // SAFETY: there is room for `size` bytes.
                unsafe { (driver.functions.cuDeviceGetName)(buffer, size, device) }
            }),
            pci_bus_id: text(|buffer, size| {
                // SAFETY: there is room for `size` bytes.
                unsafe { (driver.functions.cuDeviceGetPCIBusId)(buffer, size, device) }
            }),
            capability: ComputeCapability::new(capability.0 as u8, capability.1 as u8),
            multiprocessors: get(attribute::MULTIPROCESSORS),
            clock_hz: 1000 * u64::from(get(attribute::CLOCK_KHZ)),
            memory: memory as u64,
            memory_bytes_per_second: 2 * memory_clock * u64::from(get(attribute::MEMORY_BUS_BITS)) / 8,
            l2_cache: get(attribute::L2_BYTES).into(),
            shared_memory_per_multiprocessor: get(attribute::SHARED_PER_MULTIPROCESSOR),
            shared_memory_per_block: get(attribute::SHARED_PER_BLOCK),
            shared_memory_per_block_opt_in: get(attribute::SHARED_PER_BLOCK_OPT_IN),
            reserved_shared_memory: get(attribute::RESERVED_SHARED),
            registers_per_multiprocessor: get(attribute::REGISTERS_PER_MULTIPROCESSOR),
            threads_per_multiprocessor: get(attribute::THREADS_PER_MULTIPROCESSOR),
            blocks_per_multiprocessor: get(attribute::BLOCKS_PER_MULTIPROCESSOR),
        };
        Ok((device, info))
    }
}

fn count(driver: &Driver) -> Result<usize, Error> {
    let mut count = 0;
    // SAFETY: the pointer is valid for a write.
    driver.check(unsafe { (driver.functions.cuDeviceGetCount)(&mut count) }, || "counting devices".into())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// An attribute; 0 where this driver does not know it.
pub(super) fn attribute(driver: &Driver, device: Device, which: c_int) -> u32 {
    let mut value = 0;
    // SAFETY: the pointer is valid for a write; an unknown attribute leaves the value alone.
    unsafe { (driver.functions.cuDeviceGetAttribute)(&mut value, which, device) };
    u32::try_from(value).unwrap_or(0)
}

/// A text that the driver writes into a buffer; empty where it fails.
fn text(write: impl FnOnce(*mut c_char, c_int) -> c_int) -> String {
    const ROOM: usize = 256;
    let mut buffer = [0_u8; ROOM];
    if write(buffer.as_mut_ptr().cast(), ROOM as c_int) != 0 {
        return String::new();
    }
    CStr::from_bytes_until_nul(&buffer).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
