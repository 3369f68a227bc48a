//! Runs on a GPU what `tilewright explain` runs on the emulator: the same PTX, launches and data.
//!
//! ```text
//! replay list                       the kernels of ladder and gallery, each with its entry
//! replay export DIR [KERNEL...]     writes the PTX of each launch: DIR/KERNEL.0.ptx, DIR/KERNEL.1.ptx ...
//! replay run DIR [KERNEL...]        runs DIR/KERNEL.0.cubin ..., assembled from that PTX, and compares with the emulator
//! replay export-list DIR LIST       writes the PTX of the launches in the list: DIR/HASH.ptx (see `list.rs`)
//! replay launch-list DIR LIST N     launches DIR/HASH.cubin, each line N times, and says which launches there were
//! ```
//!
//! `scripts/nsight/run` and `scripts/nsight/bounds` call it under NVIDIA's profiler.

mod list;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tilewright_core::{Error, ErrorKind};
use tilewright_cuda::{CodeArrays, CodeLaunch, Engine};
use tilewright_explain::{Argument, Array, Case, ElementType, Explained, Gpu, Launch, Number, Request};
use tilewright_kernels::{Family, Kernel, kernels};

/// Sums are rounded in another order where an assembler fuses or reorders; a wrong kernel is off by far more.
const TOLERANCE: f64 = 1e-4;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["list"] => {
            chosen(&[]).for_each(|kernel| println!("{} {}", kernel.name, kernel.entry()));
            Ok(true)
        }
        ["export", directory, ref names @ ..] => {
            for_each(names, |kernel, gpu| export(Path::new(directory), kernel, gpu))
        }
        ["run", directory, ref names @ ..] => run(Path::new(directory), names),
        ["export-list", directory, list] => list::export(directory, list),
        ["launch-list", directory, list, times] => {
            times.parse().map_err(Failure::from).and_then(|times| list::launch(directory, list, times))
        }
        _ => Err("replay list | export DIR [KERNEL...] | run DIR [KERNEL...] | export-list DIR LIST | launch-list DIR LIST N".into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The kernels with these names, or all of ladder and gallery.
fn chosen(names: &[&str]) -> impl Iterator<Item = &'static Kernel> {
    kernels().iter().filter(move |kernel| match names {
        [] => kernel.family != Family::Production,
        _ => names.contains(&kernel.name),
    })
}

