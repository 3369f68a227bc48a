//! Products by the kernels of a GPU, on one that is here or on the emulator. Types end here: kernels are chosen at run time.

mod cuda;
#[cfg(feature = "emulator")]
pub(crate) mod emulator;
mod known;

use crate::{
    backend::Backend,
    options::{Options, Report},
    series::{Series, SeriesMut},
};
use known::Known;
pub(crate) use known::variant;
use std::{ptr::NonNull, time::Instant};
use tilewright_arch::Gpu;
use tilewright_core::{
    BatchMut, BatchRef, DType, DynMatrix, DynMut, DynRef, Epilogue, Error, ErrorKind, Joining, Layout,
    MatMut, MatRef, Problem, Scales, Semiring, Update, Value, domain, semiring::Meaning,
};
use tilewright_cuda::device_layout;
use tilewright_kernels::{Alignment, Batch, Form, Request, UserSemiring};

/// Who executes the kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Device {
    /// The GPU that the engine of this process has opened.
    Present,
    /// The emulator, in place of one.
    #[cfg(feature = "emulator")]
    Emulated,
}

impl Device {
    /// The one of a backend that runs kernels.
    pub fn of(backend: Backend) -> Option<Self> {
        match backend {
            Backend::Cuda => Some(Self::Present),
            #[cfg(feature = "emulator")]
            Backend::Emulator => Some(Self::Emulated),
            _ => None,
        }
    }
}

/// What products read besides A and B: a bias for all of them, and scales of the operands of one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    pub epilogue: Epilogue<DynRef<'a>>,
    pub scales: Scales<DynRef<'a>>,
}

/// Why a kernel did not compute a product.
pub(crate) struct Failure {
    pub error: Error,
    pub c: Target,
}

/// What C holds after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// What it held before.
    Untouched,
    /// It was being written.
    Lost,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, c: Target::Untouched }
    }
}

/// The product by a kernel, and the arg result where one is wanted.
///
/// # Errors
/// `unavailable` without a GPU, `unsupported` for semirings and types that no kernel computes, and what a device can fail with.
pub(crate) fn multiply<S: Semiring>(
    device: Device,
    c: MatMut<'_, S::Out>,
    arg: Option<MatMut<'_, u32>>,
    (a, b): (MatRef<'_, S::Elem>, MatRef<'_, S::Elem>),
    update: &Update<S>,
    beside: Beside<'_>,
    options: &Options<'_>,
) -> Result<Report, Failure> {
    let known = Known::<S>::new()?;
    let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
    arg.as_ref().map_or(Ok(()), |arg| problem.check_arg(arg.layout(), update))?;
    domain::check::<S>(a, b)?;
    let rows = [a.rows(), b.rows(), c.rows()];
    let (meaning, joining) = (known.meaning(device, options)?, known.joining(update)?);
    let job = Job { meaning, form: Form::Specialised, joining, beside, count: 1, rows, options };
    let arg = arg.map(|arg| DynMut::from(as_integers(arg)));
    job.run(device, (known.operand(a), known.operand(b)), known.result(c), arg)
}

/// Equally many products by a kernel, all at once. C is not touched on failure, unless no kernel takes them together.
///
/// # Errors
/// As [`multiply`].
pub(crate) fn multiply_batch<S: Semiring>(
    device: Device,
    c: &mut BatchMut<'_, S::Out>,
    (a, b): (BatchRef<'_, S::Elem>, BatchRef<'_, S::Elem>),
    update: &Update<S>,
    epilogue: Epilogue<DynRef<'_>>,
    options: &Options<'_>,
) -> Result<Report, Failure> {
    let known = Known::<S>::new()?;
    let (meaning, joining) = (known.meaning(device, options)?, known.joining(update)?);
    let (count, stride) = (c.count(), c.stride());
    let (Some(first_a), Some(first_b), Some(first_c)) = (a.get(0), b.get(0), c.iter_mut().next()) else {
        return Ok(Report::here(Backend::Reference, "none: an empty batch".into(), 0, Instant::now()));
    };
    // SAFETY: batches have as many matrices, at these distances; those of C do not touch each other.
    let (a, b, c) = unsafe {
        (
            Series::new(known.operand(first_a), a.count(), a.stride()),
            Series::new(known.operand(first_b), b.count(), b.stride()),
            SeriesMut::new(known.result(first_c), count, stride),
        )
    };
    let beside = Beside { epilogue, scales: Scales::NONE };
    Work { meaning, joining, beside, options }.run(device, (a, b), c, None)
}

