//! Groups whose bytes an object of Python sends: `tilewright._ranks` has those of torch.

use pyo3::{intern, prelude::*, types::PyBytes};
use tilewright::{Error, ErrorKind};
use tilewright_distributed::{Buffer, Group, Pending};

/// An object with `rank`, `size`, `split(color)`, `broadcast(address, length, root)`, `exchange(bytes)` and `device()`.
#[derive(Debug)]
pub struct Called {
    object: Py<PyAny>,
    rank: usize,
    size: usize,
}

impl Called {
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let number = |name| object.getattr(name)?.extract();
        Ok(Self { object: object.clone().unbind(), rank: number("rank")?, size: number("size")? })
    }

    fn failed(&self, doing: &str, exception: &PyErr) -> Error {
        failed(doing, self.rank, exception)
    }
}

/// The error that an exception becomes.
pub fn failed(doing: &str, rank: usize, exception: &PyErr) -> Error {
    let number = i32::try_from(rank).unwrap_or(i32::MAX);
    let (doing, name) = (doing.to_owned(), "rank".to_owned());
    ErrorKind::Device { doing, name, number, text: exception.to_string(), hint: "".into() }.into()
}

impl Group for Called {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn split(&self, color: usize) -> Result<Box<dyn Group>, Error> {
        Python::attach(|py| {
            let part = self.object.bind(py).call_method1(intern!(py, "split"), (color,))?;
            Ok(Box::new(Self::new(&part)?) as Box<dyn Group>)
        })
        .map_err(|exception| self.failed("splitting a group", &exception))
    }

    fn broadcast(&self, mut buffer: Buffer, root: usize) -> Result<Box<dyn Pending>, Error> {
        let bytes = buffer.as_mut_slice();
        let (address, length) = (bytes.as_mut_ptr().expose_provenance(), bytes.len());
        // It owns the buffer before anything may write to it.
        let mut sent = Box::new(Sent { work: None, rank: self.rank, buffer });
        let work = Python::attach(|py| {
            let object = self.object.bind(py);
            object.call_method1(intern!(py, "broadcast"), (address, length, root)).map(Bound::unbind)
        });
        match work {
            Ok(work) => sent.work = Some(work),
            Err(exception) => {
                // Nobody knows what was begun.
                core::mem::forget(core::mem::take(&mut sent.buffer));
                return Err(self.failed("a broadcast", &exception));
            }
        }
        Ok(sent)
    }

    fn exchange(&self, mine: &[u8]) -> Result<Vec<u8>, Error> {
        Python::attach(|py| {
            let mine = PyBytes::new(py, mine);
            self.object.bind(py).call_method1(intern!(py, "exchange"), (mine,))?.extract()
        })
        .map_err(|exception| self.failed("an exchange", &exception))
    }
}

/// A broadcast that is under way: an object with `wait()`.
struct Sent {
    work: Option<Py<PyAny>>,
    rank: usize,
    buffer: Buffer,
}

impl Sent {
    fn settle(&mut self) -> Result<(), Error> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let done = Python::attach(|py| work.bind(py).call_method0(intern!(py, "wait")).map(drop));
        done.map_err(|exception| {
            // What may still be written to must not be given back.
            core::mem::forget(core::mem::take(&mut self.buffer));
            failed("a broadcast", self.rank, &exception)
        })
    }
}

impl Pending for Sent {
    fn wait(mut self: Box<Self>) -> Result<Buffer, Error> {
        self.settle()?;
        Ok(core::mem::take(&mut self.buffer))
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        // Whoever drops it has another error to tell.
        let _ = self.settle();
    }
}
