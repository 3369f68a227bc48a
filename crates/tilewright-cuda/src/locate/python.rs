//! Where Python packages are installed, without and with running Python.

use super::environment::Environment;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const INTERPRETERS: [&str; 2] = ["python3", "python"];

/// The package directories of the active virtual environment and of the first interpreter on the path, as far as the layout of
/// the file system tells.
pub(super) fn package_directories(environment: &Environment) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> =
        environment.path("VIRTUAL_ENV").map(Path::to_owned).into_iter().collect();
    if let Some(interpreter) = interpreter(environment) {
        prefixes.extend(prefix(&interpreter));
        // A link without an environment of its own leads to the interpreter that it stands for.
        prefixes.extend(interpreter.canonicalize().ok().as_deref().and_then(prefix));
    }
    prefixes.extend(environment.path("HOME").map(|home| home.join(".local")));
    let mut directories: Vec<PathBuf> = prefixes.iter().flat_map(|prefix| packages_under(prefix)).collect();
    let mut seen = std::collections::BTreeSet::new();
    directories.retain(|directory| seen.insert(directory.clone()));
    directories
}

/// The package directories that the interpreter itself names. It is a program that runs, some 50 ms long: the last resort, for
/// interpreters behind shims and other unusual installations.
pub(super) fn ask_interpreter(environment: &Environment) -> Vec<PathBuf> {
    let Some(interpreter) = interpreter(environment) else { return Vec::new() };
    let answer = Command::new(interpreter)
        .args(["-c", "import sys; print(*sys.path, sep='\\n')"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match answer {
        Ok(answer) if answer.status.success() => String::from_utf8_lossy(&answer.stdout)
            .lines()
            .map(PathBuf::from)
            .filter(|path| path.is_absolute() && path.is_dir())
            .collect(),
        _ => Vec::new(),
    }
}

fn interpreter(environment: &Environment) -> Option<PathBuf> {
    let directories = environment.program_directories();
    INTERPRETERS
        .iter()
        .find_map(|name| directories.iter().map(|directory| directory.join(name)).find(|file| file.is_file()))
}

/// `PREFIX` of `PREFIX/bin/python3`.
fn prefix(interpreter: &Path) -> Option<PathBuf> {
    Some(interpreter.parent()?.parent()?.to_owned())
}

/// `PREFIX/lib/python3.12/site-packages` and its like; Debian says `dist-packages`, Windows `Lib/site-packages`.
fn packages_under(prefix: &Path) -> Vec<PathBuf> {
    let mut directories = vec![prefix.join("Lib").join("site-packages")];
    for library in ["lib", "lib64", "local/lib"] {
        let Ok(entries) = prefix.join(library).read_dir() else { continue };
        let mut versions: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
            .map(|entry| entry.path())
            .collect();
        versions.sort();
        // The highest version first.
        directories.extend(
            versions
                .iter()
                .rev()
                .flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.join(name))),
        );
    }
    directories.retain(|directory| directory.is_dir());
    directories
}
