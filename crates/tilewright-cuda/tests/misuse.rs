//! Launches that do not fit their matrices, in every way that the types allow: each is refused before anything is written. The engine is on the emulated
//! driver, whose red zones would tell of any access beside the matrices.

use std::process::Command;
use std::time::Duration;
use tilewright_arch::{Gpu, GridLaunch};
use tilewright_core::{DType, DynMatrix, Joining, Layout, Matrix, Problem, SemiringId, Value};
use tilewright_cuda::{
    CodeLaunch, Competitor, Cublas, CublasLt, CublasMath, DeviceMatrix, DeviceProduct, DynDeviceMatrix,
    Engine, Origin, Pace, Prepared, Repetitions,
};
use tilewright_kernels::{Alignment, Argument, Batch, Form, Request, find};

const M: usize = 6;
const N: usize = 8;
const K: usize = 10;
/// What C holds, so that a write shows.
const OLD: f32 = -7.0;

fn engine() -> Engine {
    Engine::emulated(Gpu::named("a6000").expect("known")).expect("a device")
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
        let request = Request { form, gpu: engine.gpu(), ..request };
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

/// A module with a kernel that does nothing, and a variable of eight bytes.
const NOTHING: &[u8] =
    b".version 8.0\n.target sm_80\n.address_size 64\n.const .b8 table[8];\n.visible .entry k() { ret; }\n\0";

fn code<'a>(image: &'a [u8], entry: &'a str, symbols: &'a [(String, Vec<u8>)]) -> CodeLaunch<'a> {
    let shape = GridLaunch::new([1; 3], [1; 3]);
    CodeLaunch { name: "a module", cubin: image, entry, shape, arguments: &[], symbols }
}

