//! Kernels as they are written for Hopper, compiled by nvcc: `compile.sh` makes the PTX of this folder.

use tilewright_emulator::tensor_map::{ElementType, Swizzle, TensorMap};
use tilewright_emulator::{
    Argument, BlockOrderPolicy, DevicePointer, Finding, FindingKind, Launch, LaunchOptions, Machine, Program,
    Races, Report, Schedule,
};

const PRODUCT: &str = include_str!("product.ptx");

/// A matrix by rows, of which copies take boxes.
fn map(
    element: ElementType,
    at: DevicePointer,
    [columns, rows]: [u64; 2],
    boxes: [u32; 2],
    swizzle: Swizzle,
) -> TensorMap {
    let pitch = columns * u64::from(element.bytes());
    TensorMap::matrix(element, at.address(), [columns, rows], pitch, boxes, swizzle)
}

/// Small integers, whose products and sums are exact.
fn integers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 60) as f32 - 8.0
    };
    (0..count).map(|_| next()).collect()
}

fn bf16(values: &[f32]) -> Vec<u16> {
    values.iter().map(|value| (value.to_bits() >> 16) as u16).collect()
}

/// C = A B^T of m x n x k by `ptx`, whether it is right, and what the emulator says.
fn product(ptx: &str, [m, n, k]: [usize; 3], options: LaunchOptions) -> (bool, Report) {
    let mut machine = Machine::new(Program::new(ptx).unwrap());
    let (a, b) = (integers(1, m * k), integers(2, n * k));
    let [pa, pb] = [&a, &b].map(|values| machine.upload(&bf16(values)).unwrap());
    let pc = machine.upload(&vec![f32::NAN; m * n]).unwrap();
    let size = |rows: usize, columns: usize| [columns as u64, rows as u64];
    let maps = [
        map(ElementType::Bf16, pa, size(m, k), [64, 128], Swizzle::Bytes128),
        map(ElementType::Bf16, pb, size(n, k), [64, 128], Swizzle::Bytes128),
        map(ElementType::F32, pc, size(m, n), [32, 64], Swizzle::None),
    ];
    let mut launch = Launch::new([n.div_ceil(128) as u32, m.div_ceil(128) as u32, 1], [384, 1, 1])
        .dynamic_shared(128 + 3 * 32768 + 65536)
        .options(options);
    for map in maps {
        map.check().unwrap();
        launch = launch.arg(Argument::bytes(&map.encode()));
    }
    let report = machine.launch("product", &launch.arg(k as i32)).unwrap();
    let c = machine.download::<f32>(pc, m * n).unwrap();
    let is_right = (0..m * n).all(|at| {
        let (row, column) = (at / n, at % n);
        let terms = (0..k).map(|inner| a[row * k + inner] * b[column * k + inner]);
        c[at] == terms.sum::<f32>()
    });
    (is_right, report)
}

fn all(schedule: Schedule) -> LaunchOptions {
    LaunchOptions { races: Races::Strict, schedule, step_limit: Some(20_000_000), ..LaunchOptions::default() }
}

#[test]
fn a_warp_specialised_product_is_right_and_clean() {
    for schedule in [Schedule::Late, Schedule::Early, Schedule::Random { seed: 7 }] {
        for size in [[256, 256, 256], [130, 200, 72]] {
            let (is_right, report) = product(PRODUCT, size, all(schedule));
            assert!(report.is_clean(), "{schedule:?}: {:?} {:#?}", report.error, report.findings);
            assert!(is_right, "{schedule:?} {size:?}");
        }
    }
}

#[test]
fn its_work_is_counted() {
    let options =
        LaunchOptions { races: Races::Ignore, order: BlockOrderPolicy::Deterministic, ..all(Schedule::Late) };
    let (_, report) = product(PRODUCT, [256; 3], options);
    let counters = &report.counters;
    assert_eq!(counters.matrix_operations, 2 * 256 * 256 * 256);
    // Each of 4 blocks loads 4 steps of two tiles of 16 KiB, and stores one of 64.
    assert_eq!(counters.global_load.bytes_requested, 4 * 4 * 2 * 16384);
    assert_eq!(counters.global_load.sectors, counters.global_load.ideal_sectors);
    assert_eq!(counters.global_store.bytes_requested, 256 * 256 * 4);
    // Each of 2 warpgroups of a block executes 16 instructions, which read 64 rows of A and 128 of B; and TMA reads C.
    let operands = 4 * 2 * 16 * (64 + 128) * 32 / 128;
    assert_eq!(counters.shared_load.wavefronts, operands + 256 * 256 * 4 / 128);
    assert_eq!(counters.shared_load.wavefronts, counters.shared_load.ideal_wavefronts);
}

/// Text of the kernel with a fault, and what must be found.
#[test]
fn planted_faults_are_found() {
    let kinds = |findings: &[Finding]| -> Vec<FindingKind> {
        let mut kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let found = |ptx: &str| kinds(&product(ptx, [128, 128, 512], all(Schedule::Late)).1.findings);
    let planted = |from: &str, to: &str| {
        assert!(PRODUCT.contains(from), "{from}");
        found(&PRODUCT.replace(from, to))
    };
    // C is stored by TMA without the fence of those who have written it.
    assert_eq!(planted("fence.proxy.async.shared::cta;", ""), [FindingKind::ProxyFence]);
    // A stage is released while the last group of instructions reads it, and D leaves before the last group is done.
    let released = planted("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;");
    assert_eq!(released, [FindingKind::PendingProduct, FindingKind::ProductRegisters]);
    // Nothing lets TMA see the mbarriers.
    assert_eq!(planted("fence.mbarrier_init.release.cluster;", ""), [FindingKind::ProxyFence]);
    // More registers than there are.
    assert_eq!(planted("aligned.u32 24;", "aligned.u32 120;"), [FindingKind::InvalidRegisters]);
    // Registers of D are zeroed, and no fence comes before the first instruction.
    assert_eq!(planted("wgmma.fence.sync.aligned;", ""), [FindingKind::ProductRegisters]);
    // Nobody closes a group, so that nothing is waited for.
    let unwaited = planted("wgmma.commit_group.sync.aligned;", "");
    assert!(unwaited.contains(&FindingKind::ProductRegisters), "{unwaited:?}");
    // The descriptor of the first A says 64 bytes, the map 128: it reads other pieces, and some twice.
    let other =
        planted("or.b64  \t%rd6, %rd16, 4611686293305360384;", "or.b64  \t%rd6, %rd16, 9223372311732748288;");
    assert_eq!(other, [FindingKind::UnreadCopy, FindingKind::InvalidDescriptor]);
    // It has a base offset, and TMA swizzles without one.
    let shifted =
        planted("or.b64  \t%rd6, %rd16, 4611686293305360384;", "or.b64  \t%rd6, %rd16, 4612249243258781696;");
    assert_eq!(shifted, [FindingKind::UnreadCopy, FindingKind::InvalidDescriptor]);
    // Stages begin 128 bytes behind a multiple of 1024: right on an H100, and not promised.
    let moved = PRODUCT.replace(", room;", ", room+128;").replace(", 261120;", ", 262016;");
    assert_eq!(found(&moved), [FindingKind::InvalidDescriptor]);
    // The thread that stores C exits at once.
    assert_eq!(planted("cp.async.bulk.wait_group.read 0;", ""), [FindingKind::PendingCopy]);
}
