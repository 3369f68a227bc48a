//! Reading files: those that NumPy wrote, those made by hand, and those that are wrong.
use std::{
    fs,
    path::{Path, PathBuf},
};
use tilewright_core::{DType, DynMatrix, Error, Extremes, Value};
use tilewright_files::{ReadOptions, Spec, read, read_bytes};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn open(name: &str) -> Result<DynMatrix, Error> {
    read(&Spec::parse(data(name))?, &ReadOptions::default())?.into_matrix()
}

fn values(m: &DynMatrix) -> Vec<Value> {
    let (m, l) = (m.as_ref(), m.layout());
    (0..l.rows).flat_map(|i| (0..l.cols).filter_map(move |j| m.get(i, j))).collect()
}

/// What the matrices in `tests/data` hold: 3x4, element `(i, j)` is `10 i + j`, or whether that is odd.
fn expected(dtype: DType) -> Vec<Value> {
    let value = |x: i64| match dtype {
        DType::Bool => Value::Bool(x % 2 == 1),
        d if d.is_float() => Value::Float(x as f64),
        _ => Value::Int(x),
    };
    (0..3).flat_map(|i| (0..4).map(move |j| value(10 * i + j))).collect()
}

/// How NumPy names a type, and what it is read as.
const TYPES: [(&str, DType); 12] = [
    ("f2", DType::F16),
    ("f4", DType::F32),
    ("f8", DType::F64),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("u1", DType::U8),
    ("u2", DType::I32),
    ("u4", DType::I64),
    ("u8", DType::I64),
    ("b1", DType::Bool),
];

#[test]
fn numpys_files_are_read() {
    let mut found = 0;
    for (kind, dtype) in TYPES {
        for prefix in ["", "little_", "big_"] {
            for suffix in ["", "_fortran"] {
                let name = format!("{prefix}{kind}{suffix}.npy");
                if data(&name).exists() {
                    let m = open(&name).unwrap();
                    assert_eq!((m.dtype(), values(&m)), (dtype, expected(dtype)), "{name}");
                    found += 1;
                }
            }
        }
    }
    assert_eq!(found, 42);
    for name in
        ["version2.npy", "version3.npy", "stored.npz", "stored.npz:a", "stored.npz:a.npy", "compressed.npz:a"]
    {
        assert_eq!(values(&open(name).unwrap()), expected(DType::F32), "{name}");
    }
    assert_eq!(values(&open("compressed.npz:b").unwrap()), expected(DType::I32));
    assert_eq!(values(&open("one_matrix.npz").unwrap()), expected(DType::F64));
    assert_eq!(values(&open("savetxt.csv").unwrap()), expected(DType::F64));
    let empty = open("empty.npy").unwrap().layout();
    assert_eq!((empty.rows, empty.cols), (0, 5));
}

#[test]
fn numpys_other_arrays_are_refused_by_name() {
    for (name, problem, hint) in [
        ("one_dimension.npy", "one dimension (3)", "reshape it to (3, 1) for a column"),
        ("number.npy", "a single number", "reshape it to (1, 1)"),
        ("tensor.npy", "3 dimensions (2, 1, 2)", "reshape"),
        ("complex.npy", "'<c8' (complex numbers)", "two matrices"),
        ("text.npy", "'<U2' (text)", "convert"),
        ("structured.npy", "records with the fields", "one field"),
        ("objects.npy", "'|O' (Python objects)", "float64"),
        ("dates.npy", "'<M8[D]' (dates or times)", "int64"),
        (
            "compressed.npz",
            "several matrices",
            "name one as FILE:NAME; it holds a (3x4 <f4), b (3x4 >i4), bias (3 <f8)",
        ),
        ("compressed.npz:c", "no member 'c'", "it holds a (3x4 <f4)"),
        ("compressed.npz:bias", "member 'bias': the array has one dimension", "reshape"),
        ("no_matrix.npz", "no matrix", "it holds bias (3 <f8)"),
    ] {
        let error = open(name).unwrap_err();
        assert_eq!(error.code(), "bad-file");
        assert!(error.to_string().contains(problem), "{name}: {error}");
        let found = error.hint().unwrap_or_default();
        assert!(found.contains(hint), "{name}: {found}");
    }
    assert_eq!(open("absent.npy").unwrap_err().code(), "io");
}

/// A `.npy` file: version, header and data as given.
fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn parse(name: &str, bytes: &[u8]) -> Result<DynMatrix, Error> {
    read_bytes(&name.parse()?, bytes, &ReadOptions::default())
}

