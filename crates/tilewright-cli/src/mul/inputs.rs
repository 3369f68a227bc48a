//! The matrices to multiply, in one element type.

use super::{
    source::{self, Source},
    types::{self, Found},
};
use crate::{
    args::Mul,
    failure::Failure,
    pipe,
    terminal::{self, Style},
};
use std::time::Instant;
use tilewright::{
    DType, DynProduct, DynRef, Extremes, Joining, Layout, SemiringId, Value,
    files::{self, Input, ReadOptions, Spec},
};

/// Both operands, and C0 where one is given.
pub struct Inputs {
    a: Input,
    b: Input,
    c0: Option<Input>,
    transposed: [bool; 2],
    found: [Found; 2],
    /// The element type of both operands.
    pub dtype: DType,
    /// Wall time of reading and converting.
    pub seconds: f64,
}

impl Inputs {
    pub fn read(args: &Mul) -> Result<Self, Failure> {
        let start = Instant::now();
        let (a_spec, b_spec) = (Spec::parse(&args.a)?, Spec::parse(&args.b)?);
        let c0_spec = args.accumulate.as_ref().map(Spec::parse).transpose()?;
        let c0 = c0_spec.as_ref().map(Spec::path);
        pipe::check(&[("A", Some(a_spec.path())), ("B", Some(b_spec.path())), ("C0", c0)])?;
        let (a_source, b_source) = (Source::open(a_spec)?, Source::open(b_spec)?);
        let read = |source: &Source, dtype| source.read(&options(args.semiring, dtype));

        let (mut a, mut b) = (read(&a_source, args.dtype)?, read(&b_source, args.dtype)?);
        let found = [found(&a_source, &a), found(&b_source, &b)];
        let dtype = match args.dtype {
            Some(dtype) => dtype,
            None => types::common(args.semiring, found[0], found[1])?,
        };
        // Text is read again rather than converted: what it leaves out depends on the type.
        for (source, input) in [(&a_source, &mut a), (&b_source, &mut b)] {
            if input.as_ref().dtype() != dtype {
                *input = read(source, Some(dtype))?;
            }
        }
        let c0 = match &c0_spec {
            Some(spec) => Some(read_c0(spec, args, args.semiring.output(dtype)?)?),
            None => None,
        };
        let transposed = [args.transpose_a, args.transpose_b];
        Ok(Self { a, b, c0, transposed, found, dtype, seconds: start.elapsed().as_secs_f64() })
    }

    /// A, transposed when that is asked for.
    fn a(&self) -> DynRef<'_> {
        oriented(self.a.as_ref(), self.transposed[0])
    }

    fn b(&self) -> DynRef<'_> {
        oriented(self.b.as_ref(), self.transposed[1])
    }

    /// The shapes of A and B as they are multiplied.
    pub fn layouts(&self) -> (Layout, Layout) {
        (self.a().layout(), self.b().layout())
    }

    pub fn product(&self, args: &Mul) -> Result<DynProduct<'_>, Failure> {
        let product = DynProduct::new(args.semiring, self.a(), self.b())?;
        Ok(product.update(self.joining(args), self.c0.as_ref().map(Input::as_ref))?)
    }

    /// What the options ask for besides the product.
    pub fn joining(&self, args: &Mul) -> Joining<Value> {
        match (args.alpha, args.beta, &self.c0) {
            (None, None, None) => Joining::Replace,
            (None, None, Some(_)) => Joining::Accumulate,
            (alpha, _, None) => Joining::<Value>::scale(alpha.unwrap_or(1.0), 0.0),
            (alpha, beta, Some(_)) => Joining::<Value>::scale(alpha.unwrap_or(1.0), beta.unwrap_or(1.0)),
        }
    }

    /// Says on stderr what was read.
    pub fn describe(&self) {
        for (name, found, layout) in
            [("A", self.found[0], self.layouts().0), ("B", self.found[1], self.layouts().1)]
        {
            let source = match found {
                Found::Stored(_) => "stored as",
                Found::Text(_) => "text read as",
            };
            let (rows, cols) = (layout.rows, layout.cols);
            let text = format!("{rows}x{cols}, {source} {}, multiplied as {}", found.dtype(), self.dtype);
            terminal::say(Style::Note, name, &text);
        }
    }
}

fn oriented(m: DynRef<'_>, transposed: bool) -> DynRef<'_> {
    if transposed { m.t() } else { m }
}

fn found(source: &Source, input: &Input) -> Found {
    let dtype = input.as_ref().dtype();
    if source.is_text() { Found::Text(dtype) } else { Found::Stored(dtype) }
}

/// C0 has the type of the result; a stored type is converted only when `--dtype` asks for conversions.
fn read_c0(spec: &Spec, args: &Mul, dtype: DType) -> Result<Input, Failure> {
    let asked = (source::is_text(spec) || args.dtype.is_some()).then_some(dtype);
    let c0 = files::read(spec, &options(args.semiring, asked))?;
    let stored = c0.as_ref().dtype();
    if stored != dtype {
        let what = format!("C0 holds {stored}, but the product is {dtype}");
        return Err(Failure::usage(what, "convert all matrices with --dtype"));
    }
    Ok(c0)
}

fn options(semiring: SemiringId, dtype: Option<DType>) -> ReadOptions {
    // The extreme integers stand for infinities where these are the semiring's zero.
    let fill = semiring.zero();
    let extremes = if let Value::Float(_) = fill { Extremes::Absent } else { Extremes::Refuse };
    ReadOptions { dtype, extremes, fill, pattern: Value::Int(1), ..ReadOptions::default() }
}
