//! PTX of NVRTC 12.9 for architectures that later compilers have dropped: files of `tests/data` that end in the compute capability, from
//! kernels of the catalogue. `tests/parser.rs` reads them too.

use tilewright_emulator::{Launch, Machine, Program};

#[test]
fn lanes_of_maxwell_shuffle() {
    let mut machine = Machine::new(Program::new(include_str!("data/warp_reduce_52.ptx")).unwrap());
    let input = machine.upload(&std::array::from_fn::<f32, 64, _>(|i| i as f32)).unwrap();
    let output = machine.allocate(8).unwrap();
    let launch = Launch::new([1, 1, 1], [64, 1, 1]).arg(input).arg(output).arg(64u32);
    assert!(machine.launch("warp_reduce", &launch).unwrap().is_clean());
    assert_eq!(machine.download::<f32>(output, 2).unwrap(), [496.0, 1520.0]);
}

#[test]
fn doubles_of_pascal_are_added_in_memory() {
    let mut machine = Machine::new(Program::new(include_str!("data/atomics_shared_60.ptx")).unwrap());
    let output = machine.allocate(8 * 64).unwrap();
    let launch = Launch::new([2, 1, 1], [128, 1, 1]).arg(output).arg(200u32);
    assert!(machine.launch("atomics_shared", &launch).unwrap().is_clean());
    let expected: Vec<f64> = (0..64).map(|bin| f64::from(3 + i32::from(bin < 8))).collect();
    assert_eq!(machine.download::<f64>(output, 64).unwrap(), expected);
}

#[test]
fn tiles_of_volta_are_transposed() {
    let mut machine = Machine::new(Program::new(include_str!("data/transpose_padded_72.ptx")).unwrap());
    let input = machine.upload(&std::array::from_fn::<f32, 4096, _>(|i| i as f32)).unwrap();
    let output = machine.allocate(4 * 4096).unwrap();
    let launch = Launch::new([2, 2, 1], [32, 32, 1]).arg(input).arg(output).arg(64u32);
    assert!(machine.launch("transpose_padded", &launch).unwrap().is_clean());
    let transposed = machine.download::<f32>(output, 4096).unwrap();
    assert!((0..4096).all(|i| transposed[i] == ((i % 64) * 64 + i / 64) as f32));
}
