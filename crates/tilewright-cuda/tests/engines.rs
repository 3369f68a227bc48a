//! Several engines: threads, processes, and one cache between them; damaged caches; failing launches.

mod common;

use common::{directory, expected, gpu, matrix, path, problem};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tilewright_core::{DType, MinPlus, SemiringId};
use tilewright_cuda::{CodeArgument, CodeLaunch, CubinCache, Engine, Nvrtc, Origin, Output, Source};
use tilewright_kernels::{ArgumentValue, COMPILER_OPTIONS, Recipe, Request, find};

fn recipe(engine: &Engine, name: &str, n: usize) -> (Request, Recipe) {
    let request = Request {
        target: engine.target(),
        ..Request::new(problem(n, n, n), SemiringId::MinPlus, DType::F32)
    };
    let recipe = find(name).expect("in the catalogue").recipe(&request).expect("accepted");
    (request, recipe)
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

#[test]
fn the_second_engine_does_not_compile() {
    if gpu().is_none() {
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
    assert!(matches!(first, Origin::Compiled { .. }), "{first:?}");
    assert_eq!(second, Origin::Cache);
    assert!(matches!(multiply(None, "shared-tile"), Origin::Compiled { .. }));
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
    if gpu().is_none() {
        return;
    }
    let directory = directory();
    let start = || {
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "child_process", "--nocapture"])
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
    if gpu().is_none() {
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
        assert!(matches!(multiply(Some(cache.clone()), name), Origin::Compiled { .. }));
        assert_eq!(multiply(Some(cache.clone()), name), Origin::Cache);
    }
    // A directory that cannot be used.
    let file = tempfile::NamedTempFile::new().expect("a file");
    multiply(Some(CubinCache::new(file.path().join("cubins"), 1 << 24)), name);
}

#[test]
fn impossible_launches_say_what_was_asked() {
    let Some(engine) = gpu() else { return };
    let (request, good) = recipe(&engine, "coalesced", 64);
    let layout = problem(64, 64, 64).c();
    let zeros = || engine.zeros::<f32>(layout).expect("fits");
    let fails = |change: fn(&mut Recipe)| {
        let mut recipe = good.clone();
        change(&mut recipe);
        let prepared = match engine.prepare(recipe) {
            Ok(prepared) => prepared,
            Err(error) => return error,
        };
        prepared.run(&request, &zeros(), &zeros(), &mut zeros()).expect_err("impossible")
    };
    let error = fails(|recipe| recipe.launches[0].block = [2048, 1, 1]);
    assert_eq!(error.code(), "device");
    for part in ["2048 x 1 x 1 threads", "registers", "coalesced"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = fails(|recipe| recipe.launches[0].dynamic_shared_memory = 1 << 20);
    assert!(error.to_string().contains(&(1 << 20).to_string()), "{error}");
    assert!(
        error.to_string().contains(&engine.device().shared_memory_per_block_opt_in.to_string()),
        "{error}"
    );
    // Neither has harmed the engine.
    let prepared = engine.prepare(good.clone()).expect("prepared");
    prepared.run(&request, &zeros(), &zeros(), &mut zeros()).expect("runs");
    engine.synchronize().expect("works");
}

/// A kernel that reads out of bounds takes the device's context with it, so that it runs in a process of its own.
#[test]
fn out_of_bounds_child() {
    if std::env::var_os("TILEWRIGHT_TEST_OUT_OF_BOUNDS").is_none() {
        return;
    }
    let engine = Engine::open(0).expect("a GPU");
    let (request, mut recipe) = recipe(&engine, "coalesced", 64);
    for argument in &mut recipe.launches[0].arguments {
        // Rows that lie far outside of every allocation.
        if argument.name.starts_with("ld") || argument.name.contains("stride") {
            argument.value = match argument.value {
                ArgumentValue::I64(_) => ArgumentValue::I64(1 << 40),
                other => other,
            };
        }
    }
    let zeros = || engine.zeros::<f32>(problem(64, 64, 64).c()).expect("fits");
    let (a, b, mut c) = (zeros(), zeros(), zeros());
    engine.prepare(recipe).expect("prepared").run(&request, &a, &b, &mut c).expect("launched");
    let error = engine.synchronize().expect_err("an illegal address");
    println!("error: {error}; {}", error.hint().unwrap_or_default());
}

#[test]
fn a_kernel_that_reads_out_of_bounds_is_named() {
    if gpu().is_none() {
        return;
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "out_of_bounds_child", "--nocapture"])
        .env("TILEWRIGHT_TEST_OUT_OF_BOUNDS", "1")
        .output()
        .expect("starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("CUDA_ERROR_ILLEGAL_ADDRESS") && text.contains("coalesced"), "{text}");
    assert!(text.contains("compute-sanitizer"), "{text}");
}

/// A cubin that someone else assembled, on arrays of the host.
#[test]
fn code_from_elsewhere_runs() {
    let Some(engine) = gpu() else { return };
    let showing = find("copy-offset").expect("known").show(&[]).expect("has defaults");
    let launch = &showing.recipe.launches[0];
    let headers = launch.program.headers();
    let source = Source { name: launch.program.file, text: launch.program.source, headers: &headers };
    let nvrtc = Nvrtc::find().expect("the engine compiles");
    let architecture = engine.device().capability.into();
    let compiled = nvrtc.compile(&source, architecture, Output::Cubin, COMPILER_OPTIONS).expect("compiles");
    let input: Vec<f32> = (0..showing.input).map(|i| i as f32).collect();
    let bytes = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let mut arrays = [bytes(&input), vec![0; 4 * showing.output]];
    let n = (showing.output as i32).to_le_bytes();
    let arguments = [CodeArgument::Memory(0), CodeArgument::Memory(1), CodeArgument::Bytes(&n)];
    let code = CodeLaunch {
        name: "copy-offset",
        cubin: &compiled.image,
        entry: launch.entry,
        grid: launch.grid,
        block: launch.block,
        dynamic_shared_memory: 0,
        arguments: &arguments,
        symbols: &[],
    };
    // SAFETY: the arguments are those of the entry, and the arrays have the lengths that the exhibit names.
    unsafe { engine.run_code(&code, &mut arrays).expect("runs") };
    assert_eq!(arrays[1], bytes(&showing.expected(&input)));
    let wrong = CodeLaunch { arguments: &[CodeArgument::Memory(7)], ..code };
    // SAFETY: nothing is launched.
    let error = unsafe { engine.run_code(&wrong, &mut arrays) }.expect_err("no such array");
    assert!(error.to_string().contains('7'), "{error}");
    let wrong = CodeLaunch { cubin: b"no machine code", ..code };
    // SAFETY: nothing is launched.
    assert!(unsafe { engine.run_code(&wrong, &mut arrays) }.is_err());
}
