//! Launches of a list: each line is a name and what `tilewright explain` is asked, as in
//!
//! ```text
//! naive/512 naive --arg M=512 --arg N=512 --arg K=512
//! saxpy/16 programs/saxpy.ptx --grid 256 --block 256 --arg a=2 --arg x=f32[65536]:random --arg y=f32[65536]:random
//! ```
//!
//! Code has the name of its text's hash, since most lines of a kernel have the same.

use crate::{Failure, launch_on, no_files};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use tilewright_cuda::Engine;
use tilewright_explain::{Case, Gpu, Launch, Request};

/// A line of a list.
struct Line {
    name: String,
    kernel: String,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    arguments: Vec<(String, String)>,
}

impl Line {
    fn parse(text: &str) -> Result<Self, Failure> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let mut next = |what: &str| words.next().ok_or_else(|| format!("{what} is missing in: {text}"));
        let (name, kernel) = (next("a name")?, next("a kernel")?);
        let mut line = Self { name, kernel, grid: None, block: None, arguments: Vec::new() };
        while let Ok(option) = next("an option") {
            let value = next("a value")?;
            match option.as_str() {
                "--grid" => line.grid = Some(extents(&value)?),
                "--block" => line.block = Some(extents(&value)?),
                "--arg" => {
                    let (name, value) = value.split_once('=').ok_or("an argument is NAME=VALUE")?;
                    line.arguments.push((name.into(), value.into()));
                }
                other => return Err(format!("{other} is not known in: {text}").into()),
            }
        }
        Ok(line)
    }

    fn case(&self, gpu: &Gpu) -> Result<Case, Failure> {
        let mut request = Request::new(*gpu, &no_files);
        request.arguments.clone_from(&self.arguments);
        (request.grid, request.block) = (self.grid, self.block);
        let path = Path::new(&self.kernel);
        Ok(match path.extension() {
            Some(_) => Case::of_file(path, &request)?,
            None => Case::of_kernel(tilewright_kernels::find(&self.kernel)?, &request)?,
        })
    }
}

fn extents(text: &str) -> Result<[u32; 3], Failure> {
    let mut all = [1; 3];
    for (extent, word) in all.iter_mut().zip(text.split(',')) {
        *extent = word.parse()?;
    }
    Ok(all)
}

fn code(directory: &Path, launch: &Launch, extension: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    launch.ptx.hash(&mut hasher);
    directory.join(format!("{:016x}.{extension}", hasher.finish()))
}

/// Does `act` for each line, says on standard error which failed, and goes on. Gives whether none did.
fn for_each(list: &str, mut act: impl FnMut(&Line, Case) -> Result<(), Failure>) -> Result<bool, Failure> {
    let gpu = Gpu::named("h200")?;
    let mut all_passed = true;
    for text in std::fs::read_to_string(list)?.lines() {
        let line = Line::parse(text)?;
        if let Err(error) = line.case(&gpu).and_then(|case| act(&line, case)) {
            all_passed = false;
            eprintln!("{} FAILED {}", line.name, error.to_string().replace('\n', " "));
        }
    }
    Ok(all_passed)
}

/// Writes the PTX of all launches.
pub fn export(directory: &str, list: &str) -> Result<bool, Failure> {
    let directory = Path::new(directory);
    std::fs::create_dir_all(directory)?;
    for_each(list, |_, case| {
        case.launches
            .iter()
            .try_for_each(|launch| Ok(std::fs::write(code(directory, launch, "ptx"), &launch.ptx)?))
    })
}

/// Launches all lines so many times, without a look at the results, and says which launches there were, in order.
pub fn launch(directory: &str, list: &str, times: usize) -> Result<bool, Failure> {
    let engine = Engine::with_cache(0, None)?;
    for_each(list, |line, case| {
        let arrays: Vec<_> =
            case.arrays.iter().map(|array| (array.name.as_str(), &array.bytes[..])).collect();
        let on_device = engine.upload_arrays(&arrays)?;
        for _ in 0..times {
            for launch in &case.launches {
                let file = code(Path::new(directory), launch, "cubin");
                let cubin = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
                println!("{} {}", line.name, launch.entry);
                launch_on(&engine, &case.name, launch, &cubin, &on_device)?;
            }
        }
        Ok(())
    })
}
