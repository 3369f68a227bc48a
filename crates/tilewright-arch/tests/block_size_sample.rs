//! Block sizes against the answers of the CUDA 13.5 toolkit's calculator: every row of
//! `data/block_size_sample.csv`.

use crate::support::{Table, capability, launch_state, resources};
use tilewright_arch::{BlockSize, DynamicSharedMemory, Limits};

const SAMPLE: &str = include_str!("data/block_size_sample.csv");

#[test]
fn every_row_agrees() {
    let mut rows = 0;
    for row in Table::new(SAMPLE).rows() {
        rows += 1;
        let limits = Limits::of(capability(&row)).expect(row.line);
        let base = row.number("dyn_const");
        let dynamic = match row.text("dyn_kind") {
            "fixed" => DynamicSharedMemory::Fixed(base),
            "linear" => DynamicSharedMemory::PerThread { base, per_thread: row.number("dyn_per_thread") },
            other => panic!("{other} in {}", row.line),
        };
        let best = BlockSize::best(limits, &resources(&row), &launch_state(&row), dynamic, u32::MAX);
        let best = best.expect(row.line);
        let ours = best.map_or((0, 0), |best| (best.min_grid_size(row.number("num_sms")), best.threads));
        assert_eq!(ours, (row.number("min_grid_size"), row.number("block_size")), "{}", row.line);
    }
    assert_eq!(rows, 660);
}
