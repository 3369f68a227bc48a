//! What is checked: a kernel of the manifest, for one GPU and one combination of its matrix.

use super::{
    budget::Budget,
    expression::{self, Bindings},
    manifest::{self, Fault, From, Kernel, Manifest, Place, Placed, Source, fault},
};
use crate::{args::Extent, occupancy::Target};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};
use tilewright::cuda::CompilerOptions;
use tilewright_arch::ComputeCapability;
use tilewright_explain::Gpu;

/// More combinations than this are a mistake rather than a wish.
const MOST_CASES: usize = 10_000;

pub struct Case<'m> {
    pub kernel: &'m Kernel,
    /// Its name, and behind it what was chosen where there is a choice: `scale [h200, n=1024]`.
    pub name: String,
    pub gpu: Gpu,
    pub bindings: Bindings,
    /// How files are compiled.
    pub options: CompilerOptions,
    pub launches: Vec<Launch>,
    /// Arrays that launches share, as arguments describe them.
    pub arrays: Vec<(String, String)>,
    pub expect: Vec<Expect>,
}

pub struct Launch {
    pub source: Origin,
    pub entry: Option<String>,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub cluster: Option<[u32; 3]>,
    pub is_cooperative: bool,
    pub dynamic_shared_memory: Option<u32>,
    pub arguments: Vec<(String, String)>,
    pub budgets: Vec<Budget>,
}

pub enum Origin {
    File(PathBuf),
    Catalogue(&'static tilewright::kernels::Kernel),
}

pub struct Expect {
    pub array: String,
    pub from: Wanted,
    pub tolerance: f64,
}

pub enum Wanted {
    File(PathBuf),
    /// The case of another kernel with the same GPU and values, and its array.
    Case(Box<Reference>),
    Python(String),
}

/// How another case is found.
pub struct Reference {
    pub kernel: usize,
    pub array: String,
}

/// A path that the manifest names.
pub fn beside(manifest: &Path, name: &str) -> PathBuf {
    match manifest.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => parent.join(name),
        None => PathBuf::from(name),
    }
}

/// All cases of a manifest, in its order. `gpus` take the place of those that it names, unless there are none.
///
/// # Errors
/// Faults that show when values are put in.
pub fn cases<'m>(manifest: &'m Manifest, text: &str, gpus: &[String]) -> Result<Vec<Case<'m>>, Vec<Fault>> {
    let (mut cases, mut faults) = (Vec::new(), Vec::new());
    for kernel in &manifest.kernels {
        let combinations = kernel.matrix.iter().map(|(_, values)| values.len());
        let count = combinations.fold(kernel.gpus.len().max(1), usize::saturating_mul);
        if cases.len().saturating_add(count) > MOST_CASES {
            faults.push(fault(text, &kernel.place, format!("these are more than {MOST_CASES} checks")));
            continue;
        }
        for gpu in chosen_gpus(kernel, gpus) {
            for bindings in combinations_of(&kernel.matrix) {
                match case(manifest, kernel, &gpu, bindings) {
                    Ok(case) => cases.push(case),
                    Err((place, problem)) => {
                        let fault = fault(text, &place, problem);
                        if !faults.contains(&fault) {
                            faults.push(fault);
                        }
                    }
                }
            }
        }
    }
    if faults.is_empty() { Ok(cases) } else { Err(faults) }
}

/// The case of a kernel that has the same GPU and values.
///
/// # Errors
/// In words, where its texts do not make sense with these values.
pub fn same_with<'m>(manifest: &'m Manifest, kernel: usize, like: &Case<'_>) -> Result<Case<'m>, String> {
    let kernel = &manifest.kernels[kernel];
    let mut case = case(manifest, kernel, &Placed::default(), like.bindings.clone())
        .map_err(|(place, problem)| format!("{}: {problem}", place.key))?;
    case.gpu = like.gpu;
    Ok(case)
}

fn chosen_gpus(kernel: &Kernel, asked: &[String]) -> Vec<Placed> {
    let asked: Vec<Placed> =
        asked.iter().map(|text| Placed { text: text.clone(), place: Place::default() }).collect();
    match (asked.is_empty(), kernel.gpus.is_empty()) {
        (false, _) => asked,
        (true, false) => kernel.gpus.clone(),
        (true, true) => vec![Placed::default()],
    }
}

