//! Hunts for wrong products and paths on this processor.
//!
//! Problem after problem follows from a seed: any semiring and element type, instruction set, number of threads, layout, update,
//! with winners, in batches, to be refused, over semirings by their text; best paths of graphs; elements that are hard. All matrices lie at guard pages. Every result is compared with
//! the definition, bit for bit where sums are exact and within the stated bound elsewhere. What is found is made smaller, and
//! printed with the options that give it again.

mod case;
mod crash;
mod double;
mod form;
mod judge;
mod kind;
mod options;
mod pages;
mod paths;
mod plant;
mod random;
mod run;
mod sample;
mod subject;
mod tally;
mod text;

use case::{Case, Smaller};
use options::Hunt;
use std::{
    process::ExitCode,
    time::{Duration, Instant},
};
use tally::Tally;
use tilewright_cpu::{FORCE_ISA, Isa};

fn main() -> ExitCode {
    let hunt = match options::parse(std::env::args().skip(1)) {
        Ok(Some(hunt)) => hunt,
        Ok(None) => return ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("error: {text}\nhint: --help lists the options");
            return ExitCode::from(2);
        }
    };
    // As many threads as a problem may ask for, however many processors there are.
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(8).build_global() {
        eprintln!("error: {error}");
        return ExitCode::from(2);
    }
    // A panic is a finding, and is told as such.
    std::panic::set_hook(Box::new(|_| ()));
    crash::watch();
    match search(&hunt) {
        Ok(tally) => {
            println!("seed {}: {tally}; nothing found", hunt.seed);
            ExitCode::SUCCESS
        }
        Err(text) => {
            println!("FOUND: {text}");
            ExitCode::from(crash::FOUND as u8)
        }
    }
}

/// The instruction sets to hunt on: all that this processor has, or the one that the environment forces.
fn isas() -> Vec<Isa> {
    let forced = std::env::var(FORCE_ISA).ok().and_then(|name| name.parse().ok());
    Isa::ALL.iter().copied().filter(|&isa| forced.unwrap_or(isa) == isa && isa.is_supported()).collect()
}

/// Computes problems until time is up, or one is wrong.
fn search(hunt: &Hunt) -> Result<Tally, String> {
    let (began, isas, mut tally) = (Instant::now(), isas(), Tally::default());
    let mut told = began;
    let indices = match hunt.case {
        Some(index) => index..index + 1,
        None => 0..hunt.cases.unwrap_or(u64::MAX),
    };
    for index in indices {
        let case = Case::new(hunt.seed, index, &isas, hunt.smaller);
        match attempt(&case, hunt) {
            Ok(report) => tally.count(&case, report.as_ref()),
            Err(what) => return Err(smallest(case, what, hunt, &isas)),
        }
        if told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            eprintln!("{} s: {tally}", began.elapsed().as_secs());
        }
        if began.elapsed() > hunt.time {
            break;
        }
    }
    Ok(tally)
}

fn attempt(case: &Case, hunt: &Hunt) -> run::Outcome {
    crash::during(&format!("{case}\n"), || run::run(case, hunt.plant))
}

/// The finding in the smallest problem of its kind that is wrong, too, and how to have it again.
fn smallest(mut case: Case, mut what: String, hunt: &Hunt, isas: &[Isa]) -> String {
    let first = format!("{what}\n{case}");
    let (seed, index) = (case.seed, case.index);
    let fails = |smaller: Smaller| {
        let case = Case::new(seed, index, isas, smaller);
        attempt(&case, hunt).err().map(|what| (case, what))
    };
    let (began, patience) = (Instant::now(), Duration::from_secs(20));
    while began.elapsed() < patience {
        let Some((smaller, why)) = case.shrunk().into_iter().find_map(fails) else { break };
        (case, what) = (smaller, why);
    }
    format!("{first}\nsmaller: {what}\n{case}")
}
