//! Kernels on the emulator that do not end, or take long: limits, how far they are, and Ctrl-C.

use crate::support::{Desk, Run};
use serde_json::json;
use std::{
    process::Stdio,
    time::{Duration, Instant},
};

/// Every thread waits for a flag that nobody sets.
const ENDLESS: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 flag)
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [flag];
WAIT:
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    ret;
}
";
const SPIN: &str = "explain spin.ptx --block 64 --arg flag=i32[1]";

/// A kernel that is one warp.
const ONE_WARP: &str = "explain spin.ptx --block 32 --arg flag=i32[1]";

/// One block, whose warps take hundreds of thousands of instructions each.
const LONG: &str = "mul wide.csv tall.csv --dtype f32 --backend emulator --kernel naive";
/// Many blocks, which take many seconds.
const LONGER: &str = "mul wider.csv taller.csv --dtype f32 --backend emulator --kernel naive";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("spin.ptx", ENDLESS);
    let ones = |rows: usize, cols: usize| ("1".to_owned() + &",1".repeat(cols - 1) + "\n").repeat(rows);
    for (a, b, n, k) in [("wide.csv", "tall.csv", 8, 60_000), ("wider.csv", "taller.csv", 320, 4096)] {
        desk.put(a, &ones(n, k));
        desk.put(b, &ones(k, n));
    }
    desk
}

/// The findings of this kind.
fn findings<'a>(report: &'a serde_json::Value, kind: &str) -> Vec<&'a serde_json::Value> {
    let all = report["findings"].as_array().unwrap().iter();
    let found: Vec<_> = all.filter(|finding| finding["kind"] == kind).collect();
    assert!(!found.is_empty(), "no {kind}: {}", report["findings"]);
    found
}

#[test]
fn an_endless_kernel_ends_at_its_limit_and_says_where() {
    let desk = desk();
    for (limit, kind, words, hint) in [
        ("--max-steps 1000", "step-limit", "1000 warp instructions", "--max-steps"),
        ("--max-time 0.05", "time-limit", "50ms after the launch began", "--max-time"),
    ] {
        let line = format!("{SPIN} {limit}");
        let run = desk.run(&format!("{line} --format json"));
        assert_eq!(run.code, Some(1), "{}", run.err);
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let places = findings(&report, kind).into_iter().map(|finding| &finding["participants"][0]);
        // One of the warps may not have come to the loop.
        let ptx_line = |at: &&serde_json::Value| at["location"]["ptx_line"].as_u64().unwrap();
        let at = places.max_by_key(ptx_line).unwrap();
        assert!((8..=11).contains(&ptx_line(&at)), "{at}");
        assert_eq!((&at["block"], at["threads"].as_array().unwrap().len()), (&json!([0, 0, 0]), 32));
        assert!(findings(&report, "not-finished")[0]["message"].as_str().unwrap().contains("did not end"));
        let run = desk.run(&line);
        assert_eq!(run.code, Some(1));
        assert!(run.out.contains(kind) && run.out.contains(words), "{}", run.out);
        assert!(run.err.contains(hint), "{}", run.err);
    }
}

#[test]
fn an_emulated_product_ends_at_its_limit_and_says_where() {
    let desk = desk();
    for (limit, name, words) in [
        ("--max-steps 1000", "limit of steps", "after 1000 warp instructions"),
        ("--max-time 0.000001", "limit of time", "1µs after the launch began"),
        // Both: the first that is met.
        ("--max-time 1000 --max-steps 1000", "limit of steps", "after 1000 warp instructions"),
    ] {
        let run = desk.run(&format!("{LONG} {limit} -o c.csv"));
        assert_eq!(run.code, Some(5), "{}", run.err);
        for words in [name, words, "PTX line", "block (0, 0, 0)", "or a higher limit", "hint: "] {
            assert!(run.err.contains(words), "{words}: {}", run.err);
        }
        assert!(!desk.list().contains(&"c.csv".to_owned()));
    }
    // No limit of time, and one that is far away.
    for limit in ["--max-time 0", "--max-steps 1000000000"] {
        desk.ok(&format!("mul whole.csv whole.csv --dtype f32 --backend emulator --verify {limit}"));
    }
}

#[test]
fn limits_that_make_no_sense() {
    let desk = desk();
    for line in [
        format!("{SPIN} --max-steps 0"),
        format!("{SPIN} --max-time=-1"),
        format!("{SPIN} --max-time soon"),
        format!("{SPIN} --max-time nan"),
        "mul whole.csv whole.csv --backend emulator --max-time 1e300".into(),
        "mul whole.csv whole.csv --backend cpu --max-steps 5".into(),
        "mul whole.csv whole.csv --backend cpu --max-time 5".into(),
    ] {
        let run = desk.run(&line);
        assert_eq!(run.code, Some(2), "{line}: {}", run.err);
        assert!(run.err.contains("--max-"), "{line}: {}", run.err);
    }
}

