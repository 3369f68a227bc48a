//! A panel of horizontal bars: one value for each name. Panels of one unit in a figure share their axis, so that bars of two panels can be
//! compared.

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
    spread: Option<(f64, f64)>,
}

impl Bar {
    /// A bar from 0 to `value`; a value that is negative or not finite has no bar.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, note: number(value), hue: Hue::Blue, spread: None }
    }

    /// What is written beside the bar instead of the value.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// A range around the value, such as that between two quartiles, drawn across the end of the bar.
    pub fn spread(self, low: f64, high: f64) -> Self {
        let is_range = low.is_finite() && high.is_finite() && low <= high;
        Self { spread: is_range.then_some((low.max(0.0), high)), ..self }
    }

    /// The farthest that is drawn of it.
    fn reach(&self) -> f64 {
        self.spread.map_or(self.value, |(_, high)| self.value.max(high)).max(0.0)
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

/// Widths in pixels of the longest name and note, and the largest value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extents {
    names: f64,
    notes: f64,
    reach: f64,
}

impl Extents {
    /// What holds both.
    pub fn with(self, other: Self) -> Self {
        Self {
            names: self.names.max(other.names),
            notes: self.notes.max(other.notes),
            reach: self.reach.max(other.reach),
        }
    }
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

    /// What panels that are compared agree on.
    pub(crate) fn extents(&self) -> Extents {
        let widest = |text: fn(&Bar) -> &str| {
            self.bars.iter().map(|bar| width_of(text(bar), SMALL)).fold(0.0, f64::max)
        };
        Extents {
            names: widest(|bar| &bar.name),
            notes: widest(|bar| &bar.note),
            reach: self.bars.iter().map(Bar::reach).filter(|reach| reach.is_finite()).fold(0.0, f64::max),
        }
    }

    /// Whether bars of both may be compared.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        self.unit == other.unit
    }

    pub(crate) fn draw(&self, (left, top): Place, width: f64, shared: &Extents, out: &mut Vec<Shape>) {
        let (names, notes) = (shared.names + 12.0, shared.notes + 12.0);
        let length = (width - names - notes).max(0.25 * width);
        let axis = Axis::covering(&self.unit, Scale::Linear, [shared.reach]);
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
            let mut end = reach;
            if let Some((low, high)) = bar.spread {
                let [from, to] = [low, high].map(|value| zero + axis.place(value) * length);
                let middle = y + ROW / 2.0;
                let stroke = |places| Shape::Line { places, ink: Ink::Text, width: 1.5, dash: Dash::Solid };
                out.push(stroke(vec![(from, middle), (to, middle)]));
                out.extend([from, to].map(|x| stroke(vec![(x, middle - 4.0), (x, middle + 4.0)])));
                end = end.max(to - zero);
            }
            let note = Text::new((zero + end + 6.0, y + 16.0), &bar.note, SMALL, Ink::Text, Anchor::Start);
            out.push(note.with_halo().into());
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
        let bars = bars.bar(Bar::new("c", f64::NAN)).bar(Bar::new("d", -1.0));
        bars.draw((0.0, 0.0), 500.0, &bars.extents(), &mut out);
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
