//! Several engines: threads, processes, and one cache between them; damaged caches; failing launches.

use crate::common::{self, compiles, directory, expected, gpu, matrix, path, problem};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tilewright_arch::GridLaunch;
use tilewright_core::{DType, Error, Layout, Matrix, MinPlus, Problem, SemiringId};
use tilewright_cuda::{CodeLaunch, CubinCache, DriverKind, Engine, Nvrtc, Origin};
use tilewright_kernels::{Argument, Request, Variant, find, simt_tiles};

/// The code of `coalesced`, which no recipe makes for launches such as these.
fn coalesced(engine: &Engine) -> Vec<u8> {
    let request =
        Request { gpu: engine.gpu(), ..Request::new(problem(64, 64, 64), SemiringId::MinPlus, DType::F32) };
    let recipe = find("coalesced").expect("in the catalogue").recipe(&request).expect("accepted");
    common::image(engine, recipe.launches()[0].program())
}

/// A launch of `coalesced` on 64 x 64 matrices, with rows of A that lie `lda` elements apart.
fn run_coalesced(
    engine: &Engine,
    block: [u32; 3],
    dynamic_shared_memory: u32,
    lda: i64,
) -> Result<(), Error> {
    let cubin = coalesced(engine);
    let (n, ld) = (Argument::i32(64), Argument::i64(64));
    let arguments = [
        Argument::Pointer(0),
        Argument::Pointer(1),
        Argument::Pointer(2),
        n.clone(),
        n.clone(),
        n,
        Argument::i64(lda),
        ld.clone(),
        ld,
        Argument::f32(0.0),
        Argument::f32(0.0),
    ];
    let launch = CodeLaunch {
        name: "coalesced",
        cubin: &cubin,
        entry: "coalesced",
        shape: GridLaunch { dynamic_shared_memory, ..GridLaunch::new([2, 2, 1], block) },
        arguments: &arguments,
        symbols: &[],
    };
    let zeros = vec![0; 64 * 64 * 4];
    let arrays = engine.upload_arrays(&["A", "B", "C"].map(|name| (name, &zeros[..])))?;
    // SAFETY: the entry's parameters; with `lda` = 64 it stays inside, and what else is asked for ends in an error, which in a process
    // of its own harms nobody.
    unsafe { engine.run_code(&launch, &arrays) }
}

/// One product of a fresh engine, checked; where its kernel came from.
fn multiply(cache: Option<CubinCache>, name: &str) -> Origin {
    let engine = Engine::with_cache(0, cache).expect("a GPU");
    let n = 128;
    let (a, b) = (matrix(n, n, 1, |x| x as f32), matrix(n, n, 2, |x| x as f32));
    let wanted = expected::<MinPlus<f32>>(a.as_ref(), b.as_ref());
    let (a, b) = (engine.upload(a.as_ref()).expect("uploads"), engine.upload(b.as_ref()).expect("uploads"));
    let mut c = engine.zeros::<f32>(problem(n, n, n).c()).expect("fits");
    let kernel = find(name).expect("in the catalogue");
    let prepared = engine.product(kernel, SemiringId::MinPlus, &a, &b, &mut c).expect("runs");
    assert!(c.to_matrix().expect("downloads").as_slice() == wanted);
    prepared.kernels().expect("described")[0].origin
}

/// Whether NVRTC made it now, to machine code or to PTX.
fn is_compiled(origin: Origin) -> bool {
    matches!(origin, Origin::Compiled { .. } | Origin::CompiledByDriver { .. })
}

#[test]
fn the_second_engine_does_not_compile() {
    if gpu().is_none() || !compiles() {
        return;
    }
    let directory = directory();
    let cache = || Some(CubinCache::new(path(&directory), 1 << 24));
    let timed = || {
        let began = Instant::now();
        (multiply(cache(), "shared-tile"), began.elapsed())
    };
    let ((first, cold), (second, warm)) = (timed(), timed());
    eprintln!("cold {cold:?}, warm {warm:?}");
    assert!(is_compiled(first), "{first:?}");
    assert!(matches!(second, Origin::Cache { .. }), "{second:?}");
    assert!(is_compiled(multiply(None, "shared-tile")));
}

#[test]
fn engines_in_two_threads_share_a_cache() {
    if gpu().is_none() {
        return;
    }
    let directory = directory();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for name in ["coalesced", "shared-tile", "block-tile-2d", "coalesced"] {
                    multiply(Some(CubinCache::new(path(&directory), 1 << 24)), name);
                }
            });
        }
    });
}

#[test]
fn one_engine_serves_two_threads() {
    let Some(engine) = gpu() else { return };
    std::thread::scope(|scope| {
        for salt in 0..2 {
            let engine = &engine;
            scope.spawn(move || {
                let kernel = find("coalesced").expect("in the catalogue");
                for n in [3, 20, 33, 70] {
                    let (a, b) = (matrix(n, n, salt, |x| x as f32), matrix(n, n, salt + 5, |x| x as f32));
                    let wanted = expected::<MinPlus<f32>>(a.as_ref(), b.as_ref());
                    let (a, b) = (
                        engine.upload(a.as_ref()).expect("uploads"),
                        engine.upload(b.as_ref()).expect("uploads"),
                    );
                    let mut c = engine.zeros::<f32>(problem(n, n, n).c()).expect("fits");
                    engine.product(kernel, SemiringId::MinPlus, &a, &b, &mut c).expect("runs");
                    assert!(c.to_matrix().expect("downloads").as_slice() == wanted);
                }
            });
        }
    });
}

