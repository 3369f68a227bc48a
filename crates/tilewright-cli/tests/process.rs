//! The command as a process: signals, pipes, colours.

use crate::support::{Desk, Run};
use std::{
    io::Read,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The signals that end a run, and the codes it ends with.
#[cfg(unix)]
const SIGNALS: [(&str, i32); 3] = [("-INT", 130), ("-TERM", 143), ("-HUP", 129)];

const RED: &str = "\u{1b}[";

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let desk = Desk::new();
    let err = |line: &str, variable: Option<&str>| {
        let mut command = desk.command(line);
        variable.map(|name| command.env(name, "1"));
        Run::of(command.output().unwrap()).err
    };
    let wrong = "mul none.csv none.csv";
    assert!(!err(wrong, None).contains(RED));
    assert!(err(wrong, Some("CLICOLOR_FORCE")).contains(RED));
    assert!(err(&format!("{wrong} --color always"), None).contains(RED));
    assert!(!err(&format!("{wrong} --color never"), Some("CLICOLOR_FORCE")).contains(RED));
    let mut both = desk.command(wrong);
    both.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!Run::of(both.output().unwrap()).err.contains(RED));
    let table = desk.ok("mul whole.csv whole.csv --color always");
    assert!(table.contains(RED), "{table}");
}

/// Runs with a stdout whose reader is gone before a byte is written.
#[cfg(unix)]
fn run_into_a_broken_pipe(desk: &Desk, line: &str) -> Run {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    Run::of(
        desk.command(line).stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap(),
    )
}

#[cfg(unix)]
#[test]
fn a_broken_pipe_is_no_failure() {
    let desk = Desk::new();
    for line in [
        "mul whole.csv whole.csv",
        "mul whole.csv whole.csv --format json",
        "mul whole.csv whole.csv -o -",
        "occupancy --cc 9.0 --regs 64 --sweep threads=1..1024",
        "occupancy --cc 9.0 --regs 64 --sweep threads=1..1024 --format csv",
        "gpus",
        "doctor",
        "doctor --format json",
        "completions bash",
        "man",
        "--help",
        "--version",
    ] {
        let run = run_into_a_broken_pipe(&desk, line);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{line}");
    }
}

/// Starts the command, waits until it is writing its output, and sends it a signal.
#[cfg(unix)]
fn stop_while_writing(desk: &Desk, line: &str, signal: &str) -> (Child, String) {
    let mut child = desk.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !desk.list().iter().any(|name| name.starts_with(".tilewright-") && size(desk, name) > 0) {
        assert!(start.elapsed() < Duration::from_secs(60), "no temporary file appeared");
        assert!(child.try_wait().unwrap().is_none(), "the command ended before it could be interrupted");
        std::thread::sleep(Duration::from_micros(50));
    }
    let kill = |signal: &str| Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    // Until the signal is there, it does not write on.
    assert!(kill("-STOP").success() && kill(signal).success() && kill("-CONT").success());
    child.wait().unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (child, err)
}

#[cfg(unix)]
fn size(desk: &Desk, name: &str) -> u64 {
    std::fs::metadata(desk.file(name)).map_or(0, |m| m.len())
}

/// A column whose outer product takes long to write, and little time to read and to compute.
#[cfg(unix)]
fn desk_with_a_column() -> Desk {
    let desk = Desk::new();
    let column: String = (0..2500).map(|i| format!("{}.125\n", i % 89)).collect();
    desk.put("column.csv", &column);
    desk.put("c.csv", "the old file\n");
    desk
}

