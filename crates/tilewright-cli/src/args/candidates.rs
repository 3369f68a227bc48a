//! What an option's value may be completed to: names of the tables beside files.

use clap_complete::{ArgValueCompleter, CompletionCandidate, PathCompleter, engine::ValueCompleter};
use std::ffi::OsStr;
use tilewright_arch::{Device, Limits};
use tilewright_kernels::kernels as catalogue;

/// GPUs by names without blanks.
pub fn gpus() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        starting_with(current, Device::all().map(|device| (short_name(device.name), device.name)))
    })
}

/// Compute capabilities.
pub fn capabilities() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        starting_with(current, Limits::ALL.iter().map(|limits| (limits.compute_capability.to_string(), "")))
    })
}

/// Kernels of the catalogue.
pub fn kernels() -> ArgValueCompleter {
    ArgValueCompleter::new(named_kernels)
}

/// Kernels of the catalogue, and files.
pub fn kernels_and_files() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let files = PathCompleter::file().complete(current);
        named_kernels(current).into_iter().chain(files).collect::<Vec<_>>()
    })
}

fn named_kernels(current: &OsStr) -> Vec<CompletionCandidate> {
    starting_with(current, catalogue().iter().map(|kernel| (kernel.name.to_owned(), kernel.summary)))
}

fn starting_with<'a>(
    current: &OsStr,
    names: impl Iterator<Item = (String, &'a str)>,
) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    names
        .filter(|(name, _)| name.starts_with(&current.to_lowercase()))
        .map(|(name, about)| {
            let about = (!about.is_empty()).then(|| about.to_owned().into());
            CompletionCandidate::new(name).help(about)
        })
        .collect()
}

/// Words that say nothing beside the number.
const BRANDS: [&str; 3] = ["geforce ", "quadro ", "tesla "];

/// `rtx-4090` for GeForce RTX 4090: a name that needs no quotes, and that is found.
fn short_name(name: &str) -> String {
    let lower = name.to_lowercase();
    let core = BRANDS.iter().find_map(|brand| lower.strip_prefix(brand)).unwrap_or(&lower);
    let is_found = |short: &str| Device::find(short).is_ok_and(|device| device.name == name);
    let short = core.replace(' ', "-");
    if is_found(&short) { short } else { lower.replace(' ', "-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_name_is_found_and_needs_no_quotes() {
        for device in Device::all() {
            let short = short_name(device.name);
            assert_eq!(Device::find(&short).unwrap().name, device.name, "{short}");
            assert!(short.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{short}");
        }
    }
}
