//! All products of two stacks of matrices.

use super::{
    Loops, Part, Shapes, StackMut, StackRef,
    loops::{A, B},
};
use crate::{
    dynamic::{Check, Task, dispatch},
    options::{Options, Report},
};
use core::fmt;
use tilewright_core::{
    DType, DynMut, DynRef, Element, Epilogue, Error, ErrorKind, Joining, Layout, Problem, Scales, Semiring,
    SemiringId, Update, Value, expressions::Expressions,
};

/// A function that computes one product of A and B into C, joined with what C holds where the last argument says so.
pub type Multiply<'a> =
    dyn Fn((DynRef<'_>, DynRef<'_>), DynMut<'_>, bool, &Options<'_>) -> Result<(), Error> + Sync + 'a;

/// The products of all matrices of two stacks, which are broadcast: `C[.., i, j] = ⊕_k A[.., i, k] ⊗ B[.., k, j]`. [`Shapes`] has the rules.
///
/// Where the matrices of a dimension lie at equal distances, they are computed together: as rows of one product where B is repeated, otherwise as one batch. Other
/// dimensions are loops around it. [`Backend::Auto`](crate::Backend::Auto) chooses once, for all of them.
///
/// ```
/// use tilewright::{SemiringId, StackMut, StackProduct, StackRef};
/// // Two matrices of 1 x 2, and a vector that both meet.
/// let a = StackRef::new(&[1, 2, /**/ 3, 4], &[2, 1, 2], &[2, 2, 1], 0)?;
/// let b = StackRef::new(&[10, 100], &[2], &[1], 0)?;
/// let product = StackProduct::new(SemiringId::PlusTimes, a, b)?;
/// assert_eq!(product.shapes().result, [2, 1]);
/// let mut c = [0; 2];
/// product.write_to(StackMut::new(&mut c, &[2, 1], &[1, 1], 0)?, None)?;
/// assert_eq!(c, [210, 430]);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone)]
pub struct StackProduct<'a> {
    pub(super) by: By<'a>,
    pub(super) a: StackRef<'a>,
    pub(super) b: StackRef<'a>,
    pub(super) shapes: Shapes,
    pub(super) output: DType,
    pub(super) joining: Joining<Value>,
    pub(super) epilogue: Epilogue<DynRef<'a>>,
    pub(super) scales: Scales<DynRef<'a>>,
    pub(super) options: Options<'a>,
}

/// What computes a product of two matrices.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    BuiltIn(SemiringId),
    Text(&'a Expressions),
    Function(&'a Multiply<'a>),
}

impl<'a> StackProduct<'a> {
    /// The products over a built-in semiring.
    ///
    /// # Errors
    /// As [`Shapes::of`]; `dtype-mismatch` when A and B have different element types; `unsupported` when the semiring is not defined on theirs.
    pub fn new(semiring: SemiringId, a: StackRef<'a>, b: StackRef<'a>) -> Result<Self, Error> {
        let output = semiring.output(a.dtype())?;
        Self::by(By::BuiltIn(semiring), a, b, output)
    }

    /// The products over a semiring that is given by its text, whose laws are tried first.
    ///
    /// # Errors
    /// As [`StackProduct::new`]; `unsupported` when the text breaks a law of semirings on these elements.
    pub fn with_text(semiring: &'a Expressions, a: StackRef<'a>, b: StackRef<'a>) -> Result<Self, Error> {
        semiring.check(a.dtype())?;
        let output = a.dtype();
        Self::by(By::Text(semiring), a, b, output)
    }

    /// The products that a function computes, of two matrices each, on this processor. Results have the type of A.
    ///
    /// # Errors
    /// As [`Shapes::of`], and `dtype-mismatch`.
    pub fn with_function(
        multiply: &'a Multiply<'a>,
        a: StackRef<'a>,
        b: StackRef<'a>,
    ) -> Result<Self, Error> {
        let output = a.dtype();
        Self::by(By::Function(multiply), a, b, output)
    }

    fn by(by: By<'a>, a: StackRef<'a>, b: StackRef<'a>, output: DType) -> Result<Self, Error> {
        if a.dtype() != b.dtype() {
            let (expected, found) = (a.dtype(), b.dtype());
            return Err(ErrorKind::DTypeMismatch { what: "B", expected, found }.into());
        }
        let shapes = Shapes::of(a.shape(), b.shape())?;
        let (joining, epilogue, options) = (Joining::Replace, Epilogue::default(), Options::default());
        Ok(Self { by, a, b, shapes, output, joining, epilogue, scales: Scales::NONE, options })
    }

