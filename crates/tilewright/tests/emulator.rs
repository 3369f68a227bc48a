//! Products on the emulator against the definition: what a user of the backend sees. Every kernel with all checks: `catalogue.rs`.

use crate::support::{Makers, Own, compare, numbers};
use crate::user_semirings;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tilewright::{
    Backend, BatchMut, BatchProduct, BatchRef, Cancel, DType, DynMatrix, DynProduct, DynRef, E4m3,
    ExpressionProduct, Extremes, Joining, Layout, MatMut, MatRef, Math, Matrix, MinPlus, Options, PlusTimes,
    Product, Scales, SemiringId, Update, kernels::find, plan::Gpu,
};

const FLOATS: Makers<f32, f32> = (|x| x as f32, |x| x as f32);
const EMULATOR: Options<'_> = Options {
    backend: Backend::Emulator,
    threads: 0,
    isa: None,
    math: Math::Full,
    kernel: None,
    gpu: None,
    progress: None,
    cancel: None,
    max_steps: None,
    max_time: None,
};

#[test]
fn every_size_and_layout_agrees_with_the_definition() {
    for size in [(1, 1, 1), (33, 31, 65), (64, 64, 32), (1, 300, 40), (65, 67, 0)] {
        for which in [[0, 0, 0], [1, 1, 1], [2, 3, 0], [5, 4, 5]] {
            compare::<PlusTimes<f32>>(Backend::Emulator, size, which, &Update::Replace, FLOATS).unwrap();
            compare::<MinPlus<f32>>(Backend::Emulator, size, which, &Update::Accumulate, FLOATS).unwrap();
        }
        let update = Update::scale(-3, 2);
        let ints: Makers<i32, i32> = (|x| x as i32, |x| x as i32);
        compare::<PlusTimes<i32>>(Backend::Emulator, size, [0, 0, 3], &update, ints).unwrap();
    }
}

#[test]
fn the_old_c_is_not_read_where_beta_is_zero() {
    let a = MatRef::new(&[1.0_f32, 2.0, 3.0, 4.0], Layout::row_major(2, 2)).unwrap();
    let mut c = [f32::NAN; 4];
    let view = MatMut::new(&mut c, Layout::row_major(2, 2)).unwrap();
    let product = Product::<PlusTimes<f32>>::new(a, a).unwrap().backend(Backend::Emulator);
    product.scale_into(1.5, 0.0, view).unwrap();
    assert_eq!(c, [10.5, 15.0, 22.5, 33.0]);
}

#[test]
fn batches_are_products_one_after_another() {
    let (la, lb) = (Layout::row_major(5, 3), Layout::row_major(3, 4));
    let (a, b) = (numbers(60, 1, |x| x as f32), numbers(12, 2, |x| x as f32));
    // One B for all.
    let batch = (BatchRef::new(&a, la, 4, 15).unwrap(), BatchRef::new(&b, lb, 4, 0).unwrap());
    let mut results = [[1.0_f32; 80]; 2];
    for (result, backend) in results.iter_mut().zip([Backend::Emulator, Backend::Reference]) {
        let product = BatchProduct::<PlusTimes<f32>>::new(batch.0, batch.1).unwrap();
        let product = product.options(Options { backend, ..EMULATOR });
        product.accumulate_into(&mut BatchMut::new(result, Layout::row_major(5, 4), 4, 20).unwrap()).unwrap();
    }
    assert_eq!(results[0], results[1]);
}

