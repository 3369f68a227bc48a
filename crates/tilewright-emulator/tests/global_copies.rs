//! Bulk copies whose bytes of global memory others use, with and without what orders them.

use tilewright_emulator::{FindingKind, Launch, LaunchOptions, Machine, Program, Schedule};

/// What is found in two blocks of two warps each. Shared memory is filled, and the asynchronous proxy sees it; `first` and `other` are
/// the first threads of both warps.
fn found(body: &str, schedule: Schedule) -> Vec<FindingKind> {
    let ptx = format!(
        "
        .version 8.0 .target sm_90a .address_size 64
        .shared .align 128 .b8 tile[256];
        .shared .align 8 .b64 bar;
        .visible .entry k(.param .u64 from, .param .u64 to) {{
            .reg .b32 %t, %block, %tile, %r<4>;
            .reg .b64 %from, %to, %mine, %w, %state;
            .reg .pred %first, %other, %block0, %block1, %p;
            ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
            mov.u32 %t, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %tile, tile;
            setp.eq.u32 %first, %t, 0; setp.eq.u32 %other, %t, 32;
            setp.eq.u32 %block0, %block, 0; not.pred %block1, %block0;
            mul.wide.u32 %w, %block, 256; add.u64 %mine, %to, %w;
            shl.b32 %r0, %t, 2; add.u32 %r1, %tile, %r0; st.shared.u32 [%r1], %t;
            @%first mbarrier.init.shared::cta.b64 [bar], 1;
            @%first fence.mbarrier_init.release.cluster;
            fence.proxy.async.shared::cta;
            bar.sync 0;
            {body}
            ret;
        }}"
    );
    let mut machine = Machine::new(Program::new(&ptx).unwrap());
    let from = machine.upload(&[1u32; 64]).unwrap();
    let to = machine.upload(&[2u32; 128]).unwrap();
    let options = LaunchOptions { schedule, step_limit: Some(200_000), ..LaunchOptions::default() };
    let launch = Launch::new([2, 1, 1], [64, 1, 1]).arg(from).arg(to).options(options);
    let report = machine.launch("k", &launch).unwrap();
    assert_eq!(report.error, None, "{body}");
    let mut kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// What every schedule finds.
fn always(body: &str) -> Vec<FindingKind> {
    let late = found(body, Schedule::Late);
    assert_eq!(found(body, Schedule::Early), late, "{body}");
    late
}

/// A copy to the address in a register, and the wait for it.
fn store(to: &str) -> String {
    format!(
        "@%first cp.async.bulk.global.shared::cta.bulk_group [{to}], [%tile], 256; @%first cp.async.bulk.commit_group;"
    )
}

const STORED: &str = "@%first cp.async.bulk.wait_group 0;";

/// A copy of what a block has of `to`, and the wait for it by both warps.
const LOAD: &str = "
    @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], 256;
    @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%mine], 256, [bar];";
const LOADED: &str = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;";

/// The tile is read, so that no copy is in vain.
const READ: &str = "ld.shared.u32 %r2, [%r1];";

#[test]
fn blocks_store_apart() {
    for to in ["%to", "%mine"] {
        let expected: &[FindingKind] = if to == "%to" { &[FindingKind::BlockRace] } else { &[] };
        assert_eq!(always(&format!("{}{STORED}", store(to))), expected, "{to}");
        // A load and a store of the other block.
        for access in ["ld.global.u32 %r2, [TO+4];", "st.global.u32 [TO+4], 7;"] {
            let access = access.replace("TO", to);
            let body =
                format!("@%block1 bra OTHER; {}{STORED} bra DONE; OTHER: @%other {access} DONE:", store(to));
            assert_eq!(always(&body), expected, "{body}");
        }
    }
    // Reductions are atomic.
    let add = store("%to").replace(
        "cp.async.bulk.global.shared::cta.bulk_group",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
    );
    assert_eq!(always(&format!("{add}{STORED}")), []);
    let set =
        format!("@%block1 bra OTHER; {add}{STORED} bra DONE; OTHER: @%other st.global.u32 [%to], 7; DONE:");
    assert_eq!(always(&set), [FindingKind::BlockRace]);
}

