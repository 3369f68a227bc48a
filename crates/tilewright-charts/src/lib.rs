//! Small charts, as SVG that suits light and dark pages, and as PNG.
//!
//! A [`Figure`] is a column of panels: [`Plot`]s with axes, curves and marks, or [`Bars`]. It is laid out once,
//! as a list of shapes with roles; [`Figure::to_svg`] writes these as text and `Figure::to_png` (feature `png`)
//! as pixels, so both look the same. [`roofline`] makes the log-log plot of attainable rates.
//!
//! ```
//! use tilewright_charts::{Axis, Figure, Hue, Mark, Plot, Scale, Series, Theme};
//! let threads = Axis::new("threads per block", Scale::Binary, 0.0, 1024.0);
//! let warps = Axis::new("warps per SM", Scale::Binary, 0.0, 48.0);
//! let plot = Plot::new("Block size", threads, warps)
//!     .series(Series::steps(Hue::Blue, vec![(32.0, 16.0), (256.0, 48.0), (800.0, 25.0), (1024.0, 32.0)]))
//!     .mark(Mark::new(1024.0, 32.0, "1024 threads: 32 warps"));
//! let svg = Figure::new("Occupancy").panel(plot).to_svg(Theme::Auto);
//! assert!(svg.starts_with("<svg ") && svg.contains("1024 threads: 32 warps"));
//! ```

mod axis;
mod bars;
mod figure;
mod labels;
mod plot;
#[cfg(feature = "png")]
mod png;
mod roofline;
mod scene;
mod svg;
mod theme;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars};
pub use figure::{Figure, Panel};
pub use plot::{Mark, Plot, Series};
#[cfg(feature = "png")]
pub use png::PngError;
pub use roofline::{Ceiling, Point, roofline};
pub use theme::{Hue, Theme};
