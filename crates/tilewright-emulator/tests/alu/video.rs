use tilewright_emulator::ptx_isa::Selector::{self, Byte, Bytes, Half, Halves, Whole};

use super::ptx::*;

fn check_selected<const N: usize>(rows: &[(&str, [Selector; 4], [u64; N], u64)]) {
    for &(text, selectors, sources, expected) in rows {
        let result = eval_selected(text, selectors, sources);
        assert_eq!(
            result, expected,
            "{text} {selectors:?} {sources:#x?}: {result:#x} instead of {expected:#x}"
        );
    }
}

#[test]
fn parts_are_selected_and_saturated() {
    check_selected(&[
        ("vadd.s32.u32.s32", [Whole, Byte(1), Half(0), Whole], [0xff00, 0xffff], s32(254)),
        ("vadd.s32.s32.s32.sat", [Whole; 4], [s32(i32::MAX), 1], s32(i32::MAX)),
        ("vadd.u32.u32.u32.sat", [Whole; 4], [0xffff_ffff, 1], 0xffff_ffff),
        ("vsub.u32.u32.u32.sat", [Whole; 4], [1, 2], 0),
        ("vsub.s32.u32.u32", [Whole; 4], [1, 2], s32(-1)),
        ("vabsdiff.u32.s32.s32", [Whole; 4], [s32(-3), 4], 7),
        ("vmin.s32.s32.u32", [Whole; 4], [s32(-3), 0xffff_ffff], s32(-3)),
        ("vmax.u32.s32.u32", [Whole; 4], [s32(-3), 5], 5),
        ("vshl.u32.u32.u32.wrap", [Whole; 4], [1, 33], 2),
        ("vshl.u32.u32.u32.clamp", [Whole; 4], [1, 33], 0),
        ("vshl.u32.u32.u32.sat.clamp", [Whole; 4], [0xffff_ffff, 40], 0xffff_ffff),
        ("vshr.s32.s32.u32.clamp", [Whole; 4], [s32(-8), 99], s32(-1)),
        ("vshr.u32.u32.u32.wrap", [Whole; 4], [0x80, 35], 0x10),
        ("vset.u32.u32.lt", [Whole; 4], [1, 2], 1),
        ("vset.s32.u32.gt", [Whole; 4], [s32(-1), 2], 0),
    ]);
}

#[test]
fn a_second_operation_or_a_merge() {
    check_selected(&[
        ("vadd.s32.s32.s32.add", [Whole; 4], [1, 2, 10], 13),
        ("vsub.s32.s32.s32.min", [Whole; 4], [1, 2, 10], s32(-1)),
        ("vmin.s32.s32.s32.max", [Whole; 4], [1, 2, s32(-10)], 1),
        ("vabsdiff.u32.u32.u32.add", [Whole, Byte(0), Byte(0), Whole], [200, 100, 7], 107),
        ("vadd.u32.u32.u32.sat", [Byte(2), Whole, Whole, Whole], [200, 100, 0x1122_3344], 0x11ff_3344),
        ("vadd.s32.s32.s32.sat", [Half(0), Whole, Whole, Whole], [s32(-40000), 0, 0x1122_3344], 0x1122_8000),
        ("vset.u32.u32.ge", [Half(1), Whole, Whole, Whole], [2, 2, 0x1122_3344], 0x0001_3344),
        ("vset.u32.u32.ge.add", [Whole; 4], [2, 2, 41], 42),
    ]);
    assert!(prepare("vadd.s32.s32.s32.add", 2).is_none());
    assert!(prepare("vadd.s32.s32.s32", 3).is_none());
}

#[test]
fn multiply_add_scales_and_saturates() {
    check_selected(&[
        ("vmad.s32.s32.s32", [Whole; 4], [s32(-3), 5, 7], s32(-8)),
        ("vmad.u32.u32.u32.po", [Whole; 4], [3, 5, 7], 23),
        ("vmad.u32.u32.u32.shr7", [Whole; 4], [0xffff_ffff, 0xffff_ffff, 0], 0xfc00_0000),
        ("vmad.u32.u32.u32.sat.shr7", [Whole; 4], [0xffff_ffff, 0xffff_ffff, 0], 0xffff_ffff),
        ("vmad.s32.s32.u32.sat", [Whole; 4], [s32(i32::MIN), 0xffff_ffff, 0], s32(i32::MIN)),
        ("vmad.s32.u32.s32.shr15", [Whole, Half(1), Byte(0), Whole], [0x8000_0000, 0xff, 0], s32(-1)),
    ]);
}

#[test]
fn two_and_four_lanes() {
    check_selected(&[
        ("vadd2.s32.s32.s32", [Whole; 4], [0x0001_ffff, 0x0002_0001, 0], 0x0003_0000),
        ("vadd2.u32.u32.u32.sat", [Whole; 4], [0xffff_0001, 0x0002_0001, 0], 0xffff_0002),
        ("vsub2.s32.s32.s32.add", [Whole; 4], [0x0005_0003, 0x0002_0001, 100], 105),
        (
            "vadd2.u32.u32.u32",
            [Half(1), Whole, Whole, Whole],
            [0x0005_0003, 0x0002_0001, 0xaaaa_bbbb],
            0x0007_bbbb,
        ),
        (
            "vmin2.s32.s32.s32",
            [Whole, Halves(0x00), Halves(0x32), Whole],
            [0xffff_0003, 0x0004_0002, 0],
            0x0003_0002,
        ),
        ("vavrg2.s32.s32.s32", [Whole; 4], [0x0001_fffd, 0x0002_fffe, 0], 0x0002_fffd),
        ("vset2.u32.u32.lt", [Whole; 4], [0x0001_0005, 0x0002_0001, 0], 0x0001_0000),
        ("vadd4.u32.u32.u32.sat", [Whole; 4], [0xff01_8002, 0x0203_8004, 0], 0xff04_ff06),
        ("vadd4.s32.s32.s32", [Whole; 4], [0xff01_8002, 0x0203_8004, 0], 0x0104_0006),
        ("vabsdiff4.u32.u32.u32.add", [Whole; 4], [0x0102_0304, 0x0403_0201, 10], 3 + 1 + 1 + 3 + 10),
        ("vmax4.s32.s32.s32", [Whole; 4], [0xff01_8002, 0x0203_8004, 0], 0x0203_8004),
        ("vadd4.u32.u32.u32", [Byte(0), Whole, Whole, Whole], [1, 2, 0xaabb_ccdd], 0xaabb_cc03),
        ("vadd4.u32.u32.u32", [Bytes(0x31), Whole, Whole, Whole], [0x0101_0101, 0, 0xaabb_ccdd], 0x01bb_01dd),
        ("vsub4.u32.u32.u32", [Whole, Bytes(0x7654), Bytes(0x0000), Whole], [1, 0x0403_0201, 0], 0x0302_0100),
        ("vset4.s32.s32.ge.add", [Whole; 4], [0xff01_8002, 0x0203_8001, 5], 5 + 2),
    ]);
}
