//! Kernels in files: CUDA C++ or PTX.

use super::{Case, Launch, Request, bind, signature, unsupported};
use crate::{compile, model::SourceText};
use std::path::Path;
use tilewright_core::{Error, ErrorKind};
use tilewright_cuda::Input;
use tilewright_emulator::parse::{ast, parse};

impl Case {
    /// A kernel of a `.cu` or `.ptx` file.
    ///
    /// # Errors
    /// For files that cannot be read or compiled, and launches that are not described completely.
    pub fn of_file(path: &Path, request: &Request<'_>) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::from(ErrorKind::Io { path: path.into(), source }))?;
        let name = path.display().to_string();
        let is_ptx = match path.extension().and_then(|e| e.to_str()) {
            Some("ptx") => true,
            Some("cu") => false,
            _ => return Err(unsupported(name, "kernels are read from .cu and .ptx files", "")),
        };
        let input = if is_ptx { Input::Ptx { name: &name, text: &text } } else { Input::File(path) };
        // Which entry is meant is known only with the PTX; what it takes of a GPU is asked for afterwards.
        let ptx = if is_ptx { text.clone() } else { compile::compiled(input, "", &request.gpu, false)?.ptx };
        let bad = |problem: String| -> Error {
            ErrorKind::BadFile { path: path.into(), problem, hint: None }.into()
        };
        let module = parse(&ptx).map_err(|e| bad(e.to_string()))?;
        let entry = entry(&module, request.entry.as_deref(), path)?;
        let code = compile::compiled(input, entry.name, &request.gpu, true)?;

        let mut arrays = Vec::new();
        let names = (!is_ptx).then(|| signature::parameter_names(&text, entry.name)).flatten();
        let parameters = parameters(entry, names.as_deref());
        let arguments = bind::bind(&parameters, &request.arguments, request.load, &mut arrays)?;
        let launch = Launch {
            sources: sources(&module, path, &text, &ptx),
            entry: entry.name.into(),
            grid: request.grid.unwrap_or([1; 3]),
            block: request.block.or_else(|| required_block(entry)).ok_or_else(|| {
                unsupported(
                    "this launch",
                    "the threads of a block are not given",
                    "give the threads of a block",
                )
            })?,
            dynamic_shared_memory: request.dynamic_shared_memory.unwrap_or(0),
            arguments,
            symbols: Vec::new(),
            resources: code.resources,
            ptx: ptx.clone(),
        };
        Ok(Self { name, launches: vec![launch], arrays, notes: code.note.into_iter().collect() })
    }
}

/// The entry of this name, of which it is the only one with this part, or the only one at all.
fn entry<'a, 'b>(
    module: &'b ast::Module<'a>,
    wanted: Option<&str>,
    path: &Path,
) -> Result<&'b ast::Function<'a>, Error> {
    let is_entry = |f: &&ast::Function<'_>| f.kind == ast::FunctionKind::Entry && f.body.is_some();
    let entries: Vec<_> = module.functions.iter().filter(is_entry).collect();
    let names = entries.iter().map(|f| f.name).collect::<Vec<_>>().join(", ");
    let wanted = wanted.unwrap_or_default();
    if let Some(exact) = entries.iter().find(|f| f.name == wanted) {
        return Ok(exact);
    }
    let similar: Vec<_> = entries.iter().filter(|f| f.name.contains(wanted)).collect();
    match similar[..] {
        [one] => Ok(one),
        [] if entries.is_empty() => {
            let problem = "it has no kernel".to_owned();
            let hint = Some("kernels are functions marked __global__, in PTX .entry".to_owned());
            Err(ErrorKind::BadFile { path: path.into(), problem, hint }.into())
        }
        [] => Err(unsupported(
            format!("the kernel {wanted}"),
            "the file has no such kernel",
            format!("it has {names}"),
        )),
        _ => {
            let why = format!("the file has {} kernels that it could be", similar.len());
            Err(unsupported("this launch", why, format!("name the kernel: {names}")))
        }
    }
}

fn parameters(entry: &ast::Function<'_>, names: Option<&[String]>) -> Vec<bind::Parameter> {
    let names = names.filter(|names| names.len() == entry.params.len());
    let parameter = |(index, p): (usize, &ast::Variable<'_>)| {
        let elements = p.dims.iter().map(|dim| dim.unwrap_or(1)).fold(1, u64::saturating_mul);
        bind::Parameter {
            name: names.map_or_else(|| p.name.to_owned(), |names| names[index].clone()),
            ptx_name: p.name.to_owned(),
            ty: p.ty,
            bytes: usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(p.ty.bytes() as usize),
        }
    };
    entry.params.iter().enumerate().map(parameter).collect()
}

/// `.reqntid`.
fn required_block(entry: &ast::Function<'_>) -> Option<[u32; 3]> {
    let (_, numbers) = entry.directives.iter().find(|(name, _)| *name == ".reqntid" || *name == "reqntid")?;
    let mut block = [1; 3];
    for (extent, number) in block.iter_mut().zip(numbers) {
        *extent = u32::try_from(*number).ok()?;
    }
    Some(block)
}

/// The files that lines speak of, where they are found: as named, or beside the kernel's file.
fn sources(module: &ast::Module<'_>, path: &Path, text: &str, ptx: &str) -> Vec<SourceText> {
    let mut sources = Vec::new();
    for &(_, name) in &module.files {
        let beside = || Some(path.parent()?.join(Path::new(name).file_name()?));
        let text = if Path::new(name) == path {
            Some(text.to_owned())
        } else {
            std::fs::read_to_string(name).ok().or_else(|| std::fs::read_to_string(beside()?).ok())
        };
        if let Some(text) = text {
            sources.push(SourceText { name: name.into(), text });
        }
    }
    if sources.is_empty() {
        sources.push(SourceText { name: ptx_name(path), text: ptx.into() });
    }
    sources
}

/// The name of the PTX of a file.
fn ptx_name(path: &Path) -> String {
    path.with_extension("ptx").display().to_string()
}
