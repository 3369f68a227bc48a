//! One problem: computed by the engine and by the definition, and compared.

use crate::{
    case::{Ask, Case, Join},
    form::Placed,
    judge::{Sum, differs},
    kind::{Kind, Source},
    paths,
    plant::{Engine, Plant},
    random::Random,
    sample::Sample,
    subject::{Subject, Visit, visit, visit_small_integers},
    text,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tilewright_core::{BatchMut, BatchRef, Error, MatMut, Update, reference};
use tilewright_cpu::{Options, Report};

/// How a problem was computed; nothing where it was refused.
pub type Outcome = Result<Option<Report>, String>;

/// Computes a problem, with a fault or without. An error is a finding.
pub fn run(case: &Case, plant: Option<Plant>) -> Outcome {
    let number = Random::new(case.elements, 0).below(usize::MAX >> 1);
    let found = catch_unwind(AssertUnwindSafe(|| match case.ask {
        Ask::Text => text::run(case, plant),
        Ask::Paths => paths::run(case, plant),
        _ if case.small_integers => visit_small_integers(number, Problem { case, plant }),
        _ => visit(number, Problem { case, plant }),
    }));
    found.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(format!("it panicked: {}", text.unwrap_or_default()))
    })
}

struct Problem<'a> {
    case: &'a Case,
    plant: Option<Plant>,
}

impl Visit for Problem<'_> {
    type Output = Outcome;
    fn visit<S: Subject>(self) -> Outcome {
        let matrices = Matrices::<S>::new(self.case).map_err(|error| format!("the hunt itself: {error}"))?;
        matrices.compare(self.case, self.plant).map_err(|what| {
            let element = core::any::type_name::<S::Elem>().rsplit(':').next().unwrap_or("?");
            format!("{} {element}: {what}", S::NAME)
        })
    }
}

/// What is multiplied and written.
struct Matrices<S: Subject> {
    a: Placed<S::Elem>,
    b: Placed<S::Elem>,
    c: Placed<S::Out>,
    arg: Option<Placed<u32>>,
    update: Update<S>,
    factors: [i8; 2],
}

impl<S: Subject> Matrices<S> {
    fn new(case: &Case) -> Result<Self, Error> {
        let (mut r, (m, n, k)) = (Random::new(case.elements, 1), case.size);
        let exact = S::laws().exact_add || !S::IS_ARITHMETIC;
        let count = if let Ask::Batch(count) = case.ask { count } else { 1 };
        let [a_form, b_form, c_form, arg_form] = case.forms;
        let mut a = Placed::new((m, k), count, a_form, S::Elem::POISON)?;
        let mut b = Placed::new((k, n), count, b_form, S::Elem::POISON)?;
        let mut c = Placed::new((m, n), count, c_form, S::Out::POISON)?;
        let arg = match case.ask {
            Ask::Winners if S::laws().selective_add => {
                Some(Placed::new((m, n), 1, arg_form, 0xdead_beef_u32)?)
            }
            _ => None,
        };
        // The widths of both windows meet what fits 16 bits, with absent elements or without.
        let total = r.pick(&[32_766, 65_534]) - 2 + r.below(5);
        let width = r.below(total + 1) as u32;
        let widths = [width, total as u32 - width];
        for (operand, kind, width) in [(&mut a, case.kinds[0], widths[0]), (&mut b, case.kinds[1], widths[1])]
        {
            let source = Source { kind, base: (r.bits() as i64) >> r.below(64), width };
            operand.fill(|_, row, col| tame(exact, source.draw::<S>(&mut r, S::ABSENT, (row, col)), S::ONE));
        }
        if case.ask == Ask::Refusal {
            let operand = if r.one_in(2) { &mut a } else { &mut b };
            let outside: Vec<_> = S::Elem::HARD.iter().copied().filter(|&x| !S::admits(x)).collect();
            if !outside.is_empty() && !operand.layout.is_empty() {
                let (row, col) = (r.below(operand.layout.rows), r.below(operand.layout.cols));
                let index = operand.index(0, row, col);
                operand.data.slice_mut()[index] = r.pick(&outside);
            }
        }
        let (update, factors) = match case.join {
            Join::Replace => (Update::Replace, [1, 0]),
            Join::Accumulate => (Update::Accumulate, [1, 1]),
            Join::Scale(alpha, beta) => match S::scale(alpha, beta) {
                Some(update) => (update, [alpha, beta]),
                None => (Update::Accumulate, [1, 1]),
            },
        };
        if update.reads_c() {
            // Not only what the semiring admits.
            let one = S::Out::nearest(1.0);
            c.fill(|_, _, _| {
                let x = if r.one_in(3) { r.pick(S::Out::HARD) } else { S::Out::any(&mut r) };
                tame(exact, x, one)
            });
        }
        Ok(Self { a, b, c, arg, update, factors })
    }

