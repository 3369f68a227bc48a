//! What limits a kernel and what to change, on cases worked out by hand.

use tilewright_arch::{
    BlockSize, Carveout, ComputeCapability, Cut, DynamicSharedMemory, KernelResources, LaunchConfig, Limits,
    Occupancy, Resource, Vary, occupancy::thread_occupancy,
};

fn limits(major: u8, minor: u8) -> &'static Limits {
    Limits::of(ComputeCapability::new(major, minor)).expect("a known capability")
}

fn kernel(registers: u32, shared_memory: u32) -> KernelResources {
    KernelResources {
        registers_per_thread: registers,
        static_shared_memory: shared_memory,
        ..KernelResources::default()
    }
}

/// The RTX A6000 with 1,024 threads, 37 registers and two tiles of 32 x 32 floats.
#[test]
fn the_a6000_holds_one_block_of_1024_threads() {
    let (limits, kernel, launch) = (limits(8, 6), kernel(37, 8192), LaunchConfig::threads(1024));
    let occupancy = Occupancy::of(limits, &kernel, &launch).expect("valid");
    assert_eq!(occupancy.blocks_per_sm, 1);
    assert_eq!((occupancy.warps_per_sm, occupancy.max_warps_per_sm), (32, 48));
    assert!((occupancy.ratio() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(occupancy.limited_by.to_string(), "warps, registers");
    assert_eq!(occupancy.limits.shared_memory, Some(11));
    assert_eq!(occupancy.allocated.registers_per_block, 32 * 1280);
    assert_eq!(occupancy.allocated.shared_memory_per_block, 9216);
    assert_eq!(launch.check(limits, &kernel), Ok(()));

    // Fewer registers alone do not help, fewer threads do.
    let cuts = Occupancy::cuts(limits, &kernel, &launch).expect("valid");
    let summary: Vec<_> = cuts.iter().map(|cut| (cut.quantity, cut.to, cut.suffices(&occupancy))).collect();
    assert_eq!(summary, [(Vary::Threads, 768, true), (Vary::Registers, 32, false)]);
    assert_eq!(cuts[0].after.ratio(), 1.0);
}

#[test]
fn shared_memory_is_cut_to_a_whole_number_of_allocations() {
    // 228 KiB hold two blocks of 113 KiB + 1 KiB.
    let (limits, kernel) = (limits(9, 0), kernel(32, 0));
    let launch = LaunchConfig { dynamic_shared_memory: 120_000, ..LaunchConfig::threads(128) };
    let cuts = Occupancy::cuts(limits, &kernel, &launch).expect("valid");
    let [Cut { resource: Resource::SharedMemory, from: 120_000, to, after, .. }] = cuts[..] else {
        panic!("{cuts:?}");
    };
    assert_eq!((to, after.blocks_per_sm), (113 * 1024, 2));
}

/// No smaller cut gains a block: every value between the cut and the present one is tried.
#[test]
fn cuts_are_the_smallest() {
    for limits in Limits::ALL {
        for (threads, registers, shared_memory, barriers) in [
            (1024, 37, 8192, 1),
            (256, 128, 40_000, 1),
            (96, 70, 20_001, 1),
            (64, 20, 0, 7),
            (1024, 80, 49_000, 1),
        ] {
            let kernel = KernelResources { barriers, ..kernel(registers, shared_memory) };
            let launch = LaunchConfig::threads(threads);
            let before = Occupancy::of(limits, &kernel, &launch).expect("valid");
            for cut in Occupancy::cuts(limits, &kernel, &launch).expect("valid") {
                assert!(before.binding().contains(cut.resource));
                let allowed = |value| {
                    let (kernel, launch) = cut.quantity.set(value, &kernel, &launch);
                    let limit =
                        Occupancy::of(limits, &kernel, &launch).expect("valid").limits.get(cut.resource);
                    limit.unwrap_or(u32::MAX)
                };
                assert!(allowed(cut.to) > before.blocks_per_sm, "{cut:?}");
                let smallest = (cut.to + 1..=cut.from).all(|value| allowed(value) <= before.blocks_per_sm);
                assert!(smallest, "cc {}: {cut:?}", limits.compute_capability);
            }
        }
    }
}

#[test]
fn a_block_too_large_is_cut_until_it_launches() {
    let (limits, kernel, launch) = (limits(8, 0), kernel(80, 0), LaunchConfig::threads(1024));
    assert_eq!(Occupancy::of(limits, &kernel, &launch).expect("valid").blocks_per_sm, 0);
    let cuts = Occupancy::cuts(limits, &kernel, &launch).expect("valid");
    assert_eq!((cuts[0].resource, cuts[0].to, cuts[0].after.blocks_per_sm), (Resource::Registers, 64, 1));
    let message = launch.check(limits, &kernel).expect_err("80 registers x 1024 threads").to_string();
    assert!(message.contains("81920") && message.contains("16384 more than the limit of 65536"), "{message}");
}

#[test]
fn errors_say_by_how_much() {
    let limits = limits(8, 6);
    let message = |kernel: &KernelResources, launch: LaunchConfig| {
        launch.check(limits, kernel).expect_err("cannot launch").to_string()
    };
    let none = KernelResources::default();
    assert!(message(&none, LaunchConfig::threads(0)).contains("at least one thread"));
    assert!(message(&none, LaunchConfig::threads(1100)).contains("1024 by 76"));
    assert!(message(&kernel(300, 0), LaunchConfig::threads(32)).contains("255 by 45"));
    let dynamic = |bytes| LaunchConfig { dynamic_shared_memory: bytes, ..LaunchConfig::threads(32) };
    assert!(message(&none, dynamic(102_400)).contains("1024 more than the limit of 101376"));
    let closed = KernelResources { shared_memory_opt_in: tilewright_arch::SharedMemoryOptIn::Off, ..none };
    assert!(message(&closed, dynamic(50_000)).contains("848 more than the limit of 49152; opting in raises"));
    let bounded = KernelResources { max_threads_per_block: 256, ..none };
    assert!(message(&bounded, LaunchConfig::threads(512)).contains("launch bounds of 256 by 256"));
    let cluster = LaunchConfig { cluster_size: 2, ..LaunchConfig::threads(32) };
    assert!(message(&none, cluster).contains("compute capability 9.0"));
}

/// Curves have a step exactly where the allocation units say so.
#[test]
fn the_register_curve_steps_by_allocation_units() {
    let (limits, kernel, launch) = (limits(8, 0), kernel(32, 0), LaunchConfig::threads(256));
    let values = Vary::Registers.values(limits);
    let curve = Occupancy::curve(limits, &kernel, &launch, Vary::Registers, values).expect("valid");
    assert_eq!(curve.len(), 255);
    let blocks = |registers: usize| curve[registers - 1].occupancy.blocks_per_sm;
    assert_eq!((blocks(32), blocks(33), blocks(40), blocks(41)), (8, 6, 6, 5));
    assert_eq!((blocks(128), blocks(129), blocks(255)), (2, 1, 1));
}

#[test]
fn the_simple_formula_agrees_for_whole_warps_only() {
    let limits = limits(8, 6);
    for (threads, agrees) in [(256, true), (33, false), (1024, true), (100, false)] {
        let occupancy =
            Occupancy::of(limits, &kernel(37, 8192), &LaunchConfig::threads(threads)).expect("valid");
        let simple = thread_occupancy(limits, occupancy.blocks_per_sm, threads);
        assert_eq!(simple == occupancy.ratio(), agrees, "{threads}");
        assert!(simple <= occupancy.ratio());
    }
}

/// Whatever the numbers, there is an answer, and the two ways to ask agree on what can launch.
#[test]
fn extreme_numbers_are_answered() {
    const EXTREMES: [u32; 6] = [0, 1, 33, 1024, 65_537, u32::MAX];
    for limits in Limits::ALL {
        for (threads, registers) in EXTREMES.iter().flat_map(|&t| EXTREMES.map(|r| (t, r))) {
            for (shared_memory, other) in EXTREMES.iter().flat_map(|&s| EXTREMES.map(|o| (s, o))) {
                let kernel = KernelResources { barriers: other, ..kernel(registers, shared_memory) };
                let launch = LaunchConfig {
                    dynamic_shared_memory: other,
                    cluster_size: other,
                    carveout: Carveout::Percent(other % 128),
                    ..LaunchConfig::threads(threads)
                };
                let occupancy = Occupancy::of(limits, &kernel, &launch);
                let checked = launch.check(limits, &kernel);
                if occupancy.is_ok_and(|occupancy| occupancy.blocks_per_sm == 0) {
                    assert!(checked.is_err(), "{kernel:?} {launch:?}");
                }
                if let Err(error) = checked {
                    assert!(!error.to_string().is_empty());
                }
            }
            let kernel = kernel(registers, 0);
            let _ = Occupancy::cuts(limits, &kernel, &LaunchConfig::threads(threads));
            let _ = Occupancy::available_dynamic_shared_memory(
                limits,
                &kernel,
                &LaunchConfig::threads(32),
                threads,
            );
            let tiles = DynamicSharedMemory::PerThread { base: threads, per_thread: registers };
            let best = BlockSize::best(limits, &kernel, &LaunchConfig::threads(1), tiles, threads);
            assert!(best.expect("valid").is_none_or(|best| best.threads <= threads));
        }
    }
}
