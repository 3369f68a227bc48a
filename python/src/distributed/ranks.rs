//! Groups as Python objects.

use super::{
    called::Called,
    gpu::Gpu,
    pinned::{Pinned, detached},
};
use crate::errors::{OrRaise, exception};
use pyo3::{exceptions::PyRuntimeWarning, prelude::*};
use std::{
    cell::{Cell, OnceCell},
    ffi::CString,
};
use tilewright::{Backend, Error, ErrorKind, cuda::Engine};
use tilewright_distributed::{
    Group, Mpi,
    devices::{Device, Transport},
    threads,
};

/// A rank of a group, and with it the way to the others.
#[pyclass(frozen, module = "tilewright._native")]
pub struct Ranks(Pinned<Link>);

struct Link {
    through: Through,
    gpu: Gpu,
    /// The GPU, when it is open.
    device: OnceCell<Device>,
    /// Whether MPI has been left.
    is_over: Cell<bool>,
}

impl Link {
    fn new(through: Through, gpu: Gpu) -> Self {
        Self { through, gpu, device: OnceCell::new(), is_over: Cell::new(false) }
    }

    fn group(&self) -> &dyn Group {
        match &self.through {
            Through::Mpi(mpi) => mpi.group(),
            Through::Group(group) => &**group,
        }
    }
}

enum Through {
    Mpi(Mpi),
    Group(Box<dyn Group>),
}

/// MPI, started unless it is.
#[pyfunction]
pub fn ranks_of_mpi(py: Python<'_>) -> PyResult<Ranks> {
    Ok(Ranks::here(Through::Mpi(Mpi::open().or_raise(py)?), Gpu::InTurn))
}

/// A copy of a communicator of another user of MPI: the handles of its world, and of the communicator.
#[pyfunction]
pub fn ranks_of_communicator(py: Python<'_>, world: usize, communicator: usize) -> PyResult<Ranks> {
    // SAFETY: `tilewright._ranks` takes both from mpi4py, and refuses intercommunicators.
    let mpi = unsafe { Mpi::of_communicator(world, communicator) }.or_raise(py)?;
    Ok(Ranks::here(Through::Mpi(mpi), Gpu::InTurn))
}

/// So many ranks for threads of this process.
#[pyfunction]
pub fn ranks_of_threads(count: usize) -> Vec<Ranks> {
    of_threads((0..count).map(|_| Gpu::InTurn).collect())
}

/// A rank for each of these GPUs, for threads of this process.
#[pyfunction]
pub fn ranks_of_devices(py: Python<'_>, ordinals: Vec<usize>) -> PyResult<Vec<Ranks>> {
    let open = |ordinal| Engine::open(ordinal).map(Gpu::Given);
    let gpus: Result<Vec<_>, Error> = detached(py, || ordinals.into_iter().map(open).collect());
    gpus.or_raise(py).map(of_threads)
}

fn of_threads(gpus: Vec<Gpu>) -> Vec<Ranks> {
    let link = |(group, gpu): (Box<dyn Group + Send>, Gpu)| Link::new(Through::Group(group), gpu);
    let members = threads::members(gpus.len()).into_iter().zip(gpus);
    members.map(|member| Ranks(Pinned::of_whoever_asks(member, link))).collect()
}

/// A group whose bytes an object sends.
#[pyfunction]
pub fn ranks_of_calls(object: &Bound<'_, PyAny>) -> PyResult<Ranks> {
    let gpu = Gpu::Named(object.clone().unbind());
    Ok(Ranks::here(Through::Group(Box::new(Called::new(object)?)), gpu))
}

impl Ranks {
    fn here(through: Through, gpu: Gpu) -> Self {
        Self(Pinned::here(Link::new(through, gpu)))
    }

    fn link(&self, py: Python<'_>) -> PyResult<&Link> {
        let refused = |why, hint| exception(py, "unsupported", why, Some(hint));
        let link = self.0.get().ok_or_else(|| {
            refused("this group belongs to another thread", "use it where it was made or first used")
        })?;
        if link.is_over.get() {
            return Err(refused("MPI has been left", "use the group before the program ends"));
        }
        Ok(link)
    }

    /// The group, in its own thread.
    pub fn group(&self, py: Python<'_>) -> PyResult<&dyn Group> {
        self.link(py).map(Link::group)
    }

    /// The GPU of this rank, where a backend asks for it. All ranks call it.
    pub fn device(&self, py: Python<'_>, backend: Backend) -> PyResult<Option<&Device>> {
        let link = self.link(py)?;
        let is_asked = match backend {
            Backend::Cuda => true,
            Backend::Auto => matches!(link.gpu, Gpu::Given(_)),
            _ => false,
        };
        if is_asked && link.device.get().is_none() {
            let device = detached(py, || link.gpu.open(link.group())).or_raise(py)?;
            warn(py, &device)?;
            return Ok(Some(link.device.get_or_init(|| device)));
        }
        Ok(link.device.get().filter(|_| is_asked))
    }
}

/// Says why panels take the long way between processes.
fn warn(py: Python<'_>, device: &Device) -> PyResult<()> {
    let (Transport::Hosts, Some(why)) = (device.transport(), device.without_nccl()) else { return Ok(()) };
    let text = format!("panels go through the memory of hosts, as {why}; pip install nvidia-nccl-cu13");
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &CString::new(text)?, 2)
}

#[pymethods]
impl Ranks {
    #[getter]
    fn rank(&self, py: Python<'_>) -> PyResult<usize> {
        self.group(py).map(Group::rank)
    }

    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<usize> {
        self.group(py).map(Group::size)
    }

    /// The library of MPI.
    #[getter]
    fn library(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(match &self.link(py)?.through {
            Through::Mpi(mpi) => Some(mpi.library().to_owned()),
            Through::Group(_) => None,
        })
    }

    /// How panels go from GPU to GPU; nothing before work has asked for GPUs, and of one rank.
    #[getter]
    fn transport(&self, py: Python<'_>) -> PyResult<Option<&'static str>> {
        let link = self.link(py)?;
        let device = link.device.get().filter(|_| link.group().size() > 1);
        Ok(device.map(|device| device.transport().name()))
    }

    /// Makes what went wrong at one rank an exception at all; `None` is that all is well here.
    fn agree(&self, py: Python<'_>, problem: Option<String>, doing: &str) -> PyResult<()> {
        let group = self.group(py)?;
        let mine = problem.map_or(Ok(()), |text| {
            let (doing, name, number) = (doing.to_owned(), "rank".to_owned(), group.rank() as i32);
            Err(ErrorKind::Device { doing, name, number, text, hint: "".into() }.into())
        });
        detached(py, || group.agree(mine, doing)).or_raise(py)
    }

    /// Leaves MPI, where it was started here.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let link = self.link(py)?;
        link.is_over.set(true);
        match &link.through {
            Through::Mpi(mpi) => detached(py, || mpi.leave()).or_raise(py),
            Through::Group(_) => Ok(()),
        }
    }
}
