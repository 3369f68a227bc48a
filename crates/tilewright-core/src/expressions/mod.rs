//! Semirings that are given by their text: `add=fminf(x,y); mul=x+y; zero=inf`.
//!
//! The expressions of `add` and `mul` are those of C on the numbers x and y: `+ - * /`, comparisons, `&& || !`, `a ? b : c`, parentheses,
//! numbers, `inf`, and the functions min, max, fminf, fmaxf, abs and fabsf. A minimum or maximum of a number and NaN is the number.
//!
//! Every number has the element type. On integers it is exact, and one that the type does not have is an error: a fraction, or one that is
//! too large. `inf` and `-inf` are the largest and the smallest integer there, and `1e3` is 1000. On floats it is the nearest one.
//!
//! `zero` is the identity of `add`; `one`, which may be left out, that of `mul`; `where`, which may be left out, is a condition on an
//! element x, such as `x >= 0`.
//!
//! ```
//! use tilewright_core::{DType, expressions::Expressions};
//! let widest: Expressions = "add=fmaxf(x,y); mul=fminf(x,y); zero=-inf; one=inf".parse()?;
//! assert_eq!((widest.add().value(2.0, 3.0), widest.mul().value(2.0, 3.0)), (3.0, 2.0));
//! widest.check(DType::F32)?;
//!
//! let wrong: Expressions = "add=x+y; mul=fminf(x,y); zero=0".parse()?;
//! let error = wrong.check(DType::F32).unwrap_err();
//! assert!(error.to_string().contains("mul distributes over add") || error.to_string().contains("zero annihilates"), "{error}");
//!
//! let error = "add=fminf(x,z); mul=x+y; zero=inf".parse::<Expressions>().unwrap_err();
//! assert!(error.to_string().contains("at column 13, `z` is none of x, y, inf"), "{error}");
//! # Ok::<(), tilewright_core::Error>(())
//! ```

mod cell;
mod excerpt;
mod laws;
mod number;
mod parse;
#[cfg(test)]
mod tests;

pub use cell::{Cell, DTYPES};
use excerpt::Excerpt;
pub(crate) use laws::SAMPLES;
pub use number::Number;

use crate::{
    domain,
    dtype::{DType, Element},
    error::{Error, ErrorKind},
    problem::Problem,
    value::Value,
    view::{MatMut, MatRef},
};
use core::{
    fmt,
    ops::Range,
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// A semiring, by the expressions of its operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Expressions {
    text: String,
    add: Expression,
    mul: Expression,
    zero: Expression,
    one: Option<Expression>,
    condition: Option<Expression>,
    holds: Holds,
}

/// The types of [`DTYPES`] on which the laws were tried, and hold: that takes longer than a small product.
#[derive(Debug, Default)]
struct Holds([AtomicBool; DTYPES.len()]);

impl Holds {
    fn on(&self, dtype: DType) -> Option<&AtomicBool> {
        let at = DTYPES.iter().position(|&known| known == dtype)?;
        self.0.get(at)
    }
}

impl Clone for Holds {
    fn clone(&self) -> Self {
        Self(self.0.each_ref().map(|holds| holds.load(Relaxed).into()))
    }
}

/// What was tried does not tell semirings apart.
impl PartialEq for Holds {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An expression in x and y. Every node comes after those that it is computed from, and the last one is the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    nodes: Vec<Node>,
}

/// A part of an expression; others are named by their number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// The first operand.
    X,
    /// The second operand.
    Y,
    /// A constant.
    Number(Number),
    /// An operation on one number.
    Unary(Unary, usize),
    /// An operation on two numbers.
    Binary(Binary, usize, usize),
    /// The second number where the first is not 0, otherwise the third.
    Choose(usize, usize, usize),
}

/// An operation on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-x`
    Negate,
    /// The magnitude.
    Absolute,
    /// `!x`
    Not,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `x + y`
    Add,
    /// `x - y`
    Subtract,
    /// `x * y`
    Multiply,
    /// `x / y`; of integers 0 where y is.
    Divide,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// `x < y`
    Less,
    /// `x <= y`
    LessEqual,
    /// `x > y`
    Greater,
    /// `x >= y`
    GreaterEqual,
    /// `x == y`
    Equal,
    /// `x != y`
    NotEqual,
    /// `x && y`
    And,
    /// `x || y`
    Or,
}

