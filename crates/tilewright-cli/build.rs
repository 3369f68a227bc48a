//! Builds the emulated driver's library into the command, where the feature `embed-libcuda` asks for it: cargo installs no shared libraries.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// A library that is built already.
const VARIABLE: &str = "TILEWRIGHT_EMBED_LIBCUDA";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    let directory = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let library = match (named, env::var_os("CARGO_FEATURE_EMBED_LIBCUDA")) {
        (Some(path), _) => Some(fs::canonicalize(path)?),
        (None, Some(_)) => Some(built(&directory.join("libcuda"))?),
        (None, None) => None,
    };
    let text = match library {
        None => "None".to_owned(),
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            format!("Some(include_bytes!({path:?}))")
        }
    };
    fs::write(directory.join("libcuda.rs"), text)
}

/// The library of the crate beside this one, built in a directory of its own: that of this build is locked.
fn built(directory: &Path) -> io::Result<PathBuf> {
    let crates =
        env::var_os("CARGO_MANIFEST_DIR").map(|path| PathBuf::from(path).join("..")).unwrap_or_default();
    let manifest = crates.join("tilewright-libcuda/Cargo.toml");
    println!("cargo::rerun-if-changed={}", crates.display());
    if !manifest.exists() {
        return Err(io::Error::other(format!(
            "the feature embed-libcuda needs a clone of the project: {} is not there. {VARIABLE} names a library that is built already",
            manifest.display()
        )));
    }
    let target = env::var("TARGET").unwrap_or_default();
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--lib", "--target", &target])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(directory)
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!("tilewright-libcuda does not build: {status}")));
    }
    Ok(directory.join(target).join("release/libtilewright_libcuda.so"))
}