/// What is computed of each A and each B of a series.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub meaning: Meaning<UserSemiring>,
    pub joining: Joining<Value>,
    pub beside: Beside<'a>,
    pub options: &'a Options<'a>,
}

impl Work<'_> {
    /// The products by a kernel: all at once, or one after another where no kernel takes them together, or memory is too small for all. One product alone has winning terms. Elements are those that the
    /// semiring admits.
    ///
    /// # Errors
    /// `unavailable` without a GPU or a compiler, `unsupported` for what no kernel computes, and what a device can fail with.
    pub fn run(
        &self,
        device: Device,
        (a, b): (Series<'_>, Series<'_>),
        mut c: SeriesMut<'_>,
        arg: Option<DynMut<'_>>,
    ) -> Result<Report, Failure> {
        if c.count == 1 {
            return self.one(device, (a.first, b.first), c.first, arg);
        }
        match self.together(device, (a, b), c.reborrow()) {
            // Nothing has been written, and one by one they take less memory.
            Err(error) if matches!(error.code(), "unsupported" | "out-of-memory" | "device-memory") => {}
            done => return Ok(done?),
        }
        let mut total: Option<Report> = None;
        for t in 0..c.count {
            let (Some(a), Some(b), Some(c)) = (a.get(t), b.get(t), c.get(t)) else { break };
            let lost =
                |failure: Failure| Failure { c: if t > 0 { Target::Lost } else { failure.c }, ..failure };
            let report = self.one(device, (a, b), c, None).map_err(lost)?;
            total = Some(report.after(total.take()));
        }
        total
            .ok_or_else(|| ErrorKind::BatchMismatch { a: a.count, b: b.count, c: c.count }.into())
            .map_err(Error::into)
    }

    fn one(
        &self,
        device: Device,
        (a, b): (DynRef<'_>, DynRef<'_>),
        c: DynMut<'_>,
        arg: Option<DynMut<'_>>,
    ) -> Result<Report, Failure> {
        Problem::new(a.layout(), b.layout(), c.layout())?;
        let rows = [a.layout().rows, b.layout().rows, c.layout().rows];
        let report = self.job(1, rows).run(device, (a, b), c, arg)?;
        self.tell(device, [1, rows[0], b.layout().cols, rows[1]]);
        Ok(report)
    }

    /// All at once, in copies that lie below each other.
    fn together(
        &self,
        device: Device,
        (a, b): (Series<'_>, Series<'_>),
        mut c: SeriesMut<'_>,
    ) -> Result<Report, Error> {
        let count = c.count;
        let [la, lb, lc] = [a.first.layout(), b.first.layout(), c.first.layout()];
        let (a, b) = (a.stacked()?, b.stacked()?);
        let mut all = match self.joining.reads_c() {
            true => c.as_ref().stacked()?,
            false => DynMatrix::zeros(c.first.dtype(), count.saturating_mul(lc.rows), lc.cols)?,
        };
        let job = self.job(count, [la.rows, lb.rows, lc.rows]);
        let report = job.run(device, (a.as_ref(), b.as_ref()), all.as_mut(), None);
        let report = report.map_err(|failure| failure.error)?;
        self.tell(device, [count, lc.rows, lc.cols, la.cols]);
        for t in 0..count {
            let result = all.as_ref().window(t * lc.rows, 0, lc.rows, lc.cols)?;
            c.get(t).map_or(Ok(()), |mut c| c.copy_from(result))?;
        }
        Ok(report)
    }

    fn job(&self, count: usize, rows: [usize; 3]) -> Job<'_> {
        let Self { meaning, joining, beside, options } = *self;
        Job { meaning, form: Form::Specialised, joining, beside, count, rows, options }
    }

    /// So many terms are finished. The emulator counts blocks as they end.
    fn tell(&self, device: Device, extents: [usize; 4]) {
        if let (Device::Present, Some(progress)) = (device, self.options.progress) {
            progress(extents.into_iter().fold(1, |all, extent| all.saturating_mul(extent as u64)));
        }
    }
}

