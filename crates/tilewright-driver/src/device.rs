//! The devices, as programs see them.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tilewright_arch::{ComputeCapability, Gpu};

use crate::abi::Handle;
use crate::call::locked;
use crate::code::Code;
use crate::heap::Memory;

/// A device of this process.
#[derive(Debug)]
pub(crate) struct Device {
    pub ordinal: u8,
    pub gpu: Gpu,
    pub primary: Mutex<Primary>,
    memory: Mutex<Memory>,
}

/// The device's primary context, shared by all that create none.
#[derive(Debug, Default)]
pub(crate) struct Primary {
    pub claims: u32,
    pub flags: u32,
    pub context: Option<Handle>,
}

impl Device {
    fn new(ordinal: u8, gpu: Gpu) -> Self {
        let (primary, memory) = (Mutex::default(), Mutex::new(Memory::new(ordinal, gpu.memory_bytes)));
        Self { ordinal, gpu, primary, memory }
    }

    /// Its memory; a launch holds it until the kernel has ended.
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        locked(&self.memory)
    }

    /// `CUdevice_attribute`; `None` for one that CUDA does not have.
    pub fn attribute(&self, which: c_int) -> Option<c_int> {
        let (gpu, limits) = (&self.gpu, &self.gpu.limits);
        let number = |value: u64| c_int::try_from(value).unwrap_or(c_int::MAX);
        // A bus of 512 bits; the clock is what gives the rate: two transfers for each of its cycles.
        const BUS_BITS: u32 = 512;
        let memory_khz = gpu.memory_bytes_per_second as f64 / f64::from(2 * BUS_BITS / 8) / 1e3;
        Some(match which {
            1..=3 => limits.max_threads_per_block as c_int,
            4 => 64,
            5 => c_int::MAX,
            6 | 7 => 65535,
            8 => limits.shared_memory_per_block as c_int,
            9 => 64 << 10,
            10 => 32,
            11 => c_int::MAX,
            12 => limits.registers_per_block as c_int,
            13 => number(gpu.clock_hz / 1000),
            14 => 512,
            16 => number(gpu.multiprocessors.into()),
            15 | 19 | 31 | 40 | 41 | 78 | 79 | 80 | 83 | 86 | 90 | 91 | 99 | 115 => 1,
            // One timeline; no limit of run time but the emulator's own; no surfaces, no meshes of memory, no access to pageable memory.
            17 | 18 | 20 | 32 | 35 | 84 | 85 | 88 | 89 | 92..=94 | 96 | 98 | 100..=105 | 107..=110 => 0,
            112..=114 | 116..=119 => 0,
            21 | 24 | 25 | 26 | 47 | 48 | 49 | 73 | 77 => 16384,
            22 | 23 => 65536,
            69 => 1 << 28,
            70 | 71 => 131_072,
            72 => 2_097_120,
            27..=29 | 42..=46 | 52..=68 | 74 => 0,
            30 => 512,
            33 => c_int::from(self.ordinal) + 1,
            34 | 50 => 0,
            36 => number(memory_khz.round() as u64),
            37 => BUS_BITS as c_int,
            38 => number(gpu.l2_bytes),
            39 => limits.max_threads_per_sm as c_int,
            51 => 32,
            75 => gpu.capability().major().into(),
            76 => gpu.capability().minor().into(),
            81 => limits.shared_memory_per_sm as c_int,
            82 => limits.registers_per_sm as c_int,
            87 => 2,
            95 => c_int::from(gpu.capability() >= ComputeCapability::new(6, 0)),
            97 => limits.shared_memory_per_block_optin as c_int,
            106 => limits.max_blocks_per_sm as c_int,
            111 => limits.shared_memory_reserved_per_block as c_int,
            120..=160 => 0,
            _ => return None,
        })
    }

    /// Its place on a bus that is not there.
    pub fn bus_id(&self) -> String {
        format!("0000:{:02x}:00.0", self.ordinal + 1)
    }

    /// 16 bytes that tell it from others of this process.
    pub fn uuid(&self) -> [u8; 16] {
        let mut bytes = *b"Tilewright \0\0\0\0\0";
        (bytes[11], bytes[12], bytes[13]) =
            (self.gpu.capability().major(), self.gpu.capability().minor(), self.ordinal);
        bytes
    }
}

static DEVICES: RwLock<Vec<Option<Arc<Device>>>> = RwLock::new(Vec::new());

/// How many numbers of devices are taken.
pub(crate) fn count() -> usize {
    DEVICES.read().unwrap_or_else(PoisonError::into_inner).len()
}

/// The device with this number.
pub(crate) fn of(ordinal: c_int) -> Result<Arc<Device>, Code> {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let device = usize::try_from(ordinal).ok().and_then(|ordinal| devices.get(ordinal)?.clone());
    device.ok_or(Code::INVALID_DEVICE)
}

/// There are as many devices as have addresses of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyDevices;

impl std::fmt::Display for TooManyDevices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a process has at most {MOST} emulated devices")
    }
}

impl std::error::Error for TooManyDevices {}

const MOST: usize = tilewright_emulator::Context::DEVICES as usize;

/// Adds a device, and returns its number: the lowest that is free.
///
/// # Errors
/// Where there are 128 devices.
///
/// ```
/// use tilewright_driver::{add_device, function, remove_device};
/// let gpu = tilewright_arch::Gpu::named("a6000")?;
/// let ordinal = add_device(gpu)?;
/// // Its functions are found by their names, as those of a library are.
/// assert!(function("cuDeviceGetCount").is_some());
/// remove_device(ordinal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_device(gpu: Gpu) -> Result<usize, TooManyDevices> {
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    let free = devices.iter().position(Option::is_none).unwrap_or(devices.len());
    let ordinal = u8::try_from(free).ok().filter(|_| free < MOST).ok_or(TooManyDevices)?;
    if free == devices.len() {
        devices.push(None);
    }
    devices[free] = Some(Arc::new(Device::new(ordinal, gpu)));
    Ok(free)
}

/// The device with this number, which may be given to another one from here on.
pub(crate) fn remove(ordinal: usize) -> Option<Arc<Device>> {
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    devices.get_mut(ordinal).and_then(Option::take)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_known_gpu_can_be_imitated() {
        for device in tilewright_arch::Device::all() {
            let device = Device::new(3, device.into());
            assert_eq!(device.attribute(16), Some(device.gpu.multiprocessors as c_int));
            assert!(device.attribute(97) >= device.attribute(8), "{}", device.gpu.name);
            // As programs compute it: two transfers of the bus for each cycle of the memory's clock.
            let rate = 2.0 * 1e3 * f64::from(device.attribute(36).unwrap_or(0)) * 64.0;
            assert!(
                (rate / device.gpu.memory_bytes_per_second as f64 - 1.0).abs() < 1e-3,
                "{}: {rate}",
                device.gpu.name
            );
            assert_eq!(device.bus_id(), "0000:04:00.0");
        }
    }

    #[test]
    fn devices_have_names_of_their_own() {
        let uuid = |ordinal| Device::new(ordinal, Gpu::default()).uuid();
        let all: BTreeSet<_> = (0..128).map(uuid).collect();
        assert_eq!(all.len(), 128);
    }

    #[test]
    fn attributes_that_there_are_not_are_refused() {
        let device = Device::new(0, Gpu::default());
        assert_eq!((device.attribute(0), device.attribute(-1), device.attribute(1000)), (None, None, None));
        assert!((1..=119).all(|which| device.attribute(which).is_some()));
    }
}
