//! Many GPUs: as a table, as CSV, as JSON.

use super::peaks;
use crate::{args::Format, failure::Failure, json, terminal, wrapping};
use serde::Serialize;
use std::{collections::BTreeMap, io::Write};
use tilewright_arch::{Device, Limits, Rate};

pub fn print(devices: &[&Device], format: Format) -> Result<(), Failure> {
    match format {
        Format::Table => print_table(devices),
        Format::Csv => print_csv(devices),
        Format::Json => {
            let gpus = devices.iter().map(|device| Gpu::new(device)).collect();
            json::print(&Gpus { schema: 1, gpus })
        }
    }
}

/// The JSON object of `gpus`.
#[derive(Serialize)]
struct Gpus {
    schema: u32,
    gpus: Vec<Gpu>,
}

/// The JSON object of `gpus NAME`.
#[derive(Serialize)]
pub struct Described {
    schema: u32,
    #[serde(flatten)]
    gpu: Gpu,
    limits: GpuLimits,
}

#[derive(Serialize)]
struct Gpu {
    name: &'static str,
    class: &'static str,
    chip: &'static str,
    compute_capability: String,
    sms: u32,
    boost_clock_hz: f64,
    memory_bytes_per_second: f64,
    memory_gb: u32,
    l2_bytes: u64,
    /// Operations per second, by name of the rate.
    peak_flop_per_second: BTreeMap<&'static str, f64>,
    /// Operations per byte from which the peak can be reached.
    ridge_flop_per_byte: BTreeMap<&'static str, f64>,
    source: &'static str,
}

/// Sizes in bytes.
#[derive(Serialize)]
struct GpuLimits {
    threads_per_block: u32,
    threads_per_sm: u32,
    warps_per_sm: u32,
    blocks_per_sm: u32,
    registers_per_thread: u32,
    registers_per_block: u32,
    registers_per_sm: u32,
    shared_memory_per_block_bytes: u32,
    shared_memory_per_block_optin_bytes: u32,
    shared_memory_reserved_per_block_bytes: u32,
    shared_memory_per_sm_bytes: u32,
    barriers_per_sm: u32,
}

impl Gpu {
    fn new(device: &Device) -> Self {
        Self {
            name: device.name,
            class: device.class.name(),
            chip: device.chip,
            compute_capability: device.compute_capability.to_string(),
            sms: device.sms,
            boost_clock_hz: f64::from(device.boost_clock_mhz) * 1e6,
            memory_bytes_per_second: device.memory_bandwidth,
            memory_gb: device.memory_gb,
            l2_bytes: u64::from(device.l2_kib) * 1024,
            peak_flop_per_second: peaks(device).map(|(rate, peak)| (rate.name(), peak)).collect(),
            ridge_flop_per_byte: peaks(device)
                .map(|(rate, peak)| (rate.name(), peak / device.memory_bandwidth))
                .collect(),
            source: device.source,
        }
    }
}

impl Described {
    pub fn new(device: &Device, limits: &Limits) -> Self {
        let limits = GpuLimits {
            threads_per_block: limits.max_threads_per_block,
            threads_per_sm: limits.max_threads_per_sm,
            warps_per_sm: limits.max_warps_per_sm(),
            blocks_per_sm: limits.max_blocks_per_sm,
            registers_per_thread: limits.max_registers_per_thread,
            registers_per_block: limits.registers_per_block,
            registers_per_sm: limits.registers_per_sm,
            shared_memory_per_block_bytes: limits.shared_memory_per_block,
            shared_memory_per_block_optin_bytes: limits.shared_memory_per_block_optin,
            shared_memory_reserved_per_block_bytes: limits.shared_memory_reserved_per_block,
            shared_memory_per_sm_bytes: limits.shared_memory_per_sm,
            barriers_per_sm: limits.barriers_per_sm,
        };
        Self { schema: 1, gpu: Gpu::new(device), limits }
    }
}

