use proptest::prelude::*;

use super::ptx::*;

const NAN: u64 = 0x7fc0_0000;

/// p in bit 0, q in bit 1.
const TRUE: u64 = 0b01;
const FALSE: u64 = 0b10;

#[test]
fn unordered_comparisons() {
    // Comparison, and its result for 1 < 2, 2 = 2, 3 > 2, NaN.
    let rows = [
        ("eq", [0, 1, 0, 0]),
        ("ne", [1, 0, 1, 0]),
        ("lt", [1, 0, 0, 0]),
        ("le", [1, 1, 0, 0]),
        ("gt", [0, 0, 1, 0]),
        ("ge", [0, 1, 1, 0]),
        ("equ", [0, 1, 0, 1]),
        ("neu", [1, 0, 1, 1]),
        ("ltu", [1, 0, 0, 1]),
        ("leu", [1, 1, 0, 1]),
        ("gtu", [0, 0, 1, 1]),
        ("geu", [0, 1, 1, 1]),
        ("num", [1, 1, 1, 0]),
        ("nan", [0, 0, 0, 1]),
    ];
    for (comparison, expected) in rows {
        for (a, expected) in [1.0, 2.0, 3.0, f64::NAN].into_iter().zip(expected) {
            let result = if expected == 1 { TRUE } else { FALSE };
            assert_eq!(
                eval(&format!("setp.{comparison}.f32"), [f(a as f32), f(2.0)]),
                result,
                "{comparison} {a}"
            );
            assert_eq!(eval(&format!("setp.{comparison}.f64"), [d(a), d(2.0)]), result, "{comparison} {a}");
            let half = eval("cvt.rn.f16.f64", [d(a)]);
            assert_eq!(eval(&format!("setp.{comparison}.f16"), [half, 0x4000]), result, "{comparison} {a}");
            let mask = if expected == 1 { 0xffff_ffff } else { 0 };
            assert_eq!(eval(&format!("set.{comparison}.u32.f32"), [f(a as f32), f(2.0)]), mask);
            let one = if expected == 1 { f(1.0) } else { 0 };
            assert_eq!(eval(&format!("set.{comparison}.f32.f64"), [d(a), d(2.0)]), one);
        }
    }
}

#[test]
fn integer_comparisons_respect_the_sign() {
    check(&[
        ("setp.lt.s32", [s32(-1), 0], TRUE),
        ("setp.lt.u32", [s32(-1), 0], FALSE),
        ("setp.lo.u32", [1, 2], TRUE),
        ("setp.ls.u64", [2, 2], TRUE),
        ("setp.hi.u16", [0x1_0001, 0], TRUE),
        ("setp.hs.u32", [1, 2], FALSE),
        ("setp.eq.b32", [0x1_0000_0000, 0], TRUE),
        ("setp.ne.b16", [1, 1], FALSE),
        ("setp.ge.s64", [s64(-1), s64(-1)], TRUE),
        ("setp.eq.s16", [0xffff, 0xffff], TRUE),
        ("set.lt.u32.s32", [s32(-1), 0], 0xffff_ffff),
        ("set.eq.f32.u32", [1, 1], f(1.0)),
    ]);
    for unsigned_only in ["setp.lo.s32", "setp.ls.f32", "setp.lt.b32", "setp.ltu.u32", "setp.nan.s32"] {
        assert!(prepare(unsigned_only, 2).is_none(), "{unsigned_only}");
    }
}

#[test]
fn both_predicates_are_combined() {
    // p = (a < b) op c, q = !(a < b) op c.
    for (logic, function) in
        [("and", (|p, c| p & c) as fn(u64, u64) -> u64), ("or", |p, c| p | c), ("xor", |p, c| p ^ c)]
    {
        for (a, less) in [(1, 1), (3, 0)] {
            for c in [0, 1] {
                let expected = function(less, c) | function(1 - less, c) << 1;
                assert_eq!(eval(&format!("setp.lt.{logic}.s32"), [a, 2, c]), expected, "{logic} {a} {c}");
                let mask = 0xffff_ffff * function(less, c);
                assert_eq!(eval(&format!("set.lt.{logic}.u32.s32"), [a, 2, c]), mask);
            }
        }
    }
    assert!(prepare("setp.lt.and.s32", 2).is_none(), "a Boolean operation needs its predicate");
    assert!(prepare("setp.lt.s32", 3).is_none());
}

