//! Where the driver, the compiler, and the tools are: an ordered list of rules, so that the answer can be explained.
//!
//! 1. The variable of the component, `TILEWRIGHT_NVRTC_PATH` and its like. A path that a person names is used or refused, never
//!    passed over for another one; `none` means that there is none.
//! 2. A library that the process has loaded already: two copies of one would not know of each other.
//! 3. Python packages (`nvidia/cu13/lib`) of the active virtual environment and of the first interpreter on the path.
//! 4. The conda environment, `CONDA_PREFIX`.
//! 5. The system: the dynamic loader's own path, or `PATH` for tools.
//! 6. `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`.
//! 7. A copy that another Python package brings (Triton, for the tools): often an older one.
//! 8. Python packages again, in the directories that the interpreter names when it is run.
//!
//! Variables name directories by their whole path; relative ones, and empty or relative entries of `PATH`, are passed over: whoever may write to the
//! current directory would choose the code that is loaded. Only the component's own variable, which names a file on purpose, may be relative.
//!
//! The driver's library belongs to the system; only rules 1, 2 and 5 apply to it.

mod component;
mod environment;
mod memo;
mod python;
mod system;

pub use component::Component;
pub use environment::Environment;
pub use memo::Memo;

use component::{Kind, Spec};
use libloading::Library;
use std::fmt;
use std::path::{Path, PathBuf};
use tilewright_core::{Error, ErrorKind};

/// The rule by which a component was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Named by this environment variable.
    Variable(&'static str),
    /// The process had loaded it before.
    AlreadyLoaded,
    /// In a package of the active Python environment.
    PythonPackage,
    /// In the active conda environment.
    Conda,
    /// On the path of the dynamic loader, or on `PATH` for a tool.
    System,
    /// In a CUDA toolkit: `CUDA_HOME`, `CUDA_PATH` or `/usr/local/cuda`.
    Toolkit,
    /// In a package of the Python interpreter, which was run and asked.
    AskedPython,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Variable(name) => name,
            Self::AlreadyLoaded => "already loaded",
            Self::PythonPackage => "Python package",
            Self::Conda => "conda",
            Self::System => "system path",
            Self::Toolkit => "CUDA toolkit",
            Self::AskedPython => "Python package, by asking the interpreter",
        })
    }
}

/// Where a component is, and why there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file. A bare file name where the dynamic loader found it and does not say where.
    pub path: PathBuf,
    /// The rule that led to it.
    pub rule: Rule,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.rule)
    }
}

/// A library that stays loaded until the process ends: CUDA's libraries do not survive being unloaded.
pub struct Loaded {
    /// The library.
    pub library: &'static Library,
    /// Where it was found.
    pub location: Location,
}

/// Finds a library and loads it.
///
/// # Errors
/// `unavailable`, with everything that was tried.
pub fn library(component: Component, environment: &Environment) -> Result<Loaded, Error> {
    let spec = component.spec();
    let mut failures = Vec::new();
    if let Some(candidate) = named(spec, environment)? {
        return attempt(candidate, &mut failures).ok_or_else(|| absent(spec, failures));
    }
    let mut first = |candidates: Vec<Location>| {
        candidates.into_iter().find_map(|candidate| attempt(candidate, &mut failures))
    };
    let found = already_loaded(spec)
        .next()
        .or_else(|| first(candidates(spec, environment)))
        .or_else(|| first(asked(spec, environment)));
    found.ok_or_else(|| absent(spec, failures))
}

/// Finds all libraries of this name, each in the place where it is found first, and loads them; the first is that of [`library`]. For those who cannot use
/// every version.
///
/// # Errors
/// As [`library`].
pub(crate) fn libraries(component: Component, environment: &Environment) -> Result<Vec<Loaded>, Error> {
    let spec = component.spec();
    if named(spec, environment)?.is_some() {
        // It is used or refused, never passed over.
        return Ok(vec![library(component, environment)?]);
    }
    let mut failures = Vec::new();
    let mut found: Vec<Loaded> = already_loaded(spec).collect();
    for candidate in candidates(spec, environment).into_iter().chain(asked(spec, environment)) {
        if !found.iter().any(|other| same_file(&other.location.path, &candidate.path)) {
            found.extend(attempt(candidate, &mut failures));
        }
    }
    // A bare name leads to a file that may have been found before.
    let mut seen: Vec<PathBuf> = Vec::new();
    found.retain(|one| {
        let is_new = !seen.iter().any(|path| same_file(path, &one.location.path));
        seen.push(one.location.path.clone());
        is_new
    });
    if found.is_empty() { Err(absent(spec, failures)) } else { Ok(found) }
}

fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

fn attempt(candidate: Location, failures: &mut Vec<String>) -> Option<Loaded> {
    match system::open(&candidate.path) {
        Ok(library) => {
            let path = system::path_of(&candidate.path).unwrap_or(candidate.path);
            Some(Loaded {
                library: Box::leak(Box::new(library)),
                location: Location { path, rule: candidate.rule },
            })
        }
        Err(failure) => {
            failures.push(failure);
            None
        }
    }
}

/// Rule 2.
fn already_loaded(spec: &Spec) -> impl Iterator<Item = Loaded> {
    let loaded = spec.files.iter().filter_map(|file| Some((system::already_loaded(file)?, *file)));
    loaded.map(|(library, file)| {
        let path = system::path_of(Path::new(file)).unwrap_or_else(|| PathBuf::from(file));
        Loaded {
            library: Box::leak(Box::new(library)),
            location: Location { path, rule: Rule::AlreadyLoaded },
        }
    })
}

/// Finds a tool.
///
/// # Errors
/// `unavailable`, with what to install.
pub(crate) fn tool(component: Component, environment: &Environment) -> Result<Location, Error> {
    let spec = component.spec();
    if let Some(candidate) = named(spec, environment)? {
        return Ok(candidate);
    }
    let found = candidates(spec, environment).into_iter().next();
    let found = found.or_else(|| asked(spec, environment).into_iter().next());
    found.ok_or_else(|| absent(spec, Vec::new()))
}

/// The value of a component's variable that switches it off.
const NONE: &str = "none";

/// The file that the component's variable names.
fn named(spec: &Spec, environment: &Environment) -> Result<Option<Location>, Error> {
    let Some(value) = environment.path(spec.variable) else { return Ok(None) };
    if value == Path::new(NONE) {
        return Err(absent(spec, vec![format!("{}={NONE} says so", spec.variable)]));
    }
    let file = if value.is_dir() {
        spec.files.iter().map(|file| value.join(file)).find(|file| file.is_file())
    } else {
        Some(value.to_owned())
    };
    match file.filter(|file| file.is_file()) {
        Some(path) => Ok(Some(Location { path, rule: Rule::Variable(spec.variable) })),
        None => Err(ErrorKind::Environment {
            name: spec.variable,
            value: value.display().to_string(),
            expected: format!("a file, or a directory with {}", spec.files.join(" or ")),
        }
        .into()),
    }
}

/// Rules 3 to 7, in order: files that exist, and for libraries the bare names that the dynamic loader resolves.
fn candidates(spec: &Spec, environment: &Environment) -> Vec<Location> {
    let mut candidates = Vec::new();
    let of_system = spec.wheels.is_empty();
    let packages = if of_system { Vec::new() } else { python::package_directories(environment) };
    add_files(&mut candidates, spec, Rule::PythonPackage, inside(&packages, spec.wheels));
    if !of_system {
        add_files(&mut candidates, spec, Rule::Conda, under(spec, environment.directory("CONDA_PREFIX")));
    }
    match spec.kind {
        Kind::Tool => add_files(&mut candidates, spec, Rule::System, environment.program_directories()),
        Kind::Library => {
            let names =
                spec.files.iter().map(|file| Location { path: PathBuf::from(file), rule: Rule::System });
            candidates.extend(names);
            // Where the Windows Subsystem for Linux keeps the driver, and not always tells the loader.
            add_files(&mut candidates, spec, Rule::System, vec![PathBuf::from("/usr/lib/wsl/lib")]);
        }
    }
    if !of_system {
        let homes = ["CUDA_HOME", "CUDA_PATH"].map(|name| environment.directory(name));
        for home in homes.into_iter().chain([Some(Path::new("/usr/local/cuda"))]) {
            add_files(&mut candidates, spec, Rule::Toolkit, under(spec, home));
        }
    }
    add_files(&mut candidates, spec, Rule::PythonPackage, inside(&packages, spec.copies));
    candidates
}