/// The part of [`processes_share_a_cache`] that runs in a process of its own.
#[test]
fn child_process() {
    let Some(directory) = std::env::var_os("TILEWRIGHT_TEST_CHILD") else { return };
    let began = Instant::now();
    let origin = multiply(Some(CubinCache::new(Path::new(&directory).to_owned(), 1 << 24)), "vectorized");
    println!("origin: {origin:?} after {:?}", began.elapsed());
}

#[test]
fn processes_share_a_cache() {
    if gpu().is_none() || !compiles() {
        return;
    }
    let directory = directory();
    let start = || {
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "engines::child_process", "--nocapture"])
            .env("TILEWRIGHT_TEST_CHILD", path(&directory))
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("starts")
    };
    let finish = |child: std::process::Child| {
        let output = child.wait_with_output().expect("ends");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let line = text.lines().find_map(|line| line.split_once("origin: ")).expect("an origin").1.to_owned();
        eprintln!("{line}");
        line
    };
    // Two at once, and one after them.
    let (one, two) = (start(), start());
    finish(one);
    finish(two);
    assert!(finish(start()).starts_with("Cache"));
}

#[test]
fn a_damaged_cache_never_fails_a_launch() {
    if gpu().is_none() || !compiles() {
        return;
    }
    let directory = directory();
    let cache = CubinCache::new(path(&directory), 1 << 24);
    let name = "shared-tile";
    multiply(Some(cache.clone()), name);
    let entries =
        || std::fs::read_dir(path(&directory)).expect("a directory").flatten().map(|entry| entry.path());
    let whole = std::fs::read(entries().next().expect("an entry")).expect("readable");
    for damage in [&whole[..whole.len() / 2], b"", &[0; 1000]] {
        for entry in entries() {
            std::fs::write(entry, damage).expect("writable");
        }
        assert!(is_compiled(multiply(Some(cache.clone()), name)));
        assert!(matches!(multiply(Some(cache.clone()), name), Origin::Cache { .. }));
    }
    // A directory that cannot be used.
    let file = tempfile::NamedTempFile::new().expect("a file");
    multiply(Some(CubinCache::new(file.path().join("cubins"), 1 << 24)), name);
}

#[test]
fn impossible_launches_say_what_was_asked() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    let error = run_coalesced(&engine, [2048, 1, 1], 0, 64).expect_err("impossible");
    assert_eq!(error.code(), "device");
    for part in ["2048 x 1 x 1 threads", "registers", "coalesced"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = run_coalesced(&engine, [32, 32, 1], 1 << 20, 64).expect_err("impossible");
    assert!(error.to_string().contains(&(1 << 20).to_string()), "{error}");
    assert!(
        error.to_string().contains(&engine.device().shared_memory_per_block_opt_in.to_string()),
        "{error}"
    );
    // Neither has harmed the engine.
    run_coalesced(&engine, [32, 32, 1], 0, 64).expect("runs");
}

/// A kernel that reads out of bounds takes the device's context with it, so that it runs in a process of its own.
#[test]
fn out_of_bounds_child() {
    if std::env::var_os("TILEWRIGHT_TEST_OUT_OF_BOUNDS").is_none() {
        return;
    }
    let engine = Engine::open(0).expect("a GPU");
    // Rows that lie far outside of every allocation.
    let error = run_coalesced(&engine, [32, 32, 1], 0, 1 << 40).expect_err("an illegal address");
    println!("error: {error}; {}", error.hint().unwrap_or_default());
    // The context is known to be dead: no call reaches the driver any more.
    let error = engine.zeros::<f32>(Layout::row_major(2, 2)).expect_err("the context is dead");
    println!("after it: {error}; {}", error.hint().unwrap_or_default());
    // CUDA does not promise that anything works from here on in this process; what happens is only reported (on an H200 the same failure again).
    drop(engine);
    let again = Engine::open(0).and_then(|engine| run_coalesced(&engine, [32, 32, 1], 0, 64));
    println!("another engine of this process: {again:?}");
}

#[test]
fn a_kernel_that_reads_out_of_bounds_is_named() {
    if gpu().is_none() || !compiles() {
        return;
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "engines::out_of_bounds_child", "--nocapture"])
        .env("TILEWRIGHT_TEST_OUT_OF_BOUNDS", "1")
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("CUDA_ERROR_ILLEGAL_ADDRESS") && text.contains("coalesced"), "{text}");
    assert!(text.contains("compute-sanitizer"), "{text}");
    let after =
        text.lines().find(|line| line.starts_with("after it: ")).expect("the next call fails as well");
    assert!(
        after.contains("it has failed in this process") && after.contains("start the program again"),
        "{after}"
    );
    eprintln!("{text}");
}

