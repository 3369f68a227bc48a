//! `tilewright doctor`: what this machine can do, and whether it does it right.

mod check;
pub mod cpu;
mod cuda;
mod report;

use crate::{
    args::{Common, Format},
    failure::Failure,
    json,
};
use report::Report;

pub fn run(common: &Common) -> Result<(), Failure> {
    let report = Report::gather();
    match common.format {
        Format::Json => json::print(&report)?,
        Format::Table | Format::Csv => report.print_table()?,
    }
    match report.complaint() {
        None => Ok(()),
        Some((what, hint)) => Err(Failure::Check { what, hint }),
    }
}
