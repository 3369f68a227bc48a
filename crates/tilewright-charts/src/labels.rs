//! Places for labels: none on another one, on a curve, or outside.

use crate::scene::{Anchor, Place, SMALL, width_of};

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

/// Where a label may stand: the place of its anchor, and which end of the words that is.
pub(crate) type Candidate = (Place, Anchor);

/// What labels keep away from.
pub(crate) struct Labels {
    inside: Area,
    taken: Vec<Area>,
    curves: Vec<(Place, Place)>,
}

/// Letters above the baseline, and below it.
const ABOVE: f64 = 10.0;
const BELOW: f64 = 3.0;

impl Labels {
    /// None yet, within an area.
    pub fn new(inside: Area) -> Self {
        Self { inside, taken: Vec::new(), curves: Vec::new() }
    }

    /// Keeps labels off a curve.
    pub fn avoid_curve(&mut self, places: &[Place]) {
        self.curves.extend(places.windows(2).map(|pair| (pair[0], pair[1])));
    }

    /// Keeps labels off a dot.
    pub fn avoid_dot(&mut self, (x, y): Place, radius: f64) {
        self.taken.push([x - radius, y - radius, x + radius, y + radius]);
    }

    /// The candidate that crosses least, the first of these; it is taken then. `None` without candidates.
    pub fn place(
        &mut self,
        words: &str,
        candidates: impl IntoIterator<Item = Candidate>,
    ) -> Option<Candidate> {
        let crossings = |candidate: &Candidate| {
            let area = area(words, candidate);
            let [left, top, right, bottom] = self.inside;
            let is_outside = area[0] < left || area[1] < top || area[2] > right || area[3] > bottom;
            let labels = self.taken.iter().filter(|other| overlap(&area, other)).count();
            let curves = self.curves.iter().filter(|&&(a, b)| crosses(&area, a, b)).count();
            100 * usize::from(is_outside) + 10 * labels + curves
        };
        let chosen = candidates.into_iter().min_by_key(crossings)?;
        self.taken.push(area(words, &chosen));
        Some(chosen)
    }
}

/// What a label covers.
pub(crate) fn area(words: &str, &((x, y), anchor): &Candidate) -> Area {
    let width = width_of(words, SMALL);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    [left, y - ABOVE, left + width, y + BELOW]
}

pub(crate) fn overlap(a: &Area, b: &Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Whether a line runs through an area (the clipping of Liang and Barsky).
pub(crate) fn crosses(area: &Area, a: Place, b: Place) -> bool {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (step, room) in [(-dx, a.0 - area[0]), (dx, area[2] - a.0), (-dy, a.1 - area[1]), (dy, area[3] - a.1)]
    {
        if step == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if step < 0.0 {
            from = from.max(room / step);
        } else {
            to = to.min(room / step);
        }
    }
    from < to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_cross_what_they_run_through() {
        let area = [0.0, 0.0, 10.0, 10.0];
        assert!(crosses(&area, (-5.0, 5.0), (15.0, 5.0)) && crosses(&area, (-1.0, -1.0), (11.0, 11.0)));
        assert!(!crosses(&area, (-5.0, 12.0), (15.0, 12.0)) && !crosses(&area, (12.0, 0.0), (30.0, 10.0)));
    }

    #[test]
    fn a_label_goes_where_nothing_is() {
        let mut labels = Labels::new([0.0, 0.0, 400.0, 400.0]);
        labels.avoid_curve(&[(0.0, 96.0), (400.0, 96.0)]);
        let candidates = [
            ((200.0, 100.0), Anchor::Start),
            ((200.0, 130.0), Anchor::Start),
            ((200.0, 160.0), Anchor::Start),
        ];
        assert_eq!(labels.place("first", candidates), Some(candidates[1]));
        assert_eq!(labels.place("second", candidates), Some(candidates[2]));
    }
}