/// Of any strides, with gaps, and with one A for all; joined with the old C in each of the ways.
#[test]
fn a_batch_is_one_launch_where_a_kernel_takes_batches() {
    let (count, m, n, k) = (5, 7, 6, 9);
    let (a, b) = (numbers(900, 1, |x| x as f32), numbers(900, 2, |x| x as f32));
    for (stride_a, lb) in [(0, Layout::row_major(k, n)), (80, Layout::strided(k, n, 1, 11))] {
        let a = BatchRef::new(&a, Layout::row_major(m, k), count, stride_a).unwrap();
        let b = BatchRef::new(&b, lb, count, 100).unwrap();
        for update in [[1.0, 0.0], [1.0, 1.0], [-2.0, 3.0]] {
            let mut results = [[1.0_f32; 300]; 2];
            let calls = AtomicU64::new(0);
            let count_calls = |terms| {
                calls.fetch_add(terms, Relaxed);
            };
            let mut kernels = Vec::new();
            for (result, backend) in results.iter_mut().zip([Backend::Emulator, Backend::Reference]) {
                let progress: Option<&(dyn Fn(u64) + Sync)> =
                    if backend == Backend::Emulator { Some(&count_calls) } else { None };
                let options = Options { backend, progress, ..EMULATOR };
                let product = BatchProduct::<PlusTimes<f32>>::new(a, b).unwrap().options(options);
                let mut c = BatchMut::new(result, Layout::strided(m, n, 1, 8), count, 60).unwrap();
                kernels.push(product.scale_into(update[0], update[1], &mut c).unwrap());
            }
            assert_eq!(results[0], results[1], "{update:?}");
            assert_eq!(kernels[0].kernel.to_string(), "simt");
            assert!(kernels[0].why.to_string().starts_with("imitates"), "{:?}", kernels[0]);
            assert_eq!(calls.into_inner(), (count * m * n * k) as u64);
        }
    }
}

/// A semiring whose kernels know no batches, or a kernel that is asked for.
#[test]
fn other_batches_are_products_one_after_another() {
    let data = numbers(64, 3, |x| x as f32);
    let batch = BatchRef::new(&data, Layout::row_major(4, 4), 4, 16).unwrap();
    let mut c = [0.0_f32; 64];
    let options = Options { kernel: find("naive").ok(), ..EMULATOR };
    let product = BatchProduct::<MinPlus<f32>>::new(batch, batch).unwrap().options(options);
    let report =
        product.write_to(&mut BatchMut::new(&mut c, Layout::row_major(4, 4), 4, 16).unwrap()).unwrap();
    assert_eq!(report.kernel.to_string(), "naive");
    let mut wanted = [0.0_f32; 64];
    let product = product.options(Options { backend: Backend::Reference, ..EMULATOR });
    product.write_to(&mut BatchMut::new(&mut wanted, Layout::row_major(4, 4), 4, 16).unwrap()).unwrap();
    assert_eq!(c, wanted);
}

#[test]
fn the_kernel_and_the_gpu_can_be_chosen_and_are_named() {
    let a = Matrix::from_fn(32, 32, |i, j| (i * j % 7) as f32).unwrap();
    let gpu = Gpu::named("a6000").unwrap();
    for name in ["naive", "shared-tile"] {
        let options = Options { kernel: find(name).ok(), gpu: Some(&gpu), threads: 1, ..EMULATOR };
        let product = Product::<MinPlus<f32>>::new(a.as_ref(), a.as_ref()).unwrap().options(options);
        let mut c = a.clone();
        let report = product.write_to(c.as_mut()).unwrap();
        assert_eq!((report.kernel.to_string().as_str(), report.threads), (name, 1));
        assert!(
            report.why.to_string().starts_with("imitates RTX A6000, compute capability 8.6"),
            "{}",
            report.why
        );
    }
    // What a kernel does not take, it refuses by name.
    let options = Options { kernel: find("shared-tile").ok(), ..EMULATOR };
    let narrow = a.as_ref().window(0, 0, 31, 32).unwrap();
    let product = Product::<MinPlus<f32>>::new(narrow, a.as_ref()).unwrap().options(options);
    let error = product.compute().unwrap_err();
    assert!(error.to_string().contains("M to be a multiple of 32; M is 31"), "{error}");
}

