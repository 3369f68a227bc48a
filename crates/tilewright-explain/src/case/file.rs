//! Kernels in files: CUDA C++ or PTX.

use super::{
    Case, Launch, Request, bind, paste, signature, spelling, types, unsupported, value::Parameter,
    variables::Declared,
};
use crate::{compile::FileCode, model::SourceText};
use std::path::Path;
use tilewright_arch::GridLaunch;
use tilewright_core::{Error, ErrorKind, Hint, Setting};
use tilewright_emulator::{
    kernel_name,
    parse::{ast, parse},
};

impl Case {
    /// A kernel of a `.cu` or `.ptx` file.
    ///
    /// # Errors
    /// For files that cannot be read or compiled, and launches that are not described completely.
    pub fn of_file(path: &Path, request: &Request<'_>) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| Error::from(ErrorKind::Io { path: path.into(), source }))?;
        let name = path.display().to_string();
        let wanted = request.entry.as_deref();
        let mut code = match path.extension().and_then(|e| e.to_str()) {
            Some("ptx") => FileCode::ptx(&name, &text, &request.options),
            Some("cu") => {
                FileCode::cuda(path, &request.gpu, &request.options, wanted.map(spelling::expression))
                    .map_err(|error| explained(error, &name))?
            }
            _ => return Err(unsupported(name, "kernels are read from .cu and .ptx files", "")),
        };
        let bad = |problem: String| -> Error {
            ErrorKind::BadFile { path: path.into(), problem, hint: None }.into()
        };
        let ptx = code.ptx.clone();
        let module = parse(&ptx).map_err(|e| bad(e.to_string()))?;
        let sources = sources(&module, path, &text, &ptx);
        let entry = entry(&module, code.entry.as_deref().or(wanted), path, &text)?;

        let texts: Vec<&str> = sources.iter().map(|file| file.text.as_str()).collect();
        let parameters = parameters(entry, &sources);
        let launched = bind::Launched {
            parameters: &parameters,
            variables: &variables(&module, &texts, &request.options.define),
            sources: &texts,
            arguments: &request.arguments,
            load: request.load,
        };
        for passed in launched.check(request.shares_arguments)? {
            code.notes.push(format!("the argument {passed} is for the other kernel"));
        }
        let block = request.block.or_else(|| required(entry, "reqntid"));
        let known = paste::Known {
            path,
            parameters: &parameters,
            sources: &texts,
            ptx: text_of(entry, &ptx),
            block: required(entry, "reqntid"),
            request,
        };
        let block = complete(&launched.missing(), block).map_err(|why| {
            unsupported("this launch", why, Hint::default().set_to(Setting::Launch, known.command()))
        })?;
        let bound = bind::bind(&launched)?;
        let (resources, assembler_refusal) = code.resources(entry.name, &request.gpu);
        let launch = Launch {
            sources,
            entry: entry.name.into(),
            shape: GridLaunch {
                cluster: request.cluster.or_else(|| required(entry, "reqnctapercluster")),
                blocks: request.blocks,
                dynamic_shared_memory: request.dynamic_shared_memory.unwrap_or(0),
                ..GridLaunch::new(request.grid.unwrap_or([1; 3]), block)
            },
            arguments: bound.arguments,
            textures: bound.textures,
            surfaces: bound.surfaces,
            symbols: bound.symbols,
            variables: bound.variables,
            resources,
            assembler_refusal,
            ptx: ptx.clone(),
        };
        let (arrays, links) = (bound.arrays, bound.links);
        Ok(Self {
            name,
            launches: vec![launch],
            arrays,
            links,
            notes: code.notes,
            compiler_warnings: code.warnings,
        })
    }
}

/// The threads of a block, where all that a launch takes is given; what is missing otherwise.
fn complete(missing: &[&str], block: Option<[u32; 3]>) -> Result<[u32; 3], String> {
    let arguments = match missing {
        [] => None,
        [one] => Some(format!("the argument {one} is missing")),
        [more @ .., last] => Some(format!("the arguments {} and {last} are missing", more.join(", "))),
    };
    let threads = block.is_none().then(|| "the threads of a block are not given".to_owned());
    match (block, arguments) {
        (Some(block), None) => Ok(block),
        (_, arguments) => Err(arguments.into_iter().chain(threads).collect::<Vec<_>>().join(", and ")),
    }
}

/// The text of an entry: from its name to the brace at the beginning of a line.
fn text_of<'a>(entry: &ast::Function<'_>, ptx: &'a str) -> &'a str {
    let start = ptx.find(&format!(".entry {}", entry.name)).unwrap_or(0);
    let end = ptx[start..].find("\n}").map_or(ptx.len(), |end| start + end);
    &ptx[start..end]
}

/// What the compiler refuses for a reason that it has other words for.
fn explained(error: Error, name: &str) -> Error {
    let said = error.to_string();
    if !said.contains("device-side kernel launch") && !said.contains("cudaGetParameterBuffer") {
        return error;
    }
    let hint = "launch the child from the host, behind its parent: tilewright check runs several launches one after another, as [[kernel.launch]]";
    unsupported(name, "a kernel launches a kernel (dynamic parallelism), which is not executed here", hint)
}

