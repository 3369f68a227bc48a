//! `--strict`: what the hardware of today forgives is reported where somebody asks for it.

use crate::support::Desk;

/// All threads read a tile, and a bulk copy overwrites it behind a barrier, without a fence between proxies.
const TWICE: &str = "
.version 8.0
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[128];
.shared .align 8 .b64 full;
.visible .entry twice(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<8>; .reg .b64 %rd<6>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared::cta.b64 [full], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [full], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [full];
FIRST:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
    @!%p2 bra FIRST;
    ld.shared.b32 %r5, [%r4];
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [full], 128;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 128, [full];
SECOND:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 1;
    @!%p2 bra SECOND;
    ld.shared.b32 %r6, [%r4];
    add.u32 %r6, %r6, %r5;
    st.global.b32 [%rd2], %r6;
    ret;
}
";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("twice.ptx", TWICE);
    desk.put(
        "mended.ptx",
        &TWICE.replace(
            "    ld.shared.b32 %r5, [%r4];",
            "    ld.shared.b32 %r5, [%r4]; fence.proxy.async.shared::cta;",
        ),
    );
    desk
}

#[test]
fn explain_reports_it() {
    let desk = desk();
    let findings = |file: &str, strict: &str| {
        let report = desk
            .json(&format!("explain {file} --block 32 --arg from=u32[32]:range --arg to=u32[32] {strict}"));
        report["findings"].as_array().unwrap().clone()
    };
    let is_fence = |finding: &serde_json::Value| finding["kind"] == "proxy-fence";
    assert!(!findings("twice.ptx", "").iter().any(is_fence));
    assert!(!findings("mended.ptx", "--strict").iter().any(is_fence));
    let found = findings("twice.ptx", "--strict");
    let found: Vec<_> = found.into_iter().filter(is_fence).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    let text = found[0].to_string();
    for part in ["overwrites `tile`", "fence.proxy.async.shared::cta behind its loads", "warning"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn check_fails_on_it() {
    let desk = desk();
    let manifest = |file: &str, strict: &str| {
        format!(
            "[[kernel]]\nname = \"twice\"\nfile = \"{file}\"\nblock = 32\nargs = {{ from = \"u32[32]:range\", to = \"u32[32]\" }}\n\
             fail-on = \"warning\"\n{strict}\n"
        )
    };
    for (file, strict, code) in
        [("twice.ptx", "", 0), ("twice.ptx", "strict = true", 1), ("mended.ptx", "strict = true", 0)]
    {
        desk.put("tilewright.toml", &manifest(file, strict));
        let run = desk.run("check");
        assert_eq!(run.code, Some(code), "{file} {strict}: {}{}", run.out, run.err);
        assert_eq!(run.out.contains("proxy-fence"), code == 1, "{}", run.out);
    }
}
