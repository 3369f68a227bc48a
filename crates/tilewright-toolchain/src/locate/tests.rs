//! The order of the rules, in directories made for the purpose.

use super::*;
use std::fs;
use tempfile::TempDir;

fn directory() -> TempDir {
    tempfile::tempdir().expect("temporary directory")
}

fn file(path: &Path) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, "").expect("file");
    path.to_owned()
}

const WHEEL: &str = "lib/python3.12/site-packages/nvidia/cu13/bin/ptxas";

#[test]
fn a_tool_is_found_by_the_first_rule_that_has_it() {
    let root = directory();
    let (venv, conda, bin, cuda) = (
        root.path().join("venv"),
        root.path().join("conda"),
        root.path().join("bin"),
        root.path().join("cuda"),
    );
    let variables =
        [("VIRTUAL_ENV", venv.as_path()), ("CONDA_PREFIX", &conda), ("PATH", &bin), ("CUDA_HOME", &cuda)];
    let environment = Environment::of(variables);
    // From the last rule to the first: each new file takes over.
    let copy = venv.join("lib/python3.12/site-packages/triton/backends/nvidia/bin/ptxas");
    for (path, rule) in [
        (copy, Rule::PythonPackage),
        (cuda.join("bin/ptxas"), Rule::Toolkit),
        (bin.join("ptxas"), Rule::System),
        (conda.join("bin/ptxas"), Rule::Conda),
        (venv.join(WHEEL), Rule::PythonPackage),
    ] {
        let path = file(&path);
        let found = tool(Component::Ptxas, &environment).expect("found");
        // A toolkit in its usual place comes before the copy.
        if found.path.strip_prefix("/usr/local/cuda").is_err() {
            assert_eq!(found, Location { path, rule });
        }
    }
}

#[test]
fn the_variable_wins_and_may_name_a_directory() {
    let root = directory();
    let (bin, own) = (root.path().join("bin"), root.path().join("own"));
    file(&bin.join("ptxas"));
    let path = file(&own.join("ptxas"));
    let rule = Rule::Variable("TILEWRIGHT_PTXAS_PATH");
    for value in [&path, &own] {
        let environment = Environment::of([("PATH", bin.as_path()), ("TILEWRIGHT_PTXAS_PATH", value)]);
        assert_eq!(
            tool(Component::Ptxas, &environment).expect("found"),
            Location { path: path.clone(), rule }
        );
    }
}

#[test]
fn a_variable_that_names_nothing_is_an_error_and_not_passed_over() {
    let root = directory();
    file(&root.path().join("ptxas"));
    for name in ["missing", ""] {
        let value = root.path().join(name).join("missing");
        let environment =
            Environment::of([("PATH", root.path()), ("TILEWRIGHT_PTXAS_PATH", value.as_path())]);
        let error = tool(Component::Ptxas, &environment).expect_err("no such file");
        assert_eq!(error.code(), "environment");
        assert!(error.to_string().contains("TILEWRIGHT_PTXAS_PATH"), "{error}");
    }
}

#[test]
fn a_component_can_be_switched_off() {
    let root = directory();
    file(&root.path().join("ptxas"));
    let environment = Environment::of([("PATH", root.path()), ("TILEWRIGHT_PTXAS_PATH", Path::new("none"))]);
    let error = tool(Component::Ptxas, &environment).expect_err("switched off");
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("TILEWRIGHT_PTXAS_PATH=none says so"), "{error}");
    let environment = Environment::of([("TILEWRIGHT_NVRTC_PATH", Path::new("none"))]);
    assert!(library(Component::Nvrtc, &environment).err().expect("switched off").is_unavailable());
}

#[cfg(unix)]
#[test]
fn a_named_file_that_is_no_library_is_refused_with_its_path() {
    let root = directory();
    let path = file(&root.path().join("libnvrtc.so.13"));
    let environment = Environment::of([("TILEWRIGHT_NVRTC_PATH", root.path())]);
    let error = library(Component::Nvrtc, &environment).err().expect("an empty file");
    assert!(error.is_unavailable());
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert!(error.hint().expect("a hint").contains("pip install"));
}

