use proptest::prelude::*;

use super::ptx::*;

const MIN32: u64 = s32(i32::MIN);
const MAX32: u64 = s32(i32::MAX);

#[test]
fn sums_wrap_or_saturate() {
    check(&[
        ("add.u16", [0xffff, 1], 0),
        ("add.s16", [0x7fff, 1], 0x8000),
        ("add.s32", [MAX32, 1], MIN32),
        ("add.sat.s32", [MAX32, 1], MAX32),
        ("add.sat.s32", [MIN32, s32(-1)], MIN32),
        ("sub.sat.s32", [MIN32, 1], MIN32),
        ("sub.sat.s32", [0, MIN32], MAX32),
        ("add.u64", [u64::MAX, 2], 1),
        ("sub.u32", [0, 1], 0xffff_ffff),
        ("add.u32", [0xdead_0000_0000_0001, 0xbeef_0000_0000_0002], 3),
        ("add.u16x2", [0xffff_ffff, 0x0001_0001], 0),
        ("add.s16x2", [0x7fff_0001, 0x0001_0002], 0x8000_0003),
    ]);
}

#[test]
fn products_have_three_parts() {
    check(&[
        ("mul.lo.s32", [s32(-3), 5], s32(-15)),
        ("mul.hi.s32", [s32(-3), 5], s32(-1)),
        ("mul.hi.u32", [0xffff_ffff, 0xffff_ffff], 0xffff_fffe),
        ("mul.wide.s32", [s32(-3), 5], s64(-15)),
        ("mul.wide.u32", [0xffff_ffff, 0xffff_ffff], 0xffff_fffe_0000_0001),
        ("mul.wide.s16", [s16(-300), 300], s32(-90000)),
        ("mul.wide.u16", [0xffff, 0xffff], 0xfffe_0001),
        ("mul.lo.u64", [u64::MAX, u64::MAX], 1),
        ("mul.hi.u64", [u64::MAX, u64::MAX], u64::MAX - 1),
        ("mul.hi.s64", [s64(-1), s64(-1)], 0),
        ("mul.hi.s64", [s64(i64::MIN), s64(i64::MIN)], 1 << 62),
        ("mul.hi.s16", [s16(-300), 300], s16(-2)),
        ("mul24.lo.u32", [0xff00_0003, 0xff00_0005], 15),
        ("mul24.hi.u32", [0xff_ffff, 0xff_ffff], 0xffff_fe00),
        ("mul24.lo.s32", [0x00ff_ffff, 7], s32(-7)),
        ("mul24.hi.s32", [0x00ff_ffff, 7], s32(-1)),
    ]);
    check(&[
        ("mad.lo.s32", [s32(-3), 5, 16], 1),
        ("mad.hi.s32", [s32(-3), 5, 16], 15),
        ("mad.hi.sat.s32", [MAX32, MAX32, MAX32], MAX32),
        ("mad.wide.s32", [s32(-3), 5, 10], s64(-5)),
        ("mad.wide.u16", [0xffff, 0xffff, 0xffff_ffff], 0xfffe_0000),
        ("mad.lo.u64", [u64::MAX, 2, 5], 3),
        ("mad24.lo.s32", [0x00ff_ffff, 7, 10], 3),
        ("mad24.hi.sat.s32", [0x007f_ffff, 0x007f_ffff, MAX32], MAX32),
        ("sad.u32", [3, 10, 100], 107),
        ("sad.s32", [s32(-3), 10, 100], 113),
        ("sad.s32", [MIN32, MAX32, 1], 0),
        ("sad.u16", [0, 0xffff, 2], 1),
    ]);
}

#[test]
fn quotients_round_toward_zero() {
    check(&[
        ("div.s32", [s32(-7), 2], s32(-3)),
        ("rem.s32", [s32(-7), 2], s32(-1)),
        ("div.s32", [MIN32, s32(-1)], MIN32),
        ("rem.s32", [MIN32, s32(-1)], 0),
        ("div.u32", [0xffff_fff9, 2], 0x7fff_fffc),
        ("div.u32", [5, 0], 0xffff_ffff),
        ("rem.u32", [5, 0], 0xffff_ffff),
        ("div.s64", [s64(i64::MIN), s64(-1)], s64(i64::MIN)),
        ("rem.u64", [u64::MAX, 10], 5),
        ("div.s16", [s16(-7), 2], s16(-3)),
    ]);
}

