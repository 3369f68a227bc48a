//! Threads that spin on what others change: they give way at once, so that locks cost steps in proportion to their contenders.

use tilewright_emulator::{BlockOrderPolicy, Launch, LaunchOptions, Machine, Program};

/// Every thread adds 1 to `n`, under a lock of one kind.
const LOCKS: &str = ".version 8.0
.target sm_70
.address_size 64
.visible .entry swap(.param .u64 lock, .param .u64 n)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [n];
AGAIN:
    atom.global.cas.b32 %r1, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    membar.gl;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd2], %r2;
    membar.gl;
    atom.global.exch.b32 %r3, [%rd1], 0;
    ret;
}
.visible .entry ticket(.param .u64 lock, .param .u64 n)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [n];
    atom.global.add.u32 %r1, [%rd1], 1;
AGAIN:
    ld.volatile.global.u32 %r2, [%rd1+4];
    setp.ne.u32 %p1, %r1, %r2;
    @%p1 bra AGAIN;
    membar.gl;
    ld.global.u32 %r3, [%rd2];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd2], %r3;
    membar.gl;
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%rd1+4], %r2;
    ret;
}
.visible .entry tries(.param .u64 lock, .param .u64 n)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [n];
    mov.u32 %r4, 8;
AGAIN:
    atom.global.exch.b32 %r1, [%rd1], 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra MINE;
    nanosleep.u32 %r4;
    bra AGAIN;
MINE:
    membar.gl;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd2], %r2;
    membar.gl;
    atom.global.exch.b32 %r3, [%rd1], 0;
    ret;
}
.visible .entry shared(.param .u64 lock, .param .u64 n)
{
    .shared .u32 own;
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd2, [n];
    mov.u32 %r5, %tid.x;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra BEGIN;
    st.shared.u32 [own], 0;
BEGIN:
    bar.sync 0;
AGAIN:
    atom.shared.cas.b32 %r1, [own], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    membar.gl;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd2], %r2;
    membar.gl;
    atom.shared.exch.b32 %r3, [own], 0;
    ret;
}
.visible .entry later(.param .u64 lock, .param .u64 n)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    sub.u32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r1, %r2;
    @%p1 bra LAST;
AGAIN:
    ld.acquire.gpu.global.u32 %r3, [%rd1];
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra AGAIN;
    bra END;
LAST:
    st.release.gpu.global.u32 [%rd1], 1;
END:
    red.global.add.u32 [%rd2], 1;
    ret;
}
";

/// How many steps it takes, at most `limit`.
fn steps(entry: &str, grid: u32, block: u32, limit: u64) -> u64 {
    let mut machine = Machine::new(Program::new(LOCKS).unwrap());
    let (lock, n) = (machine.upload(&[0u32; 2]).unwrap(), machine.upload(&[0u32]).unwrap());
    let options = LaunchOptions {
        step_limit: Some(limit),
        order: BlockOrderPolicy::Deterministic,
        ..LaunchOptions::default()
    };
    let launch = Launch::new([grid, 1, 1], [block, 1, 1]).arg(lock).arg(n).options(options);
    let report = machine.launch(entry, &launch).unwrap();
    assert!(report.is_clean(), "{entry}: {:?} {:?}", report.error, report.findings);
    assert_eq!(machine.download::<u32>(n, 1).unwrap(), [grid * block], "{entry}");
    report.counters.warp_instructions
}

#[test]
fn a_lock_for_every_thread_of_large_blocks() {
    for entry in ["swap", "ticket", "tries", "shared"] {
        steps(entry, 1, 64, 20_000);
        steps(entry, 1, 1024, 2_000_000);
    }
}

#[test]
fn locks_and_flags_across_blocks() {
    for entry in ["swap", "ticket", "tries"] {
        steps(entry, 8, 64, 200_000);
    }
    // Blocks that wait for the last one, which begins when all before it have been seen to wait.
    steps("later", 6, 64, 20_000);
}
