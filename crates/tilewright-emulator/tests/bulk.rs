//! Bulk copies and tensor maps: what arrives where, and when.

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

#[test]
fn a_tile_lies_swizzled_and_zeros_lie_outside() {
    let data = numbers(100 * 128);
    for (swizzle, columns) in
        [(Swizzle::None, 40), (Swizzle::Bytes32, 16), (Swizzle::Bytes64, 32), (Swizzle::Bytes128, 64)]
    {
        for (x, y) in [(0, 0), (24, 90), (-8, -3), (56, 5)] {
            let map = matrix([60, 100], 128, [columns, 16], swizzle);
            let bytes = 2 * columns as usize * 16;
            let body = format!(
                "@%one cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map, {{%x, %y}}]; {LOAD}{WAIT}{OUT}"
            );
            let found = clean(&body, &map.encode(), &data, &vec![0xaa; bytes], [bytes as i32, x, y], 1);
            for row in 0..16 {
                for byte in 0..2 * columns as usize {
                    let logical = row * 2 * columns as usize + byte;
                    let mask = swizzle.width() as usize / 16 - 1;
                    let at = logical ^ (logical >> 7 & mask) << 4;
                    let (column, line) = (x + byte as i32 / 2, y + row as i32);
                    let inside = (0..60).contains(&column) && (0..100).contains(&line);
                    let place = (line * 128 + 2 * column) as usize + byte % 2;
                    let expected = if inside { data[place] } else { 0 };
                    assert_eq!(found[at], expected, "{swizzle:?} ({x}, {y}): row {row}, byte {byte}");
                }
            }
        }
    }
}

#[test]
fn what_lies_outside_may_be_nan() {
    let map = TensorMap { fill: Fill::Nan, ..matrix([8, 1], 16, [16, 1], Swizzle::None) };
    let found = clean(&format!("{LOAD}{WAIT}{OUT}"), &map.encode(), &numbers(16), &[0; 32], [32, 0, 0], 1);
    assert_eq!(found[..16], numbers(16));
    assert!(found[16..].chunks(2).all(|half| half == [0xf7, 0x7f]));
}

type Combine = fn(u32, u32) -> u32;

/// Stores the 128 x 16 bytes of shared memory at line 10 and byte 16 of a tensor of 20 lines of 80 bytes, 96 apart.
fn stored(op: &str, element: ElementType, before: &[u8], data: &[u8]) -> Vec<u8> {
    let name = match op {
        "" => "cp.async.bulk.tensor.2d.global.shared::cta.tile".to_owned(),
        _ => format!("cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.tile"),
    };
    let body = format!(
        "{IN} @%one {name}.bulk_group [%map, {{%x, %y}}], [%o];
         @%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;"
    );
    let size = element.bytes();
    let map = TensorMap {
        element,
        address: 1 << 32,
        ..matrix([80 / u64::from(size), 20], 96, [128 / size, 16], Swizzle::Bytes128)
    };
    clean(&body, &map.encode(), data, before, [2048, 16 / size as i32, 10], 1)
}

#[test]
fn a_tile_is_stored_and_reduced_inside_of_its_tensor() {
    let data = numbers(64 * 32);
    let before = numbers(96 * 20 + 7)[7..].to_vec();
    let operations: [(&str, Combine); 5] = [
        ("", |_, new| new),
        ("add", u32::wrapping_add),
        ("max", u32::max),
        ("inc", |old, new| if old >= new { 0 } else { old + 1 }),
        ("xor", |old, new| old ^ new),
    ];
    for (op, expected) in operations {
        let found = stored(op, ElementType::U32, &before, &data);
        for at in (0..found.len()).step_by(4) {
            let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let (line, byte) = (at / 96, at % 96);
            let inside = (10..20).contains(&line) && (16..80).contains(&byte);
            let old = word(&before, at);
            let wanted = if inside {
                let logical = (line - 10) * 128 + byte - 16;
                expected(old, word(&data, logical ^ (logical >> 7 & 7) << 4))
            } else {
                old
            };
            assert_eq!(word(&found, at), wanted, "{op}: line {line}, byte {byte}");
        }
    }
}

