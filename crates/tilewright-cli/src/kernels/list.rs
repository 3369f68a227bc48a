//! All kernels, a line each.

use crate::{args::Format, failure::Failure, json, terminal, wrapping};
use serde::Serialize;
use std::io::Write;
use tilewright_kernels::{Family, Kernel, kernels};

/// The JSON object of `kernels`.
#[derive(Serialize)]
struct Catalogue {
    schema: u32,
    kernels: Vec<Line>,
}

#[derive(Serialize)]
pub struct Line {
    pub name: &'static str,
    pub family: &'static str,
    pub summary: &'static str,
    /// Semirings and element types, as in `min-plus.f32`.
    pub variants: Vec<String>,
}

impl Line {
    pub fn of(kernel: &Kernel) -> Self {
        let variants = kernel.variants.iter().map(ToString::to_string).collect();
        Self { name: kernel.name, family: kernel.family.name(), summary: kernel.summary, variants }
    }
}

/// The families in the order of the list, with what is said of them.
const FAMILIES: [(Family, &str); 3] = [
    (Family::Production, "what products are computed with"),
    (Family::Ladder, "from naive to fast, one idea at a time"),
    (Family::Gallery, "one property of the hardware each; see `explain`"),
];

pub fn print(format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        let kernels = kernels().iter().map(Line::of).collect();
        return json::print(&Catalogue { schema: 1, kernels });
    }
    let mut out = terminal::stdout();
    let bold = terminal::label();
    let width = kernels().iter().map(|k| k.name.len()).max().unwrap_or(0);
    for (family, about) in FAMILIES {
        let mut members = kernels().iter().filter(|k| k.family == family).peekable();
        if members.peek().is_none() {
            continue;
        }
        writeln!(out, "{bold}{}{bold:#}: {about}", family.name())?;
        for kernel in members {
            let name = format!("  {:width$} ", kernel.name);
            let text = format!("{}{}", kernel.summary, variants(kernel));
            out.write_all(wrapping::row(&name, &text, width + 3).as_bytes())?;
        }
    }
    Ok(())
}

/// The semirings and element types in brackets: ` (plus-times f32 i32, min-plus f32)`; nothing for the gallery, whose
/// kernels compute no product.
fn variants(kernel: &Kernel) -> String {
    if kernel.family == Family::Gallery {
        return String::new();
    }
    let mut semirings: Vec<(String, String)> = Vec::new();
    for variant in kernel.variants {
        let (semiring, dtype) = (variant.semiring.to_string(), variant.dtype.to_string());
        // Results of other types are those of the same elements.
        if variant.result.is_some() {
            continue;
        }
        match semirings.iter_mut().find(|(name, _)| *name == semiring) {
            Some((_, dtypes)) => *dtypes += &format!(" {dtype}"),
            None => semirings.push((semiring, dtype)),
        }
    }
    let words: Vec<String> =
        semirings.into_iter().map(|(semiring, dtypes)| format!("{semiring} {dtypes}")).collect();
    format!(" ({})", words.join(", "))
}
