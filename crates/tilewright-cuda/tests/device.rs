//! The device: what it says of itself, memory, transfers, errors.

mod common;

use common::{available, gpu};
use tilewright_core::{Layout, MatMut, MatRef, SemiringId};
use tilewright_cuda::{Cublas, CublasMath, DeviceInfo, Engine};

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
    common::all_pass_on_the_emulator();
}