/// Results of an H100 (driver 580.159.04, 2026-11-28).
#[test]
fn floats_are_rounded_and_reduced_as_on_a_gpu() {
    const WORDS: [u32; 8] = [
        0x3f80_0fff,
        0x3f80_1000,
        0x3f80_1001,
        0x3f80_3000,
        0x807f_ffff,
        0x7f80_0001,
        0x7f7f_ffff,
        0x0000_0001,
    ];
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let map = TensorMap { element: ElementType::Tf32, ..matrix([8, 1], 32, [8, 1], Swizzle::None) };
    let found = clean(&format!("{LOAD}{WAIT}{OUT}"), &map.encode(), &bytes(&WORDS), &[0; 32], [32, 0, 0], 1);
    let tf32 = [0x3f80_0000, 0x3f80_0000, 0x3f80_2000, 0x3f80_4000, 0x8080_0000, 0x7fff_e000, 0x7f80_0000, 0];
    assert_eq!(found, bytes(&tf32));
    let ftz = TensorMap { element: ElementType::F32Ftz, ..map };
    let found = clean(&format!("{LOAD}{WAIT}{OUT}"), &ftz.encode(), &bytes(&WORDS), &[0; 32], [32, 0, 0], 1);
    assert_eq!(found, bytes(&WORDS));
    let reduced = |element: ElementType, op: &str| {
        let body = format!(
            "{IN} @%one cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.bulk_group [%map, {{%x, %y}}], [%o];
             @%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group 0;"
        );
        let size = element.bytes();
        let map = TensorMap {
            element,
            address: 1 << 32,
            ..matrix([32 / u64::from(size), 1], 32, [32 / size, 1], Swizzle::None)
        };
        let before: Vec<u32> = (0..8).map(|i| 0x3f80_0000 + i * 0x100).collect();
        // Every thread brings a word, of which the box takes the first eight.
        let data = [bytes(&WORDS), vec![0; 96]].concat();
        clean(&body, &map.encode(), &data, &bytes(&before), [32, 0, 0], 1)
    };
    let sums = [
        0x4000_0800,
        0x4000_0880,
        0x4000_0900,
        0x4000_1980,
        0x3f80_0400,
        0x7fff_ffff,
        0x7f7f_ffff,
        0x3f80_0700,
    ];
    assert_eq!(reduced(ElementType::F32, "add"), bytes(&sums));
    let halves = [0x4380_0fff, 0x4380_1020, 0x4380_1041, 0x4380_3000];
    assert_eq!(reduced(ElementType::F16, "add")[..16], bytes(&halves));
    let least = [0x3f80_0000, 0x3f80_0100, 0x3f80_0200, 0x3f80_0300];
    assert_eq!(reduced(ElementType::Bf16, "min")[..16], bytes(&least));
}

#[test]
fn tensors_have_one_to_five_dimensions() {
    let data = numbers(4096);
    for rank in 1..=RANK {
        let map = TensorMap {
            element: ElementType::U8,
            rank,
            extents: [32, 3, 3, 3, 2],
            strides: [32, 96, 288, 864],
            boxes: [16, 2, 2, 2, 2],
            ..matrix([32, 3], 32, [16, 2], Swizzle::None)
        };
        let coordinates = ["%x", "%y", "%y", "%y", "%y"][..rank].join(", ");
        let bytes = 16 << (rank - 1);
        let body = LOAD.replace("2d", &format!("{rank}d")).replace("{%x, %y}", &format!("{{{coordinates}}}"));
        let body = format!("{body}{WAIT}{OUT}");
        let found = clean(&body, &map.encode(), &data, &vec![0; bytes], [bytes as i32, 16, 1], 1);
        for (index, piece) in found.chunks(16).enumerate() {
            let steps: Vec<usize> = (0..rank - 1).map(|axis| 1 + (index >> axis & 1)).collect();
            let inside = steps.iter().zip(&map.extents[1..]).all(|(&step, &extent)| step < extent as usize);
            let strides = map.strides.map(|stride| stride as usize);
            let at = 16 + steps.iter().zip(strides).map(|(step, stride)| step * stride).sum::<usize>();
            let expected = if inside { data[at..at + 16].to_vec() } else { vec![0; 16] };
            assert_eq!(piece, expected, "rank {rank}, row {index}");
        }
    }
}