/// Rule 8.
fn asked(spec: &Spec, environment: &Environment) -> Vec<Location> {
    let mut candidates = Vec::new();
    if !spec.wheels.is_empty() {
        let packages = python::ask_interpreter(environment);
        for places in [spec.wheels, spec.copies] {
            add_files(&mut candidates, spec, Rule::AskedPython, inside(&packages, places));
        }
    }
    candidates
}

fn add_files(candidates: &mut Vec<Location>, spec: &Spec, rule: Rule, directories: Vec<PathBuf>) {
    let files = directories.iter().flat_map(|directory| spec.files.iter().map(|file| directory.join(file)));
    candidates.extend(files.filter(|file| file.is_file()).map(|path| Location { path, rule }));
}

fn inside(packages: &[PathBuf], places: &[&str]) -> Vec<PathBuf> {
    packages.iter().flat_map(|package| places.iter().map(|place| package.join(place))).collect()
}

/// The directories of a toolkit or conda environment that hold this kind of file.
fn under(spec: &Spec, prefix: Option<&Path>) -> Vec<PathBuf> {
    let directories: &[&str] = match spec.kind {
        Kind::Library => {
            &["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin/x64", "bin"]
        }
        Kind::Tool => &["bin"],
    };
    prefix.map(|prefix| directories.iter().map(|name| prefix.join(name)).collect()).unwrap_or_default()
}

/// Loads a library that `library` will ask for by its bare name, if it lies in the same directory: the dynamic loader does not look
/// there, but knows it once it is loaded.
pub(crate) fn load_companion(library: &Location, file: &str) {
    let companion = library.path.with_file_name(file);
    if companion.is_absolute()
        && companion.is_file()
        && let Ok(companion) = system::open(&companion)
    {
        // It stays loaded, as the library that needs it.
        std::mem::forget(companion);
    }
}

/// Where the headers that belong to a library lie, those of CCCL among them: `include` beside its directory, in toolkits as in Python packages; beside the
/// packages of CUDA 12, where each has its own; otherwise in a toolkit.
pub(crate) fn include_directories(library: &Location, environment: &Environment) -> Vec<PathBuf> {
    let beside = library.path.ancestors().skip(1).take(3).map(|directory| directory.join("include"));
    let packages = library.path.ancestors().nth(3).into_iter().flat_map(|packages| {
        ["cuda_runtime", "cuda_nvcc", "cuda_cccl"].map(|name| packages.join(name).join("include"))
    });
    let homes = ["CUDA_HOME", "CUDA_PATH"].map(|name| environment.directory(name));
    let homes =
        homes.into_iter().flatten().chain([Path::new("/usr/local/cuda")]).map(|home| home.join("include"));
    let mut found: Vec<PathBuf> = beside.filter(|include| include.join("cuda.h").is_file()).take(1).collect();
    if found.is_empty() {
        found = packages.filter(|include| include.is_dir()).collect();
    }
    if found.is_empty() {
        found = homes.filter(|include| include.join("cuda.h").is_file()).take(1).collect();
    }
    let cccl: Vec<PathBuf> = found.iter().map(|include| include.join("cccl")).collect();
    found.extend(cccl.into_iter().filter(|include| include.is_dir()));
    found
}

/// A library that was found and lacks a function: another version, or another library of the same name.
pub fn incomplete(component: Component, location: &Location, function: &str) -> Error {
    let why = format!("{location} has no function {function}");
    let hint = format!("name another one in {}", component.variable());
    ErrorKind::Unavailable { what: component.name(), why, hint: hint.into() }.into()
}

fn absent(spec: &Spec, failures: Vec<String>) -> Error {
    let why = match (failures.is_empty(), &spec.kind) {
        (true, Kind::Tool) => {
            "it is in no Python package, conda environment, directory of PATH or CUDA toolkit".into()
        }
        (true, Kind::Library) => format!("{} was found nowhere", spec.files.join(" or ")),
        (false, _) => failures.join("; "),
    };
    ErrorKind::Unavailable { what: spec.name, why, hint: spec.hint.into() }.into()
}

#[cfg(test)]
mod tests;
