//! The arrays to multiply, in one element type.

use super::{
    names::Named,
    resolved::Resolved,
    shapes::{self, Shapes},
    source::{Input, Source},
    types::{self, Found},
};
use crate::{
    args::Common,
    failure::Failure,
    product::{AnyProduct, check_epilogue},
    terminal::{self, Style},
};
use std::time::Instant;
use tilewright::{
    DType, DynRef, Epilogue, Error, Value,
    files::{ReadOptions, Stack},
};

/// Both operands, and C0 where one is given.
pub struct Inputs {
    a: Stack,
    b: Stack,
    c0: Option<Stack>,
    bias: Option<Stack>,
    transposed: [bool; 2],
    found: [Found; 2],
    /// The element type of both operands.
    pub dtype: DType,
    /// What is multiplied with what.
    pub shapes: Shapes,
    /// What rows and columns are called.
    pub named: Named,
    /// Wall time of reading and converting.
    pub seconds: f64,
}

impl Inputs {
    pub fn read(asked: &Resolved, common: &Common) -> Result<Self, Failure> {
        let start = Instant::now();
        let Resolved { reading: options, transposed, .. } = asked;
        let a_source = Source::open(&asked.a, options)?;
        let b_source = Source::open(&asked.b, options)?;

        let converting = ReadOptions { dtype: asked.dtype, ..options.clone() };
        let (a, b) = (a_source.read(&converting)?, b_source.read(&converting)?);
        for (name, stack) in [("A", &a), ("B", &b)] {
            say_empty(common, name, stack.empty_cells(), options.fill);
        }
        let found = [found(&a), found(&b)];
        let dtype = match asked.dtype {
            Some(dtype) => dtype,
            None => {
                let chosen = types::common(&asked.semiring, found[0], found[1])?;
                if let Some(note) = &chosen.note {
                    terminal::note(common, "types", note);
                }
                chosen.dtype
            }
        };
        let (a, b) = (a_source.read_as(a, dtype, options)?, b_source.read_as(b, dtype, options)?);
        let shapes = Shapes::new(&a, &b, *transposed)?;
        let named = Named::new(asked, a_source.names(), b_source.names(), &shapes)?;
        let output = asked.semiring.output_or(dtype, asked.result_type)?;
        let c0 = match &asked.c0 {
            Some(c0) => Some(read_c0(c0, asked, (&shapes, &named), output)?),
            None => None,
        };
        check_epilogue(&asked.semiring, asked.epilogue(), Some(dtype))?;
        let bias = asked.bias.as_ref().map(|bias| read_bias(bias, asked, output)).transpose()?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Self { a, b, c0, bias, transposed: *transposed, found, dtype, shapes, named, seconds })
    }

    /// The number of products to compute.
    pub fn count(&self) -> usize {
        if self.is_tall() { 1 } else { self.shapes.count() }
    }

    /// Rows of each.
    pub fn rows(&self) -> usize {
        if self.is_tall() { self.shapes.m * self.shapes.count() } else { self.shapes.m }
    }

    /// Whether a stack meets one matrix: its matrices lie one below the other, and are multiplied as one.
    fn is_tall(&self) -> bool {
        let batch = &self.shapes.batch[..];
        let is_whole = |stack: &Stack| stack.batch() == batch;
        !batch.is_empty()
            && !self.transposed[0]
            && is_whole(&self.a)
            && self.b.count() == 1
            && self.c0.as_ref().is_none_or(is_whole)
    }

    /// Product number `index`: its matrices, and what it is joined with; none behind the last.
    pub fn product(&self, index: usize) -> Option<(DynRef<'_>, DynRef<'_>, Option<DynRef<'_>>)> {
        if index >= self.count() || self.shapes.count() == 0 {
            return None;
        }
        let of = |stack: &'_ Stack| self.shapes.part(stack, index);
        let is_column = self.b.shape().len() == 1 || self.transposed[1];
        let b = oriented(self.b.matrix(of(&self.b))?, is_column);
        if self.is_tall() {
            return Some((self.a.rows(), b, self.c0.as_ref().map(Stack::rows)));
        }
        let a = oriented(self.a.matrix(of(&self.a))?, self.transposed[0] && self.a.shape().len() > 1);
        let c0 = self.c0.as_ref().and_then(|c0| self.shapes.joined(c0, index));
        Some((a, b, c0))
    }

    /// One of the products, for plans and for what is refused; none in an empty stack.
    pub fn first<'a>(&'a self, asked: &'a Resolved) -> Result<Option<AnyProduct<'a>>, Error> {
        self.product(0).map(|first| self.of(first, asked)).transpose()
    }

    /// One of the products, with all that is asked for.
    pub fn of<'a>(
        &'a self,
        matrices: (DynRef<'a>, DynRef<'a>, Option<DynRef<'a>>),
        asked: &'a Resolved,
    ) -> Result<AnyProduct<'a>, Error> {
        let epilogue = Epilogue { bias: self.bias.as_ref().map(Stack::rows), activation: asked.activation };
        AnyProduct::new(&asked.semiring, matrices, asked.joining, asked.result_type)?.epilogue(epilogue)
    }

    /// Says on stderr what was read.
    pub fn describe(&self) {
        for (name, found, stack) in [("A", self.found[0], &self.a), ("B", self.found[1], &self.b)] {
            let source = match found {
                Found::Stored(_) => "stored as",
                Found::Text(_) => "text read as",
            };
            let shape = shapes::words(stack.shape());
            let text = format!("{shape}, {source} {}, multiplied as {}", found.name(), self.dtype);
            terminal::say(Style::Note, name, &text);
        }
    }
}

