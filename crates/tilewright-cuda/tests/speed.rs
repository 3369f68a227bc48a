//! Timing: competitors in one run, with buffers beyond the cache. Times themselves are not tested: they are printed.

use crate::common::{gpu, matrix, problem};
use std::time::{Duration, Instant};
use tilewright_core::{DType, Layout, MatMut, MatRef, SemiringId};
use tilewright_cuda::{
    Competitor, Cublas, CublasMath, DeviceProduct, Engine, InPlace, Pace, Repetitions, sets_beyond_cache,
};
use tilewright_kernels::{CLOSURE_SIDE, Request, find};

const PACE: Pace = Pace {
    warm_up: Duration::from_millis(30),
    sample: Duration::from_millis(5),
    samples: 5,
    repetitions: Repetitions::Overlap,
};

#[test]
fn steps_of_the_ladder_race_each_other_and_the_vendor() {
    let Some(engine) = gpu() else { return };
    let n = 1024;
    let request =
        Request { gpu: engine.gpu(), ..Request::new(problem(n, n, n), SemiringId::PlusTimes, DType::F32) };
    let set = || {
        let upload = |salt| engine.upload(matrix(n, n, salt, |x| x as f32).as_ref()).expect("uploads");
        (upload(1), upload(2), engine.zeros::<f32>(request.problem.c()).expect("fits"))
    };
    let sets = sets_beyond_cache(3 * 4 * (n * n) as u64, engine.device().l2_cache);
    let buffers = std::cell::RefCell::new((0..sets).map(|_| set()).collect::<Vec<_>>());
    let cublas = Cublas::open(&engine, CublasMath::Default).ok();
    let mut competitors = Vec::new();
    for name in ["naive", "coalesced", "shared-tile", "block-tile-2d", "warp-tile"] {
        let recipe = find(name).expect("in the catalogue").recipe(&request).expect("accepted");
        let prepared = engine.prepare(recipe).expect("compiles");
        let buffers = &buffers;
        competitors.push(Competitor {
            name: name.into(),
            run: Box::new(move |number| {
                let (a, b, c) = &mut buffers.borrow_mut()[number % sets];
                prepared.run(a, b, c)
            }),
        });
    }
    if let Some(cublas) = &cublas {
        let buffers = &buffers;
        competitors.push(Competitor {
            name: "cuBLAS".into(),
            run: Box::new(move |number| {
                let (a, b, c) = &mut buffers.borrow_mut()[number % sets];
                cublas.product(a, b, c)
            }),
        });
    }
    let timings = engine.race(&mut competitors, PACE).expect("runs");
    for timing in &timings {
        let rate = 2.0 * (n as f64).powi(3) / timing.median() / 1e9;
        eprintln!("{:15} {rate:9.1} GFLOP/s, spread {:.1} %", timing.name, 100.0 * timing.spread());
        assert_eq!(timing.seconds.len(), PACE.samples);
        assert!(timing.seconds.iter().all(|&seconds| seconds > 0.0));
    }
}

#[test]
fn a_competitor_that_fails_ends_the_race() {
    let Some(engine) = gpu() else { return };
    let fail = |_| Engine::open(1000).map(|_| ());
    let mut competitors = [Competitor { name: "none".into(), run: Box::new(fail) }];
    assert!(engine.race(&mut competitors, PACE).expect_err("fails").is_unavailable());
    assert!(engine.race(&mut [], PACE).expect("nothing to do").is_empty());
}

/// What a transfer costs decides from which size on a product belongs on the device.
#[test]
fn transfers_are_as_fast_as_the_host_lets_them() {
    let Some(engine) = gpu() else { return };
    let layout = Layout::row_major(4096, 4096);
    let bytes = 4.0 * 4096.0 * 4096.0;
    let mut plain = vec![1.0_f32; 4096 * 4096];
    let mut pinned = engine.pinned::<f32>(4096 * 4096).expect("page-locked");
    let best = |what: &str, copy: &mut dyn FnMut()| {
        let times = (0..4).map(|_| {
            let began = Instant::now();
            copy();
            began.elapsed().as_secs_f64()
        });
        let seconds = times.fold(f64::INFINITY, f64::min);
        eprintln!("{what:24} {:6.1} GB/s", bytes / seconds / 1e9);
    };
    let there = |data: &[f32]| {
        drop(engine.upload(MatRef::new(data, layout).expect("fits")).expect("uploads"));
    };
    best("ordinary, to the device", &mut || there(&plain));
    best("page-locked, to the device", &mut || there(&pinned));
    let on_device = engine.zeros::<f32>(layout).expect("fits");
    let back = |data: &mut [f32]| {
        on_device.copy_to(MatMut::new(data, layout).expect("fits")).expect("downloads");
    };
    best("ordinary, from the device", &mut || back(&mut plain));
    best("page-locked, from the device", &mut || back(&mut pinned));
}

