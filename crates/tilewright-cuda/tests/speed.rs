//! Timing: competitors in one run, with buffers beyond the cache. Times themselves are not tested, only what must hold on every GPU.

mod common;

use common::{gpu, matrix, problem};
use std::time::{Duration, Instant};
use tilewright_core::{DType, Layout, MatMut, MatRef, SemiringId};
use tilewright_cuda::{Competitor, Cublas, CublasMath, Engine, Pace, Repetitions, sets_beyond_cache};
use tilewright_kernels::{Request, find};

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
    let request = Request {
        target: engine.target(),
        ..Request::new(problem(n, n, n), SemiringId::PlusTimes, DType::F32)
    };
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
        assert!(timing.seconds.iter().all(|&seconds| seconds > 1e-6 && seconds < 1.0));
    }
    let median = |name: &str| timings.iter().find(|timing| timing.name == name).expect("timed").median();
    assert!(median("naive") > median("shared-tile"), "coalescing and tiles pay on every GPU");
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
        assert!(seconds < 1.0, "64 MiB take {seconds} s");
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