/// Says what empty cells were taken for.
pub fn say_empty(common: &Common, name: &str, count: usize, fill: Value) {
    let text = match count {
        0 => return,
        1 => format!("1 empty cell of {name} is absent, {fill}"),
        _ => format!("{count} empty cells of {name} are absent, {fill}"),
    };
    terminal::note(common, "empty", &text);
}

fn oriented(m: DynRef<'_>, transposed: bool) -> DynRef<'_> {
    if transposed { m.t() } else { m }
}

fn found(stack: &Stack) -> Found {
    stack.stored().map_or(Found::Text(stack.dtype()), Found::Stored)
}

/// C0 has the type of the result, or a stored type that NumPy would convert to it; others are converted only when `--dtype` asks for
/// conversions.
fn read_c0(
    input: &Input,
    asked: &Resolved,
    (shapes, named): (&Shapes, &Named),
    dtype: DType,
) -> Result<Stack, Failure> {
    let source = Source::open(input, &asked.reading)?;
    let c0 = source.read(&asked.reading)?;
    named.check_c0(source.names())?;
    if !shapes.admits(&c0) {
        let what =
            format!("C0 is {} but the product is {}", shapes::words(c0.shape()), shapes::words(&shapes.c));
        return Err(Failure::usage(what, "give C0 the shape of the product"));
    }
    if asked.dtype.is_none() && !types::is_safe(found(&c0), dtype) {
        let what = format!("C0 holds {}, but the product is {dtype}", found(&c0).name());
        return Err(Failure::usage(what, "convert all matrices with --dtype"));
    }
    Ok(source.read_as(c0, dtype, &asked.reading)?)
}

/// A bias is one row or one column in the type of the result, read as C0 is.
fn read_bias(input: &Input, asked: &Resolved, dtype: DType) -> Result<Stack, Failure> {
    let source = Source::open(input, &asked.reading)?;
    let bias = source.read(&asked.reading)?;
    if asked.dtype.is_none() && !types::is_safe(found(&bias), dtype) {
        let what = format!("the bias holds {}, but the product is {dtype}", found(&bias).name());
        return Err(Failure::usage(what, "convert all matrices with --dtype"));
    }
    Ok(source.read_as(bias, dtype, &asked.reading)?)
}
