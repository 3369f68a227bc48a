use proptest::prelude::*;

use super::ptx::*;

#[test]
fn logic_of_bits_and_predicates() {
    check(&[
        ("and.b32", [0xffff_0000_ff00_ff00, 0x0ff0], 0x0f00),
        ("or.b16", [0x1_0001, 0x1_0002], 3),
        ("xor.b64", [u64::MAX, 1], u64::MAX - 1),
        ("and.pred", [1, 0], 0),
        ("or.pred", [1, 0], 1),
        ("xor.pred", [1, 1], 0),
    ]);
    check(&[
        ("not.b32", [0], 0xffff_ffff),
        ("not.pred", [1], 0),
        ("cnot.b32", [0], 1),
        ("cnot.b32", [5], 0),
        ("cnot.b16", [0x1_0000], 1),
    ]);
}

#[test]
fn shifts_clamp_their_amount() {
    check(&[
        ("shl.b32", [1, 31], 1 << 31),
        ("shl.b32", [1, 32], 0),
        ("shl.b32", [1, 0xffff_ffff], 0),
        ("shl.b64", [1, 63], 1 << 63),
        ("shl.b64", [1, 64], 0),
        ("shl.b16", [0xffff, 4], 0xfff0),
        ("shl.b16", [1, 16], 0),
        ("shr.u32", [0x8000_0000, 31], 1),
        ("shr.u32", [0x8000_0000, 32], 0),
        ("shr.s32", [0x8000_0000, 31], 0xffff_ffff),
        ("shr.s32", [0x8000_0000, 200], 0xffff_ffff),
        ("shr.s32", [0x7000_0000, 200], 0),
        ("shr.b32", [0x8000_0000, 4], 0x0800_0000),
        ("shr.s64", [1 << 63, 70], u64::MAX),
        ("shr.u64", [1 << 63, 70], 0),
        ("shr.s16", [0x8000, 15], 0xffff),
        ("shr.u16", [0x8000, 16], 0),
    ]);
    check(&[
        ("shf.l.wrap.b32", [0x1234_5678, 0x9abc_def0, 8], 0xbcde_f012),
        ("shf.r.wrap.b32", [0x1234_5678, 0x9abc_def0, 8], 0xf012_3456),
        ("shf.l.wrap.b32", [0x1234_5678, 0x9abc_def0, 32], 0x9abc_def0),
        ("shf.r.wrap.b32", [0x1234_5678, 0x9abc_def0, 32], 0x1234_5678),
        ("shf.l.clamp.b32", [0x1234_5678, 0x9abc_def0, 32], 0x1234_5678),
        ("shf.r.clamp.b32", [0x1234_5678, 0x9abc_def0, 99], 0x9abc_def0),
        ("shf.l.clamp.b32", [0x1234_5678, 0x9abc_def0, 0], 0x9abc_def0),
    ]);
}

/// Byte i of `{b, a}` is 0xi0 here, so that results read as the selected indices.
#[test]
fn byte_permutation_has_seven_modes() {
    const A: u64 = 0x3020_1000;
    const B: u64 = 0x7060_5040;
    check(&[
        ("prmt.b32", [A, B, 0x7531], 0x7050_3010),
        ("prmt.b32", [0x8000_007f, 0, 0xb8], 0x7f7f_ff00),
        ("prmt.b32.f4e", [A, B, 0], 0x3020_1000),
        ("prmt.b32.f4e", [A, B, 3], 0x6050_4030),
        ("prmt.b32.b4e", [A, B, 0], 0x5060_7000),
        ("prmt.b32.b4e", [A, B, 2], 0x7000_1020),
        ("prmt.b32.rc8", [A, B, 2], 0x2020_2020),
        ("prmt.b32.ecl", [A, B, 1], 0x3020_1010),
        ("prmt.b32.ecl", [A, B, 3], 0x3030_3030),
        ("prmt.b32.ecr", [A, B, 1], 0x1010_1000),
        ("prmt.b32.ecr", [A, B, 2], 0x2020_1000),
        ("prmt.b32.rc16", [A, B, 0], 0x1000_1000),
        ("prmt.b32.rc16", [A, B, 1], 0x3020_3020),
        ("prmt.b32.rc16", [A, B, 7], 0x3020_3020),
    ]);
}

#[test]
fn counting_and_finding() {
    check(&[
        ("popc.b32", [u64::MAX], 32),
        ("popc.b64", [u64::MAX], 64),
        ("clz.b32", [0], 32),
        ("clz.b32", [1], 31),
        ("clz.b64", [1], 63),
        ("brev.b32", [1], 1 << 31),
        ("brev.b64", [1], 1 << 63),
        ("bfind.u32", [0], 0xffff_ffff),
        ("bfind.u32", [0x8000_0000], 31),
        ("bfind.s32", [0x8000_0000], 30),
        ("bfind.s32", [0xffff_ffff], 0xffff_ffff),
        ("bfind.shiftamt.u32", [1], 31),
        ("bfind.shiftamt.s32", [0xffff_fffe], 31),
        ("bfind.shiftamt.u32", [0], 0xffff_ffff),
        ("bfind.u64", [1 << 40], 40),
        ("bfind.s64", [u64::MAX << 40], 39),
        ("bfind.shiftamt.u64", [1], 63),
    ]);
    check(&[
        ("fns.b32", [0b1010_1100, 0, 1], 2),
        ("fns.b32", [0b1010_1100, 0, 2], 3),
        ("fns.b32", [0b1010_1100, 0, 4], 7),
        ("fns.b32", [0b1010_1100, 0, 5], 0xffff_ffff),
        ("fns.b32", [0b1010_1100, 6, s32(-1)], 5),
        ("fns.b32", [0b1010_1100, 5, s32(-1)], 5),
        ("fns.b32", [0b1010_1100, 7, s32(i32::MIN)], 0xffff_ffff),
        ("fns.b32", [0b1010_1100, 3, 0], 3),
        ("fns.b32", [0b1010_1100, 4, 0], 0xffff_ffff),
        ("fns.b32", [u64::MAX, 32, 1], 0xffff_ffff),
    ]);
}

