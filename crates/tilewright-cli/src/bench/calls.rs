//! `bench --calls`: what a call costs the host, and when its result is there.

use super::{
    case::Case,
    cuda::{Device, Set},
    library::{CUBLAS, Library},
    print,
    report::Machine,
    resolved::Resolved,
    table,
};
use crate::{
    args::{Common, Format, Order, Size},
    failure::Failure,
    json, terminal, wrapping,
};
use serde::Serialize;
use std::{cell::RefCell, time::Instant};
use tilewright::{
    DynMatrix, DynRef, Error, Layout,
    cuda::{Competitor, DeviceMut, DeviceProduct, DeviceRef, Engine, Timing},
    plan::Query,
};
use tilewright_kernels::Batch;

/// Squares where no sizes are given.
pub const SIZES: [usize; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
/// Calls that follow one another before the device is waited for: fewer than it takes before a full queue makes the caller wait.
const TOGETHER: usize = 50;
/// Calls of a round that are waited for one by one.
const APART: usize = 10;
/// Products are kept and kernels loaded after so many calls, and the clock has risen.
const WARM: usize = 20;

/// The JSON object of `bench --calls`; the fields are its keys.
#[derive(Serialize)]
struct Report {
    schema: u32,
    version: &'static str,
    semiring: String,
    dtype: &'static str,
    machine: Machine,
    calls: Vec<Row>,
}

/// A contender at one size; times are medians.
#[derive(Serialize)]
struct Row {
    m: usize,
    n: usize,
    k: usize,
    order: &'static str,
    batch: usize,
    contender: &'static str,
    /// Until the call returns, while other calls wait in the queue.
    host_seconds: f64,
    /// Until the result is there, on a device that had nothing to do.
    total_seconds: f64,
    /// Of the device, where calls follow without a pause.
    device_seconds: f64,
}

pub fn run(
    asked: &Resolved,
    batch: usize,
    common: &Common,
    device: &Device,
    machine: Machine,
) -> Result<(), Failure> {
    let mut report = Report {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        semiring: asked.semiring.name().to_owned(),
        dtype: asked.dtype.name(),
        machine,
        calls: Vec::new(),
    };
    match common.format {
        Format::Table => print(&heading(&report))?,
        Format::Csv => print("m,n,k,order,batch,contender,host_seconds,total_seconds,device_seconds\n")?,
        Format::Json => {}
    }
    for size in asked.sizes(&SIZES) {
        for &order in &asked.orders {
            terminal::note(common, "bench", &table::product(size, order));
            let case = asked.case(size, order, asked.data)?;
            let rows = measure(device, batch, &case, (size, order))?;
            match common.format {
                Format::Table => print(&rows.iter().map(line).collect::<String>())?,
                Format::Csv => print(&rows.iter().map(csv).collect::<String>())?,
                Format::Json => {}
            }
            report.calls.extend(rows);
        }
    }
    if common.format == Format::Json {
        json::print(&report)?;
    }
    Ok(())
}

fn heading(report: &Report) -> String {
    let (bold, faint) = (terminal::label(), terminal::faint());
    let name = report.machine.gpu.as_ref().map_or("", |gpu| &gpu.name);
    let title = format!("{bold}{} on {}, microseconds of a call{bold:#}\n", report.semiring, report.dtype);
    let columns = format!(
        "{faint}  {:24} {:12} {:>10} {:>12} {:>10}{faint:#}\n",
        "product", "contender", "returns", "result there", "device"
    );
    title + &wrapping::paragraph(name) + &columns
}

fn line(row: &Row) -> String {
    let product = table::product_named(row.m, row.n, row.k, row.order);
    let product = if row.batch == 1 { product } else { format!("{} times {product}", row.batch) };
    let [host, total, device] =
        [row.host_seconds, row.total_seconds, row.device_seconds].map(|seconds| seconds * 1e6);
    format!("  {product:24} {:12} {host:10.2} {total:12.2} {device:10.2}\n", row.contender)
}

fn csv(row: &Row) -> String {
    let Row { m, n, k, order, batch, contender, host_seconds, total_seconds, device_seconds } = row;
    format!("{m},{n},{k},{order},{batch},{contender},{host_seconds},{total_seconds},{device_seconds}\n")
}

/// What is called, by its name.
struct Contender<'a> {
    name: &'static str,
    call: Box<dyn FnMut() -> Result<(), Error> + 'a>,
    /// Seconds until calls returned.
    host: Vec<f64>,
    /// Seconds until results were there.
    total: Vec<f64>,
}

