//! The device: what it says of itself, memory, transfers, errors.

use crate::common::{self, available, gpu};
use tilewright_core::{
    DType, DynMatrix, Element, Extremes, Joining, Layout, MatMut, MatRef, Matrix, PlusTimes, Semiring,
    SemiringId, Update, Value, reference, semiring::Visit,
};
use tilewright_cuda::{Cublas, CublasMath, DeviceInfo, DeviceMut, DeviceProduct, DeviceRef, Engine};
use tilewright_kernels::Batch;

#[test]
fn devices_describe_themselves() {
    let Some(devices) = available(DeviceInfo::all()) else { return };
    assert!(!devices.is_empty());
    for device in devices {
        eprintln!("{device:?}");
        assert!(!device.name.is_empty());
        assert!(device.capability.major() >= 5);
        assert!(device.multiprocessors > 0 && device.memory > 1 << 28 && device.l2_cache > 0);
        assert!(device.shared_memory_per_block_opt_in >= 48 << 10);
        assert!(device.registers_per_multiprocessor >= 32 << 10);
    }
}

#[test]
fn a_device_that_is_not_there_is_unavailable() {
    let error = Engine::open(1000).expect_err("there are not so many");
    assert!(error.is_unavailable(), "{error}");
    assert!(error.hint().is_some());
}

/// Every layout travels there and back into every layout, and nothing outside the target is touched.
#[test]
fn matrices_travel_with_any_strides() {
    let Some(engine) = gpu() else { return };
    let strides = [
        (4, 1),
        (1, 3),
        (-4, 1),
        (4, -1),
        (-4, -1),
        (1, -3),
        (10, 1),
        (-10, 1),
        (1, 10),
        (20, 2),
        (-2, 30),
        (9, 2),
    ];
    for source in strides {
        for target in strides {
            travel::<f32>(&engine, source, target, |x| x as f32);
        }
        travel::<i64>(&engine, source, (4, 1), |x| x as i64);
        travel::<bool>(&engine, source, (10, 1), |x| x % 3 == 0);
    }
    // Broadcast matrices can be read, not written.
    for source in [(0, 1), (1, 0), (0, 0)] {
        travel::<f64>(&engine, source, (4, 1), |x| x as f64);
    }
}

fn travel<T: tilewright_core::Element>(
    engine: &Engine,
    source: (isize, isize),
    target: (isize, isize),
    make: fn(usize) -> T,
) {
    let layout = |(row_stride, col_stride)| Layout::strided(3, 4, row_stride, col_stride);
    let origin = |layout: Layout| layout.span().expect("small").map_or(0, |(low, _)| low.unsigned_abs());
    let (from, into) = (layout(source), layout(target));
    let data: Vec<T> = (0..300).map(make).collect();
    let view = MatRef::with_origin(&data, from, origin(from)).expect("fits");
    let on_device = engine.upload(view).expect("uploads");
    assert_eq!((on_device.rows(), on_device.cols()), (3, 4));
    assert!(on_device.bytes() <= 12 * size_of::<T>(), "{from:?} takes {} bytes", on_device.bytes());
    let guard = make(5);
    let mut back = vec![guard; 300];
    let view_back = MatMut::with_origin(&mut back, into, origin(into)).expect("fits");
    on_device.copy_to(view_back).expect("downloads");
    let mut written = vec![false; 300];
    for i in 0..3 {
        for j in 0..4 {
            let at = origin(into).checked_add_signed(into.offset(i, j)).expect("inside");
            written[at] = true;
            assert_eq!(Some(back[at]), view.get(i, j), "{from:?} to {into:?}, element {i}, {j}");
        }
    }
    assert!(
        back.iter().zip(written).all(|(value, written)| written || *value == guard),
        "{from:?} to {into:?}"
    );
    let transposed = on_device.t().to_matrix().expect("downloads");
    assert_eq!(transposed.as_ref(), view.t());
}

