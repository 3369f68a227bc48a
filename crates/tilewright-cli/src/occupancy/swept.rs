//! Occupancy against what a sweep varies: a dot for each row, a colour for each combination of the other sweeps.

use super::{
    rows::{Rows, value},
    setting::{Outcome, Setting},
    target::Target,
};
use crate::{args::Parameter, failure::Failure};
use tilewright_charts::{Axis, Figure, Hue, Plot, Scale, Series};

/// The horizontal axis is that of the last sweep whose values are numbers.
pub fn figure(target: Option<&Target>, rows: &Rows) -> Result<Figure, Failure> {
    let parameters = rows.parameters();
    let is_number = |parameter: &&Parameter| **parameter != Parameter::ComputeCapability;
    let Some(&across) = parameters.iter().rev().find(is_number) else {
        let what = "--chart has no axis for compute capabilities";
        return Err(Failure::usage(what, "sweep another parameter as well, such as threads=32..1024:32"));
    };
    let others: Vec<Parameter> = parameters.iter().copied().filter(|p| *p != across).collect();
    let groups = groups(rows.outcomes(), &others);
    if groups.len() > Hue::ALL.len() {
        let what =
            format!("--chart has {} colours, and these sweeps {} curves", Hue::ALL.len(), groups.len());
        return Err(Failure::usage(what, "sweep fewer values of all parameters but one"));
    }
    let number = |setting: &Setting| value(setting, across).parse::<f64>().unwrap_or(f64::NAN);
    let all = rows.outcomes();
    let x = Axis::covering(unit(across), Scale::Binary, all.iter().map(|(setting, _)| number(setting)));
    let most = all.iter().map(|(_, outcome)| outcome.occupancy.max_warps_per_sm).max().unwrap_or(1);
    let y = Axis::new("warps per SM", Scale::Binary, 0.0, f64::from(most));
    let point = |(setting, outcome): &&(Setting, Outcome)| {
        (number(setting), f64::from(outcome.occupancy.warps_per_sm))
    };
    let plot =
        groups.iter().enumerate().fold(Plot::new(unit(across), x, y), |plot, (index, (name, members))| {
            let series = Series::dots(Hue::of(index), members.iter().map(point).collect());
            plot.series(if name.is_empty() { series } else { series.named(name) })
        });
    let title = match target {
        Some(target) => format!("Occupancy on {}", target.describe()),
        None => "Occupancy".into(),
    };
    Ok(Figure::new(title).panel(plot))
}

/// Rows that agree in the other parameters, with the values of these as a name.
fn groups<'a>(
    rows: &'a [(Setting, Outcome)],
    others: &[Parameter],
) -> Vec<(String, Vec<&'a (Setting, Outcome)>)> {
    let mut groups: Vec<(String, Vec<&(Setting, Outcome)>)> = Vec::new();
    for row in rows {
        let pairs = others.iter().map(|&p| format!("{} {}", p.name(), value(&row.0, p)));
        let name = pairs.collect::<Vec<_>>().join(", ");
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, members)) => members.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    groups
}

/// The parameter with its unit.
fn unit(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::ComputeCapability => "compute capability",
        Parameter::Threads => "threads per block",
        Parameter::Registers => "registers per thread",
        Parameter::StaticSharedMemory => "bytes of static shared memory per block",
        Parameter::DynamicSharedMemory => "bytes of dynamic shared memory per block",
        Parameter::Barriers => "barriers",
        Parameter::Cluster => "blocks per cluster",
        Parameter::Carveout => "per cent of the cache set aside",
    }
}
