//! The ways of one product, checked and timed.

use super::chooser;
use crate::bench::{case::Case, cuda::Set};
use std::{cell::RefCell, time::Duration};
use tilewright::{
    Error,
    cuda::{Competitor, Engine, Pace, Prepared, sets_beyond_cache},
};
use tilewright_kernels::{Request, Way};

/// Long enough for the clock of the device, short enough for turns.
const SAMPLE: Duration = Duration::from_millis(8);
/// One execution, and what it takes to know how many fill a sample.
const WARM_UP: Duration = Duration::from_millis(1);
/// A device that idled has its full clock after this time.
const AWAKE: Duration = Duration::from_millis(100);

/// What was measured of a product.
pub struct Ways {
    pub request: Request,
    /// Those that are right, that of the model first.
    pub ways: Vec<Way>,
    /// Seconds of each by the model.
    pub estimates: Vec<f64>,
    /// Seconds of each.
    pub samples: Vec<Vec<f64>>,
    /// What is wrong with others.
    pub faults: Vec<String>,
}

/// Measures so many ways, those that the model puts first, in so many rounds.
///
/// # Errors
/// What the device fails with.
pub fn ways(engine: &Engine, (most, rounds): (usize, usize), case: &Case) -> Result<Ways, Error> {
    let [a, b] = case.views();
    let query = case.query()?;
    let request = Request {
        gpu: engine.gpu(),
        math: query.math,
        ..Request::new(query.problem, query.semiring, query.dtype)
    };
    let wrong = case.wrong_result(a.layout().rows, b.layout().cols)?;
    let set = || Set::new(engine, [a, b, wrong.as_ref()]);
    let count = sets_beyond_cache(query.work().bytes as u64, engine.device().l2_cache);
    let sets = RefCell::new((0..count).map(|_| set()).collect::<Result<Vec<_>, _>>()?);
    let run = |prepared: &Prepared, number: usize| {
        let set = &mut sets.borrow_mut()[number % count];
        prepared.run(&set.a, &set.b, &mut set.c)
    };

    let (mut ways, mut estimates) = (Vec::new(), Vec::new());
    let (mut able, mut faults) = (Vec::new(), Vec::new());
    for way in tilewright_kernels::ways(&request, most) {
        // What stands before a way for other data is not to be measured in its place.
        let prepared = engine.prepare(way.recipe(Request { narrow: Some(false), ..request })?)?;
        sets.borrow_mut()[0].c = engine.upload_dyn(wrong.as_ref())?;
        run(&prepared, 0)?;
        let c = sets.borrow()[0].result()?;
        match case.fault(&c)? {
            None => {
                ways.push(way);
                estimates.push(prepared.recipe().seconds());
                able.push(prepared);
            }
            Some(fault) => faults.push(format!("{way}: {fault}")),
        }
    }
    let clock = |prepared: &Prepared, warm_up: Duration| -> Result<f64, Error> {
        let pace = Pace { warm_up, sample: SAMPLE, samples: 1, ..Pace::default() };
        let run = Box::new(|number| run(prepared, number));
        let timings = engine.race(&mut [Competitor { name: String::new(), run }], pace)?;
        Ok(timings.first().map_or(f64::NAN, |timing| timing.median()))
    };
    if let Some(first) = able.first() {
        clock(first, AWAKE)?;
    }
    let samples = chooser::race(able.len(), rounds, &mut |i| clock(&able[i], WARM_UP))?;
    Ok(Ways { request, ways, estimates, samples, faults })
}