#[test]
fn modules_that_are_wrong_are_refused_by_name() {
    let engine = engine();
    let arrays = engine.upload_arrays(&[("nothing", &[])]).expect("nothing fits");
    assert_eq!(arrays.addresses().collect::<Vec<_>>(), [0]);
    let symbol = |name: &str, bytes: usize| [(name.to_owned(), vec![1; bytes])];
    // SAFETY: PTX is read before it is executed, and the kernel touches nothing.
    let run = |code: CodeLaunch<'_>| unsafe { engine.run_code(&code, &arrays) };
    run(code(NOTHING, "k", &symbol("table", 8))).expect("fits");
    let unknown = CodeLaunch { arguments: &[Argument::Pointer(1)], ..code(NOTHING, "k", &[]) };
    for (code, words) in [
        (code(b"no PTX", "k", &[]), "ends with a zero byte"),
        (code(b".version 8.0\n.target sm_80\nnonsense\0", "k", &[]), "loading a module on RTX A6000"),
        (code(b".version 8.0\n.target sm_80\nnonsense\0", "k", &[]), "line 3"),
        (code(NOTHING, "j", &[]), "looking for the kernel j"),
        (code(NOTHING, "k\0", &[]), "zero byte"),
        (code(NOTHING, "k", &symbol("tables", 8)), "looking for the variable tables"),
        (
            code(NOTHING, "k", &symbol("table", 9)),
            "9 bytes for the variable table is not supported: it has 8",
        ),
        (unknown, "no array with the number 1"),
    ] {
        let error = run(code).expect_err(words).to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    // Nothing of that has harmed the engine.
    run(code(NOTHING, "k", &[])).expect("runs");
}

#[test]
fn memory_that_there_is_not() {
    let gpu = Gpu { memory_bytes: 1 << 20, ..Gpu::named("a6000").expect("known") };
    let engine = Engine::emulated(gpu).expect("a device");
    let held = engine.zeros::<f32>(Layout::row_major(256, 512)).expect("half of it");
    let error = engine.zeros::<f32>(Layout::row_major(257, 512)).expect_err("more than the other half");
    assert_eq!(error.code(), "device-memory");
    for part in ["RTX A6000", "526336", "524288", "1048576"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    drop(held);
    engine.zeros::<f32>(Layout::row_major(257, 512)).expect("there is room now");
}

#[test]
fn memory_of_another_library_is_used_where_it_lies_and_left_to_its_owner() {
    let (engine, other) = (engine(), engine());
    let [a, b, c] = matrices(&engine);
    let place = |matrix: &DeviceMatrix<f32>| (matrix.layout(), matrix.address());
    let foreign = |engine: &Engine, (layout, address), elements: isize| {
        // SAFETY: the matrices live until the end of the test.
        unsafe { engine.foreign(DType::F32, layout, address, 0..elements) }
    };
    let of = |matrix| foreign(&engine, place(matrix), (matrix.rows() * matrix.cols()) as isize);
    let mut target = of(&c).expect("its own");
    // SAFETY: every context has these two streams.
    unsafe { engine.wait_for(1).and_then(|()| engine.wait_for(2)).expect("default streams") };
    let product = DeviceProduct::new(SemiringId::PlusTimes);
    // A kernel that is loaded takes some memory for good.
    drop(engine.multiply(&product, &a, &b, &mut target).expect("computed"));
    let before = engine.memory().expect("it is asked").0;
    let (left, right) = (of(&a).expect("its own"), of(&b).expect("its own"));
    drop(engine.multiply(&product, &left, &right, &mut target).expect("computed"));
    // SAFETY: as above.
    unsafe { engine.let_wait(1).expect("the default stream") };
    drop((left, right, target));
    assert_eq!(engine.memory().expect("it is asked").0, before, "nothing was allocated or freed");
    assert!(c.to_matrix().expect("read").as_slice().iter().all(|&x| x == 2.0 * K as f32));

    assert_eq!(engine.device_of(a.address()).expect("asked"), Some(engine.device().ordinal));
    let elements = (M * K) as isize;
    for (refused, code) in [
        (foreign(&other, place(&a), elements), "unsupported"),
        (foreign(&engine, (a.layout(), 0xdead_0000), elements), "unsupported"),
        (foreign(&engine, place(&a), elements - 1), "out-of-bounds"),
        (foreign(&engine, (Layout::strided(M, K, -1, 1), a.address()), elements), "out-of-bounds"),
    ] {
        assert_eq!(refused.expect_err("not its memory").code(), code);
    }
    // SAFETY: the driver knows no such stream, and says so.
    assert_eq!(unsafe { engine.wait_for(12345) }.expect_err("no stream").code(), "device");
}

#[test]
fn a_launch_that_fails_ends_what_the_engine_does_and_says_why() {
    let engine = engine();
    let ptx = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n\
        .reg .u64 %rd<2>; ld.param.u64 %rd1, [p];\nst.global.u64 [%rd1+16], %rd1;\nret;\n}\n\0";
    let arrays = engine.upload_arrays(&[("weights", &[0; 16])]).expect("fits");
    let launch = CodeLaunch { arguments: &[Argument::Pointer(0)], ..code(ptx, "k", &[]) };
    // SAFETY: the emulator checks the bounds, which the kernel does not keep.
    let error = unsafe { engine.run_code(&launch, &arrays) }.expect_err("an illegal address");
    for part in ["CUDA_ERROR_ILLEGAL_ADDRESS", "behind the end of `weights`"] {
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    let failure = engine.failure().expect("it is kept");
    assert_eq!((failure.kernel.as_str(), failure.findings.len()), ("k", 1));
    let error = arrays.read([&mut vec![0; 16]]).expect_err("the context is dead");
    assert!(error.is_unavailable(), "{error}");
    assert!(format!("{engine:?}").contains("RTX A6000"));
}

/// Times of an emulated device say nothing of a GPU. Who runs when, and how often, is the same.
#[test]
fn competitors_run_in_turn() {
    let engine = engine();
    let runs = &std::cell::RefCell::new(Vec::new());
    let competitor = |name: &'static str| Competitor {
        name: name.into(),
        run: Box::new(move |number| {
            runs.borrow_mut().push((name, number));
            Ok(())
        }),
    };
    let sample = Duration::from_micros(20);
    let pace = Pace { warm_up: sample, sample, samples: 3, repetitions: Repetitions::Overlap };
    let timings = engine.race(&mut [competitor("one"), competitor("other")], pace).expect("both run");
    assert_eq!(timings.iter().map(|timing| timing.name.as_str()).collect::<Vec<_>>(), ["one", "other"]);
    for timing in &timings {
        assert_eq!(timing.seconds.len(), 3);
        assert!(timing.seconds.is_sorted() && timing.median() >= 0.0, "{timing:?}");
    }
    // After both are warm each round begins with another one: one, other; other, one; one, other.
    let mut turns: Vec<_> = runs.borrow().iter().filter(|run| run.1 == 0).map(|run| run.0).collect();
    let measured = turns.split_off(turns.len() - 6);
    assert_eq!(measured, ["one", "other", "other", "one", "one", "other"]);
    // Without an execution there is no time.
    let failing = Competitor { name: "none".into(), run: Box::new(|_| Err(refusal())) };
    assert_eq!(engine.race(&mut [failing], Pace::default()).expect_err("it fails").code(), "unsupported");
}

fn refusal() -> tilewright_core::Error {
    let (what, why, hint) = ("this".into(), "a test".into(), String::new());
    tilewright_core::ErrorKind::Unsupported { what, why, hint: hint.into() }.into()
}

/// Set in the process of [`without_a_compiler_the_catalogues_own_code_runs`].
const NO_COMPILER: &str = "TILEWRIGHT_TEST_NO_COMPILER";

#[test]
fn without_a_compiler_the_catalogues_own_code_runs() {
    if std::env::var_os(NO_COMPILER).is_none() {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "misuse::without_a_compiler_the_catalogues_own_code_runs", "--nocapture"])
            .envs([(NO_COMPILER, "1"), ("TILEWRIGHT_CUDA_PATH", "emulator")])
            .envs([("TILEWRIGHT_NVRTC_PATH", "/nowhere"), ("TILEWRIGHT_EMULATED_GPUS", "a6000;h200")])
            .env("TILEWRIGHT_DEVICE", "1")
            .output()
            .expect("it starts");
        let text = [output.stdout, output.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).concat();
        return assert!(output.status.success(), "{text}");
    }
    assert!(!Engine::is_shared_open());
    assert_eq!(Engine::shared_device().expect("the second").name, "H200 SXM (Tilewright emulator)");
    let engine = Engine::shared().expect("opened");
    assert!(Engine::is_shared_open() && Engine::shared().is_ok());
    let [a, b, mut c] = matrices(&engine);
    let request = engine.request(SemiringId::PlusTimes, &a, &b, &c).expect("they fit");
    let shipped = find("naive").expect("known").recipe(&request).expect("accepted");
    let launch = &shipped.launches()[0];
    engine.can_make(launch.program()).expect("it comes with its PTX");
    assert!(matches!(engine.load_kernel(launch).expect("loads").origin(), Origin::Shipped { .. }));
    engine.prepare(shipped).expect("loads").run(&a, &b, &mut c).expect("fits");
    assert_eq!(c.to_matrix().expect("copies").as_slice(), [20.0; M * N]);
    // Of the form for these layouts there is none.
    let request = Request { form: Form::Specialised, ..request };
    let tuned = find("simt").expect("known").recipe(&request).expect("accepted");
    let error = engine.can_make(tuned.launches()[0].program()).expect_err("no code");
    assert!(error.to_string().contains("/nowhere"), "{error}");
    let error = engine.prepare(tuned).expect_err("no code");
    assert!(error.to_string().contains("/nowhere"), "{error}");
}