#[cfg(unix)]
fn check_nothing_changed(desk: &Desk) {
    assert_eq!(desk.get("c.csv"), "the old file\n");
    assert!(desk.list().iter().all(|name| !name.starts_with(".tilewright-")), "{:?}", desk.list());
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_writing_leaves_the_old_file_whole() {
    let desk = desk_with_a_column();
    for (signal, code) in SIGNALS {
        let line = "mul column.csv column.csv --transpose-b -o c.csv";
        let (mut child, err) = stop_while_writing(&desk, line, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}: {err}");
        check_nothing_changed(&desk);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_a_page_is_written_leaves_the_old_one_whole() {
    let desk = Desk::new();
    // All of the PTX goes into the page, which takes its time to write.
    let comment = "// ".to_owned() + &"x".repeat(8189) + "\n";
    let kernel = include_str!("../../tilewright-explain/tests/reverse.ptx");
    desk.put("long.ptx", &(kernel.to_owned() + &comment.repeat(4096)));
    desk.put("c.csv", "the old file\n");
    let arguments = "--arg input=f32[256] --arg output=f32[256] --arg factor=1";
    for (signal, code) in SIGNALS {
        let line = format!("explain long.ptx --block 256 {arguments} --report c.csv");
        let (mut child, err) = stop_while_writing(&desk, &line, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}: {err}");
        check_nothing_changed(&desk);
    }
}

#[cfg(unix)]
#[test]
fn the_limit_on_file_sizes_leaves_the_old_file_whole() {
    let desk = desk_with_a_column();
    // 32 KiB at most; writing more raises SIGXFSZ, which would end the process.
    let script = "ulimit -c 0; ulimit -f 32; exec \"$@\"";
    let under_the_limit = |line: &str| {
        let command = desk.command(line);
        let mut limited = Command::new("bash");
        limited.args(["-c", script, "bash"]).arg(command.get_program()).args(command.get_args());
        limited.current_dir(desk.path()).output().map(Run::of)
    };
    let Ok(run) = under_the_limit("mul column.csv column.csv --transpose-b -o c.csv") else {
        return eprintln!("skipped: there is no bash");
    };
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(run.err.contains("c.csv: ") && run.err.contains("too large"), "{}", run.err);
    check_nothing_changed(&desk);
    desk.put("reverse.ptx", include_str!("../../tilewright-explain/tests/reverse.ptx"));
    let arguments = "--arg input=f32[256] --arg output=f32[256] --arg factor=1";
    let line = format!("explain reverse.ptx --block 256 {arguments} --report page.html");
    let run = under_the_limit(&line).unwrap();
    assert_eq!(run.code, Some(3), "{}", run.err);
    assert!(!desk.list().contains(&"page.html".to_owned()));
    check_nothing_changed(&desk);
}

#[cfg(unix)]
#[test]
fn an_interrupt_while_computing_ends_at_once() {
    let desk = Desk::new();
    let row = (0..2000).map(|j| (j % 7).to_string()).collect::<Vec<_>>().join(",") + "\n";
    desk.put("square.csv", &row.repeat(2000));
    let mut child = desk
        .command("mul square.csv square.csv --backend reference -o c.npy -v")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Before the second note, which says that reading is over, the product has begun to end by itself. It takes seconds from here.
    let mut err = child.stderr.take().unwrap();
    let mut text = Vec::new();
    while text.iter().filter(|&&b| b == b'\n').count() < 2 {
        let mut byte = [0];
        assert_eq!(err.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&text));
        text.push(byte[0]);
    }
    let start = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(!desk.list().contains(&"c.npy".into()));
    // The product itself has ended: nobody took the process away from under it.
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("error: the product was cancelled"), "{rest}");
}

/// A signal while a product is computed asks it to end: nothing is written, and the code is the signal's.
#[cfg(unix)]
#[test]
fn a_product_of_every_backend_is_cancelled() {
    let desk = Desk::new();
    let square = |n: usize| {
        let row = (0..n).map(|j| format!("{}.5", j % 7)).collect::<Vec<_>>().join(",") + "\n";
        desk.put("square.csv", &row.repeat(n));
        desk.ok("mul square.csv square.csv --transpose-b -o square.npy -q --dtype f32 --backend cpu");
    };
    square(1000);
    desk.put("c.npy", "the old file");
    for (backend, signal, code) in
        [("reference", "-TERM", 143), ("cpu", "-INT", 130), ("emulator", "-HUP", 129)]
    {
        // On the processor it is a stack of many products that takes its time.
        let files = if backend == "cpu" { "stack.npy square.npy" } else { "square.npy square.npy" };
        if backend == "cpu" {
            let mut npy = b"\x93NUMPY\x01\0\x76\0".to_vec();
            let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (150, 1000, 1000), }";
            npy.extend(format!("{header:<117}\n").bytes());
            std::fs::write(desk.file("stack.npy"), npy).unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(desk.file("stack.npy")).unwrap();
            file.set_len(128 + 150 * 4_000_000).unwrap();
        }
        let line = format!("mul {files} --backend {backend} --threads 1 -o c.npy -v");
        let mut child = desk.command(&line).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = child.stderr.take().unwrap();
        let mut text = Vec::new();
        while text.iter().filter(|&&b| b == b'\n').count() < 2 {
            let mut byte = [0];
            assert_eq!(err.read(&mut byte).unwrap(), 1, "{backend}: {}", String::from_utf8_lossy(&text));
            text.push(byte[0]);
        }
        std::thread::sleep(Duration::from_millis(200));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        let mut rest = String::new();
        err.read_to_string(&mut rest).unwrap();
        assert_eq!(status.code(), Some(code), "{backend}: {rest}");
        assert!(rest.contains("error: the product was cancelled"), "{backend}: {rest}");
        assert_eq!(desk.get("c.npy"), "the old file", "{backend}");
    }
}

