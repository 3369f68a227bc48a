//! What the words of `mul` ask for, found once: the steps behind it read no word again.

use super::{outputs::Outputs, source::Input, types};
use crate::{
    args::{Common, KernelChoice, Meaning, Mul},
    failure::Failure,
    occupancy, pipe,
    product::{check_epilogue, check_math, check_scales},
};
use std::{ffi::OsString, time::Duration};
use tilewright::{
    Activation, Backend, DType, Extremes, Isa, Joining, Math, Scales, SemiringId, Value,
    files::ReadOptions,
    kernels::Kernel,
    plan::{Gpu, Results},
};

/// A product, where its matrices are, and how it is to be computed.
pub struct Resolved {
    pub a: Input,
    pub b: Input,
    pub c0: Option<Input>,
    pub bias: Option<Input>,
    pub scales: Scales<Input>,
    /// How files are read, whatever their element type.
    pub reading: ReadOptions,
    /// The element type that all are converted to.
    pub dtype: Option<DType>,
    /// The element type of C, where it is not the usual one.
    pub result_type: Option<DType>,
    pub transposed: [bool; 2],
    /// A file of names.
    pub labels: Option<OsString>,
    pub semiring: Meaning,
    /// What is asked for besides the product.
    pub joining: Joining<Value>,
    pub activation: Activation,
    pub results: Results,
    /// Row and column of the element that is printed, by name or number.
    pub element: Option<[String; 2]>,
    pub backend: Backend,
    pub kernel: Option<KernelChoice>,
    pub gpu: Option<Gpu>,
    pub math: Math,
    pub threads: usize,
    pub max_steps: Option<u64>,
    pub max_time: Option<Duration>,
    pub is_verified: bool,
    pub outputs: Outputs,
}

impl Resolved {
    /// Refuses all that can be refused without reading a file.
    pub fn new(args: &Mul, common: &Common) -> Result<Self, Failure> {
        check(args)?;
        check_math(args.math, &args.semiring, args.dtype)?;
        check_epilogue(&args.semiring, (args.bias.is_some(), args.activation), args.dtype)?;
        let scales = Scales { a: args.scale_a.as_ref(), b: args.scale_b.as_ref() };
        check_scales(&args.semiring, scales.map(drop), args.dtype)?;
        let outputs = if args.plan { Outputs::default() } else { Outputs::parse(args, common)? };
        let input = |word: &OsString| Input::new(word, args.text.format_in);
        let (a, b) = (input(&args.a)?, input(&args.b)?);
        let c0 = args.accumulate.as_ref().map(input).transpose()?;
        let bias = args.bias.as_ref().map(input).transpose()?;
        let scales = scales.try_map(input)?;
        check_streams(&[
            ("A", Some(&a)),
            ("B", Some(&b)),
            ("C0", c0.as_ref()),
            ("the bias", bias.as_ref()),
            ("scales of A", scales.a.as_ref()),
            ("scales of B", scales.b.as_ref()),
        ])?;
        Ok(Self {
            a,
            b,
            c0,
            bias,
            scales,
            reading: reading(args),
            dtype: args.dtype,
            result_type: args.result_type,
            transposed: [args.transpose_a, args.transpose_b],
            labels: args.labels.clone(),
            semiring: args.semiring.clone(),
            joining: joining(args),
            activation: args.activation,
            results: if args.arg_out.is_some() { Results::ProductAndArg } else { Results::Product },
            element: args.from.clone().zip(args.to.clone()).map(<[String; 2]>::from),
            backend: args.backend,
            kernel: args.kernel,
            gpu: args.gpu.as_deref().map(|name| gpu_named(name, common)).transpose()?,
            math: args.math,
            threads: args.threads,
            max_steps: args.max_steps,
            max_time: args.max_time,
            is_verified: args.verify,
            outputs,
        })
    }

    /// A, B, C0, the bias and the scales as they are given.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let scales = [&self.scales.a, &self.scales.b].into_iter().flatten();
        [&self.a, &self.b].into_iter().chain(&self.c0).chain(&self.bias).chain(scales)
    }

    /// Whether there is a bias, and the activation.
    pub fn epilogue(&self) -> (bool, Activation) {
        (self.bias.is_some(), self.activation)
    }

    /// The instruction set that was asked for.
    pub fn isa(&self) -> Option<Isa> {
        isa(self.kernel)
    }

    /// The GPU kernel that was asked for.
    pub fn gpu_kernel(&self) -> Option<&'static Kernel> {
        match self.kernel {
            Some(KernelChoice::Gpu(kernel)) => Some(kernel),
            _ => None,
        }
    }
}

/// What the parser of the command line cannot know.
fn check(args: &Mul) -> Result<(), Failure> {
    // A plan needs no device.
    let backend = if args.plan { args.backend } else { args.backend.resolve()? };
    match args.semiring.built_in() {
        Some(id) => check_built_in(args, id)?,
        None => check_text(args)?,
    }
    if let Some(dtype) = args.dtype {
        types::check_supported(&args.semiring, dtype)?;
        args.semiring.output_or(dtype, args.result_type)?;
    }
    if args.plan {
        return match &args.gpu {
            Some(gpu) if matches!(backend, Backend::Cpu | Backend::Reference) => Err(Failure::usage(
                format!("--gpu {gpu} with --backend {backend}"),
                "choose --backend cuda or emulator",
            )),
            _ => Ok(()),
        };
    }
    if let (Some(gpu), true) = (&args.gpu, backend != Backend::Emulator) {
        return Err(Failure::usage(
            format!("--gpu {gpu} neither with --plan nor with --backend emulator"),
            "a plan is made for it, or the emulator imitates it; TILEWRIGHT_DEVICE numbers the GPUs that are here",
        ));
    }
    for (option, given) in
        [("--max-steps", args.max_steps.is_some()), ("--max-time", args.max_time.is_some())]
    {
        if given && backend != Backend::Emulator {
            return Err(Failure::usage(
                format!("{option} limits the emulator, not {backend}"),
                "leave it out, or choose --backend emulator",
            ));
        }
    }
    // A kernel for GPUs says where it is to run.
    let backend = match (args.backend, args.kernel) {
        (Backend::Auto, Some(KernelChoice::Gpu(_))) => Backend::Cuda.resolve()?,
        _ => backend,
    };
    check_kernel(backend, args.kernel)
}

