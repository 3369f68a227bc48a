//! Products of matrices against those of an H100, bit for bit.

use std::{collections::HashMap, path::PathBuf};

use super::npz::{Array, read};
use tilewright_arch::ComputeCapability;
use tilewright_emulator::alu::tensor::{TensorProduct, Unit, sums_of};
use tilewright_emulator::alu::{fragment_position, fragment_registers, multiply};
use tilewright_emulator::ptx_isa::{
    Fragment, Major, MatrixArithmetic, MatrixFamily, MatrixOp, Overflow, Type,
};

const H100: ComputeCapability = ComputeCapability::new(9, 0);

/// One job of one instruction, or of several in a row: A and B of each of them.
struct Case {
    op: String,
    steps: usize,
    a: Array,
    b: Array,
    c: Array,
    d: Array,
}

fn cases(arrays: &HashMap<String, Array>, prefix: &str) -> Vec<Case> {
    let Some(same) = arrays.get(&format!("{prefix}same")) else { return Vec::new() };
    let mut results: HashMap<(String, u64), Array> = HashMap::new();
    let start = format!("{prefix}D_");
    for (name, results_of) in arrays.iter().filter(|(name, _)| name.starts_with(&start)) {
        let op = &name[start.len()..];
        let jobs = &arrays[&format!("{prefix}J_{op}")].words;
        for (index, &job) in jobs.iter().enumerate() {
            results.insert((op.to_owned(), job), results_of.at(index));
        }
    }
    for (op, of, jobs) in same_as(&same.text()) {
        for job in jobs {
            if let Some(result) = results.get(&(of.clone(), job)).cloned() {
                results.insert((op.clone(), job), result);
            }
        }
    }
    let of = |name: &str, job: u64| arrays[&format!("{prefix}{name}")].at(job as usize);
    results
        .into_iter()
        .map(|((op, job), d)| {
            let (name, steps) = op.split_once('@').unwrap_or((&op, "1"));
            let (a, b) = (of("A", job), of("B", job));
            Case { op: name.into(), steps: steps.parse().unwrap(), a, b, c: of("C", job), d }
        })
        .collect()
}

/// `{"op": ["other", [0, 1]], ...}`.
fn same_as(text: &str) -> Vec<(String, String, Vec<u64>)> {
    let entries = text.trim_matches(['{', '}']).split("]],");
    let entry = |entry: &str| {
        let names: Vec<&str> = entry.split('"').collect();
        let jobs = names.get(4)?.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        Some((names[1].to_owned(), names[3].to_owned(), jobs.collect()))
    };
    entries.filter_map(entry).collect()
}

/// Types of A, B and D by the name of a file.
fn types(name: &str) -> [Type; 3] {
    use Type::*;
    match name {
        "f16" => [F16, F16, F32],
        "f16h" => [F16, F16, F16],
        "bf16" => [Bf16, Bf16, F32],
        "tf32" => [Tf32, Tf32, F32],
        "e4e4" => [E4m3, E4m3, F32],
        "e4e5" => [E4m3, E5m2, F32],
        "e5e4" => [E5m2, E4m3, F32],
        "e5e5" => [E5m2, E5m2, F32],
        "e4e4h" => [E4m3, E4m3, F16],
        "e4e5h" => [E4m3, E5m2, F16],
        "e5e4h" => [E5m2, E4m3, F16],
        "e5e5h" => [E5m2, E5m2, F16],
        "s8s8" => [S8, S8, S32],
        "s8u8" => [S8, U8, S32],
        "u8s8" => [U8, S8, S32],
        "u8u8" => [U8, U8, S32],
        "b1" => [B1, B1, S32],
        "f64" => [F64, F64, F64],
        _ => panic!("{name}"),
    }
}

/// The first `k` of each row, an element in each word.
fn elements(array: &Array, k: usize, ty: Type) -> Vec<u64> {
    let stored = *array.shape.last().unwrap();
    let rows = array.words.chunks_exact(stored);
    match ty {
        Type::B1 => rows.flat_map(|row| (0..k).map(|bit| row[bit / 8] >> (bit % 8) & 1)).collect(),
        _ => rows.flat_map(|row| row[..k].to_vec()).collect(),
    }
}

