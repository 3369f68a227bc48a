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
mod resolved;
mod table;

pub use table::time;

use crate::{
    args::{Bench, Common, Data, Format, Order, Size},
    charts, doctor,
    failure::Failure,
    hints, json,
    terminal::{self, Style},
    wrapping,
};
use cpu::{Contender, Steps};
use cuda::Device;
use measured::{Measured, Outcome, Terms};
use monitor::Monitor;
use report::{GpuFacts, Machine, Report, Standings};
use resolved::{Part, Resolved};
use std::io::Write;
use tilewright::{
    Error,
    cuda::{Cublas, CublasLt, CublasMath, Driver, Engine, Repetitions},
    plan::{Floor, Gpu, peak},
};

/// Squares where no sizes are given.
const ON_GPU: [usize; 3] = [1024, 2048, 4096];
const ON_CPU: [usize; 3] = [256, 512, 1024];

pub fn run(args: &Bench, common: &Common) -> Result<(), Failure> {
    let asked = Resolved::new(args)?;
    let mut field = Field::new(&asked, common)?;
    if let (Some(batch), Some((device, _))) = (asked.calls, &field.device) {
        return calls::run(&asked, batch, common, device, field.machine(&asked)?);
    }
    let mut report = Report {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        semiring: asked.semiring.name().to_owned(),
        dtype: asked.dtype.name(),
        data: asked.data.name(),
        machine: field.machine(&asked)?,
        results: Vec::new(),
    };
    match common.format {
        Format::Table => print(&heading(&report))?,
        Format::Csv => print(&csv::header())?,
        Format::Json => {}
    }
    for size in asked.sizes(if field.device.is_some() { &ON_GPU } else { &ON_CPU }) {
        for &order in &asked.orders {
            field.measure(&asked, common, (size, order), &mut report)?;
        }
    }
    if common.format == Format::Json {
        json::print(&report)?;
    }
    if let Some(path) = &asked.plot {
        charts::write(path, &chart::figure(&report, table::unit(asked.semiring.built_in(), asked.dtype)))?;
        terminal::note(common, "plot", &format!("wrote {}", path.display()));
    }
    conclude(&report)
}

/// Who takes part.
struct Field {
    device: Option<(Device, Gpu)>,
    cpu: Vec<Contender>,
}

impl Field {
    fn new(asked: &Resolved, common: &Common) -> Result<Self, Failure> {
        let device = device(asked, common)?;
        let steps = if asked.ladder && device.is_none() { Steps::All } else { Steps::Best };
        let cpu =
            if asked.wants_cpu { Contender::all(&asked.isas, asked.threads, steps)? } else { Vec::new() };
        Ok(Self { device, cpu })
    }

    fn machine(&self, asked: &Resolved) -> Result<Machine, Failure> {
        let gpu = self.device.as_ref().map(|(device, gpu)| -> Result<GpuFacts, Error> {
            let peak = asked.semiring.built_in().and_then(|semiring| peak(gpu, semiring, asked.dtype));
            Ok(GpuFacts {
                name: gpu.name.into(),
                compute_capability: gpu.capability().to_string(),
                multiprocessors: gpu.multiprocessors,
                driver: Driver::find().ok().map(|driver| driver.version().to_string()),
                cublas: device.cublas.as_ref().map(|[cublas, _]| cublas.version()).transpose()?,
                cublas_math: asked.cublas.map(CublasMath::name),
                cublaslt: device.cublaslt.as_ref().map(CublasLt::version),
                cublaslt_compute: asked.cublaslt.and_then(|math| math.compute_name(asked.dtype)),
                cublas_overrides: CublasMath::overrides().into_iter().collect(),
                repetitions_overlap: asked.pace.repetitions == Repetitions::Overlap,
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
        asked: &Resolved,
        common: &Common,
        (size, order): (Size, Order),
        report: &mut Report,
    ) -> Result<(), Failure> {
        terminal::note(common, "bench", &table::product(size, order));
        let case = asked.case(size, order, asked.data)?;
        let (query, work) = (case.query()?, case.work()?);
        let mut measured = cpu::measure(&case, &self.cpu, asked.pace.samples)?;
        // Equal elements fit into 16 bits; those that were asked for do not.
        if asked.data != Data::Wide && measured.iter().any(|one| one.terms == Terms::Pruned) {
            measured.extend(self.with_nothing_to_prune(asked, size, order)?);
        }
        let (mut floor, mut conditions) = (None, None);
        if let Some((device, gpu)) = &mut self.device {
            floor = Floor::on(gpu, &query, &work);
            let monitor = Monitor::start(&device.engine.device().pci_bus_id);
            let on_gpu = device.measure(asked, &case);
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
        asked: &Resolved,
        size: Size,
        order: Order,
    ) -> Result<Vec<Measured>, Failure> {
        let case = asked.case(size, order, Data::Equal)?;
        let mut measured = cpu::measure(&case, &self.cpu, asked.pace.samples)?;
        for one in &mut measured {
            one.terms = Terms::NothingToPrune;
        }
        Ok(measured)
    }
}

/// The GPU, if it takes part. That there is none is said, not an error, unless something was asked for that needs it.
fn device(asked: &Resolved, common: &Common) -> Result<Option<(Device, Gpu)>, Failure> {
    if asked.gpu == Part::None {
        return Ok(None);
    }
    let engine = match Engine::shared() {
        Ok(engine) => engine,
        Err(error) if asked.gpu == Part::Needed || !error.is_unavailable() => return Err(error.into()),
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
    let both = |math| Ok::<_, Error>([Cublas::open(&engine, math)?, Cublas::open(&engine, math)?]);
    let cublas = asked.cublas.map(both).transpose()?;
    let cublaslt = asked.cublaslt.map(|math| CublasLt::open(&engine, math)).transpose()?;
    Ok(Some((Device { engine, cublas, cublaslt, pace: asked.pace }, gpu)))
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
