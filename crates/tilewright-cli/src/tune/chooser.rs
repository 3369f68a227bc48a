//! Who is measured how often, and who wins: pure functions of a clock.

/// Rounds after which those that fall behind drop out.
const LOOK: usize = 2;
/// How far behind, against the best sample of all.
const BEHIND: f64 = 1.25;
/// The model's choice stays unless another way takes at most this part of its time: less is within the noise.
const CLEARLY: f64 = 0.99;

/// Seconds of each of `count` candidates, in turn: one sample of everybody in a round, for two rounds, and then of those that can still win.
///
/// # Errors
/// What the clock fails with.
pub fn race<E>(
    count: usize,
    rounds: usize,
    clock: &mut dyn FnMut(usize) -> Result<f64, E>,
) -> Result<Vec<Vec<f64>>, E> {
    let mut samples = vec![Vec::new(); count];
    for round in 0..rounds {
        let best = samples.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        for turn in 0..count {
            // Nobody is always the first after somebody else.
            let candidate = (round + turn) % count;
            let own = samples[candidate].iter().copied().fold(f64::INFINITY, f64::min);
            if round < LOOK || own <= BEHIND * best {
                samples[candidate].push(clock(candidate)?);
            }
        }
    }
    Ok(samples)
}

/// The candidate to keep; the first one is that of the model. `None` where nothing was measured.
pub fn winner(samples: &[Vec<f64>]) -> Option<usize> {
    let medians: Vec<_> = samples.iter().map(|seconds| median(seconds)).collect();
    let fastest = (0..medians.len())
        .filter(|&i| medians[i].is_finite())
        .min_by(|&x, &y| medians[x].total_cmp(&medians[y]))?;
    let model = medians[0];
    Some(if model.is_finite() && medians[fastest] > CLEARLY * model { 0 } else { fastest })
}

/// The middle of some seconds; NaN of none.
pub fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that says so many microseconds of each candidate, with noise that differs from call to call.
    fn clock(micros: &[f64], noise: f64) -> impl FnMut(usize) -> Result<f64, ()> + '_ {
        let mut calls = 0_usize;
        move |candidate| {
            calls += 1;
            let part = (calls * 7 % 11) as f64 / 10.0 - 0.5;
            Ok(micros[candidate] * 1e-6 * (1.0 + noise * part))
        }
    }

    fn chosen(micros: &[f64], noise: f64) -> (Option<usize>, Vec<usize>) {
        let samples = race(micros.len(), 9, &mut clock(micros, noise)).unwrap();
        (winner(&samples), samples.iter().map(Vec::len).collect())
    }

    #[test]
    fn the_fastest_wins_and_those_that_fall_behind_are_measured_twice() {
        let (winner, counts) = chosen(&[95.0, 80.0, 200.0, 85.0], 0.02);
        assert_eq!((winner, counts), (Some(1), vec![9, 9, 2, 9]));
        // The model's choice may fall behind, too.
        let (winner, counts) = chosen(&[100.0, 50.0], 0.02);
        assert_eq!((winner, counts), (Some(1), vec![2, 9]));
    }

    #[test]
    fn the_model_keeps_its_choice_against_noise() {
        assert_eq!(chosen(&[100.0, 99.5, 101.0], 0.004).0, Some(0));
        assert_eq!(chosen(&[100.0, 98.0, 101.0], 0.004).0, Some(1));
        assert_eq!(chosen(&[100.0], 0.1).0, Some(0));
    }

    #[test]
    fn a_slow_sample_decides_nothing() {
        let mut calls = 0;
        let mut clock = |candidate: usize| -> Result<f64, ()> {
            calls += 1;
            Ok(if calls == 2 { 1.0 } else { [3e-5, 2e-5][candidate] })
        };
        let samples = race(2, 7, &mut clock).unwrap();
        assert!(samples[1].contains(&1.0));
        assert_eq!(winner(&samples), Some(1));
    }

    #[test]
    fn nothing_measured_has_no_winner_and_failures_end_the_race() {
        assert_eq!(winner(&[]), None);
        assert_eq!(winner(&[Vec::new()]), None);
        let mut fails = |candidate| if candidate == 1 { Err("broken") } else { Ok(1.0) };
        assert_eq!(race(3, 3, &mut fails), Err("broken"));
    }
}
