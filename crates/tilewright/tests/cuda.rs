//! Products on a GPU against the definition. Without one the tests say so; `TILEWRIGHT_REQUIRE_GPU=1` makes that a failure.

use crate::support::{self, Makers, Own};
use crate::user_semirings;
use tilewright::{
    Backend, DType, Element, Error, Extremes, Layout, LogPlus, MatMut, MatRef, Matrix, MaxMin, MaxPlus,
    MaxTimes, MinMax, MinPlus, MinTimes, NO_ARG, Options, OrAnd, PlusTimes, Problem, Product, Report,
    Semiring, SemiringId, Update, Value, bf16,
    cuda::{DriverKind, Engine, Origin},
    kernels::{Family, Kernel, Request, Variant, find, kernels},
    paths::{Method, OnGpu, PathSemiring, Paths, close_on},
};

/// One product by both.
fn compare<S: Semiring<Elem: Copy, Out: Copy + PartialEq + std::fmt::Debug>>(
    size: (usize, usize, usize),
    which: [usize; 3],
    update: &Update<S>,
    makers: Makers<S::Elem, S::Out>,
) -> Result<Report, Error> {
    support::compare::<S>(Backend::Cuda, size, which, update, makers)
}

pub fn has_gpu() -> bool {
    match Backend::Cuda.resolve() {
        Ok(_) => true,
        Err(error) if std::env::var_os("TILEWRIGHT_REQUIRE_GPU").is_none_or(|value| value == "0") => {
            assert!(error.is_unavailable() && error.hint().is_some(), "{error}");
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("TILEWRIGHT_REQUIRE_GPU is set, and {error}"),
    }
}

const SIZES: [(usize, usize, usize); 8] = [
    (1, 1, 1),
    (3, 5, 7),
    (32, 32, 32),
    (33, 31, 65),
    (128, 128, 64),
    (129, 127, 130),
    (1, 300, 40),
    (200, 1, 33),
];

#[test]
fn every_size_and_layout_agrees_with_the_definition() {
    if !has_gpu() {
        return;
    }
    for size in SIZES {
        for which in [
            [0, 0, 0],
            [1, 0, 0],
            [0, 1, 0],
            [1, 1, 1],
            [2, 3, 0],
            [3, 2, 3],
            [4, 5, 1],
            [5, 4, 5],
            [0, 0, 2],
        ] {
            compare::<PlusTimes<f32>>(size, which, &Update::Replace, (|x| x as f32, |x| x as f32)).unwrap();
            compare::<MinPlus<f32>>(size, which, &Update::Replace, (|x| x as f32, |x| x as f32)).unwrap();
        }
        compare::<PlusTimes<i32>>(size, [0, 0, 0], &Update::Replace, (|x| x as i32, |x| x as i32)).unwrap();
    }
}

#[test]
fn the_old_c_takes_part_as_it_should() {
    if !has_gpu() {
        return;
    }
    let floats: Makers<f32, f32> = (|x| x as f32, |x| x as f32);
    for size in [(3, 5, 7), (128, 64, 32), (65, 67, 0)] {
        for which in [[0, 0, 0], [1, 0, 3], [0, 2, 5]] {
            compare::<PlusTimes<f32>>(size, which, &Update::Accumulate, floats).unwrap();
            compare::<MinPlus<f32>>(size, which, &Update::Accumulate, floats).unwrap();
            compare::<PlusTimes<f32>>(size, which, &Update::scale(2.0, 0.5), floats).unwrap();
            compare::<PlusTimes<f32>>(size, which, &Update::scale(-1.0, 0.0), floats).unwrap();
        }
    }
    // With beta = 0 the old C is not read.
    let a = MatRef::new(&[1.0_f32, 2.0, 3.0, 4.0], Layout::row_major(2, 2)).unwrap();
    let mut c = [f32::NAN; 4];
    let view = MatMut::new(&mut c, Layout::row_major(2, 2)).unwrap();
    Product::<PlusTimes<f32>>::new(a, a).unwrap().backend(Backend::Cuda).scale_into(1.5, 0.0, view).unwrap();
    assert_eq!(c, [10.5, 15.0, 22.5, 33.0]);
}

#[test]
fn semirings_of_ones_own() {
    if !has_gpu() {
        return;
    }
    user_semirings::texts_have_the_bits_of_the_definition(Backend::Cuda);
    user_semirings::every_operation_has_the_bits_of_the_processor(Backend::Cuda);
    user_semirings::cuda_expressions_agree_with_the_functions_in_rust(Backend::Cuda);
    user_semirings::wrong_cuda_expressions_are_refused(Backend::Cuda);
}

#[test]
fn what_a_gpu_does_not_do_is_refused_and_c_stays() {
    if !has_gpu() {
        return;
    }
    let a = MatRef::new(&[1.0_f32; 4], Layout::row_major(2, 2)).unwrap();
    let product = Product::<MinPlus<f32>>::new(a, a).unwrap();
    let kernel = find("naive").ok();
    let asked = product.options(Options { backend: Backend::Cuda, kernel, ..Options::default() });
    let error = asked.compute_with_arg().unwrap_err();
    assert_eq!((error.code(), error.hint().is_some()), ("unsupported", true), "{error}");
    // Left to itself, the product goes where it can be done.
    let (_, arg) = product.compute_with_arg().unwrap();
    assert!(arg.as_slice().iter().all(|&k| k != NO_ARG));
    assert_eq!(
        Product::<Own>::new(a, a).unwrap().backend(Backend::Cuda).compute().unwrap_err().code(),
        "unsupported"
    );
}

#[test]
fn without_a_gpu_the_backend_says_so_and_c_stays() {
    if Backend::Cuda.resolve().is_ok() {
        return;
    }
    let a = MatRef::new(&[1.0_f32; 4], Layout::row_major(2, 2)).unwrap();
    let mut c = [7.0_f32; 4];
    let view = MatMut::new(&mut c, Layout::row_major(2, 2)).unwrap();
    let error =
        Product::<MinPlus<f32>>::new(a, a).unwrap().backend(Backend::Cuda).write_to(view).unwrap_err();
    assert!(error.is_unavailable() && error.hint().is_some());
    assert_eq!(c, [7.0; 4]);
}

/// Random numbers from -1 to 1, the same every time: every order of summation has its own rounding.
pub fn noise<T>(count: usize, salt: u64, make: fn(f64) -> T) -> Vec<T> {
    let mut state = salt;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 11
    };
    (0..count).map(|_| make(next() as f64 / (1_u64 << 52) as f64 - 1.0)).collect()
}

