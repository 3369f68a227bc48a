//! Medians, quartiles and geometric means.

/// Times of one contender: median and quartiles in seconds, and how many rounds they come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Number of rounds.
    pub rounds: usize,
}

impl Summary {
    /// Sums up the seconds of every round; `None` when there is none.
    pub fn of(mut seconds: Vec<f64>) -> Option<Self> {
        seconds.sort_by(f64::total_cmp);
        let last = seconds.len().checked_sub(1)?;
        let at = |part: f64| {
            let position = part * last as f64;
            let (low, high) = (position.floor() as usize, position.ceil() as usize);
            seconds[low] + (seconds[high] - seconds[low]) * position.fract()
        };
        Some(Self { q1: at(0.25), median: at(0.5), q3: at(0.75), rounds: seconds.len() })
    }
}

/// The geometric mean; `None` of nothing.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|v| v.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let s = Summary::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((s.q1, s.median, s.q3, s.rounds), (1.75, 2.5, 3.25, 4));
        assert_eq!(Summary::of(vec![]), None);
    }

    #[test]
    fn means() {
        assert!((geometric_mean(&[0.5, 2.0, 8.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[]), None);
    }
}