#[test]
fn empty_matrices_are_matrices() {
    let Some(engine) = gpu() else { return };
    for (rows, cols) in [(0, 0), (0, 5), (5, 0)] {
        let layout = Layout::row_major(rows, cols);
        let empty = engine.upload(MatRef::<f32>::new(&[], layout).expect("fits")).expect("uploads");
        let back = empty.to_matrix().expect("downloads");
        assert_eq!((back.rows(), back.cols()), (rows, cols));
    }
    // A product without terms is the identity of addition.
    let a = engine.zeros::<f32>(Layout::row_major(32, 0)).expect("nothing");
    let b = engine.zeros::<f32>(Layout::row_major(0, 32)).expect("nothing");
    let mut c = engine.zeros::<f32>(Layout::row_major(32, 32)).expect("fits");
    let kernel = tilewright_kernels::find("coalesced").expect("in the catalogue");
    engine.product(kernel, SemiringId::MinPlus, &a, &b, &mut c).expect("runs");
    assert!(c.to_matrix().expect("downloads").as_slice().iter().all(|&x| x == f32::INFINITY));
}

#[test]
fn pinned_memory_is_a_slice() {
    let Some(engine) = gpu() else { return };
    let mut pinned = engine.pinned::<f32>(1000).expect("page-locked");
    assert!(pinned.iter().all(|&x| x == 0.0));
    for (i, x) in pinned.iter_mut().enumerate() {
        *x = i as f32;
    }
    let layout = Layout::row_major(10, 100);
    let on_device = engine.upload(MatRef::new(&pinned, layout).expect("fits")).expect("uploads");
    let mut back = engine.pinned::<f32>(1000).expect("page-locked");
    on_device.copy_to(MatMut::new(&mut back, layout).expect("fits")).expect("downloads");
    assert_eq!(pinned[..], back[..]);
    assert!(engine.pinned::<f32>(0).expect("nothing").is_empty());
}

#[test]
fn too_much_memory_says_what_was_asked_and_what_is_free() {
    let Some(engine) = gpu() else { return };
    let error = engine.zeros::<f32>(Layout::row_major(1 << 20, 1 << 20)).expect_err("4 TiB");
    assert_eq!(error.code(), "device-memory");
    let (free, total) = engine.memory().expect("known");
    assert!(free <= total && total >= engine.device().memory / 2);
    let text = error.to_string();
    assert!(text.contains(&(4_u64 << 40).to_string()) && text.contains(&engine.device().name), "{text}");
    assert!(error.hint().is_some());
    // The engine works on.
    engine.zeros::<f32>(Layout::row_major(10, 10)).expect("fits");
}

#[test]
fn matrices_of_another_engine_and_shapes_that_do_not_fit_are_refused() {
    let (Some(engine), Some(other)) = (gpu(), gpu()) else { return };
    let zeros =
        |engine: &Engine, rows, cols| engine.zeros::<f32>(Layout::row_major(rows, cols)).expect("fits");
    let kernel = tilewright_kernels::find("coalesced").expect("in the catalogue");
    let (a, b, foreign) = (zeros(&engine, 8, 8), zeros(&engine, 8, 8), zeros(&other, 8, 8));
    let product = |b, c: &mut _| engine.product(kernel, SemiringId::PlusTimes, &a, b, c).map(|_| ());
    assert_eq!(product(&foreign, &mut zeros(&engine, 8, 8)).expect_err("foreign").code(), "unsupported");
    assert_eq!(product(&b, &mut zeros(&other, 8, 8)).expect_err("foreign").code(), "unsupported");
    assert_eq!(product(&b, &mut zeros(&engine, 8, 9)).expect_err("shape").code(), "result-mismatch");
    let mut doubles = engine.zeros::<f64>(Layout::row_major(8, 8)).expect("fits");
    let error = engine.product(kernel, SemiringId::PlusTimes, &a, &b, &mut doubles).expect_err("type");
    assert_eq!(error.code(), "dtype-mismatch");
    let mut target = vec![0.0_f32; 9];
    let small = MatMut::new(&mut target, Layout::row_major(3, 3)).expect("fits");
    assert_eq!(a.copy_to(small).expect_err("shape").code(), "result-mismatch");
}

