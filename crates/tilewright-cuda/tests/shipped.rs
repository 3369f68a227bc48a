//! What the pinned compiler makes of every kernel: the PTX that `tilewright-kernels` ships, and the recorded resources.
//!
//! Where NVRTC is missing, or is not the pinned release, the tests say so; `TILEWRIGHT_REQUIRE_NVRTC=1` makes that a failure.
//! `TILEWRIGHT_BLESS=1` writes both, and compiles what has changed; `TILEWRIGHT_BLESS=all` compiles everything anew.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    sync::atomic::{AtomicUsize, Ordering},
};
use tilewright_arch::{Architecture, ComputeCapability, Gpu};
use tilewright_cuda::{CompiledKernel, Cubin, Nvrtc, Output, Ptxas, Source};
use tilewright_kernels::{
    COMPILER_OPTIONS, Launch, LocalMemory, Program, archived_programs, programs_for, readable_programs,
    shipped_programs,
};
use tilewright_ptx::Archive;

/// The release of the compiler whose output is recorded, as it names itself in PTX.
const PINNED: &str = "V13.0.88";
/// The devices that the kernels are compiled for, with all instructions of each.
const DEVICES: [ComputeCapability; 7] = {
    let cc = ComputeCapability::new;
    [cc(7, 5), cc(8, 0), cc(8, 6), cc(8, 9), cc(9, 0), cc(10, 0), cc(12, 0)]
};

#[test]
fn shipped_ptx_is_what_the_pinned_compiler_makes() {
    let Some(nvrtc) = pinned() else { return };
    let made = |launches: &[Launch]| {
        parallel(launches, |launch| {
            let kept = launch.program().shipped_ptx().filter(|_| keeps_unchanged());
            kept.map_or_else(|| ptx(&nvrtc, launch.program()), str::to_owned)
        })
    };
    let (readable, archived) = (readable_programs(), archived_programs());
    let [made_readable, made_archived] = [made(&readable), made(&archived)];
    if bless() {
        write_readable(&readable, &made_readable);
        write_archive(&archived, &made_archived);
        return;
    }
    let rows = readable.iter().chain(&archived).zip(made_readable.iter().chain(&made_archived));
    for (program, ptx) in rows.map(|(launch, ptx)| (launch.program(), ptx)) {
        let is_shipped = program.shipped_ptx() == Some(ptx.as_str());
        assert!(
            is_shipped,
            "the PTX of {} is not the shipped one; TILEWRIGHT_BLESS=1 updates it",
            program.name()
        );
    }
}

/// That the version suffices is for an assembler to say.
#[test]
fn shipped_ptx_can_be_assembled() {
    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(missing) => return eprintln!("skipped: {missing}"),
    };
    parallel(&shipped_programs(), |launch| {
        let program = launch.program();
        let ptx = program.shipped_ptx().expect("shipped");
        let target = Program::SHIPPED_ARCHITECTURE;
        ptxas.assemble(program.name(), ptx, target).unwrap_or_else(|error| panic!("{error}"));
    });
}

/// Every program on every architecture has its row. The compiler makes the same of the same text, which the key stands for, so that each program is compiled
/// anew for one architecture, another one for its neighbours; with `TILEWRIGHT_ALL_ARCHITECTURES=1` for all of them. `TILEWRIGHT_THIRD` of 0, 1 or 2 takes every
/// third program from there on.
#[test]
fn resources_are_those_recorded() {
    let Some(nvrtc) = pinned() else { return };
    let programs = |device| {
        let gpu = Gpu { architecture: Architecture::of(device), ..Gpu::default() };
        programs_for(gpu).into_iter().map(move |launch| (launch, device))
    };
    let jobs: Vec<_> = DEVICES.into_iter().flat_map(programs).collect();
    let path = crates().join("tilewright-kernels/resources.csv");
    let table = fs::read_to_string(&path).expect("a table");
    if bless() {
        let header = "program,key,architecture,registers,local_memory,static_shared_memory,barriers\n";
        let rows = parallel(&jobs, |(launch, device)| {
            let start = start(launch, *device);
            let kept = table.lines().find(|row| row.starts_with(&start)).filter(|_| keeps_unchanged());
            kept.map_or_else(|| row(&nvrtc, launch, *device), |kept| kept.to_owned() + "\n")
        });
        fs::write(path, header.to_owned() + &rows.concat()).expect("writable");
        return;
    }
    let recorded: Vec<_> = table.lines().skip(1).collect();
    assert_eq!(jobs.len(), recorded.len(), "TILEWRIGHT_BLESS=1 updates the table");
    for ((launch, device), recorded) in jobs.iter().zip(&recorded) {
        let start = start(launch, *device);
        assert!(recorded.starts_with(&start), "{start} is {recorded}: TILEWRIGHT_BLESS=1 updates the table");
    }
    let all = std::env::var_os("TILEWRIGHT_ALL_ARCHITECTURES").is_some();
    let count = DEVICES.len() as u64;
    let turn = |launch: &Launch, device| {
        let place = DEVICES.iter().position(|other| *other == device).unwrap_or(0);
        launch.program().key() % count == place as u64
    };
    let mut chosen: Vec<_> =
        jobs.iter().zip(recorded).filter(|((launch, device), _)| all || turn(launch, *device)).collect();
    assert!(chosen.len() as u64 > jobs.len() as u64 / count / 2);
    if let Ok(third) = std::env::var("TILEWRIGHT_THIRD") {
        let third = third.parse().expect("TILEWRIGHT_THIRD is 0, 1 or 2");
        chosen = chosen.into_iter().skip(third).step_by(3).collect();
    }
    parallel(&chosen, |((launch, device), recorded)| {
        assert_eq!(
            row(&nvrtc, launch, *device).trim_end(),
            *recorded,
            "TILEWRIGHT_BLESS=1 updates the table"
        );
    });
}