/// D of a case, and how many of its rows count.
fn result(case: &Case, name: &str) -> Vec<u64> {
    let [a, b, d] = types(name);
    let words: Vec<&str> = case.op.split('_').collect();
    let has = |word: &str| words.contains(&word);
    let half = words.iter().find_map(|word| word.strip_prefix('k')?.parse().ok());
    let stored = case.a.shape.last().unwrap() * if a == Type::B1 { 8 } else { 1 };
    let k: usize = match case.op.as_str() {
        "d_0" | "d_1" => 4,
        "d_2" => 8,
        _ => half.unwrap_or(stored),
    };
    let arithmetic = match a {
        Type::B1 if has("xor") => MatrixArithmetic::XorPopc,
        Type::B1 => MatrixArithmetic::AndPopc,
        _ => MatrixArithmetic::MultiplyAdd,
    };
    let overflow = if has("sat") { Overflow::Saturate } else { Overflow::Wrap };
    let mut sums = if has("z") { vec![0; case.c.words.len()] } else { case.c.words.clone() };
    for step in 0..case.steps {
        let chained = case.a.shape.len() == 3;
        let of = |array: &Array| if chained { array.at(step) } else { array.clone() };
        let negated = |words: Vec<u64>, ty: Type, ops: [&str; 2]| -> Vec<u64> {
            let flip = if ops.iter().any(|op| has(op)) { 1 << (ty.bits() - 1) } else { 0 };
            words.into_iter().map(|word| word ^ flip).collect()
        };
        let x = negated(elements(&of(&case.a), k, a), a, ["na", "nab"]);
        let y = negated(elements(&of(&case.b), k, b), b, ["nb", "nab"]);
        sums = if words[0] == "w" {
            let sums_rule = sums_of(Unit::Warpgroup, H100, a);
            TensorProduct { n: 8, k, a, b, c: d, d, arithmetic, overflow, sums: sums_rule }
                .evaluate(&x, &y, &sums)
        } else {
            let m = if case.op == "d_0" { 8 } else { 16 };
            let (a_major, b_major, family) = (Major::Row, Major::Col, MatrixFamily::Mma);
            let op = MatrixOp {
                family,
                m,
                n: 8,
                k: k as u16,
                a,
                b,
                c: d,
                d,
                a_major,
                b_major,
                arithmetic,
                overflow,
            };
            by_warps(&op, &x, &y, &sums)
        };
    }
    sums
}

/// As many instructions as there are blocks of rows, with fragments in registers.
fn by_warps(op: &MatrixOp, a: &[u64], b: &[u64], c: &[u64]) -> Vec<u64> {
    let [m, n, k] = [op.m, op.n, op.k].map(usize::from);
    let mut all = Vec::new();
    for (a, c) in a.chunks_exact(m * k).zip(c.chunks_exact(m * n)) {
        let a = registers(op, Fragment::A, op.a, &|row, column| a[row * k + column]);
        let b = registers(op, Fragment::B, op.b, &|row, column| b[column * k + row]);
        let c = registers(op, Fragment::C, op.c, &|row, column| c[row * n + column]);
        let mut d = vec![[0; 32]; c.len()];
        multiply(op, H100, [&a, &b, &c], &mut d);
        let mut result = vec![0; m * n];
        each(op, Fragment::C, op.d, &mut |register, lane, shift, row, column| {
            let ones = u64::MAX >> (64 - op.d.bits());
            result[row * n + column] = d[register][lane] >> shift & ones;
        });
        all.extend(result);
    }
    all
}

fn registers(
    op: &MatrixOp,
    fragment: Fragment,
    ty: Type,
    value: &dyn Fn(usize, usize) -> u64,
) -> Vec<[u64; 32]> {
    let mut words = vec![[0; 32]; fragment_registers(op, fragment).unwrap()];
    each(op, fragment, ty, &mut |register, lane, shift, row, column| {
        words[register][lane] |= value(row, column) << shift
    });
    words
}

