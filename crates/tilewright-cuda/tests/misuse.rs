//! Launches that do not fit their matrices, in every way that the types allow: each is refused before anything is written. The engine is on the emulated
//! driver, whose red zones would tell of any access beside the matrices.

use tilewright_core::{DType, DynMatrix, Joining, Layout, Matrix, Problem, SemiringId, Value};
use tilewright_cuda::{Cublas, CublasLt, CublasMath, DeviceMatrix, DynDeviceMatrix, Engine, Prepared};
use tilewright_kernels::{Alignment, Batch, Request, find};

const M: usize = 6;
const N: usize = 8;
const K: usize = 10;
/// What C holds, so that a write shows.
const OLD: f32 = -7.0;

fn engine() -> Engine {
    Engine::emulated(tilewright_arch::Device::find("a6000").expect("known").into()).expect("a device")
}

fn filled(engine: &Engine, rows: usize, cols: usize, value: f32) -> DeviceMatrix<f32> {
    engine.upload(Matrix::filled(rows, cols, value).expect("small").as_ref()).expect("fits")
}

/// A, B and C by rows.
fn matrices(engine: &Engine) -> [DeviceMatrix<f32>; 3] {
    [filled(engine, M, K, 1.0), filled(engine, K, N, 2.0), filled(engine, M, N, OLD)]
}

/// The product of such matrices, with what a test changes of the request.
fn prepared(engine: &Engine, change: impl FnOnce(&mut Request)) -> Prepared {
    let [a, b, c] = matrices(engine);
    let mut request = engine.request(SemiringId::PlusTimes, &a, &b, &c).expect("they fit");
    change(&mut request);
    let recipe = find("naive").expect("known").recipe(&request).expect("accepted");
    engine.prepare(recipe).expect("it comes with its PTX")
}

/// The code with which a run is refused; C is as it was.
fn refused(prepared: &Prepared, [a, b, c]: [&mut DynDeviceMatrix; 3]) -> &'static str {
    let before = bytes(c);
    let error = prepared.run(a, b, c).expect_err("it does not fit");
    assert!(bytes(c) == before, "{error}");
    error.code()
}

fn bytes(matrix: &DynDeviceMatrix) -> String {
    let mut on_host = DynMatrix::zeros(matrix.dtype(), matrix.rows(), matrix.cols()).expect("small");
    matrix.copy_to(on_host.as_mut()).expect("copies");
    format!("{on_host:?}")
}

#[test]
fn what_was_prepared_runs_on_its_own_kind_of_matrices_alone() {
    let engine = engine();
    let product = prepared(&engine, |_| ());
    let [a, b, mut c] = matrices(&engine);
    product.run(&a, &b, &mut c).expect("the very ones");
    assert_eq!(c.to_matrix().expect("copies").as_slice(), [20.0; M * N]);
    for which in 0..3 {
        let [rows, cols] = [[M, K], [K, N], [M, N]][which];
        for wrong in [
            filled(&engine, rows - 1, cols, OLD),
            filled(&engine, rows, cols - 1, OLD),
            filled(&engine, rows + 1, cols, OLD),
            // The shape, by columns.
            filled(&engine, cols, rows, OLD).t(),
        ] {
            let (mut all, mut wrong) = (matrices(&engine), wrong);
            let mut of = all.each_mut().map(|m| &mut **m);
            of[which] = &mut wrong;
            assert_eq!(refused(&product, of), "unsupported", "{which}: another shape");
        }
        for dtype in [DType::F16, DType::I32, DType::F64, DType::Bool] {
            let mut all = matrices(&engine);
            let mut wrong = engine.zeros_dyn(dtype, Layout::row_major(rows, cols)).expect("fits");
            let mut of = all.each_mut().map(|m| &mut **m);
            of[which] = &mut wrong;
            assert_eq!(refused(&product, of), "dtype-mismatch", "{which}: {dtype}");
        }
    }
}

#[test]
fn matrices_of_another_engine_are_refused() {
    let (one, other) = (engine(), engine());
    let product = prepared(&one, |_| ());
    for which in 0..3 {
        let (mut all, mut foreign) = (matrices(&one), matrices(&other));
        let mut of = all.each_mut().map(|m| &mut **m);
        of[which] = &mut foreign[which];
        assert_eq!(refused(&product, of), "unsupported");
        let [a, b, mut c] = matrices(&other);
        let naive = find("naive").expect("known");
        let error = one.product(naive, SemiringId::PlusTimes, &a, &b, &mut c).expect_err("another engine's");
        assert_eq!(error.code(), "unsupported");
    }
}

