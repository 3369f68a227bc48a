//! `tilewright kernels`: the catalogue of GPU kernels.

mod describe;
mod list;
mod preconditions;

use crate::{
    args::{Common, Format, Kernels},
    failure::Failure,
    json,
};
use std::io::Write;
use tilewright::{Error, cuda::ProgramPtx};
use tilewright_kernels::{Kernel, Role, find, select};

pub fn run(args: &Kernels, common: &Common) -> Result<(), Failure> {
    let Some(name) = &args.name else { return list::print(common.format) };
    let kernel = find(name)?;
    let text = match (args.source, args.ptx) {
        (true, _) => Some(("source", kernel.source.to_owned())),
        (_, true) => Some(("ptx", ptx(kernel)?)),
        _ => None,
    };
    match (text, common.format) {
        (None, Format::Json) => json::print(&describe::Description::of(kernel)),
        (None, _) => print(&describe::Description::of(kernel).text()),
        (Some((key, text)), Format::Json) => {
            json::print(&serde_json::json!({ "schema": 1, "name": kernel.name, key: text }))
        }
        (Some((_, text)), _) => print(&text),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(anstream::stdout().lock().write_all(text.as_bytes())?)
}

/// The PTX of the program that computes, for the oldest architecture that has all instructions in use.
fn ptx(kernel: &'static Kernel) -> Result<String, Failure> {
    let recipe = match preconditions::sample(kernel) {
        Some((request, _)) => select(&request, Some(kernel), &ProgramPtx::exists)?.recipe,
        None => kernel.show(&[]).map_err(Error::from)?.recipe().clone(),
    };
    let Some(launch) = recipe.launches().iter().find(|launch| launch.role() == Role::Product) else {
        return Err(Failure::usage(format!("{} has no launch to compile", kernel.name), ""));
    };
    let architecture = launch.program().architecture();
    Ok(ProgramPtx::of(launch.program(), architecture.capability)?.text.to_string())
}