/// A column of the table.
struct Column {
    heading: &'static str,
    width: usize,
    cell: fn(&Device) -> String,
    /// Columns of a higher rank go first where there is no room for all.
    rank: u8,
}

const fn column(heading: &'static str, width: usize, rank: u8, cell: fn(&Device) -> String) -> Column {
    Column { heading, width, cell, rank }
}

const COLUMNS: [Column; 9] = [
    column("cc", 5, 0, |d| d.compute_capability.to_string()),
    column("SMs", 4, 0, |d| d.sms.to_string()),
    column("MHz", 6, 7, |d| d.boost_clock_mhz.to_string()),
    column("GB", 5, 1, |d| d.memory_gb.to_string()),
    column("GB/s", 6, 1, |d| format!("{:.0}", d.memory_bandwidth / 1e9)),
    column("L2 MiB", 7, 8, |d| format!("{:.1}", f64::from(d.l2_kib) / 1024.0)),
    column("f32", 6, 2, |d| tera(d, Rate::F32)),
    column("f64", 7, 6, |d| tera(d, Rate::F64)),
    column("f16 tensor", 11, 3, |d| tera(d, Rate::TensorF16)),
];

/// What stands above the names.
const HEADING: &str = "GPU; floating-point rates in TFLOP/s";

/// The columns that fit beside the names, in their order.
fn fitting(columns: usize, names: usize) -> Vec<&'static Column> {
    let total = |shown: &[&Column]| names + shown.iter().map(|column| column.width).sum::<usize>();
    let mut shown: Vec<&Column> = COLUMNS.iter().collect();
    while total(&shown) > columns {
        let Some(last) = (0..shown.len()).max_by_key(|&i| shown[i].rank) else { break };
        shown.remove(last);
    }
    shown
}

fn tera(device: &Device, rate: Rate) -> String {
    device.peak(rate).map_or_else(|| "-".into(), |peak| digits(peak / 1e12))
}

/// Three digits that count.
pub fn digits(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

fn print_table(devices: &[&Device]) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let bold = terminal::label();
    let names = devices.iter().map(|d| d.name.len()).max().unwrap_or(0).max(HEADING.len());
    let shown = fitting(wrapping::columns(), names);
    let headings: String = shown.iter().map(|c| format!("{:>w$}", c.heading, w = c.width)).collect();
    writeln!(out, "{bold}{HEADING:<names$}{headings}{bold:#}")?;
    for device in devices {
        let cells: String = shown.iter().map(|c| format!("{:>w$}", (c.cell)(device), w = c.width)).collect();
        writeln!(out, "{:<names$}{cells}", device.name)?;
    }
    Ok(())
}

fn print_csv(devices: &[&Device]) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let rates = Rate::ALL.map(|rate| format!("{}_flop_per_second", rate.name())).join(",");
    writeln!(
        out,
        "name,class,chip,compute_capability,sms,boost_clock_hz,memory_bytes_per_second,memory_gb,l2_bytes,{rates}"
    )?;
    for device in devices {
        let gpu = Gpu::new(device);
        let peak =
            |rate: Rate| gpu.peak_flop_per_second.get(rate.name()).map_or(String::new(), f64::to_string);
        let Gpu { name, class, chip, compute_capability, sms, .. } = &gpu;
        let Gpu { boost_clock_hz, memory_bytes_per_second, memory_gb, l2_bytes, .. } = &gpu;
        writeln!(
            out,
            "{name},{class},{chip},{compute_capability},{sms},{boost_clock_hz},{memory_bytes_per_second},{memory_gb},\
             {l2_bytes},{}",
            Rate::ALL.map(peak).join(",")
        )?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_table_has_the_most_important_columns() {
        let longest = Device::all().map(|device| device.name.len()).max().unwrap();
        let headings = |columns| fitting(columns, longest).iter().map(|c| c.heading).collect::<Vec<_>>();
        assert_eq!(headings(80), ["cc", "SMs", "GB", "GB/s", "f32"]);
        assert_eq!(headings(120).len(), COLUMNS.len());
        assert!(headings(20).is_empty());
    }
}