/// As a product is: asked to end while it computes, and nothing is written.
#[cfg(unix)]
#[test]
fn best_paths_are_cancelled_and_leave_the_old_file_whole() {
    let desk = Desk::new();
    desk.put("c.npy", "the old file");
    for (options, signal, code) in [
        ("random:6000 --dtype f64 --method dense", "-INT", 130),
        ("random:6000 --dtype f64 --method dense --predecessors p.npy", "-TERM", 143),
        ("random:4000 --method dijkstra", "-HUP", 129),
        ("random:600 --backend emulator", "-INT", 130),
    ] {
        let line = format!("paths {options} --threads 1 -o c.npy -v");
        let mut child = desk.command(&line).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = child.stderr.take().unwrap();
        let mut text = String::new();
        // The memory is told twice: for the graph, and for its paths, which take seconds from there on.
        while text.matches("are needed").count() < 2 || !text.ends_with('\n') {
            let mut byte = [0];
            assert_eq!(err.read(&mut byte).unwrap(), 1, "{options}: {text}");
            text.push(byte[0].into());
        }
        std::thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        let mut rest = String::new();
        err.read_to_string(&mut rest).unwrap();
        assert_eq!(status.code(), Some(code), "{options}: {rest}");
        assert!(rest.contains("was cancelled"), "{options}: {rest}");
        assert!(start.elapsed() < Duration::from_secs(20), "{options}");
        assert_eq!(desk.get("c.npy"), "the old file", "{options}");
        assert!(!desk.list().contains(&"p.npy".to_owned()));
    }
}

#[cfg(unix)]
#[test]
fn a_hang_up_that_is_ignored_ends_nothing() {
    let desk = Desk::new();
    let row = (0..300).map(|j| (j % 7).to_string()).collect::<Vec<_>>().join(",") + "\n";
    desk.put("square.csv", &row.repeat(300));
    let program = env!("CARGO_BIN_EXE_tilewright");
    let line = format!("{program} mul square.csv square.csv --dtype f64 --backend reference -o c.npy -v");
    // As `nohup` starts it.
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' HUP; exec {line}")]).current_dir(desk.path()).env("COLUMNS", "120");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut err = child.stderr.take().unwrap();
    let mut byte = [0];
    // The first note says that signals are watched.
    while byte != [b'\n'] {
        assert_eq!(err.read(&mut byte).unwrap(), 1);
    }
    Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(desk.list().contains(&"c.npy".to_owned()));
}