#[test]
fn images_are_read_by_pixels() {
    // Two images of 4 x 3 pixels of 8 halves; a filter tap at (1, 0) of a 3 x 3 filter with padding 1.
    let data = numbers(2 * 3 * 4 * 16);
    let im2col = Im2col { lower: [-1, -1, 0], upper: [-1, -1, 0], channels: 8, pixels: 24 };
    let map = TensorMap {
        rank: 4,
        extents: [8, 4, 3, 2, 1],
        strides: [16, 64, 192, 0],
        im2col: Some(im2col),
        ..matrix([8, 4], 16, [8, 1], Swizzle::None)
    };
    let body = format!(
        "mov.u16 %h0, 1; mov.u16 %h1, 0; mov.u32 %r2, -1; mov.u32 %r3, 0;
         @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
         @%one cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
            [%o], [%map, {{%x, %r2, %r2, %r3}}], [bar], {{%h0, %h1}};{WAIT}{OUT}"
    );
    let found = clean(&body, &map.encode(), &data, &vec![0; 24 * 16], [24 * 16, 0, 0], 1);
    let mut index = 0;
    for n in 0..2i32 {
        for h in -1..2i32 {
            for w in -1..3i32 {
                let (w, inside) = (w + 1, (0..3).contains(&h) && (0..4).contains(&(w + 1)));
                let at = (n * 192 + h * 64 + w * 16) as usize;
                let expected = if inside { data[at..at + 16].to_vec() } else { vec![0; 16] };
                assert_eq!(found[index * 16..][..16], expected, "pixel {index}");
                index += 1;
            }
        }
    }
}

/// Channels in slices of 32 bytes: a box of one slice, 8 pixels of two images, where pixels lie 32 bytes, slices 512 and images 4096 apart.
#[test]
fn slices_are_copied_in_both_directions() {
    let data = numbers(2 * 4096);
    let map = TensorMap {
        rank: 3,
        extents: [11, 6, 2, 1, 1],
        strides: [512, 4096, 0, 0],
        boxes: [8, 1, 2, 1, 1],
        interleave: Interleave::Bytes32,
        ..matrix([8, 1], 512, [8, 1], Swizzle::Bytes32)
    };
    // Pieces of 16 bytes change places where bit 7 of the address in shared memory is set.
    let places = |x: usize, y: usize| {
        (0..2usize).flat_map(move |image| {
            (0..8usize).flat_map(move |pixel| {
                (0..2usize).map(move |half| {
                    let shared = (image * 8 + pixel) * 32 + 16 * (half ^ (pixel / 4));
                    let is_inside = x + pixel < 11;
                    (shared, is_inside.then_some(image * 4096 + y * 512 + (x + pixel) * 32 + 16 * half))
                })
            })
        })
    };
    let load = "mov.u32 %r2, 0;
         @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
         @%one cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%o], [%map, {%x, %y, %r2}], [bar];";
    let store = format!(
        "{IN} mov.u32 %r2, 0; @%one cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%map, {{%x, %y, %r2}}], [%o];
         @%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group.read 0;"
    );
    for (x, y) in [(0, 0), (6, 2), (11, 5)] {
        let at = [512, x as i32, y as i32];
        let loaded = clean(&format!("{load}{WAIT}{OUT}"), &map.encode(), &data, &[7; 512], at, 1);
        let to = TensorMap { address: 1 << 32, ..map };
        let stored = clean(&store, &to.encode(), &data, &vec![7; 2 * 4096], at, 1);
        let mut expected = vec![7; 2 * 4096];
        for (shared, global) in places(x, y) {
            let piece = &loaded[shared..shared + 16];
            match global {
                Some(global) => {
                    assert_eq!(piece, &data[global..global + 16], "{shared}");
                    expected[global..global + 16].copy_from_slice(&data[shared..shared + 16]);
                }
                None => assert_eq!(piece, [0; 16], "{shared}"),
            }
        }
        assert_eq!(stored, expected, "{x} {y}");
    }
    let to = TensorMap { address: 1 << 32, ..map };
    let before =
        run(&store, &to.encode(), &data, &[7; 8192], [512, -1, 0], Schedule::Late, 1).report.findings;
    let kinds: Vec<_> = before.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::InvalidTensorMap]);
}

