//! A figure: a title and panels, laid out from top to bottom.

use crate::{
    bars::{Bars, Extents},
    plot::Plot,
    scene::{Anchor, SMALL, Scene, Shape, TITLE, Text},
    svg,
    theme::{Ink, Theme},
};

/// One part of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Panel {
    /// Axes with curves.
    Plot(Plot),
    /// Horizontal bars.
    Bars(Bars),
}

impl From<Plot> for Panel {
    fn from(plot: Plot) -> Self {
        Self::Plot(plot)
    }
}

impl From<Bars> for Panel {
    fn from(bars: Bars) -> Self {
        Self::Bars(bars)
    }
}

/// A title, panels below each other, and notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    title: String,
    subtitles: Vec<String>,
    panels: Vec<Panel>,
    notes: Vec<String>,
    width: f64,
}

const MARGIN: f64 = 20.0;
const GAP: f64 = 18.0;
const LINE: f64 = 18.0;

impl Figure {
    /// A figure 760 pixels wide, with nothing in it yet.
    pub fn new(title: impl Into<String>) -> Self {
        let (subtitles, panels, notes) = Default::default();
        Self { title: title.into(), subtitles, panels, notes, width: 760.0 }
    }

    /// Adds a line below the title.
    pub fn subtitle(mut self, line: impl Into<String>) -> Self {
        self.subtitles.push(line.into());
        self
    }

    /// Adds a panel below those before.
    pub fn panel(mut self, panel: impl Into<Panel>) -> Self {
        self.panels.push(panel.into());
        self
    }

    /// Adds a line below the panels.
    pub fn note(mut self, line: impl Into<String>) -> Self {
        self.notes.push(line.into());
        self
    }

    /// The width in pixels, 320 at least.
    pub fn width(self, pixels: f64) -> Self {
        Self { width: pixels.max(320.0), ..self }
    }

    /// The figure as an SVG document, which may also stand in an HTML page.
    pub fn to_svg(&self, theme: Theme) -> String {
        svg::write(&self.layout(), theme)
    }

    /// The figure as a PNG file of `scale` pixels for each pixel of the layout; 2 suits today's screens.
    ///
    /// Letters come from a small font of the Latin alphabet; other characters are drawn as a box.
    ///
    /// # Errors
    /// When `scale` is not positive, or the image is too large to be held.
    #[cfg(feature = "png")]
    pub fn to_png(&self, theme: Theme, scale: f64) -> Result<Vec<u8>, crate::PngError> {
        crate::png::write(&self.layout(), theme, scale)
    }

    /// What a panel shares with all that it is compared with.
    fn compared_with(&self, bars: &Bars) -> Extents {
        let panels = self.panels.iter().filter_map(|panel| match panel {
            Panel::Bars(other) if other.is_comparable(bars) => Some(other.extents()),
            _ => None,
        });
        panels.fold(Extents::default(), Extents::with)
    }

    fn layout(&self) -> Scene {
        let inner = self.width - 2.0 * MARGIN;
        let mut shapes = Vec::new();
        let mut y = MARGIN + TITLE;
        let line = |y, words: &str, size, ink| -> Shape {
            Text::new((MARGIN, y), words, size, ink, Anchor::Start).into()
        };
        shapes.push(line(y, &self.title, TITLE, Ink::Text));
        for words in &self.subtitles {
            y += LINE + 2.0;
            shapes.push(line(y, words, SMALL + 1.0, Ink::Faint));
        }
        for panel in &self.panels {
            y += GAP;
            y += match panel {
                Panel::Plot(plot) => {
                    plot.draw((MARGIN, y), inner, &mut shapes);
                    plot.total_height(inner)
                }
                Panel::Bars(bars) => {
                    bars.draw((MARGIN, y), inner, &self.compared_with(bars), &mut shapes);
                    bars.total_height()
                }
            };
        }
        for words in &self.notes {
            y += LINE;
            shapes.push(line(y, words, SMALL, Ink::Faint));
        }
        Scene { title: self.title.clone(), width: self.width, height: (y + MARGIN).ceil(), shapes }
    }
}
