//! Writes the page on kernels of the catalogue, side by side: `catalogue naive coalesced > page.html`.

use tilewright_explain::{Case, Explained, Gpu, Request};
use tilewright_report::{html, text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::named("a6000")?;
    let mut all: Vec<Explained> = Vec::new();
    for name in std::env::args().skip(1) {
        let no_files = |file: &str| {
            let source = std::io::ErrorKind::NotFound.into();
            Err(tilewright_core::ErrorKind::Io { path: file.into(), source }.into())
        };
        let request = Request::new(gpu, &no_files);
        let explained = Case::of_kernel(tilewright_kernels::find(&name)?, &request)?.explain(&gpu)?;
        eprintln!("{}", text::report(&explained.explanation, 80));
        all.push(explained);
    }
    let exhibit = |e| {
        let Explained { explanation, recording, curves, .. }: &Explained = e;
        html::Exhibit { explanation, recording, curves: Some(*curves) }
    };
    let exhibits: Vec<_> = all.iter().map(exhibit).collect();
    println!("{}", html::page(&exhibits)?);
    Ok(())
}
