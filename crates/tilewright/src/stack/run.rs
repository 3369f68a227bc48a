//! Computing the products of two stacks: on a device before a type is known, otherwise by this processor.

use super::{
    Loops, Part, StackMut, StackProduct,
    loops::{A, ARG, B, C},
    product::By,
};
#[cfg(feature = "cuda")]
use crate::device::{Beside, Device, Failure, Work};
use crate::{
    backend::Backend,
    batch::{BatchProduct, NONE},
    choice::{self, Asked, Choice},
    dynamic::{Task, dispatch, typed, typed_mut},
    expression_product::ExpressionProduct,
    options::{Options, Report},
    plan::Results,
    product::Product,
    series::{Series, SeriesMut},
};
use core::ptr::NonNull;
use std::time::Instant;
#[cfg(feature = "cuda")]
use tilewright_core::semiring::Meaning;
use tilewright_core::{
    BatchMut, BatchRef, DynMut, DynRef, Element, Epilogue, Error, MatMut, Scales, Semiring, Update, domain,
};
#[cfg(feature = "cuda")]
use tilewright_kernels::{UserSemiring, Variant};

/// Where results go, and winning terms where they are wanted.
#[cfg(feature = "cuda")]
type Targets<'r> = (SeriesMut<'r>, Option<DynMut<'r>>);

impl StackProduct<'_> {
    /// Computes all products, of results that were checked.
    pub(super) fn compute(
        &self,
        loops: &Loops,
        c: &StackMut<'_>,
        arg: Option<&StackMut<'_>>,
    ) -> Result<Report, Error> {
        let mut choice = self.choose(loops)?;
        if self.shapes.is_empty() {
            return Ok(nothing(choice));
        }
        let is_device = matches!(choice.backend, Backend::Cuda | Backend::Emulator);
        let takes_many = arg.is_none() && (is_device || matches!(self.by, By::BuiltIn(_)));
        let together = takes_many && loops.is_apart();
        // A single call of this processor's engine looks by itself.
        if is_device || loops.batch.len() > usize::from(together) {
            self.check_elements(loops)?;
        }
        let mut total = None;
        loops.each(together, |part| {
            let (a, b) = (self.matrix(&self.a, &part, A), self.matrix(&self.b, &part, B));
            // SAFETY: a part's matrices are those of the stacks, and there is one view of each at a time. Those of C do not touch each other where there are several.
            let (operands, c, arg) = unsafe {
                let arg = arg.map(|arg| arg.matrix(part.offset(ARG), part.layout(ARG)));
                (
                    (Series::new(a, part.count, part.stride(A)), Series::new(b, part.count, part.stride(B))),
                    SeriesMut::new(c.matrix(part.offset(C), part.layout(C)), part.count, part.stride(C)),
                    arg,
                )
            };
            let report = self.part(&choice, operands, c, arg)?;
            // A GPU that has failed is not asked again.
            if report.backend != choice.backend {
                choice = Choice { backend: report.backend, why: report.why.clone(), ..choice.clone() };
            }
            total = Some(report.after(total.take()));
            Ok::<_, Error>(())
        })?;
        Ok(total.unwrap_or_else(|| nothing(choice)))
    }

    /// Refuses elements that the semiring has not, before the first product is written.
    fn check_elements(&self, loops: &Loops) -> Result<(), Error> {
        for (what, which, stack) in [("A", A, &self.a), ("B", B, &self.b)] {
            let alone = loops.alone(which);
            let matrix = |part: &Part<'_>| self.matrix(stack, part, 0);
            match self.by {
                By::BuiltIn(id) => {
                    let task = CheckElements { what, loops: &alone, matrix: &matrix };
                    dispatch(id, self.types(), self.joining, task)?;
                }
                By::Text(text) => {
                    alone.each(false, |part| ExpressionProduct::check_elements(text, what, matrix(&part)))?
                }
                By::Function(_) => {}
            }
        }
        Ok(())
    }

    /// Where all of them are computed.
    fn choose(&self, loops: &Loops) -> Result<Choice, Error> {
        if let (By::Function(_), Backend::Cuda | Backend::Emulator) = (self.by, self.options.backend) {
            return Err(self.refused("a kernel for GPUs", "give expressions, or choose the backend cpu"));
        }
        let choice = choice::choose_for(&Asked {
            options: &match self.by {
                By::Function(_) => Options { backend: Backend::Cpu, ..self.options },
                _ => self.options,
            },
            a: loops.stacks[A].layout,
            b: loops.stacks[B].layout,
            copies: [A, B, C].map(|which| loops.matrices(which)),
            results: if loops.stacks.len() > ARG { Results::ProductAndArg } else { Results::Product },
            element: self.a.dtype().size(),
            effort: if matches!(self.by, By::BuiltIn(_)) { 1.0 } else { Asked::OWN },
            #[cfg(feature = "cuda")]
            variant: &|| {
                Ok(match self.meaning()? {
                    Meaning::BuiltIn(id) => Variant::new(id, self.a.dtype()).giving(self.output),
                    Meaning::Own(own) => own.variant(),
                })
            },
        })?;
        Ok(choice)
    }

    /// What kernels for GPUs compute.
    #[cfg(feature = "cuda")]
    fn meaning(&self) -> Result<Meaning<UserSemiring>, Error> {
        match self.by {
            By::BuiltIn(id) => Ok(Meaning::BuiltIn(id)),
            By::Text(text) => UserSemiring::of_expressions(text, self.a.dtype()).map(Meaning::Own),
            By::Function(_) => Err(self.refused("a kernel for GPUs", "give expressions")),
        }
    }

    /// Equally many products at equal distances: on a device before a type is known, or here.
    fn part(
        &self,
        choice: &Choice,
        operands: (Series<'_>, Series<'_>),
        c: SeriesMut<'_>,
        arg: Option<DynMut<'_>>,
    ) -> Result<Report, Error> {
        #[cfg(feature = "cuda")]
        if let Some(device) = Device::of(choice.backend) {
            let (meaning, joining) = (self.meaning()?, self.joining);
            let beside = Beside { epilogue: self.epilogue, scales: self.scales };
            let work = Work { meaning, joining, beside, options: &self.options };
            let there = |(c, arg): &mut Targets<'_>| -> Result<Report, Failure> {
                work.run(device, operands, c.reborrow(), arg.as_mut().map(DynMut::reborrow))
            };
            let here = |(c, arg): &mut Targets<'_>| {
                self.here(Backend::Cpu, operands, c.reborrow(), arg.as_mut().map(DynMut::reborrow))
            };
            return choice.carry_out(&mut (c, arg), self.joining.reads_c(), there, here);
        }
        Ok(Report { why: choice.why.clone(), ..self.here(choice.backend, operands, c, arg)? })
    }

    /// The same by this processor, or by the definition.
    fn here(
        &self,
        backend: Backend,
        operands: (Series<'_>, Series<'_>),
        mut c: SeriesMut<'_>,
        arg: Option<DynMut<'_>>,
    ) -> Result<Report, Error> {
        let options = Options { backend, ..self.options };
        if let By::BuiltIn(id) = self.by {
            let (types, &Self { epilogue, scales, .. }) = ([self.a.dtype(), c.first.dtype()], self);
            return dispatch(id, types, self.joining, Here { operands, c, arg, epilogue, scales, options });
        }
        let mut total = Report::here(backend, NONE, 0, Instant::now());
        for t in 0..c.count {
            let (Some(a), Some(b), Some(c)) = (operands.0.get(t), operands.1.get(t), c.get(t)) else { break };
            let report = self.one_of_own((a, b), c, &options)?;
            total = report.after((t > 0).then_some(total));
        }
        Ok(total)
    }

    /// One product over a semiring that is not built in.
    fn one_of_own(
        &self,
        (a, b): (DynRef<'_>, DynRef<'_>),
        c: DynMut<'_>,
        options: &Options<'_>,
    ) -> Result<Report, Error> {
        let joins = self.joining.reads_c();
        match self.by {
            By::Text(text) => {
                let product = ExpressionProduct::new(text, a, b)?;
                let product = if joins { product.accumulate() } else { product };
                product.write_to(c, options)
            }
            By::Function(multiply) => {
                let start = Instant::now();
                multiply((a, b), c, joins, options)?;
                Ok(Report::here(options.backend, "functions".into(), 1, start))
            }
            By::BuiltIn(_) => unreachable!("built-in semirings have types"),
        }
    }
}

