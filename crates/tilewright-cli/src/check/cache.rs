//! Results of cases of which nothing has changed.
//!
//! The key is all that a result depends on, as text. A case of which that is not known (an `#include` of a macro) has none, and is run.

use super::{
    case::{Case, Launch, Origin, Wanted, beside, same_with},
    manifest::Manifest,
    ran::{Found, Ran},
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    fmt::Write,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};
use tilewright::cuda::{Checks, Nvrtc, Ptxas};
use tilewright_explain::{FindingKind, Nature};

/// A change of what is kept changes it.
const FORMAT: &str = "tilewright-check-2";

/// The cache, and what holds for all cases.
pub struct Cache {
    checks: Checks,
    tools: String,
}

impl Cache {
    /// The user's; `None` where there is to be none.
    pub fn of_user() -> Option<Self> {
        Some(Self { checks: Checks::of_user()?, tools: tools()? })
    }

    pub fn load(&self, key: &str) -> Option<Ran> {
        serde_json::from_slice(&self.checks.load(key)?).ok()
    }

    /// Keeps a result. What depends on the speed of this machine, or on tools that the key does not name, is not kept.
    pub fn store(&self, key: &str, ran: &Ran) {
        let mut findings = ran.launches.iter().flat_map(|launch| &launch.findings);
        let ended_early =
            |found: &Found| found.kind == FindingKind::FailedLaunch || found.kind.nature() == Nature::Note;
        if findings.any(ended_early) || ran.lacks_python {
            return;
        }
        if let Ok(text) = serde_json::to_vec(ran) {
            // Without it the case is run again.
            let _ = self.checks.store(key, &text);
        }
    }

    /// All that the result of a case depends on; `None` where that is not known.
    pub fn key(&self, case: &Case<'_>, manifest: &Manifest) -> Option<String> {
        let mut key = self.tools.clone();
        add_case(&mut key, case, manifest, true)?;
        Some(key)
    }
}

/// This program, the compiler, and the assembler.
fn tools() -> Option<String> {
    let program = file_state(&std::env::current_exe().ok()?)?;
    let compiler = match Nvrtc::find() {
        Ok(nvrtc) => format!("{:?} {}", nvrtc.build()?, nvrtc.location().path.display()),
        Err(_) => "none".into(),
    };
    let assembler = match Ptxas::find() {
        Ok(ptxas) => file_state(&ptxas.location().path)?,
        Err(_) => "none".into(),
    };
    Some(format!("{FORMAT}\nprogram {program}\nnvrtc {compiler}\nptxas {assembler}\n"))
}

/// The file's path, length and time.
fn file_state(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("{} {} {changed}", path.display(), metadata.len()))
}

fn add_case(key: &mut String, case: &Case<'_>, manifest: &Manifest, with_expected: bool) -> Option<()> {
    let directory = beside(&manifest.path, "");
    let add = |key: &mut String, what: &str, text: &dyn std::fmt::Debug| {
        // Debug quotes texts, so that none can pass for several. Writing to a string cannot fail.
        let _ = writeln!(key, "{what} {text:?}");
    };
    add(key, "gpu", &(&case.gpu.name, case.gpu.limits.compute_capability.to_string()));
    add(
        key,
        "limits",
        &(case.kernel.max_time, case.kernel.max_steps, case.kernel.schedule, case.kernel.strict),
    );
    add(key, "options", &case.options);
    for launch in &case.launches {
        let Launch { entry, grid, block, cluster, is_cooperative, arguments, .. } = launch;
        let shape = (grid, block, cluster, is_cooperative, launch.dynamic_shared_memory);
        add(key, "launch", &(entry, shape, arguments));
        match &launch.source {
            Origin::File(path) => add(key, "sources", &sources(path, &case.options.include)?),
            Origin::Catalogue(kernel) => add(key, "catalogue", &kernel.name),
        }
        for (_, text) in arguments {
            add(key, "file", &argument_file(text, &directory));
        }
    }
    for (name, text) in &case.arrays {
        add(key, "array", &(name, text, argument_file(text, &directory)));
    }
    if !with_expected {
        return Some(());
    }
    for expect in &case.expect {
        add(key, "expect", &(&expect.array, expect.tolerance));
        match &expect.from {
            Wanted::File(path) => add(key, "expected", &(path, hash_of(path)?)),
            Wanted::Case(reference) => {
                add(key, "expected", &reference.array);
                let other = same_with(manifest, reference.kernel, case).ok()?;
                add_case(key, &other, manifest, false)?;
            }
            Wanted::Python(expression) => add(key, "expected", &(expression, &case.bindings)),
        }
    }
    Some(())
}

/// The hash of the file that an argument names, if it names one. Behind the last colon may stand what is meant of the file.
fn argument_file(text: &str, directory: &Path) -> Option<String> {
    let whole = directory.join(text);
    let part = text.rsplit_once(':').map(|(file, _)| directory.join(file));
    [Some(whole), part].into_iter().flatten().find_map(|path| path.is_file().then(|| hash_of(&path))?)
}

fn hash_of(path: &Path) -> Option<String> {
    Some(hash(&std::fs::read(path).ok()?))
}

/// SHA-256, as hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A source and all files that it includes, with their hashes. Headers that are neither beside the sources nor in `include` are the compiler's, whose build is in every key.
fn sources(path: &Path, include: &[PathBuf]) -> Option<Vec<(PathBuf, String)>> {
    let (mut found, mut left, mut seen) = (Vec::new(), vec![path.to_owned()], BTreeSet::new());
    let first = path.parent()?.to_owned();
    while let Some(path) = left.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let bytes = std::fs::read(&path).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        for name in included(&text) {
            let name = name?;
            let directories =
                [path.parent()?, &first].into_iter().chain(include.iter().map(PathBuf::as_path));
            let mut candidates = directories.map(|directory| directory.join(name));
            left.extend(candidates.find(|candidate| candidate.is_file()));
        }
        found.push((path, hash(&bytes)));
    }
    found.sort();
    Some(found)
}

/// What a text includes; `None` for a name that only the preprocessor knows.
fn included(text: &str) -> impl Iterator<Item = Option<&str>> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let name = directive.strip_prefix("include")?.trim_start();
        let inner = |open: char, close: char| name.strip_prefix(open)?.split_once(close).map(|found| found.0);
        Some(inner('"', '"').or_else(|| inner('<', '>')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_belong_to_their_source() {
        let directory = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        let include = [directory.path().join("headers")];
        let of = |name: &str| sources(&directory.path().join(name), &include);
        put("a.cu", "#include \"b.cuh\"\n # include <cstdio>\n");
        put("b.cuh", "#include <c.cuh>\n#include \"b.cuh\"\n");
        std::fs::create_dir(&include[0]).unwrap();
        put("headers/c.cuh", "int one;\n");
        let before = of("a.cu").unwrap();
        assert_eq!(before.len(), 3);
        assert_eq!(of("a.cu").unwrap(), before);
        put("headers/c.cuh", "int two;\n");
        assert_ne!(of("a.cu").unwrap(), before);
        put("d.cu", "#include HEADER\n");
        assert_eq!(of("d.cu"), None);
        assert_eq!(of("none.cu"), None);
    }
}
