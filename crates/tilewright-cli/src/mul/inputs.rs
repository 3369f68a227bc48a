//! The arrays to multiply, in one element type.

use super::{
    names::Named,
    shapes::{self, Shapes},
    source::{self, STREAM, Source},
    types::{self, Found},
};
use crate::{
    args::{Common, Mul},
    failure::Failure,
    pipe,
    product::AnyProduct,
    terminal::{self, Style},
};
use std::{ffi::OsString, path::PathBuf, time::Instant};
use tilewright::{
    DType, DynRef, Error, Extremes, Joining, SemiringId, Value,
    files::{ReadOptions, Spec, Stack},
};

/// Both operands, and C0 where one is given.
pub struct Inputs {
    a: Stack,
    b: Stack,
    c0: Option<Stack>,
    transposed: [bool; 2],
    found: [Found; 2],
    /// The element type of both operands.
    pub dtype: DType,
    /// What is multiplied with what.
    pub shapes: Shapes,
    /// What rows and columns are called.
    pub named: Named,
    /// The files of A, B and C0.
    pub paths: Vec<PathBuf>,
    /// Wall time of reading and converting.
    pub seconds: f64,
}

impl Inputs {
    pub fn read(args: &Mul, common: &Common) -> Result<Self, Failure> {
        let start = Instant::now();
        let spec = |word: &OsString| source::spec(word, args.text.format_in, "--format-in");
        let (a_spec, b_spec) = (spec(&args.a)?, spec(&args.b)?);
        let c0_spec = args.accumulate.as_ref().map(spec).transpose()?;
        check_streams(args, [Some(&a_spec), Some(&b_spec), c0_spec.as_ref()])?;
        let paths = [Some(&a_spec), Some(&b_spec), c0_spec.as_ref()];
        let paths = paths.into_iter().flatten().map(|spec| spec.path().to_path_buf()).collect();
        let options = options(args);
        let a_source = Source::open(&args.a, a_spec, &options)?;
        let b_source = Source::open(&args.b, b_spec, &options)?;

        let asked = ReadOptions { dtype: args.dtype, ..options.clone() };
        let (a, b) = (a_source.read(&asked)?, b_source.read(&asked)?);
        for (name, stack) in [("A", &a), ("B", &b)] {
            say_empty(common, name, stack.empty_cells(), options.fill);
        }
        let found = [found(&a), found(&b)];
        let dtype = match args.dtype {
            Some(dtype) => dtype,
            None => {
                let chosen = types::common(&args.semiring, found[0], found[1])?;
                if let Some(note) = &chosen.note {
                    terminal::note(common, "types", note);
                }
                chosen.dtype
            }
        };
        let (a, b) = (a_source.read_as(a, dtype, &options)?, b_source.read_as(b, dtype, &options)?);
        let transposed = [args.transpose_a, args.transpose_b];
        let shapes = Shapes::new(&a, &b, transposed)?;
        let named = Named::new(args, a_source.names(), b_source.names(), &shapes)?;
        let c0 = match (c0_spec, &args.accumulate) {
            (Some(spec), Some(word)) => Some(read_c0(
                word,
                spec,
                args,
                (&shapes, &named),
                args.semiring.output_or(dtype, args.result_type)?,
            )?),
            _ => None,
        };
        let seconds = start.elapsed().as_secs_f64();
        Ok(Self { a, b, c0, transposed, found, dtype, shapes, named, paths, seconds })
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
    pub fn first<'a>(&'a self, args: &'a Mul) -> Result<Option<AnyProduct<'a>>, Error> {
        let first = self
            .product(0)
            .map(|first| AnyProduct::new(&args.semiring, first, self.joining(args), args.result_type));
        first.transpose()
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

/// Refuses one stream for two inputs.
fn check_streams(args: &Mul, specs: [Option<&Spec>; 3]) -> Result<(), Failure> {
    const NAMES: [&str; 3] = ["A", "B", "C0"];
    let words = [Some(&args.a), Some(&args.b), args.accumulate.as_ref()];
    let is_stream = |word: Option<&OsString>| word.is_some_and(|word| word == STREAM);
    let streams: Vec<&str> =
        NAMES.into_iter().zip(words).filter(|(_, word)| is_stream(*word)).map(|(name, _)| name).collect();
    if let [first, second, ..] = streams[..] {
        let what = format!("{first} and {second} would both be read from standard input");
        return Err(Failure::usage(what, "it can be read once: save one of them to a file first"));
    }
    let paths = NAMES.into_iter().zip(words).zip(specs);
    let files: Vec<_> =
        paths.map(|((name, word), spec)| (name, spec.filter(|_| !is_stream(word)).map(Spec::path))).collect();
    pipe::check(&files)
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
    word: &OsString,
    spec: Spec,
    args: &Mul,
    (shapes, named): (&Shapes, &Named),
    dtype: DType,
) -> Result<Stack, Failure> {
    let options = options(args);
    let source = Source::open(word, spec, &options)?;
    let c0 = source.read(&options)?;
    named.check_c0(source.names())?;
    if !shapes.admits(&c0) {
        let what =
            format!("C0 is {} but the product is {}", shapes::words(c0.shape()), shapes::words(&shapes.c));
        return Err(Failure::usage(what, "give C0 the shape of the product"));
    }
    if args.dtype.is_none() && !types::is_safe(found(&c0), dtype) {
        let what = format!("C0 holds {}, but the product is {dtype}", found(&c0).name());
        return Err(Failure::usage(what, "convert all matrices with --dtype"));
    }
    Ok(source.read_as(c0, dtype, &options)?)
}

fn options(args: &Mul) -> ReadOptions {
    let fill = args.semiring.zero();
    // The extreme integers stand for infinities where these are the semiring's zero.
    let extremes = if fill.to_f64().is_infinite() { Extremes::Absent } else { Extremes::Refuse };
    // A sum has no absent terms, even though 0 changes none.
    let empty_is_absent = match args.semiring.built_in() {
        Some(id) => id != SemiringId::PlusTimes,
        None => fill.to_f64().is_infinite(),
    };
    let text = args.text.dialect();
    ReadOptions { extremes, fill, pattern: Value::Int(1), empty_is_absent, text, ..ReadOptions::default() }
}
