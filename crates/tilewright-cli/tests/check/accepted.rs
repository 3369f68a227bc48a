//! What a project accepts: suppressions and baselines.

use super::{Project, REVERSE, RIGHT, WRONG};

#[test]
fn suppressions_accept_what_they_name() {
    let suppress = |more: &str| {
        let all = "[[suppress]]\nfinding = \"uninitialised-shared\"\nseverity = \"error\"\nreason = \"by the same race\"\n";
        let race = "[[kernel.suppress]]\nfinding = \"shared-race\"\nseverity = \"error\"\nreason = \"known: see 12\"\n";
        format!("{WRONG}{race}{more}\n{all}")
    };
    let project = Project::new(&suppress("file = \"missing_barrier.cu\"\nsource = \"tile[\"\n"));
    let run = project.run("");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert!(run.out.contains("2 findings suppressed"), "{}", run.out);
    let project = Project::new(&suppress("line = 1\n"));
    let run = project.run("");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("nothing needs the suppression of shared-race (known: see 12)"), "{}", run.out);
}

/// Misaligned either way: by half a word, which is a fault, or by a word, which costs sectors.
const SHIFTED: &str = r#"
.version 8.0
.target sm_80
.address_size 64

.visible .entry shifted(.param .u64 x, .param .u64 by)
{
    .reg .f32 %f<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;

    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [by];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd4, %rd4, %rd2;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd4], %f1;
    ret;
}
"#;

#[test]
fn a_suppression_of_an_advice_does_not_hide_a_fault_of_the_same_name() {
    let manifest = |by: u32, more: &str| {
        format!(
            "[[kernel]]\nname = \"shifted\"\nfile = \"shifted.ptx\"\nblock = 32\nargs = {{ x = \"f32[64]:ones\", by = {by} }}\n\
             [[kernel.suppress]]\nfinding = \"misaligned\"\nreason = \"no matter\"\n{more}"
        )
    };
    let project = Project::new("");
    project.0.put("shifted.ptx", SHIFTED);
    for (by, more, passes) in [
        (4, "", true),
        (4, "severity = \"advice\"\n", true),
        (4, "severity = \"error\"\n", true),
        (2, "", false),
        (2, "severity = \"advice\"\n", false),
        (2, "severity = \"error\"\n", true),
    ] {
        project.0.put("tilewright.toml", &manifest(by, more));
        let run = project.run("");
        assert_eq!(run.code, Some(i32::from(!passes)), "{by} {more}: {}{}", run.out, run.err);
        let told = run.out.contains("accepts no error; with severity = \"error\" it would");
        assert_eq!(told, by == 2 && more.is_empty(), "{by} {more}: {}", run.out);
    }
}

/// The kernel that shifts by some bytes: by 4 for the advice, by 2 for the fault.
fn shifted_by(by: u32, more: &str) -> String {
    format!(
        "[[kernel]]\nname = \"shifted\"\nfile = \"shifted.ptx\"\nblock = 32\n\
         args = {{ x = \"f32[64]:ones\", by = {by} }}\nfail-on = \"advice\"\n{more}"
    )
}

#[test]
fn accepting_misaligned_sectors_accepts_no_misaligned_access() {
    let project = Project::new("");
    project.0.put("shifted.ptx", SHIFTED);
    for (by, finding, severity, passes) in [
        (4, "misaligned-sectors", "advice", true),
        // As manifests had it while the advice had the name of the fault.
        (4, "misaligned", "advice", true),
        (4, "misaligned", "error", false),
        (2, "misaligned-sectors", "advice", false),
        (2, "misaligned-sectors", "error", false),
        (2, "misaligned", "error", true),
    ] {
        let suppress = format!(
            "[[kernel.suppress]]\nfinding = \"{finding}\"\nreason = \"no matter\"\nseverity = \"{severity}\"\n"
        );
        project.0.put("tilewright.toml", &shifted_by(by, &suppress));
        let run = project.run("");
        let what = format!("{by} {finding} {severity}: {}{}", run.out, run.err);
        assert_eq!(run.code, Some(i32::from(!passes)), "{what}");
    }
}

#[test]
fn a_baseline_with_misaligned_sectors_does_not_know_a_misaligned_access() {
    let project = Project::new("");
    project.0.put("shifted.ptx", SHIFTED);
    project.0.put("tilewright.toml", &shifted_by(4, ""));
    project.run("--write-baseline baseline.json");
    let same = project.run("--baseline baseline.json");
    assert_eq!(same.code, Some(0), "{}{}", same.out, same.err);
    project.0.put("tilewright.toml", &shifted_by(2, ""));
    let worse = project.run("--baseline baseline.json");
    assert_eq!(worse.code, Some(1), "{}{}", worse.out, worse.err);
    assert!(worse.out.contains("error misaligned: "), "{}", worse.out);
}

#[test]
fn a_baseline_knows_what_was_and_fails_on_what_is_worse() {
    let project = Project::new(WRONG);
    assert_eq!(project.run("--write-baseline baseline.json").code, Some(1));
    let known = project.run("--baseline baseline.json");
    assert_eq!(known.code, Some(0), "{}", known.out);
    assert!(known.out.contains("2 findings known before"), "{}", known.out);
    // Another fault is new, and so is a larger number.
    project.0.put(
        "tilewright.toml",
        &WRONG
            .replace("\"reversed_tile_faulty\"", "\"transposed_block_faulty\"")
            .replace("data = \"f32[64]:range\" }\n", "data = \"f32[256]:range\" }\n")
            .replace("expect", "# expect")
            .replacen("block = 64", "block = [16, 4]", 2),
    );
    let new = project.run("--baseline baseline.json");
    assert_eq!(new.code, Some(1), "{}", new.out);
    let project = Project::new(RIGHT);
    project.run("--write-baseline baseline.json");
    project
        .0
        .put("reverse.ptx", &REVERSE.replace("    ret;", "    st.global.f32 [%rd6+1020], %f3;\n    ret;"));
    let worse = project.run("--baseline baseline.json");
    assert_eq!(worse.code, Some(1), "{}", worse.out);
    assert!(worse.out.contains("worse: reverse: warp_instructions was "), "{}", worse.out);
    project.0.put("baseline.json", "{}");
    assert_eq!(project.run("--baseline baseline.json").code, Some(3));
}
