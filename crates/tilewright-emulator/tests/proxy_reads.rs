//! Tiles that a bulk copy overwrites behind ordinary reads: only the strict checks ask for the fence between.

use tilewright_emulator::{
    Finding, FindingKind, Launch, LaunchOptions, Machine, Program, Races, Schedule, Severity,
};

const FENCE: &str = "fence.proxy.async.shared::cta;";

/// What is found in a cluster of `blocks` blocks of two warps each. `first` is the first thread of the first block, `each` that of every block.
fn found(body: &str, blocks: u32, races: Races, schedule: Schedule) -> Vec<Finding> {
    let ptx = format!(
        "
        .version 8.0 .target sm_90a .address_size 64
        .shared .align 128 .b8 tile[256];
        .shared .align 8 .b64 full;
        .shared .align 8 .b64 empty;
        .visible .entry k(.param .u64 from) {{
            .reg .b32 %t, %tile, %rank, %mine, %r<8>;
            .reg .b64 %from, %state;
            .reg .b16 %both;
            .reg .pred %first, %each, %p;
            ld.param.u64 %from, [from];
            mov.u32 %t, %tid.x; mov.u32 %rank, %cluster_ctarank; mov.u32 %tile, tile; mov.u16 %both, 3;
            setp.eq.u32 %each, %t, 0; setp.eq.and.u32 %first, %rank, 0, %each;
            shl.b32 %r0, %t, 2; add.u32 %mine, %tile, %r0;
            @%each mbarrier.init.shared::cta.b64 [full], 1;
            @%each mbarrier.init.shared::cta.b64 [empty], 64;
            @%each fence.mbarrier_init.release.cluster;
            barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
            {body}
            barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
            ret;
        }}"
    );
    let mut machine = Machine::new(Program::new(&ptx).unwrap());
    let from = machine.upload(&[1u32; 64]).unwrap();
    let options = LaunchOptions { races, schedule, step_limit: Some(200_000), ..LaunchOptions::default() };
    let launch = Launch::new([blocks, 1, 1], [64, 1, 1]).cluster([blocks, 1, 1]).arg(from).options(options);
    let report = machine.launch("k", &launch).unwrap();
    assert_eq!(report.error, None, "{body}");
    report.findings
}

const EXPECT: &str = "@%each mbarrier.arrive.expect_tx.shared::cta.b64 %state, [full], 256;";

/// A copy to the own block.
const LOAD: &str = "
    @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%from], 256, [full];";

/// A copy to both blocks.
const LOAD_BOTH: &str = "
    @%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%tile], [%from], 256, [full], %both;";

fn wait(barrier: &str, parity: u32) -> String {
    let label = format!("WAIT_{barrier}_{parity}");
    format!("{label}: mbarrier.try_wait.parity.shared::cta.b64 %p, [{barrier}], {parity}; @!%p bra {label};")
}

/// Two copies to one tile. All threads `read` the first and `release` the tile.
fn twice(load: &str, read: &str, release: &str) -> String {
    format!(
        "{EXPECT}{load}{} {read} {release} {EXPECT}{load}{} ld.shared.u32 %r2, [%mine];",
        wait("full", 0),
        wait("full", 1)
    )
}

const READ: &str = "ld.shared.u32 %r2, [%mine];";

/// That a fence is missing between the read and the second copy.
fn check(planted: &str, mended: &str, blocks: u32, opcode: &str) {
    for schedule in [Schedule::Late, Schedule::Early] {
        assert_eq!(found(planted, blocks, Races::All, schedule), [], "{planted}");
        assert_eq!(found(mended, blocks, Races::Strict, schedule), [], "{mended}");
        let findings = found(planted, blocks, Races::Strict, schedule);
        assert!(!findings.is_empty(), "{planted}");
        for finding in findings {
            assert_eq!((finding.kind, finding.severity), (FindingKind::ProxyFence, Severity::Warning));
            assert!(finding.at.opcode.starts_with("cp.async.bulk"), "{finding}");
            assert!(finding.with.as_ref().unwrap().opcode.starts_with(opcode), "{finding}");
            assert!(finding.message.contains("overwrites `tile`"), "{finding}");
            assert!(finding.fix.contains("fence.proxy.async.shared::cta behind its loads"), "{finding}");
        }
    }
}

#[test]
fn a_barrier_releases_the_tile() {
    let matrix = "and.b32 %r1, %t, 15; shl.b32 %r1, %r1, 4; add.u32 %r1, %r1, %tile;
                  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%r1];";
    for (read, opcode) in [(READ, "ld.shared"), (matrix, "ldmatrix")] {
        let body = |fence: &str| twice(LOAD, read, &format!("{fence} bar.sync 0;"));
        check(&body(""), &body(FENCE), 1, opcode);
        // Of two warps that read, one has no fence; and one before the read is none behind it.
        let one = "setp.ge.u32 %p, %t, 32; @%p fence.proxy.async.shared::cta;";
        check(&body(one), &body(FENCE), 1, opcode);
        check(&twice(LOAD, &format!("{FENCE}{read}"), "bar.sync 0;"), &body(FENCE), 1, opcode);
    }
}

#[test]
fn arrivals_release_the_tile() {
    let release =
        |fence: &str| format!("{fence} mbarrier.arrive.shared::cta.b64 %state, [empty];{}", wait("empty", 0));
    let body = |fence: &str| twice(LOAD, READ, &release(fence));
    check(&body(""), &body(FENCE), 1, "ld.shared");
}

/// The copy of one block overwrites what the other has read.
#[test]
fn blocks_of_a_cluster_release_the_tile() {
    let meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    let other = |fence: &str| {
        let release = format!(
            "setp.ne.u32 %p, %rank, 0; @!%p {FENCE} @%p bra OTHER; bra GO; OTHER: {fence} GO: {meet}"
        );
        twice(LOAD_BOTH, READ, &release)
    };
    check(&other(""), &other(FENCE), 2, "ld.shared");
}

/// Matrix instructions and copies read through the asynchronous proxy: they need no fence, but the end of their reads.
#[test]
fn copies_need_no_fence_behind_their_reads() {
    let store = "
        @%first cp.async.bulk.global.shared::cta.bulk_group [%from], [%tile], 256; @%first cp.async.bulk.commit_group;
        @%first cp.async.bulk.wait_group 0; bar.sync 0;";
    assert_eq!(found(&twice(LOAD, store, ""), 1, Races::Strict, Schedule::Late), []);
}