/// Register, lane, shift, row and column of each element.
fn each(op: &MatrixOp, fragment: Fragment, ty: Type, f: &mut dyn FnMut(usize, usize, u32, usize, usize)) {
    for register in 0..fragment_registers(op, fragment).unwrap() {
        for lane in 0..32 {
            for element in 0..(32 / ty.bits()).max(1) as usize {
                let (row, column) = fragment_position(op, fragment, lane, register, element);
                f(register, lane, ty.bits() * element as u32, row, column);
            }
        }
    }
}

#[test]
fn results_are_those_of_an_h100() {
    let mut folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    folder.push("tests/data/tensor_cores");
    let (mut all, mut wrong) = (0, HashMap::<String, usize>::new());
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "npz") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let arrays = read(&path);
        for case in cases(&arrays, "").into_iter().chain(cases(&arrays, "chain_")) {
            // The 8 rows of m8n8k4 are the first of 16.
            let rows = if case.op == "d_0" { 8 } else { case.d.shape[0] };
            let expected = &case.d.words[..8 * rows];
            let result = result(&case, &name);
            let differ = expected.iter().zip(&result).filter(|(expected, result)| expected != result).count();
            all += expected.len();
            *wrong.entry(format!("{name} {} x {}", case.op, case.steps)).or_default() += differ;
        }
    }
    wrong.retain(|_, count| *count != 0);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(all, 282_688);
}

/// The sum of 1, 2^-24 and C, and of the product `far` in another group where those are narrow.
#[test]
fn architectures_add_differently() {
    let value = |exponent: i32| u64::from(((15 + exponent) as u16) << 10);
    let sum = |major, minor, c: f32, far: bool| {
        let mut factors = vec![0; 16];
        (factors[0], factors[1]) = (value(0), value(-12));
        factors[8] = if far { value(0) } else { 0 };
        let product = TensorProduct {
            n: 1,
            k: 16,
            a: Type::F16,
            b: Type::F16,
            c: Type::F32,
            d: Type::F32,
            arithmetic: MatrixArithmetic::MultiplyAdd,
            overflow: Overflow::Wrap,
            sums: sums_of(Unit::Warp, ComputeCapability::new(major, minor), Type::F16),
        };
        f32::from_bits(product.evaluate(&factors, &factors, &[c.to_bits().into()])[0] as u32)
    };
    let tiny = 2f32.powi(-24);
    // Beside 1, 2^-24 is kept by 24 places, and lost by 23.
    assert_eq!([sum(9, 0, -1.0, false), sum(8, 0, -1.0, false), sum(7, 0, -1.0, false)], [tiny, tiny, 0.0]);
    // Beside -2 it takes 25 places, and all in one group.
    assert_eq!([sum(9, 0, -2.0, true), sum(8, 0, -2.0, true), sum(7, 5, -2.0, true)], [tiny, 0.0, 0.0]);
}

/// `mma.sync.m8n8k4` in a layout, with the types of D and C.
fn quads([a_major, b_major]: [Major; 2], [d, c]: [Type; 2]) -> MatrixOp {
    MatrixOp {
        family: MatrixFamily::Mma,
        m: 8,
        n: 8,
        k: 4,
        a: Type::F16,
        b: Type::F16,
        c,
        d,
        a_major,
        b_major,
        arithmetic: MatrixArithmetic::MultiplyAdd,
        overflow: Overflow::Wrap,
    }
}

const LAYOUTS: [[Major; 2]; 4] =
    [[Major::Row, Major::Row], [Major::Row, Major::Col], [Major::Col, Major::Row], [Major::Col, Major::Col]];

