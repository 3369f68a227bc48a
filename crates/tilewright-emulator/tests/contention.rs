//! Warps of a block that meet in the loops of atomics of shared memory. What they do to each other is tested where it is modelled.

use tilewright_emulator::{AccessCounters, AccessKind, Launch, Machine, Program, Report};

/// Every thread does `atom` to the word of its lane pair, some times over; `barrier` stands between two times.
fn run(atom: &str, warps: u32, times: u32, barrier: &str) -> Report {
    let ptx = format!(
        ".version 8.0 .target sm_80 .address_size 64
        .visible .entry k() {{
            .reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .f32 %f<3>; .reg .pred %p<3>;
            .shared .align 8 .b8 bins[128];
            mov.u32 %r1, %tid.x;
            and.b32 %r1, %r1, 30;
            shl.b32 %r1, %r1, 1;
            mov.u32 %r2, bins;
            add.u32 %r3, %r2, %r1;
            cvt.u64.u32 %rd1, %r3;
            cvta.shared.u64 %rd2, %rd1;
            st.shared.u32 [%r3], 0;
            bar.sync 0;
            mov.u32 %r4, {times};
            LOOP:
            {atom}
            {barrier}
            sub.u32 %r4, %r4, 1;
            setp.ne.u32 %p1, %r4, 0;
            @%p1 bra LOOP;
            ret;
        }}"
    );
    let report =
        Machine::new(Program::new(&ptx).unwrap()).launch("k", &Launch::new([2, 1, 1], [32 * warps, 1, 1]));
    let report = report.unwrap();
    assert!(report.error.is_none(), "{:?}", report.error);
    report
}

/// Requests and wavefronts of loads and of atomics.
fn counted(report: &Report) -> [[u64; 2]; 2] {
    let both = |count: &AccessCounters| [count.requests, count.wavefronts];
    let atomics = &report.counters.accesses[&AccessKind::SharedAtomic];
    [both(&report.counters.shared_load), both(atomics)]
}

const FLOAT: &str = "red.shared.add.f32 [%r3], 0f3F800000;";

#[test]
fn warps_meet_at_each_execution_of_the_instruction() {
    // 2 lanes a word: 2 rounds for a warp alone, 100 for 8; 2 blocks.
    assert_eq!(counted(&run(FLOAT, 1, 1, "")), [[4, 4], [4, 8]]);
    assert_eq!(counted(&run(FLOAT, 8, 1, "")), [[200, 200], [200, 400]]);
    assert_eq!(counted(&run(FLOAT, 8, 5, "")), [[1000, 1000], [1000, 2000]]);
    assert_eq!(counted(&run(FLOAT, 8, 5, "bar.sync 0;")), [[1000, 1000], [1000, 2000]]);
}

#[test]
fn generic_addresses_of_shared_memory_are_those_of_shared_memory() {
    let generic = "atom.add.f32 %f1, [%rd2], 0f3F800000;";
    assert_eq!(counted(&run(generic, 8, 1, "")), [[200, 200], [200, 400]]);
}

#[test]
fn one_instruction_of_the_hardware_is_one() {
    let integer = "red.shared.add.u32 [%r3], 1;";
    assert_eq!(counted(&run(integer, 8, 1, "")), [[0, 0], [16, 32]]);
}

#[test]
fn a_warp_that_is_far_ahead_does_not_wait_for_ever() {
    // More executions than a block keeps: every warp still goes round at least twice each time.
    let [loads, atomics] = counted(&run(FLOAT, 2, 10_000, ""));
    assert_eq!(loads[0], atomics[0]);
    assert!((4 * 20_000..=7 * 20_000).contains(&atomics[0]), "{atomics:?}");
}

#[test]
fn warps_that_are_gone_do_not_come() {
    let one = format!("mov.u32 %r5, %tid.x; setp.lt.u32 %p2, %r5, 32; @%p2 {FLOAT}");
    assert_eq!(counted(&run(&one, 8, 1, "")), [[4, 4], [4, 8]]);
}