fn combinations_of(matrix: &[(String, Vec<String>)]) -> Vec<Bindings> {
    let mut all = vec![Bindings::new()];
    for (name, values) in matrix {
        let with = |known: &Bindings| {
            let one = |value: &String| {
                let mut bindings = known.clone();
                bindings.insert(name.clone(), value.clone());
                bindings
            };
            values.iter().map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

type Problem = (Place, String);

fn case<'m>(
    manifest: &Manifest,
    kernel: &'m Kernel,
    gpu: &Placed,
    bindings: Bindings,
) -> Result<Case<'m>, Problem> {
    let filled = |placed: &Placed| {
        expression::fill(&placed.text, &bindings).map_err(|problem| (placed.place.clone(), problem))
    };
    let named = |list: &[(String, Placed)]| {
        list.iter()
            .map(|(name, placed)| Ok((name.clone(), filled(placed)?)))
            .collect::<Result<Vec<_>, Problem>>()
    };
    let mut launches = Vec::new();
    for launch in &kernel.launches {
        launches.push(Launch {
            source: match &launch.source {
                Source::File(file) => Origin::File(beside(&manifest.path, &filled(file)?)),
                Source::Catalogue(kernel) => Origin::Catalogue(kernel),
            },
            entry: launch.entry.as_ref().map(filled).transpose()?,
            grid: launch.grid.as_ref().map(|placed| extent(placed, &bindings)).transpose()?,
            block: launch.block.as_ref().map(|placed| extent(placed, &bindings)).transpose()?,
            cluster: launch.cluster.as_ref().map(|placed| extent(placed, &bindings)).transpose()?,
            is_cooperative: launch.is_cooperative.unwrap_or(false),
            dynamic_shared_memory: launch
                .dynamic_shared_memory
                .as_ref()
                .map(|placed| {
                    let text = filled(placed)?;
                    text.parse()
                        .map_err(|_| (placed.place.clone(), format!("'{text}' is no number of bytes")))
                })
                .transpose()?,
            arguments: named(&launch.arguments)?,
            budgets: launch.budgets.clone(),
        });
    }
    let expect = |expect: &manifest::Expect| {
        Ok(Expect {
            array: expect.array.clone(),
            from: match &expect.from {
                From::File(file) => Wanted::File(beside(&manifest.path, &filled(file)?)),
                From::Kernel(kernel, array) => {
                    Wanted::Case(Box::new(Reference { kernel: *kernel, array: array.clone() }))
                }
                From::Python(text) => Wanted::Python(text.clone()),
            },
            tolerance: expect.tolerance,
        })
    };
    let all = |list: &[Placed]| list.iter().map(filled).collect::<Result<Vec<String>, Problem>>();
    let include = all(&kernel.include)?.iter().map(|name| beside(&manifest.path, name)).collect();
    Ok(Case {
        kernel,
        options: CompilerOptions { include, define: all(&kernel.define)?, ..CompilerOptions::default() },
        name: name(kernel, gpu, &bindings),
        gpu: found(&gpu.text).map_err(|problem| (gpu.place.clone(), problem))?,
        launches,
        arrays: named(&kernel.arrays)?,
        expect: kernel.expect.iter().map(expect).collect::<Result<_, Problem>>()?,
        bindings,
    })
}

fn name(kernel: &Kernel, gpu: &Placed, bindings: &Bindings) -> String {
    let values = kernel.matrix.iter().filter_map(|(name, _)| Some(format!("{name}={}", bindings.get(name)?)));
    let chosen = (!gpu.text.is_empty()).then(|| gpu.text.clone());
    let parts: Vec<String> = chosen.into_iter().chain(values).collect();
    if parts.is_empty() { kernel.name.clone() } else { format!("{} [{}]", kernel.name, parts.join(", ")) }
}

/// A GPU by its name or its compute capability; an H200 for an empty text.
fn found(text: &str) -> Result<Gpu, String> {
    let capability = ComputeCapability::from_str(text).ok();
    let name = if text.is_empty() { crate::occupancy::DEFAULT } else { text };
    let target = Target::find(capability.is_none().then_some(name), capability).map_err(|e| e.to_string())?;
    target.ok_or("no GPU is given")?.gpu().map_err(|e| e.to_string())
}

fn extent(placed: &Placed, bindings: &Bindings) -> Result<[u32; 3], Problem> {
    let wrong = |problem| (placed.place.clone(), problem);
    let text = expression::fill(&placed.text, bindings).map_err(wrong)?;
    text.parse::<Extent>().map(|extent| extent.0).map_err(wrong)
}
