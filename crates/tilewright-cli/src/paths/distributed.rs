//! `paths --distributed`: the closure by all ranks that were started together.

use super::random;
use crate::{
    args::{Common, Paths, PathsInput},
    failure::Failure,
    progress::Progress,
    ranks::{
        self, Workers, refuse, refuse_nested, refuse_same, refuse_text,
        report::{Planned, Problem, Summary},
    },
    terminal::{self, Style},
};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};
use tilewright::{
    DType, Error, ErrorKind, Extremes, Options, SemiringId, Value,
    cuda::DeviceInfo,
    paths::{DynPaths, Method, OnGpu, Options as PathOptions},
};
use tilewright_distributed::{
    Checkpoints, Closure, DistMatrix, Grid, Group, Shape, closure_bytes, closure_memory, devices::Device,
    predecessor_bytes, predecessor_memory, store,
};

/// What is asked for.
struct Asked<'a> {
    args: &'a Paths,
    workers: Workers<'a>,
    source: Source,
    output: Option<PathBuf>,
    predecessors: Option<PathBuf>,
}

enum Source {
    Random(usize),
    File(PathBuf),
}

/// The graph by its size.
#[derive(Clone, Copy)]
struct Size {
    n: usize,
    dtype: DType,
    block: usize,
}

pub fn run(args: &Paths, shape: Shape, common: &Common) -> Result<(), Failure> {
    let asked = Asked::new(args, shape)?;
    if args.plan {
        return ranks::plan(common, |group| asked.planned(asked.size(group)?));
    }
    ranks::run(&asked.workers, common, |group, device| asked.compute(group, device, common))
}

impl<'a> Asked<'a> {
    fn new(args: &'a Paths, shape: Shape) -> Result<Self, Failure> {
        let workers = Workers::new(&args.ranks, shape, args.backend)?;
        refuse(&[
            ("--from", args.from.is_some()),
            ("--pairs", args.pairs.is_some()),
            ("--steps", args.steps.is_some()),
            ("--labels", args.labels.is_some()),
            ("--columns", args.columns.is_some()),
            ("--undirected", args.undirected),
            ("--vertices", args.vertices.is_some()),
            ("--zero-means-absent", args.zero_means_absent),
            ("--input edges", args.input == PathsInput::Edges),
            ("--method dijkstra", args.method == Method::Dijkstra),
            ("--repeat", args.repeat > 1),
        ])?;
        refuse_text(&args.text)?;
        if args.predecessors.is_some() && args.checkpoint.is_some() {
            let hint = "leave out one of both: states have no predecessors";
            return Err(Failure::usage("--checkpoint with --predecessors", hint));
        }
        let output = ranks::output(args.output.as_ref())?;
        let predecessors = ranks::output(args.predecessors.as_ref())?;
        refuse_nested(&[
            ("-o", output.as_deref()),
            ("--predecessors", predecessors.as_deref()),
            ("--checkpoint", args.checkpoint.as_deref().map(Path::new)),
        ])?;
        let random = args.graph.to_str().and_then(|name| name.strip_prefix("random:"));
        let source = match random.and_then(|count| count.parse().ok()) {
            Some(n) => Source::Random(n),
            None => Source::File(PathBuf::from(&args.graph)),
        };
        if let Source::File(path) = &source {
            refuse_same(output.as_deref(), &[path])?;
            refuse_same(predecessors.as_deref(), &[path])?;
        }
        Ok(Self { args, workers, source, output, predecessors })
    }

    fn semiring(&self) -> SemiringId {
        self.args.semiring
    }

    fn size(&self, group: &dyn Group) -> Result<Size, Error> {
        let known = DynPaths::dtypes(self.semiring());
        let asked_block = self.args.ranks.block.map(|block| block as usize);
        let (n, natural, stored) = match &self.source {
            Source::Random(n) => (*n, random::natural(self.semiring()), None),
            Source::File(path) => {
                let found = store::stored(group, path)?;
                let (rows, cols) = (found.rows, found.cols);
                if rows != cols {
                    return Err(ErrorKind::NotSquare { what: "W", rows, cols }.into());
                }
                (rows, found.dtype, found.block)
            }
        };
        let dtype = self.args.dtype.unwrap_or(natural);
        if !known.contains(&dtype) {
            let what = format!("{} on {dtype}", self.semiring());
            let names = known.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
            let hint = format!("choose one of {names} with --dtype").into();
            return Err(ErrorKind::Unsupported { what, why: String::new(), hint }.into());
        }
        let block = asked_block.or(stored).unwrap_or_else(|| self.workers.default_block(n));
        Ok(Size { n, dtype, block })
    }

    /// Seconds of arithmetic, where all ranks have a part of it.
    fn seconds(&self, Size { n, dtype, .. }: Size) -> Result<Option<f64>, Error> {
        let part = |seconds| Some(seconds / self.workers.shape.ranks() as f64);
        if self.workers.are_gpus() {
            // Whether or not it is one of the ranks': nothing is opened for an estimate.
            let found = DeviceInfo::all().unwrap_or_default();
            let seconds = found.first().map(|device| OnGpu::seconds_of(&device.gpu(), n, dtype));
            return Ok(seconds.filter(|seconds| seconds.is_finite()).and_then(part));
        }
        let paths = DynPaths::of_edges(self.semiring(), dtype, n, &[])?.method(Method::Dense);
        let options = PathOptions { threads: self.args.threads, ..PathOptions::default() };
        Ok(part(paths.options(options).plan()?.dense_seconds))
    }

