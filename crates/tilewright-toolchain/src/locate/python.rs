//! Where Python packages are installed, without and with running Python.

use super::environment::Environment;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const INTERPRETERS: [&str; 2] = ["python3", "python"];

/// The package directories of the active virtual environment and of the first interpreter on the path, as far as the layout of
/// the file system tells.
pub(super) fn package_directories(environment: &Environment) -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> =
        environment.directory("VIRTUAL_ENV").map(Path::to_owned).into_iter().collect();
    if let Some(interpreter) = interpreter(environment) {
        prefixes.extend(prefix(&interpreter));
        // A link without an environment of its own leads to the interpreter that it stands for.
        prefixes.extend(interpreter.canonicalize().ok().as_deref().and_then(prefix));
    }
    prefixes.extend(environment.directory("HOME").map(|home| home.join(".local")));
    let mut directories: Vec<PathBuf> = prefixes.iter().flat_map(|prefix| packages_under(prefix)).collect();
    let mut seen = std::collections::BTreeSet::new();
    directories.retain(|directory| seen.insert(directory.clone()));
    directories
}

/// An interpreter that takes longer has no answer: a shim may wait for a network, or for a person.
const PATIENCE: Duration = Duration::from_secs(5);

/// The package directories that the interpreter itself names. It is a program that runs, some 50 ms long: the last resort, for
/// interpreters behind shims and other unusual installations. Each is asked once.
pub(super) fn ask_interpreter(environment: &Environment) -> Vec<PathBuf> {
    static ANSWERS: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());
    let Some(interpreter) = interpreter(environment) else { return Vec::new() };
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let ask = || ask(&interpreter, PATIENCE).unwrap_or_default();
    let named = answers.entry(interpreter.clone()).or_insert_with(ask);
    named.iter().filter(|path| path.is_dir()).cloned().collect()
}

/// The absolute paths that the interpreter prints, if it ends well and in time.
fn ask(interpreter: &Path, patience: Duration) -> Option<Vec<PathBuf>> {
    let deadline = Instant::now() + patience;
    let mut child = Command::new(interpreter)
        .args(["-c", "import sys; print(*sys.path, sep='\\n')"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // A thread reads, so that the wait below can end: a grandchild may hold the pipe open.
    let mut stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.read_to_end(&mut text);
        sender.send(read.map(|_| text))
    });
    let text = receiver.recv_timeout(patience);
    // It has closed its output, so that it is about to end.
    let mut status = child.try_wait();
    while matches!(status, Ok(None)) && text.is_ok() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
        status = child.try_wait();
    }
    if matches!(status, Ok(None)) {
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = text.ok()?.ok()?;
    let paths = String::from_utf8_lossy(&text).lines().map(PathBuf::from).collect::<Vec<_>>();
    let ended_well = status.ok()??.success();
    ended_well.then(|| paths.into_iter().filter(|path| path.is_absolute()).collect())
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn shim(directory: &Path, text: &str) -> PathBuf {
        let path = directory.join("python3");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
        path
    }

    #[test]
    fn an_interpreter_that_hangs_is_given_up() {
        let directory = tempfile::tempdir().expect("a directory");
        // It hangs itself; a child of it keeps the pipe; the output is closed and the program stays.
        for hang in ["echo /usr; exec sleep 60", "echo /usr; sleep 60", "echo /usr; exec >&-; exec sleep 60"]
        {
            let began = Instant::now();
            assert_eq!(ask(&shim(directory.path(), hang), Duration::from_millis(200)), None, "{hang}");
            assert!(began.elapsed() < Duration::from_secs(20), "{hang}: {:?}", began.elapsed());
        }
    }

    #[test]
    fn what_an_interpreter_says_counts_if_it_ends_well() {
        let directory = tempfile::tempdir().expect("a directory");
        let ask = |text: &str| ask(&shim(directory.path(), text), Duration::from_secs(60));
        assert_eq!(ask("echo; echo relative; echo /usr"), Some(vec![PathBuf::from("/usr")]));
        assert_eq!(ask("echo /usr; exit 1"), None);
        // More than a pipe holds.
        let long = ask("i=0; while [ $i -lt 20000 ]; do echo /usr/$i; i=$((i+1)); done");
        assert_eq!(long.map(|paths| paths.len()), Some(20_000));
    }

    #[test]
    fn an_interpreter_is_asked_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let count = directory.path().join("count");
        shim(directory.path(), &format!("echo x >> '{}'; echo /usr", count.display()));
        let environment = Environment::of([("PATH", directory.path())]);
        for _ in 0..3 {
            assert_eq!(ask_interpreter(&environment), [PathBuf::from("/usr")]);
        }
        assert_eq!(std::fs::read_to_string(count).expect("asked"), "x\n");
    }
}