/// An im2col copy of slices of 16 bytes: along w of the image, then of the next.
#[test]
fn pixels_of_slices_are_read() {
    let data = numbers(2 * 4096);
    let im2col = Im2col { lower: [-1, 0, 0], upper: [-2, 0, 0], channels: 8, pixels: 8 };
    let map = TensorMap {
        rank: 3,
        extents: [7, 6, 2, 1, 1],
        strides: [512, 4096, 0, 0],
        interleave: Interleave::Bytes16,
        im2col: Some(im2col),
        ..matrix([8, 1], 512, [8, 1], Swizzle::None)
    };
    let body = format!(
        "mov.u16 %h0, 1; mov.u32 %r2, 0;
         @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
         @%one cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
            [%o], [%map, {{%x, %y, %r2}}], [bar], {{%h0}};{WAIT}{OUT}"
    );
    let found = clean(&body, &map.encode(), &data, &[7; 128], [128, 1, 3], 1);
    // From w = 1 to 4, then from -1; the offset adds 1.
    let pixels = [2, 3, 4, 5].map(|w| 3 * 512 + 16 * w);
    let next = [0, 1, 2, 3].map(|w| 4096 + 3 * 512 + 16 * w);
    for (index, at) in pixels.into_iter().chain(next).enumerate() {
        assert_eq!(found[16 * index..][..16], data[at..at + 16], "pixel {index}");
    }
}

#[test]
fn bytes_are_copied_and_reduced() {
    let data = numbers(1024);
    let load = "
        @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
        @%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%o], [%from], %bytes, [bar];";
    assert_eq!(
        clean(&format!("{load}{WAIT}{OUT}"), &[0; 128], &data, &[0; 512], [512, 0, 0], 1),
        data[..512]
    );
    let store = format!(
        "{IN} @%one cp.async.bulk.global.shared::cta.bulk_group [%to], [%o], %bytes;
         @%one cp.async.bulk.commit_group; @%one cp.async.bulk.wait_group.read 0;"
    );
    assert_eq!(clean(&store, &[0; 128], &data, &[0; 512], [512, 0, 0], 1), data[..512]);
    let add = store.replace(
        "cp.async.bulk.global.shared::cta.bulk_group",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
    );
    let sums = clean(&add, &[0; 128], &data, &[2; 512], [512, 0, 0], 1);
    for (sum, old) in sums.chunks(4).zip(data.chunks(4)) {
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(number(sum), number(old).wrapping_add(0x0202_0202));
    }
}

#[test]
fn clusters_share_tiles() {
    // Block 0 brings the tile to both blocks.
    let data = numbers(4096);
    let map = matrix([64, 16], 128, [64, 8], Swizzle::Bytes128);
    let body = format!(
        "mov.u32 %r2, %cluster_ctarank; mov.u16 %h0, 3;
         @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
         setp.eq.and.u32 %one, %r2, 0, %one;
         @%one cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
            [%o], [%map, {{%x, %y}}], [bar], %h0;{WAIT}{OUT}
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    );
    let found = clean(&body, &map.encode(), &data, &[0; 2048], [1024, 0, 4], 2);
    assert_eq!(found[..1024], found[1024..]);
    assert_eq!(found[..16], data[512..528]);
    // Each block sends what it has to the other.
    let body = format!(
        "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; mul.lo.u32 %r4, %r2, %bytes; cvt.u64.u32 %w, %r4;
         add.u64 %from, %from, %w; {IN}
         @%one mbarrier.arrive.expect_tx.shared::cta.b64 %state, [bar], %bytes;
         add.u32 %r5, %o, 4096; mapa.shared::cluster.u32 %r5, %r5, %r3;
         mov.u32 %r6, bar; mapa.shared::cluster.u32 %r6, %r6, %r3;
         @%one cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [%o], %bytes, [%r6];{WAIT}
         add.u32 %o, %o, 4096; {OUT}
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    );
    let found = clean(&body, &[0; 128], &data, &[0; 1024], [512, 0, 0], 2);
    assert_eq!([&found[512..], &found[..512]].concat(), data[..1024]);
}

