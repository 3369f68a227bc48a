//! `mul --distributed`: a product by all ranks that were started together.

use crate::{
    args::{Common, Mul},
    failure::Failure,
    progress::Progress,
    ranks::{
        self, Workers, refuse, refuse_same, refuse_text,
        report::{Planned, Problem, Summary},
    },
};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};
use tilewright::{Activation, DType, DynMatrix, Error, ErrorKind, Extremes, Math, Options, SemiringId};
use tilewright_distributed::{
    DistMatrix, Grid, Group, Shape,
    devices::{self, Device},
    multiply, multiply_thin, product_bytes, product_memory, store, threads,
};

/// What is asked for.
struct Asked<'a> {
    args: &'a Mul,
    semiring: SemiringId,
    workers: Workers<'a>,
    a: PathBuf,
    b: PathBuf,
    output: Option<PathBuf>,
}

/// The product by its sizes.
#[derive(Clone, Copy)]
struct Size {
    m: usize,
    n: usize,
    k: usize,
    dtype: DType,
    /// The type of results.
    result: DType,
    block: usize,
}

impl Size {
    /// Bytes that all ranks receive where each takes a part of the terms.
    fn bytes_by_terms(&self, ranks: usize) -> u64 {
        (self.m as u64 * self.n as u64).saturating_mul((self.result.size() * (ranks - 1)) as u64)
    }
}

pub fn run(args: &Mul, shape: Shape, common: &Common) -> Result<(), Failure> {
    let asked = Asked::new(args, shape)?;
    if args.plan {
        return ranks::plan(common, |group| Ok(asked.planned(asked.size(group)?)));
    }
    ranks::run(&asked.workers, common, |group, device| asked.compute(group, device, common))
}

impl<'a> Asked<'a> {
    fn new(args: &'a Mul, shape: Shape) -> Result<Self, Failure> {
        let workers = Workers::new(&args.ranks, shape, args.backend)?;
        refuse(&[
            ("--from", args.from.is_some()),
            ("--labels", args.labels.is_some()),
            ("--transpose-a", args.transpose_a),
            ("--transpose-b", args.transpose_b),
            ("--alpha", args.alpha.is_some()),
            ("--beta", args.beta.is_some()),
            ("--accumulate", args.accumulate.is_some()),
            ("--bias", args.bias.is_some()),
            ("--activation", args.activation != Activation::None),
            ("--arg-out", args.arg_out.is_some()),
            ("--result-type", args.result_type.is_some()),
            ("--kernel", args.kernel.is_some()),
            ("--math", args.math != Math::Full),
            ("--scale-a", args.scale_a.is_some()),
            ("--scale-b", args.scale_b.is_some()),
            ("--max-steps", args.max_steps.is_some()),
            ("--max-time", args.max_time.is_some()),
            ("--verify", args.verify),
            ("--format-out", args.format_out.is_some()),
            ("--gpu", args.gpu.is_some()),
        ])?;
        refuse_text(&args.text)?;
        let semiring = args.semiring.built_in().ok_or_else(|| {
            Failure::usage(
                "a semiring that is given by its text, with --distributed",
                "choose one by its name",
            )
        })?;
        let output = ranks::output(args.output.as_ref())?;
        let (a, b) = (PathBuf::from(&args.a), PathBuf::from(&args.b));
        refuse_same(output.as_deref(), &[&a, &b])?;
        Ok(Self { args, semiring, workers, a, b, output })
    }

    fn size(&self, group: &dyn Group) -> Result<Size, Error> {
        let (a, b) = (store::stored(group, &self.a)?, store::stored(group, &self.b)?);
        let (m, k, n) = (a.rows, a.cols, b.cols);
        if b.rows != k {
            return Err(ErrorKind::InnerMismatch { m, k, bk: b.rows, n }.into());
        }
        let dtype = self.args.dtype.unwrap_or(a.dtype);
        if self.args.dtype.is_none() && a.dtype != b.dtype {
            return Err(ErrorKind::DTypeMismatch { what: "B", expected: a.dtype, found: b.dtype }.into());
        }
        let asked = self.args.ranks.block.map(|block| block as usize);
        let block = asked.or(a.block).unwrap_or_else(|| self.workers.default_block(m.max(n).max(k)));
        Ok(Size { m, n, k, dtype, result: self.semiring.output(dtype)?, block })
    }

    /// Whether each rank takes a part of a long sum: where less is received so. GPUs send panels in any case.
    fn is_by_terms(&self, size: &Size) -> bool {
        let Size { m, n, k, dtype, .. } = *size;
        !self.workers.are_gpus()
            && size.bytes_by_terms(self.workers.shape.ranks())
                < product_bytes((m, n, k), self.workers.shape, dtype.size())
    }

