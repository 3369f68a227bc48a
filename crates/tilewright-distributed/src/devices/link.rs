//! How a panel goes along a row or a column of GPUs.

use super::{Device, Transport};
use crate::{
    buffer::Buffer,
    grid::{Along, Grid},
    group::{Group, Pending},
};
use tilewright::{
    DType, Error, Layout,
    cuda::{Communicator, DeviceMut, DeviceRef, DynDeviceMatrix, Engine, Nccl, NcclId, PeerAddress},
};

/// Ranks of a row or a column.
pub(super) enum Link {
    /// NCCL; nothing where a rank is alone.
    Nccl(Option<Communicator>),
    Peers,
    /// Buffers on the host that panels come through.
    Hosts(Vec<Buffer>),
}

/// Ranks of a row or a column that can be joined.
pub(super) enum Named {
    /// Their name, how many they are, and which this one is; nothing where a rank is alone.
    Nccl(Nccl, Option<(NcclId, usize, usize)>),
    Peers,
    Hosts,
}

/// A panel that is under way through the memory of hosts.
pub(super) struct OnItsWay {
    pub pending: Box<dyn Pending>,
    pub is_root: bool,
}

impl Link {
    /// Names the ranks along a row or a column for NCCL, which they are joined by afterwards. All ranks of the grid call it.
    pub fn named(device: &Device, grid: &Grid<'_>, along: Along) -> Result<Named, Error> {
        let (world, group) = (grid.world(), grid.along(along));
        let nccl = match (device.transport, &device.nccl) {
            (Transport::Nccl, Some(Ok(nccl))) => *nccl,
            (Transport::Hosts, _) => return Ok(Named::Hosts),
            _ => return Ok(Named::Peers),
        };
        let id = if group.rank() == 0 { nccl.new_id() } else { Ok(NcclId([0; 128])) };
        let id = world.agree(id, "naming a row of GPUs")?;
        let told = group.tell(&id.0, 0)?;
        let id = told.try_into().ok().filter(|_| group.size() > 1).map(NcclId);
        Ok(Named::Nccl(nccl, id.map(|id| (id, group.size(), group.rank()))))
    }

    /// Joins them. An engine sends their panels. They have at most so many bytes, and as many as are given are under way at once.
    pub fn joined(named: &Named, engine: &Engine, (bytes, count): (usize, usize)) -> Result<Self, Error> {
        match named {
            Named::Peers => Ok(Self::Peers),
            Named::Hosts => {
                Ok(Self::Hosts((0..count).map(|_| Buffer::zeroed(bytes)).collect::<Result<_, _>>()?))
            }
            Named::Nccl(_, None) => Ok(Self::Nccl(None)),
            Named::Nccl(nccl, Some((id, size, rank))) => {
                nccl.join(engine, id, *size, *rank).map(|joined| Self::Nccl(Some(joined)))
            }
        }
    }

    /// Sends for the first time: NCCL connects GPUs then, which takes longer than a panel.
    pub fn connect(&self, first: &mut DynDeviceMatrix) -> Result<(), Error> {
        match self {
            Self::Nccl(Some(communicator)) => communicator.broadcast(first, first.bytes(), 0),
            _ => Ok(()),
        }
    }

    /// What has gone wrong since the last time.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Nccl(Some(communicator)) => communicator.check(),
            _ => Ok(()),
        }
    }

    pub fn abort(&self) {
        if let Self::Nccl(Some(communicator)) = self {
            communicator.abort();
        }
    }
}

/// Where the root's panel is; nothing where the root has failed.
fn told(all: &[u8], root: usize) -> Option<PeerAddress> {
    let words = all.chunks_exact(2 * size_of::<u64>()).nth(root)?;
    let (context, address) = words.split_at(size_of::<u64>());
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let found = PeerAddress { context: number(context) as usize, address: number(address) };
    (found.address != 0).then_some(found)
}

/// Lets all others copy the root's panel. What fails here alone is the second result.
///
/// # Errors
/// As [`Group::exchange`].
pub(super) fn by_peers(
    engine: &Engine,
    group: &dyn Group,
    panel: &mut DynDeviceMatrix,
    bytes: usize,
    root: usize,
) -> Result<Result<(), Error>, Error> {
    let is_root = group.rank() == root;
    let mut done = if is_root { engine.synchronize() } else { Ok(()) };
    let here = engine.peer_address(panel);
    let mine = if is_root && done.is_ok() { [here.context as u64, here.address] } else { [0, 0] };
    let all = group.exchange(mine.map(u64::to_le_bytes).as_flattened())?;
    if let (false, Some(from)) = (is_root, told(&all, root)) {
        // SAFETY: the root has told the address, its work is done, and it waits for the copy in the exchange that follows.
        let copied = unsafe { engine.copy_from_peer(from, panel, bytes) };
        done = copied.and_then(|()| engine.synchronize());
    }
    group.exchange(&[0])?;
    Ok(done)
}

/// Begins to send the root's panel from its host. What fails here alone is the second result.
///
/// # Errors
/// As [`Group::broadcast`].
pub(super) fn by_hosts(
    spare: &mut Vec<Buffer>,
    group: &dyn Group,
    (panel, elements): (&DynDeviceMatrix, usize),
    root: usize,
) -> Result<(OnItsWay, Result<(), Error>), Error> {
    let (is_root, dtype) = (group.rank() == root, panel.dtype());
    let bytes = elements * dtype.size();
    let mut buffer = match spare.pop() {
        Some(buffer) => buffer.fit(bytes),
        None => Buffer::zeroed(bytes)?,
    };
    let done = if is_root { download(panel, dtype, elements, &mut buffer) } else { Ok(()) };
    let pending = group.broadcast(buffer, root)?;
    Ok((OnItsWay { pending, is_root }, done))
}

fn download(
    panel: &DynDeviceMatrix,
    dtype: DType,
    elements: usize,
    buffer: &mut Buffer,
) -> Result<(), Error> {
    let from = DeviceRef::from(panel).reshaped(Layout::row_major(1, elements))?;
    from.copy_to(buffer.matrix_mut(dtype, 1, elements)?)
}

/// Brings what has arrived on the host to the device.
pub(super) fn upload(buffer: &Buffer, panel: &mut DynDeviceMatrix) -> Result<(), Error> {
    let dtype = panel.dtype();
    let elements = buffer.len() / dtype.size();
    let mut to = DeviceMut::from(panel).reshaped(Layout::row_major(1, elements))?;
    to.copy_from(buffer.matrix(dtype, 1, elements)?)
}
