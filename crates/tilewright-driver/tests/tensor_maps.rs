//! Tensor maps: what is taken, what is refused, and a kernel that gets one by value.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::ffi::c_void;
use std::ptr;

use tilewright_driver::{Code, api::*, types};

use super::rig::{Rig, allocate, function, is, load, ok, read, write};

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Map([u8; 128]);

/// What a program says of a matrix of 16-bit elements.
#[derive(Clone, Copy)]
struct Matrix {
    address: u64,
    rank: u32,
    extents: [u64; 2],
    stride: u64,
    boxes: [u32; 2],
    steps: [u32; 2],
    /// Type, interleave, swizzle, promotion, fill.
    numbers: [i32; 5],
}

fn matrix(address: u64) -> Matrix {
    Matrix {
        address,
        rank: 2,
        extents: [64, 8],
        stride: 128,
        boxes: [64, 8],
        steps: [1; 2],
        numbers: [6, 0, 3, 2, 0],
    }
}

type Change = fn(&mut Matrix);

fn encode(map: &mut Map, matrix: &Matrix) -> i32 {
    let [element, interleave, swizzle, promotion, fill] = matrix.numbers;
    unsafe {
        cuTensorMapEncodeTiled(
            ptr::from_mut(map).cast(),
            element,
            matrix.rank,
            matrix.address as *mut c_void,
            matrix.extents.as_ptr(),
            &matrix.stride,
            matrix.boxes.as_ptr(),
            matrix.steps.as_ptr(),
            interleave,
            swizzle,
            promotion,
            fill,
        )
    }
}

#[test]
fn a_kernel_gets_a_map_by_value() {
    let _rig = Rig::of("h100");
    let ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n\
        .visible .entry tile(.param .align 64 .b8 map[128], .param .u64 to) {\n\
        .reg .b32 %t, %o, %r<4>; .reg .b64 %map, %to, %w, %s; .reg .pred %one, %p;\n\
        .shared .align 1024 .b8 room[1024]; .shared .align 8 .b64 bar;\n\
        mov.b64 %map, map; cvta.param.u64 %map, %map; ld.param.u64 %to, [to];\n\
        mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0; mov.u32 %o, room; mov.u32 %r0, 0;\n\
        @%one mbarrier.init.shared::cta.b64 [bar], 1;\n\
        @%one fence.mbarrier_init.release.cluster;\n\
        bar.sync 0;\n\
        @%one mbarrier.arrive.expect_tx.shared::cta.b64 %s, [bar], 1024;\n\
        @%one cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%o], [%map, {%r0, %r0}], [bar];\n\
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra WAIT;\n\
        mul.lo.u32 %r1, %t, 4; add.u32 %o, %o, %r1; ld.shared.b32 %r2, [%o];\n\
        cvt.u64.u32 %w, %r1; add.u64 %to, %to, %w; st.global.b32 [%to], %r2;\nret;\n}\n";
    let kernel = function(load(ptx), "tile");
    let (source, target) = (allocate(1024), allocate(1024));
    let values: Vec<u32> = (0..256).collect();
    write(source, &values);
    let mut map = Map([0; 128]);
    ok(encode(&mut map, &matrix(source - 1024)));
    ok(unsafe { cuTensorMapReplaceAddress(ptr::from_mut(&mut map).cast(), source as *mut c_void) });
    let mut arguments = [ptr::from_mut(&mut map).cast(), ptr::from_ref(&target).cast_mut().cast()];
    let launched =
        unsafe { cuLaunchKernel(kernel, 1, 1, 1, 256, 1, 1, 0, 0, arguments.as_mut_ptr(), ptr::null_mut()) };
    ok(launched);
    // Row r of 32 words: pieces of 4 words change places with those whose number differs by r.
    let expected: Vec<u32> =
        (0..256).map(|at| at / 32 * 32 + ((at / 4 % 8) ^ (at / 32)) * 4 + at % 4).collect();
    assert_eq!(read(target, 256), expected);
}

#[test]
fn what_cuda_refuses_is_refused() {
    let _rig = Rig::of("h100");
    let address = allocate(1024);
    let good = matrix(address);
    let mut map = Map([0; 128]);
    ok(encode(&mut map, &good));
    let wrong: &[(&str, Change)] = &[
        ("an address of 8", |m| m.address += 8),
        ("no dimension", |m| m.rank = 0),
        ("six dimensions", |m| m.rank = 6),
        ("nothing", |m| m.extents[1] = 0),
        ("a stride of 120", |m| m.stride = 120),
        ("a stride of 2^40", |m| m.stride = 1 << 40),
        ("a box of nothing", |m| m.boxes[1] = 0),
        ("a box of 257", |m| m.boxes[1] = 257),
        ("a box of 24 bytes", |m| m.boxes[0] = 12),
        ("a box wider than its swizzle", |m| m.boxes[0] = 72),
        ("an element stride of 9", |m| m.steps[1] = 9),
        ("an unknown type", |m| m.numbers[0] = 99),
        ("an unknown swizzle", |m| m.numbers[2] = 9),
        ("an unknown promotion", |m| m.numbers[3] = 4),
        ("slices in a matrix", |m| m.numbers[1] = 1),
        ("an unknown layout", |m| m.numbers[1] = 3),
        ("NaN of integers", |m| (m.numbers[0], m.numbers[4]) = (1, 1)),
    ];
    for (what, change) in wrong {
        let mut matrix = good;
        change(&mut matrix);
        assert_eq!(encode(&mut map, &matrix), Code::INVALID_VALUE.0, "{what}");
    }
    let mut pair = [Map([0; 128]); 2];
    let misaligned = unsafe { pair.as_mut_ptr().cast::<u8>().add(8) };
    is(unsafe { cuTensorMapReplaceAddress(misaligned.cast(), ptr::null_mut()) }, Code::INVALID_VALUE);
    is(unsafe { cuTensorMapReplaceAddress(ptr::null_mut(), ptr::null_mut()) }, Code::INVALID_VALUE);
}