/// What is said of no product.
fn nothing(choice: Choice) -> Report {
    Report { why: choice.why, ..Report::here(choice.backend, NONE, 0, Instant::now()) }
}

/// Looks at the elements of all matrices.
struct CheckElements<'c> {
    what: &'static str,
    loops: &'c Loops,
    matrix: &'c dyn Fn(&Part<'_>) -> DynRef<'c>,
}

impl Task for CheckElements<'_> {
    type Output = ();
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self, _: &Update<S>) -> Result<(), Error> {
        let Self { what, loops, matrix } = self;
        if S::ACCEPTS.is_none() {
            return Ok(());
        }
        loops.each(false, |part| domain::check_operand::<S>(what, typed(what, matrix(&part))?))
    }
}

/// Computes products on this processor once their types are known.
struct Here<'r> {
    operands: (Series<'r>, Series<'r>),
    c: SeriesMut<'r>,
    arg: Option<DynMut<'r>>,
    epilogue: Epilogue<DynRef<'r>>,
    scales: Scales<DynRef<'r>>,
    options: Options<'r>,
}

impl Task for Here<'_> {
    type Output = Report;
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<Report, Error> {
        let Self { operands: (a, b), c, arg, epilogue, scales, options } = self;
        let SeriesMut { first, count, stride } = c;
        let mut first: MatMut<'_, S::Out> = typed_mut("C", first)?;
        let (first_a, first_b) = (typed::<S::Elem>("A", a.first)?, typed::<S::Elem>("B", b.first)?);
        if count == 1 {
            let product = Product::<S>::new(first_a, first_b)?.options(options);
            let product = product.epilogue(epilogue)?.scales(scales)?;
            let arg = arg.map(|arg| typed_mut::<i32>("the arg result", arg)).transpose()?;
            return product.run(first, arg.map(as_terms), update);
        }
        scales.check_absent("several products")?;
        let (layout, c) = (first.layout(), NonNull::new(first.as_mut_ptr()).unwrap_or(NonNull::dangling()));
        // SAFETY: whoever made the series has promised their matrices.
        let (a, b, mut c) = unsafe {
            (
                BatchRef::from_first(first_a, a.count, a.stride),
                BatchRef::from_first(first_b, b.count, b.stride),
                BatchMut::from_raw_parts(c, layout, count, stride),
            )
        };
        BatchProduct::<S>::new(a, b)?.options(options).epilogue(epilogue)?.run(&mut c, update)
    }
}

/// Winning terms as this processor writes them.
fn as_terms(mut arg: MatMut<'_, i32>) -> MatMut<'_, u32> {
    let layout = arg.layout();
    let first = NonNull::new(arg.as_mut_ptr()).map_or(NonNull::dangling(), NonNull::cast);
    // SAFETY: the same elements, borrowed as long and exclusively, and every 32 bits are a number.
    unsafe { MatMut::from_raw_parts(first, layout) }
}
