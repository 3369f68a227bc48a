//! Predicted machine code: what `ptxas -O3` was seen to issue for the same PTX (version 13.0, `sm_90`).

use tilewright_emulator::{Launch, Machine, OptimisedAccesses, Program};

/// One warp executes `body`. `%r4` is an address in `s` for each thread, 128 bytes apart, `%r8` the same in `u`; both are aligned.
fn run(declarations: &str, body: &str) -> [OptimisedAccesses; 2] {
    let ptx = format!(
        ".version 9.0 .target sm_90 .address_size 64
        .visible .entry k(.param .u64 p, .param .u32 n) {{
            .reg .pred %p<9>; .reg .f32 %f<99>; .reg .f64 %d<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<9>;
            {declarations}
            .shared .align 4 .b8 s[8192]; .shared .align 4 .b8 u[8192];
            ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n];
            mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 7; add.s32 %r4, %r2, %r3;
            mov.u32 %r7, u; add.s32 %r8, %r7, %r3;
            {body}
            mov.u32 %r80, s; mov.u32 %r81, u; ret;
        }}"
    );
    let mut machine = Machine::new(Program::new(&ptx).unwrap());
    let memory = machine.allocate(4096).unwrap();
    let launch = Launch::new([1, 1, 1], [32, 1, 1]).arg(memory).arg(5u32);
    let counters = machine.launch("k", &launch).unwrap().counters;
    assert!(counters.shared_load.requests + counters.shared_store.requests > 1, "{body}");
    [counters.shared_load.optimised, counters.shared_store.optimised]
}

/// Loads of 4 bytes at these offsets from a register.
fn loads(base: &str, offsets: &[i32]) -> String {
    offsets.iter().map(|offset| format!("ld.shared.f32 %f{}, [{base}+{offset}];\n", offset & 31)).collect()
}

fn stores(base: &str, offsets: &[i32]) -> String {
    offsets.iter().map(|offset| format!("st.shared.f32 [{base}+{offset}], %f1;\n")).collect()
}

fn issued(body: &str) -> [u64; 2] {
    run("", body).map(|side| side.requests)
}

#[test]
fn neighbours_in_an_aligned_place_are_one_access() {
    for (offsets, expected) in [
        (&[0, 4, 8, 12][..], 1),
        (&[12, 4, 0, 8], 1),
        // Three of four: one word is fetched for nothing.
        (&[0, 4, 8], 1),
        (&[4, 8, 12, 16], 2),
        (&[0, 4, 12, 20, 24, 28], 2),
        (&[8, 12], 1),
        // No place of two begins at 4.
        (&[4, 8], 2),
        (&[0, 8], 2),
        (&[0, 12], 2),
        (&[0, 0], 1),
    ] {
        assert_eq!(issued(&loads("%r4", offsets)), [expected, 0], "{offsets:?}");
    }
    for (offsets, expected) in
        [(&[0, 4, 8, 12][..], 1), (&[12, 8, 4, 0], 1), (&[0, 4, 8], 2), (&[4, 8, 12], 2), (&[0, 4, 12], 2)]
    {
        assert_eq!(issued(&stores("%r4", offsets)), [0, expected], "{offsets:?}");
    }
}

#[test]
fn wavefronts_are_those_of_the_wide_access() {
    // Rows of 32 words: a load of 4 bytes has 32 lanes in one bank, one of 16 bytes 8 lanes of a quarter warp.
    let [wide, _] = run("", &loads("%r4", &[0, 4, 8, 12]));
    assert_eq!(wide, OptimisedAccesses { requests: 1, wavefronts: 32 });
    // All lanes read the same words: a uniform load of 16 bytes takes two wavefronts.
    let [uniform, _] = run("", &loads("%r2", &[0, 4, 8, 12]));
    assert_eq!(uniform, OptimisedAccesses { requests: 1, wavefronts: 2 });
}

#[test]
fn some_things_cannot_be_crossed() {
    let (first, second) = (loads("%r4", &[0]), loads("%r4", &[4]));
    for (between, expected) in [
        ("st.shared.f32 [%r8], %f1;", 2),
        ("bar.sync 0;", 2),
        ("bar.warp.sync -1;", 2),
        ("membar.cta;", 2),
        ("atom.shared.add.u32 %r20, [%r8], 1;", 2),
        ("st.f32 [%rd1], %f1;", 2),
        ("st.global.f32 [%rd1], %f1;", 1),
        ("ld.f32 %f9, [%rd1];", 1),
        ("shfl.sync.down.b32 %r20, %r1, 1, 31, -1;", 1),
        ("atom.global.add.u32 %r20, [%rd1], 1;", 1),
    ] {
        assert_eq!(issued(&format!("{first}{between}{second}"))[0], expected, "{between}");
    }
    let (first, second) = (stores("%r4", &[0]), stores("%r4", &[4]));
    for (between, expected) in [
        ("ld.shared.f32 %f9, [%r8];", 2),
        ("st.shared.f32 [%r8], %f1;", 3),
        ("ld.global.f32 %f9, [%rd1];", 1),
    ] {
        assert_eq!(issued(&format!("{first}{between}{second}"))[1], expected, "{between}");
    }
    let [first, second] = ["[%r4]", "[%r4+4]"].map(|at| format!("ld.volatile.shared.f32 %f1, {at};"));
    assert_eq!(issued(&format!("{first}{second}"))[0], 2);
    // In two blocks.
    let jump = "setp.gt.s32 %p1, %r1, 3; @%p1 bra L; mov.f32 %f8, %f1; L:";
    let both = format!("{}{jump}{}", loads("%r4", &[0]), loads("%r4", &[4]));
    assert_eq!(issued(&both)[0], 2);
}

