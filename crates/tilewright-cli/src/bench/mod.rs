//! `tilewright bench`: kernels against each other and against what the hardware can do.

mod calls;
pub mod case;
mod chart;
mod cpu;
mod csv;
pub mod cuda;
mod library;
mod measured;
mod monitor;
mod report;
mod table;

use crate::{
    args::{Bench, Common, Data, Format, KernelChoice, Library, LibraryMath, Meaning, Order, Size, Where},
    charts, doctor,
    failure::Failure,
    hints, json,
    product::check_math,
    terminal::{self, Style},
    wrapping,
};
use case::Case;
use cpu::{Contender, Steps};
use cuda::Device;
use measured::{Measured, Outcome, Terms};
use monitor::Monitor;
use report::{GpuFacts, Machine, Report, Standings};
use std::io::Write;
use tilewright::{
    DType, Error, Math, SemiringId,
    cuda::{Cublas, CublasLt, CublasMath, Driver, Engine, Pace, Repetitions},
    expressions::Cell,
    plan::{Floor, Gpu, peak},
};

/// Squares where no sizes are given.
const ON_GPU: [usize; 3] = [1024, 2048, 4096];
const ON_CPU: [usize; 3] = [256, 512, 1024];

pub fn run(args: &Bench, common: &Common) -> Result<(), Failure> {
    check(args)?;
    let mut field = Field::new(args, common)?;
    if let (true, Some((device, _))) = (args.calls, &field.device) {
        return calls::run(args, common, device, field.machine(args)?);
    }
    let mut report = Report {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        semiring: args.semiring.name().to_owned(),
        dtype: args.dtype().name(),
        data: data(args)?.name(),
        machine: field.machine(args)?,
        results: Vec::new(),
    };
    match common.format {
        Format::Table => print(&heading(&report))?,
        Format::Csv => print(&csv::header())?,
        Format::Json => {}
    }
    for size in field.sizes(args) {
        for &order in &args.orders {
            field.measure(args, common, (size, order), &mut report)?;
        }
    }
    if common.format == Format::Json {
        json::print(&report)?;
    }
    if let Some(path) = &args.plot {
        charts::write(path, &chart::figure(&report, table::unit(args.semiring.built_in(), args.dtype())))?;
        terminal::note(common, "plot", &format!("wrote {}", path.display()));
    }
    conclude(&report)
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
fn check(args: &Bench) -> Result<(), Failure> {
    args.semiring.output_or(args.dtype(), args.result_type)?;
    data(args)?;
    check_math(args.math, &args.semiring, Some(args.dtype()))?;
    args.plot.as_deref().map_or(Ok(()), charts::check)?;
    let is_measured = |library: &Library| {
        let types: &[DType] = match library {
            Library::Cublas => &[DType::F32, DType::F64],
            Library::Cublaslt => &[DType::F16, DType::Bf16, DType::F32, DType::F64, DType::I8],
        };
        args.semiring.is(SemiringId::PlusTimes) && types.contains(&args.dtype())
    };
    if let Some(library) = args.against.iter().find(|library| !is_measured(library)) {
        let what = format!("--against {} with {} on {}", library.name(), args.semiring.name(), args.dtype());
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

/// Who takes part.
struct Field {
    device: Option<(Device, Gpu)>,
    cpu: Vec<Contender>,
}

impl Field {
    fn new(args: &Bench, common: &Common) -> Result<Self, Failure> {
        let device = device(args, common)?;
        let wants_cpu = args.backend != Where::Cuda
            && !args.calls
            && (args.kernel.is_empty() || args.kernel.iter().any(|c| matches!(c, KernelChoice::Isa(_))));
        let steps = if args.ladder && device.is_none() { Steps::All } else { Steps::Best };
        let cpu = if wants_cpu { Contender::all(args, steps)? } else { Vec::new() };
        Ok(Self { device, cpu })
    }

    fn sizes(&self, args: &Bench) -> Vec<Size> {
        let defaults = if self.device.is_some() { ON_GPU } else { ON_CPU };
        match args.sizes.is_empty() {
            true => defaults.map(Size::square).to_vec(),
            false => args.sizes.iter().flat_map(|sizes| sizes.0.iter().copied()).collect(),
        }
    }

    fn machine(&self, args: &Bench) -> Result<Machine, Failure> {
        let gpu = self.device.as_ref().map(|(device, gpu)| -> Result<GpuFacts, Error> {
            let peak = args.semiring.built_in().and_then(|semiring| peak(gpu, semiring, args.dtype()));
            Ok(GpuFacts {
                name: gpu.name.into(),
                compute_capability: gpu.capability().to_string(),
                multiprocessors: gpu.multiprocessors,
                driver: Driver::find().ok().map(|driver| driver.version().to_string()),
                cublas: device.cublas.as_ref().map(|[cublas, _]| cublas.version()).transpose()?,
                cublas_math: device.cublas.as_ref().map(|_| math(args).name()),
                cublaslt: device.cublaslt.as_ref().map(CublasLt::version),
                cublaslt_compute: device
                    .cublaslt
                    .as_ref()
                    .and_then(|_| math(args).compute_name(args.dtype())),
                cublas_overrides: CublasMath::overrides().into_iter().collect(),
                repetitions_overlap: !args.no_overlap,
                peak_pair_ops_per_second: peak.map(|p| p.pair_ops_per_second),
                peak_unit: peak.map(|p| p.unit),
                memory_bytes_per_second: gpu.memory_bytes_per_second as f64,
            })
        });
        Ok(Machine { cpu: doctor::cpu::name(), threads: doctor::cpu::cores(), gpu: gpu.transpose()? })
    }

    /// Measures everybody on one product, and adds to the report.
    fn measure(
        &mut self,
        args: &Bench,
        common: &Common,
        (size, order): (Size, Order),
        report: &mut Report,
    ) -> Result<(), Failure> {
        terminal::note(common, "bench", &table::product(size, order));
        let case = Case::new(&args.semiring, args.dtype(), size, order, data(args)?)?
            .with_math(args.math)
            .giving(args.result_type)?;
        let (query, work) = (case.query()?, case.work()?);
        let mut measured = cpu::measure(&case, &self.cpu, args.rounds as usize)?;
        // Equal elements fit into 16 bits; those that were asked for do not.
        let is_wide = data(args)? == Data::Wide;
        if !is_wide && measured.iter().any(|one| one.terms == Terms::Pruned) {
            measured.extend(self.with_nothing_to_prune(args, size, order)?);
        }
        let (mut floor, mut conditions) = (None, None);
        if let Some((device, gpu)) = &mut self.device {
            floor = Floor::on(gpu, &query, &work);
            let monitor = Monitor::start(&device.engine.device().pci_bus_id);
            let on_gpu = device.measure(args, &case);
            conditions = monitor.and_then(Monitor::finish);
            measured.extend(on_gpu?);
        }
        warn(common, &measured);
        let floor = floor.as_ref();
        let standings = Standings { size, order, work, floor, conditions, measured: &measured };
        let rows = standings.rows();
        match common.format {
            Format::Table => print(&table::text(&query, &rows))?,
            Format::Csv => print(&csv::lines(report, &rows))?,
            Format::Json => {}
        }
        report.results.extend(rows);
        Ok(())
    }

    /// The processor once more, on equal elements: how fast it is where pruning gains nothing.
    fn with_nothing_to_prune(
        &self,
        args: &Bench,
        size: Size,
        order: Order,
    ) -> Result<Vec<Measured>, Failure> {
        let case =
            Case::new(&args.semiring, args.dtype(), size, order, Data::Equal)?.giving(args.result_type)?;
        let mut measured = cpu::measure(&case, &self.cpu, args.rounds as usize)?;
        for one in &mut measured {
            one.terms = Terms::NothingToPrune;
        }
        Ok(measured)
    }
}

/// The GPU, if it takes part. That there is none is said, not an error, unless something was asked for that needs it.
fn device(args: &Bench, common: &Common) -> Result<Option<(Device, Gpu)>, Failure> {
    let only_isas = !args.kernel.is_empty() && args.kernel.iter().all(|c| matches!(c, KernelChoice::Isa(_)));
    if args.backend == Where::Cpu || (only_isas && args.against.is_empty()) {
        return Ok(None);
    }
    let needs_gpu = args.backend == Where::Cuda
        || args.calls
        || !args.against.is_empty()
        || args.kernel.iter().any(|c| matches!(c, KernelChoice::Gpu(_)));
    let engine = match Engine::shared() {
        Ok(engine) => engine,
        Err(error) if needs_gpu || !error.is_unavailable() => return Err(error.into()),
        Err(error) => {
            if !common.quiet {
                terminal::say(Style::Note, "no GPU, the processor alone is measured", &error.to_string());
                if let Some(hint) = hints::of(&error) {
                    terminal::say(Style::Hint, "hint", &hint);
                }
            }
            return Ok(None);
        }
    };
    let gpu = engine.gpu();
    let asked = |library| args.against.contains(&library).then_some(math(args));
    let both = |math| Ok::<_, Error>([Cublas::open(&engine, math)?, Cublas::open(&engine, math)?]);
    let cublas = asked(Library::Cublas).map(both).transpose()?;
    let cublaslt = asked(Library::Cublaslt).map(|math| CublasLt::open(&engine, math)).transpose()?;
    let repetitions = if args.no_overlap { Repetitions::Apart } else { Repetitions::Overlap };
    let pace = Pace { samples: args.rounds as usize, repetitions, ..Pace::default() };
    Ok(Some((Device { engine, cublas, cublaslt, pace }, gpu)))
}

fn math(args: &Bench) -> CublasMath {
    match (args.cublas_math, args.math) {
        (None, Math::Tf32) | (Some(LibraryMath::Tf32), _) => CublasMath::Tf32,
        (None | Some(LibraryMath::Default), _) => CublasMath::Default,
        (Some(LibraryMath::Pedantic), _) => CublasMath::Pedantic,
    }
}

/// Says at once what was wrong.
fn warn(common: &Common, measured: &[Measured]) {
    for one in measured {
        if let Outcome::Wrong(fault) = &one.outcome {
            terminal::note(common, "wrong result", &format!("{}: {fault}", one.name));
        }
    }
}

fn heading(report: &Report) -> String {
    let (bold, machine) = (terminal::label(), &report.machine);
    let mut text = format!("{bold}{} on {}, {}{bold:#}\n", report.semiring, report.dtype, report.data);
    if let Some(gpu) = &machine.gpu {
        let peak = match (gpu.peak_pair_ops_per_second, gpu.peak_unit) {
            (Some(peak), Some(unit)) => format!("; peak {:.1} Tpair-op/s, {unit}", peak / 1e12),
            _ => String::new(),
        };
        let (name, cc, sms) = (&gpu.name, &gpu.compute_capability, gpu.multiprocessors);
        text += &wrapping::paragraph(&format!("GPU {name}, compute capability {cc}, {sms} SMs{peak}"));
        text += &wrapping::paragraph(&gpu.terms());
    }
    if let Some(cpu) = &machine.cpu {
        let threads = machine.threads.map_or(String::new(), |n| format!(", {n} threads"));
        text += &wrapping::paragraph(&format!("CPU {cpu}{threads}"));
    }
    text
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(terminal::stdout().write_all(text.as_bytes())?)
}

/// A wrong result fails the run, and so does one in which nothing could be measured.
fn conclude(report: &Report) -> Result<(), Failure> {
    let mut wrong = report.results.iter().filter(|row| row.verified == Some(false));
    if let Some(row) = wrong.next() {
        let what =
            format!("{} computes a wrong result at {}x{}x{} {}", row.kernel, row.m, row.n, row.k, row.order);
        return Err(Failure::Check { what, hint: "see `tilewright doctor`".into() });
    }
    if report.results.iter().all(|row| row.seconds.is_none()) {
        let reason = report.results.iter().find_map(|row| row.problem.clone()).unwrap_or_default();
        let what = format!("nothing was measured: every kernel refuses; the first {reason}");
        return Err(Failure::usage(what, "choose other sizes, or other kernels"));
    }
    Ok(())
}
