//! Threads that meet in ways that real kernels use: what they know of each other then, and who is waited for.

use tilewright_emulator::{FindingKind, Launch, LaunchOptions, Machine, Program, Report, Severity};

/// The report on blocks of some threads, and 64 words that they have written.
fn run(blocks: u32, threads: u32, body: &str) -> (Report, Vec<u32>) {
    let ptx = format!(
        "
        .version 8.0 .target sm_90a .address_size 64
        .shared .align 128 .b8 tile[4096];
        .shared .align 8 .b64 bar;
        .visible .entry k(.param .u64 from, .param .u64 to) {{
            .reg .b32 %t, %tile, %r<12>;
            .reg .b64 %from, %to, %w, %state;
            .reg .pred %one, %first, %p;
            ld.param.u64 %from, [from]; ld.param.u64 %to, [to];
            mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0; setp.lt.u32 %first, %t, 32;
            mov.u32 %tile, tile; shl.b32 %r0, %t, 2; add.u32 %r1, %tile, %r0; mul.wide.u32 %w, %t, 4; add.u64 %w, %w, %to;
            {body}
            ret;
        }}"
    );
    let mut machine = Machine::new(Program::new(&ptx).unwrap());
    let from = machine.upload(&(0..64).map(|x| 100 + x).collect::<Vec<u32>>()).unwrap();
    let to = machine.upload(&[0u32; 64]).unwrap();
    let options = LaunchOptions { step_limit: Some(5_000_000), ..LaunchOptions::default() };
    let launch = Launch::new([blocks, 1, 1], [threads, 1, 1]).arg(from).arg(to).options(options);
    let report = machine.launch("k", &launch).unwrap();
    (report, machine.download(to, 64).unwrap())
}

fn clean(blocks: u32, threads: u32, body: &str) -> Vec<u32> {
    let (report, words) = run(blocks, threads, body);
    assert!(report.is_clean() && report.findings.is_empty(), "{:?} {:#?}", report.error, report.findings);
    words
}

/// A warp that arrives and then waits is counted for both.
#[test]
fn a_warp_arrives_twice_at_a_barrier() {
    clean(1, 32, "bar.arrive 1, 64; bar.sync 1, 64;");
    // Of three arrivals that are expected, two are there.
    let (report, _) = run(1, 32, "bar.arrive 1, 96; bar.sync 1, 96;");
    assert!(report.findings[0].message.contains("waits at barrier 1"), "{:?}", report.findings);
}

/// Lane 0 waits for a copy, and the others learn of it where they meet.
#[test]
fn what_one_lane_has_waited_for_all_know() {
    let copied = |meet: &str, threads: u32| {
        let body = format!(
            "@%one mbarrier.init.shared::cta.b64 [bar], 1; @%one fence.mbarrier_init.release.cluster; bar.sync 0;
             @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], 256;
             @%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%from], 256, [bar];
             @!%one bra MEET;
             WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;
             MEET: {meet}
             ld.shared.u32 %r2, [%r1]; st.global.u32 [%w], %r2;"
        );
        clean(1, threads, &body)
    };
    let expected: Vec<u32> = (100..164).collect();
    assert_eq!(copied("bar.warp.sync 0xffffffff;", 32)[..32], expected[..32]);
    assert_eq!(copied("bar.sync 0;", 64), expected);
    // Warp 0 tells warp 1 at a barrier that it does not wait at.
    let named = "bar.warp.sync 0xffffffff; @%first bar.arrive 1, 64; @!%first bar.sync 1, 64;";
    assert_eq!(copied(named, 64), expected);
}

/// All lanes of a warp initialise an mbarrier, as in ThunderKittens. With one count they make the same of it.
#[test]
fn lanes_initialise_an_mbarrier_together() {
    let found = |count: &str| {
        let init = format!("{count} @%first mbarrier.init.shared::cta.b64 [bar], %r2; bar.sync 0;");
        let (report, _) = run(1, 64, &init);
        let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
        assert_eq!(finding.kind, FindingKind::WarpRace);
        assert!(finding.severity == Severity::Error || finding.fix.contains("let one thread initialise it"));
        (finding.severity, finding.wants_barrier)
    };
    assert_eq!(found("mov.u32 %r2, 64;"), (Severity::Note, false));
    assert_eq!(found("add.u32 %r2, %t, 1;"), (Severity::Error, true));
}

/// A lane that comes late is waited for where all lanes of a warp execute an instruction together.
#[test]
fn all_lanes_load_matrices_together() {
    for turns in [10, 300_000] {
        let body = format!(
            "add.u32 %r2, %t, 64; st.shared.u32 [%r1], %r2; bar.warp.sync 0xffffffff;
             @!%one bra TOGETHER;
             mov.u32 %r3, {turns}; SPIN: sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra SPIN;
             TOGETHER: and.b32 %r4, %t, 7; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %tile;
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r5}}, [%r4];
             st.global.u32 [%w], %r5;"
        );
        assert_eq!(clean(1, 32, &body)[..32], (64..96).collect::<Vec<u32>>(), "{turns}");
    }
}

/// Reductions of bulk copies by many blocks lose nothing.
#[test]
fn bulk_reductions_are_atomic() {
    let body = "
        mov.u32 %r2, 1; st.shared.u32 [%r1], %r2; fence.proxy.async.shared::cta; bar.sync 0;
        @%one cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%to], [%tile], 256;
        @%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;";
    assert_eq!(clean(3000, 64, body), [3000; 64]);
}

/// Modifiers may stand behind blanks.
#[test]
fn blanks_stand_between_modifiers() {
    assert_eq!(clean(1, 32, "add .u32 %r2, %t, 1; st.global\n.u32 [%w], %r2;")[..2], [1, 2]);
}
