//! Matrix instructions of warpgroups: every type and layout against the product that they stand for.

use tilewright_arch::ComputeCapability;
use tilewright_emulator::alu::tensor::{TensorProduct, Unit, sums_of};
use tilewright_emulator::ptx_isa::{MatrixArithmetic, Overflow, Type};
use tilewright_emulator::{Launch, LaunchError, Machine, Program};

/// An instruction of one type.
struct Form {
    /// Behind `wgmma.mma_async.sync.aligned.m64nNkK`.
    suffix: &'static str,
    types: [Type; 3],
    /// Behind the predicate.
    numbers: &'static str,
    negates: [bool; 2],
    overflow: Overflow,
}

fn form(suffix: &'static str, types: [Type; 3], numbers: &'static str) -> Form {
    let negates = [numbers.starts_with(", -1"), numbers.starts_with(", 1, -1")];
    let overflow = if suffix.contains("satfinite") { Overflow::Saturate } else { Overflow::Wrap };
    Form { suffix, types, numbers, negates, overflow }
}

fn forms() -> Vec<Form> {
    use Type::*;
    vec![
        form("k16.f32.f16.f16", [F16, F16, F32], ", 1, 1, 0, 0"),
        form("k16.f16.f16.f16", [F16, F16, F16], ", -1, 1, 0, 0"),
        form("k16.f32.bf16.bf16", [Bf16, Bf16, F32], ", 1, -1, 0, 0"),
        form("k8.f32.tf32.tf32", [Tf32, Tf32, F32], ", 1, 1"),
        form("k32.f32.e4m3.e5m2", [E4m3, E5m2, F32], ", -1, 1"),
        form("k32.f16.e5m2.e4m3", [E5m2, E4m3, F16], ", 1, 1"),
        form("k32.s32.s8.u8", [S8, U8, S32], ""),
        form("k32.satfinite.s32.u8.s8", [U8, S8, S32], ""),
        form("k256.s32.b1.b1.and.popc", [B1, B1, S32], ""),
    ]
}

/// Where A is, and how A and B lie in shared memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    in_registers: bool,
    /// 0: none, 1 to 3: 128, 64 and 32 bytes.
    swizzle: u64,
    transposed: [bool; 2],
}

const PLAIN: Place = Place { in_registers: false, swizzle: 0, transposed: [false; 2] };

/// Bytes of the shared memory that an operand lies in.
const ROOM: usize = 16384;

/// The bytes of an operand of `lines` rows of 32 bytes along k as they lie in shared memory, its offsets, and the descriptor at `start`.
fn image(rows: &[[u8; 32]], element: usize, place: Place, transposed: bool, start: u64) -> (Vec<u8>, u64) {
    let width = [16, 128, 64, 32][place.swizzle as usize];
    let (depth, count) = (32 / element, rows.len());
    // Distances that differ from each other, as the manual of the instruction names them.
    let (leading, stride) = match (transposed, place.swizzle) {
        (false, 0) => (128 * count.div_ceil(8) + 128, 128),
        (false, _) => (16, 8 * width),
        (true, 0) => (128, 128 * depth.div_ceil(8) + 128),
        (true, _) => (width * depth.next_multiple_of(8), 8 * width),
    };
    let mut bytes = vec![0xee; ROOM];
    for (row, values) in rows.iter().enumerate() {
        for (byte, &value) in values.iter().enumerate() {
            let (k, part) = (byte / element, byte % element);
            let at = match (transposed, place.swizzle) {
                (false, 0) => row / 8 * stride + byte / 16 * leading + row % 8 * 16 + byte % 16,
                (false, _) => row / 8 * stride + row % 8 * width + byte,
                (true, 0) => {
                    let across = row * element + part;
                    across / 16 * stride + k / 8 * leading + k % 8 * 16 + across % 16
                }
                (true, _) => {
                    let across = row * element + part;
                    across / width * leading + k / 8 * stride + k % 8 * width + across % width
                }
            };
            let at = at + start as usize;
            let mixed = match place.swizzle {
                1 => at ^ (at >> 7 & 7) << 4,
                2 => at ^ (at >> 7 & 3) << 4,
                3 => at ^ (at >> 7 & 1) << 4,
                _ => at,
            };
            bytes[mixed - start as usize] = value;
        }
    }
    let descriptor =
        start >> 4 | (leading as u64 >> 4) << 16 | (stride as u64 >> 4) << 32 | place.swizzle << 62;
    (bytes, descriptor)
}