/// The entry that is meant: that of this name in PTX, in the source, or in the source without the arguments of its template; otherwise the only one with this
/// part, or the only one at all.
fn entry<'a, 'b>(
    module: &'b ast::Module<'a>,
    wanted: Option<&str>,
    path: &Path,
    source: &str,
) -> Result<&'b ast::Function<'a>, Error> {
    let is_entry = |f: &&ast::Function<'_>| f.kind == ast::FunctionKind::Entry && f.body.is_some();
    let mut entries: Vec<_> = module.functions.iter().filter(is_entry).collect();
    // Libraries leave kernels of their own, which nobody means who does not name one.
    let is_own = |f: &&ast::Function<'_>| !spelling::is_of_library(&kernel_name(f.name));
    if wanted.is_none() && entries.iter().any(is_own) {
        entries.retain(is_own);
    }
    let templates = || {
        let known = signature::templates(source);
        let name = known.iter().find(|name| wanted.is_none_or(|wanted| wanted == *name));
        name.map(|name| format!("it is a template; name an instance, as in {name}<float>"))
    };
    if entries.is_empty() {
        let problem = "it has no kernel".to_owned();
        let hint = templates().unwrap_or("kernels are functions marked __global__, in PTX .entry".into());
        return Err(ErrorKind::BadFile { path: path.into(), problem, hint: Some(hint.into()) }.into());
    }
    let wanted = spelling::plain(wanted.unwrap_or_default());
    let readable = |f: &ast::Function<'_>| spelling::plain(&kernel_name(f.name));
    let is_meant: [&dyn Fn(&ast::Function<'_>) -> bool; 4] = [
        &|f| f.name == wanted,
        &|f| readable(f) == wanted,
        &|f| readable(f).split('<').next() == Some(wanted.as_str()),
        &|f| f.name.contains(&wanted) || readable(f).contains(&wanted),
    ];
    let found = is_meant.iter().map(|is_meant| entries.iter().filter(|f| is_meant(f)).collect::<Vec<_>>());
    let found = found.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let hint = templates().unwrap_or_else(|| format!("it has {}", names(&entries)));
            Err(unsupported(format!("the kernel {wanted}"), "the file has no such kernel", hint))
        }
        _ => {
            let why = format!("the file has {} kernels that it could be", found.len());
            let hint = Hint::from("choose one with ").set(Setting::Entry);
            Err(unsupported("this launch", why, hint.say(format!(": {}", names(&entries)))))
        }
    }
}

/// Names as in the source, where these tell the kernels apart.
fn names(entries: &[&ast::Function<'_>]) -> String {
    let readable: Vec<String> = entries.iter().map(|f| kernel_name(f.name)).collect();
    let name =
        |(f, name): (&&ast::Function<'_>, &String)| match readable.iter().filter(|n| *n == name).count() {
            1 => name.clone(),
            _ => f.name.to_owned(),
        };
    entries.iter().zip(&readable).map(name).collect::<Vec<_>>().join(", ")
}

/// What the kernel takes, with the names of the source where a file of it is found.
fn parameters(entry: &ast::Function<'_>, sources: &[SourceText]) -> Vec<Parameter> {
    let count = entry.params.len();
    let declared = sources.iter().find_map(|file| signature::parameters(&file.text, entry.name, count));
    // The mangled name tells what the parameters of a template stand for.
    let mangled = types::of_mangled(entry.name).filter(|types| types.len() == count);
    let parameter = |(index, p): (usize, &ast::Variable<'_>)| {
        let declaration = declared.as_ref().map(|declared| &declared[index]);
        let of_mangled = mangled.as_ref().map(|types| types[index].clone());
        let name = declaration.and_then(|declaration| signature::name_of(declaration));
        let cpp = of_mangled.or_else(|| types::of_declaration(declaration?));
        Parameter { cpp, ..of_ptx(p, name.unwrap_or_else(|| p.name.to_owned())) }
    };
    entry.params.iter().enumerate().map(parameter).collect()
}

/// The variables of a module that a person may set: those of the compiler begin with a dollar or underscores.
fn variables(module: &ast::Module<'_>, sources: &[&str], defines: &[String]) -> Vec<Parameter> {
    let is_settable = |v: &&ast::Variable<'_>| {
        matches!(v.space, ast::StateSpace::Global | ast::StateSpace::Const)
            && v.linkage != ast::Linkage::Extern
            && !v.name.starts_with(['$', '%'])
            && !v.name.starts_with("__")
            && !types::is_of_library(v.name)
    };
    let settable = module.variables.iter().filter(is_settable);
    let settable = settable.map(|variable| of_ptx(variable, kernel_name(variable.name)));
    settable.map(|v| Parameter { declared: Declared::of(sources, &v.name, v.bytes, defines), ..v }).collect()
}

fn of_ptx(variable: &ast::Variable<'_>, name: String) -> Parameter {
    let elements = variable.dims.iter().map(|dim| dim.unwrap_or(1)).fold(1, u64::saturating_mul);
    let elements = usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(variable.vector as usize);
    let bytes = elements.saturating_mul(variable.ty.bytes() as usize);
    Parameter { name, ptx_name: variable.name.to_owned(), ty: variable.ty, bytes, cpp: None, declared: None }
}

/// What a directive of the entry requires: `.reqntid`, `.reqnctapercluster`.
fn required(entry: &ast::Function<'_>, directive: &str) -> Option<[u32; 3]> {
    let (_, numbers) = entry.directives.iter().find(|(name, _)| name.trim_start_matches('.') == directive)?;
    let mut extents = [1; 3];
    for (extent, number) in extents.iter_mut().zip(numbers) {
        *extent = u32::try_from(*number).ok()?;
    }
    Some(extents)
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
