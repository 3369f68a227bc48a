//! The kind of arithmetic of a launch, whose peak is the flat part of its roofline.

use crate::matrix;
use std::collections::BTreeMap;
use tilewright_arch::Rate;
use tilewright_emulator::Counters;

/// The kind that the launch does most operations of; f32 where it does none.
pub(super) fn most_of(counters: &Counters) -> Rate {
    let mut operations: BTreeMap<Rate, u64> = BTreeMap::new();
    for instruction in &counters.instructions {
        let (rate, count) = match matrix::of_warp(&instruction.opcode) {
            Some((rate, per_warp)) => (rate, 2 * instruction.executions * per_warp),
            None => (of_lanes(&instruction.opcode), instruction.flops),
        };
        *operations.entry(rate).or_default() += count;
    }
    let most = operations.into_iter().filter(|&(_, count)| count > 0).max_by_key(|&(_, count)| count);
    most.map_or(Rate::F32, |(rate, _)| rate)
}

/// The kind of an instruction of CUDA cores.
fn of_lanes(opcode: &str) -> Rate {
    let names = |wanted: &[&str]| opcode.split('.').any(|part| wanted.contains(&part));
    match () {
        () if names(&["f64"]) => Rate::F64,
        // A single half is computed in the units of pairs, and leaves half of them idle.
        () if names(&["f16x2", "bf16x2", "f16", "bf16"]) => Rate::F16,
        () => Rate::F32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_arch::Device;
    use tilewright_emulator::InstructionCounters;

    fn launch(instructions: &[(&str, u64)]) -> Counters {
        let instructions = instructions.iter().map(|&(opcode, flops)| InstructionCounters {
            ptx_line: 1,
            source: None,
            opcode: opcode.into(),
            executions: 10,
            active_lanes: 320,
            flops,
            accesses: Vec::new(),
        });
        Counters { instructions: instructions.collect(), ..Default::default() }
    }

    #[test]
    fn every_kind_has_its_own_peak() {
        let h200 = Device::find("h200").unwrap();
        for (opcode, flops, tera) in [
            ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 0, 989.0),
            ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 0, 989.0),
            ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 0, 989.0),
            ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 0, 989.0),
            ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 0, 495.0),
            ("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 0, 495.0),
            ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 0, 67.0),
            ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 0, 1979.0),
            ("wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", 0, 1979.0),
            ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 0, 1979.0),
            ("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", 0, 989.0),
            ("wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e5m2", 0, 1979.0),
            ("fma.rn.f32", 640, 67.0),
            ("fma.rn.f16x2", 1280, 134.0),
            ("fma.rn.bf16x2", 1280, 134.0),
            ("add.f64", 320, 33.0),
        ] {
            let peak = h200.peak(most_of(&launch(&[(opcode, flops)]))).unwrap() / 1e12;
            assert!((peak / tera - 1.0).abs() < 0.02, "{opcode}: {peak}");
        }
        let halves = most_of(&launch(&[("fma.rn.f16x2", 1280)]));
        // Pairs are no faster than f32 there.
        let ada = Device::find("rtx 4090").unwrap();
        assert_eq!(ada.peak(halves), ada.peak(Rate::F32));
    }

    #[test]
    fn the_kind_with_most_operations_counts() {
        let product = ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 0);
        // Ten executions of 2 x 16 x 8 x 8.
        assert_eq!(most_of(&launch(&[product, ("fma.rn.f32", 20_479)])), Rate::TensorTf32);
        assert_eq!(most_of(&launch(&[product, ("fma.rn.f32", 20_481)])), Rate::F32);
        assert_eq!(most_of(&launch(&[("add.f64", 100), ("fma.rn.f32", 99)])), Rate::F64);
        assert_eq!(most_of(&launch(&[("ld.global.f64", 0)])), Rate::F32);
    }
}