/// A cubin that someone else assembled, on arrays of the host.
#[test]
fn code_from_elsewhere_runs() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    let showing = find("copy-offset").expect("known").show(&[]).expect("has defaults");
    let launch = &showing.recipe().launches()[0];
    let image = common::image(&engine, launch.program());
    let input: Vec<f32> = (0..showing.input()).map(|i| i as f32).collect();
    let bytes = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let (input_bytes, mut output) = (bytes(&input), vec![0; 4 * showing.output()]);
    let arrays = engine.upload_arrays(&[("input", &input_bytes), ("output", &output)]).expect("fits");
    let arguments = [Argument::Pointer(0), Argument::Pointer(1), Argument::i32(showing.output() as i32)];
    let code = CodeLaunch {
        name: "copy-offset",
        cubin: &image,
        entry: launch.entry(),
        shape: *launch.shape(),
        arguments: &arguments,
        symbols: &[],
    };
    // SAFETY: the arguments are those of the entry, and the arrays have the lengths that the exhibit names.
    unsafe { engine.run_code(&code, &arrays).expect("runs") };
    arrays.read([&mut Vec::new(), &mut output]).expect("there");
    assert_eq!(output, bytes(&showing.expected(&input)));
    let wrong = CodeLaunch { arguments: &[Argument::Pointer(7)], ..code };
    // SAFETY: nothing is launched.
    let error = unsafe { engine.run_code(&wrong, &arrays) }.expect_err("no such array");
    assert!(error.to_string().contains('7'), "{error}");
    let wrong = CodeLaunch { cubin: b"no machine code", ..code };
    // SAFETY: nothing is launched.
    assert!(unsafe { engine.run_code(&wrong, &arrays) }.is_err());
}

/// The tile for which machine code is changed: every sum is that of multiply-adds in the order of k, bit for bit, whether or not operands are reused.
#[test]
fn reused_operands_change_no_bit() {
    let Some(engine) = gpu().filter(|_| compiles()) else { return };
    // Whole tiles and edges; A by columns, which is copied in vectors, and by rows.
    for (m, n, k, by_columns) in [(256, 192, 320, true), (256, 192, 320, false), (130, 70, 33, true)] {
        let number = |i: usize| 1.0 / (((i * 2_654_435_761) >> 5) % 10_007 + 3) as f64;
        let a = Matrix::from_fn(m, k, |i, t| number(i * k + t)).expect("small");
        let b = Matrix::from_fn(k, n, |t, j| -number(7 * (t * n + j) + 1)).expect("small");
        let sum = |i, j| {
            let term =
                |sum: f64, t| a.as_ref().get(i, t).unwrap().mul_add(b.as_ref().get(t, j).unwrap(), sum);
            (0..k).fold(0.0, term)
        };
        let wanted: Vec<u64> = (0..m * n).map(|at| f64::to_bits(sum(at / n, at % n))).collect();
        let turned = Matrix::from_fn(k, m, |t, i| a.as_ref().get(i, t).unwrap()).expect("small");
        let a = if by_columns { turned.as_ref().t() } else { a.as_ref() };
        let (a, b) = (engine.upload(a).expect("uploads"), engine.upload(b.as_ref()).expect("uploads"));
        let layout = Layout::row_major(m, n);
        let problem = Problem::new(a.layout(), b.layout(), layout).expect("shapes fit");
        let request = Request {
            gpu: engine.gpu(),
            tile: simt_tiles(Variant::new(SemiringId::PlusTimes, DType::F64)).first().copied(),
            splits: Some(1),
            ..Request::new(problem, SemiringId::PlusTimes, DType::F64)
        };
        let mut c = engine.zeros::<f64>(layout).expect("fits");
        let recipe = find("simt").expect("known").recipe(&request).expect("accepted");
        let prepared = engine.prepare(recipe).expect("prepared");
        prepared.run(&a, &b, &mut c).expect("runs");
        let found = c.to_matrix().expect("downloads");
        let found: Vec<u64> = found.as_slice().iter().map(|x| x.to_bits()).collect();
        assert!(found == wanted, "{m} x {n} x {k}, {by_columns}");

        let kernels = prepared.kernels().expect("described");
        let origin = kernels.iter().find(|one| one.name.starts_with("simt")).expect("the product").origin;
        let reused = match origin {
            Origin::Cache { reused } | Origin::Compiled { reused, .. } => reused,
            _ => 0,
        };
        eprintln!("{m} x {n} x {k}: {reused} instructions changed");
        let measured = engine.driver_kind() == DriverKind::Gpu
            && Nvrtc::find().is_ok_and(|nvrtc| nvrtc.version().to_string() == "13.0")
            && engine.device().capability.to_string() == "9.0";
        if measured && std::env::var_os("TILEWRIGHT_NO_REUSE").is_none() {
            assert!(reused > 100, "{origin:?}");
        }
    }
}

#[test]
fn all_pass_on_the_emulator() {
    common::all_pass_on_the_emulator(module_path!());
}
