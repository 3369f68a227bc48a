//! A row for each combination of swept values: as a table, as CSV, as JSON.

use super::{
    report::Row,
    setting::{Outcome, Setting},
    text::{bar, percent},
};
use crate::{
    args::{Format, MOST_ROWS, Parameter, Sweep},
    failure::Failure,
    json, terminal, wrapping,
};
use serde::Serialize;
use std::io::Write;
use tilewright_arch::{Carveout, Limits, Resource};

/// The settings, in order, with their outcomes.
pub struct Rows {
    parameters: Vec<Parameter>,
    rows: Vec<(Setting, Outcome)>,
}

impl Rows {
    /// Combines all sweeps, the last one running fastest. `base` gives the setting for a compute capability, or
    /// `None` for one to leave out; `fixed` is the compute capability where that is not swept.
    pub fn new(
        sweeps: &[Sweep],
        fixed: Option<&'static Limits>,
        mut base: impl FnMut(&'static Limits) -> Result<Option<Setting>, Failure>,
    ) -> Result<Self, Failure> {
        let parameters: Vec<Parameter> = sweeps.iter().map(|sweep| sweep.parameter).collect();
        if let Some(twice) = parameters.iter().enumerate().find(|(i, p)| parameters[..*i].contains(p)) {
            let what = format!("--sweep {}=... is given twice", twice.1.name());
            return Err(Failure::usage(what, "put all values into one list, separated by commas"));
        }
        let count = sweeps.iter().map(|sweep| sweep.values.len()).try_fold(1, usize::checked_mul);
        let Some(count) = count.filter(|count| *count <= MOST_ROWS) else {
            let what = format!("the sweeps have more than {MOST_ROWS} combinations");
            return Err(Failure::usage(what, "sweep fewer values"));
        };
        let mut rows = Vec::new();
        for index in 0..count {
            let values = combination(sweeps, index);
            let swept = values.iter().find(|(parameter, _)| *parameter == Parameter::ComputeCapability);
            let limits = match swept {
                Some((_, number)) => Limits::ALL.iter().find(|l| l.compute_capability.number() == *number),
                None => fixed,
            };
            let Some(setting) = limits.map(&mut base).transpose()?.flatten() else { continue };
            let setting = values.iter().fold(setting, |setting, &(p, value)| setting.with(p, value));
            rows.push((setting, setting.outcome()?));
        }
        Ok(Self { parameters, rows })
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What is swept, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The settings with what comes of them, in order.
    pub fn outcomes(&self) -> &[(Setting, Outcome)] {
        &self.rows
    }

    pub fn print(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Table => self.print_table(),
            Format::Csv => self.print_csv(),
            Format::Json => self.print_json(),
        }
    }

    fn print_table(&self) -> Result<(), Failure> {
        let mut out = std::io::BufWriter::new(terminal::stdout());
        let (bold, strong) = (terminal::label(), terminal::emphasis());
        let columns = self.columns();
        let names = columns.iter().map(|p| format!("{:>w$}", p.name(), w = width(*p)));
        let names = names.collect::<Vec<_>>().join("  ");
        let gap = bar(0.0).chars().count() + 2;
        writeln!(out, "{bold}{names}  blocks  warps  occupancy{:gap$}limited by{bold:#}", "")?;
        let best = self.rows.iter().map(|(_, outcome)| outcome.occupancy.ratio()).fold(0.0, f64::max);
        for (setting, outcome) in &self.rows {
            let o = &outcome.occupancy;
            let values = columns.iter().map(|&p| format!("{:>w$}", value(setting, p), w = width(p)));
            let values = values.collect::<Vec<_>>().join("  ");
            let by = match &outcome.error {
                Some(error) => error.to_string(),
                None => o.binding().to_string().replace('_', " "),
            };
            let text = format!(
                "{values}  {:>6}  {:>5}  {} {}  ",
                o.blocks_per_sm,
                o.warps_per_sm,
                bar(o.ratio()),
                percent(o.ratio())
            );
            let before = text.chars().count();
            let by = wrapping::wrap(&by, wrapping::columns().saturating_sub(before).max(LEAST_REASON));
            let text = text + &by.join(&format!("\n{:before$}", ""));
            match o.ratio() == best && best > 0.0 {
                true => writeln!(out, "{strong}{text}{strong:#}")?,
                false => writeln!(out, "{text}")?,
            }
        }
        Ok(out.flush()?)
    }

    /// What is swept, and what a compiler makes of it: the same source takes other registers elsewhere.
    fn columns(&self) -> Vec<Parameter> {
        let first = self.rows.first();
        let varies = |p: &Parameter| {
            self.rows.iter().any(|row| first.is_some_and(|f| value(&f.0, *p) != value(&row.0, *p)))
        };
        let compiled = [Parameter::Registers, Parameter::StaticSharedMemory];
        let added = compiled.into_iter().filter(|p| !self.parameters.contains(p) && varies(p));
        self.parameters.iter().copied().chain(added).collect()
    }

    fn print_csv(&self) -> Result<(), Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        writeln!(out, "{}", COLUMNS.map(|(name, _)| name).join(","))?;
        for (setting, outcome) in &self.rows {
            writeln!(out, "{}", COLUMNS.map(|(_, cell)| cell(setting, outcome)).join(","))?;
        }
        Ok(out.flush()?)
    }