    fn planned(&self, size: Size) -> Result<Planned, Error> {
        let Size { n, dtype, block } = size;
        let (received_bytes, memory_bytes_per_rank) = match self.predecessors {
            None => (
                closure_bytes(n, block, self.workers.shape, dtype.size()),
                closure_memory(n, block, self.workers.shape, dtype.size()),
            ),
            Some(_) => (
                predecessor_bytes(n, block, self.workers.shape),
                predecessor_memory(n, block, self.workers.shape, dtype.size()),
            ),
        };
        Ok(Planned {
            schema: 1,
            semiring: self.semiring().name(),
            dtype: dtype.name(),
            problem: Problem::Closure { vertices: n },
            grid: self.workers.shape.to_string(),
            ranks: self.workers.shape.ranks(),
            block,
            split: "blocks",
            on: if self.workers.are_gpus() { "gpus" } else { "processors" },
            transport: None,
            arithmetic_seconds: self.seconds(size)?,
            received_bytes,
            memory_bytes_per_rank,
        })
    }

    fn compute(&self, group: &dyn Group, device: Option<&Device>, common: &Common) -> Result<(), Failure> {
        let is_first = group.rank() == 0;
        let grid = Grid::new(group, self.workers.shape)?;
        let size = self.size(group)?;
        for (output, dtype) in [(&self.output, size.dtype), (&self.predecessors, DType::I64)] {
            output.as_ref().map_or(Ok(()), |output| store::check_writable(group, output, dtype))?;
        }
        let checkpoints = self.args.checkpoint.as_ref().map(|folder| Checkpoints::new(folder, 0));
        if let Some(to) = checkpoints.as_ref().filter(|_| !self.args.resume)
            && to.has_states(group)?
        {
            return Err(self.has_states());
        }
        let start = Instant::now();
        let mut d = self.matrix(&grid, size)?;
        let read_seconds = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let layout = d.local().layout();
        let progress = Progress::new((layout.rows as f64 * layout.cols as f64 * size.n as f64) as u64);
        let count = |work| progress.add(work);
        let options = Options {
            backend: self.workers.host_backend(),
            threads: self.args.threads,
            progress: (is_first && !common.quiet).then_some(&count as &(dyn Fn(u64) + Sync)),
            ..Options::default()
        };
        let checkpoints = checkpoints.as_ref();
        let closure = Closure { options, device, checkpoints, ..Closure::new(self.semiring()) };
        let (mut resumed_after, mut damaged) = (None, Vec::new());
        let closed = match (&self.predecessors, self.args.resume) {
            (Some(_), _) => closure.run_with_predecessors(&d).map(Some),
            (None, false) => closure.run(&mut d).map(|()| None),
            (None, true) => closure.resume(&mut d).map(|resumed| {
                resumed_after = resumed.done;
                damaged = resumed.damaged;
                None
            }),
        };
        progress.finish();
        let closed = closed.map_err(failure)?;
        for error in damaged.iter().filter(|_| is_first) {
            terminal::say(Style::Note, "note", &format!("a damaged state was left out: {error}"));
        }
        let (d, predecessors) = match closed {
            Some(found) => (found.distances, Some(found.predecessors)),
            None => (d, None),
        };
        let seconds = start.elapsed().as_secs_f64();

        let start = Instant::now();
        if let Some(output) = &self.output {
            store::write(&d, output)?;
        }
        if let (Some(output), Some(predecessors)) = (&self.predecessors, &predecessors) {
            store::write(predecessors, output)?;
        }
        let write_seconds = start.elapsed().as_secs_f64();
        let planned = Planned {
            received_bytes: grid.received_by_all()?,
            transport: self.workers.transport(device),
            ..self.planned(size)?
        };
        let name = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let (output, predecessors_output) = (name(&self.output), name(&self.predecessors));
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

    /// A folder of states is not for another run.
    fn has_states(&self) -> Failure {
        let folder = self.args.checkpoint.as_ref().map_or(Path::new(""), Path::new);
        let what = format!("--checkpoint {} has the states of an earlier run", folder.display());
        Failure::usage(what, "go on from them with --resume, or choose another folder")
    }

    /// The weights.
    fn matrix<'g>(&self, grid: &'g Grid<'g>, size: Size) -> Result<DistMatrix<'g>, Error> {
        let Size { dtype, block, .. } = size;
        match &self.source {
            Source::Random(n) => {
                // Whether there is memory is agreed on before anything is written to it.
                let d = DistMatrix::zeros(grid, dtype, *n, *n, block);
                let mut d = grid.world().agree(d, "taking memory for the weights")?;
                let made = d.fill(|at, part| {
                    random::fill(self.semiring(), *n, (at.rows.start, at.cols.start), part);
                    Ok(())
                });
                grid.world().agree(made, "making the weights")?;
                Ok(d)
            }
            Source::File(path) => read(grid, path, block, dtype, self.semiring()),
        }
    }
}

/// A cycle is named, and what bounds the number of edges is not: one process alone does that.
fn failure(error: Error) -> Failure {
    match super::named_by(error, |vertex| vertex.to_string()) {
        Failure::Check { what, .. } => Failure::Check { what, hint: "correct a weight".into() },
        other => other,
    }
}

fn read<'g>(
    grid: &'g Grid<'g>,
    path: &Path,
    block: usize,
    dtype: DType,
    semiring: SemiringId,
) -> Result<DistMatrix<'g>, Error> {
    // The extreme integers stand for infinities where these are the semiring's zero.
    let extremes = if let Value::Float(_) = semiring.zero() { Extremes::Absent } else { Extremes::Refuse };
    store::read(grid, path, block, dtype, extremes)
}