#[cfg(unix)]
mod signals {
    use super::*;
    use std::{
        fs::File,
        io::Read,
        os::fd::FromRawFd,
        process::{Child, Command},
        sync::mpsc,
    };

    fn send(child: &Child, signals: &[&str]) {
        for signal in signals {
            let status = Command::new("kill").args([*signal, &child.id().to_string()]).status();
            assert!(status.unwrap().success(), "{signal}");
        }
    }

    /// A terminal: what programs write to it can be read here.
    fn terminal() -> (File, File) {
        let (mut ours, mut theirs) = (0, 0);
        let (name, settings) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: both numbers are there to be written; nothing else is asked for.
        let failed = unsafe { libc::openpty(&mut ours, &mut theirs, name, settings, name.cast()) };
        assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: these are open, and nobody else has them.
        unsafe { (File::from_raw_fd(ours), File::from_raw_fd(theirs)) }
    }

    /// Starts the command with a terminal for messages, and waits until they contain `words`. The rest of them comes through the channel.
    fn start_until(desk: &Desk, line: &str, words: &'static str) -> (Child, mpsc::Receiver<String>) {
        let (mut ours, theirs) = terminal();
        let child = desk.command(line).stdout(Stdio::piped()).stderr(theirs).spawn().unwrap();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut text, mut piece, mut seen) = (String::new(), [0; 4096], false);
            // The end is an error for terminals.
            while let Ok(bytes @ 1..) = ours.read(&mut piece) {
                text += &String::from_utf8_lossy(&piece[..bytes]);
                if !seen && text.contains(words) {
                    seen = true;
                    tell.send(text.clone()).unwrap();
                }
            }
            let _ = tell.send(text);
        });
        let first = told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(first.contains(words), "no {words} in {first}");
        (child, told)
    }

    const LATE: Duration = Duration::from_secs(60);

    #[test]
    fn a_line_says_after_a_second_how_far_a_kernel_is_and_an_interrupt_where() {
        let start = Instant::now();
        let (child, messages) =
            start_until(&desk(), &format!("{SPIN} --format json"), "Ctrl-C shows where it is");
        assert!(start.elapsed() >= Duration::from_secs(1));
        send(&child, &["-INT"]);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(130));
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let at = &findings(&report, "interrupted")[0]["participants"][0];
        assert_eq!(at["block"], json!([0, 0, 0]));
        let messages = messages.recv_timeout(LATE).unwrap();
        assert!(messages.contains("million warp instructions, 0 of 1 blocks"), "{messages}");
        assert!(messages.contains("interrupted"), "{messages}");
    }

    #[test]
    fn a_bar_says_after_a_second_how_far_a_product_is_and_an_interrupt_where() {
        let desk = desk();
        let start = Instant::now();
        let (child, messages) = start_until(&desk, &format!("{LONGER} -o c.csv"), " %, ");
        assert!(start.elapsed() >= Duration::from_secs(1));
        send(&child, &["-INT"]);
        let run = Run::of(child.wait_with_output().unwrap());
        let messages = messages.recv_timeout(LATE).unwrap();
        assert_eq!(run.code, Some(130), "{messages}");
        for words in ["interrupted", "is still running here", "PTX line", "block ("] {
            assert!(messages.contains(words), "{words}: {messages}");
        }
        assert!(!desk.list().contains(&"c.csv".to_owned()));
    }

    #[test]
    fn an_interrupt_needs_no_terminal() {
        let desk = desk();
        let mut command = desk.command(&format!("{SPIN} --format json"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        send(&child, &["-INT"]);
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(130), "{}", run.err);
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(findings(&report, "interrupted")[0]["severity"], "warning");
        assert!(run.err.contains("interrupted"), "{}", run.err);
    }

    #[test]
    fn a_second_interrupt_ends_at_once() {
        let desk = desk();
        for (line, words) in [(ONE_WARP, "Ctrl-C shows"), (LONGER, " %, ")] {
            let (child, messages) = start_until(&desk, line, words);
            // Both arrive together: before a launch that is to end has said where it was. Which of them is seen first is the kernel's choice.
            send(&child, &["-STOP", "-INT", "-TERM", "-CONT"]);
            let run = Run::of(child.wait_with_output().unwrap());
            let messages = messages.recv_timeout(LATE).unwrap();
            assert!(matches!(run.code, Some(130 | 143)), "{line}: {:?}, {messages}", run.code);
            assert_eq!(run.out, "", "{line}: {messages}");
            assert!(!messages.contains("interrupted"), "{line}: {messages}");
        }
    }
}
