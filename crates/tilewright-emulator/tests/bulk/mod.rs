//! Bulk copies and tensor maps.

mod arrivals;
mod faults;
mod traversals;

use tilewright_emulator::tensor_map::{ElementType, Fill, Im2col, Interleave, RANK, Swizzle, TensorMap};
use tilewright_emulator::{Argument, FindingKind, Launch, LaunchOptions, Machine, Program, Report, Schedule};

const SCHEDULES: [Schedule; 4] =
    [Schedule::Late, Schedule::Early, Schedule::Random { seed: 1 }, Schedule::Random { seed: 2 }];

/// A kernel of one warp with room in shared memory, an mbarrier, and what every test of copies needs.
fn kernel(body: &str) -> String {
    format!(
        "
        .version 8.0 .target sm_90a .address_size 64
        .extern .shared .align 1024 .b8 room[];
        .shared .align 8 .b64 bar;
        .visible .entry k(.param .align 64 .b8 map[128], .param .u64 from, .param .u64 to, .param .u32 bytes,
                          .param .u32 x, .param .u32 y) {{
            .reg .b32 %t, %i, %o, %x, %y, %bytes, %r<8>;
            .reg .b64 %map, %from, %to, %w, %state, %rd<4>;
            .reg .b16 %h<4>;
            .reg .pred %one, %p;
            mov.b64 %map, map; cvta.param.u64 %map, %map;
            ld.param.u64 %from, [from]; ld.param.u64 %to, [to]; ld.param.u32 %bytes, [bytes];
            ld.param.u32 %x, [x]; ld.param.u32 %y, [y];
            mov.u32 %t, %tid.x;
            setp.eq.u32 %one, %t, 0;
            mov.u32 %o, room;
            @%one mbarrier.init.shared::cta.b64 [bar], 1;
            @%one fence.mbarrier_init.release.cluster;
            barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
            {body}
            ret;
        }}"
    )
}

/// Waits until the bytes that thread 0 has announced are there.
const WAIT: &str = "
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;";

/// Copies `bytes` from shared to global memory, 4 bytes a thread.
const OUT: &str = "
    mov.u32 %i, %ctaid.x; mul.lo.u32 %i, %i, %bytes; cvt.u64.u32 %w, %i; add.u64 %to, %to, %w;
    shl.b32 %i, %t, 2; setp.ge.u32 %p, %i, %bytes; @%p bra ENDED;
    OUT: add.u32 %r0, %o, %i; ld.shared.b32 %r1, [%r0]; cvt.u64.u32 %w, %i; add.u64 %w, %w, %to; st.global.b32 [%w], %r1;
    add.u32 %i, %i, 128; setp.lt.u32 %p, %i, %bytes; @%p bra OUT;
    ENDED:";

/// Fills shared memory with bytes of global memory, and lets bulk copies see it.
const IN: &str = "
    shl.b32 %i, %t, 2;
    IN: cvt.u64.u32 %w, %i; add.u64 %w, %w, %from; ld.global.b32 %r1, [%w]; add.u32 %r0, %o, %i; st.shared.b32 [%r0], %r1;
    add.u32 %i, %i, 128; setp.lt.u32 %p, %i, %bytes; @%p bra IN;
    fence.proxy.async.shared::cta;
    bar.sync 0;";

struct Run {
    report: Report,
    to: Vec<u8>,
}

fn run(
    body: &str,
    map: &[u8],
    from: &[u8],
    to: &[u8],
    numbers: [i32; 3],
    schedule: Schedule,
    cluster: u32,
) -> Run {
    let mut machine = Machine::new(Program::new(&kernel(body)).unwrap());
    let [from, at] = [from, to].map(|bytes| machine.upload(bytes).unwrap());
    let mut bytes = map.to_vec();
    if let Some(mut map) = map.try_into().ok().and_then(TensorMap::decode) {
        // Maps of the tests say how far behind the data of `from` or, if that bit is set, of `to` their tensor begins.
        let base = if map.address >> 32 & 1 == 1 { at.address() } else { from.address() };
        map.address = base + (map.address & u64::from(u32::MAX));
        map.check().unwrap();
        bytes = map.encode().to_vec();
    }
    let launch = Launch::new([cluster, 1, 1], [32, 1, 1])
        .cluster([cluster, 1, 1])
        .dynamic_shared(32768)
        .arg(Argument::bytes(&bytes))
        .arg(from)
        .arg(at)
        .arg(numbers[0])
        .arg(numbers[1])
        .arg(numbers[2])
        .options(LaunchOptions { schedule, step_limit: Some(200_000), ..LaunchOptions::default() });
    let report = machine.launch("k", &launch).unwrap();
    Run { report, to: machine.download(at, to.len()).unwrap() }
}

/// What every schedule gives.
fn clean(body: &str, map: &[u8], from: &[u8], to: &[u8], numbers: [i32; 3], cluster: u32) -> Vec<u8> {
    let results = SCHEDULES.map(|schedule| {
        let run = run(body, map, from, to, numbers, schedule, cluster);
        assert!(run.report.is_clean(), "{schedule:?}: {:?} {:#?}", run.report.error, run.report.findings);
        run.to
    });
    assert!(results.iter().all(|result| result == &results[0]));
    results[0].clone()
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()
}

/// A matrix of 16-bit elements by rows of `pitch` bytes, and its box.
fn matrix(extents: [u64; 2], pitch: u64, boxes: [u32; 2], swizzle: Swizzle) -> TensorMap {
    TensorMap::matrix(ElementType::F16, 0, extents, pitch, boxes, swizzle)
}

const LOAD: &str = "
    @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
    @%one cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%o], [%map, {%x, %y}], [bar];";