impl Expression {
    /// The parts, of which the last one is the value.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The value at x and y. Numbers that the type cannot hold are 0: see [`Expressions::check`].
    pub fn value<T: Cell>(&self, x: T, y: T) -> T {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match *node {
                Node::X => x,
                Node::Y => y,
                Node::Number(number) => number.of().unwrap_or(T::ZERO),
                Node::Unary(operation, x) => T::unary(operation, values[x]),
                Node::Binary(operation, x, y) => T::binary(operation, values[x], values[y]),
                Node::Choose(condition, yes, no) => {
                    values[if values[condition].is_true() { yes } else { no }]
                }
            });
        }
        values.last().copied().unwrap_or(T::ZERO)
    }

    /// The first number that the type does not have.
    fn foreign<T: Cell>(&self) -> Option<Number> {
        self.nodes.iter().find_map(|node| match node {
            Node::Number(number) if number.of::<T>().is_none() => Some(*number),
            _ => None,
        })
    }

    /// The value of an expression without x and y, where the type holds its numbers.
    fn constant<T: Cell>(&self) -> Option<T> {
        self.foreign::<T>().is_none().then(|| self.value(T::ZERO, T::ZERO))
    }

    fn constant_value(&self, dtype: DType) -> Option<Value> {
        match dtype {
            DType::F32 => self.constant::<f32>().map(Element::to_value),
            DType::F64 => self.constant::<f64>().map(Element::to_value),
            DType::I32 => self.constant::<i32>().map(Element::to_value),
            DType::I64 => self.constant::<i64>().map(Element::to_value),
            _ => None,
        }
    }
}

impl Expressions {
    /// What was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// `x ⊕ y`.
    pub fn add(&self) -> &Expression {
        &self.add
    }
    /// `x ⊗ y`.
    pub fn mul(&self) -> &Expression {
        &self.mul
    }
    /// The sum of no terms. 0 where the type cannot hold it: see [`Expressions::check`].
    pub fn zero<T: Cell>(&self) -> T {
        self.zero.constant().unwrap_or(T::ZERO)
    }
    /// The sum of no terms as a value; `None` where the type, which is one of [`DTYPES`], does not hold it.
    pub fn zero_value(&self, dtype: DType) -> Option<Value> {
        self.zero.constant_value(dtype)
    }
    /// The identity of ⊗ as a value, where it is given and the type holds it.
    pub fn one_value(&self, dtype: DType) -> Option<Value> {
        self.one.as_ref()?.constant_value(dtype)
    }
    /// The identity of ⊗, where it is given.
    pub fn one<T: Cell>(&self) -> Option<T> {
        self.one.as_ref()?.constant()
    }
    /// Whether the semiring contains an element.
    pub fn admits<T: Cell>(&self, x: T) -> bool {
        self.condition.as_ref().is_none_or(|condition| condition.value(x, x).is_true())
    }
    /// Whether ⊕ selects one of its operands, on samples: such sums have the same bits in any order of their terms.
    pub fn selects<T: Cell>(&self) -> bool {
        laws::selects::<T>(self)
    }
    /// Whether it contains every element.
    pub fn admits_all(&self) -> bool {
        self.condition.is_none()
    }