#[test]
fn cublas_agrees_with_the_definition_for_every_order() {
    let Some(engine) = gpu() else { return };
    let cublas = match Cublas::open(&engine, CublasMath::Default) {
        Ok(cublas) => cublas,
        Err(error) if error.is_unavailable() => return eprintln!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    };
    eprintln!("cuBLAS {} at {}", cublas.version().expect("known"), Cublas::locate().expect("known"));
    let (m, n, k) = (5, 7, 9);
    let (a, b) = (common::matrix(m, k, 1, |x| x as f32), common::matrix(k, n, 2, |x| x as f32));
    let wanted = common::expected::<tilewright_core::PlusTimes<f32>>(a.as_ref(), b.as_ref());
    let both = |rows, cols| [Layout::row_major(rows, cols), Layout::col_major(rows, cols)];
    for layout_a in both(m, k) {
        for layout_b in both(k, n) {
            for layout_c in both(m, n) {
                let ordered = |source: MatRef<'_, f32>, layout: Layout| {
                    let mut data = vec![0.0; 100];
                    let mut view = MatMut::new(&mut data, layout).expect("fits");
                    view.fill_with(|i, j| source.get(i, j).expect("inside"));
                    engine.upload(view.as_ref()).expect("uploads")
                };
                let mut c = engine.zeros(layout_c).expect("fits");
                let (a, b) = (ordered(a.as_ref(), layout_a), ordered(b.as_ref(), layout_b));
                cublas.product(&a, &b, &mut c).expect("multiplies");
                let found: Vec<f32> = c.to_matrix().expect("downloads").as_ref().iter().collect();
                assert_eq!(found, wanted, "{layout_a:?} {layout_b:?} {layout_c:?}");
            }
        }
    }
}

#[test]
fn all_pass_on_the_emulator() {
    common::all_pass_on_the_emulator(module_path!());
}

/// A product of parts of matrices on the device beside the definition on the host.
struct Parts<'a> {
    engine: &'a Engine,
    joining: Joining<Value>,
}

/// Small whole numbers that every type and every semiring contains.
fn numbers<T: Element>(rows: usize, cols: usize, salt: usize) -> Matrix<T> {
    let number = |i: usize, j: usize| (7 * i + 3 * j + i * j % 4 + salt) % 5;
    let numbers = match T::DTYPE {
        DType::Bool => Matrix::from_fn(rows, cols, |i, j| number(i, j) == 0).expect("small").into(),
        dtype => {
            let numbers =
                DynMatrix::from(Matrix::from_fn(rows, cols, |i, j| number(i, j) as f64).expect("small"));
            numbers.as_ref().convert(dtype, Extremes::Absent).expect("small whole numbers")
        }
    };
    numbers.into_typed::<T>().expect("converted")
}

