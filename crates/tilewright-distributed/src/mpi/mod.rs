//! MPI, loaded at run time: nothing of it is needed to build.
//!
//! Three binary interfaces are known: the one of MPI 5.0 (`libmpi_abi.so.1`), that of MPICH and its relatives (`libmpi.so.12`: Intel MPI, MVAPICH, Cray), and
//! that of Open MPI (`libmpi.so.40`). A program that `mpiexec` has started takes the library that belongs to it.

mod abi;
mod functions;
mod group;
mod launcher;
mod library;

use crate::{fault, group::Group};
use abi::Abi;
use core::{
    ffi::{c_int, c_void},
    mem::ManuallyDrop,
};
use functions::{Functions, Handle};
pub use group::Abort;
use group::{Communicator, World};
use library::Found;
use std::rc::Rc;
use tilewright::{Error, ErrorKind};

/// How many ranks a launcher says it has started, where there are more than one.
pub fn launched() -> Option<usize> {
    launcher::of_many(|name| std::env::var(name).ok()).map(|(_, _, ranks)| ranks)
}

/// The variable that names a library of MPI, or the folder that it lies in.
pub const VARIABLE: &str = "TILEWRIGHT_MPI_PATH";

/// MPI, and the group of all ranks that were started together.
///
/// It is not left by dropping it: a rank that ends without [`finish`](Mpi::finish) makes the launcher end all others.
#[derive(Debug)]
pub struct Mpi {
    world: Box<dyn World>,
    library: String,
}

impl Mpi {
    /// Loads MPI and joins the ranks that were started together.
    ///
    /// It is looked for among the libraries that this process has loaded; where `TILEWRIGHT_MPI_PATH` says; beside the launcher that started this process; and where the
    /// system's loader looks.
    ///
    /// # Errors
    /// `unavailable` where there is no MPI, and where the launcher belongs to another one: that gives every rank a world of its own. `device` where MPI fails.
    pub fn open() -> Result<Self, Error> {
        // A library that is unloaded takes the threads of MPI with it: it stays, however this ends.
        let found = ManuallyDrop::new(library::find()?);
        let world: Box<dyn World> = match found.abi {
            Abi::Mpich => Box::new(join::<c_int>(&found, Abi::mpich())?),
            Abi::Standard => Box::new(join::<*mut c_void>(&found, Abi::standard())?),
            Abi::OpenMpi => Box::new(join::<*mut c_void>(&found, Abi::open_mpi(&found.library)?)?),
        };
        launcher::check(world.group().size(), &found.name)?;
        Ok(Self { world, library: found.name.clone() })
    }

    /// A group of the ranks of a communicator that something else in this process has made, such as mpi4py. It is copied: that one stays as it is.
    ///
    /// `world` is that library's `MPI_COMM_WORLD`, by which the library is told from others, and `communicator` a communicator of it: numbers as they are, or addresses.
    ///
    /// # Errors
    /// `unavailable` where no library that is loaded has this `MPI_COMM_WORLD`; `device` where MPI fails.
    ///
    /// # Safety
    /// Both are handles of one library, which has been started, and `communicator` is no intercommunicator.
    pub unsafe fn of_communicator(world: usize, communicator: usize) -> Result<Self, Error> {
        for found in library::loaded().map(ManuallyDrop::new) {
            let world: Option<Box<dyn World>> = match found.abi {
                Abi::Mpich => copied::<c_int>(&found, Abi::mpich(), world, communicator)?,
                Abi::Standard => copied::<*mut c_void>(&found, Abi::standard(), world, communicator)?,
                Abi::OpenMpi => {
                    copied::<*mut c_void>(&found, Abi::open_mpi(&found.library)?, world, communicator)?
                }
            };
            if let Some(world) = world {
                return Ok(Self { world, library: found.name.clone() });
            }
        }
        let names: Vec<_> = library::loaded().map(|found| found.name).collect();
        let here = if names.is_empty() {
            "none is loaded".to_owned()
        } else {
            format!("{} is loaded", names.join(", "))
        };
        let why = format!("the communicator belongs to none of the libraries that are known here: {here}");
        let hint = "use MPICH, Intel MPI, Open MPI 4 or 5, or a library with the interface of MPI 5.0".into();
        Err(ErrorKind::Unavailable { what: "MPI", why, hint }.into())
    }

    /// All ranks.
    pub fn group(&self) -> &dyn Group {
        self.world.group()
    }

    /// The library that was found.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Whether a call of MPI has failed: ranks cannot agree on anything then, and each says what it knows.
    pub fn is_broken(&self) -> bool {
        self.world.is_broken()
    }

    /// What ends the job, for another thread than this.
    pub fn abort(&self) -> Abort {
        self.world.abort()
    }

    /// Leaves MPI together with all other ranks, unless it has failed or others have begun it.
    ///
    /// # Errors
    /// `device`.
    pub fn finish(self) -> Result<(), Error> {
        self.leave()
    }

    /// As [`finish`](Mpi::finish), for an owner that cannot give it away. Nothing of it may be used afterwards.
    ///
    /// # Errors
    /// As [`finish`](Mpi::finish).
    pub fn leave(&self) -> Result<(), Error> {
        self.world.finish()
    }
}

/// A copy of a communicator, where the world has this library's name for it.
fn copied<H: Handle>(
    found: &Found,
    known: abi::Known<H>,
    world: usize,
    communicator: usize,
) -> Result<Option<Box<dyn World>>, Error> {
    if H::of(world) != known.world {
        return Ok(None);
    }
    let functions = Functions::<H>::load(&found.library).map_err(missing)?;
    Ok(Some(Box::new(Communicator::copy_of(Rc::new(functions), known, communicator)?)))
}

/// Starts MPI, unless it is, and joins.
fn join<H: Handle>(found: &Found, known: abi::Known<H>) -> Result<Communicator<H>, Error> {
    let functions = Functions::<H>::load(&found.library).map_err(missing)?;
    // MPICH ends a process that Open MPI has started, and says nothing of why.
    launcher::check_before(&functions.version_text(), &found.name)?;
    Communicator::world(Rc::new(functions), known)
}

fn missing(name: &str) -> Error {
    let (why, hint) = (format!("its library has no function {name}"), "install MPI 3 or later".into());
    ErrorKind::Unavailable { what: "MPI", why, hint }.into()
}

/// An error of MPI itself, after which nothing can be agreed on.
fn broken(doing: &str, rank: usize, text: String) -> Error {
    fault::failed(doing, rank, text)
}