#[test]
fn progress_adds_up() {
    for (m, n, k) in [(100, 70, 50), (1, 1, 1), (64, 64, 0)] {
        let (a, b) = (Matrix::filled(m, k, 1.0_f32).unwrap(), Matrix::filled(k, n, 1.0_f32).unwrap());
        let (terms, calls) = (AtomicU64::new(0), AtomicU64::new(0));
        let count = |done| {
            terms.fetch_add(done, Relaxed);
            calls.fetch_add(1, Relaxed);
        };
        let options = Options { progress: Some(&count), kernel: find("coalesced").ok(), ..EMULATOR };
        Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref()).unwrap().options(options).compute().unwrap();
        let blocks = m.div_ceil(32) * n.div_ceil(32);
        assert_eq!(terms.into_inner(), (m * n * k) as u64);
        assert!(calls.into_inner() >= blocks as u64);
    }
}

#[test]
fn limits_and_a_stop_end_a_product_and_say_where() {
    // One block, whose warps take hundreds of thousands of steps each.
    let (a, b) = (Matrix::filled(8, 60_000, 1.0_f32).unwrap(), Matrix::filled(60_000, 8, 1.0_f32).unwrap());
    let stop = Cancel::new();
    stop.cancel();
    let naive = Options { kernel: find("naive").ok(), threads: 1, ..EMULATOR };
    let moment = Some(Duration::from_nanos(1));
    for (options, code, name, hint) in [
        (Options { max_steps: Some(100), ..naive }, "device", "limit of steps", "`max_steps`"),
        (Options { max_time: moment, ..naive }, "device", "limit of time", "`max_time`"),
        (Options { cancel: Some(&stop), ..naive }, "cancelled", "cancelled", ""),
    ] {
        let product = Product::<MinPlus<f32>>::new(a.as_ref(), b.as_ref()).unwrap().options(options);
        let error = product.compute().unwrap_err();
        let (text, said) = (error.to_string(), error.hint().unwrap_or_default());
        assert_eq!(error.code(), code);
        assert!(text.contains(name), "{text}");
        if code == "device" {
            assert!(text.contains("is still running here") && text.contains("PTX line"), "{text}");
        }
        assert!(said.contains(hint), "{said}");
    }
    let small = b.as_ref().window(0, 0, 8, 8).unwrap();
    let nobody = Cancel::new();
    let patient = Options { cancel: Some(&nobody), max_time: Some(Duration::MAX), ..EMULATOR };
    Product::<MinPlus<f32>>::new(small, small).unwrap().options(patient).compute().unwrap();
}

#[test]
fn what_no_kernel_does_is_refused_and_c_stays() {
    let a = MatRef::new(&[1.0_f32; 4], Layout::row_major(2, 2)).unwrap();
    let product = Product::<MinPlus<f32>>::new(a, a).unwrap().backend(Backend::Emulator);
    let slow = product.options(Options { kernel: Some(find("naive").unwrap()), ..EMULATOR });
    let error = slow.compute_with_arg().unwrap_err();
    assert_eq!((error.code(), error.hint().is_some()), ("unsupported", true));
    let product = Product::<Own>::new(a, a).unwrap().backend(Backend::Emulator);
    let mut c = [7.0_f32; 4];
    let refused = product.write_to(MatMut::new(&mut c, Layout::row_major(2, 2)).unwrap());
    assert_eq!((refused.unwrap_err().code(), c), ("unsupported", [7.0; 4]));
}

