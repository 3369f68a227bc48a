//! Whether what is needed is free.

use crate::{args::Common, bytes::size, failure::Failure, terminal};
use tilewright::ErrorKind;

/// From so many bytes on it is said beforehand what is needed.
const MUCH: u64 = 1 << 30;

/// Says what is needed if that is much, and refuses more than is free.
pub fn check(common: &Common, bytes: u64) -> Result<(), Failure> {
    let free = free();
    if bytes >= MUCH || common.verbose {
        let free = free.map_or_else(String::new, |free| format!(", {} are free", size(free)));
        terminal::note(common, "memory", &format!("{} are needed{free}", size(bytes)));
    }
    match free {
        Some(free) if bytes > free => {
            Err(tilewright::Error::from(ErrorKind::OutOfMemory { what: "all best paths", bytes }).into())
        }
        _ => Ok(()),
    }
}

/// Bytes that can be taken without swapping, where the system tells.
fn free() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