/// What makes elements of A and B, and of C, from a number, and the bits of an element of C.
type Bits<E, O> = (fn(f64) -> E, fn(f64) -> O, fn(O) -> u64);

/// The same kernel by the GPU and by the emulator, bit for bit; the number of sizes that it takes.
fn same_bits<S: Semiring<Elem: Copy, Out: Copy>>(
    kernel: &'static Kernel,
    update: &Update<S>,
    (elem, out, bits): Bits<S::Elem, S::Out>,
) -> usize {
    // The recipes depend on the GPU.
    let gpu = Engine::shared().unwrap().gpu();
    let mut taken = 0;
    for (m, n, k) in
        [(16, 16, 16), (35, 33, 17), (64, 64, 40), (128, 128, 128), (256, 256, 256), (70, 37, 900)]
    {
        let (a, b, c) = (noise(m * k, 1, elem), noise(k * n, 2, elem), noise(m * n, 3, out));
        let layout = Layout::row_major;
        let a = MatRef::new(&a, layout(m, k)).unwrap();
        let b = MatRef::new(&b, layout(k, n)).unwrap();
        let run = |backend| {
            let mut c = c.clone();
            let options = Options { backend, kernel: Some(kernel), gpu: Some(&gpu), ..Options::default() };
            let product = Product::<S>::new(a, b).unwrap().options(options);
            product.run(MatMut::new(&mut c, layout(m, n)).unwrap(), None, update)?;
            Ok::<_, Error>(c.into_iter().map(bits).collect::<Vec<_>>())
        };
        match (run(Backend::Cuda), run(Backend::Emulator)) {
            (Ok(device), Ok(emulator)) => {
                let wrong = device.iter().zip(&emulator).position(|(x, y)| x != y);
                assert_eq!(
                    wrong,
                    None,
                    "{} {} {m} x {n} x {k}: the first that differs",
                    kernel.name,
                    S::NAME
                );
                taken += 1;
            }
            // Sizes that the kernel refuses; without NVRTC, programs that the catalogue has no PTX of.
            (Err(device), Err(emulator)) => assert_eq!(device.code(), emulator.code()),
            // The emulator may do with another tile.
            (Err(device), Ok(_)) => {
                assert!(["unavailable", "environment"].contains(&device.code()), "{device}")
            }
            (Ok(_), Err(emulator)) => panic!("{} {m} x {n} x {k}: {emulator}", kernel.name),
        }
    }
    taken
}

