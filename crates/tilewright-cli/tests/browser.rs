//! The pages of `explain` in a browser: `crates/tilewright-report/browser` looks at them and drives them.
//!
//! It needs Node, `npm ci` in that folder, and Chromium: what is missing is said, and the test is skipped, unless
//! `TILEWRIGHT_REQUIRE_BROWSER` is set.

use crate::support::Desk;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};
use tilewright_kernels::{Family, kernels};

const RACE: &str = include_str!("../../tilewright-emulator/tests/faults/missing_barrier.ptx");
const RACE_SOURCE: &str = include_str!("../../tilewright-emulator/tests/faults/missing_barrier.cu");
const REVERSE: &str = include_str!("../../tilewright-explain/tests/reverse.ptx");

fn driver() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tilewright-report/browser")
}

/// The browser, or what is missing.
fn browser() -> Result<PathBuf, String> {
    if Command::new("node").arg("--version").output().is_err() {
        return Err("no node".into());
    }
    if !driver().join("node_modules/playwright-core").is_dir() {
        return Err(format!("`npm ci` was not run in {}", driver().display()));
    }
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
    let usual = usual.iter().map(|name| Path::new("/usr/bin").join(name));
    named.into_iter().chain(usual).find(|path| path.is_file()).ok_or_else(|| "no chromium".into())
}

/// Pages of every kernel at its default size, of a comparison, and of a race; and one whose kernel has a long name.
fn make_pages(desk: &Desk) {
    desk.put("missing_barrier.ptx", RACE);
    desk.put("missing_barrier.cu", RACE_SOURCE);
    let long = "a_kernel_with_a_name_".repeat(12);
    desk.put("long.ptx", &REVERSE.replace(".entry reverse(", &format!(".entry {long}(")));
    let small = "--arg M=64 --arg N=64 --arg K=64";
    let mut pages = vec![
        ("naive-coalesced".to_owned(), format!("naive --compare coalesced {small}")),
        ("transposes".to_owned(), "transpose-tiled --compare transpose-padded".to_owned()),
        (
            "race".to_owned(),
            "missing_barrier.ptx --entry reduction_in_a_loop_faulty --block 128 --arg 0=f32[128]:range --arg 1=f32[1]".to_owned(),
        ),
        ("long".to_owned(), "long.ptx --block 256 --arg 0=f32[256] --arg 1=f32[256] --arg 2=1".to_owned()),
    ];
    let catalogue = kernels().iter().filter(|kernel| kernel.family != Family::Production);
    pages.extend(catalogue.map(|kernel| (kernel.name.to_owned(), kernel.name.to_owned())));
    std::fs::create_dir(desk.file("pages")).unwrap();
    let (pages, next) = (&pages, &AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(move || {
                while let Some((name, line)) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut command = desk.command(&format!("explain -q {line} --report pages/{name}.html"));
                    let output = command.env("TILEWRIGHT_NVRTC_PATH", "none").output().unwrap();
                    // A race is found: that is code 1.
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.code() <= Some(1), "{name}: {said}");
                }
            });
        }
    });
}

/// What `--picture` draws of one access, to be compared with the page of the kernel.
const PICTURES: [(&str, &str); 6] = [
    ("copy-offset", "9:input"),
    ("copy-strided", "9:input"),
    ("array-of-structs", "13:input"),
    ("transpose-tiled", "13:tile"),
    ("block-tile-2d", "34:Bs"),
    ("constant-uniform", "11:input"),
];

fn draw_pictures(desk: &Desk) {
    for (kernel, place) in PICTURES {
        let mut command = desk.command(&format!("explain -q {kernel} --picture {place} pages/{kernel}.svg"));
        let output = command.env("TILEWRIGHT_NVRTC_PATH", "none").output().unwrap();
        assert!(output.status.success(), "{kernel}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn pages_show_what_they_should_in_a_browser() {
    let browser = match browser() {
        Ok(browser) => browser,
        Err(missing) if std::env::var_os("TILEWRIGHT_REQUIRE_BROWSER").is_none() => {
            eprintln!("skipped: {missing}");
            return;
        }
        Err(missing) => panic!("TILEWRIGHT_REQUIRE_BROWSER is set, but: {missing}"),
    };
    let desk = Desk::new();
    make_pages(&desk);
    draw_pictures(&desk);
    let mut command = Command::new("node");
    command.arg(driver().join("check.mjs")).arg(desk.file("pages")).env("CHROMIUM", browser);
    if let Some(shots) = std::env::var_os("TILEWRIGHT_SCREENSHOTS") {
        command.arg(shots);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{text}");
    println!("{said}");
}