/// The compiler whose output is recorded, or a line that says why the test is skipped.
fn pinned() -> Option<Nvrtc> {
    let why = match Nvrtc::find() {
        Ok(nvrtc) => {
            let source =
                Source { name: "empty.cu", text: "extern \"C\" __global__ void f() {}", headers: &[] };
            let compiled =
                nvrtc.compile(&source, Program::SHIPPED_ARCHITECTURE, Output::Ptx, &[]).expect("compiles");
            if String::from_utf8_lossy(&compiled.image).contains(PINNED) {
                return Some(nvrtc);
            }
            format!("NVRTC is not {PINNED}")
        }
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("TILEWRIGHT_REQUIRE_NVRTC").is_none(), "{why}");
    eprintln!("skipped: {why}");
    None
}

fn bless() -> bool {
    std::env::var_os("TILEWRIGHT_BLESS").is_some()
}

/// Whether what is recorded stays: its key stands for text, constants and options.
fn keeps_unchanged() -> bool {
    std::env::var("TILEWRIGHT_BLESS").is_ok_and(|what| what != "all")
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn compile(nvrtc: &Nvrtc, program: &Program, target: Architecture, output: Output) -> Vec<u8> {
    let headers = program.headers();
    let source = Source { name: program.file(), text: program.source(), headers: &headers };
    let compiled = nvrtc.compile(&source, target, output, COMPILER_OPTIONS);
    compiled.unwrap_or_else(|error| panic!("{} for {target}: {error}", program.name())).image
}

/// The PTX, with file names that do not depend on the working directory, and the lowest version that suffices.
fn ptx(nvrtc: &Nvrtc, program: &Program) -> String {
    let image = compile(nvrtc, program, Program::SHIPPED_ARCHITECTURE, Output::Ptx);
    let text = String::from_utf8(image).expect("text");
    let mut ptx = String::new();
    for line in text.trim_end_matches('\0').lines() {
        let line = match (line.trim_start().starts_with(".file"), line.split_once('"')) {
            (true, Some((start, path))) => {
                let name = path.trim_end_matches('"').rsplit('/').next().unwrap_or(path);
                format!("{start}\"{name}\"")
            }
            // The compiler states its own version, which only the newest drivers take.
            _ if line.starts_with(".version ") => format!(".version {}", Program::SHIPPED_PTX_VERSION),
            _ => line.to_owned(),
        };
        let _ = writeln!(ptx, "{}", line.trim_end());
    }
    ptx
}

/// What a row begins with. Instructions of one device alone change nothing of these kernels, so that its name
/// goes without the suffix.
fn start(launch: &Launch, device: ComputeCapability) -> String {
    let program = launch.program();
    format!("{},{:016x},{},", program.name(), program.key(), Architecture::baseline(device))
}

/// A row of the table, the most that any entry of the program takes; local memory that a kernel does not declare is an error.
fn row(nvrtc: &Nvrtc, launch: &Launch, device: ComputeCapability) -> String {
    let target = Architecture::of(device);
    let name = launch.program().name();
    let cubin = Cubin::parse(&compile(nvrtc, launch.program(), target, Output::Cubin)).expect("a cubin");
    assert!(cubin.kernels.iter().any(|kernel| kernel.name == launch.entry()), "{name} has its entry");
    let most = |of: &dyn Fn(&CompiledKernel) -> u32| cubin.kernels.iter().map(of).max().expect("an entry");
    let local_memory = most(&|kernel| kernel.local_memory);
    let allowed = launch.local_memory() == LocalMemory::Declared || local_memory == 0;
    assert!(allowed, "{name} for {target} keeps {local_memory} bytes per thread in local memory");
    format!(
        "{}{},{local_memory},{},{}\n",
        start(launch, device),
        most(&|kernel| kernel.registers),
        most(&|kernel| kernel.static_shared_memory),
        most(&|kernel| kernel.barriers)
    )
}

/// Writes the files, and the Rust table that includes them.
fn write_readable(launches: &[Launch], made: &[String]) {
    let folder = crates().join("tilewright-kernels/ptx");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("writable");
    let mut table = String::from(
        "//! PTX of programs that is there to be read, by name; written by the test `shipped` of `tilewright-cuda`.\n\n\
         #[rustfmt::skip]\npub(crate) const SHIPPED: &[(&str, &str)] = &[\n",
    );
    for (program, ptx) in launches.iter().map(Launch::program).zip(made) {
        let name = program.name();
        fs::write(folder.join(format!("{name}.ptx")), program.heading() + ptx).expect("writable");
        let _ = writeln!(table, "    (\"{name}\", include_str!(\"../ptx/{name}.ptx\")),");
    }
    table += "];\n";
    fs::write(crates().join("tilewright-kernels/src/shipped.rs"), table).expect("writable");
}

fn write_archive(launches: &[Launch], made: &[String]) {
    let programs: Vec<_> = launches
        .iter()
        .map(Launch::program)
        .zip(made)
        .map(|(program, text)| tilewright_ptx::Program { name: program.name(), key: program.key(), text })
        .collect();
    let archive = Archive::write(&programs).expect("in memory");
    fs::write(crates().join("tilewright-ptx/programs.archive"), archive).expect("writable");
}

/// Applies `f` to every item on all processors, keeping the order.
fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((i, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
                {
                    let result = f(item);
                    results.lock().expect("no panic").push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no panic");
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