/// A kernel of one warpgroup that brings both operands to shared memory, and C and D through registers.
fn kernel(form: &Form, place: Place, n: usize) -> String {
    let registers = n / 2 * form.types[2].bits() as usize / 32;
    let names: Vec<String> = (0..registers).map(|index| format!("%d{index}")).collect();
    let moves = |from_memory: bool| -> String {
        let step = |index: usize| match from_memory {
            true => format!("ld.global.b32 %d{index}, [%c+{}];\n", 4 * index),
            false => format!("st.global.b32 [%c+{}], %d{index};\n", 4 * index),
        };
        (0..registers).map(step).collect()
    };
    let a = if place.in_registers { "{%a0, %a1, %a2, %a3}" } else { "%da" };
    let numbers = match place.transposed {
        [false, false] => form.numbers.to_owned(),
        transposed => {
            let [a, b] = transposed.map(u8::from);
            format!("{}{a}, {b}", &form.numbers[..form.numbers.len() - 4])
        }
    };
    let numbers = match place.in_registers && numbers.len() > 9 {
        // Registers are not transposed.
        true => format!("{}{}", &numbers[..numbers.len() - 4], &numbers[numbers.len() - 1..]),
        false => numbers,
    };
    format!(
        "
        .version 8.0 .target sm_90a .address_size 64
        .extern .shared .align 1024 .b8 room[];
        .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 ra, .param .u64 da,
                          .param .u64 db, .param .u32 adds) {{
            .reg .b32 %t, %o, %i, %d<{registers}>, %a<4>, %x<4>;
            .reg .b64 %a, %b, %c, %ra, %da, %db, %w, %from;
            .reg .pred %p, %q;
            ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %ra, [ra];
            ld.param.u64 %da, [da]; ld.param.u64 %db, [db]; ld.param.u32 %o, [adds];
            setp.ne.u32 %p, %o, 0;
            mov.u32 %t, %tid.x;
            shl.b32 %i, %t, 4;
        copy:
            cvt.u64.u32 %w, %i;
            mov.u32 %o, room; add.u32 %o, %o, %i;
            add.u64 %from, %a, %w;
            ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%from];
            st.shared.v4.b32 [%o], {{%x0, %x1, %x2, %x3}};
            add.u64 %from, %b, %w;
            ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%from];
            st.shared.v4.b32 [%o+{ROOM}], {{%x0, %x1, %x2, %x3}};
            add.u32 %i, %i, 2048;
            setp.lt.u32 %q, %i, {ROOM};
            @%q bra copy;
            mul.wide.u32 %w, %t, 16; add.u64 %ra, %ra, %w;
            ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%ra];
            mul.wide.u32 %w, %t, {}; add.u64 %c, %c, %w;
            {}
            fence.proxy.async.shared::cta;
            bar.sync 0;
            wgmma.fence.sync.aligned;
            wgmma.mma_async.sync.aligned.m64n{n}{} {{{}}}, {a}, %db, %p{numbers};
            wgmma.commit_group.sync.aligned;
            wgmma.wait_group.sync.aligned 0;
            {}
            ret;
        }}",
        4 * registers,
        moves(true),
        form.suffix,
        names.join(", "),
        moves(false),
    )
}

/// Numbers that no one can guess.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Bytes that are no NaN or infinity of any type, so that results differ.
fn tame(bytes: Vec<u8>, ty: Type) -> Vec<u8> {
    let mask = match ty {
        Type::E4m3 | Type::E5m2 => [0xbb; 4],
        Type::F16 => [0xff, 0xbf, 0xff, 0xbf],
        Type::Bf16 => [0xff, 0xbf, 0xff, 0xbf],
        Type::Tf32 | Type::F32 => [0xff, 0xff, 0xff, 0xbf],
        _ => [0xff; 4],
    };
    bytes.into_iter().zip(mask.into_iter().cycle()).map(|(byte, mask)| byte & mask).collect()
}

fn elements(rows: &[[u8; 32]], ty: Type) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    match ty.bits() {
        1 => {
            rows.as_flattened().iter().flat_map(|&b| (0..8).map(move |bit| u64::from(b >> bit & 1))).collect()
        }
        bits => rows.as_flattened().chunks_exact(bits as usize / 8).map(word).collect(),
    }
}