#[test]
fn packed_halves_give_a_predicate_each() {
    check(&[
        ("setp.lt.f16x2", [0x3c00_4000, 0x4000_3c00], 0b10),
        ("setp.eq.bf16x2", [0x3f80_3f80, 0x3f80_4000], 0b10),
        ("set.lt.f16x2.f16x2", [0x3c00_4000, 0x4000_3c00], 0x3c00_0000),
        ("set.lt.u32.f16x2", [0x3c00_4000, 0x4000_3c00], 0xffff_0000),
    ]);
}

#[test]
fn flushing_applies_before_comparing() {
    check(&[
        ("setp.gt.f32", [1, 0], TRUE),
        ("setp.gt.ftz.f32", [1, 0], FALSE),
        ("setp.eq.f32", [0x8000_0000, 0], TRUE),
        ("setp.ne.ftz.f16", [1, 0], FALSE),
    ]);
}

#[test]
fn selection() {
    check(&[
        ("selp.b32", [1, 2, 1], 1),
        ("selp.f64", [1, 2, 0], 2),
        ("selp.b16", [0x1_0001, 2, 1], 1),
        ("slct.u32.s32", [1, 2, s32(-1)], 2),
        ("slct.u32.s32", [1, 2, 0], 1),
        ("slct.u64.f32", [1, 2, f(-0.0)], 1),
        ("slct.f32.f32", [1, 2, NAN], 2),
        ("slct.f32.f32", [1, 2, 0x8000_0001], 2),
        ("slct.ftz.f32.f32", [1, 2, 0x8000_0001], 1),
    ]);
}

#[test]
fn classes() {
    // Class, and whether 1.0, subnormal, 0, -inf, NaN belong to it.
    let rows = [
        ("finite", [1, 1, 1, 0, 0]),
        ("infinite", [0, 0, 0, 1, 0]),
        ("number", [1, 1, 1, 1, 0]),
        ("notanumber", [0, 0, 0, 0, 1]),
        ("normal", [1, 0, 0, 0, 0]),
        ("subnormal", [0, 1, 0, 0, 0]),
    ];
    for (class, expected) in rows {
        let singles = [f(1.0), 1, 0, f(f32::NEG_INFINITY), NAN];
        let doubles = [d(1.0), 1, 0, d(f64::NEG_INFINITY), d(f64::NAN)];
        for i in 0..5 {
            assert_eq!(eval(&format!("testp.{class}.f32"), [singles[i]]), expected[i], "{class} {i}");
            assert_eq!(eval(&format!("testp.{class}.f64"), [doubles[i]]), expected[i], "{class} {i}");
        }
    }
}

proptest! {
    #[test]
    fn comparisons_agree_with_rust(a: u64, b: u64) {
        for (a, b) in [(a, b), (a, a), (a, a ^ 1)] {
            let p = |holds: bool| if holds { TRUE } else { FALSE };
            prop_assert_eq!(eval("setp.lt.s32", [a, b]), p((a as i32) < b as i32));
            prop_assert_eq!(eval("setp.le.u32", [a, b]), p(a as u32 <= b as u32));
            prop_assert_eq!(eval("setp.gt.s64", [a, b]), p(a as i64 > b as i64));
            prop_assert_eq!(eval("setp.ge.f32", [a, b]), p(f32::from_bits(a as u32) >= f32::from_bits(b as u32)));
            prop_assert_eq!(eval("setp.neu.f64", [a, b]), p(f64::from_bits(a) != f64::from_bits(b)));
        }
    }
}
