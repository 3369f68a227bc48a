//! Faults that the hunt must find, as wrappers around the product.

use crate::{case::LONG, sample::Sample};
use tilewright_core::{
    BatchMut, BatchRef, Error, Layout, LogPlus, MatMut, MatRef, Semiring, Update,
    expressions::{Cell, Expressions},
};
use tilewright_cpu::{Dots, Options, Report, multiply, multiply_arg, multiply_batch, multiply_expressions};

macro_rules! plants {
    ($($(#[$doc:meta])* $name:ident $text:literal,)*) => {
        /// A fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Plant { $($(#[$doc])* $name,)* }

        impl Plant {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}
plants! {
    /// The last term of every sum is left out.
    LastTerm "last-term",
    /// The last term of long sums is left out.
    LongSum "long-sum",
    /// The last of several equal terms wins.
    Ties "ties",
    /// Zeros are negative.
    SignOfZero "sign-of-zero",
    /// Absent terms, which are NaN, are not.
    Nan "nan",
    /// An element after C is written.
    WriteAfter "write-after",
    /// An element before C is written.
    WriteBefore "write-before",
    /// An element after A is read.
    ReadAfter "read-after",
    /// An element before B is read.
    ReadBefore "read-before",
    /// By dot products of bytes, one sum does not begin with what its column has.
    Begin "begin",
    /// By few terms, one sum lacks its best terms.
    Missed "missed",
    /// The last column is not written.
    LastColumn "last-column",
    /// Several threads give another result than one.
    Threads "threads",
    /// Alpha is one.
    Alpha "alpha",
    /// The old C is forgotten.
    Accumulate "accumulate",
    /// The last matrix of a batch is forgotten.
    LastOfBatch "last-of-batch",
    /// C is written, and then refused.
    LateRefusal "late-refusal",
    /// Nothing is refused.
    NoRefusal "no-refusal",
    /// Results of log-plus miss their bound by little.
    Logarithm "logarithm",
    /// Large numbers of texts are others.
    TextNumbers "text-numbers",
    /// Both are true where one of them is.
    TextAnd "text-and",
    /// Over texts, the last term of every sum is left out.
    TextTerm "text-term",
    /// Between two vertices there is no path but the edge.
    Distance "distance",
    /// Routes leave out a stop.
    Route "route",
    /// Searches find no path between two vertices.
    Method "method",
    /// A cycle is said to gain that is none.
    Cycle "cycle",
    /// The closure in place forgets a vertex's distance to itself.
    Closure "closure",
}

/// The product, perhaps with a fault.
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    pub plant: Option<Plant>,
    pub options: Options<'a>,
}

/// Products over semirings by their text, perhaps with a fault.
#[derive(Clone, Copy)]
pub struct TextEngine<'a> {
    pub plant: Option<Plant>,
    pub options: Options<'a>,
}

impl TextEngine<'_> {
    /// The semiring of a text.
    ///
    /// # Errors
    /// As the library.
    pub fn parse(self, text: &str) -> Result<Expressions, Error> {
        match self.plant {
            Some(Plant::TextNumbers) => text.replace("2147483647", "2147483520").parse(),
            Some(Plant::TextAnd) => text.replace("&&", "||").parse(),
            _ => text.parse(),
        }
    }

    /// A product.
    ///
    /// # Errors
    /// As the library.
    pub fn multiply<T: Cell>(
        self,
        semiring: &Expressions,
        c: MatMut<'_, T>,
        mut a: MatRef<'_, T>,
        mut b: MatRef<'_, T>,
        joins: bool,
    ) -> Result<Report, Error> {
        if self.plant == Some(Plant::TextTerm) && a.cols() > 0 {
            let k = a.cols() - 1;
            (a, b) = (a.window(0, 0, a.rows(), k)?, b.window(0, 0, k, b.cols())?);
        }
        multiply_expressions(semiring, c, a, b, joins, &self.options)
    }
}

/// The element that is not there: after the last one of a matrix (`after`), or before the first.
fn beside<T>(origin: *const T, layout: Layout, after: bool) -> Option<*mut T> {
    let (low, high) = layout.span().ok()??;
    Some(origin.wrapping_offset(if after { high + 1 } else { low - 1 }).cast_mut())
}

/// The first sum, of all terms but those that equal it.
fn miss_the_best<S: Semiring<Elem: Sample, Out: Sample>>(
    c: &mut MatMut<'_, S::Out>,
    a: MatRef<'_, S::Elem>,
    b: MatRef<'_, S::Elem>,
) {
    let Some(sum) = c.get_mut(0, 0) else { return };
    let best = sum.bits();
    let terms = (0..a.cols()).filter_map(|p| Some((a.get(0, p)?, b.get(p, 0)?)));
    let others = terms.filter(|&(x, y)| S::finish(S::mul_add(S::ZERO, x, y)).bits() != best);
    *sum = S::finish(others.fold(S::ZERO, |sum, (x, y)| S::mul_add(sum, x, y)));
}

impl Engine<'_> {
    fn has(self, plant: Plant) -> bool {
        self.plant == Some(plant)
    }

    /// A product, with winners if they are asked for.
    ///
    /// # Errors
    /// As the engine.
    pub fn multiply<S: Semiring<Elem: Sample, Out: Sample>>(
        self,
        mut c: MatMut<'_, S::Out>,
        mut arg: Option<MatMut<'_, u32>>,
        mut a: MatRef<'_, S::Elem>,
        mut b: MatRef<'_, S::Elem>,
        mut update: Update<S>,
    ) -> Result<Option<Report>, Error> {
        self.break_outside(&mut c, a, b);
        let k = a.cols();
        let fewer = match self.plant {
            Some(Plant::LastTerm) => true,
            Some(Plant::Threads) => self.options.threads > 1,
            Some(Plant::LongSum) => k >= LONG,
            _ => false,
        };
        if fewer && k > 0 {
            (a, b) = (a.window(0, 0, a.rows(), k - 1)?, b.window(0, 0, k - 1, b.cols())?);
        }
        update = match update {
            Update::Accumulate if self.has(Plant::Accumulate) => Update::Replace,
            Update::Scale { .. } if self.has(Plant::Alpha) => Update::Accumulate,
            other => other,
        };
        let last = self.has(Plant::LastColumn).then(|| c.cols().checked_sub(1)).flatten();
        let kept: Vec<_> =
            last.map_or(Vec::new(), |j| (0..c.rows()).filter_map(|i| c.as_ref().get(i, j)).collect());
        let done = match &mut arg {
            None => multiply(c.reborrow(), a, b, &update, &self.options),
            Some(arg) => multiply_arg(c.reborrow(), arg.reborrow(), a, b, &update, &self.options),
        };
        if let (Some(j), Ok(_)) = (last, &done) {
            kept.into_iter().enumerate().for_each(|(i, x)| _ = c.get_mut(i, j).map(|slot| *slot = x));
        }
        match done {
            Ok(report) => {
                let last = (c.rows().saturating_sub(1), c.cols().saturating_sub(1));
                if self.has(Plant::Begin)
                    && report.kernel.dots != Dots::Plain
                    && let Some(sum) = c.get_mut(last.0, last.1)
                {
                    *sum = S::Out::nearest(sum.wide() / 2.0 - 128.0);
                }
                if self.has(Plant::Missed) && report.kernel.pruned {
                    miss_the_best::<S>(&mut c, a, b);
                }
                self.break_values::<S>(&mut c, arg.as_mut(), a, b);
                Ok(Some(report))
            }
            Err(_) if self.has(Plant::NoRefusal) => Ok(None),
            Err(error) => {
                if self.has(Plant::LateRefusal) {
                    c.fill(S::finish(S::ZERO));
                }
                Err(error)
            }
        }
    }

    /// A batch of products.
    ///
    /// # Errors
    /// As the engine.
    pub fn multiply_batch<S: Semiring<Elem: Sample, Out: Sample>>(
        self,
        c: &mut BatchMut<'_, S::Out>,
        a: BatchRef<'_, S::Elem>,
        b: BatchRef<'_, S::Elem>,
        update: Update<S>,
    ) -> Result<Option<Report>, Error> {
        let last = c.count().checked_sub(1).filter(|_| self.has(Plant::LastOfBatch));
        let mut kept = None;
        if let Some(mut c) = last.and_then(|last| c.iter_mut().nth(last)) {
            kept = c.get_mut(0, 0).copied();
        }
        let report = multiply_batch(c, a, b, &update, &self.options)?;
        if let Some((mut c, x)) = last.and_then(|last| c.iter_mut().nth(last)).zip(kept) {
            c.fill(x);
        }
        Ok(report)
    }

    /// Reads and writes beside matrices.
    fn break_outside<T: Copy, E: Copy>(self, c: &mut MatMut<'_, T>, a: MatRef<'_, E>, b: MatRef<'_, E>) {
        let read = match self.plant {
            Some(Plant::ReadAfter) => beside(a.as_ptr(), a.layout(), true),
            Some(Plant::ReadBefore) => beside(b.as_ptr(), b.layout(), false),
            _ => None,
        };
        // SAFETY: none. It is a fault, which the guard pages or nobody must notice.
        read.map(|place| unsafe { place.read_volatile() });
        let after = self.has(Plant::WriteAfter);
        if (after || self.has(Plant::WriteBefore))
            && let Some(inside) = c.get_mut(0, 0).copied()
            && let Some(place) = beside(c.as_mut_ptr(), c.layout(), after)
        {
            // SAFETY: none, as above.
            unsafe { place.write_volatile(inside) };
        }
    }

    /// Changes results.
    fn break_values<S: Semiring<Elem: Sample, Out: Sample>>(
        self,
        c: &mut MatMut<'_, S::Out>,
        mut arg: Option<&mut MatMut<'_, u32>>,
        a: MatRef<'_, S::Elem>,
        b: MatRef<'_, S::Elem>,
    ) {
        let zero = S::Out::nearest(0.0).bits();
        let cols = c.cols();
        for (i, j) in (0..c.rows()).flat_map(|i| (0..cols).map(move |j| (i, j))) {
            let Some(slot) = c.get_mut(i, j) else { continue };
            let terms = || (0..a.cols()).filter_map(|p| Some((p, a.get(i, p)?, b.get(p, j)?)));
            match self.plant {
                Some(Plant::SignOfZero) if slot.bits() == zero => *slot = S::Out::negative_zero(),
                Some(Plant::Nan) if terms().any(|(_, x, y)| x.wide().is_nan() || y.wide().is_nan()) => {
                    *slot = S::Out::nearest(f64::NAN);
                }
                Some(Plant::Ties) => {
                    let wins = |x, y| S::finish(S::mul_add(S::ZERO, x, y)).bits() == slot.bits();
                    let last = terms().rfind(|&(_, x, y)| wins(x, y));
                    let winner = arg.as_mut().and_then(|arg| arg.get_mut(i, j));
                    if let (Some((p, ..)), Some(winner)) = (last, winner) {
                        *winner = if *winner == u32::MAX { *winner } else { p as u32 };
                    }
                }
                Some(Plant::Logarithm) if S::NAME == LogPlus::<f64>::NAME && slot.wide().is_finite() => {
                    let (wide, k) = (slot.wide(), a.cols() as f64);
                    *slot = S::Out::nearest(wide + 2.0 * S::Out::SUM_EPSILON * (k + 20.0 + 3.0 * wide.abs()));
                }
                _ => {}
            }
        }
    }
}
