//! Occupancy against the answers of the CUDA 13.5 toolkit's calculator: every column of every row of
//! `data/occupancy_sample.csv`.

use crate::support::{Table, capability, launch_state, resources};
use tilewright_arch::{GlobalCaching, LaunchConfig, Limits, Occupancy, WARP_SIZE};

const SAMPLE: &str = include_str!("data/occupancy_sample.csv");

/// How the calculator writes "no limit".
const NO_LIMIT: u32 = i32::MAX as u32;

#[test]
fn every_column_of_every_row_agrees() {
    let table = Table::new(SAMPLE);
    let mut differences = Vec::new();
    let mut rows = 0;
    for row in table.rows() {
        rows += 1;
        let limits = Limits::of(capability(&row)).expect(row.line);
        let device = [
            ("max_threads_per_block", limits.max_threads_per_block),
            ("max_threads_per_sm", limits.max_threads_per_sm),
            ("regs_per_block", limits.registers_per_block),
            ("regs_per_sm", limits.registers_per_sm),
            ("warp_size", WARP_SIZE),
            ("smem_per_block", limits.shared_memory_per_block),
            ("smem_per_sm", limits.shared_memory_per_sm),
            ("smem_per_block_optin", limits.shared_memory_per_block_optin),
            ("reserved_smem_per_block", limits.shared_memory_reserved_per_block),
        ];
        let kernel = resources(&row);
        let launch = LaunchConfig {
            threads_per_block: row.number("threads_per_block"),
            dynamic_shared_memory: row.number("dynamic_smem"),
            ..launch_state(&row)
        };
        let occupancy = Occupancy::of(limits, &kernel, &launch);
        let answers = answers(&occupancy.ok(), limits);
        for (column, ours) in device.into_iter().chain(answers) {
            if row.number(column) != ours {
                differences.push(format!("{column}: {ours} in {}", row.line));
            }
        }
    }
    assert_eq!(rows, 3300);
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
}

/// Every result column; the calculator answers an invalid input with zeros.
fn answers(occupancy: &Option<Occupancy>, limits: &Limits) -> [(&'static str, u32); 14] {
    let field = |of: fn(&Occupancy) -> u32| occupancy.as_ref().map_or(0, of);
    [
        ("status", u32::from(occupancy.is_none())),
        ("blocks_per_sm", field(|o| o.blocks_per_sm)),
        ("active_warps_per_sm", field(|o| o.warps_per_sm)),
        ("max_warps_per_sm", occupancy.map_or(limits.max_warps_per_sm(), |o| o.max_warps_per_sm)),
        ("limiting_factors", field(|o| o.limited_by.bits())),
        ("limit_warps", field(|o| o.limits.warps)),
        ("limit_blocks", field(|o| o.limits.blocks)),
        ("limit_regs", field(|o| o.limits.registers.unwrap_or(NO_LIMIT))),
        ("limit_smem", field(|o| o.limits.shared_memory.unwrap_or(NO_LIMIT))),
        ("limit_barriers", field(|o| o.limits.barriers.unwrap_or(NO_LIMIT))),
        ("alloc_regs_per_block", field(|o| o.allocated.registers_per_block)),
        ("alloc_smem_per_block", field(|o| o.allocated.shared_memory_per_block)),
        (
            "gc_result",
            field(|o| match o.global_caching {
                GlobalCaching::Off => 0,
                GlobalCaching::PreferPartitioned => 1,
                GlobalCaching::RequirePartitioned => 2,
            }),
        ),
        ("attr_max_threads_per_block", 1024),
    ]
}

/// A configuration that fits no block is refused by `check`, which names the limit.
#[test]
fn what_cannot_launch_is_refused() {
    for row in Table::new(SAMPLE).rows() {
        let limits = Limits::of(capability(&row)).expect(row.line);
        let kernel = resources(&row);
        let launch = LaunchConfig {
            threads_per_block: row.number("threads_per_block"),
            dynamic_shared_memory: row.number("dynamic_smem"),
            ..launch_state(&row)
        };
        let fits = row.number("blocks_per_sm") > 0;
        // The calculator accepts a 256th register, which no thread can have.
        let expected = fits && kernel.registers_per_thread <= limits.max_registers_per_thread;
        assert_eq!(launch.check(limits, &kernel).is_ok(), expected, "{}", row.line);
    }
}