/// A library that this process has loaded, under another name: any will do where nothing is called.
#[cfg(target_os = "linux")]
fn library_file(path: &Path) -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").expect("a memory map");
    let is_library = |path: &&str| path.contains("/libm.so") || path.contains("/libgcc_s.so");
    let library = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..])).find(is_library);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::copy(library.expect("loaded"), path).expect("copied");
    path.to_owned()
}

/// The one that is found first may be too new for the driver; then the others count.
#[cfg(target_os = "linux")]
#[test]
fn all_libraries_of_a_name_are_found_once_and_in_order() {
    let root = directory();
    let (venv, conda, cuda) = (root.path().join("venv"), root.path().join("conda"), root.path().join("cuda"));
    let packages = venv.join("lib/python3.12/site-packages/nvidia");
    let thirteen = library_file(&packages.join("cu13/lib/libnvrtc.so.13"));
    // No library: passed over.
    file(&conda.join("lib/libnvrtc.so.13"));
    let twelve = library_file(&conda.join("lib/libnvrtc.so.12"));
    let older = library_file(&cuda.join("lib64/libnvrtc.so.12"));
    // The same one by another way.
    fs::create_dir_all(packages.join("cuda_nvrtc/lib")).expect("directories");
    std::os::unix::fs::symlink(&twelve, packages.join("cuda_nvrtc/lib/libnvrtc.so.12")).expect("link");
    let variables = [("VIRTUAL_ENV", venv.as_path()), ("CONDA_PREFIX", &conda), ("CUDA_HOME", &cuda)];
    let environment = Environment::of(variables);
    let found = libraries(Component::Nvrtc, &environment).expect("found");
    let real = |path: &Path| path.canonicalize().expect("a file");
    let mine = found.iter().filter(|one| one.location.path.starts_with(root.path()));
    let paths: Vec<PathBuf> = mine.map(|one| real(&one.location.path)).collect();
    assert_eq!(paths, [real(&thirteen), real(&twelve), real(&older)]);
    let first = library(Component::Nvrtc, &environment).expect("found").location;
    assert_eq!(first, found[0].location);
    // A person's choice is the only one.
    let [one, two, three] = variables;
    let environment = Environment::of([one, two, three, ("TILEWRIGHT_NVRTC_PATH", &older)]);
    let named = libraries(Component::Nvrtc, &environment).expect("found");
    assert_eq!(named.iter().map(|one| &one.location.path).collect::<Vec<_>>(), [&older]);
    let nothing = Environment::of([("TILEWRIGHT_NVRTC_PATH", Path::new("none"))]);
    assert!(libraries(Component::Nvrtc, &nothing).err().expect("switched off").is_unavailable());
}

