//! Axes: where a value lies between two ends, and which values are written beside them.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, ticks at 1, 2 or 5 times a power of ten.
    Linear,
    /// Evenly, ticks at multiples of a power of two: threads, warps, KiB.
    Binary,
    /// By logarithm, ticks at powers of two: sizes.
    Log2,
    /// By logarithm, ticks at powers of ten, and at 2 and 5 times these where there is room.
    Log10,
}

/// More ticks than this make an axis hard to read.
const MOST_TICKS: f64 = 8.0;

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis from `low` to `high`.
    ///
    /// Ends that make no axis are moved: on a logarithmic scale `low` must be positive, and `high` must be
    /// above `low`.
    pub fn new(label: impl Into<String>, scale: Scale, low: f64, high: f64) -> Self {
        let least = f64::MIN_POSITIVE.sqrt();
        let low = match scale {
            Scale::Log2 | Scale::Log10 if !(low >= least && low.is_finite()) => least,
            _ if !low.is_finite() => 0.0,
            _ => low,
        };
        let is_log = matches!(scale, Scale::Log2 | Scale::Log10);
        let above = if is_log { low * 2.0 } else { low + low.abs().max(1.0) };
        let high = if high > low && high.is_finite() { high } else { above };
        Self { label: label.into(), scale, low, high }
    }

    /// An axis that holds all finite `values`, its ends moved out to ticks; linear scales start at 0 or below.
    pub fn covering(label: impl Into<String>, scale: Scale, values: impl IntoIterator<Item = f64>) -> Self {
        let is_log = matches!(scale, Scale::Log2 | Scale::Log10);
        let start = if is_log { (f64::INFINITY, f64::NEG_INFINITY) } else { (0.0, 0.0) };
        let usable = values.into_iter().filter(|v| v.is_finite() && (!is_log || *v > 0.0));
        let (low, high) = usable.fold(start, |(low, high), v| (low.min(v), high.max(v)));
        let axis = Self::new(label, scale, low, high);
        let (low, high) = match scale {
            Scale::Linear | Scale::Binary => {
                let step = axis.step();
                ((axis.low / step).floor() * step, (axis.high / step).ceil() * step)
            }
            Scale::Log2 => (axis.low.log2().floor().exp2(), axis.high.log2().ceil().exp2()),
            Scale::Log10 => (10f64.powf(axis.low.log10().floor()), 10f64.powf(axis.high.log10().ceil())),
        };
        Self::new(axis.label, scale, low, high)
    }

    /// The lower end.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper end.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Where `value` lies: 0 at the lower end, 1 at the upper one, values outside at the nearer end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear | Scale::Binary => (value - self.low) / (self.high - self.low),
            // Logarithms of what is not positive are NaN or infinite: the lower end.
            Scale::Log2 | Scale::Log10 => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// The values to write, ascending, all within the axis.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear | Scale::Binary => {
                let step = self.step();
                let first = (self.low / step).ceil();
                let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
                (0..=count).map(|i| (first + i as f64) * step).collect()
            }
            Scale::Log2 => self.powers(2.0, &[1.0]),
            Scale::Log10 => {
                let decades = (self.high / self.low).log10();
                self.powers(10.0, if decades <= 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] })
            }
        }
    }

    /// The distance of ticks on an even scale.
    fn step(&self) -> f64 {
        let least = (self.high - self.low) / MOST_TICKS;
        if self.scale == Scale::Binary {
            // Just below a power of two, as 1023 / 8 is, the ticks of 1024 are meant.
            return (least * 0.99).log2().ceil().exp2();
        }
        let power = 10f64.powf(least.log10().floor());
        let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|nice| nice * power >= least * 0.999);
        nice.unwrap_or(10.0) * power
    }

    /// `factor x base^i` within the axis, every so many powers that they do not crowd.
    fn powers(&self, base: f64, factors: &[f64]) -> Vec<f64> {
        let exponent = |value: f64| value.ln() / base.ln();
        let (first, last) = (exponent(self.low).floor() as i32, exponent(self.high).ceil() as i32);
        let every = ((f64::from(last - first) / (2.0 * MOST_TICKS)).ceil() as usize).max(1);
        let within = |value: &f64| *value >= self.low * 0.999_999 && *value <= self.high * 1.000_001;
        (first..=last)
            .step_by(every)
            .flat_map(|i| factors.iter().map(move |f| f * base.powi(i)))
            .filter(within)
            .collect()
    }
}

/// A value as people write it: no more digits than needed.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        return format!("{value:e}");
    }
    let digits = if size >= 100.0 { 1 } else { 3 };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale, low: f64, high: f64) -> Vec<f64> {
        Axis::new("", scale, low, high).ticks()
    }

    #[test]
    fn ticks_are_round_in_their_scale() {
        assert_eq!(ticks(Scale::Linear, 0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(Scale::Binary, 0.0, 48.0), [0.0, 8.0, 16.0, 24.0, 32.0, 40.0, 48.0]);
        assert_eq!(ticks(Scale::Binary, 0.0, 255.0).len(), 8);
        assert_eq!(ticks(Scale::Binary, 0.0, 1024.0).last(), Some(&1024.0));
        assert_eq!(ticks(Scale::Log2, 256.0, 2048.0), [256.0, 512.0, 1024.0, 2048.0]);
        assert_eq!(ticks(Scale::Log10, 0.5, 20.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(ticks(Scale::Log10, 0.01, 1000.0), [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn values_are_placed_between_the_ends() {
        let even = Axis::new("", Scale::Linear, 0.0, 200.0);
        assert_eq!([-5.0, 50.0, 900.0, f64::NAN].map(|v| even.place(v)), [0.0, 0.25, 1.0, 0.0]);
        let log = Axis::new("", Scale::Log10, 1.0, 100.0);
        assert_eq!(log.place(0.0), 0.0);
        assert!((log.place(10.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn axes_cover_what_they_are_given() {
        let axis = Axis::covering("", Scale::Linear, [3.0, 47.0, f64::NAN]);
        assert_eq!((axis.low, axis.high), (0.0, 50.0));
        let axis = Axis::covering("", Scale::Log2, [100.0, 5000.0, 0.0]);
        assert_eq!((axis.low, axis.high), (64.0, 8192.0));
        let axis = Axis::covering("", Scale::Log10, [0.3, 60.0]);
        assert!((axis.low - 0.1).abs() < 1e-12 && (axis.high - 100.0).abs() < 1e-9);
    }

    #[test]
    fn no_ends_are_too_odd() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 1e300, 5.0];
        for scale in [Scale::Linear, Scale::Binary, Scale::Log2, Scale::Log10] {
            for low in odd {
                for high in odd {
                    for axis in [Axis::new("", scale, low, high), Axis::covering("", scale, [low, high])] {
                        assert!(axis.low < axis.high, "{axis:?}");
                        assert!(axis.ticks().len() <= 60, "{axis:?}: {:?}", axis.ticks());
                        assert!((0.0..=1.0).contains(&axis.place(3.0)), "{axis:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_have_no_needless_digits() {
        let texts = [0.0, -0.0, 12.5, 1024.0, 0.001, 66.6667, 1e9, 1e-6].map(number);
        assert_eq!(texts, ["0", "0", "12.5", "1024", "0.001", "66.667", "1e9", "1e-6"]);
    }
}