/// The smallest `k` that wins, of few different terms and with absent ones, and where the old C stays.
#[test]
fn arg_results_are_those_of_the_definition() {
    let compiler = tilewright::cuda::Nvrtc::find();
    for semiring in SemiringId::ALL.iter().copied().filter(|s| s.is_selective()) {
        for dtype in DType::ALL.iter().copied().filter(|&dtype| semiring.output(dtype).is_ok()) {
            let element = |i: usize, salt: usize| match (i * 7919 + salt * 31) % 61 {
                _ if dtype == DType::Bool => f64::from(u8::from((i * 31 + salt).is_multiple_of(11))),
                0 if matches!(semiring, SemiringId::MaxPlus | SemiringId::MaxMin) => f64::NEG_INFINITY,
                0 => f64::INFINITY,
                1 if dtype.is_float() => f64::NAN,
                x => (x % 9) as f64,
            };
            let make = |rows: usize, cols: usize, salt: usize| {
                let whole = Matrix::from_fn(rows, cols, |i, j| element(i * cols + j, salt)).unwrap();
                DynRef::from(whole.as_ref()).convert(dtype, Extremes::Absent).unwrap()
            };
            for ((m, n, k), [at, bt, ct]) in [
                ((67, 35, 70), [false; 3]),
                ((130, 65, 33), [true, false, true]),
                ((5, 70, 64), [false, true, false]),
                ((3, 4, 0), [false; 3]),
                ((64, 64, 7), [true, true, true]),
            ]
            .into_iter()
            .take(if semiring == SemiringId::MinPlus && dtype.size() == 4 { 5 } else { 1 })
            {
                let (a, b) = (
                    if at { make(k, m, 1) } else { make(m, k, 1) },
                    if bt { make(n, k, 2) } else { make(k, n, 2) },
                );
                let (a, b) = (
                    if at { a.as_ref().t() } else { a.as_ref() },
                    if bt { b.as_ref().t() } else { b.as_ref() },
                );
                for joining in [Joining::Replace, Joining::Accumulate] {
                    let output = semiring.output(dtype).unwrap();
                    let old = make(if ct { n } else { m }, if ct { m } else { n }, 3);
                    let old = old.as_ref().convert(output, Extremes::Absent).unwrap();
                    let run = |backend| {
                        let (mut c, mut arg) = (old.clone(), Matrix::filled(m, n, 7).unwrap());
                        let product = DynProduct::new(semiring, a, b).unwrap();
                        let view = if ct { c.as_mut().t() } else { c.as_mut() };
                        let product = match joining {
                            Joining::Accumulate => product
                                .update(joining, Some(if ct { old.as_ref().t() } else { old.as_ref() })),
                            _ => Ok(product),
                        };
                        let options = Options { backend, ..EMULATOR };
                        product.unwrap().options(options).write_to(view, Some(arg.as_mut())).map(|_| (c, arg))
                    };
                    if compiler.is_err() {
                        assert_eq!(run(Backend::Emulator).unwrap_err().code(), "unavailable");
                        return;
                    }
                    let (c, arg) = run(Backend::Emulator).unwrap();
                    let (wanted, winners) = run(Backend::Reference).unwrap();
                    let case = format!("{semiring} on {dtype}, {m} x {n} x {k}, {joining:?}");
                    assert!(arg == winners, "{case}: {:?} in place of {:?}", arg.as_ref(), winners.as_ref());
                    let bytes = |c: &DynMatrix| -> Vec<u8> {
                        let Layout { rows, cols, .. } = c.layout();
                        let places = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
                        places.flat_map(|(i, j)| c.as_ref().bytes(i, j).unwrap().to_vec()).collect()
                    };
                    assert_eq!(bytes(&c), bytes(&wanted), "{case}");
                }
            }
        }
    }
}

#[test]
fn semirings_that_are_given_by_their_text() {
    user_semirings::texts_have_the_bits_of_the_definition(Backend::Emulator);
    user_semirings::every_operation_has_the_bits_of_the_processor(Backend::Emulator);
}

#[test]
fn semirings_with_cuda_expressions() {
    user_semirings::cuda_expressions_agree_with_the_functions_in_rust(Backend::Emulator);
    user_semirings::wrong_cuda_expressions_are_refused(Backend::Emulator);
}

/// Says that a process is to compute without a compiler.
const WITHOUT_COMPILER: &str = "TILEWRIGHT_TEST_WITHOUT_COMPILER";

