//! A panel with two axes: curves, steps, dots, and marked points.

use crate::{
    axis::{Axis, number},
    labels::{Candidate, Labels},
    scene::{Anchor, Dash, HEADING, Place, SMALL, Shape, Text, width_of},
    theme::{Hue, Ink},
};

/// How the points of a series are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    Line,
    Steps,
    None,
}

/// Where the name of a series stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamePlace {
    Legend,
    AtEnd,
}

/// Points, and how to draw them.
///
/// A point that is not finite is left out and interrupts the line; values outside the axes are drawn at the edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    points: Vec<(f64, f64)>,
    join: Join,
    hue: Hue,
    name: Option<(String, NamePlace)>,
}

impl Series {
    /// Points joined by straight lines.
    pub fn line(hue: Hue, points: Vec<(f64, f64)>) -> Self {
        Self { points, join: Join::Line, hue, name: None }
    }

    /// A function that keeps the value of a point until the next point.
    pub fn steps(hue: Hue, points: Vec<(f64, f64)>) -> Self {
        Self { points, join: Join::Steps, hue, name: None }
    }

    /// Points by themselves.
    pub fn dots(hue: Hue, points: Vec<(f64, f64)>) -> Self {
        Self { points, join: Join::None, hue, name: None }
    }

    /// The name for the legend.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some((name.into(), NamePlace::Legend)), ..self }
    }

    /// A name that is written at the end of the line.
    pub fn labelled(self, name: impl Into<String>) -> Self {
        Self { name: Some((name.into(), NamePlace::AtEnd)), ..self }
    }

    fn legend_name(&self) -> Option<&str> {
        self.name.as_ref().filter(|(_, place)| *place == NamePlace::Legend).map(|(name, _)| name.as_str())
    }
}

/// A point that the reader should see first, with guides to both axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    x: f64,
    y: f64,
    label: String,
}

impl Mark {
    /// A mark at a value of each axis.
    pub fn new(x: f64, y: f64, label: impl Into<String>) -> Self {
        Self { x, y, label: label.into() }
    }
}

/// A panel with two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    heading: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    marks: Vec<Mark>,
    height: f64,
}

const LEGEND_ROW: f64 = 20.0;
const HEADING_ROW: f64 = 32.0;
/// Tick labels and the name of the axis.
const BELOW: f64 = 44.0;
const RIGHT: f64 = 16.0;

impl Plot {
    /// Empty axes.
    pub fn new(heading: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { heading: heading.into(), x, y, series: Vec::new(), marks: Vec::new(), height: 160.0 }
    }

    /// Adds a series, drawn over those before.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a mark, drawn over all series.
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// The height between the axes' ends, in pixels; at least 40.
    pub fn height(self, pixels: f64) -> Self {
        Self { height: pixels.max(40.0), ..self }
    }

    /// The height of the whole panel.
    pub(crate) fn total_height(&self, width: f64) -> f64 {
        self.above(width) + self.height + BELOW
    }

    fn above(&self, width: f64) -> f64 {
        HEADING_ROW + LEGEND_ROW * self.legend(width).last().map_or(0.0, |(_, row, _)| row + 1.0)
    }

    pub(crate) fn draw(&self, (left, top): Place, width: f64, out: &mut Vec<Shape>) {
        let heading = Text::new((left, top + 14.0), &self.heading, HEADING, Ink::Text, Anchor::Start);
        out.push(heading.into());
        for (x, row, series) in self.legend(width) {
            let y = top + HEADING_ROW + LEGEND_ROW * row + 4.0;
            let places = vec![(left + x, y), (left + x + 18.0, y)];
            match series.join {
                Join::None => out.push(dot((left + x + 9.0, y), series.hue)),
                _ => out.push(line(places, series.hue)),
            }
            let name = series.legend_name().unwrap_or_default();
            out.push(Text::new((left + x + 24.0, y + 4.0), name, SMALL, Ink::Text, Anchor::Start).into());
        }
        let ticks = self.y.ticks();
        let widest = ticks.iter().map(|&t| width_of(&number(t), SMALL)).fold(0.0, f64::max);
        let margin = 20.0 + widest + 8.0;
        let frame = Frame {
            left: left + margin,
            top: top + self.above(width),
            width: width - margin - RIGHT,
            height: self.height,
            x: &self.x,
            y: &self.y,
        };
        frame.draw_axes(left, out);
        let mut labels = Labels::new([frame.left, top + HEADING_ROW, left + width, frame.bottom()]);
        self.series.iter().for_each(|series| frame.draw_series(series, &mut labels, out));
        self.marks.iter().for_each(|mark| frame.draw_mark(mark, &mut labels, out));
        // Words come last, when everything that they must not lie on is known.
        self.marks.iter().for_each(|mark| frame.label_mark(mark, &mut labels, out));
        self.series.iter().for_each(|series| frame.label_series(series, &mut labels, out));
    }

