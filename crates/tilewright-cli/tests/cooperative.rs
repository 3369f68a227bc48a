//! Launches whose blocks wait for each other.

use crate::support::Desk;

/// Every block counts itself, waits until all have, and writes the count. Like `grid.sync()`, it traps where no place to meet is given.
const MEET: &str = ".version 8.0
.target sm_70
.address_size 64
.visible .entry meet(.param .u64 count, .param .u64 seen)
{
    .reg .b32 %r<8>; .reg .b64 %rd<6>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [count];
    ld.param.u64 %rd2, [seen];
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    or.b32 %r1, %r1, %r2;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra MEET;
    trap;
MEET:
    mov.u32 %r3, %nctaid.x;
    mov.u32 %r4, %ctaid.x;
    red.release.gpu.global.add.u32 [%rd1], 1;
AGAIN:
    ld.acquire.gpu.global.u32 %r5, [%rd1];
    setp.lt.u32 %p1, %r5, %r3;
    @%p1 bra AGAIN;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r5;
    ret;
}
";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("meet.ptx", MEET);
    desk
}

const EXPLAIN: &str = "explain meet.ptx --block 1 --arg count=u32[1]:zeros --arg seen=u32[4096]:zeros";

#[test]
fn a_kernel_that_meets_as_a_grid_needs_a_cooperative_launch() {
    let desk = desk();
    let report = desk.json(&format!("{EXPLAIN} --grid 6 --cooperative --values seen"));
    let seen = report["arrays"][0]["values"].as_array().unwrap();
    assert_eq!(seen.iter().filter(|value| **value == 6).count(), 6);

    let alone = desk.run(&format!("{EXPLAIN} --grid 6"));
    assert_eq!(alone.code, Some(1), "{}", alone.err);
    assert!(alone.out.contains("its launch is not cooperative"), "{}", alone.out);
    // What is to be pasted says so.
    let pasted = desk.run("explain meet.ptx");
    assert!(pasted.err.contains("--cooperative"), "{}", pasted.err);
}

#[test]
fn blocks_that_are_not_on_the_gpu_at_once_are_refused() {
    let run = desk().run(&format!("{EXPLAIN} --grid 100000 --cooperative --gpu h200"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.out.contains("a cooperative launch needs all 100000 blocks"), "{}", run.out);
}

#[test]
fn kernels_of_the_catalogue_choose_their_launch() {
    let run = desk().run("explain naive --cooperative");
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert!(run.err.contains("--cooperative"), "{}", run.err);
}

#[test]
fn a_manifest_says_which_launches_are() {
    let desk = desk();
    let manifest = |line: &str| {
        format!(
            "[[kernel]]\nname = \"meet\"\nfile = \"meet.ptx\"\ngrid = 6\nblock = 1\n{line}\n[kernel.args]\ncount = \"u32[1]:zeros\"\nseen = \"u32[6]:zeros\"\n"
        )
    };
    for (line, code, words) in [
        ("cooperative = true", 0, ""),
        ("cooperative = false", 1, "its launch is not cooperative"),
        ("cooperative = 1", 2, "true or false"),
    ] {
        desk.put("kernels.toml", &manifest(line));
        let run = desk.run("check kernels.toml");
        assert_eq!(run.code, Some(code), "{line}: {}{}", run.out, run.err);
        assert!((run.out.clone() + &run.err).contains(words), "{line}: {}{}", run.out, run.err);
    }
}
