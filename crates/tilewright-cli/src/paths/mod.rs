//! `tilewright paths`: read a graph, find the best paths, write and report.

mod graph;
mod memory;
mod outputs;
mod report;
mod routes;

use crate::{
    args::{Common, Format, Paths},
    failure::Failure,
    interrupt, json,
    mul::preview,
    progress::Progress,
    terminal::{self, Style},
};
use graph::Graph;
use outputs::{Outputs, Target};
use report::{Planned, Summary};
use std::time::Instant;
use tilewright::{
    Error, ErrorKind,
    paths::{DynPaths, Options, Plan, Solution},
};

pub fn run(args: &Paths, common: &Common) -> Result<(), Failure> {
    let outputs = Outputs::parse(args, common)?;
    interrupt::watch();
    let graph = Graph::read(args)?;
    let paths = graph.paths(args)?.options(Options { threads: args.threads, ..Options::default() });
    let plan = paths.plan()?;
    if args.plan {
        let planned = Planned::new(args, &graph, &plan);
        return if common.format == Format::Json { json::print(&planned) } else { planned.print_table() };
    }
    let pairs = routes::pairs(args, &graph)?;
    outputs.check_writable(graph.dtype)?;
    // Routes alone are found by searches from their beginnings.
    let solves = !outputs.is_empty() || pairs.is_empty();
    let start = Instant::now();
    let solution = if solves { Some(solve(&paths, &plan, args, common, &graph)?) } else { None };
    let seconds = start.elapsed().as_secs_f64();
    let found =
        routes::find(&paths, solution.as_ref(), &graph, &pairs).map_err(|error| named(error, &graph))?;
    let mut summary = Summary::new(args, &graph, &plan, &outputs, &found);
    if let Some(solution) = &solution {
        summary = summary.took(seconds, outputs.write(solution, &graph, args.semiring)?);
    }
    let shows_matrix = outputs.is_empty() && pairs.is_empty();
    match common.format {
        Format::Json => json::print(&summary),
        _ if shows_matrix => {
            summary.print_table()?;
            solution.map_or(Ok(()), |solution| preview::print(solution.distances.as_ref(), args.semiring))
        }
        _ => {
            if !common.quiet && !outputs.is_empty() && !matches!(outputs.distances, Some(Target::Stdout)) {
                terminal::say(Style::Note, "done", &summary.line());
            }
            routes::print(&found, args.semiring)
        }
    }
}

fn solve(
    paths: &DynPaths<'_>,
    plan: &Plan,
    args: &Paths,
    common: &Common,
    graph: &Graph,
) -> Result<Solution, Failure> {
    let square = (plan.vertices as u64).saturating_mul(plan.vertices as u64);
    let stops = if args.predecessors.is_some() { square.saturating_mul(4) } else { 0 };
    memory::check(common, plan.bytes.saturating_add(stops))?;
    let progress = Progress::new(plan.work as u64);
    let count = |work| progress.add(work);
    let progress_of = if common.quiet { None } else { Some(&count as &(dyn Fn(u64) + Sync)) };
    let paths = paths.options(Options { threads: args.threads, progress: progress_of, ..Options::default() });
    let solution = if args.predecessors.is_some() { paths.with_predecessors() } else { paths.distances() };
    progress.finish();
    solution.map_err(|error| named(error, graph))
}

/// A cycle that makes paths better is what the graph has, not a fault of the command: it is named as the user names it.
fn named(error: Error, graph: &Graph) -> Failure {
    let ErrorKind::NegativeCycle { semiring, cycle, weight } = error.kind() else { return error.into() };
    const MOST: usize = 20;
    let mut stops: Vec<String> = cycle.iter().take(MOST).map(|&vertex| graph.name(vertex)).collect();
    if cycle.len() > MOST {
        stops.push(format!("{} more", cycle.len() - MOST));
    }
    stops.extend(cycle.first().map(|&vertex| graph.name(vertex)));
    let kind =
        if *semiring == "min-plus" { "a negative cycle" } else { "a cycle that makes every path better" };
    let what = format!("{kind}: {}, weight {weight}", stops.join(" -> "));
    let hint = "correct a weight, or allow at most N edges with --steps N".into();
    Failure::Check { what, hint }
}
