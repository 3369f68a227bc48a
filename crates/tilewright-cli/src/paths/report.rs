//! What is said about paths.

use super::{graph::Graph, outputs::Target, resolved::Resolved, routes::Route, solve::Solved};
use crate::{bytes, failure::Failure, terminal};
use serde::Serialize;
use std::io::Write;
use tilewright::paths::{Method, OnGpu, Plan};

/// The JSON object of `paths`; the fields are its keys.
#[derive(Serialize)]
pub struct Summary<'a> {
    schema: u32,
    semiring: &'static str,
    dtype: &'static str,
    /// What was read: `edges`, `table`, `matrix` or `random`.
    input: &'static str,
    vertices: usize,
    edges: usize,
    steps: Option<u32>,
    backend: &'static str,
    /// Null on the processor.
    gpu: Option<&'a str>,
    method: &'static str,
    /// Null where nothing but routes was asked for.
    seconds: Option<f64>,
    read_seconds: f64,
    /// Null on the processor, as are the two that follow.
    device_seconds: Option<f64>,
    transfer_seconds: Option<f64>,
    prepare_seconds: Option<f64>,
    write_seconds: f64,
    memory_bytes: u64,
    output: Option<String>,
    predecessors_output: Option<String>,
    routes: &'a [Route],
}

impl<'a> Summary<'a> {
    pub fn new(
        asked: &Resolved,
        graph: &Graph,
        plan: &Plan,
        routes: &'a [Route],
        gpu: Option<&'a OnGpu>,
    ) -> Self {
        let gpu = gpu.filter(|_| plan.method == Method::Dense);
        Self {
            schema: 1,
            semiring: asked.semiring.name(),
            dtype: graph.dtype.name(),
            input: graph.form,
            vertices: plan.vertices,
            edges: plan.edges,
            steps: asked.steps,
            backend: gpu.map_or("cpu", |gpu| gpu.backend().name()),
            gpu: gpu.map(OnGpu::name),
            method: plan.method.name(),
            seconds: None,
            read_seconds: graph.seconds,
            device_seconds: None,
            transfer_seconds: None,
            prepare_seconds: None,
            write_seconds: 0.0,
            memory_bytes: plan.bytes,
            output: match &asked.outputs.distances {
                Some(Target::File(spec)) => Some(spec.to_string()),
                _ => None,
            },
            predecessors_output: asked.outputs.predecessors.as_ref().map(ToString::to_string),
            routes,
        }
    }

    pub fn took(self, solved: &Solved, write_seconds: f64) -> Self {
        let times = solved.times.filter(|_| self.gpu.is_some());
        Self {
            seconds: Some(solved.seconds),
            device_seconds: times.map(|times| times.seconds),
            transfer_seconds: times.map(|times| times.transfer_seconds),
            prepare_seconds: times.map(|times| times.prepare_seconds),
            write_seconds,
            ..self
        }
    }

    pub fn print_table(&self) -> Result<(), Failure> {
        let mut out = terminal::stdout();
        let bold = terminal::label();
        for (name, text) in self.rows() {
            writeln!(out, "{bold}{name:<12}{bold:#} {text}")?;
        }
        Ok(())
    }

    fn place(&self) -> String {
        match (self.backend, self.gpu) {
            ("emulator", Some(gpu)) => format!("the emulator, which imitates {gpu}"),
            (_, Some(gpu)) => gpu.to_owned(),
            _ => "the processor".into(),
        }
    }

    /// The whole in one line.
    pub fn line(&self) -> String {
        self.rows().iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let Self { vertices, edges, semiring, dtype, method, .. } = self;
        let steps = self.steps.map_or_else(String::new, |most| format!(", at most {most} edges"));
        let input = match self.input {
            "edges" => "a list of edges",
            "table" => "a matrix with names",
            "random" => "random weights",
            _ => "a matrix",
        };
        let mut rows = vec![
            ("input", input.to_owned()),
            ("graph", format!("{vertices} vertices, {edges} edges, {semiring} on {dtype}{steps}")),
            ("method", format!("{method} on {}", self.place())),
        ];
        if let Some(seconds) = self.seconds {
            let rate = (*vertices as f64).powi(3) / self.device_seconds.unwrap_or(seconds) / 1e9;
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
        if let (Some(device), Some(transfer), Some(prepare)) =
            (self.device_seconds, self.transfer_seconds, self.prepare_seconds)
        {
            let text =
                format!("{device:.3} s ({prepare:.3} s of it choosing kernels), transfer {transfer:.3} s");
            rows.push(("device", text));
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
    backend: &'static str,
    method: &'static str,
    dense_seconds: f64,
    dijkstra_seconds: f64,
    memory_bytes: u64,
}

impl Planned {
    pub fn new(asked: &Resolved, graph: &Graph, plan: &Plan, gpu: Option<&OnGpu>) -> Self {
        let gpu = gpu.filter(|_| plan.method == Method::Dense);
        Self {
            schema: 1,
            semiring: asked.semiring.name(),
            dtype: graph.dtype.name(),
            vertices: plan.vertices,
            edges: plan.edges,
            backend: gpu.map_or("cpu", |gpu| gpu.backend().name()),
            method: plan.method.name(),
            dense_seconds: plan.dense_seconds,
            dijkstra_seconds: plan.dijkstra_seconds,
            memory_bytes: plan.bytes,
        }
    }

    pub fn print_table(&self) -> Result<(), Failure> {
        let mut out = terminal::stdout();
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
                format!(
                    "about {:.3} s on {} if all terms are needed{}",
                    self.dense_seconds,
                    self.backend,
                    chosen("dense")
                ),
            ),
            ("dijkstra", format!("about {:.3} s{}", self.dijkstra_seconds, chosen("dijkstra"))),
            ("memory", format!("{} beside the graph", bytes::size(self.memory_bytes))),
        ];
        for (name, text) in rows {
            writeln!(out, "{bold}{name:<10}{bold:#} {text}")?;
        }
        Ok(())
    }
}