/// `10 i + j` as NumPy's `kind` in little-endian order.
fn element(kind: &str, value: i64) -> Vec<u8> {
    match kind {
        "f2" => tilewright_core::f16::from_f32(value as f32).to_le_bytes().to_vec(),
        "f4" => (value as f32).to_le_bytes().to_vec(),
        "f8" => (value as f64).to_le_bytes().to_vec(),
        "b1" => vec![(value % 2) as u8],
        _ => value.to_le_bytes()[..kind[1..].parse().unwrap()].to_vec(),
    }
}

#[test]
fn every_type_order_and_byte_order_of_npy_is_read() {
    for (kind, dtype) in TYPES {
        for endian in ["<", ">", "=", "|"] {
            for fortran in [false, true] {
                let size: usize = kind[1..].parse().unwrap();
                if endian == "|" && size > 1 {
                    continue;
                }
                let order: Vec<i64> = match fortran {
                    false => (0..3).flat_map(|i| (0..4).map(move |j| 10 * i + j)).collect(),
                    true => (0..4).flat_map(|j| (0..3).map(move |i| 10 * i + j)).collect(),
                };
                let big = endian == ">" || endian == "=" && cfg!(target_endian = "big");
                let data: Vec<u8> = order
                    .iter()
                    .flat_map(|&x| {
                        let mut bytes = element(kind, x);
                        if big {
                            bytes.reverse();
                        }
                        bytes
                    })
                    .collect();
                let flag = if fortran { "True" } else { "False" };
                for (version, header) in [
                    (
                        1,
                        format!(
                            "{{'descr': '{endian}{kind}', 'fortran_order': {flag}, 'shape': (3, 4), }}  \n"
                        ),
                    ),
                    (2, format!("{{'shape':(3,4),'fortran_order':{flag},'descr':\"{endian}{kind}\"}}")),
                    (
                        3,
                        format!(
                            " {{ 'fortran_order' :{flag} , 'shape' : ( 3L , 4L , ) , 'descr' : '{endian}{kind}' , }}"
                        ),
                    ),
                ] {
                    let m = parse("a.npy", &npy(version, &header, &data)).unwrap();
                    assert_eq!((m.dtype(), values(&m)), (dtype, expected(dtype)), "{header}");
                }
            }
        }
    }
}