    fn print_json(&self) -> Result<(), Failure> {
        #[derive(Serialize)]
        struct Document {
            schema: u32,
            sweep: Vec<&'static str>,
            rows: Vec<SweptRow>,
        }
        let sweep = self.parameters.iter().map(|p| p.name()).collect();
        let rows = self.rows.iter().map(|(setting, outcome)| SweptRow::new(setting, outcome)).collect();
        json::print(&Document { schema: 1, sweep, rows })
    }
}

/// Columns for the reason at least.
const LEAST_REASON: usize = 20;

/// The values of all sweeps at one place in their product.
fn combination(sweeps: &[Sweep], mut index: usize) -> Vec<(Parameter, u32)> {
    let mut values = Vec::with_capacity(sweeps.len());
    for sweep in sweeps.iter().rev() {
        values.push((sweep.parameter, sweep.values[index % sweep.values.len()]));
        index /= sweep.values.len();
    }
    values.reverse();
    values
}

/// A row with what only sweeps say.
#[derive(Serialize)]
struct SweptRow {
    #[serde(flatten)]
    row: Row,
    carveout_percent: Option<u32>,
}

impl SweptRow {
    fn new(setting: &Setting, outcome: &Outcome) -> Self {
        Self { row: Row::new(setting, outcome), carveout_percent: carveout(setting) }
    }
}

type Cell = fn(&Setting, &Outcome) -> String;

/// The columns of CSV: the names are those of JSON.
const COLUMNS: [(&str, Cell); 21] = [
    ("compute_capability", |s, _| s.limits.compute_capability.to_string()),
    ("threads_per_block", |s, _| s.launch().threads_per_block.to_string()),
    ("registers_per_thread", |s, _| s.kernel.registers_per_thread.to_string()),
    ("static_shared_memory_bytes", |s, _| s.kernel.static_shared_memory.to_string()),
    ("dynamic_shared_memory_bytes", |s, _| s.launch().dynamic_shared_memory.to_string()),
    ("barriers", |s, _| s.kernel.barriers.to_string()),
    ("cluster_size", |s, _| s.launch().cluster_size.to_string()),
    ("carveout_percent", |s, _| optional(carveout(s))),
    ("blocks_per_sm", |_, o| o.occupancy.blocks_per_sm.to_string()),
    ("warps_per_sm", |_, o| o.occupancy.warps_per_sm.to_string()),
    ("max_warps_per_sm", |_, o| o.occupancy.max_warps_per_sm.to_string()),
    ("occupancy", |_, o| o.occupancy.ratio().to_string()),
    ("limit_warps", |_, o| o.occupancy.limits.warps.to_string()),
    ("limit_blocks", |_, o| o.occupancy.limits.blocks.to_string()),
    ("limit_registers", |_, o| optional(o.occupancy.limits.registers)),
    ("limit_shared_memory", |_, o| optional(o.occupancy.limits.shared_memory)),
    ("limit_barriers", |_, o| optional(o.occupancy.limits.barriers)),
    ("limited_by", |_, o| o.occupancy.limited_by.iter().map(Resource::name).collect::<Vec<_>>().join("+")),
    ("registers_per_block", |_, o| o.occupancy.allocated.registers_per_block.to_string()),
    ("shared_memory_per_block_bytes", |_, o| o.occupancy.allocated.shared_memory_per_block.to_string()),
    ("error", |_, o| o.error.map_or_else(String::new, |e| format!("\"{e}\""))),
];

fn optional(number: Option<u32>) -> String {
    number.map_or_else(String::new, |n| n.to_string())
}

fn carveout(setting: &Setting) -> Option<u32> {
    match setting.launch().carveout {
        Carveout::Default => None,
        Carveout::Percent(percent) => Some(percent),
    }
}

/// The value of a swept parameter, as on the command line.
pub fn value(setting: &Setting, parameter: Parameter) -> String {
    let launch = setting.launch();
    let number = match parameter {
        Parameter::ComputeCapability => return setting.limits.compute_capability.to_string(),
        Parameter::Threads => launch.threads_per_block,
        Parameter::Registers => setting.kernel.registers_per_thread,
        Parameter::StaticSharedMemory => setting.kernel.static_shared_memory,
        Parameter::DynamicSharedMemory => launch.dynamic_shared_memory,
        Parameter::Barriers => setting.kernel.barriers,
        Parameter::Cluster => launch.cluster_size,
        Parameter::Carveout => return optional(carveout(setting)),
    };
    number.to_string()
}

/// Letters of a column.
fn width(parameter: Parameter) -> usize {
    parameter.name().len().max(6)
}
