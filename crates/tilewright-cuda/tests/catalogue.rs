//! Every kernel of the catalogue on the device: its result, and what it takes.

use crate::common::{self, compiles, expected, gpu, matrix, problem};
use tilewright_arch::{
    BlockSize, ComputeCapability, DynamicSharedMemory, KernelResources, LaunchConfig, Limits, Occupancy,
};
use tilewright_core::{DType, Element, MinPlus, PlusTimes, Semiring, SemiringId};
use tilewright_cuda::{Cubin, DriverKind, Engine, FunctionAttributes, ProgramPtx};
use tilewright_kernels::{Family, Kernel, Launch, Request, Variant, kernels, programs, select};

/// Multiples of every tile, and sizes around them, which some kernels refuse.
const SIZES: [(usize, usize, usize); 12] = [
    (1, 1, 1),
    (16, 16, 16),
    (17, 15, 33),
    (31, 32, 33),
    (32, 32, 32),
    (64, 64, 64),
    (64, 128, 32),
    (100, 1, 100),
    (1, 100, 7),
    (127, 129, 65),
    (128, 128, 128),
    (256, 128, 192),
];

#[test]
fn every_kernel_agrees_with_the_definition_at_every_size_it_takes() {
    let Some(engine) = gpu() else { return };
    let mut checked = 0;
    // No PTX comes with these, and not every GPU executes them.
    let is_hopper = engine.gpu().architecture.real() == "sm_90a";
    let is_here = |kernel: &&Kernel| match kernel.name {
        "wgmma" | "dmma" => compiles() && is_hopper,
        "mma" => compiles() && engine.gpu().capability() >= ComputeCapability::new(8, 0),
        _ => true,
    };
    for kernel in kernels().iter().filter(|kernel| kernel.family != Family::Gallery).filter(is_here) {
        // Tensor cores take f32 as tf32 alone, where it is asked for.
        let in_full =
            |variant: &&Variant| variant.dtype != DType::F32 || !["wgmma", "mma"].contains(&kernel.name);
        for variant in kernel.variants.iter().filter(in_full) {
            let taken: Vec<_> = SIZES
                .into_iter()
                .filter(|&size| takes(&engine, kernel, variant.semiring, variant.dtype, size))
                .collect();
            assert!(!taken.is_empty(), "{} {variant} takes none of the sizes", kernel.name);
            for size in taken {
                use SemiringId::{MinPlus as Min, PlusTimes as Plus};
                match (variant.semiring, variant.dtype) {
                    (Plus, DType::F32) => check::<PlusTimes<f32>>(&engine, kernel, Plus, size, |x| x as f32),
                    (Plus, DType::F64) => check::<PlusTimes<f64>>(&engine, kernel, Plus, size, |x| x as f64),
                    (Plus, DType::I32) => check::<PlusTimes<i32>>(&engine, kernel, Plus, size, |x| x as i32),
                    (Min, DType::F32) => check::<MinPlus<f32>>(&engine, kernel, Min, size, |x| x as f32),
                    (Min, DType::I32) => check::<MinPlus<i32>>(&engine, kernel, Min, size, |x| x as i32),
                    _ => continue,
                }
                checked += 1;
            }
        }
    }
    eprintln!("{checked} products; {:?}", tilewright_cuda::Telemetry::read(engine.device()));
    assert!(checked > 50);
}

fn takes(
    engine: &Engine,
    kernel: &'static Kernel,
    semiring: SemiringId,
    dtype: DType,
    size: (usize, usize, usize),
) -> bool {
    let (m, n, k) = size;
    let request = Request { gpu: engine.gpu(), ..Request::new(problem(m, n, k), semiring, dtype) };
    select(&request, Some(kernel), &ProgramPtx::exists).is_ok()
}

fn check<S: Semiring<Elem: Element, Out: Element>>(
    engine: &Engine,
    kernel: &'static Kernel,
    semiring: SemiringId,
    (m, n, k): (usize, usize, usize),
    make: fn(i64) -> S::Elem,
) {
    let (a, b) = (matrix(m, k, 1, make), matrix(k, n, 2, make));
    let wanted = expected::<S>(a.as_ref(), b.as_ref());
    let (a, b) = (engine.upload(a.as_ref()).expect("uploads"), engine.upload(b.as_ref()).expect("uploads"));
    let mut c = engine.zeros::<S::Out>(problem(m, n, k).c()).expect("fits");
    // Without NVRTC the form that there is PTX of.
    let request = engine.request(semiring, &a, &b, &c).expect("shapes fit");
    let recipe = select(&request, Some(kernel), &ProgramPtx::exists).expect("taken").recipe;
    let prepared = engine.prepare(recipe).expect("prepared");
    prepared.run(&a, &b, &mut c).expect("runs");
    let found = c.to_matrix().expect("downloads");
    assert!(found.as_slice() == wanted, "{} {semiring} {m} x {n} x {k}", kernel.name);
    for step in prepared.kernels().expect("described") {
        assert!(step.blocks_per_multiprocessor > 0, "{step:?}");
    }
}

#[test]
fn every_exhibit_shows_what_it_says() {
    let Some(engine) = gpu() else { return };
    for kernel in kernels().iter().filter(|kernel| kernel.family == Family::Gallery) {
        let showing = kernel.show(&[]).expect("has defaults");
        let input: Vec<f32> = (0..showing.input()).map(|i| (i % 251) as f32 - 100.0).collect();
        let found = engine.show(&showing, &input).expect("runs");
        assert!(found == showing.expected(&input), "{}", kernel.name);
    }
}

