//! Compilers on this machine, and texts that need none.

use super::*;

#[test]
fn builds_of_a_version_are_told_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let version = NvrtcVersion { major: 13, minor: 0 };
    let build = |bytes: &[u8], version| {
        let library = directory.path().join("libnvrtc.so.13");
        std::fs::write(&library, bytes).expect("written");
        NvrtcBuild::of(&library, version).expect("read")
    };
    let one = build(b"ELF build 88", version);
    assert_eq!(one, build(b"ELF build 88", version));
    assert_ne!(one, build(b"ELF build 89", version));
    assert_ne!(one, build(b"ELF build 88 ", version));
    assert_ne!(one, build(b"ELF build 88", NvrtcVersion { minor: 1, ..version }));
    assert!(NvrtcBuild::of(Path::new("libnvrtc.so.13"), version).is_err());
}
/// The one that an engine takes makes code for its device, if any does; otherwise it is the first, whose fault can be told.
#[test]
fn the_compiler_for_a_device_makes_code_for_it() {
    let Ok(first) = Nvrtc::find() else { return };
    let all = Nvrtc::all().expect("one at least");
    for (driver, capability) in [((13, 0), (9, 0)), ((12, 0), (9, 0)), ((13, 0), (5, 0)), ((1, 0), (9, 0))] {
        let driver = crate::DriverVersion::new(driver.0, driver.1);
        let device = tilewright_arch::ComputeCapability::new(capability.0, capability.1);
        let taken = Nvrtc::for_device(driver, device).expect("as found");
        let makes = |one: &Nvrtc| {
            let knows = one.architectures().is_ok_and(|known| known.iter().any(|&n| n <= device.number()));
            one.version().major <= driver.major() && knows
        };
        let path = &taken.location().path;
        assert!(makes(&taken) || !all.iter().any(makes) && *path == first.location().path, "{driver:?}");
    }
}

/// Where several versions are installed, each compiles, beside the others.
#[test]
fn the_compiler_that_is_found_is_the_first_of_all() {
    let Ok(first) = Nvrtc::find() else { return };
    let all = Nvrtc::all().expect("one at least");
    assert_eq!(all[0].location().path, first.location().path);
    let text = "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }";
    let source = Source { name: "twice.cu", text, headers: &[] };
    for one in all {
        let architecture = one.nearest(ComputeCapability::new(9, 0)).expect("it says");
        let compiled = one.compile(&source, architecture, Output::Cubin, DEFAULT_OPTIONS);
        assert!(!compiled.expect("compiles").image.is_empty());
        eprintln!("NVRTC {} at {}", one.version(), one.location());
    }
}
