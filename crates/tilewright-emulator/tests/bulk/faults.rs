//! What is found where something is missing.

use super::*;

#[test]
fn faults_are_found() {
    let data = numbers(4096);
    let map = matrix([64, 16], 128, [64, 8], Swizzle::Bytes128).encode();
    let kinds = |body: &str, map: &[u8], schedule: Schedule| -> Vec<FindingKind> {
        let run = run(body, map, &data, &[0; 1024], [1024, 0, 0], schedule, 1);
        run.report.findings.iter().map(|finding| finding.kind).collect()
    };
    // Nobody waits.
    let unwaited = format!("{LOAD}{OUT}");
    assert!(kinds(&unwaited, &map, Schedule::Late).contains(&FindingKind::PendingCopy));
    // The wait is for the phase before, and passes at once; or there is none, though somebody waits later.
    let later = WAIT.replace("WAIT", "LATER");
    let pending = |wait: &str| {
        let body = format!("{LOAD}{wait}{OUT}{later}");
        let found = run(&body, &map, &data, &[0; 1024], [1024, 0, 0], Schedule::Late, 1).report.findings;
        let finding = found.into_iter().find(|finding| finding.kind == FindingKind::PendingCopy).unwrap();
        assert!(finding.fix.contains("wait at `bar` with parity 0"), "{finding}");
        finding.message
    };
    let passed = pending(&WAIT.replace("[bar], 0", "[bar], 1"));
    assert!(passed.contains("the wait at `bar` before it has passed for an earlier phase"), "{passed}");
    assert!(pending("").contains("the warp has not waited at `bar`"));
    // No map.
    assert_eq!(kinds(LOAD, &[7; 128], Schedule::Late), [FindingKind::InvalidTensorMap]);
    // A box that begins at an odd element.
    let odd = run(LOAD, &map, &data, &[0; 1024], [1024, 1, 0], Schedule::Late, 1).report.findings;
    assert!(odd[0].message.contains("2 bytes into its rows"), "{}", odd[0]);
    // An operation that the type has not.
    let signed = TensorMap { element: ElementType::I64, ..matrix([16, 8], 128, [16, 8], Swizzle::None) };
    let add = format!(
        "{IN} @%one cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%map, {{%x, %y}}], [%o];
         @%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group.read 0;"
    );
    assert_eq!(kinds(&add, &signed.encode(), Schedule::Late), [FindingKind::InvalidTensorMap]);
    // No fence between a store and the copy that reads it.
    let store = "@%one cp.async.bulk.global.shared::cta.bulk_group [%to], [%o], %bytes; @%one cp.async.bulk.commit_group;";
    let read = "@%one cp.async.bulk.wait_group.read 0;";
    let unfenced = format!("{}{store}{read}", IN.replace("fence.proxy.async.shared::cta;", ""));
    assert_eq!(kinds(&unfenced, &map, Schedule::Late), [FindingKind::ProxyFence]);
    // The thread exits before its copy has read.
    assert_eq!(kinds(&format!("{IN}{store}"), &map, Schedule::Late), [FindingKind::PendingCopy]);
    // Shared memory is written again before that.
    let again = format!(
        "{IN}{store} bar.sync 0; shl.b32 %i, %t, 2; add.u32 %r0, %o, %i; st.shared.b32 [%r0], %i; bar.sync 0; {read}"
    );
    assert!(kinds(&again, &map, Schedule::Late).contains(&FindingKind::PendingCopy));
    assert_eq!(kinds(&format!("{IN}{store}{read} bar.sync 0;"), &map, Schedule::Late), []);
    // Of 1024 bytes that come, the last 256 are read by nobody, and those outside of the tensor are none.
    let unread =
        run(&format!("{LOAD}{WAIT}{OUT}"), &map, &data, &[0; 1024], [1024, 0, 12], Schedule::Late, 1);
    assert_eq!(unread.report.findings, []);
    let less = "mov.u32 %bytes, 768;";
    let unread =
        run(&format!("{LOAD}{WAIT}{less}{OUT}"), &map, &data, &[0; 1024], [1024, 0, 0], Schedule::Late, 1);
    assert_eq!(unread.report.findings[0].kind, FindingKind::UnreadCopy);
    assert!(
        unread.report.findings[0].message.contains("of which nobody reads 256"),
        "{:?}",
        unread.report.findings
    );
    // More bytes are announced than come, the parity is that of a phase to which nobody comes, or nobody arrives at all.
    let hopeless = |from: &str, to: &str| {
        let body = format!("{LOAD}{WAIT}{OUT}").replace(from, to);
        let found = run(&body, &map, &data, &[0; 1024], [1024, 0, 0], Schedule::Late, 1).report.findings;
        let kinds: Vec<_> = found.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Deadlock], "{to}");
        found[0].message.clone()
    };
    let more = hopeless("[bar], %bytes;", "[bar], 1040;");
    assert!(more.contains("16 bytes that were announced have not come"), "{more}");
    let other = hopeless(
        "bra WAIT;",
        "bra WAIT; ON: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 1; @!%p bra ON;",
    );
    assert!(other.contains("nobody has arrived of 1"), "{other}");
    let none = hopeless(
        "mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;",
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %bytes;",
    );
    assert!(none.contains("nobody has arrived of 1"), "{none}");
}
