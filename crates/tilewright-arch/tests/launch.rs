//! Which launches a GPU takes. The refusals are those of an H100 with driver 580.

use tilewright_arch::{
    Blocks, ClusterLimit, ComputeCapability, ConfigurationError as E, GridLaunch, KernelResources,
    LaunchRefusal, Limits, SharedMemoryOptIn,
};

fn hopper() -> &'static Limits {
    Limits::of(ComputeCapability::new(9, 0)).unwrap()
}

/// What the driver's code stands for.
fn kind(launch: GridLaunch, kernel: KernelResources) -> &'static str {
    match launch.check(hopper(), &kernel, Some(132)) {
        Ok(()) => "fits",
        Err(LaunchRefusal::Cooperative { .. }) => "cooperative",
        Err(LaunchRefusal::ClustersOfGrid { .. } | LaunchRefusal::Configuration(E::ClusterSize { .. })) => {
            "cluster"
        }
        Err(LaunchRefusal::Configuration(E::RegistersPerBlock { .. })) => "resources",
        Err(_) => "value",
    }
}

fn of(grid: [u32; 3], block: [u32; 3]) -> GridLaunch {
    GridLaunch::new(grid, block)
}

const ONE: [u32; 3] = [1; 3];

#[test]
fn extents() {
    let plain = KernelResources::default();
    for (grid, block, expected) in [
        (ONE, ONE, "fits"),
        ([0, 1, 1], ONE, "value"),
        ([1, 65536, 1], ONE, "value"),
        ([1, 65535, 1], ONE, "fits"),
        ([i32::MAX as u32, 1, 1], ONE, "fits"),
        ([1 << 31, 1, 1], ONE, "value"),
        (ONE, [1025, 1, 1], "value"),
        (ONE, [0, 1, 1], "value"),
        (ONE, [1, 1, 65], "value"),
        (ONE, [32, 33, 1], "value"),
        (ONE, [u32::MAX; 3], "value"),
    ] {
        assert_eq!(kind(of(grid, block), plain), expected, "{grid:?} {block:?}");
    }
    let bound = KernelResources { max_threads_per_block: 256, ..plain };
    assert_eq!(kind(of(ONE, [257, 1, 1]), bound), "value");
}

#[test]
fn registers_and_shared_memory() {
    let heavy = KernelResources { registers_per_thread: 128, ..KernelResources::default() };
    assert_eq!(kind(of(ONE, [1024, 1, 1]), heavy), "resources");
    assert_eq!(kind(of(ONE, [512, 1, 1]), heavy), "fits");
    // What else is wrong is said first.
    assert_eq!(kind(of([0, 1, 1], [1024, 1, 1]), heavy), "value");
    let closed = KernelResources { shared_memory_opt_in: SharedMemoryOptIn::Off, ..heavy };
    let with = |block, bytes| GridLaunch { dynamic_shared_memory: bytes, ..of(ONE, block) };
    assert_eq!(kind(with([1024, 1, 1], 50_000), closed), "value");
    let plain = KernelResources::default();
    assert_eq!(
        kind(with(ONE, 49_153), KernelResources { shared_memory_opt_in: SharedMemoryOptIn::Off, ..plain }),
        "value"
    );
    let opted = |bytes| KernelResources {
        static_shared_memory: 40_000,
        shared_memory_opt_in: SharedMemoryOptIn::Bytes(bytes),
        ..plain
    };
    assert_eq!(kind(with(ONE, 60_000), opted(60_000)), "fits");
    assert_eq!(kind(with(ONE, 60_001), opted(60_000)), "value");
    assert_eq!(kind(with(ONE, 192_449), opted(192_449)), "value");
    // Static shared memory ends at 48 KiB, whatever the GPU has.
    let fixed = |bytes| KernelResources { static_shared_memory: bytes, ..plain };
    assert_eq!((kind(of(ONE, ONE), fixed(49_152)), kind(of(ONE, ONE), fixed(49_153))), ("fits", "value"));
    let refusal = of(ONE, ONE).check(hopper(), &fixed(102_400), None).unwrap_err();
    assert!(refusal.remedy(hopper(), &fixed(102_400)).contains("extern __shared__"));
}

#[test]
fn clusters_and_cooperation() {
    let plain = KernelResources::default();
    let clusters = |grid: u32, blocks: u32, cluster_limit| GridLaunch {
        cluster: Some([blocks, 1, 1]),
        cluster_limit,
        ..of([grid, 1, 1], ONE)
    };
    for (grid, blocks, limit, expected) in [
        (4, 2, ClusterLimit::Portable, "fits"),
        (4, 3, ClusterLimit::Portable, "cluster"),
        (4, 0, ClusterLimit::Portable, "cluster"),
        (9, 9, ClusterLimit::Portable, "cluster"),
        (16, 16, ClusterLimit::NonPortable, "fits"),
        (32, 32, ClusterLimit::NonPortable, "cluster"),
    ] {
        assert_eq!(kind(clusters(grid, blocks, limit), plain), expected, "{grid} {blocks}");
    }
    let together =
        |grid: u32, block: u32| GridLaunch { blocks: Blocks::Cooperative, ..of([grid, 1, 1], [block, 1, 1]) };
    assert_eq!((kind(together(264, 1024), plain), kind(together(265, 1024), plain)), ("fits", "cooperative"));
    let heavy = KernelResources { registers_per_thread: 128, ..plain };
    assert_eq!((kind(together(1, 1024), heavy), kind(together(1, 1025), heavy)), ("cooperative", "value"));
}

#[test]
fn every_refusal_says_what_to_do() {
    let limits = hopper();
    let kernel = KernelResources { registers_per_thread: 103, ..KernelResources::default() };
    let remedy = of(ONE, [1024, 1, 1]).check(limits, &kernel, None).unwrap_err().remedy(limits, &kernel);
    assert!(remedy.contains("64 registers") && remedy.contains("at most 512 threads"), "{remedy}");
    let together = GridLaunch { blocks: Blocks::Cooperative, ..of([2000, 1, 1], [1024, 1, 1]) };
    let refusal = together.check(limits, &KernelResources::default(), Some(132)).unwrap_err();
    assert!(
        refusal.to_string().contains("all 2000 blocks") && refusal.to_string().contains("2 per SM"),
        "{refusal}"
    );
    assert!(refusal.remedy(limits, &KernelResources::default()).starts_with("launch at most 264 blocks"));
}
