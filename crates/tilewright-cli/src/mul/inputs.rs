//! The arrays to multiply, in one element type.

use super::{
    names::Named,
    resolved::Resolved,
    source::{Input, Source},
    types::{self, Found},
};
use crate::{
    args::Common,
    failure::Failure,
    product::{AnyProduct, check_epilogue, check_scales},
    terminal::{self, Style},
};
use std::time::Instant;
use tilewright::{
    DType, DynMatrix, DynRef, Epilogue, Error, Scales, StackMut, StackProduct, StackRef, Value, extents,
    files::{ReadOptions, Stack},
    semiring::Meaning,
    stack::Shapes,
};

/// Both operands, and C0 where one is given.
pub struct Inputs {
    a: Stack,
    b: Stack,
    c0: Option<Stack>,
    bias: Option<Stack>,
    scales: Scales<Stack>,
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
        let [left, right] = [(&a, transposed[0]), (&b, transposed[1])].map(oriented);
        let shapes = Shapes::of(left?.shape(), right?.shape())?;
        let named = Named::new(asked, a_source.names(), b_source.names(), &shapes)?;
        let output = asked.semiring.output_or(dtype, asked.result_type)?;
        let c0 = match &asked.c0 {
            Some(c0) => Some(read_c0(c0, asked, (&shapes, &named), output)?),
            None => None,
        };
        check_epilogue(&asked.semiring, asked.epilogue(), Some(dtype))?;
        let bias = asked.bias.as_ref().map(|bias| read_bias(bias, asked, output)).transpose()?;
        check_scales(&asked.semiring, asked.scales.as_ref().map(drop), Some(dtype))?;
        let scales = asked.scales.as_ref().try_map(|scales| read_scales(scales, asked))?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Self { a, b, c0, bias, scales, transposed: *transposed, found, dtype, shapes, named, seconds })
    }

    /// All products, with all that is asked for.
    pub fn products<'a>(&'a self, asked: &'a Resolved) -> Result<StackProduct<'a>, Error> {
        let [a, b] = [(&self.a, self.transposed[0]), (&self.b, self.transposed[1])].map(oriented);
        let products = match &asked.semiring {
            Meaning::BuiltIn(id) => StackProduct::new(*id, a?, b?)?,
            Meaning::Own(text) => StackProduct::with_text(text, a?, b?)?,
        };
        let output = asked.semiring.output_or(self.dtype, asked.result_type)?;
        let products = products.giving(output)?.joining(asked.joining)?;
        products.epilogue(self.epilogue(asked))?.scales(self.scales())
    }

    /// How many products that are, and the first of them, for plans; none in an empty stack.
    pub fn first<'a>(&'a self, asked: &'a Resolved) -> Result<(usize, Option<AnyProduct<'a>>), Error> {
        let (count, first) = self.products(asked)?.first();
        let of = |operands| {
            let product = AnyProduct::new(&asked.semiring, operands, asked.joining, asked.result_type)?;
            product.epilogue(self.epilogue(asked))?.scales(self.scales())
        };
        Ok((count, first.map(of).transpose()?))
    }

    fn epilogue<'a>(&'a self, asked: &Resolved) -> Epilogue<DynRef<'a>> {
        Epilogue { bias: self.bias.as_ref().map(Stack::rows), activation: asked.activation }
    }

    fn scales(&self) -> Scales<DynRef<'_>> {
        self.scales.as_ref().map(Stack::rows)
    }

    /// What the products are joined with: an array of the result's shape.
    pub fn c0(&self) -> Result<Option<StackRef<'_>>, Error> {
        self.c0.as_ref().map(|c0| joined(c0, &self.shapes)).transpose()
    }

    /// The same of one product.
    pub fn c0_of_one(&self) -> Option<DynRef<'_>> {
        self.c0.as_ref()?.matrix(0)
    }

    /// A matrix for all results, one below the other, that holds C0 where there is one.
    pub fn target(&self, dtype: DType) -> Result<DynMatrix, Error> {
        let Shapes { m, n, .. } = self.shapes;
        let mut c = DynMatrix::zeros(dtype, m.saturating_mul(self.shapes.count()), n)?;
        if let Some(c0) = self.c0()? {
            StackMut::of_rows(c.as_mut(), c0.shape())?.copy_from(&c0)?;
        }
        Ok(c)
    }

    /// Says on stderr what was read.
    pub fn describe(&self) {
        for (name, found, stack) in [("A", self.found[0], &self.a), ("B", self.found[1], &self.b)] {
            let source = match found {
                Found::Stored(_) => "stored as",
                Found::Text(_) => "text read as",
            };
            let shape = extents(stack.shape());
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

/// An operand, transposed where that is asked for.
fn oriented((stack, transposed): (&Stack, bool)) -> Result<StackRef<'_>, Error> {
    let array = StackRef::of_rows(stack.rows(), stack.shape())?;
    Ok(if transposed { array.t() } else { array })
}

/// C0 as it is joined: it has the dimensions of C, or matrices of C's shape that are repeated.
fn joined<'a>(c0: &'a Stack, shapes: &Shapes) -> Result<StackRef<'a>, Error> {
    let array = StackRef::of_rows(c0.rows(), c0.shape())?;
    match c0.shape() == shapes.result {
        true => Ok(array),
        false => array.broadcast(&shapes.matrices()),
    }
}

/// Whether that is so: no single row or column is repeated.
fn admits(shapes: &Shapes, c0: &Stack) -> bool {
    let is_matrices = c0.shape().len() >= 2 && c0.matrix_shape() == (shapes.m, shapes.n);
    c0.shape() == shapes.result || is_matrices && joined(c0, shapes).is_ok()
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
    if !admits(shapes, &c0) {
        let what = format!("C0 is {} but the product is {}", extents(c0.shape()), extents(&shapes.result));
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

/// Scales are one matrix of f32; other numbers become them.
fn read_scales(input: &Input, asked: &Resolved) -> Result<Stack, Failure> {
    let source = Source::open(input, &asked.reading)?;
    let scales = source.read(&asked.reading)?;
    if scales.shape().len() > 2 {
        let what = format!("scales are {}, a stack of matrices", extents(scales.shape()));
        return Err(Failure::usage(what, "give scales of one or two dimensions"));
    }
    Ok(source.read_as(scales, DType::F32, &asked.reading)?)
}
