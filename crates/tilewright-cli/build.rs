//! Puts the emulated driver's library into the command, where `TILEWRIGHT_EMBED_LIBCUDA` names it: cargo installs no shared libraries.

use std::{env, fs, io, path::PathBuf};

const VARIABLE: &str = "TILEWRIGHT_EMBED_LIBCUDA";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let text = match env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        None => "None".to_owned(),
        Some(path) => {
            let path = fs::canonicalize(path)?;
            println!("cargo::rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({path:?}))")
        }
    };
    let directory = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(directory.join("libcuda.rs"), text)
}