    /// Gives results of another type: see [`DynProduct::giving`](crate::DynProduct::giving).
    ///
    /// # Errors
    /// `unsupported` where the semiring has no such results.
    pub fn giving(mut self, output: DType) -> Result<Self, Error> {
        self.output = match self.by {
            By::BuiltIn(id) => id.output_or(self.a.dtype(), Some(output))?,
            _ if output == self.output => output,
            _ => return Err(self.refused("results of another type", "leave out the type of results")),
        };
        // A bias has the type of the results.
        let epilogue = self.epilogue;
        self.epilogue(epilogue)
    }

    /// Joins each product with what C holds, or scales it: see [`DynProduct::update`](crate::DynProduct::update).
    ///
    /// # Errors
    /// `unsupported` when factors are given to another semiring than plus-times, or cannot be represented.
    pub fn joining(mut self, joining: Joining<Value>) -> Result<Self, Error> {
        match (self.by, joining) {
            (By::BuiltIn(id), _) => dispatch(id, self.types(), joining, Check)?,
            (_, Joining::Scale { .. }) => return Err(self.refused("factors", "replace or accumulate")),
            _ => {}
        }
        self.joining = joining;
        Ok(self)
    }

    /// Follows each product by the same bias and activation: see [`Product::epilogue`](crate::Product::epilogue).
    ///
    /// # Errors
    /// As [`Product::epilogue`](crate::Product::epilogue).
    pub fn epilogue(mut self, epilogue: Epilogue<DynRef<'a>>) -> Result<Self, Error> {
        self.epilogue = match self.by {
            By::BuiltIn(id) => epilogue.checked(Some(id), id.name(), self.output, &self.problem()?)?,
            By::Text(_) => {
                epilogue.check_absent("a semiring that is given by its text").map(|()| epilogue)?
            }
            By::Function(_) => epilogue.check_absent("a semiring of functions").map(|()| epilogue)?,
        };
        Ok(self)
    }

    /// Multiplies A and B by scales first, as [`DynProduct::scales`](crate::DynProduct::scales): of one product, whose A and B are matrices.
    ///
    /// # Errors
    /// As [`Scales::checked`]; `unsupported` for stacks of several matrices.
    pub fn scales(mut self, scales: Scales<DynRef<'a>>) -> Result<Self, Error> {
        if !scales.is_none() && [&self.a, &self.b].iter().any(|stack| stack.shape().len() != 2) {
            scales.check_absent("a stack or a vector")?;
        }
        self.scales = match self.by {
            By::BuiltIn(id) => scales.checked(Some(id), id.name(), self.a.dtype(), &self.problem()?)?,
            _ => scales.check_absent("a semiring of your own").map(|()| scales)?,
        };
        Ok(self)
    }

