//! A panel of horizontal bars: one value for each name.

use crate::{
    axis::{Axis, Scale, number},
    scene::{Anchor, Dash, HEADING, Place, SMALL, Shape, Text, width_of},
    theme::{Hue, Ink},
};

/// A name and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    name: String,
    value: f64,
    note: String,
    hue: Hue,
}

impl Bar {
    /// A bar from 0 to `value`; a value that is negative or not finite has no bar.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, note: number(value), hue: Hue::Blue }
    }

    /// What is written beside the bar instead of the value.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// The colour, blue unless set.
    pub fn hue(self, hue: Hue) -> Self {
        Self { hue, ..self }
    }
}

/// A panel of horizontal bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    heading: String,
    unit: String,
    bars: Vec<Bar>,
}

const ROW: f64 = 24.0;
const ABOVE: f64 = 28.0;
const BELOW: f64 = 40.0;

impl Bars {
    /// No bars yet; `unit` names the axis.
    pub fn new(heading: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { heading: heading.into(), unit: unit.into(), bars: Vec::new() }
    }

    /// Adds a bar below those before.
    pub fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    pub(crate) fn total_height(&self) -> f64 {
        ABOVE + ROW * self.bars.len() as f64 + BELOW
    }

    pub(crate) fn draw(&self, (left, top): Place, width: f64, out: &mut Vec<Shape>) {
        let widest = |text: fn(&Bar) -> &str| {
            self.bars.iter().map(|bar| width_of(text(bar), SMALL)).fold(0.0, f64::max)
        };
        let names = widest(|bar| &bar.name) + 12.0;
        let notes = widest(|bar| &bar.note) + 12.0;
        let length = (width - names - notes).max(0.25 * width);
        let axis = Axis::covering(&self.unit, Scale::Linear, self.bars.iter().map(|bar| bar.value.max(0.0)));
        let (zero, bottom) = (left + names, top + ABOVE + ROW * self.bars.len() as f64);
        let text = |at, words: &str, ink, anchor| Text::new(at, words, SMALL, ink, anchor).into();

        out.push(Text::new((left, top + 14.0), &self.heading, HEADING, Ink::Text, Anchor::Start).into());
        for tick in axis.ticks() {
            let x = zero + axis.place(tick) * length;
            let places = vec![(x, top + ABOVE), (x, bottom)];
            out.push(Shape::Line { places, ink: Ink::Grid, width: 1.0, dash: Dash::Solid });
            out.push(text((x, bottom + 16.0), &number(tick), Ink::Faint, Anchor::Middle));
        }
        out.push(text((zero + length / 2.0, bottom + 34.0), &axis.label, Ink::Faint, Anchor::Middle));
        for (i, bar) in self.bars.iter().enumerate() {
            let y = top + ABOVE + ROW * i as f64;
            let reach = axis.place(bar.value.max(0.0)) * length;
            let (ink, height) = (Ink::Data(bar.hue), ROW - 8.0);
            out.push(text((zero - 8.0, y + 16.0), &bar.name, Ink::Text, Anchor::End));
            out.push(Shape::Rect { x: zero, y: y + 4.0, width: reach, height, ink, opacity: 1.0 });
            out.push(text((zero + reach + 6.0, y + 16.0), &bar.note, Ink::Text, Anchor::Start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_values() {
        let bars = Bars::new("", "GFLOP/s").bar(Bar::new("a", 50.0)).bar(Bar::new("b", 100.0));
        let mut out = Vec::new();
        bars.bar(Bar::new("c", f64::NAN)).bar(Bar::new("d", -1.0)).draw((0.0, 0.0), 500.0, &mut out);
        let widths: Vec<f64> = out
            .iter()
            .filter_map(|shape| match shape {
                Shape::Rect { width, .. } => Some(*width),
                _ => None,
            })
            .collect();
        assert!((widths[1] - 2.0 * widths[0]).abs() < 1e-9 && widths[0] > 50.0, "{widths:?}");
        assert_eq!(widths[2..], [0.0, 0.0]);
    }
}
