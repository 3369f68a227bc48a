//! What differs between the three binary interfaces: handles, and a number.

use super::missing;
use core::ffi::{c_int, c_void};
use libloading::Library;
use tilewright::Error;

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abi {
    /// That of MPI 5.0, section 20: handles are pointers with fixed values.
    Standard,
    /// That of MPICH since 3.1: handles are integers.
    Mpich,
    /// That of Open MPI: handles are addresses of its variables.
    OpenMpi,
}

/// The handles that are known beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<H> {
    pub world: H,
    pub byte: H,
    pub errors_return: H,
    /// `MPI_THREAD_FUNNELED`: the thread that started MPI makes all calls.
    pub funneled: c_int,
}

/// A symbol that Open MPI alone has.
pub(super) const OPEN_MPI_WORLD: &str = "ompi_mpi_comm_world";

impl Abi {
    /// The soname of its library.
    pub const fn soname(self) -> &'static str {
        match self {
            Self::Standard => "libmpi_abi.so.1",
            Self::Mpich => "libmpi.so.12",
            Self::OpenMpi => "libmpi.so.40",
        }
    }

    pub fn standard() -> Known<*mut c_void> {
        let handle = |value: usize| core::ptr::without_provenance_mut(value);
        Known { world: handle(0x101), byte: handle(0x247), errors_return: handle(0x143), funneled: 1024 }
    }

    pub fn mpich() -> Known<c_int> {
        Known { world: 0x4400_0000, byte: 0x4c00_010d, errors_return: 0x5400_0001, funneled: 1 }
    }

    pub fn open_mpi(library: &Library) -> Result<Known<*mut c_void>, Error> {
        let address = |name: &'static str| {
            // SAFETY: a symbol of a pointer's type is the address of the variable, which is not read.
            unsafe { library.get::<*mut c_void>(name) }.map(|symbol| *symbol).map_err(|_| missing(name))
        };
        Ok(Known {
            world: address(OPEN_MPI_WORLD)?,
            byte: address("ompi_mpi_byte")?,
            errors_return: address("ompi_mpi_errors_return")?,
            funneled: 1,
        })
    }
}