impl Visit for Parts<'_> {
    type Output = ();

    fn visit<S: Semiring<Acc: Element, Elem: Element, Out: Element>>(self) {
        let Self { engine, joining } = self;
        let id = S::BUILT_IN.expect("built in").id();
        let (a, b) = (numbers::<S::Elem>(20, 30, 1), numbers::<S::Elem>(25, 40, 2));
        let mut wanted = numbers::<S::Out>(33, 44, 3);
        let on_device = [engine.upload(a.as_ref()), engine.upload(b.as_ref())].map(|m| m.expect("uploads"));
        let mut c = engine.upload(wanted.as_ref()).expect("uploads");

        // Parts that begin anywhere, and C as a transpose.
        let [part_a, part_b] = [(&on_device[0], [3, 5, 13, 22]), (&on_device[1], [2, 7, 22, 17])].map(
            |(matrix, [row, col, rows, cols])| {
                DeviceRef::from(matrix).window(row, col, rows, cols).expect("inside")
            },
        );
        let part_c = DeviceMut::from(&mut c).window(4, 6, 17, 13).expect("inside").t();
        let product = DeviceProduct::new(id).joining(joining);
        engine
            .multiply(&product, part_a, part_b, part_c)
            .unwrap_or_else(|e| panic!("{id} on {}: {e}", S::Elem::DTYPE));

        let update = if joining.reads_c() { Update::<S>::Accumulate } else { Update::Replace };
        let (a, b) = (a.as_ref().window(3, 5, 13, 22), b.as_ref().window(2, 7, 22, 17));
        let target = wanted.as_mut().window(4, 6, 17, 13).expect("inside").t();
        reference::multiply::<S>(target, a.expect("inside"), b.expect("inside"), &update).expect("admitted");
        // Nothing outside the part is written.
        assert_eq!(c.to_matrix().expect("downloads").as_ref(), wanted.as_ref(), "{id} on {}", S::Elem::DTYPE);
    }
}

#[test]
fn parts_of_matrices_on_the_device_are_multiplied_over_every_semiring_and_type() {
    let Some(engine) = gpu() else { return };
    // Compiling takes a second each: then every third pair.
    let step = if tilewright_cuda::Nvrtc::find().is_ok() { 3 } else { 1 };
    let variants = tilewright_kernels::Variant::ALL.iter().step_by(step);
    for (number, variant) in variants.enumerate() {
        let joining = if number % 2 == 0 { Joining::Accumulate } else { Joining::Replace };
        let parts = Parts { engine: &engine, joining };
        variant.semiring.visit_giving(variant.dtype, variant.output(), parts).expect("defined");
    }
}

#[test]
fn batches_and_scaled_products_stay_on_the_device() {
    let Some(engine) = gpu() else { return };
    let (count, n) = (5, 8);
    let (a, b) = (numbers::<f64>(count * n, n, 1), numbers::<f64>(n, n, 2));
    let (on_device, shared) =
        (engine.upload(a.as_ref()).expect("uploads"), engine.upload(b.as_ref()).expect("uploads"));
    let mut c = engine.upload(numbers::<f64>(count * n, n, 3).as_ref()).expect("uploads");
    let next = (n * n) as isize;
    let product = DeviceProduct::new(SemiringId::PlusTimes)
        .joining(Joining::<Value>::scale(2.0, 3.0))
        .batch(Batch { count, a: next, b: 0, c: next });
    let first = DeviceRef::from(&on_device).window(0, 0, n, n).expect("inside");
    let target = DeviceMut::from(&mut c).window(0, 0, n, n).expect("inside");
    let prepared = engine.multiply(&product, first, &shared, target).expect("runs");
    // The same again, without preparing.
    let first = DeviceRef::from(&on_device).window(0, 0, n, n).expect("inside");
    let target = DeviceMut::from(&mut c).window(0, 0, n, n).expect("inside");
    prepared.run_on(first, (&shared).into(), target).expect("runs again");
    let mut wanted = numbers::<f64>(count * n, n, 3);
    for _ in 0..2 {
        reference::multiply::<PlusTimes<f64>>(
            wanted.as_mut(),
            a.as_ref(),
            b.as_ref(),
            &Update::scale(2.0, 3.0),
        )
        .expect("admitted");
    }
    assert_eq!(c.to_matrix().expect("downloads").as_ref(), wanted.as_ref());
}