/// What a kernel takes, as the driver says; the number of its barriers, which the driver does not tell, is read from its machine code.
fn resources(engine: &Engine, launch: &Launch, driver: &FunctionAttributes) -> KernelResources {
    if engine.driver_kind() == DriverKind::Emulator {
        return driver.resources();
    }
    let cubin = Cubin::parse(&common::image(engine, launch.program())).expect("a cubin");
    KernelResources {
        barriers: cubin.kernel(launch.entry()).expect("the entry").barriers,
        ..driver.resources()
    }
}

/// What the driver says of a kernel is what stands in its machine code.
fn agrees_with_machine_code(engine: &Engine, launch: &Launch, driver: &FunctionAttributes) {
    let name = launch.program().name();
    let image = common::image(engine, launch.program());
    let cubin = Cubin::parse(&image).expect("a cubin");
    let code = cubin.kernel(launch.entry()).expect("the entry");
    assert_eq!(code.registers, driver.registers, "{name}");
    assert_eq!(code.static_shared_memory, driver.static_shared_memory, "{name}");
    assert_eq!(code.local_memory, driver.local_memory, "{name}");
    assert_eq!(cubin.constant_memory, u64::from(driver.constant_memory), "{name}");
    assert_eq!(
        code.max_threads.unwrap_or(1024).min(1024),
        driver.max_threads.max(code.max_threads.unwrap_or(0)),
        "{name}"
    );
}

/// The driver, the machine code, and the occupancy model say the same of every kernel, for every block size.
#[test]
fn driver_machine_code_and_model_agree() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    let limits = Limits::of(engine.device().capability).expect("a known architecture");
    let (mut compared, mut differences) = (0, Vec::new());
    for launch in programs() {
        let loaded = engine.load_kernel(&launch).expect("compiles");
        let name = launch.program().name();
        let driver = loaded.attributes().expect("known");
        if engine.driver_kind() == DriverKind::Gpu {
            agrees_with_machine_code(&engine, &launch, &driver);
        }

        let most = limits.shared_memory_per_block_optin - driver.static_shared_memory;
        loaded.allow_dynamic_shared_memory(most).expect("allowed");
        let resources = resources(&engine, &launch, &loaded.attributes().expect("known"));
        let sizes = [0, 1, 100, 1024, 5000, 8192, 16 << 10, 40_000, 48 << 10, 70_000, 100 << 10, most];
        for dynamic in sizes.into_iter().filter(|&bytes| bytes <= most) {
            for threads in (1..=driver.max_threads).filter(|threads| threads % 32 == 0 || threads % 37 == 1) {
                let config =
                    LaunchConfig { dynamic_shared_memory: dynamic, ..LaunchConfig::threads(threads) };
                let model = Occupancy::of(limits, &resources, &config).expect("a launch").blocks_per_sm;
                let device = loaded.blocks_per_multiprocessor(threads, dynamic).expect("known");
                compared += 1;
                if model != device {
                    differences.push(format!(
                        "{name}: {threads} threads, {dynamic} bytes: driver {device}, model {model}"
                    ));
                }
            }
        }
        for dynamic in
            [DynamicSharedMemory::Fixed(0), DynamicSharedMemory::PerThread { base: 0, per_thread: 8 }]
        {
            let model = BlockSize::best(limits, &resources, &LaunchConfig::threads(1), dynamic, 1024);
            let model = model.expect("a launch").expect("a block size");
            let (threads, grid) = loaded.best_block(dynamic, 1024).expect("known");
            let expected = (model.threads, model.min_grid_size(engine.device().multiprocessors));
            if (threads, grid) != expected {
                differences
                    .push(format!("{name}: {dynamic:?}: driver {:?}, model {expected:?}", (threads, grid)));
            }
            compared += 1;
        }
    }
    eprintln!("{compared} comparisons, {} differences", differences.len());
    assert!(differences.is_empty(), "{}", differences[..differences.len().min(40)].join("\n"));
    assert!(compared > 1000);
}

/// Newer drivers take off what the system reserves, and older ones do not.
#[test]
fn available_shared_memory_agrees_with_the_model() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    let limits = Limits::of(engine.device().capability).expect("a known architecture");
    let mut differences = Vec::new();
    // The last one first: the test above begins at the other end, and each compiles half of the programs for both.
    for launch in programs().into_iter().rev() {
        let loaded = engine.load_kernel(&launch).expect("compiles");
        let driver = loaded.attributes().expect("known");
        let most = limits.shared_memory_per_block_optin - driver.static_shared_memory;
        loaded.allow_dynamic_shared_memory(most).expect("allowed");
        let resources = resources(&engine, &launch, &loaded.attributes().expect("known"));
        for threads in [32, 64, 96, 128, 192, 256, 512, 1024] {
            for blocks in 1..=16 {
                let config = LaunchConfig::threads(threads);
                let model = Occupancy::available_dynamic_shared_memory(limits, &resources, &config, blocks);
                let Some(model) = model.expect("a launch") else { continue };
                let device = loaded.available_dynamic_shared_memory(blocks, threads).expect("known");
                let allowed = [u64::from(model), u64::from(model + limits.shared_memory_reserved_per_block)];
                if threads <= driver.max_threads && !allowed.contains(&device) {
                    let name = launch.program().name();
                    differences
                        .push(format!("{name}: {blocks} of {threads}: driver {device}, model {model}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences[..differences.len().min(40)].join("\n"));
}

#[test]
fn all_pass_on_the_emulator() {
    common::all_pass_on_the_emulator(module_path!());
}
