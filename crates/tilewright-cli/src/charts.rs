//! Charts in files.

use crate::{failure::Failure, interrupt};
use std::path::Path;
use tilewright::files;
use tilewright_charts::{Figure, Theme};

/// What a chart is written as.
enum Kind {
    Svg,
    #[cfg(feature = "png")]
    Png,
}

/// Writes a figure as its file's name says, replacing the file as a whole or not at all.
pub fn write(path: &Path, figure: &Figure) -> Result<(), Failure> {
    let bytes = match kind(path)? {
        Kind::Svg => figure.to_svg(Theme::Auto).into_bytes(),
        #[cfg(feature = "png")]
        Kind::Png => {
            figure.to_png(Theme::Light, 2.0).map_err(|e| Failure::usage(e.to_string(), "use .svg"))?
        }
    };
    // An interrupt takes the unfinished file away.
    interrupt::watch();
    Ok(files::write_bytes(path, &bytes)?)
}

/// Whether a chart can be written to a file of this name.
pub fn check(path: &Path) -> Result<(), Failure> {
    kind(path).map(|_| ())
}

fn kind(path: &Path) -> Result<Kind, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(Kind::Svg),
        #[cfg(feature = "png")]
        Some("png") => Ok(Kind::Png),
        _ => {
            let known = if cfg!(feature = "png") { "charts are .svg or .png" } else { "charts are .svg" };
            Err(Failure::usage(format!("{}: no kind of chart", path.display()), known))
        }
    }
}