#[test]
fn what_does_not_fit_on_the_device_is_refused() {
    let Some(engine) = gpu() else { return };
    let zeros = |rows, cols| engine.zeros::<f32>(Layout::row_major(rows, cols)).expect("fits");
    let (a, b, mut c) = (zeros(4, 6), zeros(6, 5), zeros(4, 5));
    let product = DeviceProduct::new(SemiringId::MinPlus);
    let code = |outcome: Result<_, tilewright_core::Error>| {
        outcome.map(|_: tilewright_cuda::Prepared| ()).expect_err("refused").code()
    };
    assert_eq!(code(engine.multiply(&product, &a, &a, &mut c)), "inner-mismatch");
    assert_eq!(code(engine.multiply(&product, &a, &b, &mut zeros(5, 5))), "result-mismatch");
    let whole = engine.zeros::<i32>(Layout::row_major(6, 5)).expect("fits");
    assert_eq!(code(engine.multiply(&product, &a, &whole, &mut c)), "dtype-mismatch");
    assert_eq!(code(engine.multiply(&DeviceProduct::new(SemiringId::OrAnd), &a, &b, &mut c)), "unsupported");
    let two = product.batch(Batch { count: 2, a: 0, b: 0, c: 20 });
    assert_eq!(code(engine.multiply(&two, &a, &b, &mut c)), "out-of-bounds");
    assert_eq!(
        code(engine.multiply(&product.batch(Batch { c: 1, ..Batch::ONE }), &a, &b, &mut zeros(4, 6))),
        "result-mismatch"
    );
    let other = Engine::with_cache(0, None).expect("another engine");
    let stranger = other.zeros::<f32>(Layout::row_major(6, 5)).expect("fits");
    assert_eq!(code(engine.multiply(&product, &a, &stranger, &mut c)), "unsupported");
    let outside = DeviceRef::from(&a).window(0, 3, 4, 4).expect_err("outside");
    assert_eq!(outside.code(), "window-out-of-bounds");
    // An empty part is a matrix.
    let none = DeviceRef::from(&a).window(4, 6, 0, 0).expect("inside");
    assert_eq!(none.to_matrix().expect("nothing").as_ref().layout().rows, 0);
}

/// Parts by rows, by columns, backwards and with gaps travel there and back, and nothing else is touched.
#[test]
fn parts_are_read_and_written_from_the_host() {
    let Some(engine) = gpu() else { return };
    for (layout, origin) in [
        (Layout::row_major(9, 7), 0),
        (Layout::col_major(9, 7), 0),
        (Layout::strided(9, 7, -7, 1), 56),
        (Layout::strided(9, 7, 7, -1), 6),
    ] {
        let data: Vec<i32> = (0..63).collect();
        let view = MatRef::with_origin(&data, layout, origin).expect("fits");
        let mut on_device = engine.upload(view).expect("uploads");
        for [row, col, rows, cols] in [[2, 1, 5, 4], [0, 0, 9, 7], [3, 6, 6, 1], [8, 0, 1, 7], [4, 4, 1, 1]] {
            let part = DeviceRef::from(&on_device).window(row, col, rows, cols).expect("inside");
            let read = part.t().to_matrix().expect("downloads").into_typed::<i32>().expect("i32");
            let mut wanted = on_device.to_matrix().expect("downloads");
            assert_eq!(read.as_ref(), wanted.as_ref().window(row, col, rows, cols).expect("inside").t());
            let new = numbers::<i32>(cols, rows, 9);
            let mut part = DeviceMut::from(&mut on_device).window(row, col, rows, cols).expect("inside");
            part.copy_from(new.as_ref().t().into()).expect("uploads");
            for i in 0..rows {
                for j in 0..cols {
                    wanted[(row + i, col + j)] = new[(j, i)];
                }
            }
            assert_eq!(on_device.to_matrix().expect("downloads").as_ref(), wanted.as_ref(), "{layout:?}");
        }
        let mut part = DeviceMut::from(&mut on_device);
        let wrong = numbers::<i32>(9, 6, 0);
        assert_eq!(part.copy_from(wrong.as_ref().into()).expect_err("smaller").code(), "result-mismatch");
        let floats = numbers::<f32>(9, 7, 0);
        assert_eq!(part.copy_from(floats.as_ref().into()).expect_err("floats").code(), "dtype-mismatch");
    }
}
