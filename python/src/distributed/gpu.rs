//! Which GPU a rank has.

use super::called::failed;
use pyo3::{intern, prelude::*};
use tilewright::{Error, cuda::Engine};
use tilewright_distributed::{Group, devices::Device};

/// The GPU that a rank takes, when work asks for one.
pub enum Gpu {
    /// This one.
    Given(Engine),
    /// The one whose number an object's method `device` gives; where it gives none at one rank, as [`Gpu::InTurn`] at all.
    Named(Py<PyAny>),
    /// The ranks of a machine take its GPUs in turn.
    InTurn,
}

impl Gpu {
    /// Opens it. All ranks call it.
    pub fn open(&self, group: &dyn Group) -> Result<Device, Error> {
        match self {
            Self::Given(engine) => Device::new(engine.clone(), group),
            Self::Named(object) => {
                let named = group.agree(named(object, group.rank()), "asking for the number of a GPU")?;
                let all = group.exchange(&[u8::from(named.is_some())])?;
                match named {
                    Some(ordinal) if all.iter().all(|&is_named| is_named != 0) => {
                        Device::new(group.agree(Engine::open(ordinal), "opening a GPU")?, group)
                    }
                    _ => Device::of_rank(group),
                }
            }
            Self::InTurn => Device::of_rank(group),
        }
    }
}

fn named(object: &Py<PyAny>, rank: usize) -> Result<Option<usize>, Error> {
    Python::attach(|py| object.bind(py).call_method0(intern!(py, "device"))?.extract())
        .map_err(|exception| failed("asking for the number of a GPU", rank, &exception))
}
