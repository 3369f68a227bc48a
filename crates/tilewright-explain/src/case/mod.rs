//! A kernel with everything that it takes to run it.

mod argument;
mod bind;
mod catalogue;
mod declarations;
mod file;
mod paste;
mod sequence;
mod signature;
mod spelling;
mod structs;
mod tensor_map;
mod texture;
mod types;
mod value;
mod variables;

pub use argument::{Argument, Link};
pub(crate) use argument::{by_handle, put_address};
pub use texture::TextureOver;

use crate::{array::Array, model::SourceText};
use tilewright_arch::{Blocks, Gpu, GridLaunch, KernelResources};
use tilewright_core::{Error, Hint};
use tilewright_toolchain::CompilerOptions;

/// What is asked for beside the kernel.
pub struct Request<'a> {
    /// The GPU for occupancy, roofline, and the compiler.
    pub gpu: Gpu,
    /// The entry of a file, or the instance of a template, such as `scale<float>`; needed where there are several.
    pub entry: Option<String>,
    /// How a file is compiled.
    pub options: CompilerOptions,
    /// Blocks, for a file; as many as one unless given.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block, for a file; needed unless the kernel itself says.
    pub block: Option<[u32; 3]>,
    /// Blocks of a cluster, for a file; those that the kernel was compiled for unless given.
    pub cluster: Option<[u32; 3]>,
    /// Whether blocks may wait for each other, for a file.
    pub blocks: Blocks,
    /// Bytes of dynamic shared memory of a block, for a file.
    pub dynamic_shared_memory: Option<u32>,
    /// Arguments by name: numbers, `f32[256,256]:random`, files, structs; variables of the module, and sizes and arrays that others name.
    pub arguments: Vec<(String, String)>,
    /// Whether arguments that the kernel does not take are for another one beside it: they are passed over, and a note says so.
    pub shares_arguments: bool,
    /// Reads the file that an argument names.
    pub load: &'a dyn Fn(&str) -> Result<Array, Error>,
}

impl<'a> Request<'a> {
    /// A request that leaves everything to the kernel.
    pub fn new(gpu: Gpu, load: &'a dyn Fn(&str) -> Result<Array, Error>) -> Self {
        Self {
            gpu,
            entry: None,
            options: CompilerOptions::default(),
            grid: None,
            block: None,
            cluster: None,
            blocks: Blocks::Independent,
            dynamic_shared_memory: None,
            arguments: Vec::new(),
            shares_arguments: false,
            load,
        }
    }
}

/// A kernel and its launches.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the user calls it.
    pub name: String,
    /// Launches in order; the last is the one that is explained.
    pub launches: Vec<Launch>,
    /// Arrays in device memory.
    pub arrays: Vec<Array>,
    /// Addresses of arrays that lie in other arrays.
    pub links: Vec<Link>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// What the compiler warned of.
    pub compiler_warnings: Vec<String>,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The PTX module.
    pub ptx: String,
    /// The files that its line numbers speak of, or the PTX itself.
    pub sources: Vec<SourceText>,
    /// The entry.
    pub entry: String,
    /// Grid, blocks, clusters and dynamic shared memory.
    pub shape: GridLaunch,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
    /// Textures whose handles lie in structs among them.
    pub textures: Vec<TextureOver>,
    /// Arrays among them that are surfaces: the handle of one is its array's address.
    pub surfaces: Vec<usize>,
    /// Symbols to be set before: name and bytes.
    pub symbols: Vec<(String, Vec<u8>)>,
    /// Variables of its module that are arrays: the name in PTX, and the array by its place.
    pub variables: Vec<(String, usize)>,
    /// What the assembled kernel takes of a multiprocessor, where that is known.
    pub resources: Option<KernelResources>,
    /// What the assembler said where it did not make machine code of the kernel.
    pub assembler_refusal: Option<String>,
}

/// Refuses a second argument for the same thing, whose name `same` gives: one of the two would be ignored.
fn check_repeated<'a>(
    arguments: &'a [(String, String)],
    same: impl Fn(&'a str) -> Option<String>,
) -> Result<(), Error> {
    let mut seen = Vec::new();
    for (name, text) in arguments {
        let thing = same(name).unwrap_or_else(|| name.clone());
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == thing) {
            let why = format!("{thing} is given already, as {first}");
            return Err(unsupported(format!("the argument {name}={text}"), why, "leave out one of them"));
        }
        seen.push((thing, format!("{name}={text}")));
    }
    Ok(())
}

/// An error of usage: what is wrong, and what to do.
pub(crate) fn unsupported(what: impl Into<String>, why: impl Into<String>, hint: impl Into<Hint>) -> Error {
    tilewright_core::ErrorKind::Unsupported { what: what.into(), why: why.into(), hint: hint.into() }.into()
}