#[test]
fn four_products_are_those_of_an_h200() {
    const WARPS: usize = 8;
    let bytes = include_bytes!("../data/tensor_cores/m8n8k4.bin");
    let words: Vec<u64> =
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()).into()).collect();
    let (inputs, mut outputs) = words.split_at(WARPS * 32 * 12);
    let mut all = 0;
    for layout in LAYOUTS {
        for types in [[Type::F32, Type::F32], [Type::F32, Type::F16], [Type::F16, Type::F16]] {
            let op = quads(layout, types);
            let expected;
            (expected, outputs) = outputs.split_at(WARPS * 32 * 8);
            for warp in 0..WARPS {
                let column = |from: usize, count: usize| -> Vec<[u64; 32]> {
                    let word = |register, lane| inputs[(warp * 32 + lane) * 12 + from + register];
                    (0..count).map(|register| std::array::from_fn(|lane| word(register, lane))).collect()
                };
                let count = fragment_registers(&op, Fragment::C).unwrap();
                let mut d = vec![[0; 32]; if op.d == Type::F16 { 4 } else { 8 }];
                multiply(&op, H100, [&column(0, 2), &column(2, 2), &column(4, count)], &mut d);
                for (register, lanes) in d.iter().enumerate() {
                    for (lane, &word) in lanes.iter().enumerate() {
                        let expected = expected[(warp * 32 + lane) * 8 + register];
                        assert_eq!(word, expected, "{layout:?} {types:?} warp {warp} lane {lane} {register}");
                        all += 1;
                    }
                }
            }
        }
    }
    assert_eq!((all, outputs.len()), (8 * 32 * 20 * 4, 0));
}

/// The bits of a positive normal number of f16.
fn half(value: f32) -> u64 {
    u64::from((value.to_bits() >> 13) - (112 << 10))
}

/// On a V100: four products of small integers, and the places that a sum of four terms keeps.
#[test]
fn four_products_of_volta() {
    let v100 = ComputeCapability::new(7, 0);
    let (a, b) =
        (|q: usize, i: usize, k: usize| 1 + q + i * 2 + k, |q: usize, k: usize, j: usize| 1 + q * 3 + k + j);
    for layout in LAYOUTS {
        let op = quads(layout, [Type::F32, Type::F32]);
        let fill = |fragment, value: &dyn Fn(usize, usize, usize) -> u64| {
            let mut words = vec![[0; 32]; fragment_registers(&op, fragment).unwrap()];
            let elements = if fragment == Fragment::C { 1 } else { 2 };
            for (register, lanes) in words.iter_mut().enumerate() {
                for (lane, word) in lanes.iter_mut().enumerate() {
                    for element in 0..elements {
                        let (row, column) = fragment_position(&op, fragment, lane, register, element);
                        *word |= value(lane % 16 / 4, row, column) << (16 * element);
                    }
                }
            }
            words
        };
        let x = fill(Fragment::A, &|q, i, k| half(a(q, i, k) as f32));
        let y = fill(Fragment::B, &|q, k, j| half(b(q, k, j) as f32));
        let c = fill(Fragment::C, &|_, _, _| 0.5f32.to_bits().into());
        let mut d = c.clone();
        multiply(&op, v100, [&x, &y, &c], &mut d);
        let expected = fill(Fragment::C, &|q, i, j| {
            let sum: usize = (0..4).map(|k| a(q, i, k) * b(q, k, j)).sum();
            (sum as f32 + 0.5).to_bits().into()
        });
        assert_eq!(d, expected, "{layout:?}");
    }
    // 1, -1 and 2^-24: one after the other they give 2^-24, together nothing is left of it.
    let product = |capability| {
        let [one, tiny] = [1.0, 2f32.powi(-12)].map(half);
        let (a, b) = ([one, one | 1 << 15, tiny, 0], [one, one, tiny, 0]);
        let op = quads(LAYOUTS[1], [Type::F32, Type::F32]);
        let product = TensorProduct { n: 1, ..TensorProduct::of(&op, Unit::Warp, capability) };
        f32::from_bits(product.evaluate(&a, &b, &[0])[0] as u32)
    };
    assert_eq!([product(v100), product(H100)], [0.0, 2f32.powi(-24)]);
}
