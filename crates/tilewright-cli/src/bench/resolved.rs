//! What the words of `bench` ask for, found once: the steps behind it read no word again.

use super::case::Case;
use crate::{
    args::{Bench, Data, KernelChoice, Library, LibraryMath, Meaning, Order, Size, Where},
    charts,
    failure::Failure,
    product::check_math,
};
use std::path::PathBuf;
use tilewright::{
    DType, Error, Isa, Math, SemiringId,
    cuda::{CublasMath, Pace, Repetitions},
    expressions::Cell,
};
use tilewright_kernels::Kernel;

/// Products, and who computes them.
pub struct Resolved {
    pub semiring: Meaning,
    pub dtype: DType,
    result_type: Option<DType>,
    pub data: Data,
    math: Math,
    /// None unless given.
    sizes: Vec<Size>,
    pub orders: Vec<Order>,
    /// Those that are named; both lists are empty where none is.
    pub isas: Vec<Isa>,
    pub kernels: Vec<&'static Kernel>,
    pub ladder: bool,
    pub wants_cpu: bool,
    pub gpu: Part,
    /// The arithmetic that is asked of a library, where it takes part.
    pub cublas: Option<CublasMath>,
    pub cublaslt: Option<CublasMath>,
    pub threads: usize,
    pub pace: Pace,
    /// Products of a call, where calls are timed.
    pub calls: Option<usize>,
    pub plot: Option<PathBuf>,
}

/// Whether the GPU takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    None,
    IfThere,
    Needed,
}

impl Resolved {
    /// Refuses what makes no sense.
    pub fn new(args: &Bench) -> Result<Self, Failure> {
        let dtype = args.dtype();
        check(args, dtype)?;
        let data = data(args)?;
        let isa = |choice: &KernelChoice| match choice {
            KernelChoice::Isa(isa) => Some(*isa),
            KernelChoice::Gpu(_) => None,
        };
        let kernel = |choice: &KernelChoice| match choice {
            KernelChoice::Gpu(kernel) => Some(*kernel),
            KernelChoice::Isa(_) => None,
        };
        let isas: Vec<Isa> = args.kernel.iter().filter_map(isa).collect();
        let kernels: Vec<&Kernel> = args.kernel.iter().filter_map(kernel).collect();
        let needs_gpu =
            args.backend == Where::Cuda || args.calls || !args.against.is_empty() || !kernels.is_empty();
        let math = match (args.cublas_math, args.math) {
            (None, Math::Tf32) | (Some(LibraryMath::Tf32), _) => CublasMath::Tf32,
            (None | Some(LibraryMath::Default), _) => CublasMath::Default,
            (Some(LibraryMath::Pedantic), _) => CublasMath::Pedantic,
        };
        let asked = |library| args.against.contains(&library).then_some(math);
        let repetitions = if args.no_overlap { Repetitions::Apart } else { Repetitions::Overlap };
        Ok(Self {
            semiring: args.semiring.clone(),
            dtype,
            result_type: args.result_type,
            data,
            math: args.math,
            sizes: args.sizes.iter().flat_map(|sizes| sizes.0.iter().copied()).collect(),
            orders: args.orders.clone(),
            ladder: args.ladder,
            wants_cpu: args.backend != Where::Cuda
                && !args.calls
                && (args.kernel.is_empty() || !isas.is_empty()),
            gpu: match args.backend {
                Where::Cpu => Part::None,
                _ if needs_gpu => Part::Needed,
                _ if !isas.is_empty() => Part::None,
                _ => Part::IfThere,
            },
            isas,
            kernels,
            cublas: asked(Library::Cublas),
            cublaslt: asked(Library::Cublaslt),
            threads: args.threads,
            pace: Pace { samples: args.rounds as usize, repetitions, ..Pace::default() },
            calls: args.calls.then_some(args.batch as usize),
            plot: args.plot.clone(),
        })
    }

    /// The shapes, in place of which these squares are taken where none is given.
    pub fn sizes(&self, usual: &[usize]) -> Vec<Size> {
        match self.sizes.is_empty() {
            true => usual.iter().copied().map(Size::square).collect(),
            false => self.sizes.clone(),
        }
    }

    /// A product of the elements that are asked for, or of others.
    pub fn case(&self, size: Size, order: Order, data: Data) -> Result<Case, Error> {
        Case::new(&self.semiring, self.dtype, size, order, data)?
            .with_math(self.math)
            .giving(self.result_type)
    }
}

/// The elements that are measured; a usage error for those that the semiring does not contain.
fn data(args: &Bench) -> Result<Data, Failure> {
    let usual = match &args.semiring {
        Meaning::Own(text) if text.admits(-<f64 as Cell>::ONE) => Data::Signed,
        Meaning::Own(_) => Data::NonNegative,
        Meaning::BuiltIn(id) => Data::of(*id),
    };
    let data = args.data.unwrap_or(usual);
    if usual == Data::NonNegative && matches!(data, Data::Signed | Data::Wide) {
        let what = format!("--data {} with {}", data.name(), args.semiring.name());
        return Err(Failure::usage(what, "its elements are not negative: leave out --data"));
    }
    Ok(data)
}

/// What the parser of the command line cannot know.
fn check(args: &Bench, dtype: DType) -> Result<(), Failure> {
    args.semiring.output_or(dtype, args.result_type)?;
    check_math(args.math, &args.semiring, Some(dtype))?;
    args.plot.as_deref().map_or(Ok(()), charts::check)?;
    let is_measured = |library: &Library| {
        let types: &[DType] = match library {
            Library::Cublas => &[DType::F32, DType::F64],
            Library::Cublaslt => &[DType::F16, DType::Bf16, DType::F32, DType::F64, DType::I8],
        };
        args.semiring.is(SemiringId::PlusTimes) && types.contains(&dtype)
    };
    if let Some(library) = args.against.iter().find(|library| !is_measured(library)) {
        let what = format!("--against {} with {} on {}", library.name(), args.semiring.name(), dtype);
        let hint = "cuBLAS is measured for plus-times on f32 and f64, cuBLASLt on f16, bf16 and i8, too";
        return Err(Failure::usage(what, hint));
    }
    if args.calls && args.against.contains(&Library::Cublaslt) {
        let hint = "its calls take prepared descriptions: compare with --against cublas";
        return Err(Failure::usage("--calls with --against cublaslt", hint));
    }
    let of = |gpu: bool| args.kernel.iter().find(|choice| matches!(choice, KernelChoice::Gpu(_)) == gpu);
    match (args.backend, of(true), of(false)) {
        (Where::Cpu, Some(kernel), _) => {
            let what = format!("--kernel {} runs on a GPU, and --backend cpu has none", kernel.name());
            Err(Failure::usage(what, "leave out --backend"))
        }
        (Where::Cuda, _, Some(isa)) => {
            let what = format!("--kernel {} is an instruction set of the processor", isa.name());
            Err(Failure::usage(what, "leave out --backend, or choose one of `tilewright kernels`"))
        }
        (Where::Cpu, ..) if args.calls => Err(Failure::usage("--calls needs a GPU", "leave out --backend")),
        (Where::Cpu, ..) => match args.against.first() {
            Some(library) => {
                let what = format!("--against {} needs a GPU", library.name());
                Err(Failure::usage(what, "leave out --backend"))
            }
            None => Ok(()),
        },
        _ => Ok(()),
    }
}
