//! Timing by the device's own clock: warm-up, competitors in turn, medians.
//!
//! Absolute times move by a few per cent from run to run with the clock and the temperature. Ratios do not, if the competitors run
//! in turn in the same run.

use super::Engine;
use crate::device::Event;
use std::ops::Range;
use std::time::{Duration, Instant};
use tilewright_core::Error;

/// Something to be timed.
pub struct Competitor<'a> {
    /// Its name in the results.
    pub name: String,
    /// Puts one execution into the engine's stream. The number says which set of buffers to use: it counts up from 0, so that
    /// `number % sets` takes them in turn.
    pub run: Box<dyn FnMut(usize) -> Result<(), Error> + 'a>,
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Each competitor runs at least so long before anything is measured.
    pub warm_up: Duration,
    /// The length of a sample, which is one value of the result. Short executions are repeated to fill it.
    pub sample: Duration,
    /// Samples of each competitor.
    pub samples: usize,
    /// Whether an execution may begin before the one before it has ended.
    pub repetitions: Repetitions,
}

/// How executions of a sample follow one another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Repetitions {
    /// Without a pause, as in a steady state: the clock runs from the first to the last, and kernels that can start early do.
    #[default]
    Overlap,
    /// Each is timed by itself, on a device that is idle.
    Apart,
}

impl Default for Pace {
    /// Samples of 20 ms, 15 of each after 200 ms.
    fn default() -> Self {
        let (warm_up, sample) = (Duration::from_millis(200), Duration::from_millis(20));
        Self { warm_up, sample, samples: 15, repetitions: Repetitions::Overlap }
    }
}

impl Repetitions {
    /// The executions between one look at the clock and the next.
    fn timed_together(self, count: usize) -> impl Iterator<Item = Range<usize>> {
        let step = match self {
            Self::Overlap => count.max(1),
            Self::Apart => 1,
        };
        (0..count).step_by(step).map(move |first| first..(first + step).min(count))
    }
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// The competitor.
    pub name: String,
    /// Seconds of one execution, one value for each sample, in order of size.
    pub seconds: Vec<f64>,
}

impl Timing {
    /// The middle value; of an even number the mean of the two in the middle, of none NaN.
    ///
    /// ```
    /// use tilewright_cuda::Timing;
    /// let timing = Timing { name: "x".into(), seconds: vec![1.0, 2.0, 10.0] };
    /// assert_eq!(timing.median(), 2.0);
    /// ```
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Half of the distance between the quartiles, as a part of the median: 0.01 means that half of the values lie within about a
    /// hundredth of it.
    pub fn spread(&self) -> f64 {
        (self.quantile(0.75) - self.quantile(0.25)) / 2.0 / self.median()
    }

    /// The value below which a part of the values lie, between two values in proportion.
    fn quantile(&self, part: f64) -> f64 {
        let Some(last) = self.seconds.len().checked_sub(1) else { return f64::NAN };
        let place = part * last as f64;
        let (below, above) = (self.seconds[place.floor() as usize], self.seconds[place.ceil() as usize]);
        below + (above - below) * place.fract()
    }
}

/// The number of sets of buffers after which the first one has left the second-level cache: they hold twice its size in all, and
/// there are at most 64.
///
/// ```
/// use tilewright_cuda::sets_beyond_cache;
/// assert_eq!(sets_beyond_cache(3 << 20, 50 << 20), 34);
/// assert_eq!(sets_beyond_cache(1 << 30, 50 << 20), 1);
/// ```
pub fn sets_beyond_cache(bytes_per_set: u64, cache: u64) -> usize {
    // At most 64, which fits.
    (2 * cache).div_ceil(bytes_per_set.max(1)).clamp(1, 64) as usize
}

impl Engine {
    /// Times the competitors in turn: in each round every one fills one sample, and each round begins with another one.
    ///
    /// # Errors
    /// What a competitor fails with.
    pub fn race(&self, competitors: &mut [Competitor<'_>], pace: Pace) -> Result<Vec<Timing>, Error> {
        let (start, end) = (Event::new(self.stream())?, Event::new(self.stream())?);
        let mut repeats = Vec::new();
        for competitor in competitors.iter_mut() {
            repeats.push(self.warm_up(competitor, pace)?);
        }
        let mut timings: Vec<Timing> = competitors
            .iter()
            .map(|competitor| Timing { name: competitor.name.clone(), seconds: Vec::new() })
            .collect();
        for round in 0..pace.samples {
            for turn in 0..competitors.len() {
                let index = (round + turn) % competitors.len();
                let count = repeats[index];
                let mut seconds = 0.0;
                for numbers in pace.repetitions.timed_together(count) {
                    start.record()?;
                    for number in numbers {
                        (competitors[index].run)(number)?;
                    }
                    end.record()?;
                    // This waits for the end.
                    seconds += end.seconds_since(&start)?;
                }
                timings[index].seconds.push(seconds / count as f64);
            }
        }
        for timing in &mut timings {
            timing.seconds.sort_by(f64::total_cmp);
        }
        Ok(timings)
    }

    /// Runs a competitor until it is warm, and says how many executions fill a sample.
    fn warm_up(&self, competitor: &mut Competitor<'_>, pace: Pace) -> Result<usize, Error> {
        // The first execution compiles and loads; it says nothing about the others.
        (competitor.run)(0)?;
        self.synchronize()?;
        let began = Instant::now();
        let mut executions = 0_usize;
        loop {
            // Doubling keeps the waiting out of short executions.
            for number in 0..executions.max(1) {
                (competitor.run)(number)?;
            }
            executions += executions.max(1);
            self.synchronize()?;
            if began.elapsed() >= pace.warm_up {
                break;
            }
        }
        let each = began.elapsed().as_secs_f64() / executions as f64;
        Ok((pace.sample.as_secs_f64() / each).ceil().max(1.0) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(seconds: &[f64]) -> Timing {
        Timing { name: String::new(), seconds: seconds.to_vec() }
    }

    #[test]
    fn medians_and_spreads() {
        assert_eq!(timing(&[1.0, 3.0]).median(), 2.0);
        assert_eq!(timing(&[4.0]).median(), 4.0);
        assert_eq!(timing(&[4.0]).spread(), 0.0);
        assert!(timing(&[]).median().is_nan());
        // Quartiles 2 and 4, median 3.
        assert!((timing(&[1.0, 2.0, 3.0, 4.0, 5.0]).spread() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn repetitions_are_timed_together_or_apart() {
        let lengths = |repetitions: Repetitions, count: usize| -> Vec<(usize, usize)> {
            repetitions.timed_together(count).map(|numbers| (numbers.start, numbers.len())).collect()
        };
        assert_eq!(lengths(Repetitions::Overlap, 3), [(0, 3)]);
        assert_eq!(lengths(Repetitions::Apart, 3), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(
            (lengths(Repetitions::Overlap, 0), lengths(Repetitions::Apart, 1)),
            (vec![], vec![(0, 1)])
        );
    }

    #[test]
    fn sets_leave_the_cache() {
        for bytes in [1, 1000, 1 << 20, 60 << 20, 1 << 40] {
            let sets = sets_beyond_cache(bytes, 50 << 20) as u64;
            assert!(sets == 64 || sets * bytes >= 100 << 20);
            assert!((1..=64).contains(&sets));
        }
        assert_eq!(sets_beyond_cache(0, 0), 1);
    }
}
