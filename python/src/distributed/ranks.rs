//! Groups as Python objects.

use super::{
    called::Called,
    pinned::{Pinned, detached},
};
use crate::errors::{OrRaise, exception};
use pyo3::prelude::*;
use std::cell::Cell;
use tilewright::ErrorKind;
use tilewright_distributed::{Group, Mpi, threads};

/// A rank of a group, and with it the way to the others.
#[pyclass(frozen, module = "tilewright._native")]
pub struct Ranks(Pinned<Link>);

struct Link {
    through: Through,
    /// Whether MPI has been left.
    is_over: Cell<bool>,
}

impl Link {
    fn new(through: Through) -> Self {
        Self { through, is_over: Cell::new(false) }
    }
}

enum Through {
    Mpi(Mpi),
    Group(Box<dyn Group>),
}

/// MPI, started unless it is.
#[pyfunction]
pub fn ranks_of_mpi(py: Python<'_>) -> PyResult<Ranks> {
    Ok(Ranks::here(Through::Mpi(Mpi::open().or_raise(py)?)))
}

/// A copy of a communicator of another user of MPI: the handles of its world, and of the communicator.
#[pyfunction]
pub fn ranks_of_communicator(py: Python<'_>, world: usize, communicator: usize) -> PyResult<Ranks> {
    // SAFETY: `tilewright._ranks` takes both from mpi4py, and refuses intercommunicators.
    let mpi = unsafe { Mpi::of_communicator(world, communicator) }.or_raise(py)?;
    Ok(Ranks::here(Through::Mpi(mpi)))
}

/// So many ranks for threads of this process.
#[pyfunction]
pub fn ranks_of_threads(count: usize) -> Vec<Ranks> {
    let link = |group: Box<dyn Group + Send>| Link::new(Through::Group(group));
    threads::members(count).into_iter().map(|group| Ranks(Pinned::of_whoever_asks(group, link))).collect()
}

/// A group whose bytes an object sends.
#[pyfunction]
pub fn ranks_of_calls(object: &Bound<'_, PyAny>) -> PyResult<Ranks> {
    Ok(Ranks::here(Through::Group(Box::new(Called::new(object)?))))
}

impl Ranks {
    fn here(through: Through) -> Self {
        Self(Pinned::here(Link::new(through)))
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
        Ok(match &self.link(py)?.through {
            Through::Mpi(mpi) => mpi.group(),
            Through::Group(group) => &**group,
        })
    }
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
