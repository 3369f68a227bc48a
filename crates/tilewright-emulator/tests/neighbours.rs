//! Blocks of a cluster that use each other's shared memory, with and without what keeps them apart.

use tilewright_emulator::{FindingKind, Launch, LaunchOptions, Machine, Program, Schedule};

const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// What is found in a cluster of two blocks of a warp each, and what block 1 has written.
fn found(body: &str, schedule: Schedule) -> (Vec<FindingKind>, Vec<u32>) {
    let ptx = format!(
        "
        .version 8.0 .target sm_90a .address_size 64
        .shared .align 128 .b8 tile[128];
        .shared .align 8 .b64 bar;
        .visible .entry k(.param .u64 from, .param .u64 to) {{
            .reg .b32 %t, %rank, %tile, %theirs, %bar, %r<8>;
            .reg .b64 %from, %to, %w, %state;
            .reg .pred %one, %first, %second, %both, %p;
            ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
            mov.u32 %t, %tid.x; mov.u32 %rank, %cluster_ctarank;
            setp.eq.u32 %one, %t, 0; setp.eq.u32 %first, %rank, 0; not.pred %second, %first; and.pred %both, %one, %first;
            mov.u32 %tile, tile; mapa.shared::cluster.u32 %theirs, %tile, 1; mov.u32 %r7, bar; mapa.shared::cluster.u32 %bar, %r7, 1;
            shl.b32 %r0, %t, 2; add.u32 %r1, %tile, %r0;
            mul.wide.u32 %w, %t, 4; add.u64 %to, %to, %w;
            st.shared.u32 [%r1], %t;
            @%one mbarrier.init.shared::cta.b64 [bar], 1;
            @%one fence.mbarrier_init.release.cluster;
            fence.proxy.async.shared::cta;
            {MEET}
            {body}
            ret;
        }}"
    );
    let mut machine = Machine::new(Program::new(&ptx).unwrap());
    let from = machine.upload(&(0..32).map(|x| 100 + x).collect::<Vec<u32>>()).unwrap();
    let to = machine.upload(&[0u32; 32]).unwrap();
    let options = LaunchOptions { schedule, step_limit: Some(200_000), ..LaunchOptions::default() };
    let launch = Launch::new([2, 1, 1], [32, 1, 1]).cluster([2, 1, 1]).arg(from).arg(to).options(options);
    let report = machine.launch("k", &launch).unwrap();
    let kinds = report.findings.iter().map(|finding| finding.kind).collect();
    (kinds, machine.download(to, 32).unwrap())
}

/// A store, an atomic and an arrival, whether the other block exits before or behind them.
#[test]
fn a_block_stays_while_another_uses_its_memory() {
    for access in [
        "@%first st.shared::cluster.u32 [%theirs], 7;",
        "@%both atom.add.shared::cluster.u32 %r2, [%theirs], 1;",
        "@%both mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar];",
    ] {
        assert_eq!(found(access, Schedule::Late).0, [FindingKind::ExitedBlock], "{access}");
        assert_eq!(found(&format!("{access}{MEET}"), Schedule::Late).0, [], "{access}");
    }
    // Global memory is nobody's.
    assert_eq!(
        found("@%both atom.add.global.u32 %r2, [%to], 1; @%both st.global.u32 [%to+4], 1;", Schedule::Late).0,
        []
    );
    // The other way round the block is gone when it is used.
    let gone = "mapa.shared::cluster.u32 %theirs, %tile, 0; @%second st.shared::cluster.u32 [%theirs], 7;";
    assert_eq!(found(gone, Schedule::Late).0, [FindingKind::ExitedBlock]);
    // Who waits for an arrival was there when it came.
    let waits = "
        @%both mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar];
        @%first bra DONE;
        WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;
        DONE:";
    assert_eq!(found(waits, Schedule::Late).0, []);
}

const COPY: &str = "
    @%both cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%theirs], [%from], 128, [%bar];";

/// Block 1 reads its tile, `tells` whoever waits, and reads what has come.
fn reader(tells: &str) -> String {
    format!(
        "@%first bra DONE;
         ld.shared.u32 %r3, [%r1];
         bar.warp.sync 0xffffffff;
         {tells}
         @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], 128;
         WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;
         ld.shared.u32 %r4, [%r1]; add.u32 %r3, %r3, %r4; st.global.u32 [%to], %r3;
         DONE: {MEET}"
    )
}

#[test]
fn a_copy_comes_when_the_tile_is_free() {
    let sums: Vec<u32> = (0..32).map(|x| 100 + 2 * x).collect();
    for schedule in [Schedule::Late, Schedule::Early] {
        let told = format!(
            "@%first barrier.cluster.arrive.aligned; @%first barrier.cluster.wait.aligned; {COPY}{}",
            reader(MEET)
        );
        assert_eq!(found(&told, schedule), (vec![], sums.clone()), "{schedule:?}");
    }
    // Nobody says that the tile is free. Whichever block is the slower one, the copy and the reads meet.
    let slow = |rank: &str| {
        format!(
            "@%{rank} bra GOES; mov.u32 %r5, 30000; SPIN: sub.u32 %r5, %r5, 1; setp.ne.u32 %p, %r5, 0; @%p bra SPIN; GOES:"
        )
    };
    let untold = |rank: &str, schedule| found(&format!("{} {COPY} {}", slow(rank), reader("")), schedule);
    for schedule in [Schedule::Late, Schedule::Early] {
        assert_eq!(untold("second", schedule).0, [FindingKind::SharedRace], "{schedule:?}");
    }
    assert_eq!(untold("first", Schedule::Late).0, [FindingKind::PendingCopy]);
    assert_ne!(untold("first", Schedule::Early).1, sums);
}

/// An arrival at an mbarrier of the own block, by its address in the cluster, tells the own threads of what came before.
#[test]
fn the_own_block_is_reached_by_its_rank() {
    let body = |arrive: &str| {
        format!(
            "ld.shared.u32 %r3, [%r1];
             mapa.shared::cluster.u32 %bar, %r7, %rank;
             {arrive}
             @!%one bra DONE;
             WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;
             st.shared.u32 [%r1+4], %r3;
             DONE: {MEET}"
        )
    };
    // Lane 1 has read what lane 0 replaces; lane 2 has not.
    let told = body("setp.eq.u32 %p, %t, 1; @%p mbarrier.arrive.shared::cluster.b64 _, [%bar];");
    assert_eq!(found(&told, Schedule::Late).0, []);
    let untold = body("setp.eq.u32 %p, %t, 2; @%p mbarrier.arrive.shared::cluster.b64 _, [%bar];");
    assert_eq!(found(&untold, Schedule::Late).0, [FindingKind::WarpRace]);
}

/// A block that exits while a copy to it is on its way.
#[test]
fn nobody_exits_before_a_copy_has_come() {
    assert_eq!(found(&format!("{COPY}{MEET}"), Schedule::Late).0, [FindingKind::PendingCopy]);
}
