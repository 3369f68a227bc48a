//! What arrives where, whatever the schedule.

use super::*;

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
