//! What threads do together: lanes, warps, blocks and kernels that follow each other. The kernels are those of `tests/data/features.cu`.

use crate::features::{clean, features, one_block, words};
use tilewright_emulator::{AccessKind, BlockOrderPolicy, Launch, LaunchOptions, Machine, Program};

#[test]
fn lanes_shuffle() {
    let out = words("shuffles", 32, 128, |_| vec![]);
    for t in 0..32u32 {
        assert_eq!(out[t as usize], 496);
        assert_eq!(out[32 + t as usize], if t % 8 >= 3 { t - 3 } else { t });
        assert_eq!(out[64 + t as usize], t ^ 5);
        assert_eq!(out[96 + t as usize], t / 4 * 4 + (t + 1) % 4);
    }
}

#[test]
fn lanes_vote_match_and_reduce() {
    let out = words("votes", 32, 192, |_| vec![]);
    let ballot = (0..32).filter(|t| t % 3 == 0).fold(0u32, |mask, t| mask | 1 << t);
    for t in 0..32usize {
        assert_eq!(out[t], ballot);
        assert_eq!(out[32 + t], 2);
        assert_eq!(out[64 + t], (0..32).filter(|u| u / 5 == t / 5).fold(0u32, |mask, u| mask | 1 << u));
        assert_eq!(out[96 + t], 0);
        assert_eq!(out[128 + t], 496 + 31_000);
        assert_eq!(out[160 + t], if t % 2 == 1 { 0xaaaa_aaaa } else { 0 });
    }
}

#[test]
fn barriers_reduce() {
    let out = words("barriers", 128, 256, |_| vec![]);
    assert!(out[..128].iter().all(|&count| count == 26));
    assert!(out[128..].iter().all(|&bits| bits == 1));
}

#[test]
fn atomics_of_all_kinds() {
    for order in [BlockOrderPolicy::Parallel, BlockOrderPolicy::Deterministic] {
        let mut machine = features();
        let out = machine.upload(&[0i32, 0, 0, 0, 0, 0, 0, 0, -1]).unwrap();
        let sum = machine.upload(&[0f32]).unwrap();
        let wide = machine.upload(&[0u64]).unwrap();
        let options = LaunchOptions { order, ..LaunchOptions::default() };
        let launch = Launch::new([4, 1, 1], [64, 1, 1]).arg(out).arg(sum).arg(wide).options(options);
        let report = clean(machine.launch("atomics", &launch).unwrap());
        let out = machine.download::<i32>(out, 9).unwrap();
        assert_eq!(out[..5], [255 * 128, 255, -255, -1, 0]);
        assert_eq!(out[5], 256 % 10);
        assert_eq!(out[8], -1 << 16);
        assert_eq!(machine.download::<f32>(sum, 1).unwrap(), [128.0]);
        assert_eq!(machine.download::<u64>(wide, 1).unwrap(), [256 << 33]);
        assert_eq!(machine.read_symbol::<i32>("counter", 1).unwrap(), [5 + 256]);
        assert!(report.counters.accesses[&AccessKind::GlobalAtomic].requests > 0);
    }
}

#[test]
fn lanes_part_and_meet() {
    let out = words("divergent", 64, 64, |_| vec![]);
    for t in 0..64i32 {
        let mut s = 0;
        for i in 0..t {
            if i % 3 == 0 {
                continue;
            }
            if i > 20 {
                break;
            }
            s += if i % 2 == 1 { i } else { -i };
        }
        match t % 5 {
            0 => s += 100,
            1 => s = s * 2 - 7,
            2 => s -= 7,
            _ => s ^= 0x55,
        }
        assert_eq!(out[t as usize] as i32, if t == 31 { 0 } else { s }, "{t}");
    }
}

#[test]
fn lanes_of_a_warp_can_wait_for_each_other() {
    let mut machine = features();
    let lock = machine.upload(&[0i32]).unwrap();
    let value = machine.upload(&[0i32]).unwrap();
    clean(machine.launch("lane_lock", &Launch::new([2, 1, 1], [64, 1, 1]).arg(lock).arg(value)).unwrap());
    assert_eq!(machine.download::<i32>(value, 1).unwrap(), [128]);
}

#[test]
fn fences_and_atomics_order_blocks() {
    let mut machine = features();
    let values: Vec<f32> = (0..64 * 40).map(|i| (i % 7) as f32).collect();
    let input = machine.upload(&values).unwrap();
    let parts = machine.allocate(4 * 40).unwrap();
    let (out, ticket) = (machine.allocate(4).unwrap(), machine.allocate(4).unwrap());
    let launch = Launch::new([40, 1, 1], [64, 1, 1]).arg(input).arg(parts).arg(out).arg(ticket);
    clean(machine.launch("last_block", &launch).unwrap());
    assert_eq!(machine.download::<f32>(out, 1).unwrap(), [values.iter().sum::<f32>()]);
}

#[test]
fn a_cooperative_launch_lets_blocks_wait_for_each_other() {
    let mut machine = features();
    let arrived = machine.allocate(4).unwrap();
    let data = machine.allocate(4 * 64).unwrap();
    let options = LaunchOptions { order: BlockOrderPolicy::Cooperative, ..LaunchOptions::default() };
    let launch = Launch::new([32, 1, 1], [32, 1, 1]).arg(arrived).arg(data).options(options);
    let report = machine.launch("grid_barrier", &launch).unwrap();
    // All threads of a block store the same value, which is worth a note.
    assert!(report.is_clean(), "{:#?}", report.findings);
    let data = machine.download::<i32>(data, 64).unwrap();
    assert!((0..32).all(|block| data[32 + block] == (block as i32 + 1) % 32 + 1));
}

#[test]
fn asynchronous_copies_arrive() {
    let mut machine = features();
    let values: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let input = machine.upload(&values).unwrap();
    let out = machine.allocate(4 * 32).unwrap();
    let report = clean(machine.launch("async_copy", &one_block(32).arg(input).arg(out)).unwrap());
    let expected: Vec<f32> = (0..32).map(|t| (127 - t) as f32).collect();
    assert_eq!(machine.download::<f32>(out, 32).unwrap(), expected);
    assert_eq!(report.counters.global_load.sectors, 16);
}

/// Launches follow each other: there is nothing to wait for, and nobody to let go.
#[test]
fn kernels_that_start_early_wait_for_nothing() {
    const PTX: &str = ".version 9.0\n.target sm_90\n.address_size 64\n\
        .visible .entry early(.param .u64 out) {\n\
        .reg .b64 %rd<3>; .reg .b32 %r<2>;\n\
        griddepcontrol.wait;\n\
        ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 7;\n\
        griddepcontrol.launch_dependents;\n\
        st.global.u32 [%rd2], %r1; ret; }\n";
    let mut machine = Machine::new(Program::new(PTX).unwrap());
    let out = machine.allocate(4).unwrap();
    assert!(machine.launch("early", &Launch::new([1, 1, 1], [1, 1, 1]).arg(out)).unwrap().is_clean());
    assert_eq!(machine.download::<u32>(out, 1).unwrap(), [7]);
}
