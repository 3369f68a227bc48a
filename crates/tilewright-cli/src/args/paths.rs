//! The options of `paths`.

use super::{Ranks, TextFiles, dtypes, named};
use clap::{Args, ValueEnum, ValueHint, builder::ValueParser};
use std::ffi::OsString;
use tilewright::{
    Backend, DType, SemiringId,
    files::Columns,
    paths::{DynPaths, Method},
};

const DETAILS: &str = "\
Graphs: a square matrix in any file that `mul` reads, where infinity (in integers the extreme value, under or-and false) and an empty cell are no edge; a .csv table whose \
first line and first column are names, or whose first line alone is, over a square of numbers; a .csv list of edges with lines from,to,weight, whose header and weights may be left out and whose vertices may have any names; a Matrix \
Market coordinate file; an .npz of scipy.sparse. Of parallel edges the best counts. A .csv file whose first two columns hold names is a list of edges; one of two or three numbers a line, too, \
unless it has as many lines: then a diagonal of zeros makes it a matrix, and any other is refused. The summary says what was read, and --input decides. --columns says which of more columns are read. \
random:N is a complete graph of N vertices with random weights, to measure with.

Text: names are what a .csv file says, blanks around them included, and quotes protect all else; --trim drops the blanks. A line that begins with # is a comment where it could be no row, and \
is refused where it could; --comments decides. --decimal-comma reads 12,5 as a number.

Semirings: min-plus gives the shortest paths, max-min the widest (the narrowest edge counts), max-times the most reliable (probabilities multiply), or-and what can be \
reached at all. Negative edges are allowed. Where a negative cycle makes every path shorter, one is named, and the exit code is 1; under max-times that is one whose \
product exceeds 1.

Routes: --from and --to name vertices, by name where names are known, otherwise by number from 0. --from alone shows the weights of the best paths to all others. With --format csv routes are lines. --pairs reads lines from,to. Of several best paths the one with the \
fewest edges is shown, and of these the one whose stop before the last has the smallest number, and so on. --predecessors writes that stop for all pairs as \
i64, -1 where there is none. With --steps no path follows from it: the stops before it may belong to a path of too many edges.

Methods: dense closes the matrix by products, in about n x n x n steps; dijkstra searches from every vertex, which is faster where edges are few. --plan shows what \
either would take. Integers, and floats whose sums are exact, give the same either way; other floats are rounded in another order.

GPUs: cuda closes the matrix on the GPU, by the same steps, and gives the same weights where sums are exact. Searches, predecessors and routes are the \
processor's. emulator executes the same kernels here, which is slow.

Many ranks: mpiexec -n 8 tilewright paths ... --distributed 2x4 deals blocks of the matrix to eight processes, which close it together. They read and write one .npy file, or a folder of \
blocks. MPI is found when the command runs: that of the mpiexec, or the library that TILEWRIGHT_MPI_PATH names. With --plan no mpiexec is needed. --predecessors takes integers under min-plus or max-plus. Floats take no edge that makes paths better. A folder of states is gone on from with --resume, or refused. \
With --backend cuda each process takes a GPU of its machine. --devices 0,1 needs no mpiexec: the ranks are GPUs of one process. GPUs send blocks to each other by NCCL where it is found, otherwise by copies.

Memory: the result takes n x n elements; a matrix of edges becomes the result where nothing else is asked for. What is needed is compared with what is free before anything is computed.

Examples:
  tilewright paths data/flights/nonstop_km.csv --labels data/flights/airports.csv:iata --from HNL --to BOS
  tilewright paths roads.csv --undirected -o km.csv --predecessors before.npy
  tilewright paths bandwidth.npy --semiring max-min -o widest.npy
  tilewright paths roads.txt --format-in csv --columns von,nach,km --decimal-comma --from Oslo
  tilewright paths w.npy --steps 2 -o shortcuts.npy
  tilewright paths network.mtx --plan
  tilewright paths random:16384 --backend cuda --repeat 3
  mpiexec -n 8 tilewright paths w.npy --distributed 2x4 --checkpoint states/ -o out/
  tilewright paths random:65536 --devices 0,1 -o out/";