    /// The named series, each with its place: pixels from the left, and row.
    fn legend(&self, width: f64) -> Vec<(f64, f64, &Series)> {
        let (mut x, mut row) = (0.0, 0.0);
        let mut entries = Vec::new();
        for series in &self.series {
            let Some(name) = series.legend_name() else { continue };
            let needed = 24.0 + width_of(name, SMALL) + 20.0;
            if x > 0.0 && x + needed > width {
                (x, row) = (0.0, row + 1.0);
            }
            entries.push((x, row, series));
            x += needed;
        }
        entries
    }
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

fn line(places: Vec<Place>, hue: Hue) -> Shape {
    Shape::Line { places, ink: Ink::Data(hue), width: 2.0, dash: Dash::Solid }
}

fn dot(at: Place, hue: Hue) -> Shape {
    Shape::Dot { at, radius: 4.0, ink: Ink::Data(hue) }
}

/// The area between the axes.
struct Frame<'a> {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: &'a Axis,
    y: &'a Axis,
}

impl Frame<'_> {
    fn place(&self, (x, y): (f64, f64)) -> Place {
        (self.left + self.x.place(x) * self.width, self.bottom() - self.y.place(y) * self.height)
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn draw_axes(&self, panel_left: f64, out: &mut Vec<Shape>) {
        let (right, bottom) = (self.left + self.width, self.bottom());
        let text = |at, words: String, anchor| Text::new(at, words, SMALL, Ink::Faint, anchor);
        let thin = |a, b, ink| Shape::Line { places: vec![a, b], ink, width: 1.0, dash: Dash::Solid };
        for tick in self.y.ticks() {
            let (_, y) = self.place((self.x.low(), tick));
            out.push(thin((self.left, y), (right, y), Ink::Grid));
            out.push(text((self.left - 8.0, y + 4.0), number(tick), Anchor::End).into());
        }
        let mut free_from = f64::NEG_INFINITY;
        for tick in self.x.ticks() {
            let (x, _) = self.place((tick, self.y.low()));
            out.push(thin((x, bottom), (x, bottom + 4.0), Ink::Faint));
            let label = number(tick);
            let half = width_of(&label, SMALL) / 2.0;
            if x - half >= free_from {
                out.push(text((x, bottom + 18.0), label, Anchor::Middle).into());
                free_from = x + half + 4.0;
            }
        }
        out.push(thin((self.left, bottom), (right, bottom), Ink::Faint));
        let middle = (self.left + self.width / 2.0, bottom + 36.0);
        out.push(text(middle, self.x.label.clone(), Anchor::Middle).into());
        let middle = (panel_left + 12.0, self.top + self.height / 2.0);
        out.push(text(middle, self.y.label.clone(), Anchor::Middle).upwards().into());
    }

    fn draw_series(&self, series: &Series, labels: &mut Labels, out: &mut Vec<Shape>) {
        for run in series.points.split(|point| !is_finite(point)).filter(|run| !run.is_empty()) {
            let places: Vec<Place> = run.iter().map(|&point| self.place(point)).collect();
            labels.avoid_curve(&places);
            match series.join {
                Join::Line if places.len() > 1 => out.push(line(places, series.hue)),
                Join::Line | Join::None => out.extend(places.iter().map(|&at| dot(at, series.hue))),
                Join::Steps => self.draw_steps(&places, series.hue, out),
            }
        }
    }

    /// The name of a series, along its last stretch: at the end if there is room.
    fn label_series(&self, series: &Series, labels: &mut Labels, out: &mut Vec<Shape>) {
        let Some((name, NamePlace::AtEnd)) = &series.name else { return };
        let mut finite = series.points.iter().rev().copied().filter(is_finite);
        let Some(last) = finite.next() else { return };
        let (end, start) = (self.place(last), self.place(finite.next().unwrap_or(last)));
        let along = [1.0, 0.66, 0.33, 0.0].into_iter().flat_map(|part| {
            let (x, y) = (start.0 + part * (end.0 - start.0), start.1 + part * (end.1 - start.1));
            let anchor = if part > 0.0 { Anchor::End } else { Anchor::Start };
            [-6.0, 15.0].map(|dy| ((x - 4.0, y + dy), anchor))
        });
        if let Some((at, anchor)) = labels.place(name, along) {
            out.push(Text::new(at, name, SMALL, Ink::Data(series.hue), anchor).with_halo().into());
        }
    }

    /// A staircase and the area under it.
    fn draw_steps(&self, places: &[Place], hue: Hue, out: &mut Vec<Shape>) {
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return };
        let mut corners = vec![first];
        for pair in places.windows(2) {
            corners.extend([(pair[1].0, pair[0].1), pair[1]]);
        }
        let mut area = corners.clone();
        area.extend([(last.0, self.bottom()), (first.0, self.bottom())]);
        out.push(Shape::Area { places: area, ink: Ink::Data(hue), opacity: 0.12 });
        out.push(line(corners, hue));
    }

    fn draw_mark(&self, mark: &Mark, labels: &mut Labels, out: &mut Vec<Shape>) {
        labels.avoid_dot(self.place((mark.x, mark.y)), 7.0);
        let (x, y) = self.place((mark.x, mark.y));
        let guide =
            |to| Shape::Line { places: vec![(x, y), to], ink: Ink::Mark, width: 1.0, dash: Dash::Dashed };
        out.extend([guide((x, self.bottom())), guide((self.left, y))]);
        out.push(Shape::Dot { at: (x, y), radius: 7.0, ink: Ink::Page });
        out.push(Shape::Dot { at: (x, y), radius: 5.0, ink: Ink::Mark });
    }

    /// The label of a mark: beside the point, on the side with more room, as near as there is room.
    fn label_mark(&self, mark: &Mark, labels: &mut Labels, out: &mut Vec<Shape>) {
        let (x, y) = self.place((mark.x, mark.y));
        let sides: [(f64, Anchor); 2] = match x - self.left > self.width / 2.0 {
            true => [(-10.0, Anchor::End), (10.0, Anchor::Start)],
            false => [(10.0, Anchor::Start), (-10.0, Anchor::End)],
        };
        let heights = [-9.0, 20.0, -24.0, 35.0, -39.0, 50.0, -54.0, 65.0];
        let near = heights
            .into_iter()
            .flat_map(|dy| sides.map(|(dx, anchor)| -> Candidate { ((x + dx, y + dy), anchor) }));
        if let Some((at, anchor)) = labels.place(&mark.label, near) {
            out.push(Text::new(at, &mark.label, SMALL, Ink::Mark, anchor).with_halo().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Scale;

    fn plot() -> Plot {
        let axis = |high| Axis::new("axis", Scale::Linear, 0.0, high);
        Plot::new("Plot", axis(10.0), axis(100.0))
    }

    fn shapes(plot: &Plot) -> Vec<Shape> {
        let mut out = Vec::new();
        plot.draw((0.0, 0.0), 400.0, &mut out);
        out
    }

    fn lines_of(shapes: &[Shape], wanted: Ink) -> Vec<&[Place]> {
        let lines = shapes.iter().filter_map(|shape| match shape {
            Shape::Line { places, ink, .. } if *ink == wanted => Some(places.as_slice()),
            _ => None,
        });
        lines.collect()
    }

    #[test]
    fn steps_keep_their_value_until_the_next_point() {
        let shapes = shapes(&plot().series(Series::steps(Hue::Blue, vec![(0.0, 50.0), (5.0, 100.0)])));
        let lines = lines_of(&shapes, Ink::Data(Hue::Blue));
        let [[a, b, c]] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!((a.1, b.0), (b.1, c.0));
        // The upper end of the axis is higher on the page.
        assert!(a.0 < b.0 && c.1 < b.1);
    }

    #[test]
    fn a_point_that_is_not_finite_interrupts_the_line() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, 1.0)];
        assert_eq!(
            lines_of(&shapes(&plot().series(Series::line(Hue::Red, points))), Ink::Data(Hue::Red)).len(),
            2
        );
    }

    #[test]
    fn marks_stay_inside_with_their_labels() {
        for (x, y) in [(0.0, 0.0), (10.0, 100.0), (10.0, 0.0), (0.0, 100.0), (99.0, 999.0)] {
            let shapes = shapes(&plot().mark(Mark::new(x, y, "here")));
            let label = shapes.iter().find_map(|shape| match shape {
                Shape::Text(text) if text.words == "here" => Some(text),
                _ => None,
            });
            let label = label.expect("the label is drawn");
            let end = match label.anchor {
                Anchor::Start => label.at.0 + width_of("here", SMALL),
                _ => label.at.0 - width_of("here", SMALL),
            };
            assert!((0.0..=400.0).contains(&end) && label.at.1 > HEADING_ROW, "{label:?}");
        }
    }

    #[test]
    fn a_legend_takes_as_many_rows_as_it_needs() {
        let named = |count: usize| {
            (0..count).fold(plot(), |plot, i| {
                plot.series(Series::line(Hue::of(i), vec![]).named(format!("a series with a name, {i}")))
            })
        };
        let height = |count| named(count).total_height(400.0);
        assert_eq!(height(1), plot().total_height(400.0) + LEGEND_ROW);
        assert_eq!(height(4), height(1) + 3.0 * LEGEND_ROW);
    }
}