    fn planned(&self, size: Size) -> Planned {
        let Size { m, n, k, dtype, result, block } = size;
        let (ranks, is_by_terms) = (self.workers.shape.ranks(), self.is_by_terms(&size));
        let (received_bytes, memory_bytes_per_rank) = match is_by_terms {
            true => {
                let operands = k.div_ceil(ranks).saturating_mul(m + n).saturating_mul(dtype.size());
                (size.bytes_by_terms(ranks), (operands + 2 * m * n * result.size()) as u64)
            }
            false => {
                let memory =
                    product_memory((m, n, k), block, self.workers.shape, (dtype.size(), result.size()));
                (product_bytes((m, n, k), self.workers.shape, dtype.size()), memory)
            }
        };
        Planned {
            schema: 1,
            semiring: self.semiring.name(),
            dtype: dtype.name(),
            problem: Problem::Product { m, n, k },
            grid: self.workers.shape.to_string(),
            ranks,
            block,
            split: if is_by_terms { "terms" } else { "blocks" },
            on: if self.workers.are_gpus() { "gpus" } else { "processors" },
            transport: None,
            arithmetic_seconds: None,
            received_bytes,
            memory_bytes_per_rank,
        }
    }

    fn compute(&self, group: &dyn Group, device: Option<&Device>, common: &Common) -> Result<(), Failure> {
        let is_first = group.rank() == 0;
        let grid = Grid::new(group, self.workers.shape)?;
        let size = self.size(group)?;
        if let Some(output) = &self.output {
            store::check_writable(group, output, size.result)?;
        }
        let progress = Progress::new(
            (size.m as f64 * size.n as f64 * size.k as f64 / self.workers.shape.ranks() as f64) as u64,
        );
        let count = |work| progress.add(work);
        let options = Options {
            backend: self.workers.host_backend(),
            threads: self.args.threads,
            progress: (is_first && !common.quiet).then_some(&count as &(dyn Fn(u64) + Sync)),
            ..Options::default()
        };
        let times = match self.is_by_terms(&size) {
            true => self.by_terms(group, &size, &options),
            false => self.by_blocks(&grid, device, &size, &options),
        };
        progress.finish();
        let Times { read_seconds, seconds, write_seconds, received_bytes } = times?;
        let transport = self.workers.transport(device);
        let planned = Planned { received_bytes, transport, ..self.planned(size) };
        let output = self.output.as_ref().map(|path| path.display().to_string());
        let (resumed_after, predecessors_output) = (None, None);
        let summary = Summary {
            planned,
            resumed_after,
            seconds,
            read_seconds,
            write_seconds,
            output,
            predecessors_output,
        };
        if is_first { summary.print(common) } else { Ok(()) }
    }

    fn read<'g>(
        &self,
        grid: &'g Grid<'g>,
        path: &Path,
        block: usize,
        dtype: DType,
    ) -> Result<DistMatrix<'g>, Error> {
        let is_infinite = matches!(self.semiring.zero(), tilewright::Value::Float(_));
        let extremes = if is_infinite { self.semiring.extremes() } else { Extremes::Refuse };
        store::read(grid, path, block, dtype, extremes)
    }

    fn by_blocks(
        &self,
        grid: &Grid<'_>,
        device: Option<&Device>,
        size: &Size,
        options: &Options<'_>,
    ) -> Result<Times, Error> {
        let start = Instant::now();
        let a = self.read(grid, &self.a, size.block, size.dtype)?;
        let b = self.read(grid, &self.b, size.block, size.dtype)?;
        let (read_seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
        let c = match device {
            Some(device) => devices::multiply(device, self.semiring, &a, &b, options)?,
            None => multiply(self.semiring, &a, &b, options)?,
        };
        let (seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
        if let Some(output) = &self.output {
            store::write(&c, output)?;
        }
        let write_seconds = start.elapsed().as_secs_f64();
        Ok(Times { read_seconds, seconds, write_seconds, received_bytes: grid.received_by_all()? })
    }

    /// Columns of A and rows of B are dealt in one piece each.
    fn by_terms(&self, group: &dyn Group, size: &Size, options: &Options<'_>) -> Result<Times, Error> {
        let (ranks, start) = (group.size(), Instant::now());
        let (columns, rows) = (
            Grid::new(group, Shape { rows: 1, cols: ranks })?,
            Grid::new(group, Shape { rows: ranks, cols: 1 })?,
        );
        let block = size.k.div_ceil(ranks).max(1);
        let a = self.read(&columns, &self.a, block, size.dtype)?;
        let b = self.read(&rows, &self.b, block, size.dtype)?;
        let (read_seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
        let c = multiply_thin(&columns, self.semiring, a.local(), b.local(), options)?;
        let (seconds, start) = (start.elapsed().as_secs_f64(), Instant::now());
        let written = match (&self.output, &c) {
            (Some(output), Some(c)) => write(c, output, size.block),
            _ => Ok(()),
        };
        group.agree(written, "writing the output")?;
        let write_seconds = start.elapsed().as_secs_f64();
        Ok(Times { read_seconds, seconds, write_seconds, received_bytes: columns.received_by_all()? })
    }
}

/// How long it took, and what was received.
struct Times {
    read_seconds: f64,
    seconds: f64,
    write_seconds: f64,
    received_bytes: u64,
}

/// Writes a matrix that one rank has.
fn write(c: &DynMatrix, output: &Path, block: usize) -> Result<(), Error> {
    let alone = |group: &dyn Group| {
        let grid = Grid::new(group, Shape { rows: 1, cols: 1 })?;
        let (rows, cols) = (c.layout().rows, c.layout().cols);
        let mut d = DistMatrix::zeros(&grid, c.dtype(), rows, cols, block)?;
        d.local_mut().copy_from(c.as_ref())?;
        store::write(&d, output)
    };
    threads::run(1, alone).into_iter().collect()
}