#[test]
fn alignment_follows_from_the_arithmetic_of_the_address() {
    let four = |base: &str| loads(base, &[0, 4, 8, 12]);
    for (address, expected) in [
        ("shl.b32 %r20, %r1, 4; add.s32 %r21, %r2, %r20;", 1),
        ("mul.lo.s32 %r20, %r9, 16; add.s32 %r21, %r2, %r20;", 1),
        ("shl.b32 %r20, %r9, 3; add.s32 %r21, %r2, %r20;", 2),
        ("mul.lo.s32 %r20, %r1, 20; add.s32 %r21, %r2, %r20;", 4),
        ("and.b32 %r20, %r9, -4; shl.b32 %r22, %r20, 2; add.s32 %r21, %r2, %r22;", 1),
        // Two sums of multiples of 8 are one of 16 that nobody notices.
        ("shl.b32 %r20, %r1, 3; add.s32 %r22, %r2, %r20; add.s32 %r21, %r22, %r20;", 2),
        // A constant is no part of the base.
        ("add.s32 %r21, %r4, 16;", 1),
    ] {
        assert_eq!(issued(&format!("{address}{}", four("%r21")))[0], expected, "{address}");
    }
    // 64-bit addresses, and a constant in a register of its own.
    let wide =
        "mov.u64 %rd2, s; mul.wide.u32 %rd3, %r1, 128; add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd4, 4;
                ld.shared.f32 %f1, [%rd4]; ld.shared.f32 %f2, [%rd5];";
    assert_eq!(issued(wide)[0], 1);
    // Variables lie one behind the other, if something uses them.
    let behind = format!("mov.u32 %r30, t; {}", loads("%r2", &[0, 4, 8, 12]));
    assert_eq!(run(".shared .align 4 .b8 t[12];", &behind)[0].requests, 4);
    assert_eq!(run(".shared .align 4 .b8 t[12];", &loads("%r2", &[0, 4, 8, 12]))[0].requests, 1);
}

#[test]
fn elements_of_other_sizes() {
    for (body, expected) in [
        ("ld.shared.f64 %d1, [%r4]; ld.shared.f64 %d2, [%r4+8];", 1),
        ("ld.shared.f64 %d1, [%r4]; ld.shared.f32 %f2, [%r4+8]; ld.shared.f32 %f3, [%r4+12];", 2),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r4]; ld.shared.f32 %f3, [%r4+8]; ld.shared.f32 %f4, [%r4+12];", 1),
        (
            "ld.shared.b16 %h1, [%r4]; ld.shared.b16 %h2, [%r4+2]; cvt.f32.f16 %f1, %h1; cvt.f32.f16 %f2, %h2;",
            1,
        ),
        (
            "ld.shared.u16 %h1, [%r4]; ld.shared.u16 %h2, [%r4+2]; cvt.u32.u16 %r20, %h1; cvt.u32.u16 %r21, %h2;",
            2,
        ),
        ("ld.shared.u8 %r20, [%r4]; ld.shared.u8 %r21, [%r4+1];", 2),
    ] {
        assert_eq!(issued(body)[0], expected, "{body}");
    }
    let halves: String = (0..8).map(|i| format!("st.shared.b16 [%r4+{}], %h1;", 2 * i)).collect();
    assert_eq!(issued(&halves)[1], 2, "at most four elements");
}

/// A loop that moves an address by `step` bytes, `iterations` times, with `work` more instructions.
fn repeat(pragma: &str, iterations: u32, step: u32, work: usize) -> String {
    let work = "fma.rn.f32 %f5, %f1, %f1, %f5;".repeat(work);
    format!(
        "mov.u32 %r10, 0; mov.u32 %r11, %r4;
         L: {pragma} ld.shared.f32 %f1, [%r11]; {work}
         add.s32 %r11, %r11, {step}; add.s32 %r10, %r10, 1; setp.ne.s32 %p1, %r10, {iterations}; @%p1 bra L;"
    )
}

#[test]
fn small_loops_are_unrolled_before() {
    assert_eq!(issued(&repeat("", 8, 4, 4))[0], 2);
    assert_eq!(issued(&repeat("", 8, 8, 4))[0], 8);
    assert_eq!(issued(&repeat("", 8, 4, 90))[0], 8, "too much code");
    assert_eq!(issued(&repeat(".pragma \"nounroll\";", 8, 4, 4))[0], 8);
    // The loop stays, and its address is aligned to the step alone.
    assert_eq!(
        issued(
            &repeat(".pragma \"nounroll\";", 8, 16, 4)
                .replace("[%r11];", "[%r11]; ld.shared.f32 %f2, [%r11+4];")
        )[0],
        8
    );
    let number_of_iterations = repeat("", 8, 4, 4).replace("%r10, 8;", "%r10, %r9;");
    assert_eq!(issued(&number_of_iterations)[0], 5, "as many as an argument says");
}