/// The other block is told by a flag that the data are there.
#[test]
fn a_flag_tells_of_a_store() {
    let body = |wait: &str, fence: &str| {
        format!(
            "@%block1 bra READS;
             @!%first bra DONE;
             {}{wait}{fence} st.relaxed.gpu.global.u32 [%from], 7; bra DONE;
             READS: @!%first bra DONE;
             ASK: ld.relaxed.gpu.global.u32 %r2, [%from]; setp.ne.u32 %p, %r2, 7; @%p bra ASK; fence.acq_rel.gpu;
             ld.global.u32 %r3, [%to+8];
             DONE:",
            store("%to")
        )
    };
    let fence = "fence.acq_rel.gpu;";
    assert_eq!(found(&body(STORED, fence), Schedule::Late), []);
    assert_eq!(found(&body(STORED, ""), Schedule::Late), [FindingKind::BlockRace]);
}

#[test]
fn a_store_is_waited_for() {
    let read = "ld.global.u32 %r2, [%mine+4];";
    for (access, kind) in [
        // The thread itself.
        (format!("@%first {read}"), FindingKind::PendingCopy),
        ("@%first st.global.u32 [%mine], 7;".into(), FindingKind::PendingCopy),
        (store("%mine"), FindingKind::PendingCopy),
        // Others, behind the issue and not behind the end; or behind neither.
        (format!("bar.sync 0; @%other {read} bar.sync 0;"), FindingKind::PendingCopy),
        (format!("@%other {read}"), FindingKind::GlobalRace),
    ] {
        let early = format!("{}{access}{STORED}", store("%mine"));
        assert_eq!(found(&early, Schedule::Late), [kind], "{access}");
        let late = format!("{}{STORED} bar.sync 0; {access}{STORED}", store("%mine"));
        assert_eq!(always(&late), [], "{access}");
    }
}

/// A whole warp issues one store, as epilogues of CUTLASS do. Stores of different bytes to one place are another matter.
#[test]
fn a_warp_may_issue_the_same_store() {
    let body = |from: &str| {
        format!(
            "setp.lt.u32 %p, %t, 32; {from}
             @%p cp.async.bulk.global.shared::cta.bulk_group [%mine], [%r3], 128;
             @%p cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group 0;"
        )
    };
    assert_eq!(always(&body("mov.u32 %r3, %tile;")), []);
    let halves = body("and.b32 %r3, %t, 1; shl.b32 %r3, %r3, 7; add.u32 %r3, %r3, %tile;");
    assert!(always(&halves).contains(&FindingKind::WarpRace));
}

#[test]
fn what_a_copy_reads_stays() {
    let write = "st.global.u32 [%mine+4], 7;";
    for (access, kind) in [
        (format!("@%first {write}"), FindingKind::PendingCopy),
        (format!("bar.sync 0; @%other {write} bar.sync 0;"), FindingKind::PendingCopy),
        (format!("@%other {write}"), FindingKind::GlobalRace),
    ] {
        let early = format!("{LOAD}{access}{LOADED}{READ}");
        assert_eq!(found(&early, Schedule::Late), [kind], "{access}");
        let late = format!("{LOAD}{LOADED}{access}{READ}");
        assert_eq!(always(&late), [], "{access}");
    }
    // Another block writes, or the same before the copy.
    let other = format!(
        "@%block1 bra OTHER; {LOAD}{LOADED}{READ} bra DONE; OTHER: @%other st.global.u32 [%to+4], 7; DONE:"
    );
    assert_eq!(always(&other), [FindingKind::BlockRace]);
    let before = |barrier: &str| format!("@%other {write} {barrier} {LOAD}{LOADED}{READ}");
    assert_eq!(always(&before("bar.sync 0;")), []);
    assert_eq!(always(&before("")), [FindingKind::GlobalRace]);
}
