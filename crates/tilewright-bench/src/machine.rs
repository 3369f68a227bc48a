//! What the numbers were measured on and with.

use std::{fs, process::Command, thread};

const LOCK: &str = include_str!("../../../Cargo.lock");

/// The facts, as names and values.
pub fn facts() -> Vec<(&'static str, String)> {
    let cores = thread::available_parallelism().map_or(0, |n| n.get());
    vec![
        ("date", output("date", &["-u", "+%Y-%m-%d"])),
        ("processor", processor()),
        ("cores", cores.to_string()),
        ("instructions used", tilewright::cpu::Isa::choose(None).map_or("?".into(), |isa| isa.to_string())),
        ("load before the run", load()),
        ("compiler", output("rustc", &["--version"])),
        ("Tilewright", env!("CARGO_PKG_VERSION").into()),
        ("gemm", locked("gemm")),
        ("faer", locked("faer")),
        ("matrixmultiply", locked("matrixmultiply")),
        ("tropical-gemm", locked("tropical-gemm")),
    ]
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("?", |(_, value)| value.trim())
    };
    format!(
        "{} (family {}, model {}, stepping {})",
        field("model name"),
        field("cpu family"),
        field("model"),
        field("stepping")
    )
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    done.map_or("?".into(), |done| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// The version of a package in `Cargo.lock`.
fn locked(package: &str) -> String {
    let start = format!("name = \"{package}\"\nversion = \"");
    let version = LOCK.split_once(&start).and_then(|(_, rest)| rest.split_once('"'));
    version.map_or("?".into(), |(version, _)| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_the_lock_file() {
        assert!(locked("faer").starts_with("0.24"));
        assert_eq!(locked("no such package"), "?");
    }
}