#[test]
fn bad_npy_files_are_refused_with_what_is_wrong() {
    let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
    let with = |from: &str, to: &str| npy(1, &good.replace(from, to), &[0; 8]);
    for (bytes, expected) in [
        (vec![], "ends inside the start"),
        (b"\x93NUM".to_vec(), "ends inside the start"),
        (b"PK\x03\x04aaaa".to_vec(), r"it starts with PK\x03\x04aa"),
        (npy(4, good, &[0; 8]), "version 4.0 is unknown"),
        (npy(1, good, &[0; 8])[..9].to_vec(), "ends inside the header length"),
        (npy(1, good, &[0; 8])[..40].to_vec(), "60 bytes promised, 30 found"),
        (b"\x93NUMPY\x02\0\xff\xff\xff\xff".to_vec(), "a header of 4294967295 bytes"),
        (npy(1, good, &[0; 7]), "cut short: a 1x2 matrix takes 8 bytes, 7 found"),
        (npy(1, good, &[0; 9]), "longer than its header says: a 1x2 matrix takes 8 bytes, 9 found"),
        (with("1, 2", "99999999999, 2"), "a 99999999999x2 matrix takes 799999999992 bytes, 8 found"),
        (with("1, 2", "9223372036854775807, 2"), "exceeds the address space"),
        (with("1, 2", "99999999999999999999, 2"), "size 99999999999999999999 exceeds the address space"),
        (with("1, 2", "-1, 2"), "a size expected, '-1, 2)"),
        (with("1, 2", "1 2"), "')' expected, '2), }' found"),
        (with("'shape': (1, 2), ", ""), "lacks the key 'shape'"),
        (with("'descr': '<f4', ", ""), "lacks the key 'descr'"),
        (with("'fortran_order'", "'shape'"), "'(' expected, 'False"),
        (with("'fortran_order'", "'order'"), "unknown key 'order'"),
        (with("}", "'shape': (1, 2)}"), "key 'shape' twice"),
        (with("}", ""), "the header ends where a string should follow"),
        (with("}", "} x"), "the end expected, 'x' found"),
        (with("False", "Falsy"), "True or False expected, 'Falsy"),
        (with("False", "0"), "byte 34 of the header: True or False expected"),
        (with("'<f4'", "'<f\\x34'"), "a plain string expected"),
        (with("<f4", "|f4"), "'|f4' does not say its byte order"),
        (with("<f4", "<f16"), "'<f16' (a float of unusual width)"),
        (with("<f4", "|V2"), "'|V2' (raw bytes)"),
        (with("<f4", "<q\u{e9}"), "(unknown)"),
        (with("<f4", "\u{e9}"), "(unknown)"),
        (with("<f4", ""), "(unknown)"),
        (npy(1, &good.replace("<f4", "|b1"), &[1, 2]), "element [0, 1] = 2 cannot be represented as bool"),
        (
            npy(1, &good.replace("<f4", ">u8"), &[0, 0, 0, 0, 0, 0, 0, 9, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            "element [0, 1] = 9223372036854775808 cannot be represented as i64",
        ),
        (
            npy(
                1,
                &good.replace("<f4", "|b1").replace("False, 'shape': (1, 2)", "True, 'shape': (2, 3)"),
                &[0, 0, 0, 0, 0, 7],
            ),
            "element [1, 2] = 7",
        ),
    ] {
        let error = parse("dir/a.npy", &bytes).unwrap_err();
        assert_eq!(error.code(), "bad-file");
        assert!(error.to_string().starts_with("dir/a.npy: "), "{error}");
        assert!(error.to_string().contains(expected), "{expected:?} is not in: {error}");
    }
}

#[test]
fn empty_matrices_of_any_size_cost_nothing() {
    for shape in ["(0, 9223372036854775807)", "(9223372036854775807, 0)", "(0, 0)"] {
        let bytes = npy(1, &format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"), &[]);
        for dtype in [None, Some(DType::I64)] {
            let options = ReadOptions { dtype, ..Default::default() };
            let m = read_bytes(&"a.npy".parse().unwrap(), &bytes, &options).unwrap();
            assert!(m.layout().is_empty());
        }
    }
}

#[test]
fn a_wanted_type_is_converted_to_with_errors_that_name_element_and_file() {
    let i32s = ReadOptions { dtype: Some(DType::I32), ..Default::default() };
    let m = read(&Spec::parse(data("big_f8_fortran.npy")).unwrap(), &i32s).unwrap();
    assert_eq!(m.as_ref().get(2, 3), Some(Value::Int(23)));
    let bytes = npy(
        1,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}",
        &[1f32.to_le_bytes(), f32::INFINITY.to_le_bytes()].concat(),
    );
    let spec = "w.npy".parse().unwrap();
    let error = read_bytes(&spec, &bytes, &i32s).unwrap_err();
    assert_eq!(error.to_string(), "w.npy: element [0, 1] = inf cannot be represented as i32");
    let absent = ReadOptions { extremes: Extremes::Absent, ..i32s };
    let m = read_bytes(&spec, &bytes, &absent).unwrap();
    assert_eq!(m.as_ref().get(0, 1), Some(Value::Int(i32::MAX.into())));
}

fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn tensor(name: &str, dtype: &str, shape: &str, start: usize, end: usize) -> String {
    format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{start},{end}]}}")
}