#[test]
fn what_is_nowhere_is_unavailable_with_a_hint() {
    let error = tool(Component::Nvdisasm, &Environment::default());
    // A toolkit in its usual place is found even without an environment.
    if !Path::new("/usr/local/cuda/bin/nvdisasm").exists() {
        let error = error.expect_err("nothing is there");
        assert!(error.is_unavailable() && error.hint().is_some(), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn the_interpreter_on_the_path_leads_to_its_packages_without_being_run() {
    let root = directory();
    let (real, links) = (root.path().join("python"), root.path().join("links"));
    let interpreter = file(&real.join("bin/python3"));
    fs::create_dir_all(&links).expect("directory");
    std::os::unix::fs::symlink(&interpreter, links.join("python3")).expect("link");
    let path = file(&real.join(WHEEL));
    let environment = Environment::of([("PATH", links.as_path())]);
    let found = tool(Component::Ptxas, &environment).expect("found");
    assert_eq!(found.rule, Rule::PythonPackage);
    assert_eq!(found.path, path.canonicalize().expect("path"));
}

#[cfg(unix)]
#[test]
fn an_interpreter_behind_a_shim_is_asked_last() {
    use std::os::unix::fs::PermissionsExt;
    let root = directory();
    let packages = root.path().join("elsewhere");
    let path = file(&packages.join("nvidia/cu13/bin/ptxas"));
    let shim = file(&root.path().join("shims/python3"));
    fs::write(&shim, format!("#!/bin/sh\necho\necho relative\necho '{}'\n", packages.display()))
        .expect("shim");
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("permissions");
    let environment = Environment::of([("PATH", shim.parent().expect("a parent"))]);
    if !Path::new("/usr/local/cuda/bin/ptxas").exists() {
        let found = tool(Component::Ptxas, &environment).expect("found");
        assert_eq!(found, Location { path, rule: Rule::AskedPython });
    }
}

#[test]
fn every_component_has_its_own_variable() {
    let variables: std::collections::BTreeSet<_> = Component::ALL.iter().map(|one| one.variable()).collect();
    assert_eq!(variables.len(), Component::ALL.len());
}

#[test]
fn headers_are_found_beside_the_library() {
    let root = directory();
    let include = root.path().join("include");
    file(&include.join("cuda.h"));
    let library = |path: &str| Location { path: root.path().join(path), rule: Rule::System };
    let nothing = Environment::default();
    let beside = include_directories(&library("lib/libnvrtc.so.13"), &nothing);
    assert_eq!(beside, std::slice::from_ref(&include));
    file(&include.join("cccl/cuda/std/version"));
    let with_cccl = [include.clone(), include.join("cccl")];
    assert_eq!(include_directories(&library("lib/libnvrtc.so.13"), &nothing), with_cccl);
    // Packages of CUDA 12 have folders of their own.
    file(&root.path().join("nvidia/cuda_runtime/include/cuda_runtime.h"));
    let found = include_directories(&library("nvidia/cuda_nvrtc/lib/libnvrtc.so.12"), &nothing);
    assert_eq!(found, [root.path().join("nvidia/cuda_runtime/include")]);
    // A compiler without headers has those of the toolkit.
    let environment = Environment::of([("CUDA_HOME", root.path())]);
    assert_eq!(include_directories(&library("a/b/c/d/libnvrtc.so.12"), &environment), with_cccl);
}

/// Nothing is looked for beside wherever the process happens to run: neither what `PATH` or another variable names there, nor what lies under it.
#[test]
fn relative_directories_are_passed_over() {
    // Tests run in the directory of the crate: the files are there, but only by relative names.
    let here = std::env::current_dir().expect("a directory");
    let root = tempfile::tempdir_in(&here).expect("temporary directory");
    let relative = root.path().strip_prefix(&here).expect("below");
    for name in ["bin/python3", "bin/ptxas", WHEEL] {
        file(&root.path().join(name));
    }
    let (bin, absolute) = (relative.join("bin"), root.path().join("bin"));
    let variables =
        ["VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH", "HOME"].map(|name| (name, relative));
    let [one, two, three, four, five] = variables;
    let environment = Environment::of([one, two, three, four, five, ("PATH", bin.as_path())]);
    assert_eq!(environment.program_directories(), Vec::<PathBuf>::new());
    assert_eq!(python::package_directories(&environment), Vec::<PathBuf>::new());
    for component in [Component::Ptxas, Component::Nvrtc] {
        let found = candidates(component.spec(), &environment);
        let beside = found.iter().find(|one| one.path.starts_with(relative));
        assert_eq!(beside, None, "{component}");
    }
    // An empty entry is the current directory to a shell.
    let path = std::env::join_paths([Path::new(""), &absolute, Path::new("."), &bin]).expect("no separator");
    let environment = Environment::of([("PATH", Path::new(&path))]);
    assert_eq!(environment.program_directories(), [absolute]);
    // A person who names a file has it.
    let named = bin.join("ptxas");
    let environment = Environment::of([("TILEWRIGHT_PTXAS_PATH", named.as_path())]);
    assert_eq!(tool(Component::Ptxas, &environment).expect("named").path, named);
}
