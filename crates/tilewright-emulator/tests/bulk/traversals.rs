//! Tensors that are traversed in another way than by rows: images by their pixels (im2col), and channels in slices.

use super::*;

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