#[test]
fn every_type_of_safetensors_is_read() {
    let types = ["F16", "F32", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL"];
    for ((kind, dtype), name) in TYPES.into_iter().zip(types) {
        let order = (0..3).flat_map(|i| (0..4).map(move |j| 10 * i + j));
        let data: Vec<u8> = order.flat_map(|x| element(kind, x)).collect();
        // Data that starts at any byte, aligned or not.
        let header = format!("{{{}}}", tensor("w", name, "[3,4]", 0, data.len()));
        for pad in 0..8 {
            let bytes = safetensors(&format!("{header}{}", " ".repeat(pad)), &data);
            let m = parse("m.safetensors", &bytes).unwrap();
            assert_eq!((m.dtype(), values(&m)), (dtype, expected(dtype)), "{name}");
        }
    }
    let bits: Vec<u8> =
        [1.5f32, -2.0].iter().flat_map(|&x| tilewright_core::bf16::from_f32(x).to_le_bytes()).collect();
    let bytes = safetensors(&format!("{{{}}}", tensor("w", "BF16", "[1,2]", 0, 4)), &bits);
    let m = parse("m.safetensors:w", &bytes).unwrap();
    assert_eq!((m.dtype(), values(&m)), (DType::Bf16, vec![Value::Float(1.5), Value::Float(-2.0)]));
    for (name, dtype, bits) in
        [("F8_E4M3", DType::E4m3, [0x3c, 0xc0]), ("F8_E5M2", DType::E5m2, [0x3e, 0xc0])]
    {
        let bytes = safetensors(&format!("{{{}}}", tensor("w", name, "[1,2]", 0, 2)), &bits);
        let m = parse("m.safetensors:w", &bytes).unwrap();
        assert_eq!((m.dtype(), values(&m)), (dtype, vec![Value::Float(1.5), Value::Float(-2.0)]));
    }
}

#[test]
fn bad_safetensors_and_npz_files_are_refused_with_what_is_wrong() {
    let two = format!("{{{},{}}}", tensor("b", "F32", "[1,1]", 0, 4), tensor("a", "F32", "[1,1]", 4, 8));
    let one = |dtype: &str, shape: &str, bytes: usize| {
        safetensors(&format!("{{{}}}", tensor("w", dtype, shape, 0, bytes)), &vec![2; bytes])
    };
    let npz = fs::read(data("compressed.npz")).unwrap();
    let mut flipped = npz.clone();
    flipped[100] ^= 0x55;
    for (name, bytes, expected, hint) in [
        (
            "m.safetensors",
            safetensors(&two, &[0; 8]),
            "several matrices",
            "it holds a (1x1 F32), b (1x1 F32)",
        ),
        ("m.safetensors:c", safetensors(&two, &[0; 8]), "no tensor 'c'", "it holds a (1x1 F32), b (1x1 F32)"),
        ("m.safetensors", one("F32", "[1]", 4), "the file holds no matrix", "w (1 F32)"),
        ("m.safetensors:w", one("F32", "[1]", 4), "tensor 'w': the array has one dimension", "reshape"),
        ("m.safetensors", one("C64", "[1,1]", 8), "tensor 'w': element type C64 cannot be read", "convert"),
        ("m.safetensors", one("BOOL", "[1,1]", 1), "element [0, 0] = 2", "0 or 1"),
        ("m.safetensors", safetensors("{}", &[]), "the file holds no matrix", "it is empty"),
        ("m.safetensors", vec![0; 4], "not a .safetensors file", ""),
        ("m.safetensors", safetensors("{", &[]), "not a .safetensors file", ""),
        ("m.safetensors", vec![255; 99], "not a .safetensors file", ""),
        ("m.safetensors", one("F32", "[1,2]", 4), "not a .safetensors file", ""),
        ("a.npz", b"PK".to_vec(), "not a .npz file", ""),
        ("a.npz", npz[..npz.len() / 2].to_vec(), "not a .npz file", ""),
        ("a.npz:a", flipped, "member 'a': cannot be unpacked", ""),
    ] {
        let error = parse(name, &bytes).unwrap_err();
        assert_eq!(error.code(), "bad-file");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().unwrap_or_default().contains(hint), "{error:?}");
    }
}

#[test]
fn large_binary_files_are_used_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let (rows, cols) = (600, 512);
    let elements: Vec<u8> = (0..rows * cols).flat_map(|x| (x as f32).to_le_bytes()).collect();
    let aligned = |header: &str| format!("{header:118}");
    let spec = Spec::parse(directory.path().join("a.npy")).unwrap();
    for (header, mapped) in [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (600, 512)}", cfg!(target_endian = "little")),
        ("{'descr': '<f4', 'fortran_order': True, 'shape': (512, 600)}", cfg!(target_endian = "little")),
        ("{'descr': '>f4', 'fortran_order': False, 'shape': (600, 512)}", cfg!(target_endian = "big")),
        ("{'descr': '<u4', 'fortran_order': False, 'shape': (600, 512)}", false),
    ] {
        fs::write(spec.path(), npy(1, &aligned(header), &elements)).unwrap();
        let input = read(&spec, &ReadOptions::default()).unwrap();
        assert_eq!(input.is_mapped(), mapped, "{header}");
        if header.contains("True") {
            assert_eq!(input.as_ref().get(511, 1), Some(Value::Float(1023.0)));
        } else if header.contains("<f4") {
            assert_eq!(input.as_ref().get(1, 3), Some(Value::Float(515.0)));
        }
        // The map outlives the name, and gives what a copy gives.
        fs::remove_file(spec.path()).unwrap();
        let seen = input.as_ref().get(599.min(input.layout().rows - 1), 7);
        assert_eq!(
            input.into_matrix().unwrap().as_ref().get(if header.contains("True") { 511 } else { 599 }, 7),
            seen
        );
    }
    // Elements that are not aligned are copied; so are those that are wanted as another type.
    fs::write(
        spec.path(),
        npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (600, 512)}  ", &elements),
    )
    .unwrap();
    let input = read(&spec, &ReadOptions::default()).unwrap();
    assert!(!input.is_mapped());
    assert_eq!(input.as_ref().get(1, 3), Some(Value::Float(515.0)));
    let options = ReadOptions { dtype: Some(DType::F64), ..Default::default() };
    fs::write(
        spec.path(),
        npy(1, &aligned("{'descr': '<f4', 'fortran_order': False, 'shape': (600, 512)}"), &elements),
    )
    .unwrap();
    let input = read(&spec, &options).unwrap();
    assert_eq!((input.is_mapped(), input.dtype()), (false, DType::F64));
}
