//! The machine has operations of its own for frequent instructions: they must give what the scalar semantics give.

use tilewright_emulator::ptx_isa::{Modifier, Opcode, ScalarOp, Selector, Type};
use tilewright_emulator::{Launch, Machine, Program, alu};

use super::coverage::arithmetic_opcodes;
use super::ptx::parse;

/// Threads, and values tried for each source.
const VALUES: usize = 256;

/// What compilers rarely write.
const RARE: &[&str] = &[
    "cvt.pack.sat.s16.s32",
    "cvt.pack.sat.u8.s32.b32",
    "cvt.s8.s32",
    "cvt.sat.u8.s16",
    "cvt.rn.satfinite.e4m3x2.f32",
    "cvt.rn.f16x2.e5m2x2",
    "cvt.rna.tf32.f32",
    "set.lt.s16.f16",
    "set.lt.u32.bf16x2",
    "set.eq.and.f32.s64",
    "setp.lt.f16x2",
    "setp.hi.or.u16",
    "vadd.s32.u32.s32.sat",
    "vset4.u32.s32.lt",
    "vmad.s32.s32.u32.sat.shr7",
    "mad.wide.s16",
    "mad24.hi.u32",
    "mul.hi.s64",
    "mad.hi.sat.s32",
    "add.u16x2",
    "min.relu.s16x2",
    "sad.s16",
    "bfe.s64",
    "szext.wrap.s32",
    "fns.b32",
    "dp2a.hi.s32.u32",
    "slct.f64.f32",
    "testp.subnormal.f64",
    "fma.rp.ftz.sat.f32",
    "add.rz.f32x2",
    "div.rm.f64",
    "min.xorsign.abs.bf16x2",
    "max.NaN.f16",
    "prmt.b32.ecl",
    "cnot.b16",
    "xor.pred",
    "add.rz.f32.f16",
    "fma.rn.sat.f32.bf16",
    "tanh.approx.bf16x2",
];

/// Register width of a type: 1 for predicates, 16 for bytes too.
fn width(ty: Type) -> u32 {
    match ty.bits() {
        1 => 1,
        bits => bits.max(16),
    }
}

fn destination_width(op: &ScalarOp) -> u32 {
    match op.opcode {
        Opcode::Setp | Opcode::Testp => 1,
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => 32,
        Opcode::Cvt if op.modifiers.has(Modifier::Pack) => 32,
        Opcode::Mul | Opcode::Mad if op.modifiers.has(Modifier::Wide) => 2 * width(op.types[0]),
        _ => width(op.types[0]),
    }
}

fn source_width(op: &ScalarOp, index: usize) -> u32 {
    match (op.opcode, index) {
        (Opcode::Setp | Opcode::Set | Opcode::Selp, 2) => 1,
        (Opcode::Cvt | Opcode::Set, _) => width(op.types[1]),
        (Opcode::Shl | Opcode::Shr, 1) | (Opcode::Bfe, 1 | 2) | (Opcode::Bfi, 2 | 3) | (Opcode::Slct, 2) => {
            32
        }
        (Opcode::Mad, 2) if op.modifiers.has(Modifier::Wide) => 2 * width(op.types[0]),
        // Mixed precision: all but the last source have the second type.
        (Opcode::Add | Opcode::Fma, _) if op.written_types == 2 && index + 1 < op.sources.into() => {
            width(op.types[1])
        }
        _ => width(op.types[0]),
    }
}