/// Find the best paths between all pairs of vertices of a graph
///
/// Prints a summary and a corner of the distances, or routes, or writes all distances with -o.
#[derive(Args, Debug)]
#[command(after_help = DETAILS)]
pub struct Paths {
    /// The graph: a square matrix of weights, a list of edges, or random:N
    #[arg(value_name = "W", value_hint = ValueHint::FilePath)]
    pub graph: OsString,
    /// Write the weights of all best paths to this file; `-` writes CSV to stdout
    #[arg(short, long, value_name = "DIST", value_hint = ValueHint::FilePath)]
    pub output: Option<OsString>,
    /// Write the stop before the last of all best paths to this file
    #[arg(long, value_name = "P", value_hint = ValueHint::FilePath)]
    pub predecessors: Option<OsString>,

    #[command(flatten)]
    pub text: TextFiles,

    /// Show the best path from this vertex, to all others unless --to names one
    #[arg(long, value_name = "I", help_heading = "Routes")]
    pub from: Option<String>,
    /// Show the best path to this vertex
    #[arg(long, value_name = "J", requires = "from", help_heading = "Routes")]
    pub to: Option<String>,
    /// Show the best paths between the pairs in this file, one a line: from,to
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Routes")]
    pub pairs: Option<OsString>,

    /// What the file holds
    #[arg(long, value_enum, default_value_t = Input::Auto, help_heading = "Graph")]
    pub input: Input,
    /// The columns of a .csv list of edges: two or three names, or numbers from 1
    #[arg(long, value_name = "FROM,TO[,WEIGHT]", help_heading = "Graph")]
    pub columns: Option<Columns>,
    /// Let every edge of a list lead both ways
    #[arg(long, help_heading = "Graph")]
    pub undirected: bool,
    /// The vertices of a .csv list are the numbers below N; its names must be such numbers
    #[arg(long, value_name = "N", help_heading = "Graph")]
    pub vertices: Option<usize>,
    /// Names of rows and columns: a file with one a line, or a column of a .csv file with a header
    #[arg(long, value_name = "FILE[:COLUMN]", value_hint = ValueHint::FilePath, help_heading = "Graph")]
    pub labels: Option<OsString>,
    /// Zeros of a matrix are no edges
    #[arg(long, help_heading = "Graph")]
    pub zero_means_absent: bool,
    /// Convert weights to this element type
    #[arg(long, value_name = "TYPE", value_parser = dtypes(), help_heading = "Graph")]
    pub dtype: Option<DType>,

    /// What makes a path good
    #[arg(short, long, default_value = "min-plus", value_parser = semirings(), help_heading = "Computation")]
    pub semiring: SemiringId,
    /// Allow paths of at most N edges
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Computation")]
    pub steps: Option<u32>,
    /// How to compute them; the faster one unless given
    #[arg(long, default_value = "auto", value_parser = methods(), help_heading = "Computation")]
    pub method: Method,
    /// Where to close and multiply matrices; auto is cpu, unless a GPU is faster
    #[arg(long, default_value = "auto", value_parser = backends(), help_heading = "Computation")]
    pub backend: Backend,
    /// Use at most N threads; 0 takes as many as there is work for
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        env = "TILEWRIGHT_THREADS",
        hide_env_values = true,
        help_heading = "Computation"
    )]
    pub threads: usize,
    /// Compute N times, and report the fastest
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Computation")]
    pub repeat: u32,
    /// Print what either method would take, and compute nothing
    #[arg(long, help_heading = "Computation")]
    pub plan: bool,

    #[command(flatten)]
    pub ranks: Ranks,
    /// Keep the state of the closure in this folder, some ten times; the newest two stay
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "distributed", help_heading = "Many ranks")]
    pub checkpoint: Option<OsString>,
    /// Go on from the newest state in the folder of --checkpoint, if there is one
    #[arg(long, requires = "checkpoint", help_heading = "Many ranks")]
    pub resume: bool,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Input {
    /// What it looks like
    Auto,
    /// A matrix of weights
    Matrix,
    /// A list of edges
    Edges,
}

/// Those that have best paths.
fn semirings() -> ValueParser {
    named::<SemiringId>(
        SemiringId::ALL.iter().filter(|&&s| !DynPaths::dtypes(s).is_empty()).map(|s| s.name()).collect(),
    )
}

/// Those that compute paths.
fn backends() -> ValueParser {
    named::<Backend>(Backend::ALL.iter().filter(|&&b| b != Backend::Reference).map(|b| b.name()).collect())
}

fn methods() -> ValueParser {
    named::<Method>(Method::ALL.iter().map(|method| method.name()).collect())
}
