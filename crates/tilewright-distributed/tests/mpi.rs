//! Ranks that an MPI launcher starts: this program once more, by each launcher that is here.

use crate::{
    common::{dealt, same_bits, weights},
    launchers::{launchers, without_launcher},
};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};
use tilewright::{DType, Options, SemiringId};
use tilewright_distributed::{
    Checkpoints, Closure, Grid, Mpi, Patience, Shape, Watched, closure_bytes, multiply, store, threads,
};

/// What the children are to do; children alone have it.
const TASK: &str = "TILEWRIGHT_TEST_MPI_TASK";
/// Marks the processes of one test, so that those that are left over are found.
const MARK: &str = "TILEWRIGHT_TEST_MPI_MARK";

fn command(launcher: &Path, ranks: usize, task: &str, mark: &str) -> Command {
    let mut command = Command::new(launcher);
    without_launcher(&mut command);
    command.args(["-n", &ranks.to_string()]).arg(env::current_exe().unwrap());
    command.args(["--exact", "mpi::child", "--ignored", "--nocapture", "--test-threads", "1"]);
    command.env(TASK, task).env(MARK, mark).env("RAYON_NUM_THREADS", "1");
    // Open MPI counts cores, and does not run for the superuser unless told so; MPICH's ranks share cores better by yielding.
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.env("MPIR_CVAR_POLLS_BEFORE_YIELD", "1");
    command.stdin(Stdio::null());
    command
}

fn run(launcher: &Path, ranks: usize, task: &str) -> (Output, String) {
    said(&mut command(launcher, ranks, task, "run"))
}

fn said(command: &mut Command) -> (Output, String) {
    let output = command.output().unwrap();
    let text = format!(
        "{}\n{}{}",
        command.get_program().display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output, text)
}

/// The libraries that came with a launcher.
fn libraries(launcher: &Path) -> Vec<PathBuf> {
    let root = launcher.parent().and_then(Path::parent).unwrap();
    let names = ["libmpi_abi.so.1", "libmpi.so.12", "libmpi.so.40"];
    names.into_iter().map(|name| root.join("lib").join(name)).filter(|path| path.exists()).collect()
}

#[test]
fn ranks_have_the_bits_of_one_process() {
    for launcher in launchers() {
        for (rows, cols) in [(1, 1), (1, 2), (2, 2), (3, 1)] {
            let task = format!("compare {rows}x{cols}");
            let (output, text) = run(&launcher, rows * cols, &task);
            assert!(output.status.success(), "{text}");
            assert_eq!(text.matches("has the bits of one process").count(), rows * cols, "{text}");
        }
    }
}

#[test]
fn every_interface_of_a_library_is_understood() {
    for launcher in launchers() {
        for library in libraries(&launcher) {
            let (output, text) =
                said(command(&launcher, 2, "compare 1x2", "run").env("TILEWRIGHT_MPI_PATH", &library));
            let words = format!("by {} has the bits of one process", library.display());
            assert!(output.status.success() && text.matches(&words).count() == 2, "{text}");
        }
    }
}

#[test]
fn an_error_of_one_rank_ends_all_ranks_and_is_named() {
    for launcher in launchers() {
        let (output, text) = run(&launcher, 4, "fail 2x2 2 3");
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches("step 4 of 7 on").count(), 4, "{text}");
    }
}