/// A kernel that applies `opcode` to one word of each source array per thread.
fn kernel(opcode: &str, op: &ScalarOp) -> String {
    let mut body = String::new();
    let mut operands = Vec::new();
    for index in 0..usize::from(op.sources) {
        body += &format!("ld.param.u64 %d0, [s{index}]; add.s64 %d0, %d0, %d9; ld.global.u64 %d1, [%d0];\n");
        let (register, conversion) = match source_width(op, index) {
            1 => (format!("%p{index}"), "and.b64 %d1, %d1, 1; setp.ne.u64"),
            16 => (format!("%h{index}"), "cvt.u16.u64"),
            32 => (format!("%r{index}"), "cvt.u32.u64"),
            _ => (format!("%d1{index}"), "mov.b64"),
        };
        let zero = if register.starts_with("%p") { ", 0" } else { "" };
        body += &format!("{conversion} {register}, %d1{zero};\n");
        operands.push(register);
    }
    let (result, widened) = match (op.opcode, destination_width(op)) {
        (Opcode::Setp, _) => {
            ("%p8|%p9", "selp.b64 %d2, 1, 0, %p8; selp.b64 %d3, 2, 0, %p9; or.b64 %d2, %d2, %d3;")
        }
        (_, 1) => ("%p8", "selp.b64 %d2, 1, 0, %p8;"),
        (_, 16) => ("%h8", "cvt.u64.u16 %d2, %h8;"),
        (_, 32) => ("%r8", "cvt.u64.u32 %d2, %r8;"),
        _ => ("%d8", "mov.b64 %d2, %d8;"),
    };
    format!(
        ".version 9.0 .target sm_100a .address_size 64
        .visible .entry k(.param .u64 s0, .param .u64 s1, .param .u64 s2, .param .u64 s3, .param .u64 out) {{
        .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<11>; .reg .b64 %d<20>;
        mov.u32 %r10, %tid.x; mul.wide.u32 %d9, %r10, 8;
        {body} {opcode} {result}, {operands}; {widened}
        ld.param.u64 %d0, [out]; add.s64 %d0, %d0, %d9; st.global.u64 [%d0], %d2; ret; }}",
        operands = operands.join(", "),
    )
}