    /// Tries the laws of a semiring on samples: ⊕ is associative and commutative, zero is its identity and annihilates, ⊗ is associative
    /// and distributes over ⊕, one is its identity. Floats may differ by a few roundings. What holds is tried once for each type.
    ///
    /// # Errors
    /// `unsupported`, with a counter-example, when one of them does not hold; or for a type that is none of [`DTYPES`].
    pub fn check(&self, dtype: DType) -> Result<(), Error> {
        let hint = || "a semiring needs them; `where=` restricts the elements, as in where=x>=0, and other numbers may do for zero";
        let holds = self.holds.on(dtype);
        if holds.is_some_and(|holds| holds.load(Relaxed)) {
            return Ok(());
        }
        match laws::check_on(self, dtype) {
            Some(Ok(())) => {
                holds.into_iter().for_each(|holds| holds.store(true, Relaxed));
                Ok(())
            }
            Some(Err(Broken { law, example })) => Err(ErrorKind::Unsupported {
                what: format!("the semiring `{}` on {dtype}", Excerpt::of(&self.text, 0..0)),
                why: format!("it breaks the law that {law}: {example}"),
                hint: hint().into(),
            }
            .into()),
            None => {
                let known = DTYPES.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
                Err(ErrorKind::Unsupported {
                    what: format!("the semiring `{}` on {dtype}", Excerpt::of(&self.text, 0..0)),
                    why: "expressions have no such numbers".into(),
                    hint: format!("one of {known}").into(),
                }
                .into())
            }
        }
    }

    /// `C[i,j] = ⊕_k A[i,k] ⊗ B[k,j]` by the definition, joined with the old C where `joins`. Results that are zero are `+0`.
    ///
    /// # Errors
    /// `inner-mismatch` and `result-mismatch`; `outside-domain` for elements that the semiring does not contain.
    pub fn multiply<T: Cell>(
        &self,
        mut c: MatMut<'_, T>,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        joins: bool,
    ) -> Result<(), Error> {
        let problem = Problem::new(a.layout(), b.layout(), c.layout())?;
        self.check_elements(a, b)?;
        for i in 0..problem.m() {
            for j in 0..problem.n() {
                let Some(slot) = c.get_mut(i, j) else { continue };
                let mut sum = if joins { self.add.value(*slot, self.zero()) } else { self.zero() };
                for p in 0..problem.k() {
                    if let (Some(x), Some(y)) = (a.get(i, p), b.get(p, j)) {
                        sum = self.add.value(sum, self.mul.value(x, y));
                    }
                }
                *slot = sum.positive_zero();
            }
        }
        Ok(())
    }

    /// Refuses elements that the semiring does not contain.
    ///
    /// # Errors
    /// `outside-domain`, naming the first one.
    pub fn check_elements<T: Cell>(&self, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<(), Error> {
        self.check_operand("A", a)?;
        self.check_operand("B", b)
    }

    /// The same of one operand, called `operand` in the error.
    ///
    /// # Errors
    /// As [`Expressions::check_elements`].
    pub fn check_operand<T: Cell>(&self, operand: &'static str, x: MatRef<'_, T>) -> Result<(), Error> {
        if self.admits_all() {
            return Ok(());
        }
        for (row, col) in (0..x.rows()).flat_map(|i| (0..x.cols()).map(move |j| (i, j))) {
            if let Some(element) = x.get(row, col).filter(|&element| !self.admits(element)) {
                return Err(ErrorKind::OutsideDomain {
                    operand,
                    row,
                    col,
                    value: domain::describe(element),
                    semiring: "given by its text",
                    accepts: "elements that its `where` admits",
                }
                .into());
            }
        }
        Ok(())
    }
}

impl fmt::Display for Expressions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for Expressions {
    type Err = Error;

    /// # Errors
    /// `unsupported`, which shows the place of the mistake.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse::parse(text).map_err(Error::from)
    }
}

/// A mistake in a text, and its place.
struct Fault {
    text: String,
    at: Range<usize>,
    what: String,
}

impl From<Fault> for Error {
    fn from(Fault { text, at, what }: Fault) -> Self {
        let column = text.get(..at.start).unwrap_or_default().chars().count() + 1;
        let excerpt = Excerpt::of(&text, at);
        let marks = format!("{}{}", " ".repeat(excerpt.before), "^".repeat(excerpt.marked.max(1)));
        ErrorKind::Unsupported {
            what: format!("the semiring\n  {excerpt}\n  {marks}\n"),
            why: format!("at column {column}, {what}"),
            hint: "write it as add=fminf(x,y); mul=x+y; zero=inf".into(),
        }
        .into()
    }
}

/// A law that does not hold, and where.
struct Broken {
    law: String,
    example: String,
}
