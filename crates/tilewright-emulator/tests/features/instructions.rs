//! Instructions and declarations that real modules have, one a row, with the value that each thread is to get. Where there is a `ptxas`, it
//! has to take every row too.

use super::{HEAD, entry};
use tilewright_emulator::{BlockOrderPolicy, Launch, LaunchError, LaunchOptions, Machine, Program};
use tilewright_toolchain::{Architecture, Ptxas};

/// What it shows, what stands before the entry, its body, and the value of thread `t`.
type Row = (&'static str, &'static str, &'static str, fn(u64) -> u64);

const ROWS: &[Row] = &[
    (
        "vector variables, by element and as a whole",
        "",
        ".reg .v4 .u32 v, w; mov.u32 v.x, %tid.x; mov.u32 v.y, 10; mov.u32 v.z, 20; mov.u32 v.w, 30;
         mov.v4.u32 w, v; mov.v2.u32 {w.x, w.y}, {w.y, w.x}; sub.u32 %r2, w.x, w.y; cvt.u64.u32 %out, %r2;",
        |t| 10u64.wrapping_sub(t) & 0xffff_ffff,
    ),
    (
        "vector variables in memory, and colours as names of elements",
        ".global .align 16 .u32 table[4] = {3, 5, 7, 11};",
        ".reg .v4 .u32 v; ld.global.v4.u32 v, [table]; mad.lo.u32 %r2, v.r, v.g, v.b; cvt.u64.u32 %out, v.a; add.u64 %out, %out, 0;
         cvt.u64.u32 %rd2, %r2; mad.lo.u64 %out, %rd2, 100, %out;",
        |_| 2211,
    ),
    (
        "ranges of vector variables, packed into one register",
        "",
        ".reg .v2 .b32 v<3>; mov.u32 v2.x, %tid.x; mov.u32 v2.y, 1; mov.b64 %out, v2;",
        |t| 1 << 32 | t,
    ),
    (
        "functions with registers as parameters and results",
        ".func (.reg .u32 sum, .reg .pred odd) f(.reg .u32 a, .reg .v2 .u16 b) {
            .reg .u32 x; .reg .u32 y;
            cvt.u32.u16 x, b.x; cvt.u32.u16 y, b.y; mad.lo.u32 sum, a, x, y;
            and.b32 x, sum, 1; setp.ne.u32 odd, x, 0;
            @odd ret;
            add.u32 sum, sum, 1000;
         }",
        ".reg .v2 .u16 v; mov.u16 v.x, 3; mov.u16 v.y, 1; mov.u32 %r1, %tid.x;
         call (%r2, %p), f, (%r1, v); selp.u32 %r3, 1, 0, %p; mov.b64 %out, {%r2, %r3};",
        |t| if (3 * t + 1) % 2 == 1 { 1 << 32 | (3 * t + 1) } else { 3 * t + 1001 },
    ),
    (
        "a carry is set where a subtraction does not borrow",
        "",
        "mov.u32 %r1, %tid.x; sub.cc.u32 %r2, %r1, 5; addc.u32 %r3, 0, 0; mov.b64 %out, {%r2, %r3};",
        |t| t.wrapping_sub(5) & 0xffff_ffff | u64::from(t >= 5) << 32,
    ),
    (
        "a borrow goes through a chain of subtractions",
        "",
        "mov.u32 %r1, %tid.x; sub.cc.u32 %r2, %r1, 7; subc.u32 %r3, 9, 2; mov.b64 %out, {%r2, %r3};",
        |t| (9 << 32 | t).wrapping_sub(2 << 32 | 7),
    ),
    (
        "loads and stores without a space, of variables by name",
        ".const .u32 seven = 7; .global .u32 eight = 8;",
        ".shared .u32 s[40]; .local .u32 l[2]; mov.u32 %r1, %tid.x;
         st.u32 [l+4], 5; st.u32 [s], 9; ld.u32 %r2, [l+4]; ld.u32 %r3, [s];
         add.u32 %r2, %r2, %r3; ld.u32 %r3, [eight]; add.u32 %r2, %r2, %r3; cvt.u64.u32 %out, %r2;",
        |_| 22,
    ),
    (
        "a register and a number as an operand",
        "",
        ".local .u64 l; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; st.local.u64 [l], %rd2+5; ld.local.u64 %out, [l];",
        |t| t + 5,
    ),
    (
        "128 bits in a register",
        ".global .align 16 .u64 pair[2] = {3, 4};",
        ".reg .b128 %q<3>; .reg .b64 %h; ld.global.b128 %q0, [pair]; mov.b128 %q1, %q0; mov.b128 {%out, %h}, %q1;
         mad.lo.u64 %out, %out, 10, %h; mov.b128 %q2, {%h, %out}; mov.b128 {%h, %out}, %q2;",
        |_| 34,
    ),
    (
        "policies of caches",
        "",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd2, 0.5;
         createpolicy.range.L2::evict_last.L2::evict_first.b64 %rd3, [%rd1], 4096, 8192;
         ld.global.L2::cache_hint.u64 %out, [%rd1], %rd2; mov.u64 %out, 1;",
        |_| 1,
    ),
    (
        "atomics of vectors",
        ".global .align 16 .f32 sums[4] = {0f00000000, 0f00000000, 0f3F800000, 0f00000000};",
        ".reg .f32 %f<8>; .reg .pred %first; mov.u32 %r1, %tid.x; setp.eq.u32 %first, %r1, 0;
         @%first atom.global.v4.f32.add {%f0, %f1, %f2, %f3}, [sums], {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
         @%first red.global.v2.f32.add [sums+8], {0f3F800000, 0f3F800000};
         bar.sync 0; ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [sums];
         fma.rn.f32 %f4, %f4, 0f41200000, %f5; fma.rn.f32 %f4, %f4, 0f41200000, %f6; fma.rn.f32 %f4, %f4, 0f41200000, %f7;
         cvt.rzi.u64.f32 %out, %f4;",
        |_| 1255,
    ),
    (
        "compare and swap of 128 bits",
        ".global .align 16 .u64 wide[2] = {5, 6};",
        ".reg .b128 %o, %e, %w; .reg .b64 %l, %h; .reg .pred %first; mov.u32 %r1, %tid.x; setp.eq.u32 %first, %r1, 0;
         mov.u64 %l, 5; mov.u64 %h, 6; mov.b128 %e, {%l, %h}; mov.b128 %w, {%h, %l};
         @%first atom.global.cas.b128 %o, [wide], %e, %w;
         @%first atom.global.cas.b128 %o, [wide], %e, %e;
         bar.sync 0; ld.global.v2.u64 {%out, %h}, [wide]; mad.lo.u64 %out, %out, 10, %h;",
        |_| 65,
    ),
    (
        "loads that are the same for all threads, and hints for caches and tools",
        ".global .align 16 .u32 same[4] = {3, 5, 7, 11};",
        "ldu.global.u32 %r2, [same+8]; prefetch.global.L1 [%rd1]; prefetchu.L1 [%rd1]; cp.async.bulk.prefetch.L2.global [same], 16;
         .reg .b64 %line; and.b64 %line, %rd1, -128; discard.global.L2 [%line], 128; applypriority.global.L2::evict_normal [%line], 128;
         pmevent 3; brkpt; activemask.b32 %r3; bar.warp.sync %r3; bar.sync 0; cvt.u64.u32 %out, %r2;",
        |_| 7,
    ),
    (
        "a carry goes into the high half of a product",
        "",
        "mov.u32 %r1, %tid.x; mad.lo.cc.u32 %r2, %r1, 0xffffffff, 5; madc.hi.u32 %r3, %r1, 0xffffffff, 0; mov.b64 %out, {%r2, %r3};",
        |t| t * 0xffff_ffff + 5,
    ),
    (
        "the rows of a matrix from registers to shared memory",
        "",
        ".shared .align 16 .b8 rows[128]; .reg .b32 %at; mov.u32 %r1, %laneid; mul.lo.u32 %r2, %r1, 0x20002; add.u32 %r2, %r2, 0x10000;
         activemask.b32 %r3; setp.ne.u32 %p, %r3, -1; mov.u64 %out, 0; @%p bra END;
         mov.u32 %r3, rows; and.b32 %at, %r1, 7; shl.b32 %at, %at, 4; add.u32 %at, %at, %r3;
         stmatrix.sync.aligned.m8n8.x1.shared.b16 [%at], {%r2}; bar.warp.sync -1;
         shl.b32 %at, %r1, 2; add.u32 %at, %at, %r3; ld.shared.u32 %r2, [%at]; cvt.u64.u32 %out, %r2; END:",
        |t| if t < 32 { t * 0x20002 + 0x10000 } else { 0 },
    ),
    (
        "the transpose of a matrix in registers",
        "",
        "mov.u32 %r1, %laneid; mul.lo.u32 %r2, %r1, 0x20002; add.u32 %r2, %r2, 0x10000; activemask.b32 %r3; setp.ne.u32 %p, %r3, -1;
         mov.u64 %out, 0; @%p bra END; movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2; cvt.u64.u32 %out, %r3; END:",
        |t| if t < 32 { (16 * (t % 4) + t / 4) * 0x10001 + (8 << 16) } else { 0 },
    ),
    (
        "reductions of magnitudes in a warp",
        "",
        ".reg .f32 %f<3>; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; neg.f32 %f1, %f1; activemask.b32 %r3;
         redux.sync.max.abs.NaN.f32 %f2, %f1, %r3; cvt.rzi.u64.f32 %out, %f2;",
        |t| if t < 32 { 31 } else { 39 },
    ),
    (
        "memory that a function takes as it runs",
        "",
        ".reg .u64 %s, %a, %b; stacksave.u64 %s; alloca.u64 %a, 24, 16; alloca.u64 %b, 8;
         mov.u32 %r1, %tid.x; st.local.u32 [%a+16], %r1; st.local.u32 [%b], 7; ld.local.u32 %r2, [%a+16]; cvt.u64.u32 %out, %r2;
         sub.u64 %b, %b, %a; mad.lo.u64 %out, %b, 1000, %out; stackrestore.u64 %s; alloca.u64 %b, 8, 16; sub.u64 %b, %b, %a; add.u64 %out, %out, %b;",
        |t| 24000 + t,
    ),
    (
        "no workspace without a cooperative launch",
        "",
        "mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %out, {%r3, %r2};",
        |_| 0,
    ),
    (
        "a barrier in memory, by state and by parity",
        "",
        ".shared .b64 b; .reg .pred %first, %over; .reg .b64 %s; mov.u32 %r1, %tid.x; setp.eq.u32 %first, %r1, 0;
         @%first mbarrier.init.shared::cta.b64 [b], 41; bar.sync 0;
         mbarrier.arrive.release.cta.shared::cta.b64 %s, [b];
         @%first mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [b], 16;
         @%first mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 16;
         AGAIN: mbarrier.try_wait.acquire.cta.shared::cta.b64 %over, [b], %s, 1000; @!%over bra AGAIN;
         mbarrier.test_wait.parity.shared.b64 %over, [b], 1; selp.u32 %r2, 1, 0, %over;
         mbarrier.test_wait.parity.shared.b64 %over, [b], 0; selp.u32 %r3, 10, 0, %over; add.u32 %r2, %r2, %r3;
         bar.sync 0; @%first mbarrier.arrive_drop.shared.b64 %s, [b]; mbarrier.pending_count.b64 %r3, %s;
         @%first mbarrier.inval.shared.b64 [b]; selp.u32 %r3, %r3, 0, %first; mad.lo.u32 %r2, %r3, 100, %r2; cvt.u64.u32 %out, %r2;",
        |t| if t == 0 { 4110 } else { 10 },
    ),
];

/// Threads of the launch: a warp and a part of one.
const THREADS: u32 = 40;

fn module(row: &Row) -> String {
    format!("{HEAD}{}\n{}", row.1, entry("k", row.2))
}

#[test]
fn have_their_values() {
    for row in ROWS {
        let program = Program::new(&module(row)).unwrap_or_else(|error| panic!("{}: {error}", row.0));
        let mut machine = Machine::new(program);
        let to = machine.allocate(8 * u64::from(THREADS)).unwrap();
        let launch = Launch::new([1; 3], [THREADS, 1, 1]).dynamic_shared(512).arg(to);
        let report = machine.launch("k", &launch).unwrap();
        assert!(report.error.is_none(), "{}: {:?}", row.0, report.error);
        let found: Vec<u64> = machine.download(to, THREADS as usize).unwrap();
        let wanted: Vec<u64> = (0..u64::from(THREADS)).map(row.3).collect();
        assert_eq!(found, wanted, "{}", row.0);
    }
}

#[test]
fn are_ptx_that_the_assembler_takes() {
    let Ok(ptxas) = Ptxas::find() else { return };
    // A module for those with functions, since the assembler, which takes longer to start than to read them, goes without its ABI where a function has
    // several results, and then comes to no end where one takes memory as it runs.
    let texts = ROWS.iter().enumerate().map(|(number, row)| {
        (row.1.contains(".func"), format!("{}\n{}", row.1, entry(&format!("k{number}"), row.2)))
    });
    let clusters = CLUSTER_ROWS.iter().enumerate();
    let texts = texts.chain(clusters.map(|(number, row)| (false, entry(&format!("c{number}"), row.1))));
    let (functions, others): (Vec<_>, Vec<_>) = texts.partition(|(has_function, _)| *has_function);
    let architecture = "sm_100a".parse::<Architecture>().unwrap();
    for rows in [functions, others] {
        let text: String = rows.into_iter().map(|(_, text)| text).collect();
        ptxas.assemble("rows", &format!("{HEAD}{text}"), architecture).unwrap();
    }
}

#[test]
fn what_is_not_there_yet_is_called_by_its_name() {
    let rows: &[(&str, &str)] = &[
        ("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r1}, %rd1, %rd1, %r1, 0, 1;", "sparse"),
        ("tcgen05.wait::ld.sync.aligned;", "fifth-generation tensor cores"),
        ("multimem.red.global.add.f32 [%rd1], 0f00000000;", "several GPUs"),
    ];
    for (instruction, what) in rows {
        let program = Program::new(&format!("{HEAD}{}", entry("k", instruction))).unwrap();
        let refused: Vec<_> = program.unsupported().collect();
        let [(_, _, why)] = refused[..] else { panic!("{instruction}: {refused:?}") };
        assert!(why.contains(what) && why.ends_with("not supported yet"), "{instruction}: {why}");
    }
}

#[test]
fn all_blocks_of_a_cooperative_launch_meet() {
    // As `grid.sync()` does it: the first block adds so much that the highest bit changes when all have come.
    let body = "
        .reg .b64 %w; .reg .b32 %n, %old, %now; .reg .pred %first, %block;
        mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %w, {%r3, %r2};
        mov.u32 %r1, %tid.x; setp.eq.u32 %first, %r1, 0; mov.u32 %r2, %ctaid.x; setp.eq.u32 %block, %r2, 0;
        st.global.u64 [%rd1], 1;
        barrier.sync 0;
        mov.u32 %n, %nctaid.x; sub.u32 %n, 0x80000001, %n; selp.u32 %n, %n, 1, %block;
        @!%first bra MET;
        atom.add.release.gpu.u32 %old, [%w+4], %n;
        AGAIN: ld.acquire.gpu.u32 %now, [%w+4]; xor.b32 %now, %now, %old; setp.ge.s32 %p, %now, 0; @%p bra AGAIN;
        MET: barrier.sync 0;
        ld.param.u64 %rd2, [to]; ld.global.u64 %out, [%rd2]; ld.global.u64 %rd3, [%rd2+1272]; mad.lo.u64 %out, %out, 10, %rd3;
        barrier.sync 0; add.u64 %rd1, %rd1, 1280;";
    let mut machine = Machine::new(Program::new(&format!("{HEAD}{}", entry("k", body))).unwrap());
    let to = machine.allocate(8 * 320).unwrap();
    let options = LaunchOptions { order: BlockOrderPolicy::Cooperative, ..LaunchOptions::default() };
    let launch = Launch::new([4, 1, 1], [THREADS, 1, 1]).arg(to).options(options);
    for _ in 0..2 {
        let report = machine.launch("k", &launch).unwrap();
        assert!(
            report.error.is_none() && report.findings.is_empty(),
            "{:?} {:?}",
            report.error,
            report.findings
        );
        assert_eq!(machine.download::<u64>(to, 320).unwrap()[160..], [11; 160]);
    }
}

/// What blocks of a cluster do with each other, and what thread `t` of block `b` gets; clusters have four blocks.
type ClusterRow = (&'static str, &'static str, fn(u64, u64) -> u64);

const CLUSTER_ROWS: &[ClusterRow] = &[
    (
        "loads, stores and atomics of shared memory of other blocks",
        ".shared .u32 s[40], sum; .reg .b32 %rank, %next, %a;
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 100, %r1;
         shl.b32 %r3, %r1, 2; mov.u32 %a, s; add.u32 %a, %a, %r3; st.shared.u32 [%a], %r2; setp.eq.u32 %p, %r1, 0; @%p st.shared.u32 [sum], 0;
         barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
         mov.u32 %rank, %cluster_ctarank; add.u32 %next, %rank, 1; and.b32 %next, %next, 3;
         mapa.shared::cluster.u32 %r3, %a, %next; ld.shared::cluster.u32 %r2, [%r3];
         mov.u32 %r1, sum; mapa.shared::cluster.u32 %r1, %r1, 2; atom.shared::cluster.add.u32 %r3, [%r1], 1;
         barrier.cluster.arrive; barrier.cluster.wait;
         ld.shared.u32 %r3, [sum]; mad.lo.u32 %r2, %r3, 10000, %r2; cvt.u64.u32 %out, %r2;",
        |b, t| (b / 4 * 4 + (b + 1) % 4) * 100 + t + if b % 4 == 2 { 160 * 10000 } else { 0 },
    ),
    (
        "addresses of other blocks say whose they are",
        ".shared .u64 s; .reg .b64 %g, %m; .reg .b32 %rank, %of; .reg .pred %own;
         mov.u32 %rank, %cluster_ctarank; xor.b32 %r2, %rank, 1; mov.u64 %g, s; cvta.shared.u64 %g, %g;
         mapa.u64 %m, %g, %r2; getctarank.u64 %of, %m; cvt.u64.u32 %out, %of;
         getctarank.u64 %of, %g; mul.wide.u32 %rd2, %of, 10; add.u64 %out, %out, %rd2;
         isspacep.shared::cluster %p, %m; selp.u64 %rd2, 100, 0, %p; add.u64 %out, %out, %rd2;
         isspacep.shared::cta %own, %m; selp.u64 %rd2, 1000, 0, %own; add.u64 %out, %out, %rd2;
         isspacep.shared %own, %g; selp.u64 %rd2, 10000, 0, %own; add.u64 %out, %out, %rd2;
         mov.pred %p, %is_explicit_cluster; selp.u64 %rd2, 100000, 0, %p; add.u64 %out, %out, %rd2;
         mov.u32 %r2, %clusterid.x; mad.wide.u32 %out, %r2, 1000000, %out; mov.u32 %r2, %cluster_nctarank; mad.wide.u32 %out, %r2, 10000000, %out;",
        |b, _| ((b % 4) ^ 1) + 10 * (b % 4) + 110_100 + b / 4 * 1_000_000 + 40_000_000,
    ),
    (
        "reductions in other blocks, for which an mbarrier waits",
        ".shared .u32 sum; .shared .b64 b; .reg .b32 %rank, %to, %at, %d; .reg .pred %first, %over;
         mov.u32 %r1, %tid.x; setp.eq.u32 %first, %r1, 0;
         @%first mbarrier.init.shared::cta.b64 [b], 1; @%first st.shared.u32 [sum], 1000; fence.mbarrier_init.release.cluster;
         barrier.cluster.arrive; barrier.cluster.wait;
         @%first mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [b], 160;
         mov.u32 %rank, %cluster_ctarank; add.u32 %to, %rank, 1; and.b32 %to, %to, 3;
         mov.u32 %at, b; mapa.shared::cluster.u32 %at, %at, %to; mov.u32 %d, sum; mapa.shared::cluster.u32 %d, %d, %to;
         red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%d], %r1, [%at];
         AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %over, [b], 0; @!%over bra AGAIN;
         ld.shared.u32 %r2, [sum]; cvt.u64.u32 %out, %r2;
         barrier.cluster.arrive; barrier.cluster.wait;",
        |_, _| 1000 + 780,
    ),
    (
        "an mbarrier that other blocks arrive at, and stores that it waits for",
        ".shared .u64 data[40]; .shared .b64 b; .reg .b32 %rank, %to, %at, %d; .reg .b64 %v; .reg .pred %first, %over;
         mov.u32 %r1, %tid.x; setp.eq.u32 %first, %r1, 0;
         @%first mbarrier.init.shared::cta.b64 [b], 41; fence.mbarrier_init.release.cluster;
         barrier.cluster.arrive; barrier.cluster.wait;
         @%first mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [b], 320;
         mov.u32 %rank, %cluster_ctarank; add.u32 %to, %rank, 3; and.b32 %to, %to, 3;
         mov.u32 %at, b; mapa.shared::cluster.u32 %at, %at, %to; mov.u32 %d, data; mapa.shared::cluster.u32 %d, %d, %to;
         shl.b32 %r2, %r1, 3; add.u32 %d, %d, %r2; mad.lo.u32 %r3, %rank, 100, %r1; cvt.u64.u32 %v, %r3;
         st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%d], %v, [%at];
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%at];
         AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %over, [b], 0; @!%over bra AGAIN;
         mov.u32 %d, data; add.u32 %d, %d, %r2; ld.shared.u64 %out, [%d];
         barrier.cluster.arrive; barrier.cluster.wait;",
        |b, t| (b + 1) % 4 * 100 + t,
    ),
];