/// What driver 580.159.04 takes of interleaved layouts, and what not.
#[test]
fn slices_are_checked() {
    let _rig = Rig::of("h100");
    let base = allocate(1 << 16);
    let encode = |offset: u64, stride: u64, boxes: [u32; 4], interleave: i32, swizzle: i32| {
        let mut map = Map([0; 128]);
        let (extents, strides) = ([11u64, 6, 7, 3], [stride, 4096, 16384]);
        let address = (base + offset) as *mut c_void;
        let map = ptr::from_mut(&mut map).cast();
        unsafe {
            cuTensorMapEncodeTiled(
                map,
                6,
                4,
                address,
                extents.as_ptr(),
                strides.as_ptr(),
                boxes.as_ptr(),
                [1; 4].as_ptr(),
                interleave,
                swizzle,
                0,
                0,
            )
        }
    };
    let boxes = [16, 2, 1, 2];
    for (interleave, swizzle) in [(1, 0), (1, 3), (2, 0), (2, 1), (2, 2)] {
        ok(encode(0, 512, boxes, interleave, swizzle));
        // The swizzle sets no limit to the box.
        ok(encode(0, 512, [64, 2, 1, 2], interleave, swizzle));
        is(encode(0, 512, [12, 2, 1, 2], interleave, swizzle), Code::INVALID_VALUE);
        is(encode(0, 512, [64, 64, 64, 1], interleave, swizzle), Code::INVALID_VALUE);
    }
    ok(encode(16, 528, boxes, 1, 0));
    is(encode(16, 512, boxes, 2, 1), Code::INVALID_VALUE);
    is(encode(0, 528, boxes, 2, 1), Code::INVALID_VALUE);
    // A box has 228 KiB at most.
    ok(encode(0, 512, [64, 64, 28, 1], 0, 3));
    is(encode(0, 512, [64, 64, 29, 1], 0, 3), Code::INVALID_VALUE);
}

#[test]
fn pixels_are_checked() {
    let _rig = Rig::of("h100");
    let address = allocate(4096) as *mut c_void;
    let encode = |rank: u32, lower: i32, channels: u32, pixels: u32| {
        let mut map = Map([0; 128]);
        let (lower, upper) = ([lower; 2], [0; 2]);
        unsafe {
            cuTensorMapEncodeIm2col(
                ptr::from_mut(&mut map).cast(),
                6,
                rank,
                address,
                [8, 4, 4, 2].as_ptr(),
                [16, 64, 256].as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                channels,
                pixels,
                [1; 4].as_ptr(),
                0,
                0,
                0,
                0,
            )
        }
    };
    ok(encode(4, -1, 8, 64));
    for refused in
        [encode(2, -1, 8, 64), encode(4, -129, 8, 64), encode(4, 0, 257, 64), encode(4, 0, 8, 1025)]
    {
        is(refused, Code::INVALID_VALUE);
    }
}

#[test]
fn clusters_that_fit_are_counted() {
    let _rig = Rig::of("h100");
    let kernel = function(load(&super::rig::fill()), "fill");
    let mut attribute: types::LaunchAttribute = unsafe { std::mem::zeroed() };
    attribute.id = types::ATTRIBUTE_CLUSTER;
    let mut config: types::LaunchConfig = unsafe { std::mem::zeroed() };
    (config.grid, config.block) = ([132, 1, 1], [1024, 1, 1]);
    (config.attributes, config.attribute_count) = (&mut attribute, 1);
    let mut clusters = -1;
    for (size, expected) in [(1, 264), (2, 132), (4, 66)] {
        attribute.value.words[..3].copy_from_slice(&[size, 1, 1]);
        config.attributes = &mut attribute;
        ok(unsafe { cuOccupancyMaxActiveClusters(&mut clusters, kernel, &config) });
        assert_eq!(clusters, expected);
    }
    attribute.value.words[..3].copy_from_slice(&[17, 1, 1]);
    config.attributes = &mut attribute;
    is(unsafe { cuOccupancyMaxActiveClusters(&mut clusters, kernel, &config) }, Code::INVALID_CLUSTER_SIZE);
    ok(unsafe { cuOccupancyMaxPotentialClusterSize(&mut clusters, kernel, &config) });
    assert!(clusters >= 8);
}