/// Seconds of warm calls, medians: until they return, and until the result is there.
fn call_seconds(engine: &Engine, mut call: impl FnMut()) -> [f64; 2] {
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    (0..5).for_each(|_| call());
    let (mut returns, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        engine.synchronize().expect("done");
        for _ in 0..40 {
            let began = Instant::now();
            call();
            returns.push(began.elapsed().as_secs_f64());
        }
    }
    for _ in 0..60 {
        engine.synchronize().expect("done");
        let began = Instant::now();
        call();
        engine.synchronize().expect("done");
        ends.push(began.elapsed().as_secs_f64());
    }
    [median(returns), median(ends)]
}

#[test]
fn calls_return_before_their_work_is_done() {
    let Some(engine) = gpu() else { return };
    for n in [16, 64, 256, 512, 1024, 2048, 4096] {
        let upload = |salt| engine.upload(matrix(n, n, salt, |x| x as f32).as_ref()).expect("uploads");
        let (a, b) = (upload(1), upload(2));
        let mut c = engine.zeros::<f32>(Layout::row_major(n, n)).expect("fits");
        for semiring in [SemiringId::PlusTimes, SemiringId::MinPlus] {
            let product = DeviceProduct::new(semiring);
            let call = || drop(engine.multiply(&product, &a, &b, &mut c).expect("computes"));
            let [returns, ends] = call_seconds(&engine, call).map(|seconds| 1e6 * seconds);
            eprintln!("{semiring} {n:5}: returns after {returns:6.1} us, done after {ends:8.1} us");
            assert!(n < 2048 || returns < ends / 2.0, "a call has waited for its work");
        }
    }
}

/// The closure of `D[range]` by halves, as best paths take it.
fn close(paths: &mut InPlace<'_>, range: std::ops::Range<usize>) {
    if range.len() <= CLOSURE_SIDE {
        return paths.close(range).expect("closes");
    }
    let middle = range.start + (range.len() / 2).next_multiple_of(64);
    let (first, second) = (range.start..middle, middle..range.end);
    for (pivot, others) in [(&first, &second), (&second, &first)] {
        close(paths, pivot.clone());
        paths.pass(pivot.clone(), others.clone()).expect("passes");
    }
}

#[test]
fn a_closure_is_timed_beside_a_product() {
    let Some(engine) = gpu() else { return };
    for n in [1024, 8192] {
        let layout = Layout::row_major(n, n);
        let fill = |i, j| if i == j { 0.0_f32 } else { ((i * 7919 + j * 104_729) % 1009) as f32 + 1.0 };
        let weights = tilewright_core::Matrix::from_fn(n, n, fill).expect("fits");
        let (a, mut c) =
            (engine.upload(weights.as_ref()).expect("uploads"), engine.zeros::<f32>(layout).expect("fits"));
        let product = DeviceProduct::new(SemiringId::MinPlus);
        let call = || drop(engine.multiply(&product, &a, &a, &mut c).expect("computes"));
        let [_, one] = call_seconds(&engine, call);
        let mut times = Vec::new();
        for _ in 0..3 {
            let mut d = engine.upload(weights.as_ref()).expect("uploads");
            let began = Instant::now();
            let mut paths = InPlace::new(&engine, &mut d, SemiringId::MinPlus, 0.0).expect("prepares");
            close(&mut paths, 0..n);
            let asked = began.elapsed().as_secs_f64();
            assert_eq!(paths.gain().expect("closes"), None);
            times.push((began.elapsed().as_secs_f64(), asked));
        }
        let (best, asked) =
            times.into_iter().fold((f64::INFINITY, 0.0), |x, y| if y.0 < x.0 { y } else { x });
        eprintln!(
            "closure {n}: {:.2} ms, of which {:.2} ms are the host's, and {:.2} of a product",
            1e3 * best,
            1e3 * asked,
            best / one
        );
    }
}
