//! One GPU, for people.

use super::{list::digits, peaks, words};
use crate::{terminal, wrapping};
use std::fmt::Write;
use tilewright_arch::{Device, Limits};

pub fn text(device: &Device, limits: &Limits) -> String {
    let (bold, faint) = (terminal::label(), terminal::faint());
    let Device { sms, boost_clock_mhz, memory_gb, .. } = *device;
    let mut out = format!("{bold}{}{bold:#}, {}, {}\n\n", device.name, device.chip, device.class.name());
    let bandwidth = device.memory_bandwidth / 1e9;
    for (name, value) in [
        ("compute", format!("capability {}, {sms} SMs at {boost_clock_mhz} MHz", device.compute_capability)),
        ("memory", format!("{memory_gb} GB at {bandwidth:.0} GB/s, {} KiB of L2", device.l2_kib)),
    ] {
        let _ = writeln!(out, "{bold}{name:<14}{bold:#} {value}");
    }

    let _ = writeln!(out, "\n{faint}{:<14} {:>9}  {:>9}{faint:#}", "on each SM", "block", "SM");
    let kib = |bytes: u32| format!("{} KiB", bytes / 1024);
    let rows = [
        ("threads", limits.max_threads_per_block.to_string(), limits.max_threads_per_sm.to_string()),
        ("blocks", String::new(), limits.max_blocks_per_sm.to_string()),
        ("registers", limits.registers_per_block.to_string(), limits.registers_per_sm.to_string()),
        ("shared memory", kib(limits.shared_memory_per_block_optin), kib(limits.shared_memory_per_sm)),
    ];
    for (name, block, sm) in rows {
        let _ = writeln!(out, "{bold}{name:<14}{bold:#} {block:>9}  {sm:>9}");
    }

    for operation in ["FLOP", "OP"] {
        let (per_second, ridge) = (format!("T{operation}/s"), format!("ridge {operation}/B"));
        let mut peaks = peaks(device).filter(|(rate, _)| rate.operation() == operation).peekable();
        if peaks.peek().is_some() {
            let _ = writeln!(out, "\n{faint}{:<26} {per_second:>9}  {ridge:>12}{faint:#}", "peak");
        }
        for (rate, peak) in peaks {
            let (name, ridge) = (words(rate), peak / device.memory_bandwidth);
            let _ =
                writeln!(out, "{bold}{name:<26}{bold:#} {:>9}  {:>12}", digits(peak / 1e12), digits(ridge));
        }
    }
    out += &("\n".to_owned() + &wrapping::row("source", device.source, 14));
    out
}