/// Says of each kernel what came out; goes on after a failure, and gives whether there was none.
fn for_each(
    names: &[&str],
    mut act: impl FnMut(&'static Kernel, &Gpu) -> Result<String, Failure>,
) -> Result<bool, Failure> {
    if let Some(unknown) = names.iter().find(|name| tilewright_kernels::find(name).is_err()) {
        return Err(format!("there is no kernel '{unknown}'").into());
    }
    let gpu = Gpu::named("h200")?;
    let mut all_passed = true;
    for kernel in chosen(names) {
        match act(kernel, &gpu) {
            Ok(said) => println!("{} ok {said}", kernel.name),
            Err(error) => {
                all_passed = false;
                println!("{} FAILED {}", kernel.name, error.to_string().replace('\n', " "));
            }
        }
    }
    Ok(all_passed)
}

fn no_files(file: &str) -> Result<Array, Error> {
    let source = std::io::ErrorKind::Unsupported.into();
    Err(ErrorKind::Io { path: file.into(), source }.into())
}

fn case(kernel: &'static Kernel, gpu: &Gpu) -> Result<Case, Error> {
    Case::of_kernel(kernel, &Request::new(*gpu, &no_files))
}

fn path(directory: &Path, kernel: &Kernel, launch: usize, extension: &str) -> PathBuf {
    directory.join(format!("{}.{launch}.{extension}", kernel.name))
}

fn export(directory: &Path, kernel: &'static Kernel, gpu: &Gpu) -> Result<String, Failure> {
    std::fs::create_dir_all(directory)?;
    let case = case(kernel, gpu)?;
    for (i, launch) in case.launches.iter().enumerate() {
        std::fs::write(path(directory, kernel, i, "ptx"), &launch.ptx)?;
    }
    Ok(format!("{} written; {}", count(case.launches.len(), "file"), case.notes.join("; ")))
}

fn run(directory: &Path, names: &[&str]) -> Result<bool, Failure> {
    let engine = Engine::with_cache(0, None)?;
    let info = engine.device();
    eprintln!(
        "{}, compute capability {}, {} multiprocessors",
        info.name, info.capability, info.multiprocessors
    );
    for_each(names, |kernel, gpu| {
        let case = case(kernel, gpu)?;
        let arrays: Vec<_> =
            case.arrays.iter().map(|array| (array.name.as_str(), &array.bytes[..])).collect();
        let on_device = engine.upload_arrays(&arrays)?;
        for (i, launch) in case.launches.iter().enumerate() {
            let file = path(directory, kernel, i, "cubin");
            let cubin = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            launch_on(&engine, &case.name, launch, &cubin, &on_device)?;
        }
        let mut arrays: Vec<Vec<u8>> = case.arrays.iter().map(|array| array.bytes.clone()).collect();
        on_device.read(&mut arrays)?;
        let explained = case.explain(gpu)?;
        agreement(&explained, &arrays)
    })
}

/// A texture is made over its array, whatever its handle is on the emulator.
fn over_arrays(argument: &Argument) -> tilewright_kernels::Argument<usize> {
    let Ok(named) = argument.rename::<_, _, Infallible>(|&array| Ok(array), |texture| Ok(texture.array));
    named
}

fn launch_on(
    engine: &Engine,
    name: &str,
    launch: &Launch,
    cubin: &[u8],
    arrays: &CodeArrays,
) -> Result<(), Error> {
    let arguments: Vec<_> = launch.arguments.iter().map(over_arrays).collect();
    let launch = CodeLaunch {
        name,
        cubin,
        entry: &launch.entry,
        shape: launch.shape,
        arguments: &arguments,
        symbols: &launch.symbols,
    };
    // SAFETY: the arguments are those of the PTX that the cubin was assembled from, as its user promises, and the emulator checks the bounds
    // of the same launch.
    unsafe { engine.run_code(&launch, arrays) }
}

/// How the arrays of the GPU differ from those of the emulator.
fn agreement(explained: &Explained, found: &[Vec<u8>]) -> Result<String, Failure> {
    let mut worst = 0.0_f64;
    for (array, found) in explained.arrays.iter().zip(found) {
        let (wanted, found) = (floats(array)?, numbers(found));
        let scale = wanted.iter().map(|x| x.abs()).fold(f64::MIN_POSITIVE, f64::max);
        for (wanted, found) in wanted.iter().zip(&found) {
            // A NaN on one side is as far away as can be.
            let difference = if wanted == found { 0.0 } else { (wanted - found).abs() / scale };
            worst = if difference.is_nan() { f64::INFINITY } else { worst.max(difference) };
        }
    }
    if worst > TOLERANCE {
        return Err(
            format!("results differ from the emulator's by {worst:.1e} of the largest element").into()
        );
    }
    Ok(match worst {
        0.0 => "same results as the emulator".into(),
        _ => format!("results differ from the emulator's by {worst:.1e} of the largest element, by rounding"),
    })
}

fn floats(array: &Array) -> Result<Vec<f64>, Failure> {
    match array.element {
        ElementType::Number(Number::F32) => Ok(numbers(&array.bytes)),
        other => Err(format!("{} of {other} is not compared", array.name).into()),
    }
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let number = |bytes: &[u8]| bytes.try_into().map(f32::from_le_bytes).map_or(f64::NAN, f64::from);
    bytes.chunks_exact(4).map(number).collect()
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
