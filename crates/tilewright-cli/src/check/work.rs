//! Running cases side by side.

use super::{
    cache::Cache,
    case::Case,
    judge::Outcome,
    ran::{self, Setting},
};
use crate::hints;
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Instant,
};
use tilewright::Error;

/// Runs all cases on so many threads; outcomes are in their order. Ends early, with fewer, when a stop is asked for.
pub fn run(cases: &[Case<'_>], setting: &Setting<'_>, cache: Option<&Cache>, jobs: usize) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let (done, finished) = mpsc::channel();
    let mut outcomes: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(cases.len()) {
            let (done, next) = (done.clone(), &next);
            scope.spawn(move || {
                while !setting.stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    if done.send((index, one(case, setting, cache))).is_err() {
                        break;
                    }
                }
            });
        }
        // The threads' own senders end with them.
        drop(done);
        for (index, outcome) in finished {
            outcomes[index] = Some(outcome);
        }
    });
    outcomes.into_iter().map_while(|outcome| outcome).collect()
}

fn one(case: &Case<'_>, setting: &Setting<'_>, cache: Option<&Cache>) -> Outcome {
    let began = Instant::now();
    let key = cache.and_then(|cache| cache.key(case, setting.manifest));
    let known = key.as_ref().and_then(|key| cache?.load(key));
    let is_cached = known.is_some();
    let ran = match known {
        Some(ran) => Ok(ran),
        None => ran::run(case, setting).map_err(|error| told(&error)),
    };
    if let (Some(cache), Some(key), Ok(ran), false) = (cache, key, &ran, is_cached) {
        cache.store(&key, ran);
    }
    Outcome { ran, is_cached, seconds: began.elapsed().as_secs_f64() }
}

/// An error with what to do about it, in the words of a manifest.
fn told(error: &Error) -> String {
    let hint = hints::said(error, hints::keys);
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}\nhint: {hint}"))
}
