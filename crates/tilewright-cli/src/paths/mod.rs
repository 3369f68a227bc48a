//! `tilewright paths`: read a graph, find the best paths, write and report.

mod backend;
mod distributed;
mod graph;
mod memory;
mod outputs;
mod random;
mod report;
mod resolved;
mod routes;
mod solve;

use crate::{
    args::{Common, Format, Paths},
    failure::Failure,
    interrupt, json,
    mul::preview,
    terminal::{self, Style},
};
use graph::Graph;
use outputs::Target;
use report::{Planned, Summary};
use resolved::Resolved;
use solve::Question;
use tilewright::{
    Error, ErrorKind,
    files::Names,
    paths::{DynPaths, OnGpu, Options},
    visible,
};

pub fn run(args: &Paths, common: &Common) -> Result<(), Failure> {
    if let Some(shape) = args.ranks.shape()? {
        return distributed::run(args, shape, common);
    }
    let asked = &Resolved::new(args, common)?;
    let outputs = &asked.outputs;
    interrupt::watch();
    let mut graph = Graph::read(asked, common)?;
    let gpu = backend::open(asked, common, &graph)?;
    let gpu = gpu.as_ref();
    let options = Options { threads: asked.threads, ..Options::default() };
    let plan = on(gpu, graph.paths(asked)?).options(options).plan()?;
    if args.plan {
        let planned = Planned::new(asked, &graph, &plan, gpu);
        return if common.format == Format::Json { json::print(&planned) } else { planned.print_table() };
    }
    let pairs = routes::pairs(asked, &graph)?;
    outputs.check_writable(graph.dtype)?;
    outputs.say_replaced(common, &asked.graph);
    // Routes alone are found by searches from their beginnings.
    let solves = !outputs.is_empty() || pairs.is_empty();
    let question = Question { asked, common, plan: &plan, gpu };
    let solved = if solves { Some(question.solve(&mut graph, !pairs.is_empty())?) } else { None };
    let solution = solved.as_ref().map(|solved| &solved.solution);
    let found = match pairs.as_slice() {
        [] => Vec::new(),
        pairs => routes::find(&graph.paths(asked)?.options(options), solution, &graph, pairs)
            .map_err(|error| named(error, &graph))?,
    };
    let mut summary = Summary::new(asked, &graph, &plan, &found, gpu);
    if let Some(solved) = &solved {
        summary = summary.took(solved, outputs.write(solved, &graph, asked.semiring)?);
        outputs.say_absent(common, solved, asked.semiring);
    }
    let shows_matrix = outputs.is_empty() && pairs.is_empty();
    match common.format {
        Format::Json => json::print(&summary),
        Format::Csv => routes::print_lines(&found),
        _ if shows_matrix => {
            summary.print_table()?;
            let names =
                graph.labels.as_ref().map(|labels| Names { rows: labels.clone(), columns: labels.clone() });
            solution.map_or(Ok(()), |solution| {
                preview::print(solution.distances.as_ref(), asked.semiring.extremes(), names.as_ref())
            })
        }
        _ => {
            if !common.quiet && !outputs.is_empty() && !matches!(outputs.distances, Some(Target::Stdout)) {
                terminal::say(Style::Note, "done", &summary.line());
            }
            if asked.from.is_some() && asked.to.is_none() && asked.pairs.is_none() {
                return routes::print_all(&found, asked.semiring);
            }
            routes::print(&found, asked.semiring)
        }
    }
}

/// The same paths, computed where they are to be.
fn on<'a>(gpu: Option<&'a OnGpu>, paths: DynPaths<'a>) -> DynPaths<'a> {
    gpu.map_or(paths, |gpu| paths.device(gpu))
}

/// A name for people.
fn seen(graph: &Graph, vertex: usize) -> String {
    visible(&graph.name(vertex)).into_owned()
}

/// A cycle that makes paths better is what the graph has, not a fault of the command: it is named as the user names it.
fn named(error: Error, graph: &Graph) -> Failure {
    named_by(error, |vertex| seen(graph, vertex))
}

/// The same, where vertices are called as `name` says.
fn named_by(error: Error, name: impl Fn(usize) -> String) -> Failure {
    let ErrorKind::NegativeCycle { semiring, cycle, weight } = error.kind() else { return error.into() };
    const MOST: usize = 20;
    let mut stops: Vec<String> = cycle.iter().take(MOST).map(|&vertex| name(vertex)).collect();
    if cycle.len() > MOST {
        stops.push(format!("{} more", cycle.len() - MOST));
    }
    stops.extend(cycle.first().map(|&vertex| name(vertex)));
    let kind =
        if *semiring == "min-plus" { "a negative cycle" } else { "a cycle that makes every path better" };
    let what = format!("{kind}: {}, weight {weight}", stops.join(" -> "));
    let hint = "correct a weight, or allow at most N edges with --steps N".into();
    Failure::Check { what, hint }
}
