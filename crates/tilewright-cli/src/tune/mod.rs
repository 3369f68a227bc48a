//! `tilewright tune`: the fastest way of a product, measured and kept.

mod chooser;
mod measure;
mod report;

use crate::{
    args::{Common, Data, Format, Meaning, Tune},
    bench::case::Case,
    failure::Failure,
    json,
    product::check_math,
    terminal,
};
use report::{Kept, Product, Report};
use tilewright::{
    Error, ErrorKind, SemiringId,
    cuda::{Driver, DriverKind, Engine, Tunings},
};

pub fn run(args: &Tune, common: &Common) -> Result<(), Failure> {
    let tunings = Tunings::of_user().ok_or_else(no_place)?;
    if args.list || args.clear {
        return kept(args, common, &tunings);
    }
    let (semiring, dtype) = (Meaning::BuiltIn(args.semiring), args.dtype());
    semiring.output(dtype)?;
    check_math(args.math, &semiring, Some(dtype))?;
    if args.semiring == SemiringId::LogPlus {
        let what = "the kernel for log-plus has no ways of its own: it has another one compute plus-times";
        return Err(Failure::usage(what, "tune another semiring: all but log-plus have ways"));
    }
    let engine = Engine::shared()?;
    if engine.driver_kind() == DriverKind::Emulator {
        return Err(emulated().into());
    }
    let driver = Driver::find()?.version();
    let mut report = Report {
        schema: 1,
        gpu: engine.device().name.clone(),
        driver: driver.to_string(),
        semiring: args.semiring.name(),
        dtype: dtype.name(),
        products: Vec::new(),
    };
    if common.format == Format::Table {
        report::print(&report.heading())?;
    }
    for size in args.sizes.iter().flat_map(|sizes| sizes.0.iter().copied()) {
        for &order in &args.orders {
            let case =
                Case::new(&semiring, dtype, size, order, Data::of(args.semiring))?.with_math(args.math);
            let measured = measure::ways(&engine, (args.ways as usize, args.rounds as usize), &case)?;
            for fault in &measured.faults {
                terminal::note(common, "wrong result", fault);
            }
            let Some(best) = chooser::winner(&measured.samples) else {
                let what = format!("no way to compute {}x{}x{} can be measured", size.m, size.n, size.k);
                return Err(Failure::Check { what, hint: "see `tilewright doctor`".into() });
            };
            let seconds = [best, 0].map(|way| chooser::median(&measured.samples[way]));
            tunings.store((&measured.request, engine.device(), driver), measured.ways[best], seconds)?;
            let product = Product::new(size, order, &measured, best);
            if common.format == Format::Table {
                report::print(&product.text())?;
            }
            report.products.push(product);
        }
    }
    match common.format {
        Format::Json => json::print(&report),
        Format::Table | Format::Csv => Ok(()),
    }
}

/// Shows or removes what is kept.
fn kept(args: &Tune, common: &Common, tunings: &Tunings) -> Result<(), Failure> {
    let directory = tunings.info().directory;
    let removed = match args.clear {
        true => {
            let failed = |source| Error::from(ErrorKind::Io { path: directory.clone(), source });
            tunings.clear().map_err(failed)?.entries
        }
        false => 0,
    };
    let kept = Kept::new(directory.display().to_string(), removed, &tunings.list());
    match common.format {
        Format::Json => json::print(&kept),
        Format::Table | Format::Csv => report::print(&kept.text()),
    }
}

fn no_place() -> Failure {
    let hint = "unset TILEWRIGHT_NO_CACHE, or name a directory in TILEWRIGHT_CACHE_DIR".into();
    let why = "the cache is disabled, or there is no cache directory".into();
    Failure::Engine(ErrorKind::Unavailable { what: "a place for tunings", why, hint }.into())
}

fn emulated() -> Error {
    ErrorKind::Unsupported {
        what: "tuning on an emulated GPU".into(),
        why: "the emulator's times say nothing about those of a GPU".into(),
        hint: "run this where there is a GPU".into(),
    }
    .into()
}