#[test]
fn blocks_of_a_cluster_reach_each_other() {
    for (what, body, wanted) in CLUSTER_ROWS {
        let mut machine = Machine::new(Program::new(&format!("{HEAD}{}", entry("k", body))).unwrap());
        let to = machine.allocate(8 * 320).unwrap();
        let launch = Launch::new([8, 1, 1], [THREADS, 1, 1]).cluster([4, 1, 1]).arg(to);
        let report = machine.launch("k", &launch).unwrap();
        assert!(
            report.error.is_none() && report.findings.is_empty(),
            "{what}: {:?} {:?}",
            report.error,
            report.findings
        );
        let wanted: Vec<u64> = (0..320).map(|i| wanted(i / 40, i % 40)).collect();
        assert_eq!(machine.download::<u64>(to, 320).unwrap(), wanted, "{what}");
    }
    let mut machine = Machine::new(Program::new(&format!("{HEAD}{}", entry("k", ""))).unwrap());
    let to = machine.allocate(8 * 320).unwrap();
    for (grid, cluster) in [(6, [4, 1, 1]), (32, [32, 1, 1]), (4, [0, 1, 1])] {
        let launch = Launch::new([grid, 1, 1], [1, 1, 1]).cluster(cluster).arg(to);
        let error = machine.launch("k", &launch).unwrap_err();
        assert!(matches!(error, LaunchError::Extent { what: "cluster", .. }), "{error}");
    }
}