#[test]
fn a_batch_needs_room_for_all_of_it() {
    let engine = engine();
    let strides = [(M * K) as isize, (K * N) as isize, (M * N) as isize];
    let simt = |batch: Batch| {
        let [a, b, c] = [Layout::row_major(M, K), Layout::row_major(K, N), Layout::row_major(M, N)];
        let problem = Problem::new(a, b, c).expect("shapes fit");
        let request = Request { batch, ..Request::new(problem, SemiringId::PlusTimes, DType::F32) };
        let form = tilewright_kernels::Form::Plain;
        let request = Request { form, target: engine.target(), ..request };
        engine
            .prepare(find("simt").expect("known").recipe(&request).expect("accepted"))
            .expect("comes with PTX")
    };
    let batch = |count, [a, b, c]: [isize; 3]| Batch { count, a, b, c };
    let refuse = |batch| refused(&simt(batch), matrices(&engine).each_mut().map(|m| &mut **m));
    assert_eq!(refuse(batch(2, strides)), "out-of-bounds");
    assert_eq!(refuse(batch(2, [0, 0, 0])), "aliased");
    assert_eq!(refuse(batch(2, [-strides[0], 0, strides[2]])), "out-of-bounds");
    // Below each other in matrices of twice the rows.
    let twice = |rows, cols, value| filled(&engine, 2 * rows, cols, value);
    let (a, b, c) =
        (twice(M, K, 1.0), twice(K, N, 2.0), engine.zeros_dyn(DType::F32, Layout::row_major(2 * M, N)));
    let first = |m: DynDeviceMatrix, rows| m.with_rows(rows).expect("it has more");
    let up = |m: DeviceMatrix<f32>| {
        engine.upload_dyn(m.to_matrix().expect("copies").as_ref().into()).expect("fits")
    };
    let (a, b, mut c) = (first(up(a), M), first(up(b), K), first(c.expect("fits"), M));
    simt(batch(2, strides)).run(&a, &b, &mut c).expect("room for two");
    let mut all = Matrix::filled(2 * M, N, OLD).expect("small");
    first(c, 2 * M).copy_to(all.as_mut().into()).expect("copies");
    assert_eq!(all.as_slice(), [20.0; 2 * M * N]);
}

#[test]
fn shapes_and_types_that_are_no_product_have_no_recipe() {
    let engine = engine();
    let naive = find("naive").expect("known");
    let [a, b, mut c] = matrices(&engine);
    let code = |a: &DynDeviceMatrix, b: &DynDeviceMatrix, c: &mut DynDeviceMatrix| {
        engine.product(naive, SemiringId::PlusTimes, a, b, c).expect_err("no product").code()
    };
    assert_eq!(code(&b, &a, &mut c), "inner-mismatch");
    assert_eq!(code(&a, &b, &mut filled(&engine, N, M, OLD)), "result-mismatch");
    let whole = engine.zeros_dyn(DType::I32, Layout::row_major(K, N)).expect("fits");
    assert_eq!(code(&a, &whole, &mut c), "dtype-mismatch");
    let mut half = engine.zeros_dyn(DType::F16, Layout::row_major(M, N)).expect("fits");
    assert_eq!(code(&a, &b, &mut half), "dtype-mismatch");
    assert_eq!(c.to_matrix().expect("copies").as_slice(), [OLD; M * N]);
}

#[test]
fn an_exhibit_is_neither_a_product_nor_shown_with_other_lengths() {
    let engine = engine();
    let showing = find("copy-offset").expect("known").show(&[("n", 100)]).expect("accepted");
    assert_eq!(engine.show(&showing, &[0.0; 99]).expect_err("too short").code(), "result-mismatch");
    let exhibit = engine.prepare(showing.recipe().clone()).expect("comes with PTX");
    assert_eq!(refused(&exhibit, matrices(&engine).each_mut().map(|m| &mut **m)), "unsupported");
}

#[test]
fn what_a_request_says_of_memory_is_checked_as_well() {
    let engine = engine();
    // A kernel that reads in vectors of what is said to be aligned.
    let lied = prepared(&engine, |r| r.alignment = Alignment { a: 512, b: 512, c: 512 });
    assert_eq!(refused(&lied, matrices(&engine).each_mut().map(|m| &mut **m)), "unsupported");
    // What happens to C is the recipe's, whoever runs it.
    let added = prepared(&engine, |r| r.joining = Joining::<Value>::Accumulate);
    let [a, b, mut c] = matrices(&engine);
    added.run(&a, &b, &mut c).expect("fits");
    assert_eq!(c.to_matrix().expect("copies").as_slice(), [20.0 + OLD; M * N]);
}

#[test]
fn the_vendors_libraries_do_not_run_on_the_emulator() {
    let engine = engine();
    assert!(Cublas::open(&engine, CublasMath::Default).expect_err("no GPU").is_unavailable());
    assert!(CublasLt::open(&engine, CublasMath::Default).expect_err("no GPU").is_unavailable());
}
