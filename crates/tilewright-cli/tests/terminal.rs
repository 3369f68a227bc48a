//! What is printed fits the terminal.

use crate::support::Desk;

/// Commands whose tables are for people.
const LINES: [&str; 16] = [
    "explain naive --compare coalesced --arg M=64 --arg N=64 --arg K=64",
    "explain shared-tile-dynamic --arg M=32 --arg N=32 --arg K=32",
    "gpus",
    "gpus a6000",
    "kernels",
    "kernels shared-tile",
    "kernels simt",
    "doctor",
    "cache info",
    "mul roads.csv roads.csv -s min-plus --verify",
    "mul roads.csv roads.csv -s min-plus --dtype f32 --plan --backend cpu",
    "mul real.csv real.csv --dtype f32 --plan --gpu h200 -q",
    "occupancy --gpu a6000 --threads 1024 --regs 37 --smem 8192",
    "occupancy --threads 160 --regs 40 --cluster 2 --best",
    "occupancy --cc 8.6 --sweep threads=32..1024:96 --sweep regs=32,72",
    "bench --backend cpu --sizes 16 --rounds 1 -q",
];

/// The longest line, in letters; paths of this machine cannot be broken.
fn longest(text: &str) -> (usize, String) {
    let lines = text.lines().filter(|line| line.split_whitespace().all(|word| word.chars().count() < 40));
    lines.map(|line| (line.chars().count(), line.to_owned())).max().unwrap_or_default()
}

#[test]
fn every_table_fits_80_columns_and_uses_120() {
    let desk = Desk::new();
    let mut used = 0;
    for line in LINES {
        for columns in [80, 100, 120] {
            let (width, text) = longest(&desk.in_columns(&columns.to_string(), line));
            assert!(width <= columns, "{line} in {columns} columns: {width}\n{text}");
            used = used.max(width);
        }
    }
    assert!(used > 110, "{used}");
}

#[test]
fn without_a_terminal_there_are_80_columns() {
    let desk = Desk::new();
    let mut command = desk.command("kernels");
    let text = String::from_utf8(command.env_remove("COLUMNS").output().unwrap().stdout).unwrap();
    assert!(longest(&text).0 <= 80, "{text}");
}

#[test]
fn numbers_stay_aligned() {
    let desk = Desk::new();
    for columns in ["80", "120"] {
        let text = desk.in_columns(columns, "gpus");
        let ends = |line: &str| line.trim_end().chars().count();
        assert!(text.lines().all(|line| ends(line) == ends(text.lines().next().unwrap())), "{text}");
    }
}

/// Runs in a terminal of so many columns, as util-linux's `script` gives one.
#[cfg(unix)]
fn in_terminal(desk: &Desk, columns: u32, line: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_tilewright");
    let command = format!("stty rows 40 cols {columns}; {program} {line}");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(desk.path()).env_remove("COLUMNS");
    script.env("TERM", "xterm").stdin(std::process::Stdio::null());
    let Ok(output) = script.output() else {
        eprintln!("skipped: there is no `script`");
        return None;
    };
    Some(anstream::adapter::strip_str(&String::from_utf8_lossy(&output.stdout)).to_string())
}

#[cfg(unix)]
#[test]
fn a_terminal_says_how_wide_it_is() {
    let desk = Desk::new();
    for columns in [80, 110] {
        let Some(text) = in_terminal(&desk, columns, "kernels") else { return };
        let width = longest(&text).0;
        assert!(width <= columns as usize && width > columns as usize - 20, "{columns}: {width}\n{text}");
    }
    // Messages, too.
    let Some(text) = in_terminal(&desk, 60, "occupancy --cc 8.6 --threads 1024 --regs 72") else { return };
    let message = &text[text.find("error: ").unwrap()..];
    assert!(message.lines().count() >= 4 && longest(message).0 <= 60, "{message}");
}

#[cfg(unix)]
#[test]
fn long_products_and_launches_show_how_far_they_are() {
    let desk = Desk::new();
    let row = (0..1100).map(|j| (j % 7).to_string()).collect::<Vec<_>>().join(",") + "\n";
    desk.put("square.csv", &row.repeat(1100));
    for (line, part) in [
        ("mul square.csv square.csv -s max-min --dtype f64 --backend reference -o c.npy", " %, "),
        ("explain naive --arg M=512 --arg N=512 --arg K=512 --max-time 4", "million warp instructions"),
    ] {
        let Some(text) = in_terminal(&desk, 100, line) else { return };
        assert!(text.contains(part), "{line}: {text}");
    }
}
