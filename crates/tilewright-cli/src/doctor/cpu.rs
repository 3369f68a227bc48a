//! What the operating system says about the processor.

use serde::Serialize;
use std::{fs, path::Path};

/// One cache of the first core.
#[derive(Debug, PartialEq, Serialize)]
pub struct Cache {
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    pub bytes: u64,
}

/// The processor's name, where it can be found out.
pub fn name() -> Option<String> {
    let found = if cfg!(target_os = "macos") {
        let brand = std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output();
        String::from_utf8(brand.ok()?.stdout).ok()?
    } else if cfg!(windows) {
        std::env::var("PROCESSOR_IDENTIFIER").ok()?
    } else {
        model_name(&fs::read_to_string("/proc/cpuinfo").ok()?)?
    };
    let name = found.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

fn model_name(cpuinfo: &str) -> Option<String> {
    cpuinfo.lines().filter_map(|line| line.split_once(':')).find_map(|(key, value)| {
        matches!(key.trim(), "model name" | "Model" | "cpu model").then(|| value.trim().to_owned())
    })
}

/// Threads that can run at once.
pub fn cores() -> Option<usize> {
    std::thread::available_parallelism().ok().map(Into::into)
}

/// The caches of the first core, where Linux describes them.
pub fn caches() -> Vec<Cache> {
    caches_in(Path::new("/sys/devices/system/cpu/cpu0/cache"))
}

fn caches_in(directory: &Path) -> Vec<Cache> {
    let cache = |index: usize| {
        let directory = directory.join(format!("index{index}"));
        let field = |name: &str| Some(fs::read_to_string(directory.join(name)).ok()?.trim().to_owned());
        Some(Cache {
            level: field("level")?.parse().ok()?,
            kind: field("type")?.to_lowercase(),
            bytes: bytes(&field("size")?)?,
        })
    };
    (0..16).map_while(cache).collect()
}

/// `48K`, `2M` or plain bytes.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_of_linux_are_understood() {
        assert_eq!(model_name("processor\t: 0\nmodel name\t: Fast 9000\n"), Some("Fast 9000".into()));
        assert_eq!(
            [bytes("48K"), bytes("2M"), bytes("64"), bytes("x")],
            [Some(49152), Some(2 << 20), Some(64), None]
        );
        assert!(caches_in(Path::new("/nowhere")).is_empty());
    }
}