/// What is computed, besides the matrices.
struct Job<'a> {
    meaning: Meaning<UserSemiring>,
    form: Form,
    joining: Joining<Value>,
    /// What follows; the bias becomes a row without gaps.
    beside: Beside<'a>,
    /// Products; those of a batch lie below each other in each matrix, except in one that has no more than one.
    count: usize,
    /// The rows of one A, one B and one C.
    rows: [usize; 3],
    options: &'a Options<'a>,
}

/// Shape and strides on the device, and the index of element (0, 0).
type Place = (Layout, usize);

impl Job<'_> {
    fn run(
        &self,
        device: Device,
        operands: (DynRef<'_>, DynRef<'_>),
        c: DynMut<'_>,
        arg: Option<DynMut<'_>>,
    ) -> Result<Report, Failure> {
        match device {
            Device::Present => cuda::run(self, operands, c, arg),
            #[cfg(feature = "emulator")]
            Device::Emulated => emulator::run(self, operands, c, arg),
        }
    }

    /// What is asked for by matrices of the host.
    fn request(
        &self,
        (a, b): (DynRef<'_>, DynRef<'_>),
        c: &DynMut<'_>,
        arg: bool,
        gpu: Gpu,
    ) -> Result<Request, Error> {
        let places = [
            device_layout(a.layout())?,
            device_layout(b.layout())?,
            match self.joining.reads_c() {
                true => device_layout(c.layout())?,
                false => (Layout::row_major(c.layout().rows, c.layout().cols), 0),
            },
        ];
        let [a_rows, b_rows, c_rows] = self.rows;
        let [(la, a_next), (lb, b_next), (lc, c_next)] =
            [(places[0], a_rows), (places[1], b_rows), (places[2], c_rows)].map(|((layout, _), rows)| {
                let next = if layout.rows > rows { rows as isize * layout.row_stride } else { 0 };
                (Layout { rows, ..layout }, next)
            });
        let problem = Problem::new(la, lb, lc)?;
        let request = match self.meaning {
            Meaning::BuiltIn(id) => Request::new(problem, id, a.dtype()),
            Meaning::Own(own) => Request::with_own(problem, own),
        };
        let Beside { epilogue: Epilogue { bias, activation }, scales } = self.beside;
        Ok(Request {
            epilogue: Epilogue { bias: bias.map(|_| 1), activation },
            // They are uploaded by rows.
            scales: scales.map(|one| Layout::row_major(one.layout().rows, one.layout().cols)),
            form: self.form,
            batch: Batch { count: self.count, a: a_next, b: b_next, c: c_next },
            joining: self.joining,
            math: self.options.math,
            alignment: Alignment {
                a: alignment(places[0], a.dtype()),
                b: alignment(places[1], b.dtype()),
                c: alignment(places[2], c.dtype()),
            },
            gpu,
            arg,
            ..request.giving(c.dtype())?
        })
    }
}

/// Arg results as kernels write them: `NO_ARG` is -1.
pub(crate) fn as_integers(mut arg: MatMut<'_, u32>) -> MatMut<'_, i32> {
    let layout = arg.layout();
    let Some(pointer) = NonNull::new(arg.as_mut_ptr().cast()) else { unreachable!("views have an address") };
    // SAFETY: the same elements, borrowed as long and exclusively, and every 32 bits are an integer.
    unsafe { MatMut::from_raw_parts(pointer, layout) }
}

/// The largest power of two, up to 256, that divides the address of element (0, 0): allocations begin at multiples of 256.
fn alignment((_, origin): Place, dtype: DType) -> u64 {
    1 << (origin * dtype.size()).trailing_zeros().min(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignments_are_those_of_element_zero() {
        let layout = Layout::row_major(1, 1);
        let alignment = |origin| alignment((layout, origin), DType::F32);
        assert_eq!([0, 1, 4, 6, 64].map(alignment), [256, 4, 16, 8, 256]);
    }
}