    /// Computes twice and compares all memory.
    fn compare(mut self, case: &Case, plant: Option<Plant>) -> Outcome {
        let before = self.c.data.slice().to_vec();
        let operands = [&self.a, &self.b].map(|x| x.data.slice().to_vec());
        let mut expected = before.clone();
        let mut expected_arg = self.arg.as_ref().map_or(Vec::new(), |arg| arg.data.slice().to_vec());

        let wanted = self.by_definition(&mut expected, &mut expected_arg);
        let options =
            Options { threads: case.threads, isa: Some(case.isa), dots: case.dots, ..Options::default() };
        let done = self.by_engine(case, Engine { plant, options });
        if done.as_ref().err().map(ToString::to_string) != wanted.as_ref().err().map(ToString::to_string) {
            let words = |outcome: Option<&Error>| outcome.map_or("a result".into(), ToString::to_string);
            return Err(format!(
                "{} instead of {}",
                words(done.as_ref().err()),
                words(wanted.as_ref().err())
            ));
        }

        let bands = self.a.data.band_is_whole() && self.b.data.band_is_whole() && self.c.data.band_is_whole();
        if !bands || self.arg.as_ref().is_some_and(|arg| !arg.data.band_is_whole()) {
            return Err("memory beside a matrix was written".into());
        }
        let same_elements = |x: S::Elem, y: S::Elem| x.bits() == y.bits();
        let same_results = |x: S::Out, y: S::Out| x.bits() == y.bits();
        let mut wrong = differs("A", &self.a, &operands[0], same_elements)
            .or_else(|| differs("B", &self.b, &operands[1], same_elements));
        if let Some(arg) = &self.arg {
            wrong = wrong.or_else(|| differs("the winner", arg, &expected_arg, |x, y| x == y));
        }
        if !S::laws().exact_add {
            let whole = [Kind::Whole, Kind::Few, Kind::Constant];
            if S::IS_ARITHMETIC
                && !self.update.reads_c()
                && case.kinds.iter().all(|kind| whole.contains(kind))
            {
                let equal = |x: S::Out, y: S::Out| same_results(x, y) || x == y;
                wrong = wrong.or_else(|| differs("C", &self.c, &expected, equal));
            }
            wrong = wrong.or_else(|| self.outside_bounds(&before));
            // Whatever the elements are, what lies between them is as before.
            expected = before;
            for (i, row, col) in self.places() {
                expected[self.c.index(i, row, col)] = self.c.get(i, row, col);
            }
        }
        match wrong.or_else(|| differs("C", &self.c, &expected, same_results)) {
            Some(wrong) => Err(wrong),
            None => Ok(done.ok().flatten()),
        }
    }

    /// Every element of C: matrix, row and column.
    fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<S> {
        let (count, rows, cols) = (self.c.count, self.c.layout.rows, self.c.layout.cols);
        (0..count).flat_map(move |i| (0..rows).flat_map(move |row| (0..cols).map(move |col| (i, row, col))))
    }

    fn outside_bounds(&self, before: &[S::Out]) -> Option<String> {
        self.places().find_map(|place| {
            let (i, row, col) = place;
            let (got, old) = (self.c.get(i, row, col), before[self.c.index(i, row, col)]);
            let sum = Sum { factors: self.factors.map(f64::from), a: &self.a, b: &self.b, place, old };
            let (low, high) = S::bounds(&sum, got)?;
            let inside = low < high && (low..=high).contains(&got.wide()) || low == high && got.wide() == low;
            (!inside).then(|| format!("C {i}[{row}, {col}] is {got:?}, outside {low:e} ..= {high:e}"))
        })
    }

    fn by_definition(&self, c: &mut [S::Out], arg: &mut [u32]) -> Result<(), Error> {
        for i in 0..self.c.count {
            let (to, a, b) = (self.c.view_in(c, i)?, self.a.view(i)?, self.b.view(i)?);
            match &self.arg {
                None => reference::multiply(to, a, b, &self.update)?,
                Some(place) => reference::multiply_arg(to, place.view_in(arg, i)?, a, b, &self.update)?,
            }
        }
        Ok(())
    }

    fn by_engine(&mut self, case: &Case, engine: Engine<'_>) -> Result<Option<Report>, Error> {
        let Self { a, b, c, arg, update, .. } = self;
        if let Ask::Batch(count) = case.ask {
            let a = BatchRef::new(a.data.slice(), a.layout, count, a.stride as isize)?;
            let b = BatchRef::new(b.data.slice(), b.layout, count, b.stride as isize)?;
            let (layout, stride) = (c.layout, c.stride as isize);
            let mut c = BatchMut::new(c.data.slice_mut(), layout, count, stride)?;
            return engine.multiply_batch(&mut c, a, b, *update);
        }
        let arg: Option<MatMut<'_, u32>> = match arg {
            Some(arg) => Some(arg.view_mut(0)?),
            None => None,
        };
        engine.multiply(c.view_mut(0)?, arg, a.view(0)?, b.view(0)?, *update)
    }
}

/// The element, or one where it is so large that sums of it may overflow on the way: those depend on the order of terms, for which
/// there is no bound.
fn tame<T: Sample>(exact: bool, x: T, one: T) -> T {
    if !exact && x.wide().is_finite() && x.wide().abs() > 1e4 { one } else { x }
}
