//! `tilewright gpus`: what is known of each GPU.

mod describe;
mod list;

use crate::{
    args::{Common, Format, Gpus},
    charts,
    failure::Failure,
    json,
    occupancy::{Target, say_which},
    terminal,
};
use std::io::Write;
use tilewright_arch::{Device, Rate};
use tilewright_charts::{Ceiling, Figure, roofline};

pub fn run(args: &Gpus, common: &Common) -> Result<(), Failure> {
    // A capability without a GPU is an empty list; one that does not exist is a mistake.
    let target = Target::find(args.name.as_deref(), args.cc)?;
    if let Some(name) = &args.name {
        say_which(common, name);
    }
    match target.and_then(|target| Some((target, target.device()?))) {
        Some((target, device)) => one(args, common, &target, device),
        None if args.chart.is_some() => {
            let hint = "name the GPU, as in `tilewright gpus h200 --chart roofline.svg`";
            Err(Failure::usage("--chart draws the roofline of one GPU, and none is named", hint))
        }
        None => {
            let cc = target.map(|target| target.limits().compute_capability);
            let devices: Vec<&Device> =
                Device::all().filter(|d| cc.is_none_or(|cc| d.compute_capability == cc)).collect();
            list::print(&devices, common.format)
        }
    }
}

fn one(args: &Gpus, common: &Common, target: &Target, device: &'static Device) -> Result<(), Failure> {
    if let Some(path) = &args.chart {
        charts::write(path, &figure(device))?;
        terminal::note(common, "chart", &format!("wrote {}", path.display()));
    }
    match common.format {
        Format::Json => json::print(&list::Described::new(device, target.limits())),
        Format::Csv => list::print(&[device], Format::Csv),
        Format::Table => {
            let text = describe::text(device, target.limits());
            Ok(terminal::stdout().write_all(text.as_bytes())?)
        }
    }
}

const TENSOR: &str = "tensor ";

/// The peaks over the memory's slope, highest first; equal ones share a line.
fn figure(device: &Device) -> Figure {
    let mut ceilings: Vec<Ceiling> = Vec::new();
    for (rate, peak) in peaks(device) {
        let (tera_per_second, operation) = (peak / 1e12, rate.operation());
        match ceilings.iter_mut().find(|c| c.tera_per_second == tera_per_second) {
            Some(same) => {
                // What the first name says need not be said again.
                let prefix = if same.name.starts_with(TENSOR) { TENSOR } else { "" };
                same.name += &format!(", {}", words(rate).trim_start_matches(prefix));
                same.operations.push(operation);
            }
            None => {
                ceilings.push(Ceiling { name: words(rate), tera_per_second, operations: vec![operation] })
            }
        }
    }
    ceilings.sort_by(|a, b| b.tera_per_second.total_cmp(&a.tera_per_second));
    let bandwidth = device.memory_bandwidth / 1e12;
    let heading = format!("Attainable rate with {bandwidth:.2} TB/s of memory bandwidth");
    Figure::new(format!("Roofline of {}", device.name)).panel(roofline(heading, bandwidth, &ceilings, &[]))
}

/// What the GPU can do, with its peaks in operations per second.
fn peaks(device: &Device) -> impl Iterator<Item = (Rate, f64)> {
    Rate::ALL.into_iter().filter_map(|rate| Some((rate, device.peak(rate)?)))
}

/// A rate as people write it.
fn words(rate: Rate) -> String {
    rate.name().replace('_', " ")
}