/// Runs one instruction and compares all of D.
fn check(form: &Form, place: Place, n: usize, adds: bool) {
    let [a_type, b_type, d_type] = form.types;
    let of = |bytes: Vec<u8>| -> Vec<[u8; 32]> {
        bytes.chunks_exact(32).map(|row| row.try_into().unwrap()).collect()
    };
    let a = of(tame(bytes(1, 64 * 32), a_type));
    let b = of(tame(bytes(2, n * 32), b_type));
    let width = d_type.bits() as usize / 8;
    let c = elements_of(&tame(bytes(3, 64 * n * width), d_type), width);
    let element = |ty: Type| (ty.bits() as usize / 8).max(1);
    let (a_image, da) = image(&a, element(a_type), place, place.transposed[0], 0);
    let (b_image, db) = image(&b, element(b_type), place, place.transposed[1], ROOM as u64);
    // Thread t of the warpgroup has rows t / 4 (in its warp) and 8 behind, and columns 2 (t mod 4) and the next of each 8.
    let position = |thread: usize, index: usize| {
        let row = thread / 32 * 16 + thread % 32 / 4 + 8 * (index / 2 % 2);
        (row, index / 4 * 8 + thread % 4 * 2 + index % 2)
    };
    let mut registers = Vec::new();
    let mut of_a = Vec::new();
    for thread in 0..128 {
        for index in 0..n / 2 {
            let (row, column) = position(thread, index);
            registers.extend_from_slice(&c[row * n + column].to_le_bytes()[..width]);
        }
        // The registers of A: rows as those of D, then the second half of k.
        let row = thread / 32 * 16 + thread % 32 / 4;
        for index in 0..4 {
            let (row, at) = (row + 8 * (index % 2), index / 2 * 16 + thread % 4 * 4);
            of_a.extend_from_slice(&a[row][at..at + 4]);
        }
    }
    let text = kernel(form, place, n);
    let mut machine = Machine::new(Program::new(&text).unwrap());
    let [pa, pb, pc, pr] =
        [&a_image, &b_image, &registers, &of_a].map(|bytes| machine.upload(bytes.as_slice()).unwrap());
    let launch = Launch::new([1; 3], [128, 1, 1])
        .dynamic_shared(2 * ROOM as u32)
        .arg(pa)
        .arg(pb)
        .arg(pc)
        .arg(pr)
        .arg(da)
        .arg(db)
        .arg(i32::from(adds));
    let report = machine.launch("k", &launch).unwrap();
    assert!(report.is_clean(), "{} {place:?}: {:#?}", form.suffix, report.findings);
    let found = machine.download::<u8>(pc, registers.len()).unwrap();
    let k = 256 / if a_type == Type::B1 { 1 } else { a_type.bits() as usize };
    let sign = |words: Vec<u64>, ty: Type, flip: bool| -> Vec<u64> {
        let sign = if flip { 1 << (ty.bits() - 1) } else { 0 };
        words.into_iter().map(|word| word ^ sign).collect()
    };
    let bits = if a_type == Type::B1 { MatrixArithmetic::AndPopc } else { MatrixArithmetic::MultiplyAdd };
    let product = TensorProduct {
        n,
        k,
        a: a_type,
        b: b_type,
        c: d_type,
        d: d_type,
        arithmetic: bits,
        overflow: form.overflow,
        sums: sums_of(Unit::Warpgroup, ComputeCapability::new(9, 0), a_type),
    };
    let expected = product.evaluate(
        &sign(elements(&a, a_type), a_type, form.negates[0]),
        &sign(elements(&b, b_type), b_type, form.negates[1]),
        &if adds { c } else { vec![0; 64 * n] },
    );
    let found = elements_of(&found, width);
    for thread in 0..128 {
        for index in 0..n / 2 {
            let (row, column) = position(thread, index);
            assert_eq!(
                found[thread * n / 2 + index],
                expected[row * n + column],
                "{} n{n} {place:?}: row {row}, column {column}",
                form.suffix
            );
        }
    }
}

fn elements_of(bytes: &[u8], width: usize) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks_exact(width).map(word).collect()
}

#[test]
fn every_type_has_its_instruction() {
    for form in forms() {
        for adds in [true, false] {
            check(&form, PLAIN, 16, adds);
        }
        check(&form, Place { in_registers: true, ..PLAIN }, 8, true);
        check(&form, Place { swizzle: 3, ..PLAIN }, 256, true);
        check(&form, Place { swizzle: 1, ..PLAIN }, 96, true);
    }
}

#[test]
fn every_layout_is_read() {
    let half = || form("k16.f32.f16.f16", [Type::F16, Type::F16, Type::F32], ", 1, 1, 0, 0");
    for swizzle in 0..4 {
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            check(&half(), Place { in_registers: false, swizzle, transposed }, 128, true);
        }
        check(&half(), Place { in_registers: true, swizzle, transposed: [false, true] }, 64, true);
    }
}

#[test]
fn what_does_not_exist_is_refused() {
    let half = form("k16.f32.f16.f16", [Type::F16, Type::F16, Type::F32], ", 1, 1, 0, 0");
    let text = kernel(&half, PLAIN, 16);
    for (from, to) in [
        ("m64n16k16.f32", "m64n12k16.f32"),
        ("m64n16k16.f32", "m64n16k32.f32"),
        ("m64n16k16.f32.f16.f16", "m64n16k16.f32.f16.bf16"),
        (", %p, 1, 1, 0, 0", ", %p, 2, 1, 0, 0"),
        (", %p, 1, 1, 0, 0", ", %p, 1, 1"),
        ("mma_async.sync", "mma_async.sp.sync"),
    ] {
        let wrong = text.replace(from, to);
        assert_ne!(wrong, text, "{from}");
        let mut machine = Machine::new(Program::new(&wrong).unwrap());
        let data = machine.upload(&vec![0u8; ROOM]).unwrap();
        let launch = Launch::new([1; 3], [128, 1, 1]).dynamic_shared(2 * ROOM as u32);
        let launch = launch.arg(data).arg(data).arg(data).arg(data).arg(0i64).arg(0i64).arg(0i32);
        let report = machine.launch("k", &launch).unwrap();
        assert!(matches!(report.error, Some(LaunchError::Unsupported { .. })), "{to}: {:?}", report.error);
    }
}
