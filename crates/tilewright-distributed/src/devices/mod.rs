//! Closures and products on GPUs, one for each rank: a thread of one process, or a process.
//!
//! ```
//! use tilewright::{SemiringId, Value, cuda::Engine};
//! use tilewright_distributed::{Closure, DistMatrix, Grid, Shape, devices};
//! # let gpu = Default::default();
//! let gpus = [Engine::emulated(gpu)?, Engine::emulated(gpu)?]; // Engine::open(0)?, Engine::open(1)?
//! let found = devices::run(&gpus, |group, device| {
//!     let grid = Grid::new(group, Shape { rows: 1, cols: 2 })?;
//!     let mut d = DistMatrix::from_fn(&grid, 9, 9, 2, |i, j| if j == i + 1 { 1 } else { i32::MAX })?;
//!     Closure { device: Some(device), ..Closure::new(SemiringId::MinPlus) }.run(&mut d)?;
//!     d.gather().map(|d| d.as_ref().get(0, 8))
//! });
//! assert!(found.into_iter().all(|d| d.is_ok_and(|d| d == Some(Value::Int(8)))));
//! # Ok::<(), tilewright::Error>(())
//! ```

mod closure;
mod lanes;
mod link;
mod product;
mod rank;
mod trace;

pub(crate) use closure::OnDevice;
pub use product::multiply;
pub use trace::{Span, Trace};

pub use crate::site::Work;
use crate::{fault, group::Group, threads};
use core::hash::{Hash, Hasher};
use std::{hash::DefaultHasher, sync::OnceLock};
use tilewright::{
    Error, ErrorKind,
    cuda::{DeviceInfo, DriverKind, Engine, Nccl},
};

/// How panels go from GPU to GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// By NCCL.
    Nccl,
    /// By copies among the devices of one process.
    Peers,
    /// By the memory of hosts, and what sends from there.
    Hosts,
}

impl Transport {
    /// Its name: `nccl`, `peers` or `hosts`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nccl => "nccl",
            Self::Peers => "peers",
            Self::Hosts => "hosts",
        }
    }
}

/// The GPU of a rank, and how it sends to those of others.
#[derive(Debug)]
pub struct Device {
    engine: Engine,
    /// Or why there is none; nothing for a rank that is alone, which needs none.
    nccl: Option<Result<Nccl, String>>,
    transport: Transport,
    /// What makes and sends panels beside other work, when that was asked for.
    panels: OnceLock<Engine>,
    trace: Option<Trace>,
}

impl Device {
    /// The GPU that this rank has. All ranks call it, and choose the same transport: NCCL where all have it, and a GPU each.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn new(engine: Engine, group: &dyn Group) -> Result<Self, Error> {
        let find = || Nccl::find(&engine).map_err(|error| error.to_string());
        let nccl = (group.size() > 1).then(find);
        let place = Place::of(&engine.device().pci_bus_id);
        let all = Place::exchange(group, place, u64::from(matches!(nccl, Some(Ok(_)))))?;
        let is_one_process = all.iter().all(|(other, _)| other.process == place.process);
        let are_apart = all.iter().enumerate().all(|(at, (one, _))| {
            all[..at].iter().all(|(other, _)| (one.host, one.gpu) != (other.host, other.gpu))
        });
        // NCCL takes one rank of a GPU; that of emulated ones knows one process.
        let is_emulated = engine.driver_kind() == DriverKind::Emulator;
        let are_known = if is_emulated { is_one_process } else { are_apart };
        let have_nccl = all.iter().all(|(_, has)| *has != 0);
        let transport = match (have_nccl && are_known, is_one_process) {
            (true, _) => Transport::Nccl,
            (false, true) => Transport::Peers,
            (false, false) => Transport::Hosts,
        };
        Ok(Self { engine, nccl, transport, panels: OnceLock::new(), trace: None })
    }

    /// As [`Device::new`], of a GPU of this machine: its ranks take them in turn.
    ///
    /// # Errors
    /// As [`Group::exchange`]; `unavailable` where one of the ranks finds no GPU.
    pub fn of_rank(group: &dyn Group) -> Result<Self, Error> {
        let place = Place::of("");
        let all = Place::exchange(group, place, 0)?;
        let before = all[..group.rank()].iter().filter(|(other, _)| other.host == place.host).count();
        let opened = DeviceInfo::all().and_then(|found| Engine::open(before % found.len().max(1)));
        Self::new(group.agree(opened, "opening a GPU")?, group)
    }

    /// Another transport than the one that was chosen, the same on all ranks: [`Transport::Peers`] in one process, [`Transport::Hosts`] anywhere.
    ///
    /// # Errors
    /// `unavailable` for NCCL where it was not found.
    pub fn by(self, transport: Transport) -> Result<Self, Error> {
        match (&self.nccl, transport) {
            (Some(Err(why)), Transport::Nccl) => {
                let hint = "install NCCL 2.18 or later".into();
                Err(ErrorKind::Unavailable { what: "NCCL", why: why.clone(), hint }.into())
            }
            _ => Ok(Self { transport, ..self }),
        }
    }

    /// Keeps what it does for closures and products from now on. Either all ranks do so or none.
    pub fn traced(self) -> Self {
        Self { trace: Some(Trace::default()), ..self }
    }

    /// What it did, where that is kept.
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// How it sends to other GPUs.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// The GPU.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// An engine for panels, beside the other one.
    fn panels(&self) -> Result<&Engine, Error> {
        match self.panels.get() {
            Some(panels) => Ok(panels),
            None => self.engine.beside().map(|panels| self.panels.get_or_init(|| panels)),
        }
    }

    /// Why there is no NCCL, where there is none.
    pub fn without_nccl(&self) -> Option<&str> {
        self.nccl.as_ref().and_then(|found| found.as_ref().err()).map(String::as_str)
    }
}

/// Calls `work` on a thread for each GPU, with its rank of one group, and gives what they return in the order of ranks.
///
/// # Panics
/// Where `work` panics.
pub fn run<T: Send>(
    gpus: &[Engine],
    work: impl Fn(&dyn Group, &Device) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    threads::run(gpus.len(), |group| {
        let device = Device::new(gpus[group.rank()].clone(), group)?;
        work(group, &device)
    })
}

/// Where a rank is, by hashes.
#[derive(Clone, Copy)]
struct Place {
    host: u64,
    process: u64,
    gpu: u64,
}

impl Place {
    fn of(gpu: &str) -> Self {
        let host = fault::host();
        let process = hash((&host, std::process::id()));
        Self { host: hash(&host), process, gpu: hash(gpu) }
    }

    /// The places of all ranks, each with a number that it gives.
    fn exchange(group: &dyn Group, mine: Self, number: u64) -> Result<Vec<(Self, u64)>, Error> {
        const WORD: usize = size_of::<u64>();
        let words = [mine.host, mine.process, mine.gpu, number].map(u64::to_le_bytes);
        let all = group.exchange(words.as_flattened())?;
        let word =
            |bytes: &[u8], at: usize| bytes[at * WORD..][..WORD].try_into().map_or(0, u64::from_le_bytes);
        let place = |bytes| Self { host: word(bytes, 0), process: word(bytes, 1), gpu: word(bytes, 2) };
        Ok(all.chunks_exact(4 * WORD).map(|bytes| (place(bytes), word(bytes, 3))).collect())
    }
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