/// Words that are special in some type, then anything.
fn words(seed: u64) -> Vec<u64> {
    const SPECIAL: &[u64] = &[
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        0x7f,
        0x80,
        0xff,
        0x3c00,
        0x7c00,
        0x7e00,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x3f80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001_0000_0000,
        0x3ff0_0000_0000_0000,
        0x7ff0_0000_0000_0000,
        0x8000_0000_0000_0000,
        0xffff_ffff_ffff_ffff,
        0x4049_0fdb_4049_0fdb,
        0xc2c8_0000_c2c8_0000,
        0x0080_0000,
        0x007f_ffff,
    ];
    let mut state = seed;
    let mut random = move || {
        // A linear congruential generator; the upper bits are good enough to mix.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    (0..VALUES)
        .map(
            |_| if random() % 3 == 0 { SPECIAL[(random() >> 33) as usize % SPECIAL.len()] } else { random() },
        )
        .collect()
}

#[test]
fn the_machine_gives_what_the_semantics_give() {
    let sources: Vec<Vec<u64>> = (1..=4).map(words).collect();
    let mut tried = 0;
    for opcode in arithmetic_opcodes().chain(RARE.iter().copied()) {
        // Two-operand minima before three-operand ones, and so on: the fewest sources that exist.
        let op = (1..=4)
            .filter_map(|n| parse(opcode, n, [Selector::Whole; 4]))
            .find(|op| alu::prepare(op).is_some());
        let op = op.unwrap_or_else(|| panic!("{opcode} is not supported"));
        let operation = alu::prepare(&op).unwrap();
        if op.opcode == Opcode::Lop3 || op.opcode == Opcode::Mov {
            // The table of lop3 is an immediate; mov is the machine's own.
            continue;
        }
        let program = Program::new(&kernel(opcode, &op)).unwrap_or_else(|error| panic!("{opcode}: {error}"));
        let mut machine = Machine::new(program);
        let mut launch = Launch::new([1; 3], [VALUES as u32, 1, 1]);
        for words in &sources {
            launch = launch.arg(machine.upload(words).unwrap());
        }
        let out = machine.allocate(8 * VALUES as u64).unwrap();
        let report = machine.launch("k", &launch.arg(out)).unwrap();
        assert!(report.is_clean(), "{opcode}: {:?} {:?}", report.error, report.findings);
        let results: Vec<u64> = machine.download(out, VALUES).unwrap();
        for (thread, &result) in results.iter().enumerate() {
            let inputs = std::array::from_fn(|i| sources.get(i).map_or(0, |words| words[thread]));
            let expected = operation.lane(inputs);
            // A signed result is extended with its sign to a wider register.
            let narrow = op.opcode == Opcode::Cvt && op.types[0] == Type::S8;
            let expected = if narrow { u64::from(expected as i8 as u16) } else { expected };
            assert_eq!(result, expected, "{opcode} {inputs:#x?}: {result:#x} instead of {expected:#x}");
        }
        tried += 1;
    }
    assert!(tried > 250, "only {tried}");
}

/// Instructions that a table of opcodes cannot write: two destinations, immediates, parts of registers.
#[test]
fn special_operands() {
    // Body, and %r0 after it. %r1 = 0x0a0b0c0d, %r2 = 0xf0f0f0f0, %r3 = 7; %p1 is true, %p2 false.
    let rows = [
        ("lop3.or.b32 %r4|%p3, %r1, %r2, %r3, 0x00, %p1; selp.b32 %r0, 1, 2, %p3;", 1),
        ("lop3.or.b32 %r4|%p3, %r1, %r2, %r3, 0x00, %p2; selp.b32 %r0, 1, 2, %p3;", 2),
        ("lop3.and.b32 %r0|%p3, %r1, %r2, %r3, 0x80, !%p2; @!%p3 mov.u32 %r0, 99;", 99),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 0x0a0b_0c0d ^ 0xf0f0_f0f0 ^ 7),
        ("setp.lt.and.s32 %p3|%p4, %r3, 8, !%p2; selp.b32 %r0, 1, 2, %p3; @%p4 mov.u32 %r0, 99;", 1),
        ("vadd.u32.u32.u32 %r0, %r1.b3, %r1.h0;", 0x0a + 0x0c0d),
        ("vadd.u32.u32.u32.sat %r0.b1, %r2, %r2, %r1;", 0x0a0b_ff0d),
        ("vadd4.u32.u32.u32 %r0.b20, %r1.b3210, %r1.b3210, %r2;", 0xf016_f01a),
        ("vsub2.s32.s32.s32 %r0.h1, %r1.h10, %r2.h32, %r3;", 0x191b_0007),
    ];
    for (body, expected) in rows {
        let program = Program::new(&format!(
            ".version 9.0 .target sm_80 .address_size 64
            .visible .entry k(.param .u64 out) {{
            .reg .pred %p<5>; .reg .b32 %r<5>; .reg .b64 %d<2>;
            mov.u32 %r1, 0x0a0b0c0d; mov.u32 %r2, 0xf0f0f0f0; mov.u32 %r3, 7;
            setp.eq.u32 %p1, %r3, 7; setp.ne.u32 %p2, %r3, 7;
            {body}
            ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r0; ret; }}"
        ))
        .unwrap();
        let mut machine = Machine::new(program);
        let out = machine.allocate(4).unwrap();
        let report = machine.launch("k", &Launch::new([1; 3], [1; 3]).arg(out)).unwrap();
        assert!(report.is_clean(), "{body}: {:?}", report.error);
        let result = machine.download::<u32>(out, 1).unwrap()[0];
        assert_eq!(result, expected, "{body}: {result:#x}");
    }
}

/// A form that is not supported is refused by name when it is executed, and not before.
#[test]
fn negated_operands_parse() {
    let program = Program::new(
        ".version 9.0 .target sm_80 .address_size 64
        .visible .entry k() { .reg .b32 %r<4>; vmad.s32.s32.u32.sat %r0, %r1, %r2, -%r3; ret; }",
    )
    .unwrap();
    let report = Machine::new(program).launch("k", &Launch::new([1; 3], [1; 3])).unwrap();
    assert!(report.error.unwrap().to_string().contains("vmad.s32.s32.u32.sat"));
}