fn measure(
    device: &Device,
    batch: usize,
    case: &Case,
    (size, order): (Size, Order),
) -> Result<Vec<Row>, Failure> {
    let Device { engine, cublas, pace, .. } = device;
    let (Size { m, n, k }, count) = (size, batch);
    let [a, b] = case.views();
    let Query { semiring, own, .. } = case.query()?;
    let wrong = case.wrong_result(count * m, n)?;
    let copies = if count == 1 { None } else { Some([below_itself(a, count)?, below_itself(b, count)?]) };
    let [a, b] = copies.as_ref().map_or([a, b], |copies| copies.each_ref().map(DynMatrix::as_ref));
    let set = RefCell::new(Set::new(engine, [a, b, wrong.as_ref()])?);
    let apart = |rows, cols| if count > 1 { (rows * cols) as isize } else { 0 };
    let batch = Batch { count, a: apart(m, k), b: apart(k, n), c: apart(m, n) };
    let product = own.map_or(DeviceProduct::new(semiring), DeviceProduct::with_own).batch(batch);
    let multiply = || {
        let Set { a, b, c } = &mut *set.borrow_mut();
        let a = DeviceRef::from(&*a).window(0, 0, m, k)?;
        let b = DeviceRef::from(&*b).window(0, 0, k, n)?;
        engine.multiply(&product, a, b, DeviceMut::from(c).window(0, 0, m, n)?).map(drop)
    };
    let mut contenders = vec![Contender::new("tilewright", multiply)];
    if let Some([cublas, _]) = cublas {
        let (library, set) = (Library::Cublas(cublas), &set);
        contenders.push(Contender::new(CUBLAS, move || library.run(&mut set.borrow_mut())));
    }
    for contender in &mut contenders {
        set.borrow_mut().c = engine.upload_dyn(wrong.as_ref())?;
        (contender.call)()?;
        let c = set.borrow().result()?;
        for first in [0, (count - 1) * m] {
            let one = c.as_ref().window(first, 0, m, n)?.to_matrix()?;
            if let Some(fault) = case.fault(&one)? {
                let what = format!("{} computes a wrong result at {m}x{n}x{k}: {fault}", contender.name);
                return Err(Failure::Check { what, hint: "see `tilewright doctor`".into() });
            }
        }
    }
    for _ in 0..pace.samples {
        contenders.iter_mut().try_for_each(|contender| contender.round(engine))?;
    }
    let on_device = |contender: &mut Contender<'_>| -> Result<f64, Error> {
        let run = Box::new(|_| (contender.call)());
        let timings = engine.race(&mut [Competitor { name: String::new(), run }], *pace)?;
        Ok(timings.first().map_or(f64::NAN, Timing::median))
    };
    let row = |mut contender: Contender<'_>| -> Result<Row, Failure> {
        let device_seconds = on_device(&mut contender)?;
        let [host_seconds, total_seconds] = [contender.host, contender.total].map(median);
        let (contender, order) = (contender.name, order.name());
        Ok(Row { m, n, k, order, batch: count, contender, host_seconds, total_seconds, device_seconds })
    };
    contenders.into_iter().map(row).collect()
}

impl<'a> Contender<'a> {
    fn new(name: &'static str, call: impl FnMut() -> Result<(), Error> + 'a) -> Self {
        Self { name, call: Box::new(call), host: Vec::new(), total: Vec::new() }
    }

    fn round(&mut self, engine: &Engine) -> Result<(), Error> {
        for _ in 0..WARM {
            (self.call)()?;
        }
        engine.synchronize()?;
        for _ in 0..TOGETHER {
            let start = Instant::now();
            (self.call)()?;
            self.host.push(start.elapsed().as_secs_f64());
        }
        for _ in 0..APART {
            engine.synchronize()?;
            let start = Instant::now();
            (self.call)()?;
            engine.synchronize()?;
            self.total.push(start.elapsed().as_secs_f64());
        }
        Ok(())
    }
}

/// A matrix several times below itself, by rows.
fn below_itself(matrix: DynRef<'_>, count: usize) -> Result<DynMatrix, Error> {
    let Layout { rows, cols, .. } = matrix.layout();
    let mut all = DynMatrix::zeros(matrix.dtype(), count * rows, cols)?;
    for copy in 0..count {
        all.as_mut().window(copy * rows, 0, rows, cols)?.copy_from(matrix)?;
    }
    Ok(all)
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    Timing { name: String::new(), seconds }.median()
}
