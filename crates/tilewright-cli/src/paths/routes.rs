//! Routes, stop by stop.

use super::{graph::Graph, resolved::Resolved};
use crate::{failure::Failure, terminal};
use serde::Serialize;
use std::io::Write;
use tilewright::{
    Error, SemiringId, Value,
    files::{self, Dialect, quoted_name},
    paths::{DynPaths, Solution},
    visible,
};

/// A best path between two vertices.
#[derive(Serialize)]
pub struct Route {
    from: String,
    to: String,
    /// Null where there is no path.
    weight: Option<Number>,
    stops: Vec<String>,
    edge_weights: Vec<Number>,
}

/// A weight; JSON has no infinity.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Number {
    Float(f64),
    Int(i64),
    Bool(bool),
}

impl From<Value> for Number {
    fn from(value: Value) -> Self {
        match value {
            Value::Int(x) => Self::Int(x),
            Value::Bool(x) => Self::Bool(x),
            other => Self::Float(other.to_f64()),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Float(x) => x.fmt(f),
            Self::Int(x) => x.fmt(f),
            Self::Bool(x) => x.fmt(f),
        }
    }
}

/// The pairs that are asked for, as vertices.
pub fn pairs(asked: &Resolved, graph: &Graph) -> Result<Vec<(usize, usize)>, Failure> {
    let mut pairs = Vec::new();
    match (&asked.from, &asked.to) {
        (Some(from), Some(to)) => pairs.push((graph.vertex("--from", from)?, graph.vertex("--to", to)?)),
        (Some(from), None) => {
            let from = graph.vertex("--from", from)?;
            pairs.extend((0..graph.vertices()).filter(|&to| to != from).map(|to| (from, to)));
        }
        (None, _) => {}
    }
    if let Some(file) = &asked.pairs {
        for (line, from, to) in
            files::read_pairs(file.as_ref(), &Dialect { skip_rows: 0, ..asked.list.text.clone() })?
        {
            let place = |column| format!("{}: line {line}, column {column}", file.to_string_lossy());
            pairs.push((graph.vertex(&place(1), &from)?, graph.vertex(&place(2), &to)?));
        }
    }
    Ok(pairs)
}

/// The routes of these pairs: those of the predecessors, if there are some, otherwise by a search for each.
pub fn find(
    paths: &DynPaths<'_>,
    solution: Option<&Solution>,
    graph: &Graph,
    pairs: &[(usize, usize)],
) -> Result<Vec<Route>, Error> {
    let predecessors = solution.and_then(|solution| solution.predecessors.as_ref());
    let route = |&(from, to): &(usize, usize)| {
        let stops = match predecessors {
            Some(predecessors) => predecessors.route(from, to),
            None => paths.route(from, to)?,
        };
        let stops: Vec<usize> = stops.into_iter().flatten().collect();
        let weights = if stops.is_empty() { None } else { paths.weights(&stops)? };
        let (edges, weight) = weights.map_or((Vec::new(), None), |(edges, weight)| (edges, Some(weight)));
        Ok(Route {
            from: graph.name(from),
            to: graph.name(to),
            weight: weight.map(Number::from),
            stops: stops.into_iter().map(|stop| graph.name(stop)).collect(),
            edge_weights: edges.into_iter().map(Number::from).collect(),
        })
    };
    pairs.iter().map(route).collect()
}

/// Prints a line for each vertex, best paths first as the graph has them.
pub fn print_all(routes: &[Route], semiring: SemiringId) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let weight = |route: &Route| match &route.weight {
        None => "no path".to_owned(),
        Some(_) if semiring == SemiringId::OrAnd => "a path".to_owned(),
        Some(weight) => weight.to_string(),
    };
    let cells: Vec<[String; 3]> = routes
        .iter()
        .map(|route| {
            let via = route.stops.iter().rev().nth(1).filter(|_| route.stops.len() > 2);
            [
                visible(&route.to).into_owned(),
                weight(route),
                via.map_or_else(String::new, |via| format!("by {}", visible(via))),
            ]
        })
        .collect();
    let width = |i: usize| cells.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    if let Some(route) = routes.first() {
        writeln!(out, "{bold}from {}{bold:#}", visible(&route.from), bold = terminal::label())?;
    }
    for [to, weight, via] in &cells {
        writeln!(out, "{}", format!("  {to:first$}  {weight:>second$}  {via}").trim_end())?;
    }
    Ok(())
}

/// Prints csv: a line for each route, whose stops have arrows between them. Where there is no path, weight and stops are empty.
pub fn print_lines(routes: &[Route]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "from,to,weight,edges,stops")?;
    for Route { from, to, weight, stops, edge_weights } in routes {
        let (from, to) = (quoted_name(from), quoted_name(to));
        match weight {
            Some(weight) => {
                let stops = quoted_name(&stops.join(" -> "));
                writeln!(out, "{from},{to},{weight},{},{stops}", edge_weights.len())?;
            }
            None => writeln!(out, "{from},{to},,,")?,
        }
    }
    Ok(())
}

/// Prints one after another: the whole, and every edge on a line.
pub fn print(routes: &[Route], semiring: SemiringId) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let (bold, has_weights) = (terminal::label(), semiring != SemiringId::OrAnd);
    for Route { from, to, weight, stops, edge_weights } in routes {
        let (from, to) = (visible(from), visible(to));
        let stops: Vec<_> = stops.iter().map(|stop| visible(stop)).collect();
        let Some(weight) = weight else {
            writeln!(out, "{bold}{from} to {to}{bold:#}: no path")?;
            continue;
        };
        let sum = if has_weights { format!("{weight}, ") } else { String::new() };
        let plural = if edge_weights.len() == 1 { "" } else { "s" };
        writeln!(out, "{bold}{from} to {to}{bold:#}: {sum}{} edge{plural}", edge_weights.len())?;
        let width = |i: usize| stops.windows(2).map(|pair| pair[i].chars().count()).max().unwrap_or(0);
        let (first, second) = (width(0), width(1));
        for (pair, edge) in stops.windows(2).zip(edge_weights) {
            let edge = if has_weights { format!("  {edge}") } else { String::new() };
            writeln!(out, "  {:first$} -> {:second$}{edge}", pair[0], pair[1])?;
        }
    }
    Ok(())
}