/// What a built-in semiring cannot do.
fn check_built_in(args: &Mul, semiring: SemiringId) -> Result<(), Failure> {
    let factors = [("--alpha", args.alpha), ("--beta", args.beta)];
    let factor = factors.into_iter().find(|(_, given)| given.is_some());
    if let (Some((option, _)), true) = (factor, semiring != SemiringId::PlusTimes) {
        let what = format!("{option} is not defined for {semiring}");
        return Err(Failure::usage(what, "only plus-times has factors; leave it out"));
    }
    if args.arg_out.is_some() && !semiring.is_selective() {
        let what = format!("--arg-out is not defined for {semiring}: no single k wins a sum");
        return Err(Failure::usage(what, "choose a selective semiring, such as --semiring min-plus"));
    }
    Ok(())
}

/// What a semiring that is given by its text cannot do.
fn check_text(args: &Mul) -> Result<(), Failure> {
    let refused = [
        ("--alpha", args.alpha.is_some(), "leave it out: numbers of its own are part of the text"),
        ("--beta", args.beta.is_some(), "leave it out: numbers of its own are part of the text"),
        (
            "--arg-out",
            args.arg_out.is_some(),
            "choose a selective semiring by its name, such as --semiring min-plus",
        ),
    ];
    match refused.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, hint)) => Err(Failure::usage(
            format!("{option} is not defined for a semiring that is given by its text"),
            hint,
        )),
        None => Ok(()),
    }
}

/// The choice of a kernel is one of the backend's.
pub fn check_kernel(backend: Backend, kernel: Option<KernelChoice>) -> Result<(), Failure> {
    match (backend, kernel) {
        (Backend::Reference | Backend::Cuda | Backend::Emulator, Some(KernelChoice::Isa(isa))) => {
            Err(Failure::usage(
                format!("--kernel {isa} is an instruction set of the backend cpu, not of {backend}"),
                "leave out --kernel, or choose --backend cpu",
            ))
        }
        (Backend::Reference | Backend::Cuda | Backend::Emulator, None) => Ok(()),
        (Backend::Cuda | Backend::Emulator, Some(KernelChoice::Gpu(_))) => Ok(()),
        (_, Some(KernelChoice::Gpu(kernel))) => Err(Failure::usage(
            format!("--kernel {} is a GPU kernel, not one of the backend {backend}", kernel.name),
            "choose --backend cuda or emulator",
        )),
        (_, kernel) => {
            Isa::choose(isa(kernel))?;
            Ok(())
        }
    }
}

/// A GPU of the table, and where to look if there is none of this name.
fn gpu_named(name: &str, common: &Common) -> Result<Gpu, Failure> {
    occupancy::say_which(common, name);
    Gpu::named(name).map_err(|error| Failure::usage(error.to_string(), "`tilewright gpus` lists all"))
}

/// The instruction set that was asked for.
fn isa(kernel: Option<KernelChoice>) -> Option<Isa> {
    match kernel {
        Some(KernelChoice::Isa(isa)) => Some(isa),
        _ => None,
    }
}

/// Refuses one stream for two inputs.
fn check_streams(inputs: &[(&str, Option<&Input>)]) -> Result<(), Failure> {
    let given = || inputs.iter().filter_map(|&(name, input)| Some((name, input?)));
    let streams: Vec<&str> = given().filter(|(_, input)| input.is_stream).map(|(name, _)| name).collect();
    if let [first, second, ..] = streams[..] {
        let what = format!("{first} and {second} would both be read from standard input");
        return Err(Failure::usage(what, "it can be read once: save one of them to a file first"));
    }
    let files: Vec<_> = given()
        .filter(|(_, input)| !input.is_stream)
        .map(|(name, input)| (name, Some(input.spec.path())))
        .collect();
    pipe::check(&files)
}

/// What the product is joined with.
fn joining(args: &Mul) -> Joining<Value> {
    match (args.alpha, args.beta, &args.accumulate) {
        (None, None, None) => Joining::Replace,
        (None, None, Some(_)) => Joining::Accumulate,
        (alpha, _, None) => Joining::<Value>::scale(alpha.unwrap_or(1.0), 0.0),
        (alpha, beta, Some(_)) => Joining::<Value>::scale(alpha.unwrap_or(1.0), beta.unwrap_or(1.0)),
    }
}

fn reading(args: &Mul) -> ReadOptions {
    let fill = args.semiring.zero();
    // The extreme integers stand for infinities where these are the semiring's zero.
    let extremes = if fill.to_f64().is_infinite() { Extremes::Absent } else { Extremes::Refuse };
    // A sum has no absent terms, even though 0 changes none.
    let empty_is_absent = match args.semiring.built_in() {
        Some(id) => id != SemiringId::PlusTimes,
        None => fill.to_f64().is_infinite(),
    };
    let text = args.text.dialect();
    ReadOptions { extremes, fill, pattern: Value::Int(1), empty_is_absent, text, ..ReadOptions::default() }
}
