//! What is said about paths.

use super::{
    graph::Graph,
    outputs::{Outputs, Target},
    routes::Route,
};
use crate::{args::Paths, failure::Failure, terminal};
use serde::Serialize;
use std::io::Write;
use tilewright::paths::Plan;

/// The JSON object of `paths`; the fields are its keys.
#[derive(Serialize)]
pub struct Summary<'a> {
    schema: u32,
    semiring: &'static str,
    dtype: &'static str,
    vertices: usize,
    edges: usize,
    steps: Option<u32>,
    backend: &'static str,
    method: &'static str,
    /// Null where nothing but routes was asked for.
    seconds: Option<f64>,
    read_seconds: f64,
    write_seconds: f64,
    memory_bytes: u64,
    output: Option<String>,
    predecessors_output: Option<String>,
    routes: &'a [Route],
}

impl<'a> Summary<'a> {
    pub fn new(args: &Paths, graph: &Graph, plan: &Plan, outputs: &Outputs, routes: &'a [Route]) -> Self {
        Self {
            schema: 1,
            semiring: args.semiring.name(),
            dtype: graph.dtype.name(),
            vertices: plan.vertices,
            edges: plan.edges,
            steps: args.steps,
            backend: "cpu",
            method: plan.method.name(),
            seconds: None,
            read_seconds: graph.seconds,
            write_seconds: 0.0,
            memory_bytes: plan.bytes,
            output: match &outputs.distances {
                Some(Target::File(spec)) => Some(spec.to_string()),
                _ => None,
            },
            predecessors_output: outputs.predecessors.as_ref().map(ToString::to_string),
            routes,
        }
    }

    pub fn took(self, seconds: f64, write_seconds: f64) -> Self {
        Self { seconds: Some(seconds), write_seconds, ..self }
    }

    pub fn print_table(&self) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        let bold = terminal::label();
        for (name, text) in self.rows() {
            writeln!(out, "{bold}{name:<12}{bold:#} {text}")?;
        }
        Ok(())
    }

    /// The whole in one line.
    pub fn line(&self) -> String {
        self.rows().iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let Self { vertices, edges, semiring, dtype, method, .. } = self;
        let steps = self.steps.map_or_else(String::new, |most| format!(", at most {most} edges"));
        let mut rows = vec![
            ("graph", format!("{vertices} vertices, {edges} edges, {semiring} on {dtype}{steps}")),
            ("method", format!("{method} on the processor")),
        ];
        if let Some(seconds) = self.seconds {
            let rate = (*vertices as f64).powi(3) / seconds / 1e9;
            let rate = if *method == "dense" && seconds > 0.0 {
                format!(", {rate:.3} G pair-ops/s")
            } else {
                String::new()
            };
            rows.push((
                "time",
                format!(
                    "{seconds:.3} s (read {:.3} s, write {:.3} s){rate}",
                    self.read_seconds, self.write_seconds
                ),
            ));
        }
        let written = |name, file: &Option<String>| file.as_ref().map(|f| (name, format!("wrote {f}")));
        rows.extend(written("output", &self.output));
        rows.extend(written("predecessors", &self.predecessors_output));
        rows
    }
}

/// What `--plan` prints.
#[derive(Serialize)]
pub struct Planned {
    schema: u32,
    semiring: &'static str,
    dtype: &'static str,
    vertices: usize,
    edges: usize,
    method: &'static str,
    dense_seconds: f64,
    dijkstra_seconds: f64,
    memory_bytes: u64,
}

impl Planned {
    pub fn new(args: &Paths, graph: &Graph, plan: &Plan) -> Self {
        Self {
            schema: 1,
            semiring: args.semiring.name(),
            dtype: graph.dtype.name(),
            vertices: plan.vertices,
            edges: plan.edges,
            method: plan.method.name(),
            dense_seconds: plan.dense_seconds,
            dijkstra_seconds: plan.dijkstra_seconds,
            memory_bytes: plan.bytes,
        }
    }

    pub fn print_table(&self) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        let bold = terminal::label();
        let chosen = |name| if self.method == name { ", chosen" } else { "" };
        let rows = [
            (
                "graph",
                format!(
                    "{} vertices, {} edges, {} on {}",
                    self.vertices, self.edges, self.semiring, self.dtype
                ),
            ),
            (
                "dense",
                format!("about {:.3} s if all terms are needed{}", self.dense_seconds, chosen("dense")),
            ),
            ("dijkstra", format!("about {:.3} s{}", self.dijkstra_seconds, chosen("dijkstra"))),
            ("memory", format!("{} beside the graph", super::memory::size(self.memory_bytes))),
        ];
        for (name, text) in rows {
            writeln!(out, "{bold}{name:<10}{bold:#} {text}")?;
        }
        Ok(())
    }
}
