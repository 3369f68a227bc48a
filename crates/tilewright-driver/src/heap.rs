//! The memory of a device, and whose it is.

use std::collections::BTreeMap;

use tilewright_emulator::{Context as Emulated, DevicePointer};

use crate::abi::{Address, Handle};
use crate::call::Call;
use crate::code::Code;

/// What fresh memory holds: NaN as a float, -1 as an integer, so that a program that relies on zeros is found out. Larger allocations
/// hold zeros, which take no memory of this process until they are written.
const UNWRITTEN: u8 = 0xff;

/// The largest allocation that is filled.
const FILLED: u64 = 256 << 20;

/// The memory of a device, with the programs that are loaded there.
#[derive(Debug)]
pub(crate) struct Memory {
    pub emulated: Emulated,
    /// Bytes that the device has.
    total: u64,
    owners: BTreeMap<Address, Owner>,
}

/// Whose an allocation is.
#[derive(Clone, Copy, Debug)]
struct Owner {
    context: Handle,
    bytes: u64,
}

impl Memory {
    pub fn new(device: u8, total: u64) -> Self {
        Self { emulated: Emulated::new(device), total, owners: BTreeMap::new() }
    }

    /// Free and all bytes.
    pub fn info(&self) -> (u64, u64) {
        (self.total.saturating_sub(self.emulated.allocated()), self.total)
    }

    pub fn allocate(&mut self, context: Handle, bytes: u64) -> Result<Address, Code> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        if bytes > self.info().0 {
            return Err(Code::OUT_OF_MEMORY);
        }
        let pointer = self.emulated.allocate(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
        if bytes <= FILLED {
            self.emulated.bytes_mut(pointer, bytes).map_err(|_| Code::UNKNOWN)?.fill(UNWRITTEN);
        }
        self.owners.insert(pointer.address(), Owner { context, bytes });
        Ok(pointer.address())
    }

    pub fn free(&mut self, address: Address) -> Call {
        self.owners.remove(&address).ok_or(Code::INVALID_VALUE)?;
        self.emulated.free(DevicePointer::from_address(address)).map_err(|_| Code::INVALID_VALUE)
    }

    /// Frees what belongs to a context.
    pub fn free_all(&mut self, context: Handle) {
        let is_of = |owner: &Owner| owner.context == context;
        let all: Vec<Address> =
            self.owners.iter().filter(|(_, owner)| is_of(owner)).map(|(&address, _)| address).collect();
        for address in all {
            // It is there, as the list says.
            let _ = self.free(address);
        }
    }

    /// The context, the start and the bytes of the allocation that holds an address.
    pub fn allocation(&self, address: Address) -> Option<(Handle, Address, u64)> {
        let (&start, owner) = self.owners.range(..=address).next_back()?;
        (address - start < owner.bytes).then_some((owner.context, start, owner.bytes))
    }
}
