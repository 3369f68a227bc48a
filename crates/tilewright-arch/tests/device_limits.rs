//! The limits of every compute capability against `data/device_limits.csv`, column by column.

use tilewright_arch::{ComputeCapability, Limits, PartitionedGlobalCaching};

const TABLE: &str = include_str!("data/device_limits.csv");

#[test]
fn every_column_of_every_row_agrees() {
    let mut capabilities = Vec::new();
    for line in TABLE.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 18, "{line}");
        let capability: ComputeCapability = fields[0].parse().expect(line);
        let limits = Limits::of(capability).expect(line);
        let carveouts: Vec<String> = limits.carveouts_kib.iter().map(u32::to_string).collect();
        let ours = [
            limits.compute_capability.to_string(),
            limits.max_threads_per_sm.to_string(),
            limits.max_warps_per_sm().to_string(),
            limits.max_blocks_per_sm.to_string(),
            limits.registers_per_sm.to_string(),
            limits.registers_per_block.to_string(),
            limits.max_registers_per_thread.to_string(),
            limits.accepted_registers_per_thread().to_string(),
            limits.register_allocation_unit.to_string(),
            limits.sub_partitions.to_string(),
            limits.shared_memory_per_sm.to_string(),
            limits.shared_memory_per_block.to_string(),
            limits.shared_memory_per_block_optin.to_string(),
            limits.shared_memory_reserved_per_block.to_string(),
            limits.shared_memory_granularity.to_string(),
            if carveouts.is_empty() { "fixed".to_owned() } else { carveouts.join(" ") },
            limits.barriers_per_sm.to_string(),
            u32::from(limits.partitioned_global_caching == PartitionedGlobalCaching::Supported).to_string(),
        ];
        assert_eq!(ours.as_slice(), fields.as_slice());
        capabilities.push(capability);
    }
    let ours: Vec<ComputeCapability> = Limits::ALL.iter().map(|limits| limits.compute_capability).collect();
    assert_eq!(ours, capabilities);
}

#[test]
fn an_unknown_capability_is_refused_with_the_known_ones() {
    let error = Limits::of(ComputeCapability::new(3, 5)).expect_err("3.5 is not in the table");
    let message = error.to_string();
    assert!(message.contains("3.5") && message.contains("known are 5.0, 5.2,") && message.ends_with("12.1"));
}
