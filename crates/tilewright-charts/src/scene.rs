//! A laid-out figure: shapes with roles instead of colours, in pixels from the top left.

use crate::theme::Ink;

pub(crate) type Place = (f64, f64);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Rect {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        ink: Ink,
        opacity: f64,
    },
    Line {
        places: Vec<Place>,
        ink: Ink,
        width: f64,
        dash: Dash,
    },
    /// A filled polygon.
    Area {
        places: Vec<Place>,
        ink: Ink,
        opacity: f64,
    },
    Dot {
        at: Place,
        radius: f64,
        ink: Ink,
    },
    Text(Text),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Dashed,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    /// Where the anchor of the baseline is.
    pub at: Place,
    pub words: String,
    pub size: f64,
    pub ink: Ink,
    pub anchor: Anchor,
    pub turn: Turn,
    pub halo: Halo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Level,
    /// A quarter turn against the clock, as beside a vertical axis.
    Upwards,
}

/// Whether the page's colour is laid around the letters, which keeps them legible over curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halo {
    None,
    Page,
}

/// Letters of the sizes in use.
pub(crate) const TITLE: f64 = 18.0;
pub(crate) const HEADING: f64 = 14.0;
pub(crate) const SMALL: f64 = 12.0;

impl Text {
    pub fn new(at: Place, words: impl Into<String>, size: f64, ink: Ink, anchor: Anchor) -> Self {
        Self { at, words: words.into(), size, ink, anchor, turn: Turn::Level, halo: Halo::None }
    }

    pub fn upwards(self) -> Self {
        Self { turn: Turn::Upwards, ..self }
    }

    pub fn with_halo(self) -> Self {
        Self { halo: Halo::Page, ..self }
    }
}

impl From<Text> for Shape {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

/// The width of a text, on the wide side: which font will be used is not known.
pub(crate) fn width_of(words: &str, size: f64) -> f64 {
    words.chars().count() as f64 * size * 0.62
}

/// A figure ready to be written.
#[derive(Debug)]
pub(crate) struct Scene {
    pub title: String,
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}