/// A map in global memory that the kernel brings to another tensor.
#[test]
fn maps_are_changed_by_kernels() {
    let data = numbers(4096);
    let map = matrix([64, 8], 128, [64, 8], Swizzle::None);
    let body = |acquire: &str| {
        format!(
            "add.u32 %r5, %o, 8192; shl.b32 %i, %t, 2; add.u32 %r6, %r5, %i; cvt.u64.u32 %w, %i; add.u64 %w, %w, %map;
             ld.b32 %r1, [%w]; st.shared.b32 [%r6], %r1; bar.warp.sync 0xffffffff;
             add.u64 %rd0, %from, 1024;
             @%one tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r5], %rd0;
             @%one tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r5], 1, 4;
             @%one tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r5], 3;
             bar.warp.sync 0xffffffff;
             tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%to], [%r5], 128;
             {acquire} mov.u64 %map, %to; {LOAD}{WAIT} add.u64 %to, %to, 128; {OUT}"
        )
    };
    let acquire = "fence.proxy.tensormap::generic.acquire.gpu [%to], 128;";
    let to = vec![0; 128 + 512];
    let found = run(&body(acquire), &map.encode(), &data, &to, [512, 0, 0], Schedule::Late, 1);
    assert!(found.report.is_clean(), "{:?} {:#?}", found.report.error, found.report.findings);
    // Row 1 begins with its second piece.
    assert_eq!(found.to[128..144], data[1024..1040]);
    assert_eq!(found.to[128 + 128..][..16], data[1024 + 128 + 16..][..16]);
    let missed = run(&body(""), &map.encode(), &data, &to, [512, 0, 0], Schedule::Late, 1);
    let kinds: Vec<_> = missed.report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::ProxyFence]);
}

/// A map that a kernel makes of zeros.
#[test]
fn maps_are_made_from_zeros() {
    let data = numbers(4096);
    let fields = [
        ("global_address", "b64", "%from"),
        ("rank", "b32", "1"),
        ("elemtype", "b32", "6"),
        ("interleave_layout", "b32", "2"),
        ("interleave_layout", "b32", "0"),
        ("swizzle_mode", "b32", "0"),
        ("fill_mode", "b32", "0"),
        ("global_dim", "b32", "0, 64"),
        ("global_dim", "b32", "1, 8"),
        ("global_stride", "b64", "0, 128"),
        ("box_dim", "b32", "0, 32"),
        ("box_dim", "b32", "1, 8"),
        ("element_stride", "b32", "0, 1"),
        ("element_stride", "b32", "1, 1"),
    ];
    let replaced = fields.map(|(field, ty, value)| {
        format!("@%one tensormap.replace.tile.{field}.shared::cta.b1024.{ty} [%r5], {value};\n")
    });
    let body = format!(
        "add.u32 %r5, %o, 8192; shl.b32 %i, %t, 2; add.u32 %r6, %r5, %i; mov.u32 %r1, 0; st.shared.b32 [%r6], %r1; bar.warp.sync 0xffffffff;
         {} bar.warp.sync 0xffffffff;
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%to], [%r5], 128;
         fence.proxy.tensormap::generic.acquire.gpu [%to], 128;
         mov.u64 %map, %to; {LOAD}{WAIT} add.u64 %to, %to, 128; {OUT}",
        replaced.concat()
    );
    let found = run(&body, &[0; 128], &data, &[0; 128 + 512], [512, 0, 0], Schedule::Late, 1);
    assert!(found.report.is_clean(), "{:?} {:#?}", found.report.error, found.report.findings);
    for row in 0..8 {
        assert_eq!(found.to[128 + 64 * row..][..64], data[128 * row..][..64], "{row}");
    }
}

/// What is found where something is missing.
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
