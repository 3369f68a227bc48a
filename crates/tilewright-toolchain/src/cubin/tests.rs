//! Cubins of two toolkits and four architectures against what the assembler said of them.

use super::*;
use proptest::prelude::*;

const CUBINS: [(&str, &[u8]); 5] = [
    ("sm_50 12", include_bytes!("../../tests/data/resources.sm_50.cuda12.cubin")),
    ("sm_75 13", include_bytes!("../../tests/data/resources.sm_75.cuda13.cubin")),
    ("sm_90 12", include_bytes!("../../tests/data/resources.sm_90.cuda12.cubin")),
    ("sm_90 13", include_bytes!("../../tests/data/resources.sm_90.cuda13.cubin")),
    ("sm_120 13", include_bytes!("../../tests/data/resources.sm_120.cuda13.cubin")),
];

fn parse(name: &str) -> Cubin {
    let (_, bytes) = CUBINS.iter().find(|(known, _)| *known == name).expect(name);
    Cubin::parse(bytes).expect(name)
}

/// Registers, barriers, static shared memory, and local memory, as `ptxas -v` printed them.
type Row = (&'static str, [u32; 4]);

fn check(name: &str, architecture: u32, rows: [Row; 5]) {
    let cubin = parse(name);
    assert_eq!(cubin.architecture, architecture);
    assert_eq!(cubin.constant_memory, 400, "{name}");
    let found: Vec<_> = cubin
        .kernels
        .iter()
        .map(|k| (k.name.as_str(), [k.registers, k.barriers, k.static_shared_memory, k.local_memory]))
        .collect();
    assert_eq!(found, rows, "{name}");
    for (kernel, max_threads, parameters) in
        [("tile", Some(256), 20), ("spill", Some(1024), 12), ("dynamic", None, 8)]
    {
        let kernel = cubin.kernel(kernel).expect(kernel);
        assert_eq!(
            (kernel.max_threads, kernel.parameters),
            (max_threads, parameters),
            "{name} {}",
            kernel.name
        );
        assert_eq!((kernel.required_block, kernel.spills), (None, None));
    }
}

#[test]
fn maxwell_in_the_older_format() {
    let rows = [
        ("barriers", [4, 6, 0, 0]),
        ("dynamic", [6, 1, 0, 0]),
        ("local_array", [32, 0, 0, 256]),
        ("spill", [64, 1, 0, 424]),
        ("tile", [9, 1, 4224, 0]),
    ];
    check("sm_50 12", 50, rows);
}

#[test]
fn turing() {
    let rows = [
        ("barriers", [4, 6, 0, 0]),
        ("dynamic", [10, 1, 0, 0]),
        ("local_array", [71, 0, 0, 256]),
        ("spill", [64, 1, 0, 336]),
        ("tile", [12, 1, 4224, 0]),
    ];
    check("sm_75 13", 75, rows);
}

#[test]
fn hopper_in_both_formats() {
    let rows = [
        ("barriers", [8, 6, 0, 0]),
        ("dynamic", [12, 1, 0, 0]),
        ("local_array", [32, 0, 0, 256]),
        ("spill", [64, 1, 0, 360]),
        ("tile", [14, 1, 4224, 0]),
    ];
    check("sm_90 12", 90, rows);
    check("sm_90 13", 90, rows);
}

#[test]
fn blackwell() {
    let rows = [
        ("barriers", [8, 6, 0, 0]),
        ("dynamic", [12, 1, 0, 0]),
        ("local_array", [48, 0, 0, 256]),
        ("spill", [64, 1, 0, 360]),
        ("tile", [10, 1, 4224, 0]),
    ];
    check("sm_120 13", 120, rows);
}

#[test]
fn a_log_adds_spills_to_the_kernels_it_names() {
    let log = "ptxas info    : Function properties for spill\n    \
               360 bytes stack frame, 424 bytes spill stores, 432 bytes spill loads\n\
               ptxas info    : Function properties for unknown\n    \
               0 bytes stack frame, 1 bytes spill stores, 1 bytes spill loads\n";
    let cubin = parse("sm_90 13").with_log(log);
    assert_eq!(cubin.kernel("spill").expect("spill").spills, Some(Spills { stores: 424, loads: 432 }));
    assert_eq!(cubin.kernel("tile").expect("tile").spills, None);
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let program = std::fs::read(std::env::current_exe().expect("this program")).expect("readable");
    for (bytes, reason) in [
        (&b""[..], "begin"),
        (b"PTX", "begin"),
        (&program, "NVIDIA"),
        (&CUBINS[3].1[..200], "beyond its end"),
    ] {
        let error = Cubin::parse(bytes).expect_err(reason);
        assert!(error.to_string().contains(reason) || !cfg!(target_os = "linux"), "{error}");
    }
}

proptest! {
    /// Whatever is changed or cut off, the answer is a cubin or an error.
    #[test]
    fn damaged_cubins_do_not_panic(
        which in 0..CUBINS.len(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..40),
        length in any::<proptest::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = CUBINS[which].1.to_vec();
        for (index, value) in changes {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        if cut {
            bytes.truncate(length.index(bytes.len()));
        }
        let _ = Cubin::parse(&bytes);
    }

    /// The tables are where damage matters: the ELF header, the section headers and the attributes.
    #[test]
    fn damaged_tables_do_not_panic(
        which in 0..CUBINS.len(),
        header in proptest::collection::vec((0_usize..64, any::<u8>()), 0..4),
        sections in proptest::collection::vec((0_usize..2560, any::<u8>()), 0..20),
    ) {
        let mut bytes = CUBINS[which].1.to_vec();
        let start = usize::from_le_bytes(bytes[40..48].try_into().expect("eight bytes"));
        for (offset, value) in sections {
            if let Some(byte) = bytes.get_mut(start + offset) {
                *byte = value;
            }
        }
        for (offset, value) in header {
            bytes[offset] = value;
        }
        let _ = Cubin::parse(&bytes);
    }
}