#[test]
fn minima_and_maxima_respect_the_sign() {
    check(&[
        ("min.s32", [s32(-1), 1], s32(-1)),
        ("min.u32", [s32(-1), 1], 1),
        ("max.s32", [s32(-1), 1], 1),
        ("max.u64", [s64(-1), 1], s64(-1)),
        ("min.relu.s32", [s32(-5), 3], 0),
        ("max.relu.s32", [s32(-5), s32(-3)], 0),
        ("max.relu.s32", [s32(-5), 3], 3),
        ("min.s16x2", [0xffff_0003, 0x0001_0002], 0xffff_0002),
        ("min.u16x2", [0xffff_0003, 0x0001_0002], 0x0001_0002),
        ("min.relu.s16x2", [0xffff_0003, 0x0001_0002], 0x0000_0002),
        ("max.relu.s16x2", [0xffff_0003, 0xfffe_0002], 0x0000_0003),
    ]);
    check(&[
        ("abs.s32", [s32(-5)], 5),
        ("abs.s32", [MIN32], MIN32),
        ("neg.s16", [1], 0xffff),
        ("neg.s64", [s64(i64::MIN)], s64(i64::MIN)),
    ]);
}

#[test]
fn dot_products_mix_signs() {
    check(&[
        ("dp4a.u32.u32", [0xff01_0203, 0x0201_0101, 7], 2 * 255 + 1 + 2 + 3 + 7),
        ("dp4a.s32.s32", [0xff01_0203, 0x0201_0101, 7], s32(-2 + 1 + 2 + 3 + 7)),
        ("dp4a.u32.s32", [0xff00_0000, 0xff00_0000, 0], s32(-255)),
        ("dp2a.lo.s32.u32", [0xffff_0003, 0x0403_0201, 10], s32(-2 + 3 + 10)),
        ("dp2a.hi.s32.u32", [0xffff_0003, 0x0403_0201, 10], s32(-4 + 9 + 10)),
        ("dp2a.lo.u32.u32", [0xffff_ffff, 0xffff, 0], 2 * 65535 * 255),
    ]);
}

proptest! {
    #[test]
    fn every_width_agrees_with_wide_arithmetic(a: u64, b: u64, c: u64) {
        macro_rules! widths {
            ($($type:ident $text:literal),*) => {$({
                let (x, y, z) = (a as $type as i128, b as $type as i128, c as $type as i128);
                // A result in the low bits, zeros above.
                let bits = |wide: i128| wide as u64 & (u64::MAX >> (64 - $type::BITS));
                prop_assert_eq!(eval(concat!("add.", $text), [a, b]), bits(x + y));
                prop_assert_eq!(eval(concat!("sub.", $text), [a, b]), bits(x - y));
                prop_assert_eq!(eval(concat!("mul.lo.", $text), [a, b]), bits(x.wrapping_mul(y)));
                let high = (x.wrapping_mul(y) as u128 >> $type::BITS) as i128;
                prop_assert_eq!(eval(concat!("mul.hi.", $text), [a, b]), bits(high));
                prop_assert_eq!(eval(concat!("mad.lo.", $text), [a, b, c]), bits(x.wrapping_mul(y).wrapping_add(z)));
                prop_assert_eq!(eval(concat!("mad.hi.", $text), [a, b, c]), bits(high.wrapping_add(z)));
                prop_assert_eq!(eval(concat!("min.", $text), [a, b]), bits(x.min(y)));
                prop_assert_eq!(eval(concat!("max.", $text), [a, b]), bits(x.max(y)));
                prop_assert_eq!(eval(concat!("sad.", $text), [a, b, c]), bits(z + (x - y).abs()));
                if y != 0 {
                    prop_assert_eq!(eval(concat!("div.", $text), [a, b]), bits(x / y));
                    prop_assert_eq!(eval(concat!("rem.", $text), [a, b]), bits(x % y));
                }
            })*};
        }
        widths!(u16 "u16", u32 "u32", u64 "u64", i16 "s16", i32 "s32", i64 "s64");
        prop_assert_eq!(eval("mul.wide.s32", [a, b]) as i64, i64::from(a as i32) * i64::from(b as i32));
        let product = u64::from(a as u32) * u64::from(b as u32);
        prop_assert_eq!(eval("mad.wide.u32", [a, b, c]), product.wrapping_add(c));
    }
}