    /// Replaces the choices of backend, threads and progress.
    #[must_use]
    pub fn options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    /// What is multiplied with what.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// How many products there are once those that are one are taken together, of results by rows; and A and B of the first, where there is one.
    ///
    /// ```
    /// use tilewright::{SemiringId, StackProduct, StackRef};
    /// let (a, b) = ([0; 12], [0; 6]);
    /// let a = StackRef::new(&a, &[2, 2, 3], &[6, 3, 1], 0)?;
    /// let b = StackRef::new(&b, &[3, 2], &[2, 1], 0)?;
    /// let product = StackProduct::new(SemiringId::PlusTimes, a, b)?;
    /// let (count, first) = product.first();
    /// assert_eq!((count, first.unwrap().0.layout().rows), (1, 4));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn first(&self) -> (usize, Option<(DynRef<'a>, DynRef<'a>)>) {
        let mut next = 1isize;
        let mut strides: Vec<isize> = Vec::new();
        for &extent in self.shapes.result.iter().rev() {
            strides.push(next);
            next = next.wrapping_mul(extent as isize);
        }
        strides.reverse();
        let loops = self.loops(&strides, None);
        // The first one ends the search.
        let found =
            loops.each(false, |part| Err((self.matrix(&self.a, &part, A), self.matrix(&self.b, &part, B))));
        (loops.batch.iter().product(), found.err())
    }

    /// Computes all products into `c`, which has the shape of the result, or that of [its matrices](Shapes::matrices), and is joined with what it holds; and the
    /// winning terms where they are wanted, as 32-bit integers of such a shape, -1 for none.
    ///
    /// # Errors
    /// `result-mismatch` for another shape, `dtype-mismatch` for another type; otherwise as [`crate::Product::run`]. C is untouched on error, other than
    /// `out-of-memory`, `cancelled` and failures of a device.
    pub fn write_to(&self, c: StackMut<'_>, arg: Option<StackMut<'_>>) -> Result<Report, Error> {
        self.options.check_cancelled()?;
        self.check_result("C", &c, self.output_into(c.dtype())?)?;
        if let Some(arg) = &arg {
            self.scales.check_absent("an arg result")?;
            self.check_result("the arg result", arg, DType::I32)?;
            self.check_arg(c.dtype())?;
        }
        let loops = self.loops(c.strides(), arg.as_ref().map(StackMut::strides));
        self.compute(&loops, &c, arg.as_ref())
    }

    pub(super) fn types(&self) -> [DType; 2] {
        [self.a.dtype(), self.output]
    }

    /// The type of the results in a C of type `found`.
    fn output_into(&self, found: DType) -> Result<DType, Error> {
        let is_given = match self.by {
            By::BuiltIn(id) => id.gives(self.a.dtype(), found),
            _ => found == self.output,
        };
        Ok(if is_given { found } else { self.output })
    }

    /// One product, by its shapes.
    fn problem(&self) -> Result<Problem, Error> {
        let Shapes { m, k, n, .. } = self.shapes;
        Problem::new(Layout::row_major(m, k), Layout::row_major(k, n), Layout::row_major(m, n))
    }

    pub(super) fn refused(&self, what: &str, hint: &str) -> Error {
        let of = match self.by {
            By::BuiltIn(id) => id.name(),
            By::Text(_) => "a semiring that is given by its text",
            By::Function(_) => "a semiring of functions",
        };
        let (what, why) = (format!("{what} with {of}"), "it has none".into());
        ErrorKind::Unsupported { what, why, hint: hint.into() }.into()
    }

    fn check_result(&self, what: &'static str, c: &StackMut<'_>, expected: DType) -> Result<(), Error> {
        if c.dtype() != expected {
            return Err(ErrorKind::DTypeMismatch { what, expected, found: c.dtype() }.into());
        }
        self.check_shape(what, c.shape())
    }

    pub(super) fn check_shape(&self, what: &'static str, found: &[usize]) -> Result<(), Error> {
        let expected = &self.shapes.result;
        if found == expected || found == self.shapes.matrices() {
            return Ok(());
        }
        let (found, expected) = (found.to_vec(), expected.clone());
        Err(ErrorKind::ShapeMismatch { what, found, expected }.into())
    }

    fn check_arg(&self, output: DType) -> Result<(), Error> {
        match self.by {
            By::BuiltIn(id) => {
                dispatch(id, [self.a.dtype(), output], self.joining, CheckArg(self.problem()?))
            }
            _ => Err(self.refused("an arg result", "choose a selective semiring by its name")),
        }
    }

    /// Fewest products of A, B, C and the winning terms.
    fn loops(&self, c: &[isize], arg: Option<&[isize]>) -> Loops {
        Loops::new(&self.shapes, [self.a.parts(), self.b.parts()], c, arg).simplified()
    }

    /// The first matrix of a part of one of the stacks that are read.
    pub(super) fn matrix<'s>(&self, stack: &StackRef<'s>, part: &Part<'_>, which: usize) -> DynRef<'s> {
        // SAFETY: a part of loops that were made of this stack, as all of them are here.
        unsafe { stack.matrix(part.offset(which), part.layout(which)) }
    }
}

impl fmt::Debug for StackProduct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shapes, output, joining, options, .. } = self;
        let mut fields = f.debug_struct("StackProduct");
        fields.field("shapes", shapes).field("output", output).field("joining", joining);
        fields.field("options", options).finish_non_exhaustive()
    }
}

/// Finds out whether there are winning terms.
struct CheckArg(Problem);

impl Task for CheckArg {
    type Output = ();
    fn run<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(
        self,
        update: &Update<S>,
    ) -> Result<(), Error> {
        self.0.check_arg(Layout::row_major(self.0.m(), self.0.n()), update)
    }
}
