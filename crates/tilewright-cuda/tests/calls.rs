//! What a call costs the host: plans are kept, memory comes from a pool, nothing waits, and work goes into streams of others. On the emulated driver, for which every launch
//! is unfinished until somebody waits.

use std::thread;
use tilewright_core::{Layout, MatRef, Matrix, SemiringId};
use tilewright_cuda::{DeviceMatrix, DeviceProduct, Engine};

const SEMIRINGS: [SemiringId; 3] = [SemiringId::PlusTimes, SemiringId::MinPlus, SemiringId::LogPlus];

fn engine() -> Engine {
    let gpu = tilewright_arch::Device::find("h200").expect("known");
    Engine::emulated(gpu.into()).expect("an emulated GPU")
}

fn numbers(engine: &Engine, rows: usize, cols: usize) -> DeviceMatrix<f32> {
    let matrix = Matrix::from_fn(rows, cols, |i, j| ((7 * i + 3 * j) % 11) as f32).expect("small");
    engine.upload(matrix.as_ref()).expect("uploaded")
}

/// C of a product of matrices with so many rows, and what it is by the default way.
fn product(engine: &Engine, semiring: SemiringId, n: usize) -> Vec<f32> {
    let (a, mut c) = (numbers(engine, n, n), engine.zeros::<f32>(Layout::row_major(n, n)).expect("zeros"));
    engine.multiply(&DeviceProduct::new(semiring), &a, &a, &mut c).expect("computed");
    c.to_matrix().expect("read").into_vec()
}

#[test]
fn a_known_product_waits_for_nothing() {
    let engine = engine();
    let (a, mut c) = (numbers(&engine, 8, 8), engine.zeros::<f32>(Layout::row_major(8, 8)).expect("zeros"));
    for semiring in SEMIRINGS {
        let product = DeviceProduct::new(semiring);
        engine.multiply(&product, &a, &a, &mut c).expect("computed");
        let before = engine.waits();
        for _ in 0..3 {
            engine.multiply(&product, &a, &a, &mut c).expect("computed");
        }
        assert_eq!(engine.waits(), before, "{semiring}: a call has waited for launches");
        engine.synchronize().expect("done");
        assert_eq!(engine.waits(), before + 1, "{semiring}: there was something to wait for");
    }
}

#[test]
fn work_goes_into_the_stream_of_another_library() {
    let engine = engine();
    let (a, mut c) = (numbers(&engine, 8, 8), engine.zeros::<f32>(Layout::row_major(8, 8)).expect("zeros"));
    for semiring in SEMIRINGS {
        let expected = product(&engine, semiring, 8);
        let described = DeviceProduct::new(semiring);
        // SAFETY: every context has the default stream, which does its work when it is asked for.
        let plan = unsafe { engine.plan_in(0, &described, &a, &a, &*c) }.expect("planned");
        let bytes = plan.workspace_bytes().expect("few");
        assert_eq!(bytes > 0, semiring == SemiringId::LogPlus, "{semiring}: {bytes} bytes");
        let workspace = engine.zeros::<f32>(Layout::row_major(1, bytes.div_ceil(4))).expect("zeros");
        let free = engine.memory().expect("asked").0;
        let before = engine.waits();
        for own in [None, Some(workspace.address()).filter(|_| bytes > 0)] {
            // SAFETY: as above, and all memory is there until the end.
            unsafe { plan.run(own, &a, &a, &mut *c) }.expect("computed");
        }
        assert_eq!(engine.waits(), before, "{semiring}: a call has waited for launches");
        assert_eq!(engine.memory().expect("asked").0, free, "{semiring}: memory was kept");
        assert_eq!(c.to_matrix().expect("read").as_slice(), expected, "{semiring}");
    }
    let other = numbers(&engine, 9, 8);
    // SAFETY: as above; nothing is computed.
    let refused = unsafe {
        let plan = engine.plan_in(0, &DeviceProduct::new(SemiringId::MinPlus), &a, &a, &*c).expect("planned");
        plan.run(None, &other, &a, &mut *c).expect_err("another shape")
    };
    assert_eq!(refused.code(), "unsupported");
}

#[test]
fn many_shapes_take_no_more_memory_than_one() {
    let engine = engine();
    let (a, mut c) = (numbers(&engine, 20, 4), engine.zeros::<f32>(Layout::row_major(20, 4)).expect("zeros"));
    let b = numbers(&engine, 4, 4);
    let described = DeviceProduct::new(SemiringId::LogPlus);
    let mut call = |rows: usize| {
        let part = tilewright_cuda::DeviceRef::from(&*a).window(0, 0, rows, 4).expect("inside");
        let target = tilewright_cuda::DeviceMut::from(&mut *c).window(0, 0, rows, 4).expect("inside");
        engine.multiply(&described, part, &*b, target).expect("computed");
    };
    call(20);
    call(1);
    let free = engine.memory().expect("asked").0;
    (1..=20).for_each(&mut call);
    assert_eq!(engine.memory().expect("asked").0, free);
}

#[test]
fn eight_threads_share_plans() {
    let engine = engine();
    let expected = SEMIRINGS.map(|semiring| product(&engine, semiring, 12));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for (semiring, expected) in SEMIRINGS.into_iter().zip(&expected) {
                    assert_eq!(&product(&engine, semiring, 12), expected, "{semiring}");
                }
            });
        }
    });
}

#[test]
fn a_shape_that_does_not_fit_is_refused_as_before() {
    let engine = engine();
    let layout = Layout::row_major(2, 3);
    let a = engine.upload(MatRef::new(&[1.0_f32; 6], layout).expect("six")).expect("uploaded");
    let mut c = engine.zeros::<f32>(layout).expect("zeros");
    let refused = engine.multiply(&DeviceProduct::new(SemiringId::MinPlus), &a, &a, &mut c);
    assert_eq!(refused.expect_err("3 columns, 2 rows").code(), "inner-mismatch");
}