/// Every kernel on random floats, whose sums depend on the order of the terms and on every rounding.
fn every_kernel_gives_the_same_bits() {
    let f32s: Bits<f32, f32> = (|x| x as f32, |x| x as f32, |x: f32| u64::from(x.to_bits()));
    // No PTX comes with kernels on tensor cores.
    let is_alone = std::env::var_os(CATALOGUE_ALONE).is_some();
    let is_here = |kernel: &&Kernel| {
        kernel.family != Family::Gallery && !(is_alone && ["wgmma", "mma", "dmma"].contains(&kernel.name))
    };
    for kernel in kernels().iter().filter(is_here) {
        let has = |semiring, dtype| kernel.variants.contains(&Variant::new(semiring, dtype));
        let mut taken = 0;
        if has(SemiringId::PlusTimes, DType::F32) {
            taken += same_bits::<PlusTimes<f32>>(kernel, &Update::scale(0.7, -1.3), f32s);
        }
        if has(SemiringId::MinPlus, DType::F32) {
            taken += same_bits::<MinPlus<f32>>(kernel, &Update::Accumulate, f32s);
        }
        if has(SemiringId::PlusTimes, DType::F64) {
            let f64s: Bits<f64, f64> = (|x| x, |x| x, f64::to_bits);
            taken += same_bits::<PlusTimes<f64>>(kernel, &Update::scale(0.7, -1.3), f64s);
        }
        // Tensor cores; f32 they take as tf32 alone, where it is asked for.
        if has(SemiringId::PlusTimes, DType::Bf16) {
            let halves: Bits<bf16, bf16> = (bf16::from_f64, bf16::from_f64, |x| u64::from(x.to_bits()));
            taken += same_bits::<PlusTimes<bf16>>(kernel, &Update::scale(0.7, -1.3), halves);
        }
        if has(SemiringId::LogPlus, DType::F32) {
            taken += same_bits::<LogPlus<f32>>(kernel, &Update::Accumulate, f32s);
        }
        assert!(taken > 0, "{} takes none of the sizes", kernel.name);
        eprintln!("{}: {taken} products, the same bits", kernel.name);
    }
}

/// Says that a process is to run the PTX of the catalogue on the GPU, too.
const CATALOGUE_ALONE: &str = "TILEWRIGHT_TEST_CATALOGUE_ALONE";

#[test]
fn the_emulator_gives_the_bits_of_the_gpu() {
    if !has_gpu() {
        return;
    }
    if Engine::shared().unwrap().driver_kind() == DriverKind::Emulator {
        return eprintln!("skipped: the GPU is the emulator itself");
    }
    if std::env::var_os(CATALOGUE_ALONE).is_some() {
        // The same PTX on both sides: nothing was compiled here.
        let request = |layout| {
            Request::new(Problem::new(layout, layout, layout).unwrap(), SemiringId::PlusTimes, DType::F32)
        };
        let recipe = find("naive").unwrap().recipe(&request(Layout::row_major(16, 16))).unwrap();
        let prepared = Engine::shared().unwrap().prepare(recipe).unwrap();
        let origin = prepared.kernels().unwrap()[0].origin;
        assert!(matches!(origin, Origin::Shipped { .. }), "{origin:?}");
        every_kernel_gives_the_same_bits();
        return;
    }
    // Machine code of NVRTC, where there is one, against the PTX of the catalogue; then in a process that finds no NVRTC.
    every_kernel_gives_the_same_bits();
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["cuda::the_emulator_gives_the_bits_of_the_gpu", "--exact", "--nocapture"])
        .env(CATALOGUE_ALONE, "1")
        .env("TILEWRIGHT_NVRTC_PATH", "/nowhere")
        .env("TILEWRIGHT_NO_CACHE", "1")
        .output()
        .unwrap();
    eprintln!("{}", String::from_utf8_lossy(&again.stderr));
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
}

/// The backend of GPUs, with all that it does, on the emulated driver: in a process that finds no other.
/// Weights of edges, some absent, of numbers from 0 on.
fn graph<S: PathSemiring>(n: usize, salt: u64, edge: impl Fn(u64) -> f64) -> Matrix<S::Weight> {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    };
    Matrix::from_fn(n, n, |_, _| {
        let (number, is_there) = (edge(next()), next() % 8 < 3);
        let weight = S::Weight::from_value(Value::Float(number), Extremes::Absent).unwrap();
        if is_there { weight } else { S::ZERO }
    })
    .unwrap()
}

/// The weights and routes of the processor, bit for bit; the same cycles, too.
fn same_paths<S: PathSemiring<Weight: std::fmt::Debug>>(gpu: &OnGpu, w: &Matrix<S::Weight>) {
    let paths = Paths::<S>::new(w).unwrap().method(Method::Dense);
    let what = format!("{} on {}, {} vertices", S::NAME, S::Weight::DTYPE, w.rows());
    match (paths.with_predecessors(), paths.device(gpu).with_predecessors()) {
        (Ok(here), Ok(there)) => {
            let differs = here.0.as_slice().iter().zip(there.0.as_slice()).position(|(x, y)| x != y);
            assert_eq!(differs, None, "{what}");
            assert!(here.1 == there.1, "{what}: other routes");
        }
        (Err(here), Err(there)) => assert_eq!(here.to_string(), there.to_string(), "{what}"),
        (here, there) => panic!("{what}: {:?} here, {:?} there", here.err(), there.err()),
    }
}

