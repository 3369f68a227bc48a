//! What is said about work of many ranks.

use crate::{args::Common, bytes, common::Format, failure::Failure, json, terminal};
use serde::Serialize;
use std::io::Write;

/// What was asked for.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Problem {
    Closure { vertices: usize },
    Product { m: usize, n: usize, k: usize },
}

/// The JSON object of `--plan`; the fields are its keys.
#[derive(Serialize)]
pub struct Planned {
    pub schema: u32,
    pub semiring: &'static str,
    pub dtype: &'static str,
    #[serde(flatten)]
    pub problem: Problem,
    pub grid: String,
    pub ranks: usize,
    pub block: usize,
    /// `blocks` where the result stays where it is, `terms` where all ranks split a long sum.
    pub split: &'static str,
    /// What ranks compute on: `processors` or `gpus`.
    pub on: &'static str,
    /// How panels went from GPU to GPU: `nccl`, `peers` or `hosts`; null without several GPUs, and in a plan.
    pub transport: Option<&'static str>,
    /// Of arithmetic, where every rank is as fast as this processor, or as the GPU that is here; null where that is not known.
    pub arithmetic_seconds: Option<f64>,
    /// Bytes that all ranks together receive.
    pub received_bytes: u64,
    /// Bytes of the rank that needs most.
    pub memory_bytes_per_rank: u64,
}

/// The JSON object of what was computed.
#[derive(Serialize)]
pub struct Summary {
    #[serde(flatten)]
    pub planned: Planned,
    /// Steps that an earlier run had done; null where none was asked for.
    pub resumed_after: Option<usize>,
    pub seconds: f64,
    pub read_seconds: f64,
    pub write_seconds: f64,
    pub output: Option<String>,
    /// Null where none were asked for.
    pub predecessors_output: Option<String>,
}

impl Planned {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let what = match self.problem {
            Problem::Closure { vertices } => format!("best paths between {vertices} vertices"),
            Problem::Product { m, n, k } => format!("a product {m} x {k} by {k} x {n}"),
        };
        let ranks = if self.ranks == 1 { "rank" } else { "ranks" };
        let split = match self.split {
            "terms" => "each with a part of the terms".to_owned(),
            _ => format!("in blocks of {}", self.block),
        };
        let (all, count) = (self.received_bytes, self.ranks.max(1) as u64);
        let rank = if self.on == "gpus" { "GPU" } else { "rank" };
        let mut rows = vec![
            ("work", format!("{what}, {} on {}", self.semiring, self.dtype)),
            ("grid", format!("{} {ranks} as {}, {split}", self.ranks, self.grid)),
            ("received", format!("{} by all, {} by a rank", bytes::size(all), bytes::size(all / count))),
            ("memory", format!("{} a {rank} at most", bytes::size(self.memory_bytes_per_rank))),
        ];
        rows.extend(self.transport.map(|by| ("panels", format!("from GPU to GPU by {by}"))));
        rows
    }

    pub fn print(&self, common: &Common) -> Result<(), Failure> {
        if common.format == Format::Json {
            return json::print(self);
        }
        let mut rows = self.rows();
        let here = if self.on == "gpus" { "the GPU here" } else { "this processor" };
        if let Some(seconds) = self.arithmetic_seconds {
            rows.push(("arithmetic", format!("about {seconds:.3} s where ranks are as fast as {here}")));
        }
        table(&rows)
    }
}

impl Summary {
    pub fn print(&self, common: &Common) -> Result<(), Failure> {
        if common.format == Format::Json {
            return json::print(self);
        }
        let mut rows = self.planned.rows();
        let time = format!(
            "{:.3} s (read {:.3} s, write {:.3} s)",
            self.seconds, self.read_seconds, self.write_seconds
        );
        rows.push(("time", time));
        rows.extend(self.resumed_after.map(|steps| ("resumed", format!("after step {steps}"))));
        let written = |name, file: &Option<String>| file.as_ref().map(|file| (name, format!("wrote {file}")));
        rows.extend(written("output", &self.output));
        rows.extend(written("predecessors", &self.predecessors_output));
        table(&rows)
    }
}

fn table(rows: &[(&str, String)]) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let bold = terminal::label();
    for (name, text) in rows {
        writeln!(out, "{bold}{name:<12}{bold:#} {text}")?;
    }
    Ok(())
}