/// Waits until a job has ended and no process of it is there; gives whether it ended well, and the seconds that it took.
#[cfg(target_os = "linux")]
fn ended(command: &mut Command, mark: &str) -> (bool, f64) {
    let start = Instant::now();
    let mut job = command.stdout(Stdio::null()).spawn().unwrap();
    let name = command.get_program().to_owned();
    let status = loop {
        if let Some(status) = job.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{name:?} goes on");
        thread::sleep(Duration::from_millis(50));
    };
    let seconds = start.elapsed().as_secs_f64();
    // The kernel may need a moment to take a killed process away.
    while left(mark) > 0 && start.elapsed() < Duration::from_secs(130) {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(left(mark), 0, "{name:?}");
    (status.success(), seconds)
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_killed_at_any_step_ends_the_job_and_leaves_no_process_and_no_half_file() {
    for (at, launcher) in launchers().into_iter().enumerate() {
        for step in 0..7 {
            let desk = tempfile::tempdir().unwrap();
            let (mark, folder) = (format!("{}-{at}-{step}", std::process::id()), desk.path().join("states"));
            let task = format!("kill 2x2 {} {step} {}", (step + 1) % 4, folder.display());
            let (is_well, seconds) = ended(command(&launcher, 4, &task, &mark).stderr(Stdio::null()), &mark);
            assert!(!is_well);
            println!("{}: the job ended {seconds:.1} s after it had begun", launcher.display());
            assert!(!desk.path().join("d.npy").exists());
            // The newest two states are whole, and the closure goes on from there.
            if step >= 2 {
                let (output, text) = run(&launcher, 2, &format!("resume 1x2 {}", folder.display()));
                let words = format!("went on from step {}", step / 2 * 2);
                assert!(output.status.success() && text.matches(&words).count() == 2, "{text}");
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_stops_ends_the_job_after_the_deadline() {
    for (at, launcher) in launchers().into_iter().enumerate() {
        let desk = tempfile::tempdir().unwrap();
        let (mark, said) = (format!("{}-stop-{at}", std::process::id()), desk.path().join("said"));
        let mut job = command(&launcher, 4, "stop 2x2 1 3", &mark);
        let (is_well, seconds) = ended(job.stderr(fs::File::create(&said).unwrap()), &mark);
        let text = fs::read_to_string(&said).unwrap();
        assert!(!is_well, "{text}");
        println!("{}: the job ended {seconds:.1} s after it had begun", launcher.display());
        assert!(text.contains("step 4 of 7 on ") && text.contains("waited 2s for "), "{text}");
    }
}

/// Processes of a test that are still there.
#[cfg(target_os = "linux")]
fn left(mark: &str) -> usize {
    let wanted = format!("{MARK}={mark}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_ours = |path: PathBuf| {
        fs::read(path.join("environ")).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&wanted))
    };
    processes.filter(|process| is_ours(process.path())).count()
}

#[test]
fn a_launcher_of_another_mpi_is_refused() {
    let launchers = launchers();
    for started in &launchers {
        for other in launchers.iter().filter(|other| *other != started) {
            for library in libraries(other) {
                let (_, text) =
                    said(command(started, 2, "open", "other").env("TILEWRIGHT_MPI_PATH", &library));
                assert!(text.contains("MPI is not available") && text.contains("2 ranks"), "{text}");
                assert!(text.contains(&*library.to_string_lossy()), "{text}");
            }
        }
    }
}

const N: usize = 101;
const BLOCK: usize = 16;

/// What each rank does.
#[test]
#[ignore = "started by other tests"]
fn child() {
    let Ok(task) = env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let mpi = match Mpi::open() {
        Ok(mpi) => mpi,
        Err(error) => panic!("{error}"),
    };
    match words[..] {
        ["open"] => {}
        ["compare", shape] => compare(&mpi, shape.parse().unwrap()),
        ["fail", shape, rank, step] => {
            fail(&mpi, shape.parse().unwrap(), (rank.parse().unwrap(), step.parse().unwrap()))
        }
        ["kill", shape, rank, step, folder] => {
            kill(
                &mpi,
                shape.parse().unwrap(),
                (rank.parse().unwrap(), step.parse().unwrap()),
                folder.as_ref(),
            );
        }
        ["stop", shape, rank, step] => {
            stop(&mpi, shape.parse().unwrap(), (rank.parse().unwrap(), step.parse().unwrap()));
        }
        ["resume", shape, folder] => resume(&mpi, shape.parse().unwrap(), folder.as_ref()),
        _ => panic!("{task}"),
    }
    mpi.finish().unwrap();
}

fn compare(mpi: &Mpi, shape: Shape) {
    let grid = Grid::new(mpi.group(), shape).unwrap();
    let (rank, semiring) = (mpi.group().rank(), SemiringId::MinPlus);
    let whole = weights(semiring, DType::F32, N, N);
    let one = threads::run(1, |group| {
        let grid = Grid::new(group, Shape { rows: 1, cols: 1 }).unwrap();
        let mut d = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
        Closure::new(semiring).run(&mut d).unwrap();
        let c = multiply(semiring, &d, &d, &Options::default()).unwrap();
        [d.gather().unwrap(), c.gather().unwrap()]
    });
    let mut d = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
    Closure::new(semiring).run(&mut d).unwrap();
    assert_eq!(grid.received_by_all().unwrap(), closure_bytes(N, BLOCK, shape, 4));
    assert!(same_bits(d.gather().unwrap().as_ref(), one[0][0].as_ref()));
    let c = multiply(semiring, &d, &d, &Options::default()).unwrap();
    assert!(same_bits(c.gather().unwrap().as_ref(), one[0][1].as_ref()));
    println!("rank {rank} by {} has the bits of one process", mpi.library());
}

fn fail(mpi: &Mpi, shape: Shape, (rank, step): (usize, usize)) {
    let grid = Grid::new(mpi.group(), shape).unwrap();
    let whole = weights(SemiringId::MinPlus, DType::F32, N, N);
    let mut d = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
    let before = |at, _| {
        let kind = tilewright::ErrorKind::OutOfMemory { what: "a test", bytes: 1 };
        if (grid.world().rank(), at) == (rank, step) { Err(kind.into()) } else { Ok(()) }
    };
    let closure = Closure { before_step: Some(&before), ..Closure::new(SemiringId::MinPlus) };
    println!("{}", closure.run(&mut d).unwrap_err());
}

fn kill(mpi: &Mpi, shape: Shape, (rank, step): (usize, usize), folder: &Path) {
    let grid = Grid::new(mpi.group(), shape).unwrap();
    let whole = weights(SemiringId::MinPlus, DType::F32, N, N);
    let mut d = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
    let before = |at, _| {
        if (grid.world().rank(), at) == (rank, step) {
            Command::new("kill").args(["-9", &std::process::id().to_string()]).status().unwrap();
        }
        Ok(())
    };
    let to = Checkpoints::new(folder, 2);
    let closure =
        Closure { before_step: Some(&before), checkpoints: Some(&to), ..Closure::new(SemiringId::MinPlus) };
    closure.run(&mut d).unwrap();
    store::write(&d, &folder.with_file_name("d.npy")).unwrap();
}

/// Stops a rank, as a machine that does not answer.
fn stop(mpi: &Mpi, shape: Shape, (rank, step): (usize, usize)) {
    let patience = Patience { well: Some(Duration::from_secs(2)), ..Patience::default() };
    let abort = mpi.abort();
    let watched = Watched::new(mpi.group(), patience, move |error| {
        eprintln!("{error}");
        abort.now(5);
    });
    let grid = Grid::new(&watched, shape).unwrap();
    let whole = weights(SemiringId::MinPlus, DType::F32, N, N);
    let mut d = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
    let before = |at, _| {
        if (grid.world().rank(), at) == (rank, step) {
            Command::new("kill").args(["-STOP", &std::process::id().to_string()]).status().unwrap();
        }
        Ok(())
    };
    let closure = Closure { before_step: Some(&before), ..Closure::new(SemiringId::MinPlus) };
    closure.run(&mut d).unwrap();
}

fn resume(mpi: &Mpi, shape: Shape, folder: &Path) {
    let grid = Grid::new(mpi.group(), shape).unwrap();
    let to = Checkpoints::new(folder, 2);
    let whole = weights(SemiringId::MinPlus, DType::F32, N, N);
    let mut d = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
    let closure = Closure { checkpoints: Some(&to), ..Closure::new(SemiringId::MinPlus) };
    let done = closure.resume(&mut d).unwrap().done.unwrap();
    let mut expected = dealt(&grid, whole.as_ref(), BLOCK).unwrap();
    Closure::new(SemiringId::MinPlus).run(&mut expected).unwrap();
    assert!(same_bits(d.local(), expected.local()));
    println!("rank {} went on from step {done}", mpi.group().rank());
}