#[test]
fn best_paths_are_those_of_the_processor() {
    if !has_gpu() {
        return;
    }
    let gpu = OnGpu::open(Backend::Cuda).unwrap();
    for n in [0, 1, 2, 3, 17, 63, 64, 65, 96, 127, 128, 129, 150, 193] {
        same_paths::<MinPlus<f32>>(&gpu, &graph::<MinPlus<f32>>(n, 1, |x| (x % 100) as f64));
    }
    // Roundings, too: the steps are the same.
    same_paths::<MinPlus<f64>>(&gpu, &graph::<MinPlus<f64>>(150, 2, |x| x as f64 / 1e16));
    same_paths::<MaxTimes<f32>>(&gpu, &graph::<MaxTimes<f32>>(130, 3, |x| (x % 1000) as f64 / 1001.0));
    same_paths::<MinTimes<f64>>(&gpu, &graph::<MinTimes<f64>>(70, 4, |x| 1.0 + (x % 1000) as f64 / 1e3));
    let (n, small) = (90, |x: u64| (x % 50) as f64);
    same_paths::<MinPlus<i16>>(&gpu, &graph::<MinPlus<i16>>(n, 5, small));
    same_paths::<MinPlus<i32>>(&gpu, &graph::<MinPlus<i32>>(n, 6, small));
    same_paths::<MinPlus<i64>>(&gpu, &graph::<MinPlus<i64>>(n, 7, small));
    same_paths::<MaxMin<f32>>(&gpu, &graph::<MaxMin<f32>>(n, 8, small));
    same_paths::<MaxMin<i32>>(&gpu, &graph::<MaxMin<i32>>(n, 9, small));
    same_paths::<MinMax<f64>>(&gpu, &graph::<MinMax<f64>>(n, 10, small));
    same_paths::<OrAnd>(&gpu, &graph::<OrAnd>(n, 11, |x| (x % 16 / 15) as f64));
    // Sums that leave 32 bits, and edges of every sign, with and without cycles that gain.
    same_paths::<MinPlus<i32>>(&gpu, &graph::<MinPlus<i32>>(n, 12, |x| 1e8 + (x % 100) as f64));
    for salt in 0..6 {
        let most = [40.0, 4.0][salt as usize % 2];
        same_paths::<MinPlus<i32>>(&gpu, &graph::<MinPlus<i32>>(100, salt, |x| (x % 100) as f64 - most));
        same_paths::<MaxPlus<f64>>(&gpu, &graph::<MaxPlus<f64>>(80, salt, |x| most - (x % 99) as f64));
    }
}

#[test]
fn paths_of_few_edges_and_any_layout() {
    if !has_gpu() {
        return;
    }
    let gpu = OnGpu::open(Backend::Cuda).unwrap();
    let w = graph::<MinPlus<f32>>(70, 1, |x| (x % 100) as f64);
    let paths = Paths::<MinPlus<f32>>::new(&w).unwrap();
    for most in 0..8 {
        let paths = paths.steps(most);
        assert!(paths.distances().unwrap() == paths.device(&gpu).distances().unwrap(), "{most} edges");
    }
    assert!(gpu.times().seconds > 0.0 && gpu.times().transfer_seconds > 0.0);
    let all = paths.distances().unwrap();
    for layout in [Layout::col_major(70, 70), Layout::strided(70, 70, 99, 1), Layout::strided(70, 70, 200, 2)]
    {
        let mut data = vec![-7.0; 70 * 200];
        let mut d = MatMut::new(&mut data, layout).unwrap();
        d.fill_with(|i, j| w[(i, j)]);
        close_on::<MinPlus<f32>>(&gpu, d.reborrow(), &Default::default()).unwrap();
        assert!(d.as_ref() == all.as_ref());
        assert_eq!(data.iter().filter(|&&x| x == -7.0).count(), 70 * 200 - 70 * 70);
    }
    let stop = tilewright::Cancel::new();
    stop.cancel();
    let options = tilewright::paths::Options { cancel: Some(&stop), ..Default::default() };
    let error = paths.steps(4).options(options).device(&gpu).distances().unwrap_err();
    assert_eq!(error.code(), "cancelled");
}

#[test]
fn all_pass_on_the_emulated_driver() {
    const AGAIN: &str = "TILEWRIGHT_TEST_EMULATED";
    if std::env::var_os(AGAIN).is_some() {
        return;
    }
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["cuda::", "--nocapture"])
        .envs([(AGAIN, "1"), ("TILEWRIGHT_CUDA_PATH", "emulator"), ("TILEWRIGHT_REQUIRE_GPU", "1")])
        .output()
        .unwrap();
    let text = [again.stdout, again.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(again.status.success(), "{text}");
}