#[test]
fn extension_and_masks() {
    check(&[
        ("szext.wrap.u32", [0xffff_ffff, 4], 15),
        ("szext.wrap.s32", [0x0000_0008, 4], s32(-8)),
        ("szext.wrap.s32", [0x0000_0007, 4], 7),
        ("szext.wrap.s32", [0xffff_ffff, 0], 0),
        ("szext.wrap.u32", [0xffff_ffff, 33], 1),
        ("szext.clamp.u32", [0xffff_ffff, 33], 0xffff_ffff),
        ("szext.clamp.s32", [0x8000_0000, 99], 0x8000_0000),
        ("bmsk.clamp.b32", [4, 8], 0xff0),
        ("bmsk.clamp.b32", [28, 8], 0xf000_0000),
        ("bmsk.clamp.b32", [32, 8], 0),
        ("bmsk.clamp.b32", [0, 99], 0xffff_ffff),
        ("bmsk.wrap.b32", [36, 33], 0x10),
        ("bmsk.wrap.b32", [0, 32], 0),
    ]);
}

/// The loops of the PTX manual, bit by bit.
fn extracted(a: u64, position: u32, length: u32, bits: u32, signed: bool) -> u64 {
    let bit = |i: u32| a >> i & 1;
    let fill = if signed && length > 0 { bit((position + length - 1).min(bits - 1)) } else { 0 };
    (0..bits).fold(0, |d, i| {
        let inside = i < length && position + i < bits;
        d | (if inside { bit(position + i) } else { fill }) << i
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn field_extraction_follows_the_manual(a: u64, position in 0u32..300, length in 0u32..300) {
        let sources = [a, position.into(), length.into()];
        let (position, length) = (position & 255, length & 255);
        prop_assert_eq!(eval("bfe.u32", sources), extracted(a, position, length, 32, false));
        prop_assert_eq!(eval("bfe.s32", sources), extracted(a, position, length, 32, true));
        prop_assert_eq!(eval("bfe.u64", sources), extracted(a, position, length, 64, false));
        prop_assert_eq!(eval("bfe.s64", sources), extracted(a, position, length, 64, true));
    }

    #[test]
    fn field_insertion_follows_the_manual(a: u64, b: u64, position in 0u32..300, length in 0u32..300) {
        let sources = [a, b, position.into(), length.into()];
        let (position, length) = (position & 255, length & 255);
        for (text, bits) in [("bfi.b32", 32), ("bfi.b64", 64)] {
            let expected = (0..bits).fold(0u64, |d, i| {
                let from_a = i >= position && i < position + length;
                d | (if from_a { a >> (i - position) & 1 } else { b >> i & 1 }) << i
            });
            prop_assert_eq!(eval(text, sources), expected);
        }
    }

    #[test]
    fn lop3_looks_every_bit_up(a: u32, b: u32, c: u32, table in 0u32..256) {
        let expected = (0..32).fold(0, |d, i| {
            let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
            d | (table >> index & 1) << i
        });
        let sources = [a, b, c, table].map(u64::from);
        prop_assert_eq!(eval("lop3.b32", sources), u64::from(expected));
        let [a, b, c, table] = sources;
        for q in [0, 1] {
            let (p_and, p_or) = (u64::from(expected != 0) & q, u64::from(expected != 0) | q);
            prop_assert_eq!(eval("lop3.and.b32", [a, b, c, table, q]), p_and << 32 | u64::from(expected));
            prop_assert_eq!(eval("lop3.or.b32", [a, b, c, table, q]), p_or << 32 | u64::from(expected));
        }
    }

    #[test]
    fn funnel_shifts_agree_with_64_bits(a: u32, b: u32, c in 0u32..100) {
        let both = u64::from(b) << 32 | u64::from(a);
        let sources = [a, b, c].map(u64::from);
        prop_assert_eq!(eval("shf.r.clamp.b32", sources), both >> c.min(32) & 0xffff_ffff);
        prop_assert_eq!(eval("shf.r.wrap.b32", sources), both >> (c & 31) & 0xffff_ffff);
        prop_assert_eq!(eval("shf.l.clamp.b32", sources), (u128::from(both) << c.min(32) >> 32) as u64 & 0xffff_ffff);
        prop_assert_eq!(eval("shf.l.wrap.b32", sources), (u128::from(both) << (c & 31) >> 32) as u64 & 0xffff_ffff);
    }
}