/// Where there is no NVRTC, the help promises that another kernel takes the place of one that would have to be compiled.
#[test]
fn doubles_of_every_size_and_layout_need_no_compiler() {
    if std::env::var_os(WITHOUT_COMPILER).is_none() {
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["emulator::doubles_of_every_size_and_layout_need_no_compiler", "--exact"])
            .env(WITHOUT_COMPILER, "1")
            .env("TILEWRIGHT_NVRTC_PATH", "/nowhere")
            .output()
            .unwrap();
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
        return;
    }
    assert!(tilewright::cuda::Nvrtc::find().is_err());
    let shortest: tilewright::expressions::Expressions = "add=min(x,y); mul=x+y; zero=inf".parse().unwrap();
    let a = Matrix::filled(2, 2, 1.0).unwrap();
    let product = ExpressionProduct::new(&shortest, &a, &a).unwrap();
    let error = product.write_to(Matrix::filled(2, 2, 0.0).unwrap().as_mut().into(), &EMULATOR).unwrap_err();
    assert!(error.to_string().contains("TILEWRIGHT_NVRTC_PATH=/nowhere"), "{error}");
    let doubles: Makers<f64, f64> = (|x| x as f64, |x| x as f64);
    let mut refused = Vec::new();
    for size in [(1, 1, 1), (64, 64, 32), (33, 31, 65), (40, 1, 50), (7, 128, 3)] {
        for which in [
            [0, 0, 0],
            [1, 0, 0],
            [0, 1, 0],
            [1, 1, 0],
            [0, 0, 1],
            [3, 2, 3],
            [2, 3, 0],
            [4, 5, 1],
            [5, 4, 5],
        ] {
            let update = Update::scale(-3.0, 2.0);
            if let Err(error) = compare::<PlusTimes<f64>>(Backend::Emulator, size, which, &update, doubles) {
                refused.push((size, which, error.to_string()));
            }
        }
    }
    assert!(refused.is_empty(), "{} of 45 are refused: {:?}", refused.len(), refused[0]);
}

/// Data whose sums are rounded, within the stated bound.
#[test]
fn scales_of_8_bit_floats_are_within_the_bound() {
    let element = |seed: usize| {
        move |i: usize, j: usize| {
            let random = (i * 7919 + j * 104_729 + seed) * 2_654_435_761 % 1_000_003;
            E4m3::from_f32(random as f32 / 500_000.0 - 1.0)
        }
    };
    let (m, k, n) = (70, 333, 130);
    let (a, b) = (Matrix::from_fn(m, k, element(1)).unwrap(), Matrix::from_fn(k, n, element(2)).unwrap());
    let scale = |rows: usize, cols: usize, seed: usize| {
        Matrix::from_fn(rows, cols, |i, j| 0.01 * (1 + (i * 31 + j * 17 + seed) % 97) as f32).unwrap()
    };
    let plain = DynProduct::new(SemiringId::PlusTimes, a.as_ref(), b.as_ref()).unwrap();
    for (gpu, math) in [("h100", Math::Full), ("rtx-4090", Math::Full), ("h100", Math::Fast)] {
        let gpu = Gpu::named(gpu).unwrap();
        let options = Options { gpu: Some(&gpu), math, ..EMULATOR };
        for ((rows, ka), (kb, cols)) in
            [((m, 3), (3, 2)), ((m, 1), (1, n)), ((1, 1), (3, n)), ((1, 3), (1, 1))]
        {
            let (of_a, of_b) = (scale(rows, ka, 1), scale(kb, cols, 5));
            let scales = Scales { a: Some(of_a.as_ref().into()), b: Some(of_b.as_ref().into()) };
            let product = plain.scales(scales).unwrap().options(options);
            let outcome = match product.compute() {
                Ok(outcome) => outcome,
                Err(error) => {
                    // Tensor cores need NVRTC.
                    assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{error}");
                    return;
                }
            };
            assert_eq!(outcome.report.findings, 0);
            let verdict = product.verify(outcome.c.as_ref(), None).unwrap();
            assert!(verdict.passed, "{rows} {ka} {kb} {cols} {}: {verdict:?}", gpu.name);
            assert!(!plain.options(options).verify(outcome.c.as_ref(), None).unwrap().passed);
        }
    }
}
